#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs and the commands of the documents: every fenced block but those of language "text".

Programs in C and C++ are compiled and run; fragments between the lines of prelude.h and prelude_cpp.h.
Commands run in a folder with the files that the documents name, and their output is compared without
numbers, paths and times. dry_run.py checks the arguments of programs that change the machine or take
minutes. exceptions.py lists what is not run, with the reason; each row must be needed.

    programs_test.py BUILD_FOLDER [ProgramsTest.NAME]
"""
import concurrent.futures
import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import blocks
import exceptions

ROOT = blocks.ROOT
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
SANITIZED = 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
HERE = pathlib.Path(__file__).resolve().parent
PYTHON = '/usr/bin/python3'
DIGITS = ROOT / 'examples/digits'
LANGUAGES = ('', 'sh', 'c', 'cpp', 'cmake', 'python', 'json', 'text')
# Names in the documents, and the files that they refer to.
FILES = {'MODEL': DIGITS / 'digits_float.tflite', 'MODEL.tflite': DIGITS / 'digits_float.tflite',
         'm.tflite': DIGITS / 'digits_float.tflite', 'model.tflite': DIGITS / 'digits_float.tflite',
         'm_float.tflite': DIGITS / 'digits_float.tflite', 'm_int8.tflite': DIGITS / 'digits_int8.tflite',
         'IMAGE.png': DIGITS / 'images/0000_8.png', 'FOLDER': DIGITS / 'images', 'DIR': DIGITS / 'images',
         'images': DIGITS / 'images', 'labels.txt': DIGITS / 'labels.txt',
         'LIB.so': BUILD / 'tests/plugins/libelementwise.so', 'libmine.so': BUILD / 'tests/plugins/libelementwise.so'}
DRY_PROGRAMS = ('cmake', 'ctest', 'make', 'ninja', 'pkg-config', 'python', 'python3', 'test_program')
TIME_LIMIT = 60
NUMBER = re.compile(r'-?\b\d+(?:[.,]\d+)*(?:e[+-]?\d+)?(?: ?(?:[num]?s|[KMG]iB|B)\b)?')
SLOW_DELEGATE = re.compile(r"""(--delegate |--compare |--use_|load_delegate\(')(?:gpu|xnnpack)\b(?!,|', )""")
PATH = re.compile(r'[\w.~-]*/[\w./-]*/')


def run(*command, **options):
    """Runs a command, and ends its whole process group at the time limit."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, start_new_session=True, errors='replace',
                          **options) as process:
        try:
            output = process.communicate(timeout=TIME_LIMIT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return -1, process.communicate()[0] + f'\nno end within {TIME_LIMIT} s'
        return process.returncode, output


@functools.lru_cache(maxsize=None)
def has_delegate(name):
    """Returns whether a delegate of the build is usable: it was built, and has a device."""
    if not (BUILD / f'libdeputy_{name}.so').exists():
        return False
    return name != 'gpu' or run(BUILD / 'deputy', 'devices', 'gpu')[1].count('\n') > 1 and \
        run(BUILD / 'deputy', 'run', FILES['MODEL'], '--random', '--require', '--delegate', 'gpu')[0] == 0


@functools.lru_cache(maxsize=None)
def known_variables():
    """Returns the names of the environment variables that Deputy knows, and of those of its tests."""
    text = (ROOT / 'core/base/environment.cc').read_text(encoding='utf-8')
    known = re.search(r'kKnown\[\] = \{(.*?)\};', text, re.S)[1]
    return {'DEPUTY_' + name for name in re.findall(r'"(\w+)"', known)} | set(exceptions.TEST_VARIABLES)


class Rows:
    """A table of exceptions.py: rows of page, beginning or part of the text, and a value. Counts uses."""

    def __init__(self, name):
        self.name, self.rows, self.used = name, getattr(exceptions, name), set()

    def find(self, block, text):
        """Returns the value of the row for a text of a block, or None."""
        for row in self.rows:
            if row[0] in ('*', block.page) and row[1] in text:
                self.used.add(row)
                return row[2]
        return None

    def unused(self):
        """Returns the rows that no block has needed."""
        return [row for row in self.rows if row not in self.used]


def plain(line):
    """Returns a line of output without numbers, times, folders and repeated blanks."""
    return re.sub(r'\s+', ' ', NUMBER.sub('#', PATH.sub('', line))).strip()


def missing_line(expected, actual):
    """Returns the first of the expected lines that is not in the actual output, which may be broken into
    shorter lines, or ''."""
    found = ' '.join(map(plain, actual.split('\n')))
    for line in expected:
        if not re.search('.*'.join(map(re.escape, re.split(r'…|\.\.\.', plain(line)))), found):
            return line
    return ''


class Folder:
    """A folder in which the commands of a page run: links to the repository and the build, and FILES."""

    def __init__(self, path):
        self.path = path
        for source in ROOT.iterdir():
            if source.name not in ('build', '.git'):
                (path / source.name).symlink_to(source)
        for name, target in FILES.items():
            if target.is_dir():
                (path / name).symlink_to(target)
            else:
                shutil.copy(target, path / name)
        for name in ('build', 'tmp', 'bin', 'cache'):
            (path / name).mkdir()
        (path / 'var/cache/app').mkdir(parents=True)
        (path / 'build/release').symlink_to(BUILD)
        (path / 'bin/deputy').symlink_to(BUILD / 'deputy')
        for name in DRY_PROGRAMS:
            (path / 'bin' / name).symlink_to(HERE / 'dry_run.py')
        (path / 'table.csv').write_text('\n'.join([','.join(['0'] * 784)] * 2) + '\n', encoding='utf-8')
        (path / 'client.c').write_text(readme_program(), encoding='utf-8')
        (path / 'program.cc').write_text('int main() {}\n', encoding='utf-8')
        for name in ('mindspore_plugin.cc', 'mindspore_npu_delegate.h'):
            (path / name).symlink_to(ROOT / 'examples' / name)

    def environment(self, **variables):
        """Returns the environment of a command."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith('DEPUTY_')}
        return kept | {'PATH': f'{self.path}/bin:{kept["PATH"]}', 'DOCS_BUILD': str(BUILD),
                       'PYTHONDONTWRITEBYTECODE': '1',
                       'PYTHONPATH': str(ROOT / 'bindings/python'), 'HOME': str(self.path),
                       'DEPUTY_LIBRARY': str(BUILD / 'libdeputy.so.1'), **variables}

    def rewrite(self, text):
        """Replaces absolute paths by those in this folder, programs of tests by their check, and delegates
        that compile for seconds or need packages by npu_stub, unless they have options of their own."""
        text = re.sub(r'(?<![\w.])(/tmp/|/var/cache/app)', rf'{self.path}\1', text)
        text = re.sub(r'build/release/tests/(\w+)(?= |$)', r'test_program \1', text, flags=re.M)
        text = re.sub(r'\b(?:build/serving/venv|venv|build/peers)/bin/python\b', 'python3', text)
        return SLOW_DELEGATE.sub(r'\1npu_stub', text)


def readme_program():
    """Returns the README's program in C."""
    return next(block.text for block in ALL if block.page == 'README.md' and block.language == 'c')


ALL = blocks.all_blocks()


@unittest.skipIf(SANITIZED, 'programs without sanitizers cannot load a sanitized library')
class ProgramsTest(unittest.TestCase):

    def setUp(self):
        self.folders = contextlib.ExitStack()
        self.addCleanup(self.folders.close)
        self.rows = {}

    def table(self, name):
        return self.rows.setdefault(name, Rows(name))

    def folder(self):
        return Folder(pathlib.Path(self.folders.enter_context(tempfile.TemporaryDirectory(prefix='deputy-docs-'))))

    def run_pages(self, languages, run_page):
        """Runs the blocks of each page, two pages at a time, and reports the faults that are returned."""
        pages = {}
        for block in ALL:
            if block.language in languages:
                pages.setdefault(block.page, []).append(block)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = {page: pool.submit(run_page, found) for page, found in pages.items()}
        for page, job in jobs.items():
            for place, fault in job.result():
                with self.subTest(place=str(place)):
                    self.fail(fault)
        for table in self.rows.values():
            with self.subTest(table=table.name):
                self.assertEqual(table.unused(), [], 'rows of exceptions.py that no block needs')

    def test_every_block_has_a_known_language(self):
        for block in ALL:
            with self.subTest(block=str(block)):
                self.assertIn(block.language, LANGUAGES)
                if block.language == 'text':
                    self.assertNotRegex(block.text, r'(?m)^(\$ |(deputy|make|python3|build/\S+) )')

    def test_commands_run(self):
        self.run_pages(('', 'sh'), self.run_commands)

    def run_commands(self, page_blocks):
        """Runs the commands of a page in one folder. Returns pairs of command and fault."""
        faults = []
        folder = self.folder()
        for block in page_blocks:
            commands = blocks.commands_of(block)
            if not commands:
                faults.append((block, 'the block has no command; a block of text has the language "text"'))
            chosen = [command for command in commands if not self.is_skipped(command)]
            script = f'cd {folder.path}\nset -o pipefail\n' + ''.join(
                f'{folder.rewrite(command.text)}\nprintf "\\n@status %d\\n" $?\n' for command in chosen)
            _, output = run('bash', '-c', script, env=folder.environment())
            parts = re.split(r'\n@status (\d+)\n', output)
            for number, command in enumerate(chosen):
                fault = self.fault_of(command, parts[2 * number:2 * number + 2])
                if fault:
                    faults.append((command, fault))
        return faults

    def is_skipped(self, command):
        """Returns whether a command is an exception or needs a delegate that is not available."""
        skipped = self.table('COMMANDS').find(command.block, command.text)
        programs = [program for program in blocks.programs_of(command.text) if program in exceptions.PROGRAMS]
        return skipped or programs or 'gpu,' in command.text and not has_delegate('gpu')

    def fault_of(self, command, part):
        """Returns the fault in the status or the output of a command, or ''."""
        unknown = set(re.findall(r'\b(DEPUTY_[A-Z_]+)=', re.sub('-D[A-Z_]+=', '', command.text))) - known_variables()
        if unknown:
            return f'unknown environment variables: {unknown}'
        if len(part) < 2:
            return f'the command has not ended: {part}'
        output, status = part
        expected = self.table('STATUSES').find(command.block, command.text) or 0
        if int(status) != expected:
            return f'status {status}, expected {expected}:\n{output[-3000:]}'
        if 'warning: unknown variable' in output:
            return output
        if command.output and not self.table('OUTPUTS').find(command.block, command.text):
            line = missing_line(command.output, output)
            return line and f'the output has no line "{line}":\n{output[-3000:]}'
        return ''

    def test_c_and_cpp_programs_and_fragments_compile_and_run(self):
        self.run_pages(('c', 'cpp'), self.run_programs)

    def run_programs(self, page_blocks):
        """Compiles and runs the blocks of a page. Returns pairs of block and fault."""
        faults = []
        folder = self.folder()
        for number, block in enumerate(page_blocks):
            if self.table('PROGRAM_BLOCKS').find(block, block.text):
                continue
            source = folder.path / f'{number}.{"c" if block.language == "c" else "cc"}'
            kind, before, after = self.table('FRAGMENTS').find(block, block.text) or ('run', '', '')
            source.write_text(folder.rewrite(wrapped(block, before, after)), encoding='utf-8')
            status, output = compiled(source, kind)
            if status == 0 and kind == 'run':
                status, output = run(source.with_suffix(''), cwd=folder.path, env=folder.environment())
            if status != 0:
                faults.append((block, f'status {status}:\n{output[-3000:]}'))
        return faults

    def test_python_programs_run(self):
        if subprocess.run([PYTHON, '-c', 'import numpy'], capture_output=True, check=False).returncode:
            self.skipTest('numpy is not installed')
        self.run_pages(('python',), self.run_python)

    def run_python(self, page_blocks):
        """Runs the blocks of a page in Python. Returns pairs of block and fault."""
        faults = []
        folder = self.folder()
        for block in page_blocks:
            try:
                compile(block.text, str(block), 'exec')
            except SyntaxError as error:
                faults.append((block, str(error)))
                continue
            if self.table('PYTHON_BLOCKS').find(block, block.text):
                continue
            if "'gpu', {" in block.text and not has_delegate('gpu'):
                continue
            before, after = self.table('PYTHON_FRAGMENTS').find(block, block.text) or ('', '')
            status, output = run(PYTHON, '-W', 'error', '-c', folder.rewrite(before + block.text + after),
                                 cwd=folder.path, env=folder.environment())
            if status != 0:
                faults.append((block, output[-3000:]))
        return faults

    def test_json_and_cmake_blocks_are_valid(self):
        known = ''.join(path.read_text(encoding='utf-8') for path in (ROOT / 'tools/cmake').iterdir())
        for block in ALL:
            with self.subTest(block=str(block)):
                if block.language == 'json':
                    json.loads(block.text)
                if block.language == 'cmake':
                    for package in re.findall(r'find_package\((\w+)', block.text):
                        self.assertTrue((ROOT / f'tools/cmake/{package}Config.cmake.in').exists(), package)
                    for space, target in re.findall(r'\b([\w-]+)::([\w-]+)', block.text):
                        self.assertRegex(known, rf'{space}::' if space == 'Deputy' else rf'{space}::{target}\b')
                        self.assertRegex(known, rf'\b{target}\b')

    def test_every_program_of_the_exceptions_is_in_a_document(self):
        for name in exceptions.PROGRAMS:
            with self.subTest(program=name):
                self.assertTrue(any(name in blocks.programs_of(command.text) for block in ALL
                                    if block.language in ('', 'sh') for command in blocks.commands_of(block)))


def wrapped(block, before, after):
    """Returns the source text of a block: a program as it is, a fragment inside a function."""
    if re.search(r'\bint main\(', block.text):
        return block.text
    lines = block.text.split('\n')
    includes = '\n'.join(line for line in lines if line.startswith('#include'))
    body = '\n'.join(line for line in lines if not line.startswith('#include'))
    body = re.sub(r'(?m)^\.\.\.$', 'CreateInterpreter();', body)
    prelude = HERE / ('prelude.h' if block.language == 'c' else 'prelude_cpp.h')
    declarations, _, statements = before.rpartition('\f')
    if not lines[0].endswith(';') and 'REGISTER' in body:  # at namespace scope
        return f'{includes}\n#include "{prelude}"\n{before}\n{body}\nint main() {{}}\n'
    return (f'{includes}\n#include "{prelude}"\n{declarations}\nint main(void) {{\nSetUp();\n{statements}\n'
            f'#line {block.line} "{block.page}"\n{body}\n{after}\nreturn 0;\n}}\n')


def compiled(source, kind):
    """Compiles a program, and links it unless `kind` is "compile". Returns status and messages."""
    compiler = ['cc', '-std=gnu17'] if source.suffix == '.c' else ['c++', '-std=c++17']
    return run(*compiler, '-Wall', '-Wextra', '-Werror', '-Wno-unused-variable', f'-I{BUILD}/include',
               f'-I{BUILD}/include/mindspore', source, '-o', source.with_suffix(''), f'-L{BUILD}', '-ldeputy',
               '-ldeputy_mindspore',
               f'-DPLUGINS="{BUILD}/tests/plugins"', f'-DNPU_STUB="{BUILD}/libdeputy_npu_stub.so"',
               f'-Wl,-rpath,{BUILD}', *(['-c'] if kind == 'compile' else []))


if __name__ == '__main__':
    unittest.main()
