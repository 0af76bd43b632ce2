# SPDX-License-Identifier: Apache-2.0
"""Values that need not be stored: splitmix64, implemented identically in
tests/conformance/golden_reader.cc.

All arithmetic is exact in double precision (a 24-bit fraction times a span of at most 29 bits), so no
compiler's fused multiply-add can make the two sides differ.
"""
import dataclasses

import numpy as np

# Kinds of generators, with the numbers that the golden files store.
RAW, FLOAT, INTEGER, GRID = 0, 1, 2, 3

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def splitmix64(seed, count):
    """Returns the first `count` outputs of splitmix64 started at `seed`."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + _GAMMA * np.arange(1, count + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


@dataclasses.dataclass(frozen=True)
class Fill:
    """A generator of values of one numpy type.

    FLOAT: float32 in [low, high). INTEGER: any integer type, low..high inclusive. GRID: float32
    multiples k * step of integers k in low..high, for rounding ties.
    """
    kind: int
    seed: int
    low: float
    high: float
    step: float = 1.0

    def values(self, shape, dtype):
        count = int(np.prod(shape, dtype=np.int64))
        bits = splitmix64(self.seed, count)
        if self.kind == FLOAT:
            fraction = (bits >> np.uint64(40)).astype(np.float64) / 2.0**24
            out = self.low + (self.high - self.low) * fraction
        else:
            span = np.uint64(int(self.high) - int(self.low) + 1)
            out = (((bits >> np.uint64(32)) * span) >> np.uint64(32)).astype(np.int64)
            out = out + int(self.low)
            if self.kind == GRID:
                out = out.astype(np.float64) * self.step
        return out.astype(dtype).reshape(shape)


def uniform(seed, low, high):
    return Fill(FLOAT, seed, float(np.float32(low)), float(np.float32(high)))


def integers(seed, low, high):
    return Fill(INTEGER, seed, low, high)


def grid(seed, low, high, step):
    return Fill(GRID, seed, low, high, step)
