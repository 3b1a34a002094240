"""The same work in PyTorch, for `bench --against torch` alone."""

from secondorder.nets import Linear

ACTIVATIONS = ("relu", "tanh", "sigmoid", "softplus")


class Twin:
    """A problem's network, loss and batch in PyTorch, parameters in one flat tensor or as a module.

    Each method returns a function without arguments that does the work once; preparation is done
    before.

    Raises
    ------
    ValueError
        If PyTorch cannot be imported, or does not have the activation.
    """

    def __init__(self, problem):
        self.torch = torch = imported()
        self.problem = problem
        network, setting = problem.network, problem.setting
        if setting.activation not in ACTIVATIONS:
            raise ValueError("against PyTorch: activation must be one of "
                             f"{', '.join(ACTIVATIONS)}, got {setting.activation!r}")
        self.activation = (getattr(torch.nn.functional, setting.activation, None)
                           or getattr(torch, setting.activation))
        self.classes = setting.loss == "cross-entropy"
        self.x, self.y = torch.from_numpy(problem.x), torch.from_numpy(problem.y)
        self.shapes = [layer.weight.shape for layer in network.layers if isinstance(layer, Linear)]
        self.theta = torch.from_numpy(network.theta.copy())

    def outputs(self, theta, x):
        """Outputs for parameters in one flat tensor."""
        functional, start = self.torch.nn.functional, 0
        for number, (n_out, n_in) in enumerate(self.shapes):
            weight = theta[start : start + n_out * n_in].view(n_out, n_in)
            start += n_out * n_in
            x = functional.linear(x, weight, theta[start : start + n_out])
            start += n_out
            if number < len(self.shapes) - 1:
                x = self.activation(x)
        return x

    def value(self, p, y):
        """Mean loss; a squared error is 0.5 |p - y|^2 summed over outputs, as in the package."""
        if self.classes:
            return self.torch.nn.functional.cross_entropy(p, y)
        return 0.5 * ((p - y) ** 2).sum() / len(p)

    def objective(self, theta):
        """Mean loss as a function of the flat tensor."""
        return self.value(self.outputs(theta, self.x), self.y)

    # -- what is timed ----------------------------------------------------------------------------

    def module(self):
        """The network as a module with the problem's weights."""
        torch, layers, start = self.torch, [], 0
        for n_out, n_in in self.shapes:
            layer = torch.nn.Linear(n_in, n_out, dtype=self.theta.dtype)
            with torch.no_grad():
                layer.weight.copy_(self.theta[start : start + n_out * n_in].view(n_out, n_in))
                layer.bias.copy_(self.theta[start + n_out * n_in : start + n_out * n_in + n_out])
            start += n_out * n_in + n_out
            layers.append(layer)
        return torch.nn.ModuleList(layers)

    def _through(self, layers):
        x = self.x
        for number, layer in enumerate(layers):
            x = layer(x)
            if number < len(layers) - 1:
                x = self.activation(x)
        return self.value(x, self.y)

    def gradient(self):
        """Forward and backward through the module; the gradients stay in pieces."""
        layers = self.module()
        parameters = list(layers.parameters())
        return lambda: self.torch.autograd.grad(self._through(layers), parameters)

    def _pieces(self, v, parameters):
        pieces, start = [], 0
        for parameter in parameters:
            piece = self.torch.from_numpy(v[start : start + parameter.numel()])
            pieces.append(piece.view(parameter.shape))
            start += parameter.numel()
        return pieces

    def hessian_vector_product(self, v):
        """The gradient's graph is made once; each call goes through it backwards."""
        parameters = list((layers := self.module()).parameters())
        gradient = self.torch.autograd.grad(self._through(layers), parameters, create_graph=True)
        pieces = self._pieces(v, parameters)
        return lambda: self.torch.autograd.grad(gradient, parameters, pieces, retain_graph=True)

    def gauss_newton_product(self, v):
        """jvp of the outputs, the loss's Hessian, and back through a graph made once."""
        torch, direction = self.torch, self.torch.from_numpy(v)
        theta = self.theta.clone().requires_grad_()
        outputs = self.outputs(theta, self.x)
        q = torch.softmax(outputs.detach(), 1) if self.classes else None
        samples = len(self.x)

        def run():
            tangent = torch.func.jvp(lambda t: self.outputs(t, self.x), (self.theta,),
                                     (direction,))[1]
            if self.classes:
                tangent = q * (tangent - (q * tangent).sum(1, keepdim=True))
            return torch.autograd.grad(outputs, theta, tangent / samples, retain_graph=True)

        return run

    def sample_gradients(self):
        """vmap(grad) over the module's parameters."""
        torch, layers = self.torch, self.module()
        parameters = [p.detach() for p in layers.parameters()]
        functional = torch.nn.functional

        def loss(parameters, x, y):
            x = x[None]
            for number in range(len(self.shapes)):
                x = functional.linear(x, parameters[2 * number], parameters[2 * number + 1])
                if number < len(self.shapes) - 1:
                    x = self.activation(x)
            return self.value(x, y[None])

        gradients = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))
        return lambda: gradients(parameters, self.x, self.y)

    def hessian(self):
        """torch.func.hessian over the flat tensor."""
        compute = self.torch.func.hessian(self.objective)
        return lambda: compute(self.theta)

    def step(self, name, options, l2=0.0):
        """One step of ``torch.optim.<name>`` with weight decay `l2`."""
        layers = self.module()
        optimizer = getattr(self.torch.optim, name)(layers.parameters(), lr=0.01, weight_decay=l2,
                                                    **options)

        def run():
            optimizer.zero_grad()
            loss = self._through(layers)
            loss.backward()
            optimizer.step()
            return float(loss.detach())

        return run


def imported(threads=None):
    """PyTorch, on as many threads as BLAS if `threads` is given; ValueError if there is none."""
    try:
        import torch
    except ImportError as error:
        raise ValueError(f"--against torch: PyTorch cannot be imported ({error}); it is no part of "
                         "this package: install it beside it, or leave the option out") from error
    if threads is not None:
        torch.set_num_threads(threads)
    return torch
