#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests deputy.ray on a local Ray cluster: equal results, killed workers, dead letters, processor time per image."""
import math
import os

from engine_support import MODEL, Log, LoggingReader, Stopwatch, check, check_rows, classify, crashing_delegate, \
    measure_plain, parse, paths_of_images, plain_loop, report

import ray
from deputy.ray import Predictor, report_collector

# Images per batch; Ray's own work per batch is 5 to 10 ms of processor time.
BATCH = 512
# The delegate of check_crashes ends its process after 500 images, so its blocks are smaller.
SMALL_BATCH = 64
BATCHES_PER_BLOCK, WORKERS = 2, 2


def batch_of(paths):
    """Returns a batch for which every worker gets several blocks."""
    return min(max(len(paths) // (4 * WORKERS * BATCHES_PER_BLOCK), 1), BATCH)


def run(paths, log, batch=BATCH, **options):
    """Returns the rows and the merged report."""
    # Ray runs the blocks of a killed worker again.
    blocks = math.ceil(len(paths) / (batch * BATCHES_PER_BLOCK))
    collector = report_collector()
    found = ray.data.from_items([{'path': path} for path in paths], override_num_blocks=blocks).map_batches(
        Predictor, fn_constructor_args=(MODEL,),
        fn_constructor_kwargs={'columns': 'path', 'read': LoggingReader(log.folder), 'finish': classify,
                               'reports': collector, **options},
        batch_size=batch, num_cpus=1, compute=ray.data.ActorPoolStrategy(size=WORKERS)).take_all()
    return ([(row['path'], row['bits'], row['error']) for row in found], ray.get(collector.total.remote()))


def check_run(paths, expected, log, **options):
    rows, total = run(paths, log, **options)
    check_rows(rows, expected, paths)
    check((total.items, total.failed) == (len(paths), len(paths) - len(expected)), f'report: {total}')
    check(len(log.lines()) == len(paths), f'{len(log.lines())} images were read')
    check(sum(total.workers.values()) == len(paths) and len(total.workers) <= WORKERS, f'workers: {total.workers}')
    return total


def check_kill(paths, expected, folder):
    log = Log(folder)
    killed = log.kill_one_at(len(paths) // 3)
    watch = Stopwatch()
    batch = batch_of(paths)
    rows, _ = run(paths, log, batch)
    wall, _ = watch.read()
    check_rows(rows, expected, paths)
    again = len(log.lines()) - len(set(log.lines()))
    check(killed and len(log.names()) == WORKERS + 1, f'killed {killed}, processes {log.names()}')
    check(again <= batch * BATCHES_PER_BLOCK, f'{again} images ran again')
    print(f'ray: a killed worker: {wall:.1f} s, {again} images of batches of {batch} ran again', flush=True)


def check_crashes(paths, folder, delegate):
    """A delegate in the worker's process ends workers; the engine starts others."""
    log = Log(folder)
    batch = min(batch_of(paths), SMALL_BATCH)
    rows, _ = run(paths, log, batch, delegates=[delegate])
    check_rows(rows, plain_loop(paths, delegate[0]), paths)
    again, crashes = len(log.lines()) - len(set(log.lines())), len(log.names()) - WORKERS
    check((crashes > 0 or len(paths) < 2000) and again <= crashes * batch * BATCHES_PER_BLOCK, f'{crashes} crashes, {again} images ran again')
    print(f'ray: {crashes} workers ended by a delegate: {again} images ran again', flush=True)


def main():
    arguments = parse(__doc__)
    paths = paths_of_images(arguments.work, arguments.images)
    expected = measure_plain('ray', paths)
    few = paths[:max(len(paths) // 10, 1)]
    few_expected = {path: expected[path] for path in few if path in expected}
    folder = arguments.work / 'ray'

    # By default Ray gives its workers a low priority, so that other load stops them.
    os.environ.setdefault('RAY_worker_niceness', '0')
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, object_store_memory=300 << 20)
    watch = Stopwatch()
    check_run(few, few_expected, Log(folder))
    few_wall, few_cpu = watch.read()
    watch = Stopwatch()
    total = check_run(paths, expected, Log(folder))
    wall, cpu = watch.read()
    report('ray', 'dataset with its start', len(paths), wall, cpu)
    report('ray', 'dataset without its start', len(paths) - len(few), wall - few_wall, cpu - few_cpu)
    print(f'ray: in the workers: {(total.read_seconds + total.run_seconds) / len(paths) * 1e3:.3f} ms per image')

    for _ in range(arguments.kills):
        check_kill(paths, expected, folder)
    check_crashes(paths, folder, crashing_delegate(arguments.build))
    total = check_run(few, few_expected, Log(folder), delegates=['cpu'], isolate=True, verification='first')
    check(total.node_runs.get('sandbox') and total.verified and not total.wrong, f'report with a delegate: {total}')
    ray.shutdown()
    print('ray: ok')


if __name__ == '__main__':
    main()
