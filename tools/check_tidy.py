#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over many files in a third of its time: what it looks at longest are headers.

    check_tidy.py BUILD_FOLDER --files REGEX [--shallow] [-j N]

BUILD_FOLDER holds the compile_commands.json of a build with clang without precompiled headers. Files
of REGEX (a path below the repository, from its start) that are compiled alike and obey the same
.clang-tidy are looked at ten at a time, one behind the other in one file below BUILD_FOLDER/groups;
headers that they share are read once. A name that two of them define for themselves is renamed there.
What is found so is only a suspicion: a file that gets one, and each file of a group that does not
compile, is looked at alone, and what clang-tidy says then counts. --shallow: the analyzer follows no
calls.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES_OF_A_GROUP = 10
# How clang says that a name was taken by another file of the group.
CLASH = (r"\d+: error: (?:redefinition of|reference to|must use '\w+' tag to refer to type|call to) "
         r"'(?:\w+::)*(\w+)'(?: is ambiguous| in this scope| with a different type.*)?$")
# How far the analyzer goes: into calls, for a third of its own number of steps (it gives up in few
# functions more, in a third of the time), or not.
DEEP, SHALLOW = 'max-nodes=75000', 'mode=shallow'


class Source:
    """A file and how it is compiled: the arguments without what names the file and the output."""

    def __init__(self, entry):
        self.path = pathlib.Path(entry['directory'], entry['file'])
        arguments = shlex.split(entry['command'])
        output = arguments.index('-o')
        self.flags = tuple(arguments[:output] + arguments[output + 2:arguments.index('-c')])
        self.directory = entry['directory']

    def config_folders(self):
        return tuple(folder for folder in reversed(self.path.relative_to(ROOT).parents)
                     if (ROOT / folder / '.clang-tidy').exists())


def sources_of(build, pattern):
    """Each file once, however many targets compile it."""
    sources = {}
    for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
        source = Source(entry)
        if source.path.is_relative_to(ROOT) and pattern.match(str(source.path.relative_to(ROOT))):
            sources.setdefault(source.path, source)
    return [sources[path] for path in sorted(sources)]


def groups_of(sources):
    alike = collections.defaultdict(list)
    for source in sources:
        alike[source.config_folders(), source.flags, source.directory].append(source)
    for members in alike.values():
        count = -(-len(members) // FILES_OF_A_GROUP)
        for i in range(count):
            yield members[i::count]


class Group:
    """Sources one behind the other, in a file of its own with the .clang-tidy of their folders."""

    def __init__(self, folder, sources):
        self.sources = sources
        self.renamed = [set() for _ in sources]
        self.first_lines = []
        for config in sources[0].config_folders():
            (folder / config).mkdir(parents=True, exist_ok=True)
            (folder / config / '.clang-tidy').write_bytes((ROOT / config / '.clang-tidy').read_bytes())
        self.path = folder / sources[0].path.relative_to(ROOT)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Where the headers are that a source names without a folder.
        self.flags = [*sources[0].flags, *sorted({f'-I{source.path.parent}' for source in sources})]

    def write(self):
        lines, included = [], set()
        self.first_lines = []
        for source, renamed in zip(self.sources, self.renamed):
            self.first_lines.append(len(lines) + 1)
            text = source.path.read_text(encoding='utf-8').splitlines()
            includes = {line for line in text if line.startswith('#include')}
            text = ['' if line in included else line for line in text]
            included |= includes
            body = next((i for i, line in enumerate(text) if line.startswith('namespace')), 0)
            lines += text[:body]
            lines += [f'#define {name} {name}_of_{source.path.stem}' for name in sorted(renamed)]
            lines += text[body:]
            lines += [f'#undef {name}' for name in sorted(renamed)]
        self.path.write_text('\n'.join(lines) + '\n', encoding='utf-8')

    def member_at(self, line):
        return max(i for i, first in enumerate(self.first_lines) if first <= line)

    def leave_out(self, members):
        self.sources = [source for i, source in enumerate(self.sources) if i not in members]
        self.renamed = [names for i, names in enumerate(self.renamed) if i not in members]

    def make_compile(self):
        """Renames what clashes and leaves out what does not compile even so; returns those sources."""
        everything = self.sources
        command = [*self.flags, '-fsyntax-only', '-w', '-ferror-limit=0', self.path]
        here = re.escape(str(self.path))
        at_fault_line = re.compile(rf'^(?:In file included from )?{here}:(\d+):(?:\d+: error:|$)', re.M)
        clash_line = re.compile(rf'^{here}:(\d+):{CLASH}', re.M)
        while len(self.sources) > 1:
            self.write()
            result = subprocess.run(command, cwd=self.sources[0].directory, capture_output=True,
                                    text=True, check=False)
            if result.returncode == 0:
                break
            at_fault = {self.member_at(int(line)) for line in at_fault_line.findall(result.stderr)}
            if not at_fault:
                at_fault = set(range(len(self.sources)))
            clashes = {(self.member_at(int(line)), name)
                       for line, name in clash_line.findall(result.stderr)}
            clashes = {(member, name) for member, name in clashes if name not in self.renamed[member]}
            for member, name in clashes:
                self.renamed[member].add(name)
            self.leave_out(at_fault - {member for member, _ in clashes})
        return [source for source in everything if source not in self.sources or len(self.sources) == 1]


class Tidy:
    def __init__(self, build, shallow):
        self.build = build
        self.extra = [f'-extra-arg={argument}' for argument in (
            '-Xclang', '-analyzer-config', '-Xclang', SHALLOW if shallow else DEEP)]

    def alone(self, source):
        """What clang-tidy says of one file, empty if nothing."""
        result = subprocess.run(['clang-tidy', '-quiet', *self.extra, '-p', self.build, source.path],
                                capture_output=True, text=True, check=False)
        return result.stdout if result.returncode or result.stdout.strip() else ''

    def suspects(self, group):
        """The members of a group that have to be looked at alone."""
        alone = group.make_compile()
        if len(group.sources) < 2:
            return alone
        result = subprocess.run(['clang-tidy', '-quiet', *self.extra, group.path, '--', *group.flags[1:]],
                                cwd=group.sources[0].directory, capture_output=True, text=True, check=False)
        named = re.findall(r'^(/[^:\n]+):(\d+):\d+: (?:warning|error)', result.stdout, re.M)
        if any(path != str(group.path) for path, _ in named) or (result.returncode and not named):
            return alone + group.sources
        members = {group.member_at(int(line)) for _, line in named}
        return alone + [group.sources[i] for i in sorted(members)]

    def check(self, group):
        suspects = self.suspects(group)
        return suspects, [said for said in map(self.alone, suspects) if said]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--files', type=re.compile, required=True)
    parser.add_argument('--shallow', action='store_true')
    parser.add_argument('-j', '--jobs', type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    sources = sources_of(build, arguments.files)
    if not sources:
        sys.exit(f'check_tidy: no file of {build}/compile_commands.json is one of {arguments.files.pattern}')
    folder = build / 'groups'
    groups = [Group(folder, members) for members in groups_of(sources)]
    tidy = Tidy(build, arguments.shallow)
    alone, findings = [], []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for suspects, said in pool.map(tidy.check, groups):
            alone += suspects
            findings += said
            for text in said:
                print(text, flush=True)
    print(f'check_tidy: {len(sources)} files, {len(alone)} of them alone, {len(findings)} with findings')
    sys.exit(1 if findings else 0)


if __name__ == '__main__':
    main()
