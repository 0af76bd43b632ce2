# SPDX-License-Identifier: Apache-2.0
"""architecture.md's "Agreement" between our answer and TFLite's two, as tests/golden_test.cc."""
import numpy as np

from .model import ELEMENT, EQUAL, HALF, STEPS, SUM


def _bound(rule, golden, factor):
    finite = np.abs(golden[np.isfinite(golden)])
    greatest = finite.max() if finite.size else 0.0
    size = np.abs(golden)
    if rule == ELEMENT:
        return factor * (1e-5 * size + 1e-6)
    if rule == SUM:
        return factor * (1e-5 * greatest + 1e-6) + 0 * size
    return factor * (1e-3 * size + 1e-3 * greatest)


def _close(case, rule, golden, ours, reference_mode):
    if rule == EQUAL or (rule == STEPS and reference_mode):
        same = golden == ours
        if golden.dtype.kind == "f":
            same |= np.isnan(golden) & np.isnan(ours)
        return same
    if rule == STEPS:
        return np.abs(golden.astype(np.int64) - ours.astype(np.int64)) <= case.steps
    a, b = golden.astype(np.float64), ours.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= _bound(rule, a, case.factor)
    return near | (a == b) | (np.isnan(a) & np.isnan(b))


def compare(case, answers, outputs, reference_mode):
    """Empty text when `outputs` agree with either of TFLite's answers, else what differs."""
    given = [a for a in answers if a.outputs]
    reference_mode = reference_mode and bool(answers[0].outputs)  # what it means to be exact
    if len(outputs) != len(given[0].outputs):
        return f"{len(outputs)} outputs, expected {len(given[0].outputs)}"
    for number, ours in enumerate(outputs):
        rule = case.rules[number]
        golden = [a.outputs[number] for a in given]
        if ours.shape != golden[0].shape or ours.dtype != golden[0].dtype:
            return (f"output {number}: {ours.dtype}{ours.shape}, "
                    f"expected {golden[0].dtype}{golden[0].shape}")
        if rule == STEPS and reference_mode:
            golden = golden[:1]  # reference mode means the reference kernel
        good = np.zeros(ours.shape, bool)
        for g in golden:
            good |= _close(case, rule, g, ours, reference_mode)
        if not good.all():
            at = tuple(int(i) for i in np.argwhere(~good)[0])
            return (f"output {number} differs at {int((~good).sum())} of {ours.size}, first "
                    f"{at}: {ours[at]}, expected {' or '.join(str(g[at]) for g in golden)}")
    return ""
