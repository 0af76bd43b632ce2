# SPDX-License-Identifier: Apache-2.0
"""One module per kernel family, named as kernels/<family>.cc.

A family module provides
  OPERATORS   the operators it has cases for, in the order of operators.md
  VERSIONS    {operator: the highest version that the real TFLite registers}
  cases(operator)         yields every Case of the operator's golden file
  draw(operator, random)  returns one newly drawn Case, for `golden --check`
and is listed in FAMILIES here. Adding an operator to an existing family changes that module only.
"""
from . import (activation, arithmetic, audio, binary, compare, concat, control, conv, conv3d,
               conv_transpose, custom, detection, fill, gather, lstm, matmul, normalize, pad, pool,
               quantize, random, rearrange, reduce, resize, resource, rnn, search, segment, shape,
               signal, slice, softmax, stablehlo, text, unary, window)

FAMILIES = [activation, arithmetic, audio, binary, compare, concat, control, conv, conv3d, conv_transpose,
            custom, detection, fill, gather, lstm, matmul, normalize, pad, pool, quantize, random,
            rearrange, reduce, resize, resource, rnn, search, segment, shape, signal, slice,
            softmax, stablehlo, text, unary, window]


def family_of(operator):
    for family in FAMILIES:
        if operator in family.OPERATORS:
            return family
    raise KeyError(f"no golden cases for {operator}")


def operators():
    return [operator for family in FAMILIES for operator in family.OPERATORS]
