"""Checkers of a user's own classes: a layer, an activation, a loss.

``layers`` takes a layer: `layer_under_test` makes it and what it needs, `forward_checks`,
`layer_checks` and `calls` look at its passes alone, `identities` at what ties them together, at
float32 and at the layer in a network. ``activations`` has `activation_places` (points off kinks),
``losses`` has `loss_targets` and `loss_model`.
"""
