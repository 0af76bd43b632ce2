# SPDX-License-Identifier: Apache-2.0
"""The agreement rule (docs/design/agreement.md) between Deputy's result and TFLite's two results.

Calls the implementation in tests/conformance/agreement.h, through libagreement.so of a build.
"""
import ctypes
import pathlib

import numpy as np

from .model import EQUAL, STEPS, TYPE_OF_NUMPY, TYPES, to_bytes

_TEXT = 1000
_library = None


def load(library):
    """Loads libagreement.so of the build that contains `library`, or else of any build in this tree."""
    global _library
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    folders = list(pathlib.Path(library).resolve().parents)[:2] + [root / "build" / "release"]
    for folder in folders + sorted(root.glob("build/*")):
        path = folder / "tests" / "libagreement.so"
        if path.exists():
            _library = ctypes.CDLL(str(path))
            return
    raise SystemExit("libagreement.so is missing: build the target `agreement`")


def _compare(case, rule, golden, ours):
    type = TYPE_OF_NUMPY[ours.dtype]
    results = [to_bytes(type, result) for result in golden]
    found = to_bytes(type, ours)
    dims = (ctypes.c_int * ours.ndim)(*ours.shape)
    text = ctypes.create_string_buffer(_TEXT)
    agrees = _library.ConformanceAgree(
        rule, ctypes.c_double(case.factor), ctypes.c_double(case.steps), TYPES[type][1], dims,
        ours.ndim, (ctypes.c_char_p * len(results))(*results),
        (ctypes.c_size_t * len(results))(*map(len, results)), len(results), found,
        ctypes.c_size_t(len(found)), text, ctypes.c_size_t(_TEXT))
    return "" if agrees else text.value.decode()


def compare(case, results, outputs, reference_mode):
    """Returns "" if `outputs` agree with one of TFLite's two results, otherwise the difference."""
    given = [a for a in results if a.outputs]
    reference_mode = reference_mode and bool(results[0].outputs)  # the reference result must exist
    if len(outputs) != len(given[0].outputs):
        return f"{len(outputs)} outputs, expected {len(given[0].outputs)}"
    for number, ours in enumerate(outputs):
        rule = case.rules[number]
        golden = [a.outputs[number] for a in given]
        if ours.shape != golden[0].shape or ours.dtype != golden[0].dtype:
            return (f"output {number}: {ours.dtype}{ours.shape}, "
                    f"expected {golden[0].dtype}{golden[0].shape}")
        if rule == STEPS and reference_mode:
            golden, rule = golden[:1], EQUAL  # reference mode compares with the reference kernel
        difference = _compare(case, rule, golden, ours)
        if difference:
            return f"output {number} {difference}"
    return ""
