# %% [markdown]
# # 7. The term that (39) lacks ([low-rank] Eq. (39))
#
# For ReLU networks the curvature of the loss along a direction has two parts: one from the
# outputs' own Hessian, and one from products of changes of weights in two layers. If the
# direction moves the outputs by $t_k$ through its part in layer $k$ alone, the outputs' part is a
# quadratic form in *all* of them together. The print adds the quadratic forms of the single
# layers.
#
# $$\Big(\sum_k t_k\Big)^T f_{pp} \Big(\sum_r t_r\Big) = \sum_k t_k^T f_{pp}\, t_k + \;?$$
#
# Predict first: with two layers and $t_1 = -t_2$, what is right, and what does the print give?

# %%
import numpy as np

from secondorder.papers.low_rank.quantities import hidden_layers, objective_derivatives
GRADE = ("low-rank", "39", "by_explicit_eta")

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


# %%
def by_explicit_eta(evaluation, direction):
    """g^T H g, the mean over samples, for a chain of linear and ReLU layers."""
    tangents, bend, f_pp = parts(evaluation, direction)
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], by_explicit_eta, implementation=GRADE[2]))
