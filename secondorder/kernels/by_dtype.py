"""What numba compiles where a loop calls exp_parts, log1p or power_of_two of `exponential`: the
form for the dtype, and 2^k by its bits.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from . import exponential


@intrinsic
def shifted_bits(typingctx, k):
    """2^k for a whole number k, held as a float: its bits, shifted to where the exponent stands.

    k + 1.5 2^d, d the number of digits after the point, has the last bits of k as its own last
    bits.
    """
    digits, bias = (23, 127) if k is types.float32 else (52, 1023)

    def bits(context, builder, signature, arguments):
        number = context.get_value_type(k)
        whole = ir.IntType(32 if digits == 23 else 64)
        shifted = builder.fadd(arguments[0], ir.Constant(number, 1.5 * 2.0**digits + bias))
        exponent = builder.shl(builder.bitcast(shifted, whole), ir.Constant(whole, digits))
        return builder.bitcast(exponent, number)

    return k(k), bits


@overload(exponential.power_of_two)
def _power_of_two(k):
    def power_of_two(k):
        return shifted_bits(k)

    return power_of_two


@overload(exponential.exp_parts)
def _exp_parts(v):
    return exponential.exp_parts_32 if v is types.float32 else exponential.exp_parts_64


@overload(exponential.log1p)
def _log1p(e):
    return exponential.log1p_32 if e is types.float32 else exponential.log1p_64
