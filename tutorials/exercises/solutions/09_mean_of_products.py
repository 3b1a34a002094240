"""Solution of exercise 09_mean_of_products, with usual mistakes."""

import numpy as np

from secondorder.papers.eacg.eq_01_03_newton import positive


def eq_8b_pch_step(W, B, h_bar, slope, curvature, gamma):
    """(m, m) from W (n, m), B (n, n); h_bar, slope, curvature (S, m); gamma for Pos-Eig."""
    bend = np.mean(curvature * h_bar, axis=0)
    return (W.T @ B @ W) * (slope.T @ slope / len(slope)) + np.diag(positive(bend, gamma))


def mistake_1(W, B, h_bar, slope, curvature, gamma):
    bend = curvature.mean(axis=0) * h_bar.mean(axis=0)
    return (W.T @ B @ W) * (slope.T @ slope / len(slope)) + np.diag(positive(bend, gamma))


def mistake_2(W, B, h_bar, slope, curvature, gamma):
    bend = np.mean(curvature * h_bar, axis=0)
    mean = slope.mean(axis=0)
    return (W.T @ B @ W) * np.outer(mean, mean) + np.diag(positive(bend, gamma))


def mistake_3(W, B, h_bar, slope, curvature, gamma):
    bend = np.mean(positive(curvature * h_bar, gamma), axis=0)
    return (W.T @ B @ W) * (slope.T @ slope / len(slope)) + np.diag(bend)


def mistake_4(W, B, h_bar, slope, curvature, gamma):
    bend = np.mean(curvature * h_bar, axis=0)
    return (W.T @ B @ W) * (slope.T @ slope / len(slope)) + np.diag(np.abs(bend))


def mistake_5(W, B, h_bar, slope, curvature, gamma):
    bend = np.mean(curvature * h_bar, axis=0)
    return (W.T @ B @ W) * (slope.T @ slope / len(slope)) + np.diag(bend)


WRONG = [
    (mistake_1,
     "a product of means is no mean of products: they differ by a covariance"),
    (mistake_2,
     "E[h' h'^T] is no product of means: the same mistake in the other factor"),
    (mistake_3,
     "Pos-Eig corrects the mean over the batch, not instance by instance"),
    (mistake_4,
     "absolute values are PCH-1 (gamma = -1) alone: gamma multiplies what is negative"),
    (mistake_5,
     "negative entries of the diagonal are to be corrected: Pos-Eig is missing"),
]
