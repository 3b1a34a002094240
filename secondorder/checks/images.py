"""Checks of what layers for images, sequences and normalised blocks are made with and given."""

from .brief import shown
from .values import one_of, whole_number


def pair(value, name, smallest):
    """Return a whole number from `smallest`, or two of them (down, across), as a pair."""
    if not hasattr(value, "__len__"):
        return (whole_number(value, name, smallest),) * 2
    if isinstance(value, str) or len(value) != 2:
        raise TypeError(f"{name} must be a whole number or two of them, got {shown(value)}")
    return tuple(whole_number(number, name, smallest) for number in value)


def window_places(layer, input_shape, kernel, stride, padding=(0, 0), channels=None):
    """Return the number of places (down, across) where a kernel fits into an image (C, H, W)."""
    wanted = f"({'C' if channels is None else channels}, H, W)"
    if len(input_shape) != 3 or channels not in (None, input_shape[0]):
        raise ValueError(f"{layer!r} takes images, one sample of shape {wanted}, got "
                         f"{tuple(input_shape)}")
    padded = tuple(n + 2 * p for n, p in zip(input_shape[1:], padding))
    if any(k > n for k, n in zip(kernel, padded)):
        raise ValueError(f"{layer!r}: the kernel {kernel} is larger than the image {padded}"
                         f"{', padding included' if any(padding) else ''}")
    return tuple((n - k) // s + 1 for n, k, s in zip(padded, kernel, stride))


def sequence(layer, input_shape, features):
    """Raise ValueError unless one sample is a sequence (T, features) of at least one step."""
    if len(input_shape) != 2 or input_shape[1] != features or input_shape[0] < 1:
        raise ValueError(f"{layer!r} takes sequences, one sample of shape (T, {features}) with T "
                         f"at least 1, got {tuple(input_shape)}")


def state(layer, input_shape, features):
    """Raise ValueError unless one sample is a vector of `features` numbers."""
    if tuple(input_shape) != (features,):
        raise ValueError(f"{layer!r} takes its first state, one sample of shape ({features},), got "
                         f"{tuple(input_shape)}")


def steps_of(steps, has_input):
    """Return `steps` where there is no input at every step; else None: the sequence tells."""
    if has_input and steps is not None:
        raise ValueError(f"do not pass steps (got {shown(steps)}): with hidden_size, the length "
                         "of the input gives it")
    if not has_input and steps is None:
        raise ValueError("steps must be given where there is no hidden_size: the layer then has "
                         "no input at every step to count")
    return None if steps is None else whole_number(steps, "steps", 1)


def ends_with(layer, input_shape, last):
    """Raise ValueError unless the shape of one sample ends with the shape `last`."""
    if tuple(input_shape[-len(last):]) != tuple(last):
        raise ValueError(f"{layer!r} takes inputs whose shape ends with {tuple(last)}, got "
                         f"{tuple(input_shape)}")


def pool_name(value):
    """Return the name of a kind of pooling, or None."""
    return None if value is None else one_of(("avg", "max"), value, "pool")


def stages(value, name):
    """Return the widths of a network's stages as a list, of one number at least."""
    if isinstance(value, str) or not hasattr(value, "__len__"):
        raise TypeError(f"{name} must be a sequence of whole numbers, got {shown(value)}")
    if not len(value):
        raise ValueError(f"{name} must hold at least one number, got {shown(value)}")
    return [whole_number(number, name, 1) for number in value]


def sequence_shape(value):
    """Return `value`; ValueError unless it is the shape (T, D) of one sequence."""
    if len(value) != 2:
        raise ValueError(f"input_shape must be (T, D), steps and numbers a step, got {value}")
    return value
