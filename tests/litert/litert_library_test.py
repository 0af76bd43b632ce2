#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Deputy's libLiteRt.so with the behaviour of the original.

    litert_library_test.py BUILD_FOLDER

docs/litert/behaviour.csv has what the original returned, docs/litert/differences.csv what Deputy's library returns
instead, with the reason. A difference that does not occur any more is an error, too.
"""

import ctypes
import os
import pathlib
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'build/release').resolve()
os.environ['DEPUTY_LITERT_LIBRARY'] = str(BUILD / 'drop-in/libLiteRt.so')

# The modules read the variable.
import litert_behaviour_test as behaviour  # noqa: E402
from litert_calls import CALLBACK, DIGITS, LIBRARY, MASK, ROPE, Recorder, in_child, rows_of  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77
# Topics that call functions which the library does not have yet; their rows until then are compared.
INCOMPLETE = {'dispatch', 'table'}


def measure(name, function):
    """Returns the rows of a topic as {(function, call): observed}."""

    def run():
        record = Recorder()
        record.no_destructor = CALLBACK(lambda _: None)
        try:
            function(record)
        except (AttributeError, ValueError) as error:
            if name not in INCOMPLETE or 'undefined symbol' not in str(error):
                raise
        return record.rows

    rows, signal = in_child(run)
    if rows is None:
        raise AssertionError(f'topic {name}: ended by signal {signal}')
    return {(function, call): observed for function, call, observed in rows}


class LitertLibraryTest(unittest.TestCase):

    maxDiff = None

    def test_behaviour_is_that_of_the_original(self):
        recorded = {(row['function'], row['call']): row['observed'] for row in rows_of('behaviour.csv')}
        differences = {(row['function'], row['call']): row['observed'] for row in rows_of('differences.csv')}
        self.assertLessEqual(set(differences), set(recorded))
        count = 0
        for name, function in behaviour.topics().items():
            for key, observed in measure(name, function).items():
                with self.subTest(function=key[0], call=key[1]):
                    count += 1
                    if recorded[key].startswith('crash') and key not in differences:
                        self.assertNotIn('crash', observed)
                        continue
                    self.assertEqual(observed, differences.get(key, recorded[key]))
                    if key in differences:
                        self.assertNotEqual(observed, recorded[key], 'the row of differences.csv is out of date')
        self.assertGreater(count, 400)

    # docs/litert/support.csv lists the exports of the original: "works", "refused" and "absent" ones.
    def test_support_table_has_the_exports(self):
        library = ctypes.CDLL(LIBRARY)
        wanted = {row['function'] for row in rows_of('functions.csv') if row['exported_by_wheel'] != 'no'}
        states = {row['function']: row['state'] for row in rows_of('support.csv')}
        self.assertEqual(set(states), wanted)
        for name, state in states.items():
            with self.subTest(function=name):
                self.assertIn(state, ('works', 'refused', 'absent'))
                self.assertEqual(hasattr(library, name), state != 'absent')

    def test_unknown_options_are_reported(self):
        library = ctypes.CDLL(LIBRARY)
        options, opaque = ctypes.c_void_p(), ctypes.c_void_p()
        text = ctypes.create_string_buffer(b'num_threads = 2\nnum_treads = 3\n')
        nothing = CALLBACK(lambda _: None)

        def run():
            environment, model, compiled = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
            read, write = os.pipe()
            os.dup2(write, 2)
            os.close(write)
            library.LiteRtCreateEnvironment(0, None, ctypes.byref(environment))
            library.LiteRtCreateModelFromFile(environment, str(DIGITS).encode(), ctypes.byref(model))
            library.LiteRtCreateOptions(ctypes.byref(options))
            library.LiteRtSetOptionsHardwareAccelerators(options, 1)
            library.LiteRtCreateOpaqueOptions(b'xnnpack', text, nothing, ctypes.byref(opaque))
            library.LiteRtAddOpaqueOptions(options, opaque)
            status = library.LiteRtCreateCompiledModel(environment, model, options, ctypes.byref(compiled))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            return [status, os.read(read, 4096).decode()]

        (status, log), _ = in_child(run)
        self.assertEqual(status, 0)
        self.assertIn("options 'xnnpack': unknown key in the line 'num_treads = 3', which has no effect", log)

    def test_a_model_that_cannot_be_read_has_the_reason_in_its_message(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        empty = pathlib.Path(folder.name) / 'empty.tflite'
        empty.touch()
        cases = {
            f'{folder.name}/absent.tflite': 'No such file or directory',
            folder.name: 'not a regular file',
            str(empty): 'the file is empty',
        }
        for path, reason in cases.items():
            with self.subTest(path):

                def run(path=path):
                    library = ctypes.CDLL(LIBRARY)
                    read, write = os.pipe()
                    os.dup2(write, 2)
                    os.close(write)
                    status = library.LiteRtCreateModelFromFile(None, path.encode(), ctypes.byref(ctypes.c_void_p()))
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                    return [status, os.read(read, 4096).decode()]

                (status, log), _ = in_child(run)
                self.assertEqual(status, 500)
                self.assertIn(f'model: {path} cannot be read: {reason}', log)


if __name__ == '__main__':
    if not pathlib.Path(LIBRARY).exists():
        print('skipped: libLiteRt.so is not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(pathlib.Path(LIBRARY))
    unittest.main(argv=sys.argv[:1])
