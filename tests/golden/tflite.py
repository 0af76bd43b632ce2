# SPDX-License-Identifier: Apache-2.0
"""Runs the real TFLite in a forked child, because it may crash.

Every result, except those of large cases, is computed twice in the child, with the heap filled with
different bytes, to detect results that depend on uninitialised memory.
"""
import ctypes
import dataclasses
import os
import pickle
import select
import signal
import traceback

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

RESOLVERS = {
    "reference": OpResolverType.BUILTIN_REF,
    "optimised": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
}

# Outcomes, with the numbers that the golden files store. REFUSED_* name the stage that refused.
INVOKED, REFUSED_CREATE, REFUSED_RESIZE, REFUSED_ALLOCATE, REFUSED_INVOKE, UNDEFINED = range(6)
OUTCOME_NAMES = ["invoked", "refused at create", "refused at resize", "refused at allocate",
                 "refused at invoke", "undefined"]
_M_PERTURB = -6
_SECONDS = 60


@dataclasses.dataclass
class Result:
    outcome: int
    outputs: list          # numpy arrays when INVOKED
    message: str = ""


def in_child(function, *arguments):
    """Runs function(*arguments) in a forked child; returns (True, result) or (False, how it died)."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read_end)
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 2)
            try:
                data = pickle.dumps((True, function(*arguments)))
            except Exception:  # an error in this script, not a result
                data = pickle.dumps((False, traceback.format_exc()))
            with os.fdopen(write_end, "wb") as pipe:
                pipe.write(data)
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    chunks = []
    while True:
        ready, _, _ = select.select([read_end], [], [], _SECONDS)
        chunk = os.read(read_end, 1 << 20) if ready else b""
        if not ready:
            os.kill(child, signal.SIGKILL)
        if not chunk:
            break
        chunks.append(chunk)
    os.close(read_end)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False, f"signal {os.WTERMSIG(status)}"
    if os.WEXITSTATUS(status) != 0:
        return False, f"exit {os.WEXITSTATUS(status)}"
    fine, result = pickle.loads(b"".join(chunks))
    if not fine:
        raise RuntimeError(result)
    return True, result


def _outputs(native):
    outputs = []
    for index in native.OutputIndices():
        shape = tuple(native.TensorSize(index, 0))
        type = np.dtype(native.TensorType(index, 0))
        if type.kind == "S":  # strings of any length, independent of numpy's conversion
            type = np.dtype(np.object_)
        if 0 in shape:
            outputs.append(np.zeros(shape, type))
        else:
            outputs.append(np.array(native.GetTensor(index, 0)).astype(type))
    return outputs


def _once(case, resolver):
    step = REFUSED_CREATE
    try:
        interpreter = Interpreter(model_content=case.model, num_threads=1,
                                  experimental_op_resolver_type=RESOLVERS[resolver])
        native = interpreter._interpreter
        step = REFUSED_RESIZE
        for index, feed in zip(native.InputIndices(), case.feeds):
            if feed.resize:
                native.ResizeInputTensor(index, np.asarray(feed.shape, np.int32), False)
        step = REFUSED_ALLOCATE
        native.AllocateTensors()
        step = REFUSED_INVOKE
        for index, feed in zip(native.InputIndices(), case.feeds):
            values = feed.values()
            if values.size:
                native.SetTensor(index, values)
        outputs = []
        for _ in range(case.invokes):
            native.Invoke()
            outputs += _outputs(native)
        if any(text is None for output in outputs if output.dtype == np.object_
               for text in output.flat):
            return Result(UNDEFINED, [], "fewer strings than the shape has elements")
        return Result(INVOKED, outputs)
    except (RuntimeError, ValueError) as error:
        return Result(step, [], str(error).strip().splitlines()[0][:160] if str(error) else "")


def same_array(a, b):
    """Returns True if shape and bits are equal."""
    if a.dtype == np.object_:
        return a.shape == b.shape and bool((a == b).all())
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _twice(case, resolver):
    libc = ctypes.CDLL(None)
    libc.mallopt(_M_PERTURB, 0x55)
    first = _once(case, resolver)
    if case.exact:
        return first
    libc.mallopt(_M_PERTURB, 0xAA)
    second = _once(case, resolver)
    same = first.outcome == second.outcome and all(
        same_array(a, b) for a, b in zip(first.outputs, second.outputs))
    return first if same else Result(UNDEFINED, [], "two runs differ")


def run(case, resolver):
    """Returns the Result of one resolver to a case; UNDEFINED if TFLite crashes or its results are random."""
    if case.undefined and resolver in case.undefined_in:
        return Result(UNDEFINED, [], case.undefined)
    fine, result = in_child(_twice, case, resolver)
    return result if fine else Result(UNDEFINED, [], result)
