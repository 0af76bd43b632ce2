# SPDX-License-Identifier: Apache-2.0
"""Runs whole .tflite files on Deputy's library and on the real TFLite: `golden files LIBRARY FILE…`.

Each file is fed with random numbers three times. The report is the greatest difference of an output
from TFLite's optimised kernels (without delegates), as a fraction of the output's greatest magnitude.
"""
import pathlib

import numpy as np

from . import generator, tflite
from .model import ELEMENT, TYPE_OF_NUMPY, Case, Feed

_SEEDS = (11, 12, 13)


def _feeds(path, seed):
    interpreter = tflite.Interpreter(
        model_path=str(path), num_threads=1,
        experimental_op_resolver_type=tflite.RESOLVERS["optimised"])
    feeds = []
    for number, detail in enumerate(interpreter.get_input_details()):
        type = TYPE_OF_NUMPY[np.dtype(detail["dtype"])]
        low, high = (0, 1) if type == "f32" else (0, 100)
        fill = (generator.uniform if type == "f32" else generator.integers)
        feeds.append(Feed(type, tuple(detail["shape"]), False,
                          fill(100 * seed + number, low, high)))
    return feeds


def _difference(golden, ours):
    if golden.shape != ours.shape or golden.dtype != ours.dtype:
        return float("inf")
    if golden.size == 0:
        return 0.0
    golden, ours = golden.astype(np.float64), ours.astype(np.float64)
    return float(np.abs(golden - ours).max() / max(np.abs(golden).max(), 1e-9))


def _compare(library, path):
    greatest = 0.0
    for seed in _SEEDS:
        fine, feeds = tflite.in_child(_feeds, path, seed)
        if not fine:
            return "TFLite dies of it", False
        case = Case(path.name, path.stem, 1, "f32", 0, path.read_bytes(), [], feeds,
                    [ELEMENT] * 99)
        theirs, ours = tflite.run(case, "optimised"), library.run(case, False)
        if theirs.outcome != tflite.INVOKED or ours.outcome != tflite.INVOKED:
            names = [tflite.OUTCOME_NAMES[each.outcome] for each in (theirs, ours)]
            return f"TFLite: {names[0]}; here: {names[1]}", theirs.outcome != tflite.INVOKED
        greatest = max([greatest] + [_difference(a, b)
                                     for a, b in zip(theirs.outputs, ours.outputs)])
    return f"{len(theirs.outputs)} outputs, greatest difference {greatest:.1e}", greatest < 1e-3


def check(library, paths):
    """Returns the number of files that TFLite computes and Deputy refuses or computes differently."""
    bad = 0
    for path in map(pathlib.Path, paths):
        try:
            text, fine = _compare(library, path)
        except RuntimeError as error:  # raised for unsupported operators
            text, fine = f"TFLite refuses it: {str(error).strip().splitlines()[-1][:120]}", True
        bad += not fine
        print(f"{path.name}: {text}", flush=True)
    return bad
