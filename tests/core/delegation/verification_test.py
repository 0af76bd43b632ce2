#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the verification of delegates' results, through ctypes. The relay plug-in computes every node with
the runtime's own kernel, in a partition each, so its results are bit-identical, except for the node named
by its option "wrong". Verification must find that node in every model, and no other. Models with state
(recurrent layers) are included, and the models of the folder `shared` if present.

    tests/core/delegation/verification_test.py BUILD_FOLDER
"""
import ctypes
import os
import pathlib
import random
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SHARED = pathlib.Path(os.environ.get("DEPUTY_SHARED", ROOT.parent / "shared"))
STREAMS = ROOT / "tests" / "data" / "streams"
MODELS = [ROOT / "examples" / "digits" / "digits_float.tflite",
          ROOT / "examples" / "digits" / "digits_int8.tflite",
          ROOT / "examples" / "conv_mean.tflite", STREAMS / "keras_gru_f32.tflite",
          STREAMS / "keras_detector_f32.tflite", STREAMS / "keras_fused_lstm_f32.tflite",
          STREAMS / "keras_boxes_i8.tflite", STREAMS / "lstm_hybrid.tflite"]
PLANTED = 10  # maximum number of nodes per model, drawn with a fixed seed
BUILD = LIBRARY = None  # set from the command line
NEVER, FIRST, EVERY_NTH, ALWAYS = range(4)
TFLITE, HOT = 0, 1
OK, FLOAT32 = 0, 1
REPORTER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Verification(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("mode", ctypes.c_int32),
                ("interval", ctypes.c_int32), ("float32_tolerance", ctypes.c_double),
                ("float16_tolerance", ctypes.c_double), ("quantized_steps", ctypes.c_int32),
                ("reserved", ctypes.c_int32)]


class Status(ctypes.Structure):
    _fields_ = ([("struct_size", ctypes.c_size_t)] +
                [(name, ctypes.c_int64) for name in ("verified", "wrong", "skipped", "spent_ns")] +
                [(name, ctypes.c_int32) for name in ("subgraph", "node", "tensor", "reserved")] +
                [("element", ctypes.c_int64), ("expected", ctypes.c_double),
                 ("found", ctypes.c_double)])



def open_library(path):
    library = ctypes.CDLL(str(path))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    for name, result in (
            ("TfLiteModelCreateFromFile", pointer), ("TfLiteInterpreterOptionsCreate", pointer),
            ("TfLiteInterpreterCreate", pointer), ("TfLiteInterpreterGetInputTensor", pointer),
            ("TfLiteInterpreterGetOutputTensor", pointer), ("TfLiteTensorByteSize", size),
            ("DeputyPluginLoad", pointer), ("DeputyPluginCreateDelegate", pointer)):
        getattr(library, name).restype = result
    return library


def handle(value):
    return ctypes.c_void_p(value)


class Interpreter:
    """A model with the relay, with or without a wrong node, or without a delegate."""

    def __init__(self, model, plugin=None, wrong=None, mode=NEVER, interval=0, policy=HOT):
        self.model = handle(LIBRARY.TfLiteModelCreateFromFile(str(model).encode()))
        options = handle(LIBRARY.TfLiteInterpreterOptionsCreate())
        self.reporter = REPORTER(lambda *_: None)
        LIBRARY.TfLiteInterpreterOptionsSetErrorReporter(options, self.reporter, None)
        LIBRARY.DeputyInterpreterOptionsSetDelegatePolicy(options, policy)
        given = Verification(ctypes.sizeof(Verification), mode, interval, 0, 0, 0, 0)
        assert LIBRARY.DeputyInterpreterOptionsSetVerification(options, ctypes.byref(given)) == OK
        self.interpreter = handle(LIBRARY.TfLiteInterpreterCreate(self.model, options))
        LIBRARY.TfLiteInterpreterOptionsDelete(options)
        self.delegate = None
        if plugin is not None:
            keys, values = ctypes.c_char_p(b"wrong"), ctypes.c_char_p(str(wrong).encode())
            count = ctypes.c_size_t(0 if wrong is None else 1)
            self.delegate = handle(LIBRARY.DeputyPluginCreateDelegate(
                plugin, ctypes.byref(keys), ctypes.byref(values), count))
            assert self.delegate.value, "no delegate"
            LIBRARY.TfLiteInterpreterModifyGraphWithDelegate(self.interpreter, self.delegate)
        self.allocate()

    def allocate(self):
        assert LIBRARY.TfLiteInterpreterAllocateTensors(self.interpreter) == OK

    def close(self):
        LIBRARY.TfLiteInterpreterDelete(self.interpreter)
        if self.delegate is not None:
            LIBRARY.DeputyPluginDeleteDelegate(self.delegate)
        LIBRARY.TfLiteModelDelete(self.model)

    def node_count(self):
        return LIBRARY.DeputyInterpreterGetNodeCount(self.interpreter, 0)

    def infer(self, seed):
        """Returns the bytes of all outputs, None if the inference fails."""
        draw = random.Random(seed)
        for i in range(LIBRARY.TfLiteInterpreterGetInputTensorCount(self.interpreter)):
            tensor = handle(LIBRARY.TfLiteInterpreterGetInputTensor(self.interpreter, i))
            size = LIBRARY.TfLiteTensorByteSize(tensor)
            if LIBRARY.TfLiteTensorType(tensor) == FLOAT32:
                values = [draw.uniform(-1, 1) for _ in range(size // 4)]
                data = bytes((ctypes.c_float * len(values))(*values))
            else:
                data = draw.randbytes(size)
            assert LIBRARY.TfLiteTensorCopyFromBuffer(tensor, data, ctypes.c_size_t(size)) == OK
        if LIBRARY.TfLiteInterpreterInvoke(self.interpreter) != OK:
            return None
        outputs = []
        for i in range(LIBRARY.TfLiteInterpreterGetOutputTensorCount(self.interpreter)):
            tensor = handle(LIBRARY.TfLiteInterpreterGetOutputTensor(self.interpreter, i))
            size = LIBRARY.TfLiteTensorByteSize(tensor)
            data = ctypes.create_string_buffer(size)
            assert LIBRARY.TfLiteTensorCopyToBuffer(tensor, data, ctypes.c_size_t(size)) == OK
            outputs.append(data.raw)
        return outputs

    def status(self):
        status = Status(struct_size=ctypes.sizeof(Status))
        assert LIBRARY.DeputyInterpreterGetVerificationStatus(self.interpreter,
                                                              ctypes.byref(status)) == OK
        return status


def shared_models():
    return sorted(SHARED.glob("models/*.tflite"))


class VerificationTest(unittest.TestCase):
    def setUp(self):
        path = BUILD / "tests" / "plugins" / "librelay.so"
        self.relay = handle(LIBRARY.DeputyPluginLoad(str(path).encode()))

    def run_model(self, *arguments, inferences=3, **named):
        interpreter = Interpreter(*arguments, **named)
        outputs = [interpreter.infer(seed) for seed in range(inferences)]
        status = interpreter.status()
        interpreter.close()
        return outputs, status

    def test_errors_in_any_node_are_detected_and_corrected(self):
        planted, models = 0, 0
        for model in MODELS:
            plain = Interpreter(model)
            expected = [plain.infer(seed) for seed in range(3)]
            count = plain.node_count()
            plain.close()
            nodes = random.Random(1).sample(range(count), min(count, PLANTED))
            models += 1
            for node in nodes:
                with self.subTest(model=model.name, node=node):
                    outputs, status = self.run_model(model, self.relay, node, FIRST)
                    self.assertGreaterEqual(status.wrong, 1)
                    self.assertNotEqual(status.expected, status.found)
                    self.assertGreaterEqual(status.tensor, 0)
                    self.assertEqual(status.element, 0)
                    self.assertEqual(outputs, expected)
                    planted += 1
        self.assertGreaterEqual(models, 6)
        self.assertGreaterEqual(planted, 40)

    def test_correct_delegates_have_no_findings(self):
        for model in MODELS + shared_models():
            with self.subTest(model=model.name):
                inferences = 1 if SHARED in model.parents else 3
                expected, _ = self.run_model(model, inferences=inferences)
                outputs, status = self.run_model(model, self.relay, mode=ALWAYS,
                                                 inferences=inferences)
                self.assertEqual(status.wrong, 0)
                self.assertGreater(status.verified, 0)
                self.assertEqual((status.subgraph, status.node, status.tensor), (-1, -1, -1))
                self.assertEqual(outputs, expected)

    def test_interval(self):
        counts = {}
        for mode, interval in ((NEVER, 0), (FIRST, 0), (EVERY_NTH, 3), (ALWAYS, 0)):
            _, status = self.run_model(MODELS[0], self.relay, mode=mode, interval=interval,
                                       inferences=6)
            counts[mode] = status.verified
            self.assertEqual(status.spent_ns > 0, mode != NEVER)
        self.assertEqual(counts, {NEVER: 0, FIRST: counts[FIRST], EVERY_NTH: 2 * counts[FIRST],
                                  ALWAYS: 6 * counts[FIRST]})
        self.assertGreater(counts[FIRST], 0)

    def test_policy_tflite_only_reports(self):
        expected, _ = self.run_model(MODELS[0])
        outputs, status = self.run_model(MODELS[0], self.relay, 0, ALWAYS, policy=TFLITE)
        self.assertEqual(status.wrong, 3)
        self.assertNotEqual(outputs, expected)

    def test_hot_keeps_it_on_the_cpu_until_the_graph_changes(self):
        interpreter = Interpreter(MODELS[0], self.relay, 0, ALWAYS)
        for seed in range(4):
            interpreter.infer(seed)
        self.assertEqual(interpreter.status().wrong, 1)
        interpreter.close()

    def test_the_command_reports_findings_and_cost(self):
        relay = BUILD / "tests" / "plugins" / "librelay.so"
        for delegate, code, text in ((f"{relay}", 0, "deputy: verified: "),
                                     (f"{relay},wrong=0", 1, "element 0: expected ")):
            for command in (("run", "--random"), ("bench", "--runs", "2")):
                result = subprocess.run([BUILD / "deputy", *command, MODELS[0], "--delegate",
                                         delegate, "--verify", "always"], capture_output=True,
                                        text=True, check=False)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(text, result.stderr)
                self.assertIn(" ms", result.stderr)

    def test_wrong_options_are_refused(self):
        options = handle(LIBRARY.TfLiteInterpreterOptionsCreate())
        for numbers in ((4, 0, 0, 0, 0), (-1, 0, 0, 0, 0), (EVERY_NTH, 0, 0, 0, 0),
                        (ALWAYS, 1, 0, 0, 0), (ALWAYS, 0, -1, 0, 0), (ALWAYS, 0, 0, -1, 0),
                        (ALWAYS, 0, 0, 0, -2)):
            given = Verification(ctypes.sizeof(Verification), *numbers, 0)
            self.assertNotEqual(LIBRARY.DeputyInterpreterOptionsSetVerification(
                options, ctypes.byref(given)), OK, numbers)
        LIBRARY.TfLiteInterpreterOptionsDelete(options)


if __name__ == "__main__":
    start_again_with_runtime(pathlib.Path(sys.argv[-1]) / "libdeputy.so.1")
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    LIBRARY = open_library(BUILD / "libdeputy.so.1")
    unittest.main()
