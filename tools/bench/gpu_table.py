#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 and ResNet-50 on a GPU: Deputy's OpenCL delegate beside PyTorch and ONNX Runtime, as
the table of docs/gpu.md.

    python tools/bench/gpu_table.py [--device NAME] [--nets mobilenet_v2,resnet50] [--batches 1,128]
                                    [--tuning none|fast|full] [--tflops T --gbytes G]

Every row is one network and batch in float32: milliseconds of an inference from host memory to host
memory, the median of all runs, and of the kernels alone, by the device's clock. With --tflops and
--gbytes, the device's datasheet, the row has the roofline's time, the sum over the multiply-adds or
the bytes of weights and input, whichever takes longer, and the share of it that the kernels reach.
Peers that cannot be imported here, or have no CUDA, are named below the table and left out: PyTorch
eager and with a CUDA graph (channels last, TF32 off; needs torchvision), and ONNX Runtime's CUDA
provider. The networks are those of make_models.py, made once with TensorFlow; peers have their own
weights, which do not matter for time.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:1] = [str(HERE)]

import make_models  # noqa: E402  (imports nothing heavy by itself)

SIDE = make_models.SIDE
# Multiply-adds of an image in 1e9, megabytes of weights, megabytes of activations read and written.
WORK = {"mobilenet_v2": (0.301, 14.0, 54.9), "resnet50": (3.858, 102.1, 109.4)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--device", default="gpu", help="the OpenCL delegate's (default: gpu)")
    parser.add_argument("--nets", default=",".join(WORK))
    parser.add_argument("--batches", default="1,128")
    parser.add_argument("--tuning", default="full", choices=("none", "fast", "full"))
    parser.add_argument("--runs", type=int, default=200, help="inferences at least")
    parser.add_argument("--tflops", type=float, help="float32, of the datasheet")
    parser.add_argument("--gbytes", type=float, help="a second, of the datasheet")
    return parser.parse_args()


def bench(arguments, net, batch, profiling):
    """What `deputy bench` prints as JSON."""
    model = make_models.cache_folder() / f"{net}_fp32.tflite"
    if not model.exists():
        subprocess.run([sys.executable, str(HERE / "make_models.py"), net], check=True)
    delegate = f"gpu,device={arguments.device},tuning={arguments.tuning}"
    command = [str(arguments.build / "deputy"), "bench", str(model), "--json", "--policy", "tflite",
               "--delegate", delegate + (",profiling=1" if profiling else ""),
               "--shape", f"picture={batch},{SIDE},{SIDE},3", "--runs", str(arguments.runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    if result["cpu_nodes"]:
        sys.exit(f"{net}: {len(result['cpu_nodes'])} nodes are left to the CPU")
    return result


def kernels_ms(result):
    """The device's time of an inference, without copies."""
    return sum(row["ms"] for row in result["device"]["kernels"] if row["kernel"])


def roofline_ms(arguments, net, batch):
    if not arguments.tflops or not arguments.gbytes:
        return None
    macs, weights, activations = WORK[net]
    arithmetic = 2 * macs * batch / arguments.tflops  # 1e9 by 1e12 a second: milliseconds
    memory = (weights + activations * batch) / arguments.gbytes
    return max(arithmetic, memory)


def median_ms(run, runs):
    """Of calls of run(), each complete when it returns."""
    for _ in range(min(50, runs)):
        run()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


class Torch:
    """Eager and with a CUDA graph, from host memory to host memory as the delegate is timed."""

    def __init__(self):
        import torch
        import torchvision

        if not torch.cuda.is_available():
            raise ImportError("torch has no CUDA")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        self.torch, self.models = torch, torchvision.models

    def network(self, net):
        made = getattr(self.models, net)(weights=None).eval().cuda()
        return made.to(memory_format=self.torch.channels_last)

    def times(self, net, batch, runs):
        torch = self.torch
        host = torch.rand(batch, 3, SIDE, SIDE).to(memory_format=torch.channels_last).pin_memory()
        with torch.inference_mode():
            model, picture = self.network(net), host.cuda()
            eager = median_ms(lambda: model(picture.copy_(host)).cpu(), runs)
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    model(picture)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                output = model(picture)

            def replay():
                picture.copy_(host)
                graph.replay()
                output.cpu()

            return {"PyTorch eager": eager, "PyTorch, CUDA graph": median_ms(replay, runs)}

    def export(self, net, batch, path):
        picture = self.torch.rand(batch, 3, SIDE, SIDE).cuda()
        self.torch.onnx.export(self.network(net), picture, path, input_names=["picture"])


def onnx_times(torch, net, batch, runs):
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
        feeds = {"picture": numpy.random.rand(batch, 3, SIDE, SIDE).astype(numpy.float32)}
        return {"ONNX Runtime, CUDA": median_ms(lambda: session.run(None, feeds), runs)}


def peer_times(net, batch, runs, left_out):
    """Milliseconds by peer; who cannot be had, with the reason, goes to left_out."""
    times, torch = {}, None
    try:
        torch = Torch()
        times.update(torch.times(net, batch, runs))
    except ImportError as missing:
        left_out["PyTorch"] = str(missing)
    try:
        times.update(onnx_times(torch, net, batch, runs))
    except ImportError as missing:
        left_out["ONNX Runtime"] = str(missing)
    return times


def row_of(arguments, net, batch, left_out):
    whole = bench(arguments, net, batch, profiling=False)["median_ms"]
    alone = kernels_ms(bench(arguments, net, batch, profiling=True))
    floor = roofline_ms(arguments, net, batch)
    row = {"network": net, "batch": str(batch), "host to host, ms": f"{whole:.2f}",
           "kernels, ms": f"{alone:.2f}"}
    if floor is not None:
        row |= {"roofline, ms": f"{floor:.3f}", "share": f"{floor / alone:.0%}"}
    peers = peer_times(net, batch, arguments.runs, left_out)
    return row | {f"{name}, ms": f"{ms:.2f}" for name, ms in peers.items()}


def main():
    arguments = parse()
    unknown = set(arguments.nets.split(",")) - set(WORK)
    if unknown:
        sys.exit(f"unknown networks: {', '.join(sorted(unknown))}; expected {', '.join(WORK)}")
    left_out, header = {}, None
    for net in arguments.nets.split(","):
        for batch in (int(text) for text in arguments.batches.split(",")):
            row = row_of(arguments, net, batch, left_out)
            if header is None:
                header = list(row)
                print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
            print("| " + " | ".join(row.get(name, "-") for name in header) + " |", flush=True)
    for name, reason in left_out.items():
        print(f"\n{name} is left out: {reason}")


if __name__ == "__main__":
    main()
