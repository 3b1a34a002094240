# %% [markdown]
# # 6. A root that does not cancel ([low-rank] Eq. (37))
#
# *15 minutes, medium, 6 points*
#
# Along a direction of length $|g|$ with slope $a < 0$ and curvature $h$ the cubic model has its
# minimum at
#
# $$s = \frac{-h + \sqrt{h^2 - 2 a c}}{c}, \qquad c = \sigma |g|^3.$$
#
# In floating point two things go wrong: where $h > 0$ and $h^2 \gg |a| c$ the two terms above
# cancel, and where $|g|$ is very large or small $c$ overflows. Mend the second by measuring
# lengths in units of $|g|$ (done below), and the first by multiplying numerator and denominator
# by $h + \sqrt{\cdot}$.
#
# Predict first: $a = -1$, $h = 1$, $c = 10^{-20}$. What does the printed form give, and what is
# right?

# %%
import numpy as np

GRADE = ("low-rank", ("37", "extension-stable-step"), "step_length")


# %%
def step_length(g_dot_grad, g_H_g, g_norm, sigma):
    """The minimiser s >= 0, 0 where the slope goes up, infinite where there is no minimum."""
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2  # per unit of length: c = sigma now
    if sigma == 0:
        return -a / h / g_norm if h > 0 else np.inf
    root = np.sqrt(h**2 - 2 * a * sigma)
    s = ...
    return s if s is ... else s / g_norm


# %%
if __name__ == "__main__":
    import secondorder as so

    for label in GRADE[1]:
        print(so.verify.equation(GRADE[0], label, step_length, implementation=GRADE[2]))
