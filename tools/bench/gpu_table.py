#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks MobileNetV2 and ResNet-50 on a GPU and prints the table of docs/gpu.md.

The engines are Deputy's OpenCL delegate, PyTorch and ONNX Runtime.

    python tools/bench/gpu_table.py [--device NAME] [--nets mobilenet_v2,resnet50] [--batches 1,128]
                                    [--precisions fp32,fp16] [--tuning none|fast|full]
                                    [--lib LABEL=FILE ...] [--models FOLDER] [--out FILE]
                                    [--no-peers] [--tflops T --gbytes G]

Every row is one network, batch and engine: milliseconds of an inference from host memory to host
memory (median of all runs), and of the kernels alone by the device's clock. With --tflops and
--gbytes, the float32 figures of the device's datasheet, the row has the roofline time, which is the
larger of arithmetic and memory time, and the share of it that the kernels reach. Several --lib
compare builds of the delegate in alternation. --out receives one line of JSON per measurement, with
the time of every kernel and node.

Peers run in a separate process: PyTorch, eager and with a CUDA graph (float32 in both layouts, TF32
and float16 with channels last; needs torchvision), and ONNX Runtime's CUDA provider. PyTorch's
images are in pinned memory. Peers that cannot be imported there, or have no CUDA, are listed below
the table with the reason. The networks are those of make_models.py, created once with TensorFlow,
or <net>_fp32.tflite of --models; peers use other weights, which do not affect the time.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:1] = [str(HERE)]

# The environment is copied here, because make_models sets CUDA_VISIBLE_DEVICES to hide the GPUs
# from TensorFlow, which would also hide them from the peers.
environment = dict(os.environ)
import make_models  # noqa: E402  (imports no large packages by itself)

os.environ.clear()
os.environ.update(environment)

SIDE = make_models.SIDE
# Work per image, by network: multiply-adds in 1e9, megabytes of weights, megabytes of activations
# read and written.
WORK = {"mobilenet_v2": (0.301, 14.0, 54.9), "resnet50": (3.858, 102.1, 109.4)}
COLUMNS = ("network", "batch", "engine", "host to host, ms", "kernels, ms", "TFLOP/s in kernels",
           "roofline, ms", "share")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--device", default="gpu", help="device of the OpenCL delegate (default: gpu)")
    parser.add_argument("--lib", action="append", metavar="LABEL=FILE",
                        help="library of the delegate (default: that of --build)")
    parser.add_argument("--models", type=pathlib.Path, help="directory of <net>_fp32.tflite")
    parser.add_argument("--nets", default=",".join(WORK))
    parser.add_argument("--batches", default="1,128")
    parser.add_argument("--precisions", default="fp32")
    parser.add_argument("--tuning", default="full", choices=("none", "fast", "full"))
    parser.add_argument("--options", default="", help="further delegate options, KEY=VALUE,…")
    parser.add_argument("--runs", type=int, default=50, help="minimum number of inferences")
    parser.add_argument("--secs", type=float, default=1, help="minimum seconds per measurement")
    parser.add_argument("--tflops", type=float, help="float32 TFLOP/s of the datasheet")
    parser.add_argument("--gbytes", type=float, help="GB/s of the datasheet")
    parser.add_argument("--out", type=pathlib.Path, help="append lines of JSON here")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--python", default=sys.executable, help="the peers' interpreter")
    parser.add_argument("--peers-only", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.lib:
        arguments.lib = [f"Deputy={arguments.build / 'libdeputy_gpu.so'}"]
    return arguments


# ---- Deputy -------------------------------------------------------------------------------------


def model_of(arguments, net):
    folder = arguments.models or make_models.cache_folder()
    model = folder / f"{net}_fp32.tflite"
    if not model.exists():
        if arguments.models:
            sys.exit(f"{model} does not exist")
        subprocess.run([sys.executable, str(HERE / "make_models.py"), net], check=True)
    return model


def deputy(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def input_of(arguments, model):
    """Returns the name of the model's image input."""
    looked = deputy([arguments.build / "deputy", "bench", model, "--json", "--dry-run"])
    return looked["inputs"][0]["name"]


def bench(arguments, library, net, batch, precision, profiling):
    """Returns the JSON output of `deputy bench`."""
    model = model_of(arguments, net)
    delegate = f"{library},device={arguments.device},precision={precision}"
    delegate += f",tuning={arguments.tuning}" + (",profiling=1" if profiling else "")
    delegate += "," + arguments.options if arguments.options else ""
    result = deputy([arguments.build / "deputy", "bench", model, "--json", "--policy", "tflite",
                     "--delegate", delegate, "--runs", arguments.runs, "--min-secs",
                     arguments.secs, "--warmup-secs", arguments.secs / 2,
                     "--shape", f"{input_of(arguments, model)}={batch},{SIDE},{SIDE},3"])
    if result["cpu_nodes"]:
        raise RuntimeError(f"{net}: {len(result['cpu_nodes'])} nodes stay on the CPU")
    return result


def kernels_ms(result):
    """Returns the device time of an inference, without copies."""
    return sum(row["ms"] for row in result["device"]["kernels"] if row["kernel"])


def roofline_ms(arguments, net, batch):
    if not arguments.tflops or not arguments.gbytes:
        return None
    macs, weights, activations = WORK[net]
    # Time of the arithmetic in milliseconds: 1e9 operations divided by 1e12 per second.
    arithmetic = 2 * macs * batch / arguments.tflops
    memory = (weights + activations * batch) / arguments.gbytes
    return max(arithmetic, memory)


def row_of(arguments, net, batch, engine, whole_ms, alone_ms):
    row = [net, str(batch), engine, f"{whole_ms:.3f}", "-", "-", "-", "-"]
    if alone_ms:
        row[4:6] = [f"{alone_ms:.3f}", f"{2 * WORK[net][0] * batch / alone_ms:.1f}"]
        floor = roofline_ms(arguments, net, batch)
        if floor is not None:
            row[6:8] = [f"{floor:.3f}", f"{floor / alone_ms:.0%}"]
    return row


def deputy_row(arguments, label, library, net, batch, precision):
    whole = bench(arguments, library, net, batch, precision, profiling=False)
    profiled = bench(arguments, library, net, batch, precision, profiling=True)
    record = {"net": net, "batch": batch, "engine": label, "precision": precision}
    for name in ("init_ms", "first_ms", "min_ms", "median_ms", "p90_ms", "runs"):
        record[name] = whole[name]
    record |= {"profiled_ms": profiled["median_ms"], "device": profiled["device"]}
    keep(arguments, record)
    return row_of(arguments, net, batch, f"{label} {precision}", whole["median_ms"],
                  kernels_ms(profiled))


# ---- Peers --------------------------------------------------------------------------------------


def median_ms(run, runs, secs):
    """Returns the median time of calls of run(), each of which must be complete when it returns."""
    end = time.perf_counter() + secs / 2
    while True:
        run()
        if time.perf_counter() > end:
            break
    times, end = [], time.perf_counter() + secs
    while len(times) < runs or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


class Torch:
    """PyTorch from host memory to host memory, timed like the delegate."""

    VARIANTS = (("fp32", False, False), ("fp32 channels last", True, False),
            ("TF32 channels last", True, True), ("fp16 channels last", True, False))

    def __init__(self):
        import torch
        import torchvision

        if not torch.cuda.is_available():
            try:
                torch.cuda.init()
                reason = "of an unknown reason"
            except Exception as why:  # any failure is reported
                reason = str(why)
            raise ImportError(f"torch {torch.__version__} has no CUDA: {reason}")
        torch.backends.cudnn.benchmark = True
        self.torch, self.models = torch, torchvision.models

    def prepare(self, net, batch, variant):
        """Returns the network, and its image in pinned memory."""
        torch, (name, last, tf32) = self.torch, variant
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        kind = torch.float16 if name.startswith("fp16") else torch.float32
        layout = torch.channels_last if last else torch.contiguous_format
        made = getattr(self.models, net)(weights=None).eval().to("cuda", kind, memory_format=layout)
        host = torch.rand(batch, 3, SIDE, SIDE).to(kind).to(memory_format=layout).pin_memory()
        return made, host

    def times(self, net, batch, variant, runs, secs):
        """Returns milliseconds from host to host, eager and with a graph, and of the graph's
        kernels."""
        torch = self.torch
        model, host = self.prepare(net, batch, variant)
        with torch.inference_mode():
            image = host.cuda()
            eager = median_ms(lambda: model(image.copy_(host)).cpu(), runs, secs)
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    model(image)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                output = model(image)

            def replay():
                image.copy_(host)
                graph.replay()
                output.cpu()

            whole = median_ms(replay, runs, secs)
            return eager, whole, self.alone_ms(graph.replay, runs)

    def alone_ms(self, run, runs):
        """Returns the mean time of consecutive runs, measured by events."""
        events = [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]
        events[0].record()
        for _ in range(runs):
            run()
        events[1].record()
        events[1].synchronize()
        return events[0].elapsed_time(events[1]) / runs

    def export(self, net, batch, path):
        model, host = self.prepare(net, batch, self.VARIANTS[0])
        self.torch.onnx.export(model, host.cuda(), path, input_names=["image"])


def onnx_ms(torch, net, batch, runs, secs):
    import onnxruntime

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise ImportError("onnxruntime has no CUDA")
    if torch is None:
        raise ImportError("onnxruntime's network is exported by torch")
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "net.onnx")
        torch.export(net, batch, path)
        import numpy

        provider = ("CUDAExecutionProvider", {"use_tf32": 0})
        session = onnxruntime.InferenceSession(path, providers=[provider])
        feeds = {"image": numpy.random.rand(batch, 3, SIDE, SIDE).astype(numpy.float32)}
        return median_ms(lambda: session.run(None, feeds), runs, secs)


def print_torch(arguments, torch, net, batch):
    for variant in Torch.VARIANTS:
        try:
            eager, whole, alone = torch.times(net, batch, variant, arguments.runs, arguments.secs)
        except RuntimeError as failure:
            print(f"PyTorch {variant[0]}, {net}, {batch}: {failure}", file=sys.stderr, flush=True)
            continue
        keep(arguments, {"net": net, "batch": batch, "engine": "PyTorch", "precision": variant[0],
                         "eager_ms": eager, "median_ms": whole, "graph_ms": alone})
        put(row_of(arguments, net, batch, f"PyTorch {variant[0]}, eager", eager, None))
        put(row_of(arguments, net, batch, f"PyTorch {variant[0]}, CUDA graph", whole, alone))


def print_peers(arguments):
    torch, left_out = None, {}
    try:
        torch = Torch()
    except (ImportError, OSError, RuntimeError) as missing:
        left_out["PyTorch"] = str(missing)
    for net, batch in rows(arguments):
        if torch is not None:
            print_torch(arguments, torch, net, batch)
        if "ONNX Runtime" in left_out:
            continue
        try:
            whole = onnx_ms(torch, net, batch, arguments.runs, arguments.secs)
            put(row_of(arguments, net, batch, "ONNX Runtime fp32", whole, None))
        except ImportError as missing:
            left_out["ONNX Runtime"] = str(missing)
    for name, reason in left_out.items():
        print(f"\n{name} is skipped: {reason}", flush=True)


# ---- The table ----------------------------------------------------------------------------------


def put(row):
    print("| " + " | ".join(row) + " |", flush=True)


def keep(arguments, record):
    if arguments.out:
        with arguments.out.open("a") as file:
            file.write(json.dumps(record) + "\n")


def rows(arguments):
    for net in arguments.nets.split(","):
        for batch in arguments.batches.split(","):
            yield net, int(batch)


def main():
    arguments = parse()
    unknown = set(arguments.nets.split(",")) - set(WORK)
    if unknown:
        sys.exit(f"unknown networks: {', '.join(sorted(unknown))}; expected {', '.join(WORK)}")
    if arguments.peers_only:
        print_peers(arguments)
        return
    put(COLUMNS)
    print("|" + "---|" * len(COLUMNS), flush=True)
    failed = False
    for net, batch in rows(arguments):
        for precision in arguments.precisions.split(","):
            for label, library in (text.split("=", 1) for text in arguments.lib):
                try:
                    put(deputy_row(arguments, label, library, net, batch, precision))
                except RuntimeError as failure:
                    failed = True
                    print(failure, file=sys.stderr, flush=True)
    if not arguments.no_peers:
        subprocess.run([arguments.python, __file__, *sys.argv[1:], "--peers-only"], check=False)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
