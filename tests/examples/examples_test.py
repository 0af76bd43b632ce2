#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the examples work as documented: `classify` (C, dlopen) and `classify.py` (ctypes) print the
same bytes for the images of the examples and classify nearly all of them correctly, with the drop-in and
with libdeputy, as does `classify_cpp` (TensorFlow Lite's C++ API); `link_client`, linked with
-ltensorflowlite_c, runs; `conv_mean_delegate` and `mindspore_delegate` (and its plug-in) claim their nodes
and compute the CPU's results; invalid input is refused with a message.

    examples_test.py BUILD_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / 'examples/digits'
IMAGES = sorted((DIGITS / 'images').glob('*.png'))
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
DROP_IN = BUILD / 'drop-in/libtensorflowlite_c.so'
LIBDEPUTY = BUILD / 'libdeputy.so.1'
CLASSIFY_C = [BUILD / 'examples/classify']
CLASSIFY_PYTHON = [sys.executable, ROOT / 'examples/classify.py']
# Python is built without a sanitizer, so it cannot open a library that is built with one.
SANITIZED = 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
PROGRAMS = [CLASSIFY_C] if SANITIZED else [CLASSIFY_C, CLASSIFY_PYTHON]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)


def classify(program, library, model, image_files):
    return run(*program, library, DIGITS / model, DIGITS / 'labels.txt', *image_files)


class ExamplesTest(unittest.TestCase):

    def lines_of(self, program, library, model, image_files):
        done = classify(program, library, model, image_files)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def test_c_and_python_print_the_same_correct_results(self):
        self.assertGreaterEqual(len(IMAGES), 100)
        for model in ('digits_float.tflite', 'digits_int8.tflite'):
            with self.subTest(model=model):
                from_c = self.lines_of(CLASSIFY_C, DROP_IN, model, IMAGES)
                for program in PROGRAMS[1:]:
                    self.assertEqual(self.lines_of(program, DROP_IN, model, IMAGES), from_c)
                lines = [line.split() for line in from_c.decode().splitlines()]
                self.assertEqual([name for name, _, _ in lines], [file.name for file in IMAGES])
                # The file name contains the label: <index>_<label>.png.
                right = sum(name.split('_')[1] == f'{label}.png' for name, label, _ in lines)
                self.assertGreaterEqual(right, 0.96 * len(IMAGES))

    def test_libdeputy_has_the_results_of_the_drop_in(self):
        image_files = IMAGES[:20]
        for program in PROGRAMS:
            self.assertEqual(
                self.lines_of(program, LIBDEPUTY, 'digits_int8.tflite', image_files),
                self.lines_of(program, DROP_IN, 'digits_int8.tflite', image_files))

    def test_cpp_program_prints_what_the_c_program_prints(self):
        program = BUILD / 'examples/classify_cpp'
        for model in ('digits_float.tflite', 'digits_int8.tflite'):
            with self.subTest(model=model):
                done = run(program, DIGITS / model, DIGITS / 'labels.txt', *IMAGES)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.assertEqual(done.stdout, self.lines_of(CLASSIFY_C, LIBDEPUTY, model, IMAGES))
        for model, labels, picture in (('labels.txt', 'labels.txt', IMAGES[0]),
                                       ('digits_float.tflite', 'labels.txt', DIGITS / 'labels.txt'),
                                       ('digits_float.tflite', 'digits_float.tflite', IMAGES[0])):
            done = run(program, DIGITS / model, DIGITS / labels, picture)
            self.assertEqual(done.returncode, 1)
            self.assertNotEqual(done.stderr, b'')

    def test_linked_client_runs(self):
        done = run(BUILD / 'examples/link_client', DIGITS / 'digits_float.tflite')
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[0], 'TensorFlow Lite 2.19.0')
        self.assertRegex(lines[1], r'^input \S+ FLOAT32 \[1, 28, 28, 1\]$')
        self.assertRegex(lines[2], r'^output \S+ FLOAT32 \[1, 10\]$')

    def conv_mean(self, *arguments):
        done = run(BUILD / 'examples/conv_mean_delegate', *arguments)
        self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())
        return done.stdout.decode().splitlines()

    def test_conv_mean_delegate_replaces_the_nodes_of_the_documented_graph(self):
        graph = ['before: 0 Conv2D -> 1 Logistic -> 2 Conv2D -> 3 Mean -> 4 Softmax',
                 'after: 5 MyDelegate -> 1 Logistic -> 6 MyDelegate -> 4 Softmax']
        by_hand = self.conv_mean(ROOT / 'examples/conv_mean.tflite')
        self.assertEqual(by_hand[:2], graph)
        self.assertEqual(by_hand[2], 'MyDelegate computed 3 nodes')
        self.assertRegex(by_hand[3], r'^outputs agree \(largest difference [0-9.e-]+\)$')
        with_helper = self.conv_mean('--helper', ROOT / 'examples/conv_mean.tflite')
        self.assertEqual(with_helper[1:4], ['node 1 stays: neither CONV_2D nor MEAN',
                                            'node 4 stays: neither CONV_2D nor MEAN',
                                            '3 of 5 nodes in 2 partitions'])
        self.assertEqual([line for line in with_helper if line not in with_helper[1:4]], by_hand)

    def test_conv_mean_delegate_claims_the_convolutions_of_a_real_model(self):
        lines = self.conv_mean(DIGITS / 'digits_float.tflite')
        self.assertEqual(lines[0].count(' Conv2D'), 5)
        self.assertEqual(lines[1].count(' MyDelegate'), 5)
        self.assertNotIn(' Conv2D', lines[1])
        self.assertEqual(lines[2], 'MyDelegate computed 5 nodes')
        done = run(BUILD / 'examples/conv_mean_delegate', DIGITS / 'digits_int8.tflite')
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'float32', done.stderr)

    def test_mindspore_delegate_claims_every_run(self):
        conv = 'Conv2DFusion-op'
        expected = {
            'examples/conv_mean.tflite':
                'NpuGraph0 Activation-op1 NpuGraph1 ReduceFusion-op3 Softmax-op4',
            'examples/digits/digits_float.tflite':
                f'NpuGraph0 MaxPoolFusion-op1 {conv}2 NpuGraph1 {conv}4 NpuGraph2 {conv}7 NpuGraph3 '
                f'{conv}9 NpuGraph4 AvgPoolFusion-op12 FullConnection-op13 FullConnection-op14 '
                'Softmax-op15',
        }
        for model, kernels in expected.items():
            done = run(BUILD / 'examples/mindspore_delegate', ROOT / model)
            self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())
            lines = done.stdout.decode().splitlines()
            self.assertEqual(lines[1], f'with the delegate: {kernels}')
            self.assertRegex(lines[2], r'^largest difference: [0-9.e-]+$')
        self.assertEqual(run(BUILD / 'examples/mindspore_delegate', DIGITS / 'labels.txt').returncode,
                         1)

    def test_mindspore_2x_reads_its_configuration_and_runs_its_delegate(self):
        program = BUILD / 'examples/mindspore_2x'
        model = ROOT / 'examples/conv_mean.tflite'
        plain = run(program, model)
        self.assertEqual(plain.returncode, 0, plain.stderr.decode())
        lines = plain.stdout.decode().splitlines()
        self.assertIn('API of MindSpore Lite 2.7', lines[0])
        self.assertEqual(lines[1], 'kernels of the delegate: 1')
        self.assertEqual([round(float(value), 3) for value in lines[2].split()[1:]],
                         [0.183, 0.207, 0.174, 0.168])  # the CPU's results
        self.assertEqual(lines[3].split(), ['cat', 'dog'])
        with tempfile.NamedTemporaryFile('w', suffix='.ini') as file:
            file.write('[example]\nverbose = true\n')
            file.flush()
            verbose = run(program, model, file.name)
            self.assertIn(b'Softmax of the example: ', verbose.stdout)
            file.write('no equals sign\n')
            file.flush()
            wrong = run(program, model, file.name)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn(b'line 3', wrong.stderr)

    def test_mindspore_plugin_is_a_delegate_for_the_command(self):
        plugin = BUILD / 'examples/libmindspore_plugin.so'
        model = DIGITS / 'digits_float.tflite'
        done = run(BUILD / 'deputy', 'explain', model, '--delegate', plugin, '--json')
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        report = json.loads(done.stdout)
        self.assertEqual(report['delegates'][0]['name'], 'mindspore_npu')
        nodes = report['subgraphs'][0]['nodes']
        self.assertEqual([node['index'] for node in nodes if node['owner'] == 0],
                         [0, 3, 5, 6, 8, 10, 11])
        self.assertEqual({node['operator']: node['support'][0]['text'] for node in nodes
                          if node['owner'] == -1}['SOFTMAX'],
                         'only convolutions, additions and RELUs')
        done = run(BUILD / 'deputy', 'run', model, '--random', '--delegate',
                   f'{plugin},frequency=5')
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"option 'frequency': expected 1 to 4, found 5", done.stderr)

    def test_softmax_delegate_claims_the_softmax_of_a_real_model(self):
        plugin = BUILD / 'examples/libsoftmax_delegate.so'
        model = DIGITS / 'digits_float.tflite'
        done = run(BUILD / 'deputy', 'explain', model, '--delegate', plugin, '--json')
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        nodes = [node for node in json.loads(done.stdout)['subgraphs'][0]['nodes']
                 if node['owner'] >= 0]
        self.assertEqual([node['operator'] for node in nodes], ['SOFTMAX'])
        images = ['--image', IMAGES[0], '--labels', DIGITS / 'labels.txt']
        alone = run(BUILD / 'deputy', 'run', model, *images)
        delegated = run(BUILD / 'deputy', 'run', model, *images, '--delegate', plugin)
        self.assertEqual(delegated.returncode, 0, delegated.stderr.decode())
        self.assertEqual(delegated.stdout, alone.stdout)

    def test_wrong_input_is_refused_with_a_message(self):
        for program in PROGRAMS:
            for model, image in (('labels.txt', IMAGES[0]),
                                 ('digits_float.tflite', DIGITS / 'labels.txt')):
                done = classify(program, DROP_IN, model, [image])
                self.assertNotEqual(done.returncode, 0)
                self.assertGreater(done.returncode, 0, 'killed by a signal')
                self.assertNotEqual(done.stderr, b'')


if __name__ == '__main__':
    unittest.main(verbosity=2)
