#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what functions of a libLiteRt.so return, and compares it with docs/litert/behaviour.csv.

    litert_behaviour_test.py BUILD_FOLDER
    litert_behaviour_test.py BUILD_FOLDER --write

DEPUTY_LITERT_LIBRARY names the library: the one of the wheel ai-edge-litert, whose behaviour the table records, or
Deputy's. Without it the test is skipped. --write replaces the table by what is measured. Argument types come from
docs/litert/functions.csv. Each topic runs in a process of its own, and so does each call that may end the process;
a row whose recorded result is "crash" accepts any result but a crash.
"""

import csv
import sys
import unittest

import litert_buffer_topics
import litert_extension_topics
import litert_model_topics
import litert_run_topics
from litert_calls import CALLBACK, LIBRARY, MASK, ROPE, TABLES, Recorder, in_child, rows_of

SKIPPED = 77
MODULES = (litert_model_topics, litert_buffer_topics, litert_run_topics, litert_extension_topics)


def topics():
    """Returns {name: function} of the functions measure_NAME(r), in the order of the table."""
    return {
        name.removeprefix('measure_'): function
        for module in MODULES
        for name, function in vars(module).items()
        if name.startswith('measure_') and function.__code__.co_argcount == 1
    }


def measure_all():
    """Returns the rows of all topics."""
    rows = []
    for name, function in topics().items():

        def run(function=function):
            record = Recorder()
            record.no_destructor = CALLBACK(lambda _: None)
            function(record)
            return record.rows

        found, signal = in_child(run)
        rows += found if found is not None else [[f'({name})', 'the whole topic', f'crash ({signal})']]
    return rows


class LitertBehaviourTest(unittest.TestCase):

    maxDiff = None

    def test_library_answers_as_the_table_says(self):
        measured = {(function, call): observed for function, call, observed in measure_all()}
        recorded = {(row['function'], row['call']): row['observed'] for row in rows_of('behaviour.csv')}
        if not ROPE.exists():
            recorded = {key: value for key, value in recorded.items() if 'litert_rope' not in key[1]}
        if not MASK.exists():
            recorded = {key: value for key, value in recorded.items() if 'selfie_segmentation' not in key[1]}
        self.assertEqual(sorted(measured), sorted(recorded))
        for key, observed in measured.items():
            with self.subTest(function=key[0], call=key[1]):
                if recorded[key].startswith('crash'):
                    continue
                self.assertEqual(observed, recorded[key])


def main():
    if '--help' in sys.argv:
        print(__doc__)
        return
    if not LIBRARY:
        print('skipped: DEPUTY_LITERT_LIBRARY names no libLiteRt.so')
        sys.exit(SKIPPED)
    if '--write' in sys.argv:
        rows = measure_all()
        with open(TABLES / 'behaviour.csv', 'w', encoding='utf-8', newline='') as file:
            csv.writer(file, lineterminator='\n').writerows([['function', 'call', 'observed'], *rows])
        return
    unittest.main(argv=sys.argv[:1])


if __name__ == '__main__':
    main()
