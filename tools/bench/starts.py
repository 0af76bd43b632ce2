# SPDX-License-Identifier: Apache-2.0
"""The start table of `make bench`: preparation and first inference in a new process.

Each measurement is a process that has loaded the libraries and created nothing before: a fork of
this one. It reads the model's file, which is in the page cache, creates an interpreter, allocates
the tensors, sets the inputs to zero and runs one inference. Deputy and TFLite with XNNPACK
alternate; the table has each one's shortest time.
"""
import ctypes
import math
import os
import struct
import time

ROUNDS = 7


def in_fork(measure):
    """Returns the result of measure(), two numbers, in a forked process; None if that fails."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # TFLite logs its delegate
            os.write(writer, struct.pack("2d", *measure()))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return struct.unpack("2d", data) if len(data) == 16 else None


def start_ours(library, path, threads):
    """Returns the milliseconds of the preparation and of the first inference."""
    library.ModelCreateFromFile.restype = ctypes.c_void_p
    begin = time.perf_counter_ns()
    model = ctypes.c_void_p(library.ModelCreateFromFile(os.fsencode(path)))
    options = library.InterpreterOptionsCreate()
    library.InterpreterOptionsSetNumThreads(options, threads)
    interpreter = library.InterpreterCreate(model, options)
    if not interpreter or library.InterpreterAllocateTensors(interpreter):
        raise RuntimeError("refused")
    prepared = time.perf_counter_ns()
    for number in range(library.InterpreterGetInputTensorCount(ctypes.c_void_p(interpreter))):
        tensor = library.InterpreterGetInputTensor(interpreter, number)
        size = library.TensorByteSize(tensor)
        library.TensorCopyFromBuffer(tensor, bytes(size), size)
    fed = time.perf_counter_ns()
    if library.InterpreterInvoke(interpreter):
        raise RuntimeError("refused")
    return (prepared - begin) / 1e6, (time.perf_counter_ns() - fed) / 1e6


def start_litert(path, threads):
    from ai_edge_litert.interpreter import Interpreter

    begin = time.perf_counter_ns()
    interpreter = Interpreter(model_path=str(path), num_threads=threads)
    interpreter.allocate_tensors()
    prepared = time.perf_counter_ns()
    for detail in interpreter.get_input_details():
        interpreter.tensor(detail["index"])()[...] = 0
    fed = time.perf_counter_ns()
    interpreter.invoke()
    return (prepared - begin) / 1e6, (time.perf_counter_ns() - fed) / 1e6


def compare_starts(library, paths, plain_of):
    """Prints a row for each model, and returns the rows. `library` is a golden.ours.Library,
    plain_of(path) the file that TFLite reads."""
    import ai_edge_litert.interpreter  # noqa: F401  (loaded before the processes are forked)

    for name in ("ModelCreateFromFile", "InterpreterGetInputTensorCount"):
        setattr(library, name, getattr(ctypes.CDLL(library.path), "TfLite" + name))
    print(f"\nStart in a new process, 1 thread, best of {ROUNDS}: milliseconds\n{'model':<36} "
          f"{'prepare':>9} {'first':>9} {'sum':>9} {'litert':>9} {'ratio':>6}")
    rows = []
    for path in paths:
        best = {}
        for _ in range(ROUNDS):
            for name, measure in (("ours", lambda: start_ours(library, path, 1)),
                                  ("litert", lambda: start_litert(plain_of(path), 1))):
                times = in_fork(measure)
                if times and sum(times) < sum(best.get(name, (math.inf, 0))):
                    best[name] = times
        row = {"model": path.stem, **{name: best.get(name) for name in ("ours", "litert")}}
        row["ratio"] = (sum(row["ours"]) / sum(row["litert"])
                        if row["ours"] and row["litert"] else None)
        rows.append(row)
        print_row(row)
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"start: {mean:.3f} of LiteRT's time, geometric mean of {len(ratios)} models "
              f"({min(ratios):.2f} to {max(ratios):.2f})")
    return rows


def print_row(row):
    numbers = [*row["ours"], sum(row["ours"])] if row["ours"] else [None] * 3
    numbers.append(sum(row["litert"]) if row["litert"] else None)
    cells = [("-" if number is None else f"{number:.3f}").rjust(9) for number in numbers]
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
    print(f"{row['model']:<36} {' '.join(cells)} {ratio:>6}", flush=True)
