"""The pictures of the race."""


def draw_problem(field, figure):
    """Loss over work and over seconds."""
    figure.subplots()


def draw_noise(advantages, batches, figure):
    figure.subplots()


def draw_valleys(losses, figure):
    figure.subplots()


def draw_ranks(fields, figure):
    figure.subplots()
