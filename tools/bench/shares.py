#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the most expensive nodes of models with the limits of the machine.

Prints the tables of docs/benchmarks.md. The measure does not depend on the machine's speed.

    python3 tools/bench/shares.py [--build FOLDER] [--runs N] [--nodes N] MODEL.tflite…

Each row is one node, with one thread: its share of the model's time, its arithmetic in GFLOP/s with
the peak that deputy_bench measures (peak/fma_*; for int8 four times that, the rate of AVX-512
VNNI), and the bytes of its inputs and outputs in GB/s with the rate of a copy of 256 MB. A node far
from both limits can be improved; one near either limit cannot. Operators that move or compare data
count no arithmetic.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPY_BYTES = 256 << 20


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--runs", type=int, default=50, help="inferences (default: 50)")
    parser.add_argument("--nodes", type=int, default=10, help="rows per model (default: 10)")
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    return parser.parse_args()


def output_of(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def peak_gflops(build):
    """Returns the measured peak of float32 multiply-adds in registers, with the widest
    instructions."""
    found = json.loads(output_of([build / "deputy_bench", "--benchmark_filter=^peak/",
                                  "--benchmark_format=json"]))
    return max(row["GFLOP/s"] for row in found["benchmarks"])


def copy_gbytes():
    """Returns the gigabytes (1e9 bytes) read and written per second in the fastest of ten copies."""
    source, target = bytearray(COPY_BYTES), bytearray(COPY_BYTES)
    best = math.inf
    for _ in range(10):
        begin = time.perf_counter()
        target[:] = source
        best = min(best, time.perf_counter() - begin)
    return 2 * COPY_BYTES / best / 1e9


def operations(operator, inputs, output):
    """Returns the multiplications and additions of a node; the shapes are those of its tensors."""
    elements = math.prod(output)
    if operator in ("CONV_2D", "CONV_3D"):
        return 2 * elements * math.prod(inputs[1][1:])
    if operator == "DEPTHWISE_CONV_2D":
        return 2 * elements * math.prod(inputs[1][1:3])
    if operator == "TRANSPOSE_CONV":
        return 2 * math.prod(inputs[2]) * math.prod(inputs[1][:3])
    if operator == "FULLY_CONNECTED":
        return 2 * elements * inputs[1][-1]
    if operator == "BATCH_MATMUL":
        # The depth may be either of the last two extents, depending on flags, so that the code
        # divides by the known one.
        rows_depth = math.prod(inputs[0][-2:])
        return 2 * elements * rows_depth // (output[-2] or 1)
    if operator in ("ADD", "MUL", "SUB", "PRELU", "MEAN", "AVERAGE_POOL_2D"):
        return max(elements, math.prod(inputs[0]))
    return 0


def made_of(shape, node):
    """Returns the shape of the computed part of an output; subsampled pixels are excluded."""
    strides = {1: node["row_stride"], 2: node["column_stride"]}
    return [-(-extent // strides.get(axis, 1)) for axis, extent in enumerate(shape)]


def rows_of(model, arguments):
    """Returns (share of time, label, shape, microseconds, operations, bytes, is int8) per node."""
    found = json.loads(output_of([arguments.build / "deputy", "explain", model, "--json", "--profile",
                                  arguments.runs]))
    total = found["cpu_ns"]
    rows = []
    for subgraph in found["subgraphs"]:
        tensors = {tensor["index"]: tensor for tensor in subgraph["tensors"]}
        for node in subgraph["nodes"]:
            inputs = [tensors[i] for i in node["inputs"] if i >= 0 and i in tensors]
            outputs = [tensors[i] for i in node["outputs"] if i in tensors]
            if not node["cost_ns"] or not inputs or not outputs:
                continue
            shapes = [tensor["shape"] for tensor in inputs]
            made = made_of(outputs[0]["shape"], node)
            moved = sum(tensor["bytes"] for tensor in inputs + outputs)
            rows.append((node["cost_ns"] / total, f"{node['index']} {node['operator']}",
                         "x".join(map(str, outputs[0]["shape"])), node["cost_ns"] / 1e3,
                         operations(node["operator"], shapes, made), moved,
                         inputs[0]["type"] in ("INT8", "UINT8")))
    return sorted(rows, reverse=True)[:arguments.nodes]


def main():
    arguments = parse()
    peak, bandwidth = peak_gflops(arguments.build), copy_gbytes()
    print(f"Peak {peak:.0f} GFLOP/s, copies {bandwidth:.1f} GB/s, one thread.")
    for model in arguments.models:
        print(f"\n**{model.stem}**\n\n| node | output | time | us | GFLOP/s | of the peak | GB/s | "
              "of copies |\n|---|---|---|---|---|---|---|---|")
        for share, label, shape, us, work, moved, small in rows_of(model, arguments):
            rate, bytes_rate = work / us / 1e3, moved / us / 1e3
            of_peak = rate / (peak * (4 if small else 1))
            print(f"| {label} | {shape} | {share:.0%} | {us:.0f} | "
                  f"{f'{rate:.0f}' if work else '–'} | {f'{of_peak:.0%}' if work else '–'} | "
                  f"{bytes_rate:.1f} | {bytes_rate / bandwidth:.0%} |")


if __name__ == "__main__":
    main()
