"""All labels of Deep Residual Partitioning are there and come out as their verdicts say."""

import importlib
import pkgutil
import re
import sys
from collections import Counter

import numpy as np
import secondorder as so
from harness import ledger_runs
from secondorder.ledger import registry
from secondorder.ledger.pages import own_lines

PAPER = "residual-partitioning"

LABELS = [
    *map(str, range(1, 47)), "theorem-1", "theorem-2", "lemma-3", "algorithm-1",
    "claim-gradient", "claim-learning-rate", "claim-decrease", "claim-total-gradient",
    "claim-complexity", "claim-negative-curvature",
    "extension-sum-rule", "extension-tightness", "extension-skip", "extension-fixed-layers",
    "extension-pairwise", "extension-cross-terms", "extension-penalty", "extension-convolution",
    "extension-pooling",
    "u-second-order-model", "u-theorem-2-in-algorithm-1", "u-note-below-9",
]
ERRATA = {"22", "31", "44", "46", "algorithm-1", "u-second-order-model",
          "u-theorem-2-in-algorithm-1", "u-note-below-9"}

# Statements that hold only under a condition; each must show a case outside it.
CONDITIONAL = {"2", "3", "6", "7", "8", "10", "17", "25", "26", "27", "34", "35", "36", "37", "41",
               "42", "43", "theorem-1", "theorem-2", "claim-decrease", "claim-total-gradient",
               "claim-negative-curvature"}
# Conditional ones that bear a misprint as well, which is executed and shown failing.
MISPRINTED = {"2", "3", "41", "42", "43"}
# Derivations that run over several numbers are one check each.
DERIVATIONS = {("12", "13", "14", "15"), ("26", "27"), ("28", "29", "30"), ("34", "35", "36"),
               ("41", "42", "43")}


def test_every_label_is_executed_once():
    seen = Counter(label for result in ledger_runs.results(PAPER) for label in result.labels)
    assert set(seen) == set(LABELS) and set(seen.values()) == {1}
    assert DERIVATIONS <= {entry.labels for entry in registry.REGISTRY.select(PAPER)}


def test_errata_and_conditions_are_shown_and_no_others():
    for result in ledger_runs.results(PAPER):
        as_printed = result.printed_error is not None or result.printed_failure is not None
        for label in result.labels:
            assert (result.verdict == "erratum") == (label in ERRATA), label
            assert (result.verdict == "conditional") == (label in CONDITIONAL), label
            assert as_printed == (label in ERRATA | MISPRINTED), label


# -- the folder is the paper -----------------------------------------------------------------------

def displays():
    """Number -> the functions of the room named by it, in the order of the files."""
    found = {}
    room = so.residual_partitioning
    for module in sorted(one.name for one in pkgutil.iter_modules(room.__path__)):
        for name, value in vars(importlib.import_module(f"{room.__name__}.{module}")).items():
            match = re.fullmatch(r"eq_(\d+)_(?!as_printed)\w+", name)
            if match and value not in found.setdefault(match[1], []):
                found[match[1]].append(value)
    return found


def test_every_display_is_a_function_named_by_its_number_and_its_check_runs_it():
    functions = displays()
    assert set(functions) == set(map(str, range(1, 47)))
    for number, named in functions.items():
        (entry,) = registry.REGISTRY.select(PAPER, number)
        assert set(named) & set(entry.implements), number
        assert own_lines.code_line(entry, number).function in named, number


#: What a training step of a chain of layers computes, by name.
RUN = {"eq_11_affine", "eq_11_activation", "eq_45_46_jensen", "eq_9_10_weights",
       "eq_9_10_biases", "eq_9_10_inputs", "eq_41_carried", "algorithm_1"}


def test_a_step_runs_the_displays_themselves():
    net, ran = so.mlp([6, 5, 4, 3], activation="tanh", rng=0), set()
    method = so.ResidualPartitioning(net, so.SoftmaxCrossEntropy())
    x, y = np.random.default_rng(0).normal(size=(8, 6)), np.arange(8) % 3
    method.step(x, y)

    def note(frame, event, argument):
        if event == "call" and "residual_partitioning" in frame.f_code.co_filename:
            ran.add(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        method.step(x, y)
    finally:
        sys.setprofile(None)
    assert RUN <= ran
