#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the Python scripts of tools, tests and examples with only Debian's Python.

    check_scripts.py [FOLDER]     the scripts of this repository, or of FOLDER
    check_scripts.py --self-test  plants a fault of each kind and checks that it is found

All files must compile. Every import of tools/ and tests/golden, also inside functions, must find
its module and its names: our modules are imported, packages that may not be installed are replaced
by mocks. Each command must print its usage for --help, or one line that names the missing package.
tools/bench/compare.py must accept its arguments, and exit with 0 if there is nothing to compare
with.
"""
import argparse
import ast
import importlib.machinery
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Packages of tools/requirements-*.txt under their import names, peers of tools/bench/gpu_table.py,
# and the wheel of bindings/python.
PACKAGES = {'PIL', 'ai_edge_litert', 'apache_beam', 'clang', 'deputy', 'flatbuffers', 'mlserver', 'mlxtend', 'numpy', 'onnxruntime',
            'openvino', 'pyspark', 'ray', 'tensorflow', 'tflite_runtime', 'torch', 'torchvision', 'tritonclient'}
COMPARE = ['--library', __file__, '--threads', '1,2', '--runs', '1', '--block-ms', '1', '--models',
           'hand', '--worst', '1', '--no-operators', '--no-nets']


class Mocks:
    """Finds every module of PACKAGES; the module has every attribute."""

    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] not in PACKAGES:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: unittest.mock.MagicMock(name=f'{spec.name}.{name}')
        return module

    def exec_module(self, module):
        pass


def run_imports(path, package):
    """Runs in a separate process: executes the file as a module, then every import inside a
    function of the file and of the modules that it imports."""
    sys.meta_path.insert(0, Mocks())
    folder = path.parents[package.count('.') + 1 if package else 0]
    sys.path[0] = str(folder)
    subject = types.ModuleType('imported')
    vars(subject).update(__file__=str(path), __package__=package)
    sys.modules['imported'] = subject  # dataclasses look up their module
    exec(compile(path.read_text(encoding='utf-8'), path, 'exec'), vars(subject))
    seen = set()
    while new := {m for m in sys.modules.values() if is_of(m, folder.parent)} - seen:
        seen |= new
        for module in new:
            for node in ast.walk(ast.parse(pathlib.Path(module.__file__).read_text('utf-8'))):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    exec(compile(ast.Module([node], []), path, 'exec'), dict(vars(module)))


def is_of(module, folder):
    file = vars(module).get('__file__') or ''
    return module.__name__ != '__main__' and file.startswith(str(folder))


def python(*arguments):
    """Runs Python without the installed site packages."""
    environment = os.environ | {'DEPUTY_PEERS_PYTHON': '/nowhere', 'PYTHONDONTWRITEBYTECODE': '1'}
    return subprocess.run([sys.executable, '-S', '-E', *map(str, arguments)], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def last_line(result):
    return ((result.stderr or result.stdout).strip().splitlines() or ['no output'])[-1]


def package_of(path):
    """Returns 'golden.ops' for tests/golden/ops/pad.py, '' for a script."""
    parts = []
    for folder in path.parents:
        if not (folder / '__init__.py').exists():
            break
        parts.insert(0, folder.name)
    return '.'.join(parts)


def check_imports(path):
    result = python(__file__, '--run-imports', path, package_of(path))
    if result.returncode != 0:
        yield f'{path}: {last_line(result)}'


def check_help(path):
    command = path.parent if path.name == '__main__.py' else path
    result = python(command, '--help')
    misses = result.returncode == 1 and ' is missing' in last_line(result)
    text = result.stdout + result.stderr
    usage = result.returncode in (0, 2) and ('usage: ' in text or f'    {path.name} ' in text)
    if not (misses or usage):
        yield f'{path} --help: {last_line(result)}'


def check_compare(path):
    result = python(path, *COMPARE)
    if result.returncode != 0 or not result.stdout.startswith('no comparison'):
        yield f'{path}: without its packages: {last_line(result)}'


def check(root):
    for path in sorted(root.glob('**/*.py')):
        folder = path.relative_to(root).parts[:-1]
        if folder[:1] not in [('tools',), ('tests',), ('examples',)]:
            continue
        source = path.read_text(encoding='utf-8')
        try:
            compile(source, path, 'exec')
        except SyntaxError as error:
            yield f'{path}:{error.lineno}: {error.msg}'
            continue
        # Tests are covered by running them, and imported modules by the commands that import them.
        command, packaged = '__main__' in source, (path.parent / '__init__.py').exists()
        if folder == ('tests',) or path.stem.endswith('_test') or not command and not packaged:
            continue
        yield from check_imports(path)
        if command:
            yield from check_help(path)
        if path.name == 'compare.py' and folder[0] == 'tools':
            yield from check_compare(path)


COMMAND = 'if __name__ == "__main__":\n    print("usage: ")\n'
SEEDS = {
    'tools/syntax.py': ('def f(:\n', 'invalid syntax'),
    'tools/moved.py': (COMMAND + 'def f():\n    import golden_that_moved\n', 'golden_that_moved'),
    'tools/renamed.py': (COMMAND + 'def f():\n    from helper import old_name\n', 'old_name'),
    'tools/indirect.py': (COMMAND + 'import hidden\n', 'nowhere'),
    'tests/golden/ops/relative.py': ('from ..model import GONE\n', 'GONE'),
    'tools/bare.py': ('import numpy\n' + COMMAND, 'numpy'),
    'tools/bench/compare.py': ('import sys\nif "--help" in sys.argv:\n    print("usage: ")\n'
                               'elif __name__ == "__main__":\n    sys.exit("wants --run")\n',
                               'wants --run'),
}
SOUND = {'tools/helper.py': 'import numpy as np\nNAME = np.float32(1)\n',
         'tools/user.py': COMMAND + 'def f():\n    from helper import NAME\n',
         'tools/hidden.py': 'def f():\n    import nowhere\n',
         'tests/golden/__init__.py': '', 'tests/golden/model.py': 'HERE = 1\n',
         'tests/golden/ops/__init__.py': 'from ..model import HERE\n'}


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in (SOUND | {path: seed[0] for path, seed in SEEDS.items()}).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding='utf-8')
        found = [problem.removeprefix(f'{root}/') for problem in check(root)]
    for path, (_, word) in SEEDS.items():
        if not any(problem.startswith(path) and word in problem for problem in found):
            yield f'not found: {path} ({word})'
    if len(found) != len(SEEDS):
        yield f'found {len(found)} faults, expected {len(SEEDS)}: {found}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('folder', nargs='?', type=pathlib.Path, default=ROOT)
    parser.add_argument('--self-test', action='store_true')
    parser.add_argument('--run-imports', nargs=2, metavar=('FILE', 'PACKAGE'), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run_imports:
        run_imports(pathlib.Path(arguments.run_imports[0]), arguments.run_imports[1])
        return 0
    problems = list(self_test() if arguments.self_test else check(arguments.folder.resolve()))
    print('\n'.join(problems) or 'scripts: ok')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
