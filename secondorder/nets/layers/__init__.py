"""The layers: explicit classes, a formula a pass; what one reads is what runs.

``base``         what a layer is: its passes; ``parameters`` these, and ``pieces`` what stands
                between a pass and its network
``linear``       `Linear`
``activation``   `Activation`; ``activation_functions`` value, slope and curvature of the functions
``chain``        `Chain`, `Skip`: layers made of layers
``convolution``  `Conv2d`; ``pooling`` `AvgPool2d`, `MaxPool2d`
``recurrent``    `Recurrent`
``normalisation`` `LayerNorm`, `ScaleShift`
``shapes``       `Flatten`, `Reshape`
``initialisers`` initial weights; ``between`` what calls a layer for one direction,
                and ``numerical`` the passes that it does not have
"""

from .activation import Activation, ActivationSaved
from .activation_functions import (ACTIVATIONS, ELU, GELU, ActivationFunction, Identity, LeakyReLU,
                                   ReLU, Sigmoid, SiLU, Sin, Softplus, Tanh, activation_function)
from .base import Layer
from .chain import Chain, ChainSaved, Skip, SkipSaved
from .convolution import Conv2d, Conv2dSaved
from .linear import Linear, LinearSaved
from .normalisation import LayerNorm, LayerNormSaved, ScaleShift, ScaleShiftSaved
from .pooling import AvgPool2d, AvgPool2dSaved, MaxPool2d, MaxPool2dSaved
from .recurrent import Recurrent, RecurrentSaved
from .shapes import Flatten, FlattenSaved, Reshape

__all__ = ["ACTIVATIONS", "Activation", "ActivationFunction", "ActivationSaved", "AvgPool2d",
           "AvgPool2dSaved", "Chain", "ChainSaved", "Conv2d", "Conv2dSaved", "ELU", "Flatten",
           "FlattenSaved", "GELU", "Identity", "Layer", "LayerNorm", "LayerNormSaved", "LeakyReLU",
           "Linear", "LinearSaved", "MaxPool2d", "MaxPool2dSaved", "ReLU", "Recurrent",
           "RecurrentSaved", "Reshape", "ScaleShift", "ScaleShiftSaved", "SiLU", "Sigmoid", "Sin",
           "Skip", "SkipSaved", "Softplus", "Tanh", "activation_function"]
