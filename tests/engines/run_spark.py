#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests deputy.spark on two local cores: equal results, killed workers, dead letters, processor time per image."""
import math
import os
import sys

from engine_support import MODEL, Log, LoggingReader, Stopwatch, check, check_rows, classify, crashing_delegate, \
    measure_plain, parse, paths_of_images, plain_loop, report

from deputy.spark import mapper, report_accumulator
from pyspark.sql import SparkSession

BATCH, BATCHES_PER_TASK, WORKERS = 64, 2, 2


def start():
    """Returns a session with two cores, in which a task may fail three times."""
    os.environ['PYSPARK_PYTHON'] = sys.executable
    settings = {'spark.ui.enabled': 'false', 'spark.driver.memory': '1g', 'spark.driver.host': '127.0.0.1',
                'spark.driver.bindAddress': '127.0.0.1', 'spark.ui.showConsoleProgress': 'false',
                'spark.sql.execution.arrow.maxRecordsPerBatch': str(BATCH)}
    builder = SparkSession.builder.master(f'local[{WORKERS},4]')
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel('OFF')
    return session


def run(session, paths, log, **options):
    """Returns the rows and the merged report."""
    # Spark runs the tasks of a killed worker again.
    tasks = math.ceil(len(paths) / (BATCH * BATCHES_PER_TASK))
    table = session.createDataFrame(session.sparkContext.parallelize([(path,) for path in paths], tasks), 'path string')
    total = report_accumulator(session.sparkContext)
    model = mapper(MODEL, columns='path', keep=['path'], read=LoggingReader(log.folder), finish=classify, reports=total,
                   **options)
    rows = table.mapInPandas(model, model.schema(table)).collect()
    return [(row['path'], row['bits'], row['error']) for row in rows], total.value


def check_run(session, paths, expected, log, **options):
    rows, total = run(session, paths, log, **options)
    check_rows(rows, expected, paths)
    check((total.items, total.failed) == (len(paths), len(paths) - len(expected)), f'report: {total}')
    check(len(log.lines()) == len(paths), f'{len(log.lines())} images were read')
    return total


def check_kill(session, paths, expected, folder):
    log = Log(folder)
    killed = log.kill_one_at(len(paths) // 3)
    watch = Stopwatch()
    rows, _ = run(session, paths, log)
    wall, _ = watch.read()
    check_rows(rows, expected, paths)
    again = len(log.lines()) - len(set(log.lines()))
    check(killed, 'no worker was killed')
    check(again <= BATCH * BATCHES_PER_TASK, f'{again} images ran again')
    print(f'spark: a killed worker: {wall:.1f} s, {again} images ran again', flush=True)


def check_crashes(session, paths, folder, delegate):
    """A delegate in the worker's process ends workers; the engine starts others."""
    log = Log(folder)
    rows, _ = run(session, paths, log, delegates=[delegate])
    check_rows(rows, plain_loop(paths, delegate[0]), paths)
    again, crashes = len(log.lines()) - len(set(log.lines())), len(log.names()) - WORKERS
    check((crashes > 0 or len(paths) < 2000) and again <= crashes * BATCH * BATCHES_PER_TASK, f'{crashes} crashes, {again} images ran again')
    print(f'spark: {crashes} workers ended by a delegate: {again} images ran again', flush=True)


def main():
    arguments = parse(__doc__)
    paths = paths_of_images(arguments.work, arguments.images)
    expected = measure_plain('spark', paths)
    few = paths[:max(len(paths) // 10, 1)]
    few_expected = {path: expected[path] for path in few if path in expected}
    folder = arguments.work / 'spark'

    session = start()
    watch = Stopwatch()
    check_run(session, few, few_expected, Log(folder))
    few_wall, few_cpu = watch.read()
    watch = Stopwatch()
    total = check_run(session, paths, expected, Log(folder))
    wall, cpu = watch.read()
    report('spark', 'table with its start', len(paths), wall, cpu)
    report('spark', 'table without its start', len(paths) - len(few), wall - few_wall, cpu - few_cpu)
    print(f'spark: in the workers: {(total.read_seconds + total.run_seconds) / len(paths) * 1e3:.3f} ms per image')

    for _ in range(arguments.kills):
        check_kill(session, paths, expected, folder)
    check_crashes(session, paths, folder, crashing_delegate(arguments.build))
    total = check_run(session, few, few_expected, Log(folder), delegates=['cpu'], isolate=True, verification='first')
    check(total.node_runs.get('sandbox') and total.verified and not total.wrong, f'report with a delegate: {total}')
    session.stop()
    print('spark: ok')


if __name__ == '__main__':
    main()
