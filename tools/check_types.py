#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the types of the Python packages in bindings/python with mypy, and that everything public has a docstring.

    check_types.py              the packages of this repository
    check_types.py --self-test  plants a fault of each kind and checks that it is found

bindings/python/mypy.ini has the settings. Packages that are not installed, such as numpy or ray, have the type Any.
"""
import argparse
import ast
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINDINGS = ROOT / 'bindings/python'
# Internal modules with classes that deputy.interpreter exports.
EXPORTED = ('__init__.py', '_delegate.py', '_signature.py')


def packages(bindings):
    return {path.parent.name: path.parent for path in sorted(bindings.glob('**/__init__.py'))}


def mypy(bindings, *arguments):
    """Yields mypy's errors; the cache is shared by all calls."""
    command = ['mypy', '--config-file', bindings / 'mypy.ini', '--no-error-summary', '--cache-dir',
               ROOT / 'build/mypy', *arguments]
    result = subprocess.run(command, cwd=bindings, capture_output=True, text=True, check=False,
                            env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'})
    yield from (line for line in result.stdout.splitlines() if ' note: ' not in line)
    if result.returncode not in (0, 1) or result.stderr:
        yield f'mypy: exit code {result.returncode}: {result.stderr.strip()}'


def undocumented(tree):
    """Yields the public classes and functions without a docstring, as (line, name)."""
    if not ast.get_docstring(tree):
        yield 1, 'the module'
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef)):
            continue
        if isinstance(node, ast.ClassDef) and node.name.startswith('_'):
            continue
        for child in node.body:
            if isinstance(child, (ast.ClassDef, ast.FunctionDef)) and not child.name.startswith('_') and \
                    not ast.get_docstring(child):
                yield child.lineno, child.name


def check_docstrings(bindings):
    for folder in packages(bindings).values():
        for path in sorted(folder.rglob('*.py')):
            if path.name.startswith('_') and path.name not in EXPORTED:
                continue
            for line, missing in undocumented(ast.parse(path.read_text(encoding='utf-8'))):
                yield f'{path}:{line}: {missing} has no docstring'


def check(bindings):
    for folder in packages(bindings).values():
        if not (folder / 'py.typed').exists():
            yield f'{folder}/__init__.py: expected a file py.typed in this folder'
    words = [word for name in packages(bindings) for word in ('-p', name)]
    yield from mypy(bindings, *words)
    yield from check_docstrings(bindings)


# Modules with a fault: text, and a part of the report.
SEEDS = {
    'no_types.py': ('def load(path):\n    """Loads."""\n    return path\n', 'missing a type annotation'),
    'wrong_result.py': ('def load() -> int:\n    """Loads."""\n    return "one"\n', 'Incompatible return value'),
    'unknown.py': ('def load() -> None:\n    """Loads."""\n    absent()\n', 'not defined'),
    'function.py': ('def load() -> None:\n    pass\n', 'load has no docstring'),
    '__init__.py': ('', 'expected a file py.typed'),
    'method.py': ('class Public:\n    """A class."""\n    def load(self) -> None:\n        pass\n', 'load has no docstring'),
}
PROGRAM = '''from tflite_runtime.interpreter import Interpreter
from ai_edge_litert import interpreter as litert
import deputy
interpreter = Interpreter('model.tflite', num_threads=2, model_content=None)
shape: int = interpreter.get_input_details()[0]['shape'][0]
name: str = deputy.plugins()[0]['name']
runner: litert.SignatureRunner = interpreter.get_signature_runner()
'''
# Lines after the program, which are faults.
PROGRAMS = {
    'threads.py': ("Interpreter('m', num_threads='two')\n", 'incompatible type "str"'),
    'argument.py': ("Interpreter('m', threads=2)\n", 'Unexpected keyword argument'),
    'method.py': ("Interpreter('m').run()\n", 'has no attribute "run"'),
    'result.py': ("number: int = litert.load_delegate('gpu')\n", 'Incompatible types'),
    'property.py': ("text: str = interpreter.experimental_compress_quantization_zero_points\n",
                               'Incompatible types'),
    'name.py': ('from ai_edge_litert.interpreter import CompiledModel\n', 'has no attribute "CompiledModel"'),
}


def faults_not_found(seeds, found):
    for name, (_, report) in seeds.items():
        if not any(f'{name}:' in line and report in line for line in found):
            yield f'not found: {name} ({report})'
    if len(found) != len(seeds):
        yield f'found {len(found)} faults, expected {len(seeds)}: {found}'


def self_test():
    with tempfile.TemporaryDirectory() as name:
        bindings, programs = pathlib.Path(name) / 'python', pathlib.Path(name) / 'programs'
        shutil.copytree(BINDINGS, bindings, ignore=shutil.ignore_patterns('__pycache__'))
        (bindings / 'faults').mkdir()
        for seed, (text, _) in SEEDS.items():
            (bindings / 'faults' / seed).write_text(f'"""A module."""\n{text}', encoding='utf-8')
        yield from faults_not_found(SEEDS, list(check(bindings)))
        programs.mkdir()
        (programs / 'sound.py').write_text(PROGRAM, encoding='utf-8')
        for seed, (text, _) in PROGRAMS.items():
            (programs / seed).write_text(PROGRAM + text, encoding='utf-8')
        yield from faults_not_found(PROGRAMS, list(mypy(bindings, *sorted(programs.iterdir()))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--self-test', action='store_true')
    arguments = parser.parse_args()
    if not shutil.which('mypy'):
        sys.exit('mypy is missing (Debian: mypy)')
    problems = list(self_test() if arguments.self_test else check(BINDINGS))
    print('\n'.join(problems) or 'types: ok')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
