"""Explicit layers with hand-derived passes, losses, and networks over one flat parameter vector.

The passes stand in ``layers``, ``chain``, ``reshape``, ``losses`` and ``activations`` as formulas
that return new arrays. What runs, unless ``so.literal()`` asks for these, are compiled passes over
the network as a table (:mod:`secondorder.compiled`) where every layer and the loss have an entry in
``programs``. A network with anything else, such as a layer of your own or a subclass that overrides
a pass, runs its literal passes, whole; ``network.summary()`` says which form runs, and why.
"""

from ..checks import guessed
from ..compiled.arrays import Workspace
from .activations import (ACTIVATIONS, ActivationFunction, Identity, LeakyReLU, ReLU, Sigmoid, Sin,
                          Softplus, Tanh, activation_function)
from .base import Layer
from .builders import cnn, rnn
from .chain import Chain, ChainSaved, Skip, SkipSaved
from .convolution import Conv2d, Conv2dSaved
from .flatten import Flatten, FlattenSaved
from .importing import from_arrays, from_torch
from .layers import Activation, ActivationSaved, Linear, LinearSaved
from .losses import (BoundedCriterion, DiagonalLoss, Loss, SoftmaxCrossEntropy, SquaredError,
                     TukeyBiweight)
from .losses_by_output import BinaryCrossEntropy, Huber, PoissonNLL
from .network import Evaluation, Network, mlp
from .normalisation import LayerNorm, LayerNormSaved
from .pooling import AvgPool2d, AvgPool2dSaved, MaxPool2d, MaxPool2dSaved
from .recurrent import Recurrent, RecurrentSaved
from .reshape import Reshape
from .saving import load

__all__ = ["ACTIVATIONS", "Activation", "ActivationFunction", "ActivationSaved", "AvgPool2d",
           "AvgPool2dSaved", "BinaryCrossEntropy", "BoundedCriterion", "Chain", "ChainSaved",
           "Conv2d", "Conv2dSaved", "DiagonalLoss", "Evaluation", "Flatten", "FlattenSaved",
           "Huber", "Identity", "Layer", "LayerNorm", "LayerNormSaved", "LeakyReLU", "Linear",
           "LinearSaved", "Loss", "MaxPool2d", "MaxPool2dSaved", "Network", "PoissonNLL", "ReLU",
           "Recurrent", "RecurrentSaved", "Reshape", "Sigmoid", "Sin", "Skip", "SkipSaved",
           "SoftmaxCrossEntropy", "Softplus", "SquaredError", "Tanh", "TukeyBiweight", "Workspace",
           "activation_function", "cnn", "from_arrays", "from_torch", "load", "mlp", "rnn"]

__getattr__ = guessed.names(__name__)
