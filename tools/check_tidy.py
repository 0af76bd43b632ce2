#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over many files in a quarter of the time by analysing shared headers once.

    check_tidy.py BUILD_FOLDER --files REGEX [--analyzer deep|shallow|none] [-j N]

BUILD_FOLDER contains the compile_commands.json of a build with clang without precompiled headers.
Files that match REGEX (a path below the repository, anchored at its start) with equal flags and the
same .clang-tidy are analysed in groups of twenty, concatenated in one file below
BUILD_FOLDER/groups, so that common headers are read once. Names with internal linkage are made
unique there. Findings in a group are only suspicions: the affected files, and members of a group
that do not compile, are analysed separately, and only that result counts.
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
FILES_OF_A_GROUP = 20
# Definitions between the lines that open and close an unnamed namespace, as clang-format writes
# them.
UNNAMED = re.compile(r'^namespace \{$(.*?)^\}  // namespace$', re.M | re.S)
DEFINED = re.compile(r'^(?:(?:struct|class|enum class|enum|using) ([A-Z]\w*)'
                     r'|[^\W\d][^=(;\n]*[ *&]([A-Zk]\w*)(?:\[\w*\])*(?:\(| = |\{|;))', re.M)
# Clang's errors for a name that another file of the group defines.
CLASH = (r"\d+: error: (?:redefinition of|reference to|must use '\w+' tag to refer to type|call to) "
         r"'(?:\w+::)*(\w+)'(?: is ambiguous| in this scope| with a different type.*)?$")
# Analyzer depth. deep: into calls, with a third of the default number of steps (it gives up in few
# more functions, in a third of the time); shallow: not into calls; none: disabled.
ANALYZER = {
    'deep': ['-extra-arg=-Xclang', '-extra-arg=-analyzer-config', '-extra-arg=-Xclang',
             '-extra-arg=max-nodes=75000'],
    'shallow': ['-extra-arg=-Xclang', '-extra-arg=-analyzer-config', '-extra-arg=-Xclang',
                '-extra-arg=mode=shallow'],
    'none': ['-checks=-clang-analyzer-*'],
}


class Source:
    """A file and its compile flags, without the arguments that name the file and the output."""

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
    """Returns each file once, even if several targets compile it."""
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
            yield members[i * len(members) // count:(i + 1) * len(members) // count]


def internal_names(text):
    """Returns the names that the unnamed namespaces of a text define, if they match our
    conventions."""
    return {a or b for body in UNNAMED.findall(text) for a, b in DEFINED.findall(body)}


class Group:
    """Concatenated sources, in a separate file with the .clang-tidy of their directories."""

    def __init__(self, folder, sources):
        self.sources = sources
        self.renamed = [set() for _ in sources]
        self.texts = [source.path.read_text(encoding='utf-8') for source in sources]
        self.own_names = [internal_names(text) for text in self.texts]
        self.first_lines = []
        for config in sources[0].config_folders():
            (folder / config).mkdir(parents=True, exist_ok=True)
            (folder / config / '.clang-tidy').write_bytes((ROOT / config / '.clang-tidy').read_bytes())
        self.path = folder / sources[0].path.relative_to(ROOT)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Include paths of headers that a source names without a directory.
        self.flags = [*sources[0].flags, *sorted({f'-I{source.path.parent}' for source in sources})]

    def write(self):
        lines, included = [], set()
        self.first_lines = []
        for source, text, own, renamed in zip(self.sources, self.texts, self.own_names, self.renamed):
            self.first_lines.append(len(lines) + 1)
            if own:
                text = re.sub(rf'(?<![.\w:])(?<!->)({"|".join(sorted(own))})\b',
                              rf'\1_of_{source.path.stem}', text)
            text = text.splitlines()
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
        for name in ('sources', 'texts', 'own_names', 'renamed'):
            kept = [item for i, item in enumerate(getattr(self, name)) if i not in members]
            setattr(self, name, kept)

    def restore_names(self, errors, at_fault):
        """Undoes the renaming of names in errors; returns the members that define them."""
        changed = set()
        for member in at_fault:
            own = self.own_names[member]
            named = {name.removesuffix(f'_of_{self.sources[member].path.stem}')
                     for line, text in errors if self.member_at(int(line)) == member
                     for name in re.findall(r'\w+', text)}
            if own & named:
                self.own_names[member] = own - named
                changed.add(member)
        return changed

    def make_compile(self):
        """Renames clashing names, drops sources that still do not compile, and returns these."""
        everything = self.sources
        command = [*self.flags, '-fsyntax-only', '-w', '-ferror-limit=0', self.path]
        here = re.escape(str(self.path))
        at_fault_line = re.compile(rf'^(?:In file included from )?{here}:(\d+):(?:\d+: error:|$)', re.M)
        error_line = re.compile(rf'^{here}:(\d+):\d+: error: (.*)$', re.M)
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
            changed = self.restore_names(error_line.findall(result.stderr), at_fault)
            for line, name in clash_line.findall(result.stderr):
                member = self.member_at(int(line))
                if member not in changed and name not in self.renamed[member]:
                    self.renamed[member].add(name)
                    changed.add(member)
            self.leave_out(at_fault - changed)
        return [source for source in everything if source not in self.sources or len(self.sources) == 1]


class Tidy:
    def __init__(self, build, analyzer):
        self.build = build
        self.extra = ANALYZER[analyzer]

    def alone(self, source):
        """Returns clang-tidy's output for one file, empty if there is none."""
        result = subprocess.run(['clang-tidy', '-quiet', *self.extra, '-p', self.build, source.path],
                                capture_output=True, text=True, check=False)
        return result.stdout if result.returncode or result.stdout.strip() else ''

    def together(self, group):
        """Returns clang-tidy's output for a group."""
        return subprocess.run(['clang-tidy', '-quiet', *self.extra, group.path, '--', *group.flags[1:]],
                              cwd=group.sources[0].directory, capture_output=True, text=True, check=False)

    def suspects(self, group):
        """Returns the members of a group that must be analysed separately."""
        if len(group.sources) < 2:
            return group.sources
        group.write()
        result = self.together(group)
        alone = []
        if '[clang-diagnostic-error' in result.stdout:
            alone = group.make_compile()
            if len(group.sources) < 2:
                return alone
            result = self.together(group)
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
    parser.add_argument('--analyzer', choices=ANALYZER, default='deep')
    parser.add_argument('-j', '--jobs', type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    sources = sources_of(build, arguments.files)
    if not sources:
        sys.exit(f'check_tidy: no file of {build}/compile_commands.json matches {arguments.files.pattern}')
    folder = build / 'groups'
    groups = [Group(folder, members) for members in groups_of(sources)]
    tidy = Tidy(build, arguments.analyzer)
    alone, findings = [], []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for suspects, said in pool.map(tidy.check, groups):
            alone += suspects
            findings += said
            for text in said:
                print(text, flush=True)
    print(f'check_tidy: {len(sources)} files, {len(alone)} of them separately, {len(findings)} with findings')
    sys.exit(1 if findings else 0)


if __name__ == '__main__':
    main()
