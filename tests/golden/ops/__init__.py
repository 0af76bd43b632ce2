# SPDX-License-Identifier: Apache-2.0
"""One module per kernel family, named as kernels/<family>.cc.

A family module offers
    OPERATORS        the operators it has cases for, in the order of operators.md
    VERSIONS         {operator: the highest version the real TFLite registers}
    cases(operator)  yields every Case of the operator's golden file
    draw(operator, random)  one freshly drawn Case, for `golden --check`
and is named in FAMILIES here. Adding an operator to an existing family touches that module only.
"""
from . import (activation, arithmetic, binary, compare, concat, control, conv, conv_transpose, fill, gather,
               matmul, normalize, pad, pool, quantize, rearrange, reduce, resize, resource,
               search, shape, slice, softmax, unary)

FAMILIES = [arithmetic, control, softmax, conv, conv_transpose, matmul, pool, shape, quantize, binary, compare, concat,
            gather, pad, rearrange, resize, slice, fill, activation, normalize,
            reduce, search, unary, resource]


def family_of(operator):
    for family in FAMILIES:
        if operator in family.OPERATORS:
            return family
    raise KeyError(f"no golden cases for {operator}")


def operators():
    return [operator for family in FAMILIES for operator in family.OPERATORS]
