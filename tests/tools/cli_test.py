#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the `deputy` command: results for the digits of the examples, compared with those of the real
TFLite (examples/digits/expected_float.txt and, for each of the two kinds of integer arithmetic,
tests/data/digits_int8_answers.txt), exit codes, and a one-line message for every mistake. Uses only
Python's own library, so PNG and .npy files are read and written by this script.

    tests/tools/cli_test.py BUILD_FOLDER
"""
import ast
import base64
import contextlib
import csv
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
FLOAT, INT8 = DIGITS / "digits_float.tflite", DIGITS / "digits_int8.tflite"
IMAGES, LABELS = DIGITS / "images", DIGITS / "labels.txt"
# The image images/0000_8.png as a JPEG, in base64.
JPEG_OF_AN_8 = base64.b64decode("""
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1R
V19iZ2hnPk1xeXBkeFxlZ2P/wAALCAAcABwBAREA/8QAGgAAAgIDAAAAAAAAAAAAAAAABAYDBQABAv/EACoQAAEDAwIFAgcA
AAAAAAAAAAECAwQABRESMQYTFCFBFWEjMkJRgYLR/9oACAEBAAA/AEBKSpQSkEk7AeatYXD8iUCXpMOCM4HVvBsk4B+XfYjx
5oe62iZZ3wzNa0FXdKgchQ+4NA0RBmv2+Y3Lir0PNnKTjNNERu3XoJXe4zVqJTqRIb+Gl/uPpP52oPjdMtN0Ql1IEMIAiaVa
klAAGQd/Apboyz9L6tE65QTG5qS4SMjGfPtV3fLPd7tdHpkdPqDDiiGnWCCkJB7J9sVPfSzB4RiWuWtl25NubNuai0nucE/t
jH8pRrKkakPMA8l5xvO+hRGa4UpS1FS1FSlHJJOSTWq//9k=
""")
# A .ms model of one MulFusion with a RELU: x of three floats times (2, -1, 3), zlib and base64.
MS_MODEL = zlib.decompress(base64.b64decode("""
eNp1UbsOgkAQHHxBYQyFMRQWFBYkJoT4BZYWWtHaKQWFj6iJ2ln6EXyAH2Dvp+Hc3aJngpfM7u0xczvshQAW6XwCDDDkvkV4
6DL66CPgKfB0gAdREBGxFB635KjV07mllT4rICFGRCDcJsxSmobkulrxCmImuntZlur7WHo5Vu+r5KbuE3wcQLuHVgSijYTr
W/ozYdiYArcX09S+r/qf7zL3/fNzsfz8zqaaqpnNTPzYXhqCaiYemS6jZ45WxmeHtctoaG2GU77JjjVzVL0X+Xad7neHLJzn
pyycxEmsngVvMi8ZcA==
"""))
# Models of one or two ADD nodes, zlib and base64; each graph has one error.
WRONG_GRAPHS = {
    "a constant is the input": """
eNpNkDEOgkAQRT+6URM3SGFBYUFpYWGihZ0UxsrCwguQgJ0xUQpMKDiCp/F6+IedDSy8HWby5++wFsDtfNkx4Ne27ZjxQDZk
SQwZkVMAxGTB70eWF8n9+UqypCzeJVjGikj8ihFCxOycwSKiS8jKnqxVF6mvX9K31eiBnluTq3rKPOI5pUPoJHNX688PtM+v
iv9UE8s+d6Y49DOI/qNRcpnYqMrqHQQDbTXIgQl1hrvLo67WHLmlfEmT+jlM9wB/JP8Zcw==""",
    "a constant is made": """
eNpdj7ENwjAQRX/AgkhEwYULCoqUlEhQIpEiQhSULBBB6BASpKDMCBRMQsEEDELBHuE7vggLO+9+znf+tjWA7Wozg4xHXddd
6oJMyYgoYteqAJiTN/+H5Jjvi+RwOid5UhaXEixhTKzeG7eY+xVCRNAwzLifTKRPi3c7Aqlb7YhCzv6QG8nE1zBa3z5dYtc2
cGu/O3SE1jvj29bkRYzUlNRyUZs/WVdyv/9hX6Lk7IhqvH1Wd14O9NinGF3u/KolQ8qPVKl1cb1h46c9r6vnpZoJfAHbUyM7""",
    "two nodes make one tensor": """
eNrjYGBgCHHzMd71//9/ZiDbBIg1gFgAiFmAmBGIY4AEP5DOTUxJVUjLL1JIVChJLS4By8lA1ZxhAAE+BgmgLg4GHqB+ESCP
gcEGiHWAWAHJTBhgAuIcqH2MUD4TVA7EB7nnABBPAeISID4HdCOQ4hYBEhxIdsP0MUIxCwMb1B4+BohaHgZ2oO18EKNx6oeB
GUB75gDxCSBGDocSuPkMDE/Q5BKR5HiAEGI/yGbUsKyA0g3TZgDFWMDiAPeRJpA=""",
}
# A model of two subgraphs with a signature each: "double" adds x to itself; "square" computes value
# * value + value in two nodes.
TWO_SIGNATURES = zlib.decompress(base64.b64decode("""
eNptUTtOw0AQnQ0mtoIVosggChcuKCgjQUGRggpRpOQAOMRISAYLfxB0HIGaKgdAiILDUHKAlJRI5s3uBK9W7Op51zsz780nJqLz
09lhRDF5FFBII4qI154+N4Az4BhIAH7zgB7HKaIVTsU2OG7jvEkXWXJVlEma1FlVa78aGEnMEp9vBLy1bTvF/wTYt3j7QHXXpGVm
/J/hO1NGoydaJHn94OcT+NCPQ2TcVTDEyxFwAMSi71G3OGQlvMriZY1JTy5giYSTGZhzqjtDeDMxdr5KNJaoLRAKtpdZ1eR1Z3+B
nc9N4D7Nm4wGYDc6A9Gw+7Eomnku/KHWDrV3YOXB/Sia+s+HIwN49a15Xd8S7UIb161IYmPqemv3lyNNv7ivpqu+9BVrR0mOgcxQ
WTzrFWL7+hZITjQecyeRwwmwngnHXVr6XMuFY5879ifHnjp2Mzuj7Mvs/qvbzfkVvO/Al8P/6PCHegZdbbbvg+Pr6U30C8oATXQ=
"""))
DEPUTY = PLUGINS = None  # set from the command line


def deputy(*arguments, **options):
    return subprocess.run([DEPUTY, *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", timeout=300, **options)


def png_chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def write_png(path, width, height, channels, pixels):
    rows = b"".join(b"\0" + pixels[y * width * channels:(y + 1) * width * channels]
                    for y in range(height))
    colour = {1: 0, 3: 2}[channels]
    path.write_bytes(b"\x89PNG\r\n\x1a\n"
                     + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
                     + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b""))


def unfilter(kind, row, before):
    """Decodes one row of an 8-bit greyscale PNG, see the PNG specification, section 9."""
    out = bytearray(row)
    for i in range(len(out)):
        left, up = (out[i - 1] if i else 0), before[i]
        corner = before[i - 1] if i else 0
        guess = left + up - corner
        paeth = min((abs(guess - left), 0, left), (abs(guess - up), 1, up),
                    (abs(guess - corner), 2, corner))[2]
        out[i] = (out[i] + [0, left, up, (left + up) // 2, paeth][kind]) & 255
    return bytes(out)


def read_grey_png(path):
    """Returns the width, height and pixels of an 8-bit greyscale PNG without interlacing."""
    content, at, data = path.read_bytes(), 8, b""
    palette = None
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at:at + 8])
        body = content[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"PLTE":
            palette = body
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    assert bits == 8 and colour == 0 and palette is None, path
    rows, before, raw = [], bytes(width), zlib.decompress(data)
    for y in range(height):
        line = raw[y * (width + 1):(y + 1) * (width + 1)]
        before = unfilter(line[0], line[1:], before)
        rows.append(before)
    return width, height, b"".join(rows)


def write_npy(path, code, shape, data):
    header = repr({"descr": code, "fortran_order": False, "shape": shape})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    content = path.read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    length, = struct.unpack("<H", content[8:10])
    assert (10 + length) % 64 == 0
    header = ast.literal_eval(content[10:10 + length].decode())
    assert header["fortran_order"] is False
    return header["descr"], header["shape"], content[10 + length:]


def expected_classes(name):
    """Returns rows of (image, label, probability); `name` is float, int8 or int8_reference."""
    if name == "float":
        path, columns = DIGITS / "expected_float.txt", slice(1, 3)
    else:
        path = ROOT / "tests" / "data" / "digits_int8_answers.txt"
        columns = slice(3, 5) if name == "int8" else slice(1, 3)
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    return [(row[0], row[columns][0], float(row[columns][1])) for row in rows]


class CliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.image = sorted(IMAGES.glob("*.png"))[0]
        self.width, self.height, self.pixels = read_grey_png(self.image)

    def fine(self, *arguments):
        result = deputy(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def refused(self, code, pattern, *arguments):
        result = deputy(*arguments)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stderr}")
        self.assertRegex(result.stderr, r"\Adeputy: [^\n]+\n\Z", f"{arguments}: not one line")
        self.assertRegex(result.stderr, pattern)
        self.assertEqual(result.stdout, "")

    # ---- help ----------------------------------------------------------------------------------

    def test_help_fits_80_columns_and_names_every_subcommand(self):
        self.assertRegex(self.fine("--help"), r"run +\S.*\n +bench +\S.*\n +compare +\S.*\n"
                                                 r" +inspect +\S")
        for command in ([], ["run"], ["bench"], ["compare"], ["inspect"], ["plugins"], ["devices"],
                        ["explain"], ["ops"], ["certify"], ["replay"], ["diverge"],
                        ["report"]):
            for line in self.fine(*command, "--help").splitlines():
                self.assertLessEqual(len(line), 80, line)
                self.assertNotIn("\t", line)
        self.assertRegex(self.fine("--version"), r"\Adeputy \d+\.\d+\.\d+ \(TFLite \S+\)\n\Z")

    # ---- mistakes ------------------------------------------------------------------------------

    def test_bad_options_are_one_line_and_exit_code_2(self):
        for pattern, arguments in [
                ("subcommand is required", []),
                ("no subcommand 'frobnicate'", ["frobnicate"]),
                ("--frobnicate", ["run", FLOAT, "--frobnicate"]),
                ("no model given", ["run"]),
                ("no model given", ["inspect"]),
                ("--threads", ["bench", FLOAT, "--threads", "0"]),
                ("--threads", ["bench", FLOAT, "--threads", "two"]),
                ("--runs", ["bench", FLOAT, "--runs", "-1"]),
                (r"--top-k: expected at least 1, found '0' \(see", ["run", FLOAT, "-k", "0"]),
                ("excludes", ["run", FLOAT, "--mean", "1", "--range", "0,1"]),
                ("is not given", ["run", FLOAT]),
                ("--expect-from-name needs --image", ["run", FLOAT, "--expect-from-name"]),
                ("--compare needs --expect-from-name", ["run", FLOAT, "--compare", "npu_stub"]),
                ("--compare excludes --delegate",
                 ["run", FLOAT, "--image", IMAGES, "--expect-from-name", "--compare", "npu_stub",
                  "--delegate", "npu_stub"]),
                ("no input 'unknown'.*0 'image'", ["run", FLOAT, "--input", f"unknown={LABELS}"]),
                ("no input '1'", ["run", FLOAT, "--input", f"1={LABELS}"]),
                ("given twice", ["run", FLOAT, "--image", self.image, "-i", LABELS]),
                ("expected NAME=", ["run", FLOAT, "--shape", "image=1,x", "--random"]),
                ("1 or 1 numbers, found 2",
                 ["run", FLOAT, "--image", self.image, "--mean", "1,2"]),
                ("is not in", ["run", FLOAT, "--image", self.copy_as("x_ten.png"), "--labels",
                               LABELS, "--expect-from-name"]),
                ("ends in _<label>", ["run", FLOAT, "--image", self.copy_as("seven.png"),
                                      "--expect-from-name"]),
        ]:
            self.refused(2, pattern, *arguments)

    def copy_as(self, name):
        path = self.folder / name
        path.write_bytes(self.image.read_bytes())
        return path

    def test_unreadable_files_are_one_line_and_exit_code_2(self):
        nowhere, empty = self.folder / "nowhere", self.folder / "empty"
        empty.mkdir()
        for command in ("run", "bench", "inspect", "explain"):
            self.refused(2, "nowhere: No such file", command, nowhere)
            self.refused(2, "is a directory", command, self.folder)
        run = ["run", FLOAT]
        self.refused(2, "No such file", *run, "--image", nowhere)
        self.refused(2, "contains no .png", *run, "--image", empty)
        self.refused(2, "PNG or JPEG", *run, "--image", LABELS)
        self.refused(2, "No such file", *run, "--image", self.image, "--labels", nowhere)
        self.refused(2, "No such file", *run, "--input", nowhere)
        self.refused(2, "expected 3136 bytes .FLOAT32 .1, 28, 28, 1.., .* has 20",
                     *run, "--input", LABELS)
        image = self.image.read_bytes()
        for length in (0, 8, 30, len(image) // 2):
            cut = self.folder / "cut.png"
            cut.write_bytes(image[:length])
            self.refused(2, "PNG or JPEG", *run, "--image", cut)

    def test_bad_npy_files_are_one_line_and_exit_code_2(self):
        path = self.folder / "x.npy"

        def refused(pattern, content):
            path.write_bytes(content)
            self.refused(2, pattern, "run", FLOAT, "--input", path)

        def header(text, data=b""):
            return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data

        refused("is not a .npy", b"")
        refused("is not a .npy", b"hello, this is no array")
        refused("version", b"\x93NUMPY\x09\x00" + bytes(100))
        refused("cut off", b"\x93NUMPY\x01\x00\xff\xff{}")
        refused("has no simple type", header("{}" * 20))
        for order in ("True", "FalseX", "False)"):
            refused("C order", header(f"{{'descr': '<f4', 'fortran_order': {order}, 'shape': (1,)}}"))
        refused("cannot use .npy type '<U7'",
                header("{'descr': '<U7', 'fortran_order': False, 'shape': (1,)}"))
        refused("shape", header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,-3)}"))
        for shape in ("(1", "(1,,3)", "(,1)", "(,)", "(1 3)"):
            refused("cannot read the .npy shape",
                    header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"))
        refused("overflow", header("{'descr': '<f4', 'fortran_order': False, 'shape': "
                                   "(2000000000, 2000000000, 2000000000)}"))
        refused("expected 8 bytes of data for its type and shape, found 4",
                header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", bytes(4)))
        refused(r"expected shape \[1, 28, 28, 1\], .* has \[2\]",
                header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", bytes(8)))

    def test_refused_models_are_one_line_and_exit_code_1(self):
        model, content = self.folder / "bad.tflite", FLOAT.read_bytes()
        for damaged in (b"", b"TFL3", content[:100], content[:len(content) // 2], bytes(5000),
                        content[:4] + b"XXXX" + content[8:]):
            model.write_bytes(damaged)
            for command in ("run", "bench", "inspect", "explain"):
                self.refused(1, "bad.tflite is not a usable model: ", command, model)
        self.refused(1, "cannot be prepared: .*CONV_2D.*expected 4 dim", "run", FLOAT, "--shape", "image=1,5", "--random")

    def test_mindspore_models_are_recognised_by_their_identifier(self):
        model, image = self.folder / "times.bin", self.folder / "x.raw"
        model.write_bytes(MS_MODEL)
        image.write_bytes(struct.pack("<3f", 5, 7, -1))
        self.fine("run", model, "--input", f"x={image}", "--output-dir", self.folder)
        (output,) = self.folder.glob("*_y.npy")
        self.assertEqual(struct.unpack("<3f", output.read_bytes()[-12:]), (10, 0, 0))
        for command in (["inspect"], ["explain"], ["bench", "--num_runs=1", "--min_secs=0", "--warmup_runs=0"]):
            self.fine(*command, model)
        self.assertIn("MUL", self.fine("inspect", model, "--operators"))
        for damaged, reason in ((MS_MODEL[:200], "not a valid FlatBuffer"),
                                (MS_MODEL[:7] + b"1" + MS_MODEL[8:], "found 'MSL1'")):
            model.write_bytes(damaged)
            self.refused(1, f"times.bin is not a usable model: .*{reason}", "run", model)

    def test_models_whose_graph_is_wrong_are_refused_with_a_message(self):
        model = self.folder / "wrong.tflite"
        for name, content in WRONG_GRAPHS.items():
            model.write_bytes(zlib.decompress(base64.b64decode(content)))
            for command in (["run", "--random"], ["bench"], ["explain"]):
                with self.subTest(name, command=command):
                    self.refused(1, "cannot be prepared: AllocateTensors\\(\\) called on inconsistent "
                                 "model.; subgraph 0 .*: expected ", *command, model)

    def test_a_full_disk_is_exit_code_1(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            result = subprocess.run([DEPUTY, "inspect", FLOAT], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Adeputy: [^\n]+\n\Z")

    # ---- delegates -----------------------------------------------------------------------------

    def test_a_delegate_from_a_library_gives_the_same_results(self):
        log = self.folder / "log"
        plain = ["run", FLOAT, "--random"]
        expected = self.fine(*plain)
        for option, nodes in ((f"{PLUGINS}/libelementwise.so,log={log}", "6 11"),
                              (f"{PLUGINS}/libdescribed0.so,ops=0,18,log={log}", "6 11"),
                              (f"{PLUGINS}/libelementwise.so,ops=18,log={log}", None)):
            log.unlink(missing_ok=True)
            self.assertEqual(self.fine(*plain, "--delegate", option), expected)
            claimed = log.read_text().splitlines()[0]
            self.assertEqual(claimed, "claimed" if nodes is None else f"claimed {nodes}")
        text = self.fine(*plain, "--profile", "--delegate", f"{PLUGINS}/libelementwise.so")
        self.assertRegex(text, r"(?m)^Elementwise +Elementwise +2 ")
        two = self.fine(*plain, "--delegate", f"{PLUGINS}/libelementwise.so,ops=0",
                        "--delegate", f"{PLUGINS}/libopaque.so")
        self.assertEqual(two, expected)

    def test_failing_delegates_are_one_line(self):
        run = ["run", FLOAT, "--random", "--delegate"]
        self.refused(2, r"/none.so \(cannot be read: No such file", *run, "/none.so")
        self.refused(2, "does not export 'tflite_plugin_create_delegate'",
                     *run, f"{PLUGINS}/libno_create.so")
        self.refused(2, "unknown option 'colour': expected one of 'ops'",
                     *run, f"{PLUGINS}/libdescribed0.so,colour=red")
        self.refused(2, "knows the options 'ops' and 'log' only",
                     *run, f"{PLUGINS}/libelementwise.so,colour=red")
        self.refused(2, "expected KEY=VALUE after the library, found 'x'", *run, "/none.so,x")
        self.refused(2, "takes no options", *run, f"{PLUGINS}/libstable_1.0.0.so,a=b")
        self.refused(1, "cannot be delegated to delegate 1: Restored original execution plan",
                     *run, f"{PLUGINS}/libthrowing.so,in=prepare", "--policy", "tflite")

    def test_plugins_are_listed_as_text_and_json(self):
        good, bad = f"{PLUGINS}/libdescribed0.so", f"{PLUGINS}/libno_create.so"
        text = self.fine("plugins", good)
        self.assertIn(f"elementwise 1.2.3, Deputy's tests\n  path    {good}\n  kind    deputy\n"
                      "  layout  NHWC\n  option  ops= (text) ", text)
        environment = dict(os.environ, DEPUTY_PLUGIN_PATH=f"{good}:{bad}")
        for arguments, env in ((["plugins", "--json", good, bad], None),
                               (["plugins", "--json"], environment)):
            result = deputy(*arguments, env=env)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr, "deputy: 1 of 2 files cannot be loaded\n")
            first, second = json.loads(result.stdout)
            self.assertEqual((first["name"], first["kind"]), ("elementwise", "deputy"))
            self.assertEqual([o["type"] for o in first["options"]],
                             ["text", "text", "text", "bool", "int", "float"])
            self.assertIn("does not export", second["error"])
        self.assertIn("DEPUTY_PLUGIN_PATH", self.fine("plugins", self.folder))

    def test_plugins_that_end_the_process_are_listed_with_the_others(self):
        for name in ("crashing", "described0", "exiting"):
            os.symlink(os.path.abspath(f"{PLUGINS}/lib{name}.so"),
                       os.path.join(self.folder, f"lib{name}.so"))
        environment = {key: value for key, value in os.environ.items()
                       if key != "DEPUTY_PLUGIN_PROBE"}
        result = deputy("plugins", self.folder, "--json", env=environment)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "deputy: 2 of 3 files cannot be loaded\n")
        crashing, good, exiting = json.loads(result.stdout)
        self.assertIn("ended a child process that loaded it first, with signal 11",
                      crashing["error"])
        self.assertEqual(good["name"], "elementwise")
        self.assertIn("with exit code 3", exiting["error"])
        # An explicit 0 loads plug-ins in the command's own process.
        environment["DEPUTY_PLUGIN_PROBE"] = "0"
        result = deputy("plugins", self.folder, "--json", env=environment)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "")

    # ---- ops -----------------------------------------------------------------------------------

    def test_operators_are_listed_with_versions_and_types(self):
        kernels = {op["operator"]: op for op in json.loads(self.fine("ops", "--json"))}
        self.assertEqual(kernels["SIGN"]["types"], ["FLOAT32", "INT32", "FLOAT64"])
        self.assertEqual(kernels["CONV_2D"]["builtin_code"], 3)
        self.assertEqual(kernels["Convolution2DTransposeBias"]["builtin_code"], 32)
        self.assertEqual(list(kernels), sorted(kernels))
        lines = self.fine("ops").splitlines()
        self.assertEqual(lines[0].split(), ["operator", "versions", "types", "delegates"])
        self.assertEqual(len(lines), len(kernels) + 1)
        if not all(name in kernels["CONV_2D"]["delegates"] for name in ("gpu", "npu_stub", "xnnpack")):
            self.skipTest("not all of our delegates are built: the page has them")
        page = (ROOT / "docs" / "operators.md").read_text()
        self.assertIn(self.fine("ops", "--markdown"), page,
                      "run `deputy ops --markdown` for docs/operators.md")

    def test_operators_are_listed_with_the_delegates_that_support_them(self):
        rows = json.loads(self.fine("ops", "--json", "--delegate", f"{PLUGINS}/libdescribed0.so"))
        claimed = {row["operator"]: row["delegates"] for row in rows if row["delegates"]}
        self.assertEqual(claimed, {"ADD": {"elementwise": 2}})
        lines = self.fine("ops", "--delegate", f"{PLUGINS}/libdescribed0.so").splitlines()
        self.assertEqual([line.split()[0] for line in lines if line.endswith(" elementwise to 2")],
                         ["ADD"])
        # This delegate does not list its operators.
        rows = json.loads(self.fine("ops", "--json", "--delegate", f"{PLUGINS}/libelementwise.so"))
        self.assertTrue(all(row["delegates"] == {} for row in rows))
        self.refused(1, "at_all.so", "ops", "--delegate", "/nowhere/at_all.so")

    def test_operators_of_a_model_are_listed_with_their_delegates(self):
        for delegates, owners in (((), {"CPU"}),
                                  (("--delegate", f"{PLUGINS}/libelementwise.so"),
                                   {"CPU", "libelementwise.so"})):
            needed = json.loads(self.fine("ops", "--json", FLOAT, *delegates))
            self.assertEqual(sum(op["nodes"] for op in needed), 16)
            for op in needed:
                self.assertTrue(op["kernel"])
                self.assertEqual(sum(op["runs"].values()), op["nodes"])
            self.assertEqual({owner for op in needed for owner in op["runs"]}, owners)

    def test_every_missing_operator_of_a_model_is_listed(self):
        model, path = INT8.read_bytes(), f"{self.folder}/newer.tflite"
        versions = [i for i in range(0, len(model) - 4, 4) if model[i:i + 4] == b"\3\0\0\0"]
        for at in reversed(versions):  # the version of one of the operators becomes 90
            pathlib.Path(path).write_bytes(model[:at] + b"\x5a" + model[at + 1:])
            result = deputy("ops", path)
            if "no kernel" in result.stderr:
                break
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Adeputy: .*: 1 operator has no kernel\n\Z")
        self.assertRegex(result.stdout, r"\n\w+ +90 +\d+ +none: no kernel for this version\n")
        name, count = re.search(r"\n(\w+) +90 +(\d+) ", result.stdout).groups()
        # The unknown operator is listed and marked, and the other nodes of the model are printed,
        # too.
        result = deputy("inspect", path)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, rf"\Adeputy: .*: 1 operator has no kernel: {name} version "
                                        rf"90 \({count} nodes?\)\n\Z")
        self.assertEqual(len(re.findall(rf"\n +\d+  {name} +90  none ", result.stdout)), int(count))
        self.assertRegex(result.stdout, r"\n +\d+  \w+ +\d+  CPU ")
        self.assertIn("\ntensors\n", result.stdout)
        result = deputy("inspect", "--json", path)
        self.assertEqual(result.returncode, 1)
        operators = json.loads(result.stdout)["subgraphs"][0]["operators"]
        self.assertEqual({op["operator"] for op in operators if op.get("missing")}, {name})

    def test_devices_of_plug_ins_are_listed_as_text_and_json(self):
        library = f"{PLUGINS}/libdescribed0.so"
        text = self.fine("devices", library)
        self.assertEqual(text, "elementwise\n"
                         "  [0] abacus, wood\n"
                         "      type      other, kernels for cpu\n"
                         "      driver    beads 1; 2\n"
                         "      device    1, 2 compute units\n"
                         "      memory    1.0 GiB, buffers up to 1.0 MiB\n"
                         "      fp16      no\n"
                         "      prefers   int8, NCHW, batch 4\n"
                         "      power     low\n"
                         "      options   ops=0\n"
                         "  [1] fingers, wood\n"
                         "      not usable: it is not available, or has no compiler\n"
                         "      type      other, kernels for cpu\n"
                         "      driver    beads 1; 2\n"
                         "      device    1, 2 compute units\n"
                         "      memory    1.0 GiB, buffers up to 1.0 MiB\n"
                         "      fp16      yes\n")
        entry, = json.loads(self.fine("devices", "--json", library))
        self.assertEqual(entry["name"], "elementwise")
        self.assertEqual([d["name"] for d in entry["devices"]], ["abacus", "fingers"])
        self.assertEqual(entry["devices"][0], {
            "index": 0, "usable": True, "name": "abacus", "vendor": "wood", "type": "other",
            "class": "cpu", "platform": "beads", "platform_version": "1", "version": "1",
            "driver_version": "2", "memory_bytes": 1 << 30, "max_buffer_bytes": 1 << 20,
            "compute_units": 2, "fp16": False, "extensions": ["a", "b"], "power": "low",
            "prefers": {"precision": "int8", "layout": "NCHW", "batch": 4}, "options": "ops=0"})
        # The second struct is one of the first release, without these fields.
        self.assertEqual({key: entry["devices"][1][key] for key in ("power", "prefers", "options")},
                         {"power": "", "prefers": {"precision": "", "layout": "", "batch": 0},
                          "options": ""})

    def test_missing_devices_are_reported_with_a_reason(self):
        asleep = {**os.environ, "ELEMENTWISE_DEVICES": "0"}
        library = f"{PLUGINS}/libdescribed0.so"
        result = deputy("devices", library, env=asleep)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"\Aelementwise\n  none: .*its devices are all asleep\n\Z")
        self.assertEqual(result.stderr, "deputy: no device\n")
        result = deputy("devices", library, f"{PLUGINS}/libno_create.so", "--json", env=asleep)
        self.assertEqual(result.returncode, 1)
        first, second = json.loads(result.stdout)
        self.assertEqual((first["name"], first["devices"]), ("elementwise", []))
        self.assertIn("its devices are all asleep", first["problem"])
        self.assertIn("does not export", second["problem"])

    def test_devices_are_those_of_the_gpu_delegate(self):
        if not (pathlib.Path(DEPUTY).parent / "libdeputy_gpu.so").exists():
            self.skipTest("the GPU delegate is not built")
        result = deputy("devices", "gpu", env={**os.environ, "DEPUTY_OPENCL_LIBRARY": "none"})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"\Agpu\n  none: .*disabled by DEPUTY_OPENCL_LIBRARY=none\n")
        result = deputy("devices", "gpu", "--json")
        entry, = json.loads(result.stdout)
        self.assertEqual(entry["name"], "gpu")
        if result.returncode != 0:
            self.skipTest(entry["problem"])
        self.assertGreater(entry["devices"][0]["memory_bytes"], 0)

    # ---- run -----------------------------------------------------------------------------------

    def test_classifies_digits_like_tflite(self):
        for model, name, tolerance in ((FLOAT, "float", 1e-4), (INT8, "int8", 2.1 / 256)):
            lines = self.fine("run", model, "--image", IMAGES, "--labels", LABELS).splitlines()
            expected = expected_classes(name)
            self.assertEqual(len(lines), len(expected))
            for line, (image, label, score) in zip(lines, expected):
                found = line.split(" ")
                self.assertEqual(found[0], image)
                if found[1] != label:  # two classes with equal probability
                    self.assertLess(score, 0.5 + tolerance, line)
                self.assertAlmostEqual(float(found[2]), score, delta=tolerance, msg=line)

    def test_reference_arithmetic_equals_tflite_exactly(self):
        lines = self.fine("run", INT8, "--reference", "--image", IMAGES).splitlines()
        for line, (image, label, score) in zip(lines, expected_classes("int8_reference")):
            self.assertEqual(line, f"{image} {label} {score:.6f}")

    def test_results_have_equal_bytes_for_every_number_of_threads(self):
        for model in (FLOAT, INT8):
            arguments = ["run", model, "--image", IMAGES, "--top-k", "10"]
            one = self.fine(*arguments)
            for threads in (2, 5):
                self.assertEqual(self.fine(*arguments, "--threads", threads), one)

    def test_checks_results_against_file_names(self):
        for model, name in ((FLOAT, "float"), (INT8, "int8")):
            text = self.fine("run", model, "--image", IMAGES, "--labels", LABELS,
                             "--expect-from-name", "--threads", 2)
            expected = expected_classes(name)
            right = sum(label == image[:-4].split("_")[1] for image, label, _ in expected)
            found = re.search(r"^accuracy +([0-9.]+) % \((\d+) of (\d+)\)$", text, re.M)
            self.assertEqual(int(found[3]), len(expected))
            self.assertLessEqual(abs(int(found[2]) - right), 1)
            self.assertGreaterEqual(float(found[1]), 96)
            self.assertEqual(len(re.findall(r"^wrong ", text, re.M)),
                             int(found[3]) - int(found[2]))
            self.assertRegex(text, r"latency +median [0-9.]+ [mu]s, p90 [0-9.]+ [mu]s\n")
            self.assertRegex(text, r"(?m)^CONV_2D +CPU +[1-9]\d* +[0-9.]+ +[0-9.]+ %$")

    def test_a_wrong_result_is_counted_and_shown(self):
        truth = self.image.stem.split("_")[1]
        lie = str((int(truth) + 1) % 10)
        self.copy_as(f"a_{truth}.png")
        self.copy_as(f"b_{lie}.png")
        text = self.fine("run", FLOAT, "--image", self.folder, "--expect-from-name")
        self.assertIn("accuracy  50.00 % (1 of 2)\n", text)
        self.assertRegex(text, rf"(?m)^wrong +b_{lie}.png: expected {lie}, found {truth} \(")

    def test_compares_the_cpu_with_delegates_in_one_table(self):
        few = self.folder / "few"
        few.mkdir()
        for image in sorted(IMAGES.iterdir())[:20]:
            shutil.copy(image, few)
        wrong = sorted(few.iterdir())[0]
        lie = wrong.with_name(f"0_{(int(wrong.stem[-1]) + 1) % 10}.png")
        wrong.rename(lie)
        text = self.fine("run", FLOAT, "--image", few, "--labels", LABELS, "--expect-from-name",
                         "--compare", "npu_stub", "--compare", "/nowhere/libnone.so",
                         "--compare", "npu_stub,faults=run", "--threads", 2)
        lines = text.splitlines()
        self.assertEqual(lines[:2], ["digits_float.tflite, 20 images, 2 threads", ""])
        rows = [re.split(r" {2,}", line) for line in lines[2:]]
        self.assertEqual(rows[0], ["run by", "accuracy", "agrees with CPU", "median ms",
                                   "nodes claimed", "partitions", "left to the CPU"])
        self.assertEqual([row[0] for row in rows[1:]],
                         ["CPU", "npu_stub", "libnone.so", "npu_stub"])
        cpu, npu, none, failing = rows[1:]
        self.assertEqual((cpu[1], cpu[-2], cpu[-1]), ("95.00 %", "0 of 16", "all nodes"))
        self.assertEqual((npu[1:3], npu[4:]),
                         (["95.00 %", "20 of 20"], ["16 of 16", "1", "nothing"]))
        self.assertRegex(none[-1], "^not available: .*/nowhere/libnone.so")
        self.assertEqual((failing[1:3], failing[-1]),
                         (["95.00 %", "20 of 20"], "nothing (degraded)"))

    def outputs_of(self, model, *arguments):
        out = self.folder / "out"
        self.assertEqual(self.fine("run", model, *arguments, "--output-dir", out), "")
        files = sorted(out.iterdir())
        self.assertEqual([f.name for f in files], ["0_Identity.npy"])
        return read_npy(files[0])

    def test_raw_npy_and_image_inputs_give_the_same_output(self):
        raw, npy = self.folder / "x.raw", self.folder / "x.npy"
        reals = struct.pack(f"<{len(self.pixels)}f", *(p / 255 for p in self.pixels))
        wide = struct.pack(f"<{len(self.pixels)}d", *(p / 255 for p in self.pixels))
        stored = bytes((p - 128) & 255 for p in self.pixels)
        for model, code, own in ((FLOAT, "<f4", reals), (INT8, "|i1", stored)):
            expected = self.outputs_of(model, "--image", self.image)
            self.assertEqual(expected[:2], (code, (1, 10)))
            raw.write_bytes(own)
            for name in ("", "image=", "0="):
                self.assertEqual(self.outputs_of(model, "--input", f"{name}{raw}"), expected)
            for type_code, data in ((code, own), ("<f4", reals), ("<f8", wide)):
                for shape in ((1, 28, 28, 1), (28, 28)):
                    write_npy(npy, type_code, shape, data)
                    self.assertEqual(self.outputs_of(model, "-i", f"image={npy}"), expected)

    def test_images_are_resized_and_converted_to_grey(self):
        big = bytearray()
        for y in range(2 * self.height):
            for x in range(2 * self.width):
                big += bytes([self.pixels[y // 2 * self.width + x // 2]] * 3)
        path = self.folder / "big.png"
        write_png(path, 2 * self.width, 2 * self.height, 3, bytes(big))
        small = self.fine("run", FLOAT, "--image", self.image, "--top-k", 1).split()
        found = self.fine("run", FLOAT, "--image", path, "--top-k", 1).split()
        self.assertEqual(found[0], small[0])
        self.assertAlmostEqual(float(found[1]), float(small[1]), delta=0.05)

    def test_jpeg_images_are_read(self):
        path = self.folder / "8.JPG"
        path.write_bytes(JPEG_OF_AN_8)
        label, score = self.fine("run", FLOAT, "--image", path, "--top-k", 1).split()
        self.assertEqual(label, "8")
        self.assertGreater(float(score), 0.9)

    def test_a_jpeg_with_overlong_huffman_tables_is_refused(self):
        # Images for which Debian 12's stb writes beyond its table; found with AddressSanitizer.
        path = self.folder / "bad.jpg"
        table = b"\xff\xc4\x0f\xff\x00" + b"\xff" * 16 + bytes(5000)
        for start in (b"\xff\xd8", b"\xff\xff\xd8", b"\xff\xd8\xff\xe0\x00\x04ab"):
            path.write_bytes(start + table)
            self.refused(2, "PNG or JPEG", "run", FLOAT, "--image", path)

    def test_range_mean_and_scale_map_pixel_values(self):
        path = self.folder / "inverted.png"
        write_png(path, self.width, self.height, 1, bytes(255 - p for p in self.pixels))
        for arguments in (["--image", path, "--range", "1,0"],
                          ["--image", path, "--mean", "255", "--scale", "-0.00392156862745098"],
                          ["--image", self.image, "--scale", "0.00392156862745098"]):
            for model, step in ((FLOAT, 0), (INT8, 1)):
                code, _, data = self.outputs_of(model, *arguments)
                _, _, plain = self.outputs_of(model, "--image", self.image)
                count = len(data) // {"<f4": 4, "|i1": 1}[code]
                kind = {"<f4": "f", "|i1": "b"}[code]
                for a, b in zip(struct.unpack(f"<{count}{kind}", data),
                                struct.unpack(f"<{count}{kind}", plain)):
                    self.assertAlmostEqual(a, b, delta=step or 1e-5)

    def test_text_outputs_show_name_type_shape_and_real_values(self):
        for model, kind, remark in (
                (FLOAT, "FLOAT32", ""),
                (INT8, "INT8", ", real values, scale 0.00390625, zero point -128")):
            head, values, = self.fine("run", model, "--image", self.image).splitlines()
            self.assertEqual(head, f"output 0 'Identity' {kind} [1, 10]{remark}")
            self.assertEqual(len(values.split()), 10)
            self.assertAlmostEqual(sum(map(float, values.split())), 1, delta=0.03)
        cut = self.fine("run", FLOAT, "--random", "--max-values", 3).splitlines()
        self.assertEqual(len(cut[1].split()), 3)
        self.assertEqual(cut[2], "  ... 7 more")

    def test_a_folder_with_output_dir_writes_one_file_per_image(self):
        self.copy_as("a.png")
        self.copy_as("b.png")
        out = self.folder / "out"
        self.fine("run", INT8, "--image", self.folder, "-o", out)
        self.assertEqual(sorted(f.name for f in out.iterdir()),
                         ["a_0_Identity.npy", "b_0_Identity.npy"])

    def test_rows_of_a_table_or_of_a_folder_are_an_inference_each(self):
        rows = [[(7 * i * k % 11) / 11 for i in range(784)] for k in range(3)]
        table = self.folder / "rows.csv"
        lines = [",".join(f"p{i}" for i in range(784))]
        lines += [",".join(map(repr, row)) for row in rows]
        table.write_text("\r\n".join(lines) + "\n\n")
        folder = self.folder / "rows"
        folder.mkdir()
        for k, row in enumerate(rows):
            write_npy(folder / f"{k}.npy", "<f4", (1, 28, 28, 1), struct.pack("<784f", *row))
        text = self.fine("run", FLOAT, "--rows", table)
        results = [list(map(float, line.split(","))) for line in text.splitlines()]
        self.assertEqual([len(result) for result in results], [10, 10, 10])
        self.assertEqual(self.fine("run", FLOAT, "--rows", folder), text)
        piped = deputy("run", FLOAT, "--rows", "-", input=table.read_text())
        self.assertEqual((piped.returncode, piped.stderr, piped.stdout), (0, "", text))
        guesses = self.fine("run", FLOAT, "--rows", table, "-k", 1).splitlines()
        self.assertEqual([int(line.split()[1]) for line in guesses],
                         [result.index(max(result)) for result in results])
        out = self.folder / "out"
        self.fine("run", FLOAT, "--rows", table, "--output-dir", out)
        self.assertEqual(len(list(out.glob("row*.npy"))), 3)
        self.assertIn("3/3", deputy("run", FLOAT, "--rows", table, "--progress").stderr)
        table.write_text("1,2,3\n")
        self.refused(2, "rows.csv:1: expected 784 values for input 'image', found 3",
                     "run", FLOAT, "--rows", table)
        table.write_text("1,2\nx,y\n")
        self.refused(2, "rows.csv:2: expected numbers", "run", FLOAT, "--rows", table)
        # A first line that contains a number is not a header.
        table.write_text("1,2,x\n" + ",".join(["0"] * 784) + "\n")
        self.refused(2, "rows.csv:1: expected numbers", "run", FLOAT, "--rows", table)
        table.write_text("x,y\n")
        self.refused(2, "no rows of numbers", "run", FLOAT, "--rows", table)
        self.refused(2, "--rows excludes --image", "run", FLOAT, "--rows", folder, "--image",
                     self.image)

    def test_a_short_list_of_labels_is_an_error(self):
        labels = self.folder / "labels.txt"
        labels.write_text("zero\none\n")
        self.refused(2, "contains 2 labels, but output 0 has 10 values", "run", FLOAT, "--image",
                     self.image, "--labels", labels)

    def test_a_seed_gives_other_random_inputs(self):
        results = [self.fine("run", FLOAT, "--random", *seed)
                   for seed in ([], ["--seed", "0"], ["--seed", "7"], ["--seed", "7"])]
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[2], results[3])
        self.assertNotEqual(results[0], results[2])

    def test_findings_of_the_validation_layer_make_the_exit_code_1(self):
        thrower = f"{PLUGINS}/libthrowing.so,in=prepare"
        for arguments in (["run", FLOAT, "--random"], ["inspect", FLOAT],
                          ["bench", FLOAT, *self.QUICK], ["ops", FLOAT], ["compare", FLOAT]):
            result = deputy(*arguments, "--delegate", thrower, "--validate")
            self.assertEqual(result.returncode, 1, arguments)
            self.assertIn("deputy: validation: V17 exception: ", result.stderr)
            self.assertTrue(result.stderr.endswith("deputy: the validation layer has 1 finding\n"))
            self.assertEqual(deputy(*arguments, "--delegate", thrower).returncode, 0)
        self.fine("run", FLOAT, "--random", "--validate")

    def test_invalid_values_of_the_environment_are_reported(self):
        for name, value, allowed in (("DEPUTY_ARITHMETIC", "exact", "default or reference"),
                                     ("DEPUTY_DELEGATE_POLICY", "cold", "tflite or hot"),
                                     ("DEPUTY_PLAN", "best", "fused or off"),
                                     ("DEPUTY_VALIDATION", "yes", "0 or 1"),
                                     ("DEPUTY_LOG", "loud", "verbose, info, warning, error or silent"),
                                     ("DEPUTY_CPU", "mmx", "reference, generic")):
            result = deputy("run", FLOAT, "--random", env={**os.environ, name: value})
            self.assertEqual(result.returncode, 0)
            self.assertRegex(result.stderr,
                             rf"{name}: expected {allowed}.*, found '{value}'; it is ignored")
            self.assertEqual(deputy("run", FLOAT, "--random",
                                    env={**os.environ, name: ""}).stderr, "")

    def test_the_environment_selects_the_level_of_the_log(self):
        def said(level, **variables):
            result = deputy("run", FLOAT, "--random", env={**os.environ, "DEPUTY_LOG": level, **variables})
            self.assertEqual(result.returncode, 0)
            return result.stderr

        for level in ("", "warning", "error", "silent"):
            self.assertEqual(said(level), "")
        self.assertRegex(said("info"), r"INFO: interpreter: 1 subgraphs, CPU kernels '\w+'\n")
        self.assertNotIn("VERBOSE", said("info"))
        self.assertIn("VERBOSE: subgraph 0: 16 nodes are prepared\n", said("verbose"))
        wrong = {"DEPUTY_CPU": "mmx"}
        self.assertIn("WARNING: DEPUTY_CPU", said("warning", **wrong))
        self.assertEqual(said("error", **wrong), "")

    def test_misspelt_variables_of_the_environment_are_reported(self):
        known = (ROOT / "core/base/environment.cc").read_text(encoding="utf-8")
        known = set(re.findall(r'"([A-Z_]+)"', known.split("kKnown[] = {")[1].split("}")[0]))
        read = set()
        for folder in ("core", "c_api", "kernels", "gpu_cl", "npu_stub", "mindspore", "bridges", "tools"):
            for path in (path for path in (ROOT / folder).rglob("*.c*") if path.suffix in (".c", ".cc")):
                read |= set(re.findall(r'(?:getenv|EnvironmentChoice)\("DEPUTY_(\w+)"',
                                       path.read_text(encoding="utf-8")))
        self.assertTrue({"CPU", "PLUGIN_PATH", "NPU_FAULTS"} < read)
        self.assertEqual(read - known, set())

        def said(**variables):
            result = deputy("ops", FLOAT, env={**os.environ, **variables})
            self.assertEqual(result.returncode, 0)
            return result.stderr

        self.assertEqual(said(DEPUTY_VALIDATE="1"),
                         "WARNING: unknown variable DEPUTY_VALIDATE; did you mean DEPUTY_VALIDATION?\n")
        self.assertIn("did you mean DEPUTY_PLUGIN_PATH?", said(DEPUTY_PLUGINS_PATH="/x"))
        self.assertIn("did you mean DEPUTY_CPU?", said(DEPUTY_CPUS="avx2"))
        # Variables with other prefixes, and known variables, are accepted.
        self.assertEqual(said(DEPUTY_MY_PLUGIN="1", DEPUTY_GPUS="0", DEPUTY_="", XDEPUTY_CPUS="1",
                              **{f"DEPUTY_{name}": "" for name in known}), "")

    def test_compare_shows_where_a_delegate_differs(self):
        same = json.loads(self.fine("compare", FLOAT, "--delegate", f"{PLUGINS}/libelementwise.so",
                                    "--json"))
        self.assertIsNone(same["first_difference"])
        self.assertEqual(same["outputs"][0]["largest_difference"], 0)
        # All nodes are compared, including those within a fusion group.
        self.assertEqual(len(same["tensors"]), 16)
        for how in ("nan", "wrong"):
            wrong = [FLOAT, "--delegate", f"{PLUGINS}/libwrong.so,how={how}"]
            result = deputy("compare", *wrong, "--json")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, "1 of 1 outputs differ")
            report = json.loads(result.stdout)
            first = report["first_difference"]
            self.assertEqual((first["node"], first["operator"]), (6, "ADD"))
            self.assertEqual(report["outputs"][0]["nan"], 10 if how == "nan" else 0)
            self.assertEqual(first["nan"] > 0, how == "nan")
            text = deputy("compare", *wrong).stdout
            self.assertRegex(text, r"(?m)^first node that differs: node 6 ADD, run by Wrong: tensor 29 ")
            self.assertEqual("NaN, expected 0" in text, how == "nan")

    def test_compare_accepts_a_second_model(self):
        result = deputy("compare", INT8, "--against", FLOAT, "--json")
        report = json.loads(result.stdout)
        self.assertGreater(report["outputs"][0]["largest_difference"], 0)
        self.fine("compare", INT8, "--against", FLOAT, "--tolerance", 0.5)
        self.assertEqual(json.loads(self.fine("compare", FLOAT, "--against", FLOAT, "--json"))
                         ["outputs"][0]["largest_difference"], 0)
        self.refused(2, "compare needs a --delegate, or another model", "compare", FLOAT)

    def test_the_progress_bar_is_for_terminals_or_on_demand(self):
        few = self.folder / "few"
        few.mkdir()
        for image in sorted(IMAGES.glob("*.png"))[:3]:
            (few / image.name).write_bytes(image.read_bytes())
        arguments = ["run", FLOAT, "--image", few, "--expect-from-name"]
        self.fine(*arguments)  # checks that standard error is empty
        self.assertIn("3/3", deputy(*arguments, "--progress").stderr)
        ours, theirs = pty.openpty()
        subprocess.run([DEPUTY, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs,
                       timeout=60, check=True)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # error at the end of the other side of a pseudo-terminal
            while block := os.read(ours, 65536):
                shown += block
        os.close(ours)
        self.assertIn(b"3/3", shown)

    # ---- bench and inspect ---------------------------------------------------------------------

    def test_bench_adds_up(self):
        text = self.fine("bench", FLOAT, "--runs", 3, "--min-secs", 0, "--warmup", 0)
        self.assertRegex(text, r"inference +min [0-9.]+, median [0-9.]+, p90 [0-9.]+, ")
        report = json.loads(self.fine("bench", INT8, "--num_runs=5", "--min_secs=0",
                                      "--warmup_runs=1", "--warmup_min_secs=0", "--num_threads=2",
                                      "--json"))
        self.assertEqual(report["runs"], 5)
        self.assertEqual(report["threads"], 2)
        self.assertLessEqual(report["min_ms"], report["median_ms"])
        self.assertLessEqual(report["median_ms"], report["p90_ms"])
        self.assertLessEqual(report["p90_ms"], report["max_ms"])
        self.assertEqual(sum(row["nodes"] for row in report["operators"]), len(report["nodes"]))
        self.assertAlmostEqual(sum(row["ms"] for row in report["operators"]),
                               sum(row["ms"] for row in report["nodes"]), places=6)

    # Options for a short benchmark; timings are not compared.
    QUICK = ("--num_runs=2", "--min_secs=0", "--warmup_runs=0", "--nodes=0")

    def bench(self, *arguments):
        return json.loads(self.fine("bench", FLOAT, *self.QUICK, "--json", *arguments))

    def bench_with_warnings(self, *arguments):
        """Returns the report, and the lines of standard error."""
        result = deputy("bench", FLOAT, *self.QUICK, "--json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), result.stderr.splitlines()

    def test_bench_accepts_the_flags_of_benchmark_model(self):
        text = self.fine("bench", f"--graph={FLOAT}", "--num_runs=3", "--min_secs=0",
                         "--max_secs=9", "--warmup_runs=1", "--warmup_min_secs=0",
                         "--run_delay=0.001", "--num_threads=2", "--use_gpu=false",
                         "--max_profiling_buffer_entries=9",
                         "--allow_dynamic_profiling_buffer_increase=true")
        self.assertRegex(text, r"(?m)^threads +2, ")
        self.assertRegex(text, r"(?m)^ +max [0-9.]+, mean [0-9.]+ [mu]s \(3 runs\)$")
        self.assertRegex(text, r"median [0-9.]+, p90 [0-9.]+, p95 [0-9.]+, p99 [0-9.]+ [mu]s\n")
        self.assertRegex(text, r"Inference timings in us: Init: \d+, First inference: \d+, "
                               r"Warmup \(avg\): [0-9.e+]+, Inference \(avg\): [0-9.e+]+\n\Z")
        report = self.bench()
        for low, high in (("min", "median"), ("median", "p90"), ("p90", "p95"), ("p95", "p99"),
                          ("p99", "max")):
            self.assertLessEqual(report[f"{low}_ms"], report[f"{high}_ms"])
        self.assertGreaterEqual(report["init_ms"], report["load_ms"] + report["prepare_ms"])

    def test_bench_marks_nodes_that_multiply_in_lower_precision(self):
        full = self.bench()
        self.assertEqual(full["precision"], "")
        self.assertNotIn("precision ", self.fine("bench", FLOAT, *self.QUICK))
        kernels = full["kernels"]
        cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
        has_bf16 = (kernels in ("amx", "neon_bf16") or kernels == "avx512" and
                    "avx512_bf16" in cpu and "GenuineIntel" not in cpu)
        bf16 = "bf16" if has_bf16 else None
        has_fp16 = (kernels in ("neon_fp16", "neon_i8mm", "neon_bf16") or
                    kernels == "avx512" and "avx512_fp16" in cpu)
        fp16 = "fp16" if has_fp16 else bf16
        for flags, precision in ((["--precision", "bf16"], bf16), (["--precision", "fp16"], fp16),
                                 (["--allow_fp16=true"], fp16), (["--allow_fp16"], fp16)):
            report = self.bench(*flags)
            owners = {node["owner"] for node in report["nodes"] if node["operator"] == "CONV_2D"}
            if precision is None:
                self.assertIn("float32 in all nodes", report["precision"])
                self.assertEqual(owners, {"CPU"})
            else:
                self.assertRegex(report["precision"], rf"\A{precision} in \d+ nodes\Z")
                self.assertIn(f"CPU {precision}", owners)
            self.assertIn(f"precision  {report['precision']}\n",
                          self.fine("bench", FLOAT, *self.QUICK, *flags))
        for flags in (["--precision", "float32"], ["--allow_fp16=false"]):
            self.assertEqual(self.bench(*flags)["precision"], "")
        exact = self.bench("--precision", "bf16", "--reference")
        self.assertIn("float32 in all nodes", exact["precision"])
        self.refused(2, "--precision", "bench", FLOAT, "--precision", "bf17")

    def test_bench_warns_of_flags_without_effect(self):
        for flag, why in (("--use_caching=true", "packed"), ("--nnapi_allow_fp16=true", "NNAPI"),
                          ("--of_a_later_release=3", "unknown option")):
            _, (warning,) = self.bench_with_warnings(flag)
            name = flag.partition("=")[0]
            self.assertRegex(warning, rf"\Adeputy: warning: {name} is ignored: .*{why}")
        for stranger in ("--frobnicate", "--frob-ni_cate", "another.tflite"):
            self.refused(2, f"not expected: {stranger}", "bench", FLOAT, *self.QUICK, stranger)

    # The flags of benchmark_model and its delegate providers, as listed in its sources.
    FLAGS = """num_runs min_secs max_secs run_delay run_frequency num_threads use_caching
        benchmark_name output_prefix warmup_runs warmup_min_secs verbose dry_run
        report_peak_memory_footprint memory_footprint_check_interval_ms gpu_invoke_loop_times graph
        input_layer input_layer_shape input_layer_value_range input_layer_value_files allow_fp16
        require_full_delegation enable_op_profiling op_profiling_output_mode
        op_profiling_output_file max_profiling_buffer_entries
        allow_dynamic_profiling_buffer_increase profiling_output_csv_file
        export_model_runtime_info model_runtime_info_output_file print_preinvoke_state
        print_postinvoke_state release_dynamic_tensors optimize_memory_for_large_tensors
        disable_delegate_clustering enable_builtin_cast_constant_cache output_filepath
        output_proto_filepath tensor_name_display_length tensor_type_display_length
        alloc_type_display_length signature_to_run_for list_signatures result_file_path use_coreml
        coreml_version max_delegated_partitions min_nodes_per_partition first_delegate_node_index
        last_delegate_node_index delegate_serialize_dir delegate_serialize_token
        stable_delegate_settings_file external_delegate_path external_delegate_options use_gpu
        gpu_precision_loss_allowed gpu_experimental_enable_quant gpu_inference_for_sustained_speed
        gpu_backend gpu_wait_type use_hexagon hexagon_lib_path hexagon_profiling use_nnapi
        nnapi_execution_preference nnapi_execution_priority nnapi_accelerator_name
        disable_nnapi_cpu nnapi_allow_fp16 nnapi_allow_dynamic_dimensions nnapi_use_burst_mode
        nnapi_support_library_path use_xnnpack xnnpack_force_fp16 xnnpack_weight_cache_file_path
        xnnpack_runtime_flags use_ynnpack ynnpack_static_shape ynnpack_fast_math
        ynnpack_consistent_arithmetic ynnpack_no_excess_precision""".split()

    def test_bench_has_every_flag_of_benchmark_model(self):
        values = dict(self.option_values())
        for flag in self.FLAGS:
            if flag in values:
                continue
            _, (warning,) = self.bench_with_warnings(f"--{flag}=1")
            self.assertRegex(warning, rf"\Adeputy: warning: --{flag} is ignored: ")
            self.assertNotIn("unknown option", warning)

    def two_signatures(self):
        path = self.folder / "two.tflite"
        path.write_bytes(TWO_SIGNATURES)
        return path

    def test_a_signature_can_be_run(self):
        model = self.two_signatures()
        write_npy(self.folder / "x.npy", "<f4", (1, 3), struct.pack("<3f", 1, 2, -3))
        for flags, name, values in (([], "x", [2, 4, -6]), (["--signature", "double"], "in", [2, 4, -6]),
                                    (["--signature", "square"], "value", [2, 6, 6])):
            self.fine("run", model, *flags, "--input", f"{name}={self.folder}/x.npy", "-o", self.folder)
            output, = self.folder.glob("0_*.npy")
            self.assertEqual(struct.unpack("<3f", read_npy(output)[2]), tuple(values))
            output.unlink()
        report = json.loads(self.fine("bench", model, *self.QUICK, "--json",
                                      "--signature_to_run_for=square", "--input_layer=value",
                                      "--input_layer_shape=1,3"))
        self.assertEqual([node["operator"] for node in sorted(report["nodes"],
                                                              key=lambda node: node["node"])],
                         ["MUL", "ADD"])
        self.assertEqual((report["inputs"][0]["name"], report["inputs"][0]["shape"]), ("a", [1, 3]))
        self.fine("compare", model, "--signature", "square", "--delegate", f"{PLUGINS}/libelementwise.so")
        self.refused(2, "no signature 'cube'; the model has 'double', 'square'", "run", model,
                     "--signature", "cube")
        self.refused(2, "no signature 'x'; the model has none", "bench", FLOAT, "--signature_to_run_for=x")

    def test_bench_passes_nodes_and_partition_limits_to_delegates(self):
        def claimed(*flags, before=()):
            report, warnings = self.bench_with_warnings(*before, "--delegate", "npu_stub", *flags)
            delegate = report["delegates"][-1]
            self.assertEqual(warnings, [])
            return delegate["nodes"], delegate["partitions"]

        self.assertEqual(claimed(), (16, 1))
        self.assertEqual(claimed("--first_delegate_node_index=3"), (13, 1))
        self.assertEqual(claimed("--first_delegate_node_index=3", "--last_delegate_node_index=4"), (2, 1))
        # Another delegate claims nodes 6 and 11, which leaves partitions of 6, 4 and 4.
        before = ["--delegate", f"{PLUGINS}/libelementwise.so"]
        self.assertEqual(claimed(before=before), (14, 3))
        self.assertEqual(claimed("--max_delegated_partitions=2", before=before), (10, 2))
        self.assertEqual(claimed("--min_nodes_per_partition=5", before=before), (6, 1))
        _, warnings = self.bench_with_warnings("--delegate", f"{PLUGINS}/libelementwise.so",
                                               "--min_nodes_per_partition=2")
        self.assertEqual(warnings, ["deputy: warning: --min_nodes_per_partition is ignored: no delegate "
                                    "has the option min_nodes"])

    def test_bench_loads_a_stable_delegate_by_its_settings(self):
        settings, log = self.folder / "settings.json", self.folder / "log"
        library = f"{PLUGINS}/libstable_1.0.0.so"
        settings.write_text(json.dumps({"stable_delegate_loader_settings":
                                        {"delegate_path": library, "delegate_name": "mine"},
                                        "max_delegated_partitions": 3, "gpu_settings": {}}))
        result = deputy("bench", self.two_signatures(), *self.QUICK, "--json",
                        f"--stable_delegate_settings_file={settings}",
                        env={**os.environ, "OPAQUE_LOG": str(log)})
        self.assertEqual(result.stderr,
                         "deputy: warning: --stable_delegate_settings_file: gpu_settings is ignored: only "
                         "stable_delegate_loader_settings and max_delegated_partitions are passed on\n")
        self.assertEqual(log.read_text(), f"3 {library} mine\n")
        self.assertEqual(json.loads(result.stdout)["delegates"][0]["nodes"], 2)
        settings.write_text("{}")
        self.refused(2, "expected JSON with stable_delegate_loader_settings.delegate_path", "bench", FLOAT,
                     f"--stable_delegate_settings_file={settings}")

    def option_values(self):
        text = self.fine("bench", FLOAT, *self.QUICK, "--verbose")
        return re.findall(r"(?m)^option     --(\w+)=(.*)$", text)

    def test_bench_shows_every_option_with_verbose(self):
        values = dict(self.option_values())
        self.assertEqual((values["num_runs"], values["warmup_runs"], values["max_secs"]),
                         ("2", "0", "150"))

    def test_bench_runs_nothing_with_dry_run(self):
        text = self.fine("bench", FLOAT, "--dry_run", "--print_preinvoke_state",
                         "--report_peak_memory_footprint=true", "--list_signatures")
        self.assertIn("inference  none (--dry_run)\n", text)
        for edge in ("begins", "ends"):
            self.assertRegex(text, rf"(?m)^==== .*state {edge} ====$")
        self.assertRegex(text, r"(?m)^ +0  image   +FLOAT32  kTfLiteArenaRw +3136  \[1, 28, 28, 1\]$")
        self.assertRegex(text, r"(?m)^node 15 SOFTMAX: inputs \[37\], outputs \[38\], run by CPU$")
        self.assertRegex(text, r"Overall peak memory footprint \(MB\) via periodic monitoring: [\d.]+\n")
        self.assertIn("signature  ", text)
        self.assertEqual(self.bench("--dry_run")["runs"], 0)

    def test_bench_writes_the_outputs(self):
        path = self.folder / "outputs"
        self.fine("bench", FLOAT, *self.QUICK, f"--output_filepath={path}", "--seed=3")
        values = struct.unpack("<10f", path.read_bytes())
        self.assertAlmostEqual(sum(values), 1, places=4)

    def test_files_that_cannot_be_written_are_reported_before_measuring(self):
        for flag in ("--op_profiling_output_file", "--output_filepath", "--trace"):
            self.refused(2, "/nowhere/x: No such file", "bench", FLOAT, "--min_secs=100",
                         f"{flag}=/nowhere/x")

    def test_bench_shows_memory(self):
        memory = self.bench()["memory"]
        arena = json.loads(self.fine("inspect", FLOAT, "--json"))["subgraphs"][0]["memory"]
        self.assertEqual(memory["arena_bytes"], arena["arena_bytes"])
        self.assertGreaterEqual(memory["resident_peak_bytes"], memory["resident_at_start_bytes"])
        self.assertGreater(memory["resident_peak_bytes"], memory["arena_bytes"])
        self.assertRegex(self.fine("bench", FLOAT, *self.QUICK),
                         r"(?m)^memory +arena \S+ KiB, persistent 0 B, scratch \S+ KiB, packed constants "
                         r"\S+ KiB, resources 0 B\n +peak resident \S+ MiB \(")

    def test_bench_reads_the_given_inputs(self):
        source, = self.bench()["inputs"]
        self.assertEqual((source["name"], source["source"]), ("image", "random"))
        source, = self.bench("--input_layer=image", "--input_layer_shape=2,28,28,1",
                             "--input_layer_value_range=image,-1,3")["inputs"]
        self.assertEqual(source["shape"], [2, 28, 28, 1])
        self.assertEqual(source["source"], "range")
        self.assertTrue(-1 <= source["min"] < -0.9 and 2.9 < source["max"] <= 3, source)
        raw = self.folder / "x:1.raw"
        raw.write_bytes(struct.pack("<784f", *(i / 1000 for i in range(784))))
        # A file has priority over a range; a backslash escapes a colon.
        source, = self.bench(f"--input_layer_value_files=image:{self.folder}/x\\:1.raw",
                             "--input_layer_value_range=image,7,8")["inputs"]
        self.assertEqual(source["source"], str(raw))
        self.assertAlmostEqual(source["min"], 0)
        self.assertAlmostEqual(source["max"], 0.783, places=6)
        # Bounds of quantised inputs are stored values: scale 1/255, zero point -128.
        report = json.loads(self.fine("bench", INT8, *self.QUICK, "--json",
                                      "--input_layer_value_range=image,-128,-77"))
        self.assertAlmostEqual(report["inputs"][0]["min"], 0, places=6)
        self.assertAlmostEqual(report["inputs"][0]["max"], 51 / 255, places=6)
        self.assertIn("input      'image' FLOAT32 [1, 28, 28, 1] from range\n", self.fine(
            "bench", FLOAT, *self.QUICK, "--input_layer_value_range=0,1,2"))

    def test_bench_refuses_inputs_that_do_not_fit(self):
        bench = ["bench", FLOAT, *self.QUICK]
        layer = "--input_layer=image"
        self.refused(1, r"expected 4 dim.*shapes in the model: 'image' \[1, 28, 28, 1\]", *bench,
                     layer, "--input_layer_shape=1,5")
        for pattern, *arguments in [
                ("as many shapes as --input_layer has names, 1, found 2", layer,
                 "--input_layer_shape=1,28,28,1:1"),
                ("names, 0, found 1", "--input_layer_shape=1,28,28,1"),
                ("no input 'unknown'", "--input_layer=unknown"),
                ("expected NAME=1,2,3", layer, "--input_layer_shape=1,x"),
                ("NAME,LOW,HIGH, found 'image,1'", "--input_layer_value_range=image,1"),
                ("NAME,LOW,HIGH, found 'image,1,z'", "--input_layer_value_range=image,1,z"),
                ("LOW <= HIGH", "--input_layer_value_range=image,2,1"),
                ("no input 'x'", "--input_layer_value_range=x,1,2"),
                ("NAME:FILE, found 'image'", "--input_layer_value_files=image"),
                ("No such file", "--input_layer_value_files=image:/nowhere"),
                ("expected 3136 bytes", f"--input_layer_value_files=image:{LABELS}")]:
            self.refused(2, pattern, *bench, *arguments)

    def test_bench_writes_the_profile_as_csv(self):
        for option in ("--op_profiling_output_file", "--profiling_output_csv_file"):
            path = self.folder / "profile.csv"
            text = self.fine("bench", FLOAT, *self.QUICK, f"{option}={path}")
            self.assertIn(f"written to {path}\n", text)
            self.assertNotIn("CONV_2D", text)
            rows = list(csv.DictReader(path.read_text().splitlines()))
            self.assertEqual([int(row["node"]) for row in rows], list(range(16)))
            self.assertEqual(rows[0]["operator"], "CONV_2D")
            self.assertEqual({row["run by"] for row in rows}, {"CPU"})
            self.assertEqual({row["calls"] for row in rows}, {"2"})
            self.assertAlmostEqual(sum(float(row["share"]) for row in rows), 1, places=4)
        text = self.fine("bench", FLOAT, *self.QUICK, "--op_profiling_output_mode=csv")
        self.assertEqual(text.count("\n0,"), 16)
        self.refused(2, "proto", "bench", FLOAT, "--op_profiling_output_mode=proto")
        self.refused(2, "/nowhere/x.csv: No such file", "bench", FLOAT, *self.QUICK, "--json",
                     "--op_profiling_output_file=/nowhere/x.csv")

    def test_bench_limits_the_rows_of_the_profile(self):
        whole = self.fine("bench", FLOAT, *self.QUICK, "--enable_op_profiling")
        rows = re.findall(r"(?m)^ *(\d+)  [A-Z_0-9]+ +CPU +(?:[0-9.]+|with \d+) +[0-9.]+ %$", whole)
        self.assertEqual([int(row) for row in rows], list(range(16)))  # in the order of execution
        none = self.fine("bench", FLOAT, *self.QUICK, "--enable_op_profiling=false")
        self.assertNotIn("CONV_2D", none)
        self.assertNotIn("operators", self.bench("--enable_op_profiling=false"))
        self.assertEqual(self.bench()["profiled_runs"], 2)
        self.refused(2, "csv needs a profile", "bench", FLOAT, "--enable_op_profiling=false",
                     "--op_profiling_output_mode=csv")

    def test_bench_continues_without_a_missing_delegate(self):
        for flag, name in (("--use_hexagon", "Hexagon"), ("--use_nnapi", "NNAPI"),
                           ("--external_delegate_path=/nowhere/libx.so", "libx.so")):
            report, (warning,) = self.bench_with_warnings(flag)
            self.assertRegex(warning, rf"\Adeputy: warning: {flag} is not available: \S")
            delegate, = report["delegates"]
            self.assertEqual((delegate["name"], delegate["available"]), (name, False))
            self.assertTrue(warning.endswith(delegate["problem"]))
            self.assertEqual(report["summary"], "16 nodes on the CPU, no delegate used")
            self.refused(1, rf"--require_delegate: {flag} is not available", "bench", FLOAT,
                         flag, "--require_delegate")

    def gpu(self, *arguments):
        """Runs the command with the GPU delegate on the CPU's OpenCL and returns its output."""
        if not (pathlib.Path(DEPUTY).parent / "libdeputy_gpu.so").exists():
            self.skipTest("the GPU delegate is not built")
        result = deputy(*arguments, env={**os.environ, "DEPUTY_OPENCL_DEVICE": "cpu"})
        if "not available" in result.stderr and "OpenCL" in result.stderr or \
           "OpenCL has no platform" in result.stderr:
            self.skipTest("there is no OpenCL on this machine")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_gpu_delegate_is_found_by_name(self):
        report = json.loads(self.gpu("bench", FLOAT, *self.QUICK, "--json", "--use_gpu"))
        delegate, = report["delegates"]
        self.assertEqual((delegate["name"], delegate["available"]), ("GPU", True))
        self.assertEqual((delegate["nodes"], delegate["partitions"]), (16, 1))
        report = json.loads(self.gpu("explain", FLOAT, "--delegate", "gpu,device=cpu", "--json"))
        self.assertEqual(report["delegates"][0]["name"], "gpu")

    def test_bench_passes_the_options_of_benchmark_model_to_the_gpu(self):
        def nodes(model, *flags):
            report = json.loads(self.gpu("bench", model, *self.QUICK, "--json", "--use_gpu", *flags))
            return report["delegates"][0]["nodes"]

        self.assertGreater(nodes(INT8, "--gpu_experimental_enable_quant=true"), 0)
        self.assertEqual(nodes(INT8, "--gpu_experimental_enable_quant=false"), 0)
        self.assertEqual(nodes(FLOAT, "--gpu_precision_loss_allowed", "--gpu_backend=cl"), 16)
        self.assertEqual(nodes(FLOAT, "--max_delegated_partitions=1"), 16)
        result = deputy("bench", FLOAT, *self.QUICK, "--use_gpu", "--max_delegated_partitions=-1")
        self.assertIn("--use_gpu is not available: ", result.stderr)
        self.assertIn("option 'max_partitions': expected a whole number", result.stderr)
        self.refused(2, "--gpu_backend: expected cl, found 'gl'", "bench", FLOAT, *self.QUICK,
                     "--use_gpu", "--gpu_backend=gl")
        # The number of files grows: the program; a second one with another token; the results of tuning.
        folder = self.folder / "programs"
        kept = ["--delegate_serialize_dir", str(folder)]
        counts = []
        for more in ([], [], ["--delegate_serialize_token=other"],
                     ["--gpu_inference_for_sustained_speed"]):
            self.assertEqual(nodes(FLOAT, *kept, *more), 16)
            counts.append(len(list(folder.glob("*.glcl"))))
        self.assertEqual(counts[:3], [1, 1, 2])
        self.assertGreater(counts[3], 3)

    def test_the_gpu_delegate_leaves_partitions_with_too_little_gain(self):
        wanted = "gpu,device=cpu,min_gain_us=1e8"
        report = json.loads(self.gpu("explain", FLOAT, "--delegate", wanted, "--json"))
        self.assertEqual(report["delegated"], 0)
        for node in report["subgraphs"][0]["nodes"]:
            result, = node["support"]
            self.assertEqual(result["reason_name"], "COST")
            self.assertRegex(result["text"],
                             r"\Apartition of 16 nodes: gain \S+ us below min_gain_us=100000000\Z")
        for options in ("gpu,device=cpu", wanted + ",force=true"):
            report = json.loads(self.gpu("explain", FLOAT, "--delegate", options, "--json"))
            self.assertEqual(report["delegated"], 16)

    def test_the_gpu_delegate_prints_its_graphs(self):
        report = json.loads(self.gpu("explain", FLOAT, "--delegate", "gpu,device=cpu", "--ir",
                                     "--json"))
        imported, optimised, kernels = report["partition_texts"]
        self.assertEqual((imported["first_node"], imported["stage"]), (0, "imported"))
        self.assertEqual((optimised["first_node"], optimised["stage"]), (0, "optimised"))
        for text in (imported["text"], optimised["text"]):
            self.assertRegex(text, r"\Ainput %0 FLOAT32\[1,")
            self.assertIn("= conv_2d(", text)
        self.assertLess(optimised["text"].count("\n"), imported["text"].count("\n"))
        self.assertEqual((kernels["first_node"], kernels["stage"]), (0, "kernels"))
        self.assertRegex(kernels["text"], r"\Anode \d+, \w+, k0: reads \d+ bytes, writes \d+\n")
        self.assertRegex(kernels["text"], r"all kernels: reads \d+ bytes, writes \d+\n\Z")
        self.assertNotIn("imported", self.gpu("explain", FLOAT, "--delegate", "gpu,device=cpu"))

    def test_bench_has_a_row_for_each_node_that_a_delegate_reports(self):
        library = f"{PLUGINS}/libnode_events.so,nodes=0 1,events=0 1 2000 conv;0 2 500 conv;1 3 4000 pool"
        report = self.bench("--delegate", library + ",flags=4")
        rows = {row["node"]: row for row in report["nodes"]}
        self.assertAlmostEqual(rows[0]["ms"], 0.0025)
        self.assertAlmostEqual(rows[1]["ms"], 0.004)
        self.assertEqual({rows[n]["owner"] for n in (0, 1, 16)}, {"Reporting"})
        self.assertEqual(rows[2]["owner"], "CPU")
        path = self.folder / "profile.csv"
        self.bench("--delegate", library + ",flags=4", f"--op_profiling_output_file={path}")
        lines = path.read_text(encoding="utf-8").splitlines()
        # The rows are in the order of execution, in which the delegate's node follows those that it
        # replaces.
        self.assertEqual([line.split(",")[1] for line in lines[1:5]], ["0", "1", "16", "2"])
        self.assertEqual({row["node"] for row in self.bench("--delegate", library)["nodes"]},
                         set(rows) - {0, 1})

    def test_bench_shows_device_events(self):
        arguments = ["bench", FLOAT, *self.QUICK, "--delegate", "gpu,device=cpu,profiling=1"]
        report = json.loads(self.gpu(*arguments, "--json"))
        kernels, nodes = report["device"]["kernels"], report["device"]["nodes"]
        count = {kernel["name"]: 0 for kernel in kernels}
        for kernel in kernels:
            count[kernel["name"]] += kernel["count"]
        runs = report["profiled_runs"]
        self.assertEqual((count["upload"], count["download"]), (runs, runs))
        # The network for digits has at least this number of kernels of each kind.
        for name, at_least in (("conv_2d", 5), ("depthwise_conv_2d", 4), ("pool_2d", 2),
                               ("matmul", 2), ("softmax", 1)):
            self.assertGreaterEqual(count[name], at_least * runs, name)
        self.assertTrue({0, 2, 7, 15} <= {node["node"] for node in nodes} <= set(range(16)))
        self.assertAlmostEqual(sum(k["ms"] for k in kernels if k["kernel"]),
                               sum(n["ms"] for n in nodes))
        # The rows of the profile are the nodes of the partition and the delegate's node, which has the
        # remaining time.
        rows = {row["node"]: row for row in report["nodes"]}
        self.assertEqual(set(rows), {node["node"] for node in nodes} | {16})
        self.assertEqual(rows[0]["operator"], "CONV_2D")
        self.assertEqual(len({row["owner"] for row in report["nodes"]}), 1)
        device_ms = {}
        for node in nodes:
            device_ms[node["node"]] = device_ms.get(node["node"], 0) + node["ms"]
        for node, ms in device_ms.items():
            self.assertAlmostEqual(rows[node]["ms"], ms)
        # The host waits for the device, so the kernels' time is not greater than the nodes'.
        self.assertLess(sum(k["ms"] for k in kernels), sum(row["ms"] for row in report["nodes"]) * 1.01)
        text = self.gpu(*[a for a in arguments if a != "--nodes=0"], "--nodes=3")
        self.assertRegex(text, r"\non the device +kernel +times +ms +share\n")
        self.assertRegex(text, r"\nnode +on the device +kernel +ms +share\n(.*\n){3}and \d+ cheaper")
        self.assertNotIn("on the device", self.gpu("bench", FLOAT, *self.QUICK, "--use_gpu"))

    def trace(self, path):
        """Returns the slices of the trace by the name of their lane, in the order of the lanes."""
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in events
                 if event["name"] == "thread_name"}
        lanes = {name: [] for name in names.values()}
        for event in events:
            if event["ph"] == "X":
                lanes[names[event["tid"]]].append(event)
        self.assertEqual(min(piece["ts"] for lane in lanes.values() for piece in lane), 0)
        return lanes

    def assert_within(self, pieces, whole):  # with a tolerance of one microsecond
        for piece in pieces:
            self.assertGreaterEqual(piece["ts"], whole["ts"] - 1)
            self.assertLessEqual(piece["ts"] + piece["dur"], whole["ts"] + whole["dur"] + 1)

    def test_trace_has_lanes_for_the_host_delegates_and_devices(self):
        path = pathlib.Path(self.folder) / "trace.json"
        self.fine("run", FLOAT, "--random", "--trace", path)
        host = self.trace(path).pop("host")
        # Two ADDs are fused with the preceding convolutions.
        self.assertEqual([piece["args"]["node"] for piece in host],
                         [node for node in range(16) if node not in (6, 11)])
        self.assertEqual((host[0]["name"], host[0]["args"]["owner"]), ("CONV_2D", "CPU"))
        self.fine("run", FLOAT, "--random", "--trace", path,
                  "--delegate", f"{PLUGINS}/libelementwise.so")
        lanes = self.trace(path)
        self.assertEqual([name.split(":")[0] for name in lanes], ["host", "delegate 0"])
        host, nodes = lanes.values()
        self.assertEqual(len(host), 14)
        self.assertEqual([node["args"]["owner"] for node in nodes], ["Elementwise"] * 2)
        self.gpu("run", FLOAT, "--random", "--trace", str(path), "--delegate", "gpu,device=cpu")
        lanes = self.trace(path)
        self.assertEqual([name.split(":")[0] for name in lanes],
                         ["delegate 0", "device of delegate 0"])
        (node,), device = lanes.values()
        self.assertEqual(device[0]["name"], "upload")
        self.assertEqual(device[-1]["name"], "download")
        self.assertTrue({0, 2, 7, 15} <= {piece["args"]["node"] for piece in device})
        self.assert_within(device, node)
        self.gpu("bench", FLOAT, *self.QUICK, "--trace", str(path), "--use_gpu")
        self.assertEqual([len(pieces) for pieces in self.trace(path).values()][0], 2)

    def test_trace_has_a_lane_for_each_thread(self):
        path = pathlib.Path(self.folder) / "trace.json"
        # A thread that wakes up too late gets no work. Until it gets some, the nodes take longer,
        # up to more than the time for which another process may occupy a processor.
        for attempt in range(20):
            batch = min(64 << attempt, 2048)
            self.fine("bench", FLOAT, "--shape", f"image={batch},28,28,1", "--num_runs=20",
                      "--min_secs=0", "--num_threads=2", "--trace", path)
            lanes = self.trace(path)
            if len(lanes) > 1:
                break
        self.assertEqual(list(lanes), ["host", "thread 1"])
        nodes = [piece for piece in lanes["host"] if "owner" in piece["args"]]
        own = [piece for piece in lanes["host"] if "owner" not in piece["args"]]
        # The number of fusion groups depends on the CPU.
        self.assertEqual(len(nodes) % 20, 0)
        self.assertGreaterEqual(len(nodes), 20 * 5)
        for piece in lanes["thread 1"] + own:
            self.assertGreater(piece["args"]["tiles"], 0)
            whole = [node for node in nodes if node["args"]["node"] == piece["args"]["node"]
                     and node["ts"] - 1 <= piece["ts"] <= node["ts"] + node["dur"] + 1]
            self.assertEqual(len(whole), 1)
            self.assert_within([piece], whole[0])
        self.assertEqual({piece["name"] for piece in own}, {"own part"})
        # Only nodes that still run when the thread wakes up appear in its lane.
        self.assertLessEqual({piece["name"] for piece in lanes["thread 1"]},
                             {piece["name"] for piece in nodes})

    def test_a_trace_that_cannot_be_written_is_an_error(self):
        result = deputy("run", FLOAT, "--random", "--trace", "/nowhere/x.json")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"\Adeputy: --trace /nowhere/x.json: [^\n]+\n\Z")
        self.refused(2, "--trace needs a profile", "bench", FLOAT, "--enable_op_profiling=false",
                     "--trace", "x.json")

    def test_missing_opencl_is_reported(self):
        if not (pathlib.Path(DEPUTY).parent / "libdeputy_gpu.so").exists():
            self.skipTest("the GPU delegate is not built")
        absent = {**os.environ, "DEPUTY_OPENCL_LIBRARY": "none"}
        result = deputy("bench", FLOAT, *self.QUICK, "--use_gpu", env=absent)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"warning: --use_gpu is not available: \S")
        self.assertIn("16 nodes on the CPU, no delegate used", result.stdout)
        result = deputy("run", FLOAT, "--random", "--delegate", "gpu", env=absent)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"--delegate: .*OpenCL")

    def no_node(self):
        """Returns flags for a delegate that claims none of the digits' nodes, because it supports only MUL."""
        return self.elementwise("ops:18")

    @staticmethod
    def without_facts(report):
        """Returns the delegates of a report of bench without the facts, which delegate_facts_test covers."""
        return [{key: value for key, value in delegate.items() if key != "facts"}
                for delegate in report["delegates"]]

    def test_bench_reports_the_nodes_of_each_delegate(self):
        name, flag = "libelementwise.so", self.no_node()[0]
        report = self.bench(*self.no_node())
        self.assertEqual(self.without_facts(report), [{"name": name, "flag": flag, "available": True,
                                                       "nodes": 0, "partitions": 0}])
        self.assertEqual(report["node_count"], 16)
        self.assertEqual([node["node"] for node in report["cpu_nodes"]], list(range(16)))
        text = self.fine("bench", FLOAT, *self.QUICK, *self.no_node(), "--show_cpu_nodes")
        self.assertIn(f"delegate   {name}: 0 of 16 nodes, 0 partitions\n", text)
        self.assertEqual(text.count("\non the CPU 0."), 16)
        self.assertIn("\nsummary    16 nodes on the CPU, no delegate used\n", text)
        bench = ["bench", FLOAT, *self.QUICK]
        self.refused(1, f"{name} claimed none of 16 nodes", *bench, *self.no_node(),
                     "--require_delegate")
        self.refused(1, "16 of 16 nodes run on the CPU, the first is node 0 CONV_2D", *bench,
                     *self.no_node(), "--require_full_delegation")
        for flag in ("--require_delegate", "--require_full_delegation"):
            self.refused(2, f"{flag} needs a delegate", *bench, flag)

    def test_xnnpack_by_its_flags(self):
        if not (pathlib.Path(DEPUTY).parent / "libdeputy_xnnpack.so").exists():
            report, warnings = self.bench_with_warnings("--use_xnnpack")
            self.assertEqual(report["delegates"][0]["available"], False)
            self.assertIn("Deputy was built without libxnnpack-dev", warnings[0])
            self.refused(2, "Deputy was built without libxnnpack-dev", "run", FLOAT, "--random",
                         "--delegate", "xnnpack")
            self.skipTest("Deputy is built without XNNPACK")
        report = self.bench("--use_xnnpack", "--require_full_delegation", "--num_threads=2")
        self.assertEqual(self.without_facts(report), [{"name": "XNNPACK", "flag": "--use_xnnpack",
                                                       "available": True, "nodes": 16,
                                                       "partitions": 1}])
        self.assertEqual(report["summary"], "16 nodes in XNNPACK, 0 on the CPU")
        for words in (["--use_xnnpack"], ["--use-xnnpack"], ["--delegate", "xnnpack,num_threads=2"]):
            report = json.loads(self.fine("explain", FLOAT, "--json", "--threads", 3, *words))
            self.assertEqual((report["delegated"], report["delegates"][0]["name"]),
                             (16, "xnnpack"))
        self.refused(2, "option 'num_threads': expected 1 to 1024, found 0", "run", FLOAT, "--random",
                     "--delegate", "xnnpack,num_threads=0")
        results = self.fine("run", FLOAT, "--use_xnnpack", "--image", IMAGES, "--labels", LABELS,
                            "--expect-from-name")
        self.assertIn("accuracy  98.50 %", results)
        self.assertRegex(results, r"(?m)^XNNPACK0 +XNNPACK0 +1 ")

    def test_bench_ranks_delegates_by_the_order_of_flags(self):
        flags = ["--use_hexagon", "--external_delegate_path=/nowhere/a.so",
                 "--external_delegate_path=/nowhere/b.so", "--use_nnapi"]
        for order in (flags, flags[::-1], flags[2:] + flags[:2]):
            report, warnings = self.bench_with_warnings(*order)
            self.assertEqual([row["flag"] for row in report["delegates"]], order)
            self.assertEqual(len(warnings), 4)
        self.assertEqual(self.bench("--use_xnnpack=false", "--use_gpu=false")["delegates"], [])
        self.refused(2, "needs --external_delegate_path", "bench", FLOAT,
                     "--external_delegate_options=a:b")
        for pairs in ("ab", "a:b;c", ":b"):
            self.refused(2, "expected KEY:VALUE;KEY:VALUE", "bench", FLOAT,
                         "--external_delegate_path=x.so", f"--external_delegate_options={pairs}")

    def elementwise(self, *options, library="libelementwise.so"):
        """Returns flags for a delegate library that claims ADD (nodes 6 and 11 of the digits) and other operators."""
        path = pathlib.Path(DEPUTY).parent / "tests" / "plugins" / library
        if not path.exists():
            self.skipTest("the delegate libraries of the tests are not built")
        flags = [f"--external_delegate_path={path}"]
        return flags + [f"--external_delegate_options={';'.join(options)}"] if options else flags

    def test_bench_runs_delegates_from_libraries(self):
        report = self.bench(*self.elementwise(), "--require_delegate")
        delegate, = report["delegates"]
        self.assertEqual((delegate["nodes"], delegate["partitions"]), (2, 2))
        self.assertEqual(len(report["cpu_nodes"]), 14)
        self.assertNotIn("ADD", [node["operator"] for node in report["cpu_nodes"]])
        owners = [row["owner"] for row in report["nodes"]]
        self.assertEqual(owners.count("Elementwise"), 2)
        self.assertEqual(report["summary"], "2 nodes in libelementwise.so, 14 on the CPU")
        text = self.fine("bench", FLOAT, *self.QUICK, *self.elementwise())
        self.assertIn("delegate   libelementwise.so: 2 of 16 nodes, 2 partitions\n", text)
        csv_text = self.fine("bench", FLOAT, *self.QUICK, *self.elementwise(),
                             "--op_profiling_output_mode=csv")
        self.assertEqual(csv_text.count(",Elementwise,Elementwise,2,"), 2)
        self.refused(1, "14 of 16 nodes run on the CPU, the first is node 0 CONV_2D", "bench",
                     FLOAT, *self.QUICK, *self.elementwise(), "--require_full_delegation")

    def test_bench_gives_each_library_its_own_options_and_rank(self):
        add, mul = self.elementwise("ops:0"), self.elementwise("ops:18")
        claimed = lambda *flags: [row["nodes"] for row in self.bench(*flags)["delegates"]]
        self.assertEqual(claimed(*mul), [0])
        self.assertEqual(claimed(*add, *mul), [2, 0])
        self.assertEqual(claimed(*mul, *add), [0, 2])
        # The first delegate gets the nodes that both support.
        self.assertEqual(claimed(*self.elementwise(), *add), [2, 0])
        self.assertEqual(claimed(*mul, *mul, *self.elementwise()), [0, 0, 2])
        own = ["--delegate", add[0].split("=")[1] + ",ops=0"]  # the command's own spelling
        self.assertEqual(claimed(*own, *add), [2, 0])
        self.assertEqual(claimed(*mul, *own), [0, 2])
        self.assertEqual(self.bench(*own)["delegates"][0]["flag"], f"--delegate {own[1][:-6]}")
        # Options before all libraries belong to the first one.
        self.assertEqual(claimed(*mul[::-1], *add), [0, 2])

    def test_bench_reports_the_nodes_of_a_delegate_built_on_the_helper(self):
        for options, nodes in ((["max_partitions:1"], 1), (["min_nodes:1"], 2), (["min_nodes:2"], 0),
                               (["half:1", "added:1"], 2)):
            report = self.bench(*self.elementwise(*options, library="libelement.so"))
            self.assertEqual(report["delegates"][0]["nodes"], nodes, options)
            self.assertEqual(report["delegates"][0]["partitions"], nodes, options)
        # The first delegate claims one node, the second another one; each counts its own.
        report = self.bench(*self.elementwise("max_partitions:1", library="libelement.so"),
                            *self.elementwise("ops:0"))
        self.assertEqual([(row["nodes"], row["partitions"]) for row in report["delegates"]],
                         [(1, 1), (1, 1)])
        self.assertEqual(report["summary"],
                         "1 node in libelement.so, 1 node in libelementwise.so, 14 on the CPU")

    def test_inspect_shows_the_model_and_a_memory_map_without_overlaps(self):
        for model in (FLOAT, INT8):
            report = json.loads(self.fine("inspect", model, "--json"))
            graph, = report["subgraphs"]
            tensors, operators = graph["tensors"], graph["operators"]
            source, = report["inputs"]
            self.assertEqual(tensors[source]["shape"], [1, 28, 28, 1])
            self.assertEqual(tensors[source]["name"], "image")
            self.assertEqual("quantization" in tensors[source], model == INT8)
            self.assertEqual(operators[0]["operator"], "CONV_2D")
            self.assertEqual(operators[-1]["operator"], "SOFTMAX")
            self.assertEqual(operators[-1]["outputs"], report["outputs"])
            self.assertEqual([o["plan_position"] for o in operators], list(range(len(operators))))
            memory = graph["memory"]
            rows = [row for row in memory["tensors"] if not row["persistent"]]
            for tensor in report["inputs"] + report["outputs"]:
                self.assertIn(tensor, [row["tensor"] for row in rows])
            for row in rows:
                self.assertFalse(tensors[row["tensor"]]["constant"])
                self.assertTrue(0 <= row["first_use"] <= row["last_use"] < len(operators), row)
                self.assertGreaterEqual(row["bytes"], tensors[row["tensor"]]["bytes"])
                self.assertLessEqual(row["offset"] + row["bytes"], memory["arena_bytes"])
                for other in rows:
                    if (other["owner"] != row["owner"] and other["first_use"] <= row["last_use"]
                            and row["first_use"] <= other["last_use"]):
                        self.assertTrue(row["offset"] + row["bytes"] <= other["offset"]
                                        or other["offset"] + other["bytes"] <= row["offset"])
            text = self.fine("inspect", model)
            for heading in ("operators", "tensors", "memory: arena"):
                self.assertRegex(text, rf"(?m)^{heading}")
            self.assertNotIn("\ntensors\n", self.fine("inspect", model, "--operators"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = sys.argv.pop(1)
    DEPUTY, PLUGINS = os.path.join(BUILD, "deputy"), os.path.join(BUILD, "tests", "plugins")
    if not os.path.exists(DEPUTY) or not FLOAT.exists():
        print("the deputy command or the digits are not here: skipped")
        sys.exit(77)
    unittest.main()
