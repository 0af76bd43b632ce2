#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times delegates in a process of their own against the same delegates in process.

    tools/bench/own_process.py BUILD_FOLDER DELEGATE:MODEL…

Prints a row per delegate and model, the medians of five runs in process, alternating with five in their own process.
`in` and `own` are the times of an inference. `trip` is the time of a call less the delegate's invoke in the process,
the median of its newest 64 calls: copies, messages, the wake-up. `ready` is the difference of the times of nine
commands that prepare the model and run no inference, so that it contains the loading of the delegate's library in
both; `first` is that of commands with two inferences. `goal` repeats the limits: 20 us plus the time to copy the
tensors at the border, and 20 ms until the process is ready. Missed goals do not change the exit status.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import time

ROUNDS = 5
PREPARATIONS = 9
CALL_GOAL_US = 20
READY_GOAL_MS = 20
COPIED_BYTES_PER_US = 5000  # a cautious rate of memcpy


SHORT = ("-n", "1", "--min-secs", "0", "--warmup-secs", "0")
LONG = ("-n", "5", "--min-secs", "0.3", "--warmup-secs", "0.1")


def bench(build, delegate, model, *options):
    """Returns the report of the command and its seconds; None if the delegate is not available."""
    command = [str(build / "deputy"), "bench", model, "--delegate", delegate, "--json", *options]
    start = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if result.returncode != 0:
        return None
    report = json.loads(result.stdout)
    return (report, seconds) if any(each["nodes"] for each in report["delegates"]) else None


def preparation_ms(build, delegate, model, *options):
    """Returns the time of a command that prepares the model and runs no inference."""
    command = [str(build / "deputy"), "explain", model, "--delegate", delegate, "--json", *options]
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return 1e3 * (time.perf_counter() - start)


def ready_ms(build, delegate, model):
    """Returns by how much later a process is ready than a delegate in process."""
    times = [[preparation_ms(build, delegate, model, *way) for way in ((), ("--isolate",))]
             for _ in range(PREPARATIONS)]
    in_process, own_process = (statistics.median(column) for column in zip(*times))
    return own_process - in_process


def border_bytes(report):
    """Returns the size of the float32 or int8 inputs; the outputs of classifiers are small."""
    total = 0
    for tensor in report["inputs"]:
        size = 1 if "INT8" in tensor["type"] else 4
        for extent in tensor["shape"]:
            size *= extent
        total += size
    return total


def round_trip_us(report):
    """Returns the time of a call without the delegate's invoke in the process."""
    devices = [each["facts"]["device"] for each in report["delegates"]]
    return sum(float(us) for device in devices for us in re.findall(r"process ([0-9.]+) us", device or ""))


def row(build, delegate, model):
    name = f"{delegate:9} {pathlib.Path(model).stem:22}"
    ways = ((), ("--isolate",))
    calls, starts, trips = {way: [] for way in ways}, {way: [] for way in ways}, []
    for _ in range(ROUNDS):
        for way in ways:
            short, long = (bench(build, delegate, model, *length, *way) for length in (SHORT, LONG))
            if short is None or long is None:
                return name + "not available"
            starts[way].append(1e3 * short[1])
            calls[way].append(1e3 * long[0]["median_ms"])
            if way:
                trips.append(round_trip_us(long[0]))
    call, isolated = (statistics.median(calls[way]) for way in ways)
    first, isolated_first = (statistics.median(starts[way]) for way in ways)
    ready = ready_ms(build, delegate, model)
    trip = statistics.median(trips)
    goal = CALL_GOAL_US + border_bytes(long[0]) / COPIED_BYTES_PER_US
    met = "met" if trip <= goal and ready <= READY_GOAL_MS else "missed"
    return (f"{name}{call:9.1f} {isolated:9.1f} {trip:9.1f} {ready:9.1f} {isolated_first - first:9.1f}   "
            f"{goal:.0f} us, {READY_GOAL_MS} ms: {met}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("pairs", nargs="+", metavar="DELEGATE:MODEL")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    print(f"\nOwn process: medians of {ROUNDS} rounds")
    print(f"{'delegate':9} {'model':22}{'in us':>9} {'own us':>9} {'trip us':>9} {'ready ms':>9} {'first ms':>9}   goal")
    for argument in arguments.pairs:
        print(row(build, *argument.split(":", 1)), flush=True)


if __name__ == "__main__":
    main()
