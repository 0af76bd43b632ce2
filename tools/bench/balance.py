#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how far the division of work among threads limits the speed-up of models.

    python3 tools/bench/balance.py [--build FOLDER] [--threads 2,4,8,16] [--nodes N] MODEL.tflite…

Each node is timed with one thread. With N threads the tasks of its jobs are counted; the longest
thread has the share ceil(tasks / N) / tasks of the node's time, all of it without a job. The ideal
speed-up is the sum of all times by the sum of these shares, which N processors without costs for
starting and waiting would reach. The machine may have fewer processors than N. --nodes prints the
nodes that lose most, too.
"""
import argparse
import collections
import ctypes
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RUNS = 7


class OpEvent(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("subgraph_index", ctypes.c_int32),
                ("node_index", ctypes.c_int32), ("operator_name", ctypes.c_char_p),
                ("begin_ns", ctypes.c_int64), ("duration_ns", ctypes.c_int64)]


class WorkerEvent(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("subgraph_index", ctypes.c_int32),
                ("node_index", ctypes.c_int32), ("worker", ctypes.c_int32), ("tiles", ctypes.c_int32)]


OP_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(OpEvent))
WORKER_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(WorkerEvent))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--threads", default="2,4,8,16", help="thread counts (default 2,4,8,16)")
    parser.add_argument("--nodes", type=int, default=0,
                        help="rows per model for nodes, with the last thread count (default 0)")
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    return parser.parse_args()


def load(build):
    """Returns libdeputy with the result types of the functions that return pointers."""
    library = ctypes.CDLL(str(build / "libdeputy.so.1"))
    for name in ("TfLiteModelCreateFromFile", "TfLiteInterpreterOptionsCreate",
                 "TfLiteInterpreterCreate", "DeputyThreadPoolCreate"):
        getattr(library, name).restype = ctypes.c_void_p
    return library


class Inferences:
    """Inferences of a model with a number of threads, which may exceed that of the processors."""

    def __init__(self, library, path, threads):
        self._library = library
        self._pool = ctypes.c_void_p(library.DeputyThreadPoolCreate(threads))
        self._model = ctypes.c_void_p(library.TfLiteModelCreateFromFile(str(path).encode()))
        options = ctypes.c_void_p(library.TfLiteInterpreterOptionsCreate())
        library.DeputyInterpreterOptionsSetThreadPool(options, self._pool)
        self._interpreter = ctypes.c_void_p(library.TfLiteInterpreterCreate(self._model, options))
        library.TfLiteInterpreterOptionsDelete(options)
        if not self._interpreter or library.TfLiteInterpreterAllocateTensors(self._interpreter):
            sys.exit(f"{path} was not prepared")
        self.times, self.names, self.jobs = {}, {}, collections.defaultdict(list)
        self._current = collections.Counter()
        self._last = None
        # The library keeps pointers to the callbacks.
        self._on_op, self._on_worker = OP_CALLBACK(self._add_op), WORKER_CALLBACK(self._add_worker)
        library.DeputyInterpreterSetProfileCallback(self._interpreter, self._on_op, None)
        library.DeputyInterpreterSetWorkerCallback(self._interpreter, self._on_worker, None)

    def invoke(self):
        self.jobs.clear()
        self._current = collections.Counter()
        self._last = None
        if self._library.TfLiteInterpreterInvoke(self._interpreter):
            sys.exit("the inference failed")
        for node, time in self._current.items():
            self.times[node] = min(self.times.get(node, math.inf), time)

    def close(self):
        self._library.TfLiteInterpreterDelete(self._interpreter)
        self._library.TfLiteModelDelete(self._model)
        self._library.DeputyThreadPoolDelete(self._pool)

    def _add_op(self, _, event):
        node = (event[0].subgraph_index, event[0].node_index)
        self.names[node] = event[0].operator_name.decode()
        # A node that runs in micro-batches has an event for each.
        self._current[node] += event[0].duration_ns

    def _add_worker(self, _, event):
        node, worker = (event[0].subgraph_index, event[0].node_index), event[0].worker
        # The events of a job are in the order of the workers.
        if self._last is None or self._last[0] != node or worker <= self._last[1]:
            self.jobs[node].append(0)
        self.jobs[node][-1] += event[0].tiles
        self._last = (node, worker)


def share(jobs, threads):
    """Returns the share of the longest thread, from the tasks of a node's jobs."""
    tasks = max(jobs, default=1)
    return math.ceil(tasks / threads) / tasks


def measure(library, path, threads):
    """Returns the nanoseconds of each node with one thread, the operators, and by number of threads
    the tasks of each node's jobs."""
    alone = Inferences(library, path, 1)
    for _ in range(RUNS):
        alone.invoke()
    jobs = {}
    for count in threads:
        run = Inferences(library, path, count)
        run.invoke()
        jobs[count] = dict(run.jobs)
        run.close()
    alone.close()
    return alone.times, alone.names, jobs


def main():
    arguments = parse()
    threads = [int(count) for count in arguments.threads.split(",")]
    library = load(arguments.build)
    width = max(len(path.stem) for path in arguments.models)
    print(f"{'ideal speed-up':<{width}}  " + "  ".join(f"{n:>3} thr." for n in threads) + "  one thread, ms")
    for path in arguments.models:
        times, names, jobs = measure(library, path, threads)
        total = sum(times.values())
        longest = {count: {node: share(jobs[count].get(node, []), count) * time for node, time in times.items()}
                   for count in threads}
        print(f"{path.stem:<{width}}  " + "  ".join(f"{total / sum(longest[n].values()):>8.2f}" for n in threads)
              + f"  {total / 1e6:>14.3f}", flush=True)
        last = threads[-1]
        lost = sorted(times, key=lambda node: times[node] / last - longest[last][node])[:arguments.nodes]
        for node in lost:
            tasks = ", ".join(map(str, jobs[last].get(node, []))) or "none"
            print(f"  node {node[1]} {names[node]}: {times[node] / 1e3:.1f} us, tasks of its jobs: {tasks}")


if __name__ == "__main__":
    main()
