"""Conditions under which statements hold; each is said once and used wherever it is needed."""

from ....ledger import Condition

CONVEX = Condition("f is convex", (
    "f is convex. Of other functions every maximum and saddle point satisfies it as well."))
ROWS = Condition("eigenvectors stand in rows", (
    "The rows of Q are the eigenvectors, A = Q^T diag(lambda) Q; the definition does not say so, "
    "and programs return them in columns."))
ALONG_NEGATIVE = Condition("the gradient has a part along negative curvature", (
    "The gradient has a part along an eigenvector with a negative eigenvalue. Without one no gamma "
    "moves theta that way, and the iteration runs into the saddle point or stays at the maximum."))
ALIKE = Condition("one factor does not vary", (
    "The mean of products is split into a product of means. One of the two factors does not vary "
    "over the batch, or hardly does: their covariance is dropped."))
POSITIVE = Condition("the curvature is positive semidefinite", (
    "The curvature is positive semidefinite, as all PCH matrices are. It is enough that (1 - "
    "alpha) times its least eigenvalue stays above -alpha."))
CONSTANT = Condition("the inputs hardly vary", (
    "The covariance of the layer's inputs over the batch is left out. It is small beside the "
    "outer product of their mean."))
WITHOUT_MOMENT = Condition("the second moment is not stored", (
    "The inputs' second moment is not stored. Products are made with the batch's own inputs, or "
    "with their mean as in (11b), which takes sum n_{t-1} more numbers."))
MANY_ITERATIONS = Condition("conjugate gradients take many iterations", (
    "Conjugate gradients take about as many iterations as the layers are wide. With a limit far "
    "below the widths, as in the paper's own networks, EA-CG takes far fewer operations."))
WITHIN = Condition("only blocks within a layer are compared", (
    "Only blocks within a layer are compared, away from the kinks. The Gauss-Newton matrix is "
    "each instance's own (or their exact mean), not KFRA's recursion, which takes expectations "
    "on the way."))
LIGHT = Condition("the damping is light", (
    "alpha is far below the eigenvalues of the Kronecker product. The excess damping falls as "
    "the square root of alpha."))
UNLIKELY = Condition("some class is unlikely", (
    "There are instances whose class has a probability below epsilon."))
LIKELIHOOD = Condition("the criterion is a negative log-likelihood", (
    "The criterion is the negative log-likelihood of a model, as cross-entropy is. The "
    "mean of outer products is positive semidefinite for others too, but no Fisher matrix."))
CONTRACTING = Condition("every layer contracts", (
    "In every layer the largest mean square of a slope times the square of W's largest singular "
    "value is below 1. (For sigmoids it is enough that this square is below 4.)"))
SMALL_BATCH = Condition("the batch is small", (
    "Batch times the sum of n_t^2 over the hidden layers is at most n_0 n_1 (n_0 + n_1). The "
    "sum counts that much for the inputs, into which nothing is carried."))
SMALL_FOR_KFI = Condition("the batch is small beside the widths", (
    "Batch times the sum of n_{t-1}^2 is at most KFI's entry; the paper's network for Cifar-10 "
    "allows batches of about 4000."))
