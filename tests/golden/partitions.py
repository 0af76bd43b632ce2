#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/partitions.jsonl: the partitions that TensorFlow Lite makes of claimed nodes.

    venv/bin/python tests/golden/partitions.py BUILD_FOLDER

Each line holds a model of this repository, the nodes that a delegate (tests/plugins/mask.c) claims in
their order, the plan before and after, and each partition's nodes, inputs and outputs, in the order in
which the kernels were created. tests/agreement/partitions_golden_test.cc compares them.
"""
import json
import pathlib
import random
import sys
import tempfile

try:
    from ai_edge_litert import interpreter as litert
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is missing: see tools/requirements-golden.txt')

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = {'examples/digits/digits_float.tflite': 16, 'examples/digits/digits_int8.tflite': 16}
DRAWS = 60


def logged(library, model, claimed):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, 'log')
        delegate = litert.load_delegate(str(library), {'log': str(log),
                                                       'nodes': ','.join(map(str, claimed))})
        kind = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        litert.Interpreter(model_path=str(ROOT / model), experimental_delegates=[delegate],
                           experimental_op_resolver_type=kind)
        return [line.split() for line in log.read_text(encoding='utf-8').splitlines()]


def case(library, model, claimed):
    row = {'model': model, 'claimed': claimed, 'partitions': []}
    for word, *numbers in logged(library, model, claimed):
        numbers = [int(number) for number in numbers]
        if word in ('before', 'after'):
            row[f'plan_{word}'] = numbers
        elif word == 'nodes':
            row['partitions'].append({'nodes': numbers})
        else:
            row['partitions'][-1][word] = numbers
    return row


def main():
    library = pathlib.Path(sys.argv[1], 'tests', 'plugins', 'libmask.so').resolve()
    chance = random.Random(38)
    lines = []
    for model, count in MODELS.items():
        for _ in range(DRAWS):
            claimed = sorted(chance.sample(range(count), chance.randint(1, count)))
            if chance.random() < 0.3:
                chance.shuffle(claimed)
            lines.append(json.dumps(case(library, model, claimed), separators=(',', ':')))
    text = '\n'.join(lines) + '\n'
    (ROOT / 'tests' / 'data' / 'partitions.jsonl').write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main()
