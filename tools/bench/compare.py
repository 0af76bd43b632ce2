#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks Deputy and other engines in one run.

The others are TFLite with its built-in kernels, with XNNPACK and with Deputy's OpenCL delegate,
OpenVINO, and ONNX Runtime.

    python tools/bench/compare.py [--library FILE] [--models TEXT,…] [--threads 1,2] [--runs N]
                                  [--json FILE] [--no-operators] [--no-nets] [--device NAME]
                                  [--onnx FOLDER] [--folder FOLDER] [--tables NAMES]

Times every model of ../shared/models (if that directory exists, or of --folder) and the networks of
make_models.py, then batches and starts of all of them, and each operator of the shared models
alone. The engines alternate within the run, so the ratios are valid on a busy machine; the
milliseconds are not. Numbers are median and best.

The project's targets are printed as met or missed, without influence on the exit status: it is 0
unless the comparison itself failed. If the Python that runs this script has no ai_edge_litert,
DEPUTY_PEERS_PYTHON or, if that is not set, build/peers/bin/python runs it; if that has none either,
one line reports it and the exit status is 0. See docs/benchmarks.md.
"""
import argparse
import importlib.util
import json
import math
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = ROOT.parent / "shared" / "models"
LEFT_OUT = {"face_landmark_with_attention"}  # three custom operators that no other engine supports
sys.path[:1] = [str(HERE), str(ROOT / "tests")]

import make_models  # noqa: E402  (imports no large packages by itself)

# (model, upper limit relative to the time of TFLite+XNNPACK)
BARS = [("mobilenet_v2_fp32", 3.0), ("resnet50_fp32", 3.0), ("mobilenet_v2_int8", 3.0)]
OPERATOR_BAR = 10.0
TABLES = ("models", "batches", "starts", "operators")
ENGINES = ("ours", "builtin", "xnnpack", "openvino", "onnxruntime", "opencl")


def find_python():
    """Runs this script again in a Python that can import TFLite, or exits with a message."""
    if importlib.util.find_spec("ai_edge_litert"):
        return
    wanted = os.environ.get("DEPUTY_PEERS_PYTHON")
    candidates = [wanted] if wanted else [str(ROOT / "build" / "peers" / "bin" / "python")]
    for python in candidates:
        if os.path.exists(python) and "DEPUTY_BENCH_AGAIN" not in os.environ:
            os.environ["DEPUTY_BENCH_AGAIN"] = "1"
            os.execv(python, [python, *sys.argv])
    print(f"no comparison: no ai_edge_litert in {sys.executable} and none at {candidates[0]} "
          "(set DEPUTY_PEERS_PYTHON; see docs/benchmarks.md)")
    sys.exit(0)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release",
                        help="build directory with drop-in/libtensorflowlite_c.so")
    parser.add_argument("--library", type=pathlib.Path, help="library to use instead of the one in --build")
    parser.add_argument("--models", default="", metavar="TEXT,…",
                        help="only models whose name contains one of these")
    parser.add_argument("--threads", default="1,2", help="thread counts (default 1,2)")
    parser.add_argument("--runs", type=int, default=5, help="blocks per engine and row")
    parser.add_argument("--block-ms", type=float, default=80, help="minimum length of a block")
    parser.add_argument("--json", type=pathlib.Path, help="also write everything to this file")
    parser.add_argument("--no-operators", action="store_true", help="whole models only")
    parser.add_argument("--no-nets", action="store_true", help="do not create the networks")
    parser.add_argument("--device", default="", metavar="NAME",
                        help="the OpenCL delegate's device (default: the best; none: skip it)")
    parser.add_argument("--onnx", type=pathlib.Path, metavar="FOLDER",
                        help="directory of MODEL.onnx or MODEL/model.onnx for ONNX Runtime")
    parser.add_argument("--folder", type=pathlib.Path, default=SHARED,
                        help="directory of the shared models (default: ../shared/models)")
    parser.add_argument("--tables", default=",".join(TABLES), metavar="NAME,…",
                        help=f"tables to print (default: {','.join(TABLES)})")
    parser.add_argument("--no-instructions", dest="instructions", action="store_false",
                        help="do not count the instructions of batches, which takes minutes")
    parser.add_argument("--worst", type=int, default=15, help="number of operators to list")
    arguments = parser.parse_args()
    arguments.threads = [int(n) for n in arguments.threads.split(",")]
    arguments.tables = set(arguments.tables.split(","))
    if not arguments.tables <= set(TABLES):
        parser.error(f"--tables: expected some of {','.join(TABLES)}")
    if arguments.no_operators:
        arguments.tables.discard("operators")
    arguments.library = arguments.library or arguments.build / "drop-in/libtensorflowlite_c.so"
    if not arguments.library.exists():
        sys.exit(f"{arguments.library} is missing: build first")
    gpu = arguments.build / "libdeputy_gpu.so"
    arguments.gpu = gpu if gpu.exists() and arguments.device != "none" else None
    return arguments


def onnx_file(arguments, model):
    """Returns the model in ONNX Runtime's format, or None."""
    if not arguments.onnx or not importlib.util.find_spec("onnxruntime"):
        return None
    files = (arguments.onnx / f"{model}.onnx", arguments.onnx / model / "model.onnx")
    return next((file for file in files if file.exists()), None)


def chosen_models(arguments):
    """Returns (paths of the shared models, paths of the nets) after filtering; creates missing
    nets."""
    words = [word for word in arguments.models.split(",") if word]

    def wanted(name):
        return not words or any(word in name for word in words)

    shared = [path for path in sorted(arguments.folder.glob("*.tflite"))
              if path.stem not in LEFT_OUT and wanted(path.stem)]
    nets = [net for net in make_models.NETS
            if any(wanted(f"{net}_{form}") for form in make_models.FORMS)]
    folder = make_models.cache_folder()
    missing = [name for name in make_models.file_names(nets) if not (folder / name).exists()]
    if missing and not arguments.no_nets:
        if importlib.util.find_spec("tensorflow"):
            print(f"creating {', '.join(missing)} in {folder} (once, some minutes)", flush=True)
            # The models are made in a separate process, which releases TensorFlow's memory and
            # threads when it exits.
            subprocess.run([sys.executable, str(HERE / "make_models.py"), *nets],
                           stderr=subprocess.DEVNULL, check=False)
        else:
            print(f"not compared: {', '.join(missing)} (no TensorFlow to create them)")
    paths = [folder / name for name in make_models.file_names(nets)]
    return shared, [path for path in paths if path.exists() and wanted(path.stem)]


def compare_model(library, path, threads, arguments):
    """Returns one row: {engine: (median, best)}, and a note on rejected models or differences."""
    import cut
    import engines

    content = path.read_bytes()
    plain = cut.plain_tflite(content)
    factories = {"ours": lambda: engines.Ours(library, content, threads),
              "builtin": lambda: engines.Peer(plain, threads),
              "xnnpack": lambda: engines.Peer(plain, threads, xnnpack=True)}
    if importlib.util.find_spec("openvino"):
        factories["openvino"] = lambda: engines.OpenVino(path, threads)
    if onnx_file(arguments, path.stem):
        factories["onnxruntime"] = lambda: engines.OnnxRuntime(onnx_file(arguments, path.stem), threads)
    if arguments.gpu:
        options = {"device": arguments.device} if arguments.device else {}
        factories["opencl"] = lambda: engines.Peer(plain, threads, delegate=(arguments.gpu, options))
    feeds = engines.random_inputs(engines.Peer(plain, 1).input_details())
    ready, notes = {}, []
    for name, factory in factories.items():
        try:
            engine = factory()
            engine.feed(feeds)
            ready[name] = engine
        except engines.Refused as refusal:
            notes.append(f"{name} refused: {refusal}")
    if "ours" in ready and "builtin" in ready:
        off = engines.disagreement(ready["ours"].outputs(), ready["builtin"].outputs())
        if off > 0.03:
            notes.append(f"outputs differ by {off:.1%} of the greatest")
    times = engines.race(ready, arguments.runs, arguments.block_ms / 1e3)
    return {"model": path.stem, "threads": threads, "notes": notes,
            **{name: times.get(name) for name in ENGINES}}


def ratio(row, peer, which=0):
    if not row["ours"] or not row[peer]:
        return None
    return row["ours"][which] / row[peer][which]


def show(value, form):
    return "-" if value is None else form.format(value)


def print_row(row, names):
    cells = []
    for name in names:
        pair = row[name] or (None, None)
        cells.append(f"{show(pair[0], '{:.3f}'):>9} {show(pair[1], '{:.3f}'):>9}")
    for peer in names[1:]:
        cells += [f"{show(ratio(row, peer, which), '{:.2f}'):>6}" for which in (0, 1)]
    notes = f"  ({'; '.join(row['notes'])})" if row["notes"] else ""
    print(f"{row['model']:<36} {row['threads']:>2}  " + "  ".join(cells) + notes, flush=True)


def available_engines(arguments):
    """Returns the columns of the table."""
    absent = set()
    if not importlib.util.find_spec("openvino"):
        absent.add("openvino")
    if not arguments.onnx or not importlib.util.find_spec("onnxruntime"):
        absent.add("onnxruntime")
    if not arguments.gpu:
        absent.add("opencl")
    return [name for name in ENGINES if name not in absent]


def print_best(rows, names):
    """Prints our time relative to the fastest other engine except OpenCL, by number of threads."""
    for threads in sorted({row["threads"] for row in rows}):
        ratios = []
        for row in rows:
            peers = [row[name][0] for name in names[1:] if name != "opencl" and row[name]]
            if row["threads"] == threads and row["ours"] and peers:
                ratios.append(row["ours"][0] / min(peers))
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{threads} thread{'s' * (threads > 1)}: {mean:.3f} of the fastest other's time, "
                  f"geometric mean of {len(ratios)} models ({min(ratios):.2f} to "
                  f"{max(ratios):.2f})")


def speed_ups(rows, peers=("ours", "xnnpack")):
    """Returns (model, threads, speed-ups by engine): the best time with the fewest threads, divided by this row's."""
    fewest, found = {}, []
    for row in sorted(rows, key=lambda row: row["threads"]):
        first = fewest.setdefault(row["model"], row)
        if first is not row:
            found.append((row["model"], row["threads"],
                          [first[peer][1] / row[peer][1] if first[peer] and row[peer] else None for peer in peers]))
    return found


def print_speed_ups(rows):
    found = speed_ups(rows)
    if found:
        fewest = min(row["threads"] for row in rows)
        print(f"\n{f'speed-up over {fewest} thread' + 's' * (fewest > 1):<36} threads  {'ours':>6} {'xnnpack':>8}")
    for model, threads, (ours, peer) in found:
        print(f"{model:<36} {threads:>7}  {show(ours, '{:.2f}'):>6} {show(peer, '{:.2f}'):>8}")


def compare_models(library, paths, arguments):
    names = available_engines(arguments)
    print(f"\n{'milliseconds: median, best':<40} " +
          "  ".join(f"{name:^19}" for name in names) +
          "".join(f"  {'ours/' + peer:^14}" for peer in names[1:]))
    rows = []
    for path in paths:
        for threads in arguments.threads:
            rows.append(compare_model(library, path, threads, arguments))
            print_row(rows[-1], names)
    print_best(rows, names)
    print_speed_ups(rows)
    return rows


def compare_operators(library, paths, arguments):
    import cut

    timings = []
    for timing, make in cut.distinct_operators(paths):
        cut.time_one(library, timing, make, 3, 0.008)
        timings.append(timing)
    if not timings:
        return timings
    nodes = sum(timing.count for timing in timings)
    print(f"\nSingle operators of the shared models, 1 thread, best: {len(timings)} distinct ones, "
          f"{nodes} nodes\n{'all nodes of a type':<26} {'nodes':>6} {'ours ms':>9} "
          f"{'builtin ms':>10} {'ratio':>6}")
    for name, count, ours, peer in cut.by_operator(timings):
        print(f"{name:<26} {count:>6} {ours:>9.3f} {peer:>10.3f} {ours / peer:>6.2f}")
    print(f"\n{'slowest against builtin':<26} {'ours µs':>9} {'builtin µs':>10} {'ratio':>6}")
    ranked = sorted((t for t in timings if not t.refused), key=lambda t: -t.ratio)
    for timing in ranked[:arguments.worst]:
        print(f"{timing.operator:<26} {timing.ours * 1e3:>9.2f} {timing.peer * 1e3:>10.2f} "
              f"{timing.ratio:>6.2f}  {timing.shapes}  ({timing.model})")
    refused = {}
    for timing in timings:
        if timing.refused:
            refused.setdefault((timing.operator, timing.refused), []).append(timing)
    for (name, why), group in refused.items():
        print(f"rejected: {name} ({len(group)} distinct): {why}")
    return timings


def verdict(got, bar):
    """Judges a pair of ratios, of median and of best, which must both meet the bar."""
    if got[0] is None:
        return "no number"
    said = "met" if max(got) <= bar else "MISSED" if min(got) > bar else "UNCLEAR"
    return f"{said} (median {got[0]:.2f}x, best {got[1]:.2f}x)"


def print_bars(rows, timings):
    print("\nBars")
    for model, bar in BARS:
        for row in rows:
            if row["model"] == model:
                got = [ratio(row, "xnnpack", which) for which in (0, 1)]
                print(f"  {model}, {row['threads']} thread{'s' * (row['threads'] > 1)}: within "
                      f"{bar:g}x of TFLite+XNNPACK: {verdict(got, bar)}")
    done = [timing for timing in timings if not timing.refused]
    if done:
        slow = [timing for timing in done if timing.ratio > OPERATOR_BAR]
        print(f"  no operator of the shared models more than {OPERATOR_BAR:g}x slower than "
              f"TFLite's builtin kernels: " + (f"MISSED by {len(slow)}" if slow else "met") +
              f" of {len(done)}" + (f", {len(timings) - len(done)} refused"
                                    if len(done) < len(timings) else ""))


def compare_starts(library, paths):
    """Prints the start table. TFLite reads files, so models that it needs in another form are
    written to a temporary folder."""
    import cut
    import starts

    with tempfile.TemporaryDirectory() as folder:
        plain = {}
        for path in paths:
            content = path.read_bytes()
            rewritten = cut.plain_tflite(content)
            plain[path] = path if rewritten is content else pathlib.Path(folder) / path.name
            if rewritten is not content:
                plain[path].write_bytes(rewritten)
        return starts.compare_starts(library, paths, plain.get)


def write_json(path, rows, timings, batches, starts):
    content = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(),
               "models": rows, "batches": batches, "starts": starts,
               "operators": [vars(t) | {"ratio": None if t.refused else t.ratio}
                             for t in timings]}
    path.write_text(json.dumps(content, indent=1) + "\n")


def main():
    arguments = parse()
    find_python()
    from golden import ours

    library = ours.Library(str(arguments.library))
    shared, nets = chosen_models(arguments)
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"{arguments.library}; {cores} cores, load {load:.1f}; "
          f"{len(shared)} shared models, {len(nets)} networks")
    if load > cores / 2:
        print("the machine is busy: even the ratios are inaccurate")
    import batches

    paths, tables = shared + nets, arguments.tables
    starts = compare_starts(library, paths) if "starts" in tables else []
    rows = compare_models(library, paths, arguments) if "models" in tables else []
    batch_rows = batches.compare_batches(library, paths, arguments) if "batches" in tables else []
    timings = compare_operators(library, shared, arguments) if "operators" in tables else []
    if rows or timings:
        print_bars(rows, timings)
    if arguments.json:
        write_json(arguments.json, rows, timings, batch_rows, starts)


if __name__ == "__main__":
    main()
