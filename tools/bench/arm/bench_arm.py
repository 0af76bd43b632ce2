#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions, bytes and estimated cycles of an inference on AArch64, in Deputy and LiteRT.

    bench_arm.py --build BUILD --root ROOT [--litert SITE] [--json FILE] MODEL...

BUILD contains libdeputy.so for AArch64 (docs/arm.md), ROOT an arm64 Debian (tools/arm_root.sh), SITE the
Python packages ai_edge_litert and numpy for AArch64. MODEL is a .tflite file or a directory of them.

The programs run in QEMU's user mode. The counts of one inference are the difference between runs with
more and fewer inferences, so that loading, preparation and the first inferences are not included.
"""
import argparse
import json
import math
import pathlib
import sys

import cycles
import emulator
import functions
import instructions

FEWER, MORE = 2, 3
COLUMNS = ('instructions', 'bytes', 'cycles')
# Largest relative difference between mean magnitudes of outputs that count as equal.
TOLERANCE = 0.05


class Engine:
    """Runs inferences of one library in the emulator."""

    def __init__(self, name, command, environment, library=None):
        self.name, self._command, self._environment = name, command, environment
        self.library = library  # for the counts of functions

    def profile(self, plugin, prefix, cpu, model):
        """Returns the profile of one inference and the mean magnitudes of the outputs."""
        profiles = []
        for inferences in (FEWER, MORE):
            command = [*self._command, model.resolve(), inferences]
            profile, output = emulator.count(plugin, prefix, cpu.emulated, command, self._environment)
            profiles.append(profile)
        values = [float(line) for line in output.split()]
        return instructions.difference(profiles[1], profiles[0], MORE - FEWER), values


def deputy_engine(work, build, precision='float32'):
    """Compiles infer.c and returns the engine of libdeputy, with this value of DEPUTY_PRECISION."""
    library = build / 'libdeputy.so'
    if not library.exists():
        raise RuntimeError(f'{library} does not exist: build the target deputy for AArch64 first')
    program = emulator.build_program(emulator.FOLDER / 'infer.c', work / 'infer', f'-I{build / "include"}',
                                     library, '-lm', f'-Wl,-rpath,{build.resolve()}')
    return Engine('deputy', [program], {'DEPUTY_PRECISION': precision}, functions.Library.open(library))


def litert_engine(root, site):
    """Returns the engine of LiteRT's Python package in the Python of the arm64 root."""
    python = root.resolve() / 'usr' / 'bin' / 'python3.11'
    environment = {'PYTHONHOME': str(root.resolve() / 'usr'), 'PYTHONPATH': str(site.resolve()),
                   'PYTHONHASHSEED': '0', 'PYTHONDONTWRITEBYTECODE': '1', 'OPENBLAS_NUM_THREADS': '1'}
    return Engine('litert', [python, emulator.FOLDER / 'infer_litert.py'], environment)


def measure(engine, plugin, prefix, cpu, model, arguments):
    """Returns the counts of one inference; on failure, a dictionary with the reason."""
    try:
        profile, values = engine.profile(plugin, prefix, cpu, model)
    except RuntimeError as error:
        return {'error': str(error)}
    texts = instructions.disassemble({word for words in profile for word in words})
    counts = instructions.summarize(profile, texts)
    counts['outputs'] = values
    if cpu.simulated:
        counts['cycles'] = cycles.estimate(profile, texts, cpu.simulated)
    print_hot(f'{model.stem}, {engine.name}', profile, texts, arguments.hot)
    if engine.library and arguments.functions:
        counts['functions'] = functions.by_function(profile, engine.library)[:arguments.functions]
        print(''.join(f'{count / 1e6:10.3f} M  {name}\n' for name, count in counts['functions']))
    return counts


def print_hot(title, profile, texts, count):
    """Prints the blocks with the most executed instructions."""
    blocks, _ = cycles.hot_blocks(profile)
    total = instructions.total(profile)
    for words, executions in blocks[:count]:
        print(f'{title}: {len(words) * executions / total:.1%}, '
              f'{executions:.0f} executions of {len(words)} instructions')
        print(''.join(f'    {texts[word]}\n' for word in words))


def outputs_agree(deputy, litert):
    """Returns True if the mean magnitudes of all outputs are equal within the tolerance."""
    return len(deputy) == len(litert) and all(
        math.isclose(ours, other, rel_tol=TOLERANCE, abs_tol=1e-6) for ours, other in zip(deputy, litert))


def ratios(row):
    """Returns Deputy's counts relative to LiteRT's."""
    deputy, litert = row['deputy'], row.get('litert', {})
    return {name: deputy[name] / litert[name] for name in COLUMNS if deputy.get(name) and litert.get(name)}


def geometric_means(rows):
    """Returns {(cpu, column): geometric mean of the ratios}."""
    values = {}
    for row in rows:
        for name, ratio in ratios(row).items():
            values.setdefault((row['cpu'], name), []).append(ratio)
    return {key: math.exp(sum(map(math.log, group)) / len(group)) for key, group in values.items()}


def _cell(count):
    return f'{count / 1e6:.2f}' if count else '–'


def table(rows):
    """Returns the rows as a table in Markdown: millions per inference in Deputy and in LiteRT, and their ratio."""
    lines = ['| model | processor | instructions | LiteRT | ratio | bytes | LiteRT | ratio | cycles | LiteRT | ratio |',
             '|---|---|' + '--:|' * 9]
    for row in rows:
        cells, quotients = [row['model'], row['cpu']], ratios(row)
        for name in COLUMNS:
            quotient = f'{quotients[name]:.2f}' if name in quotients else '–'
            cells += [_cell(row['deputy'].get(name)), _cell(row.get('litert', {}).get(name)), quotient]
        lines.append(f'| {" | ".join(cells)} |')
    for cpu in dict.fromkeys(row['cpu'] for row in rows):
        means = geometric_means(rows)
        cells = [f'{means[cpu, name]:.2f}' if (cpu, name) in means else '–' for name in COLUMNS]
        lines.append(f'| geometric mean | {cpu} | | | {cells[0]} | | | {cells[1]} | | | {cells[2]} |')
    return '\n'.join(lines)


def notes(rows):
    """Returns a line for each failed measurement and for each pair of different outputs."""
    lines = []
    for row in rows:
        title = f'{row["model"]}, {row["cpu"]}'
        lines += [f'{title}, {name}: {row[name]["error"]}' for name in ('deputy', 'litert')
                  if 'error' in row.get(name, {})]
        outputs = [row.get(name, {}).get('outputs') for name in ('deputy', 'litert')]
        if None not in outputs and not outputs_agree(*outputs):
            lines.append(f'{title}: mean magnitudes of outputs differ: Deputy {outputs[0]}, LiteRT {outputs[1]}')
    return lines


def models_of(paths):
    """Returns the .tflite files of the files and directories."""
    found = []
    for path in paths:
        found += sorted(path.glob('*.tflite')) if path.is_dir() else [path]
    for path in found:
        if not path.is_file():
            sys.exit(f'bench_arm.py: {path} does not exist')
    return found


def arguments_of_command():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('models', nargs='+', type=pathlib.Path, metavar='MODEL')
    parser.add_argument('--build', type=pathlib.Path, required=True, help='build directory of libdeputy for AArch64')
    parser.add_argument('--root', type=pathlib.Path, required=True, help='root of an arm64 Debian')
    parser.add_argument('--litert', type=pathlib.Path, help='directory of the Python packages of LiteRT')
    parser.add_argument('--precision', default='float32', help="precision of Deputy's float32 products (%(default)s)")
    parser.add_argument('--cpus', default=' '.join(emulator.CPUS), help='processors, separated by spaces (%(default)s)')
    parser.add_argument('--work', type=pathlib.Path, default=pathlib.Path('build/bench-arm'),
                        help='directory for compiled programs (%(default)s)')
    parser.add_argument('--json', type=pathlib.Path, help='also write all counts to this file')
    parser.add_argument('--hot', type=int, default=0, help='number of the most executed blocks to print')
    parser.add_argument('--functions', type=int, default=0,
                        help="number of Deputy's functions with the most executed instructions to print")
    arguments = parser.parse_args()
    unknown = set(arguments.cpus.split()) - emulator.CPUS.keys()
    if unknown:
        parser.error(f'unknown processor {unknown.pop()}; available: {" ".join(emulator.CPUS)}')
    return arguments


def main():
    arguments = arguments_of_command()
    if emulator.missing_tools():
        sys.exit(f'bench_arm.py: missing programs (tools/packages-arm.txt): {emulator.missing_tools()}')
    models, work, rows = models_of(arguments.models), arguments.work, []
    work.mkdir(parents=True, exist_ok=True)
    plugin = emulator.build_plugin(work)
    engines = [deputy_engine(work, arguments.build, arguments.precision)]
    if arguments.litert:
        engines.append(litert_engine(arguments.root, arguments.litert))
    for model in models:
        for name in arguments.cpus.split():
            cpu = emulator.CPUS[name]
            prefix = emulator.write_prefix(work / f'prefix-{name}', arguments.root, cpu)
            row = {'model': model.stem, 'cpu': name}
            for engine in engines:
                print(f'{model.stem}, {name}, {engine.name}', file=sys.stderr)
                row[engine.name] = measure(engine, plugin, prefix, cpu, model, arguments)
            rows.append(row)
            if arguments.json:
                arguments.json.write_text(json.dumps(rows, indent=1) + '\n', encoding='utf-8')
    print(table(rows))
    print('\n'.join(notes(rows)))
    return any('error' in row[engine.name] for row in rows for engine in engines)


if __name__ == '__main__':
    sys.exit(main())
