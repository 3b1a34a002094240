"""Whether a network can be trained in the memory of this machine."""

import os


def require_memory(options, inputs, outputs, samples):
    """MemoryError, with the bytes, for a network that this machine cannot train.

    Counted are parameters, gradient, direction and what most methods remember (six vectors), and
    what a batch leaves in every layer (four arrays a layer). Methods that make matrices need more.
    """
    widths = [inputs, *options.hidden, outputs]
    if options.reversible is not None:  # every block has W and V of both halves
        features = options.hidden[0] if options.hidden else inputs // 2
        parameters = 2 * options.reversible * inputs * features
        widths = [inputs + 2 * features] * options.reversible
    else:
        parameters = sum((before + 1) * width for before, width in zip(widths, widths[1:]))
    batch = samples if options.batch_size == "all" else min(samples, options.batch_size)
    numbers = 6 * parameters + 4 * max(batch, min(samples, 1024)) * sum(widths)
    need, have = numbers * (4 if options.dtype == "float32" else 8), _memory()
    if need > have:
        name = "--hidden" if options.hidden else "--reversible"
        raise MemoryError(f"{name} {' '.join(map(str, options.hidden)) or options.reversible}: "
                          f"{parameters:,} parameters need about {need:,} bytes "
                          f"({need / 2**30:,.1f} GiB) to be trained; this machine has {have:,} "
                          f"({have / 2**30:,.1f} GiB)")


def _memory():
    """Bytes of memory that this machine has; 16 GiB where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**34
