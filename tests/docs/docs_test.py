#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the Markdown documents: links, paragraph lengths, and the README's examples in C and Python.

    docs_test.py BUILD_FOLDER
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
SANITIZED = 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
PAGES = [ROOT / name for name in ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md')]
PAGES += sorted((ROOT / 'docs').rglob('*.md'))
MAX_WORDS = 80
SUFFIXES = {'.c', '.cc', '.cmake', '.h', '.inc', '.md', '.py', '.sh'}
LINK = re.compile(r'\]\(([^)#\s]*)(#[^)\s]*)?\)')
PAGE_NAME = re.compile(r'\bdocs/[A-Za-z0-9_/-]+\.md')
LIST_ITEM = re.compile(r'\s*([-*]|\d+\.) ')


def prose(page):
    """Returns the lines of a page; those of fenced blocks are empty."""
    lines, fenced = [], False
    for line in page.read_text(encoding='utf-8').split('\n'):
        fence = line.lstrip().startswith('```')
        fenced ^= fence
        lines.append('' if fenced or fence else line)
    return lines


def paragraphs(lines):
    """Yields pairs of line number and text. Headings, tables and quotations are not paragraphs."""
    begin, words = 0, []
    for number, line in enumerate([*lines, ''], 1):
        ends = not line.strip() or line.startswith(('#', '|', '>'))
        if words and (ends or LIST_ITEM.match(line)):
            yield begin, ' '.join(words)
            words = []
        if not ends:
            begin = begin if words else number
            words.append(line)


def anchors(page):
    """Returns the anchors of a page's headings, as GitHub makes them."""
    headings = [line.lstrip('#').strip() for line in prose(page) if line.startswith('#')]
    return {'#' + re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def sources():
    """Returns the texts of the Makefile and of all sources and documents."""
    yield (ROOT / 'Makefile').read_text(encoding='utf-8')
    for folder in ROOT.iterdir():
        if folder.name in ('build', '.git', '.cache') or not folder.is_dir():
            continue
        for path in folder.rglob('*'):
            if path.suffix in SUFFIXES and path.is_file():
                yield path.read_text(encoding='utf-8', errors='replace')


def block(language):
    """Returns the first fenced block of a language in the README."""
    text = (ROOT / 'README.md').read_text(encoding='utf-8')
    return re.search(rf'```{language}\n(.*?)```', text, re.DOTALL).group(1)


class PagesTest(unittest.TestCase):

    def test_links_refer_to_files_and_headings(self):
        for page in PAGES:
            for path, anchor in LINK.findall('\n'.join(prose(page))):
                if path.startswith(('http://', 'https://')):
                    continue
                target = (page.parent / path) if path else page
                with self.subTest(page=str(page.relative_to(ROOT)), link=path + anchor):
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_pages_named_in_sources_exist(self):
        for name in sorted(set().union(*(PAGE_NAME.findall(source) for source in sources()))):
            with self.subTest(page=name):
                self.assertTrue((ROOT / name).exists())

    def test_paragraphs_are_short(self):
        for page in PAGES:
            for line, text in paragraphs(prose(page)):
                with self.subTest(page=str(page.relative_to(ROOT)), line=line):
                    self.assertLessEqual(len(text.split()), MAX_WORDS)

    def test_pages_name_only_files_of_the_repository(self):
        for page in PAGES:
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertNotIn('../shared', page.read_text(encoding='utf-8'))


class ReadmeTest(unittest.TestCase):

    @unittest.skipIf(SANITIZED, 'a program without sanitizers cannot load a sanitized library')
    def test_the_example_in_c_runs(self):
        with tempfile.TemporaryDirectory(prefix='deputy-readme-') as folder:
            source = pathlib.Path(folder) / 'client.c'
            source.write_text(block('c'), encoding='utf-8')
            program = pathlib.Path(folder) / 'client'
            subprocess.run(['cc', '-Wall', '-Wextra', '-Werror', f'-I{BUILD}/include', source, '-o', program,
                            f'-L{BUILD}', '-ldeputy', f'-Wl,-rpath,{BUILD}'], check=True)
            subprocess.run([program], check=True, cwd=ROOT)

    @unittest.skipIf(SANITIZED, 'an interpreter without sanitizers cannot load a sanitized library')
    def test_the_example_in_python_runs(self):
        try:
            import numpy  # noqa: F401
        except ModuleNotFoundError:
            self.skipTest('numpy is not installed')
        environment = dict(os.environ, PYTHONPATH=str(ROOT / 'bindings/python'), PYTHONDONTWRITEBYTECODE='1',
                           DEPUTY_LIBRARY=str(BUILD / 'libdeputy.so.1'))
        result = subprocess.run([sys.executable, '-c', block('python')], check=True, cwd=ROOT,
                                env=environment, capture_output=True, text=True)
        self.assertIn('[[', result.stdout)


if __name__ == '__main__':
    unittest.main()
