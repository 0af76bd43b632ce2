#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what copies between host and device cost on a GPU, and prints a row per model.

    python tools/bench/gpu_transfers.py [MODEL ...] [--build DIR] [--device NAME] [--batches 1,128]
                                        [--precisions fp32,fp16] [--tuning none|fast|full]
                                        [--tasks N] [--out FILE] [--no-peers]

A MODEL is a file, or one of the networks of make_models.py (default: mobilenet_v2 resnet50). Every
row is a model, batch and precision, with milliseconds per inference (medians; means of tasks):

    pageable   Invoke, with inputs and outputs in the interpreter's memory
    pinned     Invoke, with inputs and outputs in memory of DeputyGpuAllocateHostMemory
    tasks      N asynchronous tasks in flight on pinned memory, whose transfers overlap with kernels
    device     Invoke, with inputs and outputs in buffers on the device
    kernels    the kernels alone, by the device's clock

The outputs of the first three are compared, and must be equal. For networks of make_models.py
PyTorch is measured, too, if it can be imported and has CUDA: its CUDA graph from pinned memory to
host memory, and the graph alone; float32 and float16 in channels last.
"""
import argparse
import ctypes
import json
import pathlib
import statistics
import struct
import sys
import time

import gpu_table
from gpu_session import Failure, Session

COLUMNS = ("model", "batch", "precision", "pageable, ms", "pinned, ms", "tasks, ms", "device, ms",
           "kernels, ms")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["mobilenet_v2", "resnet50"], metavar="MODEL")
    parser.add_argument("--build", type=pathlib.Path, default=gpu_table.ROOT / "build" / "release")
    parser.add_argument("--device", default="gpu", help="device of the OpenCL delegate (default: gpu)")
    parser.add_argument("--batches", default="1,128", help="0: the model's own shape")
    parser.add_argument("--precisions", default="fp32,fp16")
    parser.add_argument("--tuning", default="full", choices=("none", "fast", "full"))
    parser.add_argument("--tasks", type=int, default=3, help="tasks in flight (default: 3)")
    parser.add_argument("--runs", type=int, default=30, help="minimum number of inferences")
    parser.add_argument("--secs", type=float, default=1, help="minimum seconds per measurement")
    parser.add_argument("--out", type=pathlib.Path, help="append lines of JSON here")
    parser.add_argument("--no-peers", action="store_true")
    arguments = parser.parse_args()
    if arguments.tasks < 1 or arguments.runs < 1:
        parser.error("--tasks and --runs: expected at least 1")
    return arguments


def contents_of(size):
    """Returns floats from -1 to 1 as bytes."""
    pattern = struct.pack("<64f", *[(i * 7 % 64 - 32) / 32 for i in range(64)])
    return (pattern * (size // len(pattern) + 1))[:size]


def fill(addresses, sizes):
    for address, size in zip(addresses, sizes):
        ctypes.memmove(address, contents_of(size), size)


def invoke_ms(session, arguments):
    return gpu_table.median_ms(session.invoke, arguments.runs, arguments.secs)


def measure_pageable(session, arguments):
    fill(session.addresses("Input"), session.sizes("Input"))
    milliseconds = invoke_ms(session, arguments)
    return milliseconds, session.outputs()


def measure_pinned(session, arguments):
    session.pin_tensors()
    return measure_pageable(session, arguments)


def measure_tasks(session, arguments):
    """Returns the mean time of a task, and the outputs of the last one."""
    runner = session.runner()
    sizes = session.sizes("Input") + session.sizes("Output")
    memory = [[session.pinned(size) for size in sizes] for _ in range(arguments.tasks)]
    for addresses in memory:
        fill(addresses, session.sizes("Input"))
    tasks = [session.task(runner, addresses) for addresses in memory]

    def run(count):
        for number in range(count + arguments.tasks):
            task = tasks[number % arguments.tasks]
            if number >= arguments.tasks:
                session.wait(runner, task)
            if number < count:
                session.start(runner, task)

    run(arguments.tasks)
    begin, runs = time.perf_counter(), 0
    while runs < arguments.runs or time.perf_counter() < begin + arguments.secs:
        run(2 * arguments.tasks)
        runs += 2 * arguments.tasks
    milliseconds = (time.perf_counter() - begin) * 1e3 / runs
    inputs = len(session.sizes("Input"))
    return milliseconds, [ctypes.string_at(address, size)
                          for address, size in zip(memory[-1][inputs:], sizes[inputs:])]


def measure_device(session, arguments):
    session.bind_device_buffers()
    return invoke_ms(session, arguments), None


def measure_kernels(session, arguments):
    for _ in range(3):
        session.invoke()
    session.kernel_ns()
    times = []
    for _ in range(arguments.runs):
        session.invoke()
        times.append(session.kernel_ns() / 1e6)
    return statistics.median(times), None


MEASURES = (("pageable", measure_pageable, {}), ("pinned", measure_pinned, {}),
            ("tasks", measure_tasks, {}), ("device", measure_device, {}),
            ("kernels", measure_kernels, {"profiling": "1"}))


def put(row):
    print("| " + " | ".join(row) + " |", flush=True)


def keep(arguments, record):
    if arguments.out:
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def model_file(model):
    if model in gpu_table.WORK:
        return gpu_table.model_of(argparse.Namespace(models=None), model)
    if not pathlib.Path(model).is_file():
        sys.exit(f"{model}: expected a file, or one of {', '.join(gpu_table.WORK)}")
    return pathlib.Path(model)


def measure_row(arguments, model, batch, precision):
    """Returns the times of a row by their names. Raises Failure if outputs differ."""
    path, times, expected = model_file(model), {}, None
    for name, measure, more in MEASURES:
        options = {"device": arguments.device, "precision": precision, "tuning": arguments.tuning,
                   "overlapped_tasks": arguments.tasks, **more}
        with Session(arguments.build, path, options, batch or None) as session:
            times[name], outputs = measure(session, arguments)
        expected = expected or outputs
        if outputs is not None and outputs != expected:
            raise Failure(f"{path.name}, batch {batch}, {precision}: the outputs of {name} differ")
    return times


def print_torch(arguments, batches):
    """Prints the rows of PyTorch. Returns "" or the reason why there are none."""
    try:
        torch = gpu_table.Torch()
    except (ImportError, OSError, RuntimeError) as missing:
        return str(missing)
    for model in arguments.models:
        for batch in batches if model in gpu_table.WORK else []:
            for variant in torch.VARIANTS:
                if variant[0] not in ("fp32", "fp16 channels last"):
                    continue
                _, whole, alone = torch.times(model, batch, variant, arguments.runs, arguments.secs)
                keep(arguments, {"model": model, "batch": batch, "precision": variant[0],
                                 "engine": "PyTorch", "pinned": whole, "kernels": alone})
                put([f"{model}, PyTorch CUDA graph", str(batch), variant[0], "-", f"{whole:.3f}",
                     "-", "-", f"{alone:.3f}"])
    return ""


def main():
    arguments = parse()
    batches = [int(batch) for batch in arguments.batches.split(",")]
    put(COLUMNS)
    print("|" + "---|" * len(COLUMNS), flush=True)
    failed = False
    for model in arguments.models:
        for batch in batches:
            for precision in arguments.precisions.split(","):
                try:
                    times = measure_row(arguments, model, batch, precision)
                except Failure as failure:
                    failed = True
                    print(failure, file=sys.stderr, flush=True)
                    continue
                name = pathlib.Path(model).stem
                keep(arguments, {"model": name, "batch": batch, "precision": precision,
                                 "engine": "Deputy", **times})
                put([name, str(batch) if batch else "-", precision] +
                    [f"{times[key]:.3f}" for key, _, _ in MEASURES])
    if not arguments.no_peers:
        reason = print_torch(arguments, [batch for batch in batches if batch])
        if reason:
            print(f"\nPyTorch is skipped: {reason}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
