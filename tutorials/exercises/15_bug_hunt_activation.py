# %% [markdown]
# # 15. Bug hunt: an activation
#
# *10 minutes, easy, 4 points*
#
# $s(x) = x / (1 + |x|)$, with $s'(x) = (1 + |x|)^{-2}$ and $s''(x) = -2\,\mathrm{sign}(x)
# (1 + |x|)^{-3}$. Three mistakes are planted.

# %%
import numpy as np

import secondorder as so

GRADE = ("activation", "SoftSign")


# %%
class SoftSign(so.ActivationFunction):
    """x / (1 + |x|)."""

    name = "softsign"

    def value(self, x):
        return x / (1 + abs(x) / 2)

    def slope(self, x):
        return 1 / (1 + abs(x))

    def curvature(self, x):
        return 2 * np.sign(x) / (1 + abs(x)) ** 3


# %%
if __name__ == "__main__":
    print(so.verify.activation(SoftSign()))
