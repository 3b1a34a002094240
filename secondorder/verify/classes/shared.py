"""What the checkers of layers, losses and activations share."""

from ..findings import PROMOTES


def require_methods(value, kind, methods, bare):
    """TypeError unless `value` is an instance that defines all methods, {name: its arguments}.

    `bare` are the functions of a base class that only say what is missing.
    """
    if isinstance(value, type):
        raise TypeError(f"{kind} must be an instance, got the class {value.__name__}: call it "
                        "first")
    missing = [f"{name}({arguments})" for name, arguments in methods.items()
               if not callable(getattr(value, name, None))
               or getattr(type(value), name, None) in bare]
    if missing:
        raise TypeError(f"{kind} {type(value).__name__} lacks {', '.join(missing)}")


def nothing(recorder, name, result):
    """Record a method that returns None; whether it does."""
    if result is None:
        recorder.fact(name, "returns", False, "returns None", hint="is its return missing?")
    return result is None


def keeps_dtype(recorder, name, given, result, argument):
    """What comes out has the dtype that was given; `argument` is what the method takes."""
    recorder.fact(name, f"keeps {given}", result.dtype == given,
                  f"turns {given} into {result.dtype}",
                  hint="write constants as Python numbers and make arrays with the dtype of "
                       + argument, kind=PROMOTES if given == "float32" else "fact")

