#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the memory orders of lock-free code by models for spin.

    check_memory_order.py              check the models and that they match the sources
    check_memory_order.py --self-test  check that each rule finds a violation

Each model of tests/core/base/memory_order has lines

    #define NAME ORDER /* path: source text ; path: source text */

for the operations that need an order. The checks are:

- each model holds with these orders;
- each model fails if one order is replaced by the next weaker one;
- each source text exists and its order is not weaker than the model's;
- each acquire, release, acq_rel and seq_cst in the sources is in a model or in STRONGER.

docs/design/memory-order.md describes the models.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = pathlib.Path('tests/core/base/memory_order')
FOLDERS = ('core', 'kernels', 'c_api', 'compiler', 'gpu_cl', 'npu_stub', 'mindspore', 'bridges')
MEMORY = 'weak_memory.pml'

# The bits of the orders in weak_memory.pml.
BITS = {'relaxed': 0, 'acquire': 1, 'release': 2, 'acq_rel': 3, 'seq_cst': 7}
# The operation decides what is weaker than seq_cst.
WEAKER = {'acquire': ('relaxed',), 'release': ('relaxed',), 'acq_rel': ('acquire', 'release')}
WEAKER_THAN_SEQ_CST = {'load': 'acquire', 'store': 'release', 'fetch': 'acq_rel', 'exchange': 'acq_rel'}

# Operations whose order is stronger than their use needs, with the reason for which no model has them.
STRONGER = {
    ('core/base/thread_pool.cc', 'if (owner.load(std::memory_order_acquire) != ProcessId()) return'):
        'the destructor, which no other call may overlap',
    ('core/base/thread_pool.cc', '!owner.compare_exchange_strong(known, kOwnerChanging, std::memory_order_acq_rel)'):
        'thread_pool_fork.pml holds with relaxed',
    ('core/base/thread_pool.cc', 'if (word.compare_exchange_weak(now, then, std::memory_order_acquire, '
                                 'std::memory_order_acquire)) {'):
        'thread_pool_job.pml holds with relaxed in case of success: `now` was loaded with acquire',
    ('core/base/thread_pool.cc', 'stopping.store(true, std::memory_order_seq_cst)'):
        'thread_pool_stop.pml holds with relaxed',
    ('core/base/thread_pool.cc', 'if (idle && !stopping.load(std::memory_order_seq_cst))'):
        'thread_pool_stop.pml holds with relaxed',
    ('core/base/thread_pool.cc', 'while (!stopping.load(std::memory_order_acquire))'):
        'thread_pool_stop.pml holds with relaxed',
}

DEFINITION = re.compile(r'^#define (\w+) (RELAXED|ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)(?: /\* (.*) \*/)?$')
ORDER = re.compile(r'\bmemory_order(?:_|::)(acquire|release|acq_rel|seq_cst)\b')


@dataclasses.dataclass(frozen=True)
class Operation:
    """An order of a model, with the sources that it stands for as pairs of path and text."""
    name: str
    order: str
    sources: tuple


def operations(text):
    """Returns the operations of a model, in its order."""
    found = []
    for line in text.splitlines():
        match = DEFINITION.match(line)
        if match and match[1] not in ('RELAXED', 'ACQUIRE', 'RELEASE', 'ACQ_REL', 'SEQ_CST'):
            parts = [part.strip().partition(': ') for part in (match[3] or '').split(' ; ') if part]
            found.append(Operation(match[1], match[2].lower(), tuple((p[0], p[2]) for p in parts)))
    return found


def weaker_orders(operation):
    """Returns the orders that are one step weaker than the operation's."""
    if operation.order != 'seq_cst':
        return WEAKER[operation.order]
    text = operation.sources[0][1]
    return tuple(order for word, order in WEAKER_THAN_SEQ_CST.items() if f'.{word}' in text)


def joined(text):
    return re.sub(r'\s+', ' ', text)


def order_in(text):
    """Returns the last order that a source text names; an exchange's last one is that of its failure."""
    return ORDER.findall(text)[-1]


def check_sources(root, models):
    """Returns what differs between the models and the sources."""
    errors = []
    texts = {}
    modelled = list(STRONGER)
    for name, model in models.items():
        for operation in operations(model):
            for path, text in operation.sources:
                if path not in texts:
                    texts[path] = joined((root / path).read_text(encoding='utf-8'))
                if text not in texts[path]:
                    errors.append(f'{name}: {operation.name}: {path} has no "{text}"')
                elif BITS[operation.order] & ~BITS[order_in(text)]:
                    errors.append(f'{name}: {operation.name} is {operation.order}, {path} has {order_in(text)}')
                modelled.append((path, text))
    errors += [f'STRONGER: {path} has no "{text}"' for path, text in STRONGER
               if root == ROOT and text not in joined((root / path).read_text(encoding='utf-8'))]
    return errors + unmodelled(root, modelled)


def unmodelled(root, modelled):
    """Returns the orders in the sources that no text of `modelled` contains."""
    errors = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*')):
            if path.suffix not in ('.h', '.cc', '.c', '.inc'):
                continue
            name = str(path.relative_to(root))
            rest = joined(path.read_text(encoding='utf-8'))
            for text in {text for of, text in modelled if of == name}:
                rest = rest.replace(text, '', 1)
            errors += [f'{name}: no model has the order in "{rest[max(0, found.start() - 60):found.end()]}"'
                       for found in ORDER.finditer(rest)]
    return errors


def verify(folder, model, definitions):
    """Runs spin's verifier; returns None if the model holds, else the first error."""
    with tempfile.TemporaryDirectory() as scratch:
        for path in folder.glob('*.pml'):
            shutil.copy(path, scratch)
        flags = [f'-D{name}={order.upper()}' for name, order in definitions.items()]
        for command in (['spin', '-a', *flags, model],
                        ['gcc', '-O1', '-w', '-DSAFETY', '-DMEMLIM=1000', '-o', 'pan', 'pan.c']):
            done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
            if done.returncode != 0 or 'Error' in done.stdout:
                raise SystemExit(f'{" ".join(command)} failed:\n{done.stdout}{done.stderr}')
        done = subprocess.run(['./pan', '-m100000'], cwd=scratch, capture_output=True, text=True, check=False)
        if 'errors: 0' in done.stdout and 'max search depth too small' not in done.stdout:
            return None
        error = re.search(r'^pan:1: (.*)$', done.stdout, re.MULTILINE)
        if error is None:
            raise SystemExit(f'{model}: the verifier did not finish:\n{done.stdout}{done.stderr}')
        return error[1]


def check_models(folder, models):
    """Returns the models that do not hold, and the weaker orders with which they do."""
    runs = []
    for name, text in models.items():
        runs.append((name, {}))
        runs += [(name, {operation.name: order}) for operation in operations(text)
                 for order in weaker_orders(operation)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda run: verify(folder, *run), runs))
    errors = []
    for (name, changed), error in zip(runs, results):
        if error is not None and not changed:
            errors.append(f'{name}: {error}')
        elif error is None and changed:
            (operation, order), = changed.items()
            errors.append(f'{name}: holds although {operation} is only {order}')
    return errors


def models_of(folder):
    return {path.name: path.read_text(encoding='utf-8')
            for path in sorted(folder.glob('*.pml')) if path.name != MEMORY}


PLANTED_MODEL = '''#ifndef PUBLISH
#define PUBLISH RELEASE /* core/a.cc: ready.store(1, std::memory_order_release); */
#endif
#ifndef SEE
#define SEE ACQUIRE /* core/a.cc: ready.load(std::memory_order_acquire); */
#endif
#define THREADS 2
#define READY 0
#define DATA 1
#define LOCATIONS 2
#define COMMITS COMMIT(0, READY) COMMIT(0, DATA)
#include "weak_memory.pml"
active proctype writer() {
  byte other, index;
  store(0, DATA, 1, RELAXED);
  store(0, READY, 1, PUBLISH)
}
active proctype reader() {
  short value;
  byte other, index;
  load(1, READY, SEE, value);
  if
  :: value -> load(1, DATA, RELAXED, value); assert(value == 1)
  :: else
  fi
}
'''
PLANTED_SOURCE = 'ready.store(1, std::memory_order_release);\nready.load(std::memory_order_acquire);\n'


def self_test():
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        (root / 'core').mkdir()
        shutil.copy(ROOT / MODELS / MEMORY, root)
        source = root / 'core/a.cc'

        def errors_with(model, code):
            (root / 'a.pml').write_text(model, encoding='utf-8')
            source.write_text(code, encoding='utf-8')
            return check_sources(root, {'a.pml': model}) + check_models(root, {'a.pml': model})

        assert not errors_with(PLANTED_MODEL, PLANTED_SOURCE)
        weak = PLANTED_SOURCE.replace('order_acquire', 'order_relaxed')
        assert 'has no' in errors_with(PLANTED_MODEL, weak)[0]
        more = PLANTED_SOURCE + 'other.store(1, std::memory_order_seq_cst);\n'
        assert 'no model has' in errors_with(PLANTED_MODEL, more)[0]
        twice = PLANTED_SOURCE + PLANTED_SOURCE.splitlines()[0] + '\n'
        assert 'no model has' in errors_with(PLANTED_MODEL, twice)[0]
        scoped = PLANTED_SOURCE + 'other.store(1, std::memory_order::seq_cst);\n'
        assert 'no model has' in errors_with(PLANTED_MODEL, scoped)[0]
        lenient = PLANTED_MODEL.replace('assert(value == 1)', 'true')
        assert [error for error in errors_with(lenient, PLANTED_SOURCE) if 'only relaxed' in error]
        wrong = PLANTED_MODEL.replace('assert(value == 1)', 'assert(value == 2)')
        assert 'assertion violated' in errors_with(wrong, PLANTED_SOURCE)[0]
        too_strong = PLANTED_MODEL.replace('SEE ACQUIRE', 'SEE SEQ_CST')
        assert 'is seq_cst' in errors_with(too_strong, PLANTED_SOURCE)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--self-test', action='store_true', help='check that each rule finds a violation')
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    models = models_of(ROOT / MODELS)
    errors = check_sources(ROOT, models) + check_models(ROOT / MODELS, models)
    for error in errors:
        print(error)
    if not errors:
        print(f'memory orders: ok ({len(models)} models)')
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
