"""Explicit layers with hand-derived passes, losses, and networks over one flat parameter vector.

``layers``      what a layer is, and every layer: its passes as formulas that return new arrays
``losses``      the criteria
``network``     `Network`; ``evaluation`` what one pass leaves behind
``builders``    networks of the usual kinds; ``importing`` those of PyTorch and of plain arrays
``saving``      networks in files; ``summary`` a network in words
``rules``       what a method asks of a layer, by class
``allocation``  memory that is freed stays with the process

Passes stand in ``layers`` and ``losses``, and what one reads there is what runs. Where NumPy would
go over memory several times a pass calls a loop of :mod:`secondorder.kernels`.
"""

from ..checks import close_names
from .builders import cnn, mlp, rnn
from .evaluation import Evaluation
from .importing import from_arrays, from_torch
from .layers import (ACTIVATIONS, ELU, GELU, Activation, ActivationFunction, ActivationSaved,
                     AvgPool2d, AvgPool2dSaved, Chain, ChainSaved, Conv2d, Conv2dSaved, Flatten,
                     FlattenSaved, Identity, Layer, LayerNorm, LayerNormSaved, LeakyReLU, Linear,
                     LinearSaved, MaxPool2d, MaxPool2dSaved, ReLU, Recurrent, RecurrentSaved,
                     Reshape, ScaleShift, ScaleShiftSaved, SiLU, Sigmoid, Sin, Skip, SkipSaved,
                     Softplus, Tanh, activation_function)
from .losses import (BinaryCrossEntropy, BoundedCriterion, DiagonalLoss, Huber, Loss, PoissonNLL,
                     SoftmaxCrossEntropy, SquaredError, TukeyBiweight)
from .network import Network
from .saving import load, save

__all__ = ["ACTIVATIONS", "Activation", "ActivationFunction", "ActivationSaved", "AvgPool2d",
           "AvgPool2dSaved", "BinaryCrossEntropy", "BoundedCriterion", "Chain", "ChainSaved",
           "Conv2d", "Conv2dSaved", "DiagonalLoss", "ELU", "Evaluation", "Flatten", "FlattenSaved",
           "GELU", "Huber", "Identity", "Layer", "LayerNorm", "LayerNormSaved", "LeakyReLU",
           "Linear", "LinearSaved", "Loss", "MaxPool2d", "MaxPool2dSaved", "Network", "PoissonNLL",
           "ReLU", "Recurrent", "RecurrentSaved", "Reshape", "ScaleShift", "ScaleShiftSaved",
           "SiLU", "Sigmoid", "Sin", "Skip", "SkipSaved", "SoftmaxCrossEntropy", "Softplus",
           "SquaredError", "Tanh", "TukeyBiweight", "activation_function", "cnn", "from_arrays",
           "from_torch", "load", "mlp", "rnn", "save"]

Network.save = save  # here, since saving knows networks and networks know no files

__getattr__ = close_names.names(__name__)
