#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutates the code in one place at a time and checks whether a test fails.

    git worktree add --detach ../mutants && cd ../mutants
    tests/mutate.py named                        the mutations of tests/mutation/breakages.py
    tests/mutate.py random --seed 1 --count 200  small changes, drawn over all sources
    tests/mutate.py report                       the results so far, survivors line by line

The checkout must be clean, because its files are changed; the build is build/mutate in it. Each
mutation is applied, the affected targets are built, the tests that should notice run (the likeliest
first) until one fails, and the file is restored. Results are lines of JSON in --results, by default
next to the checkout. Mutations that have a result are skipped, so that a run may be interrupted at any
time.
"""
import argparse
import collections
import dataclasses
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tests.mutation import breakages, engine, sites  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


def wanted(options):
    """Returns rows of name, mutation and tests; without tests, tests/mutation/selection.py selects them."""
    if options.command == 'named':
        return [(row.name, row.mutation(), row.tests) for row in breakages.BREAKAGES
                if options.only in row.name]
    return [(f'{options.seed}-{i}', mutation, ())
            for i, mutation in enumerate(sites.draw(ROOT, options.seed, options.count))]


def results_of(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()]


def work(options):
    machine = engine.Engine(ROOT, options.jobs, options.test_seconds, options.mutant_seconds)
    machine.prepare()
    done = {row['name'] for row in results_of(options.results)}
    survivors = 0
    for name, mutation, tests in wanted(options):
        if name in done:
            continue
        begin = time.monotonic()
        tests = list(tests) or engine.tests_of(machine, mutation.path)
        verdict, by = machine.judge(mutation, tests)
        survivors += verdict == 'survived'
        row = {'name': name, 'verdict': verdict, 'by': by, **dataclasses.asdict(mutation),
               'seconds': round(time.monotonic() - begin)}
        with open(options.results, 'a', encoding='utf-8') as file:
            file.write(json.dumps(row) + '\n')
        print(f'{verdict:12} {name}: {mutation.path}:{mutation.line} {by}', flush=True)
    return 1 if survivors else 0


def report(options):
    rows = results_of(options.results)
    counts = collections.Counter(row['verdict'] for row in rows)
    for verdict, count in sorted(counts.items()):
        print(f'{count:5} {verdict}')
    compiled = counts['killed'] + counts['survived']
    if compiled:
        print(f'{100 * counts["killed"] / compiled:.1f} % of those that compile are killed')
    for row in rows:
        if row['verdict'] == 'survived':
            print(f'\n{row["name"]}: {row["kind"]}, {row["path"]}:{row["line"]}\n'
                  f'  - {row["before"].strip()}\n  + {row["after"].strip()}')
    return 1 if counts['survived'] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('command', choices=['named', 'random', 'report'])
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('--only', default='', help='named: those with TEXT in their names',
                        metavar='TEXT')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--test-seconds', type=float, default=300,
                        help='a test that takes longer has noticed')
    parser.add_argument('--mutant-seconds', type=float, default=900,
                        help='no more tests of one mutation after that')
    parser.add_argument('--results', type=pathlib.Path, default=ROOT.parent / 'mutations.jsonl')
    options = parser.parse_args()
    try:
        return report(options) if options.command == 'report' else work(options)
    except engine.Refused as refusal:
        print(f'mutate.py: {refusal}', file=sys.stderr)
        return 2


if __name__ == '__main__':
    sys.exit(main())
