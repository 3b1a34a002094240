"""EA-CG is about fully-connected networks, and says which layers it takes."""

import pytest

import secondorder as so
from harness.shaped_networks import problem


@pytest.mark.parametrize("name, layer", [("convolutional", "Conv2d"), ("recurrent", "Recurrent"),
                                         ("normalised", "Reshape")])
def test_other_layers_are_refused_by_name(name, layer):
    net, loss, x, y = problem(name)
    for call in (lambda: so.EACG(net, loss), lambda: so.eacg.direction(net, loss, x, y),
                 lambda: so.eacg.bias_curvatures(net, loss, x, y, curvature="pch-1")):
        with pytest.raises(TypeError, match=rf"EA-CG does not support the layer {layer}\(.*"
                                            "supported layers: Linear, Activation, Chain"):
            call()
