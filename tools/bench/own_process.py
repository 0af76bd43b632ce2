#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times delegates in a process of their own against the same delegates in process.

    tools/bench/own_process.py BUILD_FOLDER DELEGATE:MODEL…

Prints a row per delegate and model, the medians of five runs in process and then five in their own process. `in` and
`own` are the times of an inference and `trip` their difference. `ready` is the difference of the times from the start
of the command until the first inference. `goal` repeats the limits: 20 us plus the time to copy the tensors at the
border, and 20 ms. Missed goals do not change the exit status.
"""
import argparse
import json
import pathlib
import statistics
import subprocess

ROUNDS = 5
CALL_GOAL_US = 20
READY_GOAL_MS = 20
COPIED_BYTES_PER_US = 5000  # a cautious rate of memcpy


def bench(build, delegate, model, *options):
    """Returns the report of the command; None if the delegate is not available."""
    command = [str(build / "deputy"), "bench", model, "--delegate", delegate, "--json", "-n", "5", "--min-secs", "0.3",
               "--warmup-secs", "0.1", *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return None
    report = json.loads(result.stdout)
    return report if any(each["nodes"] for each in report["delegates"]) else None


def border_bytes(report):
    """Returns the size of the float32 or int8 inputs; the outputs of classifiers are small."""
    total = 0
    for tensor in report["inputs"]:
        size = 1 if "INT8" in tensor["type"] else 4
        for extent in tensor["shape"]:
            size *= extent
        total += size
    return total


def row(build, delegate, model):
    name = f"{delegate:9} {pathlib.Path(model).stem:22}"
    reports = {way: [bench(build, delegate, model, *way) for _ in range(ROUNDS)] for way in ((), ("--isolate",))}
    if None in reports[()] or None in reports[("--isolate",)]:
        return name + "not available"

    def median(way, key):
        return statistics.median(report[key] for report in reports[way])

    call, isolated = 1e3 * median((), "median_ms"), 1e3 * median(("--isolate",), "median_ms")
    ready = median(("--isolate",), "init_ms") - median((), "init_ms")
    goal = CALL_GOAL_US + border_bytes(reports[()][0]) / COPIED_BYTES_PER_US
    met = "met" if isolated - call <= goal and ready <= READY_GOAL_MS else "missed"
    return (f"{name}{call:9.1f} {isolated:9.1f} {isolated - call:9.1f} {ready:9.1f}   "
            f"{goal:.0f} us, {READY_GOAL_MS} ms: {met}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("pairs", nargs="+", metavar="DELEGATE:MODEL")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    print(f"\nOwn process: medians of {ROUNDS} rounds")
    print(f"{'delegate':9} {'model':22}{'in us':>9} {'own us':>9} {'trip us':>9} {'ready ms':>9}   goal")
    for argument in arguments.pairs:
        print(row(build, *argument.split(":", 1)), flush=True)


if __name__ == "__main__":
    main()
