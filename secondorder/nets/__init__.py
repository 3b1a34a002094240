"""Explicit layers with hand-derived passes, losses, and networks over one flat parameter vector."""

from .activations import (ACTIVATIONS, ActivationFunction, Identity, LeakyReLU, ReLU, Sigmoid, Sin,
                          Softplus, Tanh, activation_function)
from .base import Layer
from .chain import Chain, ChainSaved, Skip, SkipSaved
from .layers import Activation, ActivationSaved, Linear, LinearSaved
from .losses import (BoundedCriterion, DiagonalLoss, Loss, SoftmaxCrossEntropy, SquaredError,
                     TukeyBiweight)
from .network import Evaluation, Network, mlp
from .reshape import Reshape, ReshapeSaved
from .workspace import Workspace

__all__ = ["ACTIVATIONS", "Activation", "ActivationFunction", "ActivationSaved", "BoundedCriterion",
           "Chain", "ChainSaved", "DiagonalLoss", "Evaluation", "Identity", "Layer", "LeakyReLU",
           "Linear", "LinearSaved", "Loss", "Network", "ReLU", "Reshape", "ReshapeSaved", "Sigmoid",
           "Sin", "Skip", "SkipSaved", "Softplus", "SoftmaxCrossEntropy", "SquaredError", "Tanh",
           "TukeyBiweight", "Workspace", "activation_function", "mlp"]
