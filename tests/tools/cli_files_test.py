#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests files given to the `deputy` command: pipes, devices, folders and files that are too large are
refused before they are read, the message for a file that is not a model names its format, and names of
output files fit the file system.

    tests/tools/cli_files_test.py BUILD_FOLDER
"""
import base64
import gzip
import os
import pathlib
import resource
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
FLOAT, LABELS = DIGITS / "digits_float.tflite", DIGITS / "labels.txt"
IMAGE = sorted((DIGITS / "images").glob("*.png"))[0]
# A model of y = x + constant over four floats, in which the name of each tensor has 5000 letters.
LONG_NAMES = zlib.decompress(base64.b64decode("""
eNrt2qFOw1AYxfHT0YwlLGVJJxCIOiZwIEgQTBAUkhdYwnBAApOISR4AgeA5eIIJHgHBgyBILue2t1lfYFP/33Z2u6/t16u/dCzp
5ur6RB2fIYQdr2fOsTN2cqfn/J1L1UTa9/H97HZe3T0+VbNqMX9eKHPt0InrW92p0IHvHGiokbsUrpw6k3TdKPVtZel8lp6VpXrc
y8+R9FtKl6lv3FPsu+suRXPZXlNb76GX0vZerUL4cl6+Q3gvm2e/en0AAAAAAAAAsHHtnC7O5eLEME8zvqHXj3J9jpkdAAAAAAAA
sB3dmZ3U18BH/fR/VNeWF/6Z+ussp+27fnGq19wzqOd7vI8HAAAAAAAAbFd3tpfXH+kfVuBRMQ==
"""))
# A model with the ABS of four floats as two outputs, "1_x" and "x".
TWO_OUTPUTS = zlib.decompress(base64.b64decode("""
eNqTYGBgCHHzMWZg4GMQYWBh4GDgAYoIAHkMDMxALMEIxECaBYiBTKA8iM0C5wsAMQ9cpwBYdwkQZwBxBFQfExAbQNmP/v//L4BkHhOUhgAu
sH6QWVxQs2HqGJHUMWHRC3JrABCrQPWcQLOnAkqD+E+Q5ED6DOMr4HI8QMgCNhEWEgg/ZOYhzED4nYeBHUk9EKSmAgkAfIIT8Q==
"""))
GIGABYTE = 1 << 30
DEPUTY = None  # set from the command line


def deputy(*arguments, **options):
    return subprocess.run([DEPUTY, *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", timeout=60, check=False, **options)


# Commands that read a model, and options that read another file. FILE is replaced by the file's path.
MODEL_READERS = [["run", "FILE", "--random"], ["bench", "FILE", "--dry-run"], ["inspect", "FILE"],
                 ["explain", "FILE"], ["ops", "FILE"], ["compare", "FILE", "--against", FLOAT],
                 ["compare", FLOAT, "--against", "FILE"]]
OTHER_READERS = {
    "input.npy": ["run", FLOAT, "--input", "FILE"],
    "input.raw": ["run", FLOAT, "--input", "image=FILE"],
    "image.png": ["run", FLOAT, "--image", "FILE"],
    "labels.txt": ["run", FLOAT, "--image", IMAGE, "--labels", "FILE"],
    "rows.csv": ["run", FLOAT, "--rows", "FILE"],
    "settings.json": ["run", FLOAT, "--random", "--stable-delegate-settings-file", "FILE"],
    "layer.npy": ["bench", FLOAT, "--input-layer-value-files", "image:FILE"],
    "compared.npy": ["compare", FLOAT, "--delegate", "npu_stub", "--input", "FILE"],
}
# Keys of commands above that also accept a folder and read all of its files.
FOLDER_READERS = ("image.png", "rows.csv")


def with_file(arguments, path):
    return [str(argument).replace("FILE", str(path)) for argument in arguments]


class FilesCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, code, pattern, *arguments):
        result = deputy(*arguments)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stderr}")
        self.assertRegex(result.stderr, r"\Adeputy: [^\n]+\n\Z", f"{arguments}: not one line")
        self.assertRegex(result.stderr, pattern)
        self.assertEqual(result.stdout, "")


class IrregularFilesTest(FilesCase):
    def irregular(self, name):
        """Returns paths that are no regular files, with the expected messages."""
        pipe, listener = self.folder / f"pipe_{name}", socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        os.mkfifo(pipe)
        address = self.folder / f"socket_{name}"
        listener.bind(str(address))
        folder = self.folder / f"folder_{name}"
        folder.mkdir()
        device = self.folder / f"device_{name}"
        device.symlink_to("/dev/zero")
        # A socket cannot even be opened.
        return [(pipe, "is a pipe, expected a regular file"), (address, "No such device"),
                (device, "is a device, expected a regular file"), (folder, "is a directory, expected")]

    def test_models_are_regular_files(self):
        for path, text in self.irregular("x.tflite"):
            for arguments in MODEL_READERS:
                with self.subTest(path=path.name, arguments=arguments):
                    self.refused(2, text, *with_file(arguments, path))

    def test_other_files_are_regular_files(self):
        for name, arguments in OTHER_READERS.items():
            for path, text in self.irregular(name):
                if path.is_dir() and name in FOLDER_READERS:
                    continue
                with self.subTest(path=path.name, arguments=arguments):
                    self.refused(2, text, *with_file(arguments, path))

    def test_models_to_certify_are_regular_files(self):
        for path, text in self.irregular("x.tflite"):
            result = deputy("certify", "npu_stub", "--model", path)
            self.assertNotEqual(result.returncode, 0)
            self.assertRegex(result.stderr, text)


class LargeFilesTest(FilesCase):
    def sparse(self, name, size, start=b""):
        path = self.folder / name
        with open(path, "wb") as file:
            file.write(start)
            file.truncate(size)
        return path

    def test_files_that_are_too_large_are_not_read(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        for name, arguments in OTHER_READERS.items():
            path = self.sparse(name, 3 * GIGABYTE)
            text = {".npy": "is not a .npy file",
                    ".raw": "expected 3136 bytes .*has 3221225472"}.get(
                        path.suffix, "is too large: .*expected at most")
            with self.subTest(arguments=arguments):
                self.refused(2, text, *with_file(arguments, path))
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (805306368,)}\n"
        start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
        path = self.sparse("large.npy", 3 * GIGABYTE + len(start), start)
        self.refused(2, r"expected shape \[1, 28, 28, 1\], .* has \[805306368\]",
                     "run", FLOAT, "--input", path)
        start = b"\x93NUMPY\x02\x00" + struct.pack("<I", 3 * GIGABYTE - 12)
        self.refused(2, "header is too large", "run", FLOAT, "--input",
                     self.sparse("header.npy", 3 * GIGABYTE, start))
        path = self.sparse("large.ms", 3 * GIGABYTE, b"\x10\0\0\0MSL2")
        for arguments in MODEL_READERS:
            self.refused(1, "expected less than 2 GiB", *with_file(arguments, path))
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(after, max(before, 400 << 10), "KiB of memory: a file was read")

    def test_a_table_on_standard_input_is_limited(self):
        with open("/dev/zero", "rb") as zeros:
            result = deputy("run", FLOAT, "--rows", "-", stdin=zeros)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "standard input: is too large: expected at most 64.0 MiB")


class ForeignFilesTest(FilesCase):
    def zip_of(self, name):
        path = self.folder / "some.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, b"content")
        return path.read_bytes()

    def tar_of(self, name):
        path = self.folder / "some.tar"
        with tarfile.open(path, "w") as archive:
            archive.add(FLOAT, name)
        return path.read_bytes()

    def test_a_file_that_is_not_a_model_is_identified(self):
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4276352\n"
        kinds = {
            "a Git LFS pointer instead of the file of 4276352 bytes: fetch it with 'git lfs pull'":
                pointer,
            "a Git LFS pointer instead of the file: fetch": pointer[:60],
            "an HTML page": b"\xef\xbb\xbf\n <!DocType HTML><html>Sign in</html>",
            "an XML document": b"<?xml version='1.0'?><net/>",
            "JSON text": b'{"error": "not found"}',
            "text, not a model: it starts with 'Not Found'": b"Not Found\nat all\n",
            "a ZIP archive or .task bundle: .* first entry is 'model.tflite'":
                self.zip_of("model.tflite"),
            "a PyTorch model": self.zip_of("net/data.pkl"),
            "a Keras model": self.zip_of("metadata.json"),
            "a ZIP archive": b"PK\x03\x04" + b"\xff" * 26,
            "gzip data": gzip.compress(FLOAT.read_bytes()),
            "a tar archive": self.tar_of("model.tflite"),
            "an ONNX model": b"\x08\x09\x12\x07pytorch:" + bytes(90),
            "a TensorFlow graph": b"\x0a\x2b\x0a\x04conv\x12\x06Conv2D" + bytes(90),
            "a TensorFlow graph.*": b"\x08\x01\x12\xc0\x01\x0a\x30\x0a\x00" + bytes(190),
            "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(90),
            "a LiteRT-LM bundle": b"LITERTLM" + bytes(90),
            "a GGUF model": b"GGUF\x03" + bytes(90),
            "a NumPy array": b"\x93NUMPY\x01\0" + bytes(90),
            "a PNG image": IMAGE.read_bytes(),
            "a shared library": b"\x7fELF\x02\x01\x01" + bytes(90),
            "FlatBuffer with the identifier 'TFL2': an older schema": b"\x1c\0\0\0TFL2" + bytes(90),
            "FlatBuffer with the identifier 'ABCD'": b"\x1c\0\0\0ABCD" + bytes(90),
        }
        model = self.folder / "m.tflite"
        for text, content in kinds.items():
            model.write_bytes(content)
            with self.subTest(text=text):
                self.refused(1, f"m.tflite is not a usable model: .*this is .*{text}", "inspect", model)
        for arguments in MODEL_READERS:
            self.refused(1, "'ABCD'", *with_file(arguments, model))

    def test_unknown_and_empty_files_are_reported(self):
        model = self.folder / "m.tflite"
        model.write_bytes(bytes(range(128, 256)))
        self.refused(1, "expected the identifier TFL3 at byte 4\n", "inspect", model)
        model.write_bytes(b"")
        self.refused(1, "m.tflite' is empty", "inspect", model)
        # Control characters in a file must be escaped before they are printed.
        model.write_bytes(self.zip_of("a\x1b[31mred"))
        self.refused(1, r"first entry is 'a\?\[31mred'", "inspect", model)


class OutputFilesTest(FilesCase):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.model = self.folder / "long.tflite"
        self.model.write_bytes(LONG_NAMES)

    def names(self):
        return sorted(path.name for path in self.out.iterdir())

    def run_model(self, *arguments):
        result = deputy("run", *arguments, "--output-dir", self.out)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_names_of_tensors_are_truncated(self):
        self.run_model(self.model, "--random")
        self.assertEqual(self.names(), ["0_" + "n" * 249 + ".npy"])

    def test_names_of_items_are_truncated_and_numbered(self):
        rows = self.folder / "rows"
        rows.mkdir()
        for ending in ("a.raw", "b.raw"):  # the first 240 bytes are equal, in characters of two bytes
            (rows / ("\u00e4" * 120 + ending)).write_bytes(struct.pack("<4f", 1, 2, 3, 4))
        for name in ("x.raw", "x.bin", "x~2.raw"):
            (rows / name).write_bytes(struct.pack("<4f", 1, 2, 3, 4))
        self.run_model(self.model, "--rows", rows)
        names = self.names()
        self.assertEqual(len(names), 5)
        for name in names:
            self.assertEqual(len(os.fsencode(name)), 255)
            self.assertIn("_0_n", name)
        stems = [name[:name.index("_0_n")] for name in names]
        self.assertEqual(stems, sorted(["x", "x~2", "x~2~2", "\u00e4" * 103, "\u00e4" * 102 + "~2"]))

    # Item "a" with output 0 "1_x" and item "a_0" with output 1 "x" are both a_0_1_x.
    def test_outputs_of_two_items_have_two_names(self):
        rows, model = self.folder / "rows", self.folder / "two.tflite"
        rows.mkdir()
        model.write_bytes(TWO_OUTPUTS)
        for name in ("a.raw", "a_0.raw"):
            (rows / name).write_bytes(struct.pack("<4f", 1, 2, 3, 4))
        self.run_model(model, "--rows", rows)
        self.assertEqual(self.names(), ["a_0_0_1_x.npy", "a_0_1_x.npy", "a_0_1_x~2.npy", "a_1_x.npy"])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    DEPUTY = BUILD / "deputy"
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
