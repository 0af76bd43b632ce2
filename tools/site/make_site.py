#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site with mkdocs: README.md, CONTRIBUTING.md, CHANGELOG.md, SECURITY.md and docs.

    make_site.py [OUTPUT]     default: build/site

Files that pages link to are copied into the site. A linked folder becomes a page that lists its files.
SECTIONS is the navigation; a page of docs that is in no section is an error.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r'\]\(([^)#\s]+)(#[^)\s]*)?\)')
TOP = ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md')
# Titles of the sections, and names of pages in docs, without .md.
SECTIONS = {
    'Applications': 'application-guide installing python cpp delegates gpu xnnpack onnxruntime placement precision-plans background '
                    'async compile weight-cache shared-state containers raspberry-pi mindspore mindspore-models',
    'Authors of delegates': 'writing-a-delegate device-buffers certify validation record-replay layers sandbox layouts '
                            'devices cpu_delegate nnapi hexagon android',
    'Servers and batches': 'serving batch scale',
    'Reference': 'features operators differences benchmarks platforms abi litert litert-abi security arm golden',
    'Design': 'architecture style abi_contract design/*',
}


def names_of(section):
    """Returns the existing pages of a section, in order."""
    for pattern in SECTIONS[section].split():
        yield from (str(path.relative_to(ROOT)) for path in sorted((ROOT / 'docs').glob(pattern + '.md')))


def navigation():
    """Returns mkdocs's navigation. Raises ValueError for a page in no section."""
    sections = {title: list(names_of(title)) for title in SECTIONS}
    listed = sum(sections.values(), [])
    missing = {str(path.relative_to(ROOT)) for path in (ROOT / 'docs').rglob('*.md')} - set(listed)
    if missing:
        raise ValueError(f'{", ".join(sorted(missing))}: in no section of SECTIONS in tools/site/make_site.py')
    return [{'Start': 'README.md'}, *({title: pages} for title, pages in sections.items()),
            {'Project': [name for name in TOP[1:] if (ROOT / name).exists()]}]


def with_blank_lines(text):
    """Returns a page in which a blank line precedes each list and table, as Python's Markdown requires."""
    lines, fenced = [''], False
    for line in text.split('\n'):
        fence = line.lstrip().startswith('```')
        kind = re.match(r'\s*(?:[-*]|\d+\.) |\|', line)
        before = lines[-1]
        continues = re.match(r'\s*(?:[-*]|\d+\.) |\|| ', before)
        if kind and not fenced and before.strip() and not continues:
            lines.append('')
        fenced ^= fence
        lines.append(line)
    return '\n'.join(lines[1:])


def stage(folder):
    """Copies the pages and the files that they refer to."""
    pages = [path for path in (*(ROOT / name for name in TOP), *(ROOT / 'docs').rglob('*.md')) if path.exists()]
    for page in pages:
        text = page.read_text(encoding='utf-8')
        for link, _ in LINK.findall(re.sub(r'(?ms)^```.*?^```', '', text)):
            target = pathlib.Path(os.path.normpath(page.parent / link))
            if '://' not in link and target not in pages and target.exists():
                text = text.replace(f']({link}', f']({link_of(folder, page, target)}')
        write(folder, page, with_blank_lines(text))


def link_of(folder, page, target):
    """Copies a file into the site, or lists a folder in a page. Returns the link from `page`."""
    name = target.relative_to(ROOT)
    copy = folder / name
    if target.is_dir():
        name = name / 'files.md'
        files = sorted(path.name for path in target.iterdir() if path.is_file())
        write(folder, ROOT / name, f'# {name.parent}\n\n' + '\n'.join(f'- `{file}`' for file in files) + '\n')
    elif target.suffix == '.md':
        write(folder, target, with_blank_lines(target.read_text(encoding='utf-8')))
    else:
        copy.parent.mkdir(parents=True, exist_ok=True)
        # Browsers show text, but download files with the names of sources.
        name = name.with_name(name.name + ('' if name.suffix in ('.png', '.tflite') else '.txt'))
        shutil.copyfile(target, folder / name)
    return os.path.relpath(ROOT / name, page.parent)


def write(folder, page, text):
    """Writes a page of the site."""
    path = folder / page.relative_to(ROOT)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('output', nargs='?', default=ROOT / 'build/site', type=pathlib.Path)
    output = parser.parse_args().output.resolve()
    pages = output.with_name(output.name + '-pages')
    shutil.rmtree(pages, ignore_errors=True)
    try:
        nav = navigation()
    except ValueError as error:
        sys.exit(f'make_site.py: {error}')
    stage(pages)
    # JSON is valid YAML, but for the name of the function.
    settings = {'site_name': 'Deputy', 'docs_dir': str(pages), 'site_dir': str(output), 'nav': nav,
                'theme': {'name': 'mkdocs', 'highlightjs': False}, 'use_directory_urls': False,
                'plugins': ['search'], 'markdown_extensions': ['sane_lists', {'toc': {'slugify': 'SLUGIFY'}}]}
    config = output.with_name(output.name + '.yml')
    text = json.dumps(settings).replace('"SLUGIFY"', '!!python/name:github_anchors.slugify ""')
    config.write_text(text, encoding='utf-8')
    if not shutil.which('mkdocs'):
        sys.exit("make_site.py: mkdocs is not installed: apt install mkdocs, or 'make setup-check'")
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parent), PYTHONDONTWRITEBYTECODE='1')
    sys.exit(subprocess.run(['mkdocs', 'build', '--quiet', '--strict', '--clean', '-f', config], env=environment,
                            check=False).returncode)


if __name__ == '__main__':
    main()
