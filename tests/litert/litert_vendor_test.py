#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests vendors' plug-ins of the wheel ai-edge-litert in libLiteRt.so.

    DEPUTY_LITERT_VENDORS=SITE/ai_edge_litert/vendors LD_LIBRARY_PATH=SITE/openvino/libs litert_vendor_test.py BUILD_FOLDER

SITE is a folder with the packages ai-edge-litert 2.3.0 and openvino 2026.3.1 of PyPI. Without the variable the test is skipped.
DEPUTY_LITERT_LIBRARY names another library, for example LiteRT's own.
"""

import math
import os
import pathlib
import random
import sys
import unittest

from litert_calls import DIGITS
from litert_session import COMPILER_FOLDER, DISPATCH_FOLDER, run_model

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77
CPU, NPU = 1, 4
ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT.parent / 'shared/models'
# Path, number of inputs' elements, and of operators that the plug-in does not compile.
INTEL = [
    (DIGITS, 784, 0),
    (MODELS / 'face_detection_short_range.tflite', 128 * 128 * 3, 0),
    (MODELS / 'palm_detection_lite.tflite', 192 * 192 * 3, 0),
    (MODELS / 'hand_landmark_lite.tflite', 224 * 224 * 3, 0),
    (MODELS / 'face_landmark.tflite', 192 * 192 * 3, 0),
]
# Nodes of the plug-in and of the CPU; LiteRT's own library cannot run these.
MIXED = [
    (MODELS / 'selfie_segmentation.tflite', 256 * 256 * 3, 1),
    (MODELS / 'face_detection_full_range_sparse.tflite', 192 * 192 * 3, 46),
]
DEVICE = {'intel_openvino': 'graph.-1.graph_backend = 0\n'}  # OpenVINO's CPU device
# Without it the device computes with bfloat16 where the CPU has it.
FLOAT32 = {'ONEDNN_MAX_CPU_ISA': 'AVX2'}


class LitertVendorTest(unittest.TestCase):

    def run_vendor(self, vendor, model, elements, **job):
        options = {COMPILER_FOLDER: str(VENDORS / vendor / 'compiler'), DISPATCH_FOLDER: str(VENDORS / vendor / 'dispatch')}
        draw = random.Random(1)
        inputs = [[draw.uniform(0, 1) for _ in range(elements)]]
        plain = run_model(LIBRARY, model, inputs, accelerators=CPU)
        found = run_model(LIBRARY, model, inputs, accelerators=NPU | CPU, options=options, **job)
        self.assertEqual((found['created'], found.get('run')), ('Ok', 'Ok'), found['log'][-2000:])
        return plain['outputs'][0], found

    def test_intel_compiles_and_runs_models(self):
        for model, elements, on_cpu in INTEL + (MIXED if IS_OURS else []):
            if not model.exists():
                continue
            with self.subTest(model=model.name):
                expected, found = self.run_vendor('intel_openvino', model, elements, opaque=DEVICE, env=FLOAT32)
                self.assertEqual(found['full'], on_cpu == 0)
                if IS_OURS:
                    self.assertRegex(found['log'], r"compiler plug-in 'IntelOpenVINO' .* has compiled \d+ of \d+ operators")
                for values, wanted in zip(found['outputs'][0], expected):
                    largest = max(map(abs, wanted))
                    difference = max(abs(a - b) for a, b in zip(values, wanted))
                    self.assertTrue(math.isfinite(difference) and difference <= 1e-3 * largest, f'{difference} of {largest}')

    # Without their software these vendors' plug-ins say so, and the CPU runs the model.
    def test_other_vendors_refuse_in_words(self):
        if not IS_OURS:
            self.skipTest('texts of Deputy')
        for vendor, reason in (
            ('google_tensor', "compiler plug-in 'Google' .*: LiteRtCompilerPluginPartition failed: kLiteRtStatusErrorRuntimeFailure"),
            ('mediatek', "compiler plug-in 'MediaTek' .*: LiteRtCompilerPluginPartition failed: kLiteRtStatusErrorDynamicLoading"),
            ('qualcomm', 'libLiteRtCompilerPlugin_Qualcomm.so is left out: libQnn.*: cannot open shared object file'),
            ('samsung', 'libLiteRtCompilerPlugin_Samsung.so is left out: .*undefined symbol'),
        ):
            with self.subTest(vendor=vendor):
                expected, found = self.run_vendor(vendor, DIGITS, 784)
                self.assertFalse(found['full'])
                self.assertEqual(found['outputs'][0], expected)
                self.assertRegex(found['log'], reason)


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    IS_OURS = 'DEPUTY_LITERT_LIBRARY' not in os.environ
    LIBRARY = pathlib.Path(os.environ.get('DEPUTY_LITERT_LIBRARY') or BUILD / 'drop-in/libLiteRt.so')
    VENDORS = pathlib.Path(os.environ.get('DEPUTY_LITERT_VENDORS', ''))
    if not LIBRARY.exists() or not (VENDORS / 'intel_openvino').exists():
        print('skipped: libLiteRt.so is not built, or DEPUTY_LITERT_VENDORS does not name the vendors of ai-edge-litert')
        sys.exit(SKIPPED)
    start_again_with_runtime(LIBRARY)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
