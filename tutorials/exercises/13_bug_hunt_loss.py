# %% [markdown]
# # 13. Bug hunt: a loss
#
# *15 minutes, medium, 6 points*
#
# The pseudo-Huber loss grows like a square near zero and like |r| far out, r = p - target:
#
# $$f = \sum_i \left(\sqrt{1 + r_i^2} - 1\right), \quad \frac{\partial f}{\partial p_i} =
# \frac{r_i}{\sqrt{1 + r_i^2}}, \quad \frac{\partial^2 f}{\partial p_i^2} = (1 + r_i^2)^{-3/2}$$
#
# Three mistakes are planted below. Run the checker, read which pass it names and by which ratio,
# and mend one after the other.

# %%
import numpy as np

import secondorder as so

GRADE = ("loss", "PseudoHuber")


# %%
class PseudoHuber(so.Loss):
    """sum_i sqrt(1 + (p_i - target_i)^2) - 1."""

    diagonal_hessian = True
    convex = True

    def value(self, p, target):
        return np.mean(np.sqrt(1 + (p - target) ** 2) - 1, axis=1)

    def gradient(self, p, target):
        r = target - p
        return r / np.sqrt(1 + r**2)

    def hessian(self, p, target):
        diagonal = (1 + (p - target) ** 2) ** -0.5
        return diagonal[:, :, None] * np.eye(p.shape[1], dtype=p.dtype)


# %%
if __name__ == "__main__":
    print(so.verify.loss(PseudoHuber()))
