#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests deputy.beam on Beam's local runner: equal results, dead letters, processor time per image."""
import json
import pathlib
import shutil

from engine_support import MODEL, Stopwatch, check, check_rows, classify, measure_plain, parse, paths_of_images, \
    read_image, report

import apache_beam as beam
from apache_beam.ml.inference.base import KeyedModelHandler, RunInference
from deputy.beam import ModelHandler, SplitErrors


def good_row(element):
    path, prediction = element
    return json.dumps([path, prediction.inference['bits'], ''])


def dead_row(element):
    path, prediction = element
    return json.dumps([path, None, str(prediction.inference)])


def run(paths, folder, **options):
    """Returns the rows and the counters."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    handler = KeyedModelHandler(ModelHandler(MODEL, read=read_image, finish=classify, **options))
    pipeline = beam.Pipeline(runner='FnApiRunner')
    results, errors = (pipeline | beam.Create(paths) | beam.Reshuffle() | beam.Map(lambda path: (path, path))
                       | RunInference(handler) | SplitErrors())
    for name, rows, convert in (('good', results, good_row), ('dead', errors, dead_row)):
        rows | f'{name} rows' >> beam.Map(convert) | f'write {name}' >> beam.io.WriteToText(str(folder / name))
    done = pipeline.run()
    done.wait_until_finish()
    counters = {metric.key.metric.name: metric.committed for metric in done.metrics().query()['counters']
                if metric.key.metric.namespace == 'deputy'}
    rows = [json.loads(line) for file in pathlib.Path(folder).iterdir() for line in file.open(encoding='utf-8')]
    return rows, counters


def check_run(paths, expected, folder, **options):
    rows, counters = run(paths, folder, **options)
    check_rows(rows, expected, paths)
    found = {name: counters.get(name) for name in ('items', 'failed', 'num_inferences')}
    check(found == {'items': len(paths), 'failed': len(paths) - len(expected), 'num_inferences': len(paths)},
          f'counters: {counters}')
    return counters


def main():
    arguments = parse(__doc__)
    paths = paths_of_images(arguments.work, arguments.images)
    folder = arguments.work / 'beam'
    expected = measure_plain('beam', paths)
    few = paths[:max(len(paths) // 10, 1)]
    few_expected = {path: expected[path] for path in few if path in expected}

    watch = Stopwatch()
    check_run(few, few_expected, folder)
    few_wall, few_cpu = watch.read()
    watch = Stopwatch()
    counters = check_run(paths, expected, folder)
    wall, cpu = watch.read()
    report('beam', 'pipeline with its start', len(paths), wall, cpu)
    report('beam', 'pipeline without its start', len(paths) - len(few), wall - few_wall, cpu - few_cpu)
    check(counters['node_runs_CPU'] % len(expected) == 0, f'counters: {counters}')

    counters = check_run(few, few_expected, folder, delegates=['cpu'], isolate=True,
                         max_batch_size=16, verification='first')
    check(counters.get('node_runs_sandbox') and counters.get('verified') and not counters.get('wrong'),
          f'counters with a delegate: {counters}')
    check_run(few, few_expected, folder, share_model_across_processes=True)
    print('beam: ok')


if __name__ == '__main__':
    main()
