# SPDX-License-Identifier: Apache-2.0
"""The batch table of `make bench`: eight images in one inference compared with one.

Times are those of blocks that alternate between one image and eight, and between Deputy and TFLite
with XNNPACK. Instructions are those of Deputy's inference under Valgrind, which has no AVX-512: the
kernels are those for AVX2. The count of an inference is the difference of two runs, of which the
second has one more inference.
"""
import json
import math
import re
import shutil
import subprocess
import tempfile

IMAGES = 8


def count(build, path, shapes, inferences):
    """Returns the executed instructions of TfLiteInterpreterInvoke, or None."""
    resized = [word for name, shape in shapes
               for word in ("--shape", f"{name}=" + ",".join(map(str, shape)))]
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=TfLiteInterpreterInvoke",
             f"--callgrind-out-file={folder}/counts", str(build / "deputy"), "bench", str(path),
             "-n", str(inferences), "--min-secs", "0", "--max-secs", "3600", "--warmup", "0",
             "--warmup-secs", "0", *resized],
            capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", result.stderr)
    return int(found.group(1)) if found and result.returncode == 0 else None


def inputs_of(build, path):
    """Returns (name, shape) of each input, as the model declares them."""
    result = subprocess.run([str(build / "deputy"), "inspect", str(path), "--json"],
                            capture_output=True, text=True, check=False)
    if result.returncode:
        return []
    report = json.loads(result.stdout)
    tensors = {tensor["index"]: tensor for tensor in report["subgraphs"][0]["tensors"]}
    return [(tensors[index]["name"], tensors[index]["shape"]) for index in report["inputs"]]


def instructions(build, path):
    """Returns the ratio of the instructions of eight images to those of one; None without
    Valgrind."""
    if not shutil.which("valgrind") or not (build / "deputy").exists():
        return None
    shapes = inputs_of(build, path)
    counts = []
    for images in (1, IMAGES):
        scaled = [(name, [images * shape[0], *shape[1:]]) for name, shape in shapes if shape]
        runs = [count(build, path, scaled, number) for number in (1, 2)]
        if None in runs or not scaled:
            return None
        counts.append(runs[1] - runs[0])
    return counts[1] / counts[0]


def compare_batches(library, paths, arguments):
    """Prints a row for each model, with one thread, and returns the rows."""
    import cut
    import engines

    print(f"\nBatches, 1 thread, best: milliseconds per image alone and of {IMAGES}; time and "
          f"instructions of {IMAGES} images relative to one\n{'model':<36} {'ours 1':>9} "
          f"{'ours 8':>9} {'litert 1':>9} {'litert 8':>9} {'ours':>6} {'litert':>6} {'instr.':>6}")
    rows = []
    for path in paths:
        content = path.read_bytes()
        plain = cut.plain_tflite(content)
        details = engines.Peer(plain, 1).input_details()
        ready, notes = {}, []
        for images in (1, IMAGES):
            feeds = engines.random_inputs([((images * shape[0], *shape[1:]) if shape else shape, dtype)
                                           for shape, dtype in details])
            shapes = [feed.shape for feed in feeds] if images > 1 else None
            for name, make in (("ours", lambda s=shapes: engines.Ours(library, content, 1, s)),
                               ("litert", lambda s=shapes: engines.Peer(plain, 1, True, shapes=s))):
                try:
                    engine = make()
                    engine.feed(feeds)
                    ready[name, images] = engine
                except engines.Refused as refusal:
                    notes.append(f"{name} refused {images}: {refusal}")
        times = engines.race(ready, arguments.runs, arguments.block_ms / 1e3)
        best = {key: pair[1] for key, pair in times.items()}
        row = {"model": path.stem, "notes": notes, "instructions": None}
        for name in ("ours", "litert"):
            one, many = best.get((name, 1)), best.get((name, IMAGES))
            row[name] = {"one": one, "many": many and many / IMAGES,
                         "ratio": many / one if one and many else None}
        if arguments.instructions and row["ours"]["ratio"]:
            row["instructions"] = instructions(arguments.build, path)
        print_row(row)
        rows.append(row)
    print_mean(rows)
    return rows


def show(value, form):
    return "-" if value is None else form.format(value)


def print_row(row):
    cells = [show(row[name][which], "{:9.4f}").rjust(9) for name in ("ours", "litert")
             for which in ("one", "many")]
    cells += [show(row[name]["ratio"], "{:.2f}").rjust(6) for name in ("ours", "litert")]
    cells.append(show(row["instructions"], "{:.2f}").rjust(6))
    notes = f"  ({'; '.join(row['notes'])})" if row["notes"] else ""
    print(f"{row['model']:<36} {' '.join(cells)}{notes}", flush=True)


def print_mean(rows):
    for name in ("ours", "litert"):
        ratios = [row[name]["ratio"] for row in rows if row[name]["ratio"]]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{name}: {IMAGES} images take {mean:.2f} times as long as one, geometric mean of "
                  f"{len(ratios)} models ({min(ratios):.2f} to {max(ratios):.2f})")
