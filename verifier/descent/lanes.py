"""Eight float64 lanes as one value in compiled code, so that eight trials advance together.

A lane vector lives in a SIMD register; arithmetic on it is IEEE, lane by lane, without any
reassociation, so a lane's results do not depend on its neighbours. In memory it is a row of a
C-contiguous array of shape (rows, 8). Row indices are not checked.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 8
"""Trials in one lane vector."""

Lanes = Any
"""What mypy sees of a lane vector: it exists in compiled code only."""
Array = np.ndarray[Any, np.dtype[np.float64]]
"""A C-contiguous array of shape (rows, 8), one lane vector a row."""

F = TypeVar("F", bound=Callable[..., Any])


def inlined(function: F) -> F:
    """*function* compiled into its callers, as its lane arguments must stay in registers."""
    return cast(F, njit(inline="always", error_model="numpy")(function))


class LaneType(types.Type):  # type: ignore[misc]
    """The numba type of a lane vector."""

    def __init__(self) -> None:
        super().__init__(name="lanes")


LANE_TYPE = LaneType()
_FLOATS = ir.VectorType(ir.DoubleType(), LANES)
_INTEGERS = ir.VectorType(ir.IntType(64), LANES)
_FLOAT_ARRAY = types.Array(types.float64, 2, "C")


class _LaneModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _FLOATS)


register_model(LaneType)(_LaneModel)


def _splat(builder: Any, scalar: Any, vector: Any) -> Any:
    """*scalar* in every lane."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar,
                                   ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), mask)


def _binary(operation: Any, instruction: str) -> None:
    """Give *operation* its meaning on two lane vectors."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)

    case = signature(LANE_TYPE, LANE_TYPE, LANE_TYPE)
    infer_global(operation)(type("_Template", (ConcreteTemplate,), {"cases": [case]}))
    lower_builtin(operation, LaneType, LaneType)(lower)


for _operation, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"),
                                 (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    _binary(_operation, _instruction)


# Memory -----------------------------------------------------------------------------------


def _address(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Any:
    """The address of *row* of *array*, as that of a vector."""
    data = context.make_array(kind)(context, builder, array).data
    offset = builder.mul(row, ir.Constant(row.type, LANES))
    return builder.bitcast(builder.gep(data, [offset]), _FLOATS.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: Any, row: Any) -> Any:
    """``load(array, row)``: row *row* of *array* as a lane vector."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, sig.args[0], *args), align=8)

    return LANE_TYPE(array, types.intp), lower


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: Any, row: Any, value: Any) -> Any:
    """``store(array, row, value)``: write a lane vector to row *row* of *array*."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = _address(context, builder, sig.args[0], args[0], args[1])
        builder.store(args[2], address, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, LANE_TYPE), lower


@intrinsic  # type: ignore[untyped-decorator]
def splat(typing_context: Any, scalar: Any) -> Any:
    """``splat(scalar)``: the float in every lane."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _splat(builder, args[0], _FLOATS)

    return LANE_TYPE(types.float64), lower


# Arithmetic -------------------------------------------------------------------------------


def _llvm(builder: Any, name: str, *values: Any) -> Any:
    """Call the LLVM intrinsic *name* on lane vectors."""
    function = ir.FunctionType(_FLOATS, [_FLOATS] * len(values))
    full_name = f"llvm.{name}.v{LANES}f64"
    return builder.call(
        cgutils.get_or_insert_function(builder.module, function, full_name), values)


@intrinsic  # type: ignore[untyped-decorator]
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """``fma(a, b, c)``: a·b + c, rounded once."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _llvm(builder, "fma", *args)

    return LANE_TYPE(LANE_TYPE, LANE_TYPE, LANE_TYPE), lower


@intrinsic  # type: ignore[untyped-decorator]
def sqrt(typing_context: Any, a: Any) -> Any:
    """``sqrt(a)``: the correctly rounded square root."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _llvm(builder, "sqrt", *args)

    return LANE_TYPE(LANE_TYPE), lower


@intrinsic  # type: ignore[untyped-decorator]
def log(typing_context: Any, a: Any) -> Any:
    """``log(a)``: the natural logarithm, that of the C library in every lane."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _llvm(builder, "log", *args)

    return LANE_TYPE(LANE_TYPE), lower


@intrinsic  # type: ignore[untyped-decorator]
def magnitude(typing_context: Any, a: Any) -> Any:
    """``magnitude(a)``: |a|."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _llvm(builder, "fabs", *args)

    return LANE_TYPE(LANE_TYPE), lower


@intrinsic  # type: ignore[untyped-decorator]
def where_greater(typing_context: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
    """``where_greater(a, b, yes, no)``: *yes* where a > b, else *no* (so also at NaN)."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return LANE_TYPE(LANE_TYPE, LANE_TYPE, LANE_TYPE, LANE_TYPE), lower


@intrinsic  # type: ignore[untyped-decorator]
def power_of_two(typing_context: Any, shifted: Any) -> Any:
    """``power_of_two(k + SHIFT)``: 2^k for integers −1022 ≤ k ≤ 1023."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        # SHIFT leaves k in the low bits of the mantissa; the exponent field starts at bit 52.
        bits = builder.bitcast(args[0], _INTEGERS)
        exponent = builder.shl(bits, _splat(builder, ir.Constant(ir.IntType(64), 52), _INTEGERS))
        one = _splat(builder, ir.Constant(ir.IntType(64), 1023 << 52), _INTEGERS)
        return builder.bitcast(builder.add(exponent, one), _FLOATS)

    return LANE_TYPE(LANE_TYPE), lower


SHIFT = 1.5 * 2.0**52
"""Adding this to |x| < 2^51 rounds x to the nearest integer, held in the low mantissa bits."""
_PER_LN2 = 1 / math.log(2)
# ln 2 in two parts, the first short enough that k times it is exact.
_LN2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")
_LN2_LOW = float.fromhex("0x1.ef35793c76730p-45")
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (
    1 / math.factorial(k) for k in range(2, 14))
LARGEST_EXPONENT = 709.0
"""`exp` saturates here, at 8.2e307, and is 0 below minus 708."""


@inlined
def exp(x: Lanes) -> Lanes:
    """e^x within 2 units in the last place; 0 for x < −708, saturated for x > 709.

    Taylor's polynomial of degree 13 on |r| ≤ ln(2)/2 after x = k ln 2 + r.
    """
    low, high = splat(-708.0), splat(LARGEST_EXPONENT)
    y = where_greater(x, low, where_greater(x, high, high, x), low)
    shifted = fma(y, splat(_PER_LN2), splat(SHIFT))
    k = shifted - splat(SHIFT)
    r = fma(k, splat(-_LN2_LOW), fma(k, splat(-_LN2_HIGH), y))
    p = fma(splat(_C13), r, splat(_C12))
    p = fma(p, r, splat(_C11))
    p = fma(p, r, splat(_C10))
    p = fma(p, r, splat(_C9))
    p = fma(p, r, splat(_C8))
    p = fma(p, r, splat(_C7))
    p = fma(p, r, splat(_C6))
    p = fma(p, r, splat(_C5))
    p = fma(p, r, splat(_C4))
    p = fma(p, r, splat(_C3))
    p = fma(p, r, splat(_C2))
    value = fma(fma(p, r * r, r), power_of_two(shifted), power_of_two(shifted))
    return where_greater(x, low, value, splat(0.0))
