"""Solution of exercise 07_what_39_lacks, with usual mistakes."""

import numpy as np

from secondorder.papers.low_rank.quantities import hidden_layers, objective_derivatives


def parts(evaluation, direction):
    """What the direction does: outputs' tangents through each layer's part, list of (S, C); the sum
    of the products of two layers' changes; and the losses' Hessians f_pp (S, C, C)."""
    layers, places = hidden_layers(evaluation)
    f_pp = objective_derivatives(evaluation, places[-1])[1]
    pieces = [layer.linear.split(direction[evaluation.network.slices[place]]) if layer.linear.size
              else None for layer, place in zip(layers, places)]
    tangents, bend = [], 0.0
    for r, piece in enumerate(pieces):
        if piece is None:
            continue
        t = layers[r].input @ piece[0].T + (piece[1] if len(piece) > 1 else 0)
        for k in range(r + 1, len(layers)):
            below = layers[k - 1].slope
            t = t if below is None else below * t
            if pieces[k] is not None:
                bend += 2 * np.sum(evaluation.deltas[places[k]] * (t @ pieces[k][0].T))
            t = t @ layers[k].linear.weight.T
        tangents.append(t)
    return tangents, bend, f_pp


def by_explicit_eta(evaluation, direction):
    """g^T H g, the mean over samples, for a chain of linear and ReLU layers."""
    tangents, bend, f_pp = parts(evaluation, direction)
    whole = sum(tangents)
    return (np.einsum("sc,scd,sd->", whole, f_pp, whole) + bend) / evaluation.samples


def mistake_1(evaluation, direction):
    tangents, bend, f_pp = parts(evaluation, direction)
    return (sum(np.einsum("sc,scd,sd->", t, f_pp, t) for t in tangents) + bend) / evaluation.samples


def mistake_2(evaluation, direction):
    tangents, bend, f_pp = parts(evaluation, direction)
    whole = sum(tangents)
    return np.einsum("sc,scd,sd->", whole, f_pp, whole) + bend


def mistake_3(evaluation, direction):
    tangents, bend, f_pp = parts(evaluation, direction)
    pairs = [(t, s) for k, t in enumerate(tangents) for s in tangents[:k + 1]]
    return (sum(np.einsum("sc,scd,sd->", t, f_pp, s) for t, s in pairs)
            + bend) / evaluation.samples


def mistake_4(evaluation, direction):
    tangents, _, f_pp = parts(evaluation, direction)
    whole = sum(tangents)
    return np.einsum("sc,scd,sd->", whole, f_pp, whole) / evaluation.samples


WRONG = [
    (mistake_1,
     "these are the printed terms only: products of different layers are missing"),
    (mistake_2,
     "the objective is the mean over the batch, not the sum"),
    (mistake_3,
     "a pair of different layers stands in the double sum twice, once in each order"),
    (mistake_4,
     "this is Gauss-Newton: the products of two layers' changes are missing"),
]
