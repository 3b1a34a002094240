"""(1) to (4): two changes, two step lengths, and the ratio of these."""


def eq_1_changes(theta, theta_before, g, g_before):
    """[my-paper] (1): s = theta - theta', y = g - g', both (P,)."""
    return theta - theta_before, g - g_before


def eq_2_long_step(s, y):
    """[my-paper] (2): a = s^T s / s^T y, a number."""
    return (s @ s) / (s @ y)


def eq_3_short_step(s, y):
    """[my-paper] (3): b = s^T y / y^T y, a number."""
    return (s @ y) / (y @ y)


def eq_4_ratio(s, y):
    """[my-paper] (4): a / b = 1 / cos^2, of the angle between s and y."""
    return (s @ s) * (y @ y) / (s @ y) ** 2


def eq_4_ratio_as_printed(s, y):
    """[my-paper] (4) as printed: cos^2, upside down."""
    return (s @ y) ** 2 / ((s @ s) * (y @ y))
