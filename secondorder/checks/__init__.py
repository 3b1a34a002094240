"""Every check of an argument: one line where it is called, so that the maths stays free of guards.

A check returns the value in the form that the maths wants, or raises TypeError (another kind of
thing) or ValueError (out of range) with the argument's name, what was given and what is expected.
`name` is the argument's name. What a pass or a loss made is checked in the same way:
FloatingPointError if it is not finite.
"""

# ruff: noqa: F401

from .arrays import (all_finite, batch, class_targets, finite, finite_result, fitting, labels, like,
                     losses, outputs, place_not_finite, plain_array, real_array, result_of, targets,
                     targets_between)
from .brief import shown
from .networks import (NoModel, check_activation, check_loss, declared, evaluated, free_layers,
                       initialised, input_shape, kept_shape, layers, memory_names,
                       names_of_its_own, no_model, not_laid_out, parameter, promised, require_real,
                       some_parameters, stated_shape, unchanged, vector_shape)
from .values import (Checked, boolean, check_l2, classes, close_matches, converted, copied,
                     did_you_mean, executor, fraction, function_of, increasing, initial_values,
                     instance_of, interval, lookup, network_dtype, non_negative, number_in, one_of,
                     own_array, path, plain, positive_number, positive_weights, real_number,
                     require_bytes, shape, shapes_alike, whole_number, widths)
