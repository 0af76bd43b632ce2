#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of LiteRT's C ABI from its headers and a release of its library.

    litert_tables.py SOURCES LIBRARY OUTPUT [--tags GIT_DIRECTORY]

SOURCES is a folder with a checkout of google-ai-edge/LiteRT, LIBRARY the file libLiteRt.so of the wheel
ai-edge-litert. OUTPUT receives functions.csv, layouts.csv, enums.csv and constants.csv; docs/litert has those of
the release that docs/litert-abi.md names. With --tags, functions.csv names the first tag whose headers declare
each function. Needs libclang from PyPI; neither the build nor the tests need this script.
"""

import argparse
import csv
import pathlib
import re
import subprocess

FOLDERS = ('litert/c', 'litert/c/internal', 'litert/c/options', 'litert/vendors/c')
# These headers are for C++: they have templates, string views or the headers of abseil.
CPP_ONLY = {'litert/c/internal/litert_options_helper.h'}
TABLES = {
    'runtime_c_api': 'litert/c/internal/litert_runtime_api_export.cc',
    'runtime_context': 'litert/c/internal/litert_runtime_context.cc',
    'compiler_context': 'litert/c/internal/litert_compiler_context.cc',
}
# Names of other libraries (TfLiteTensor, AHardwareBuffer) are declared in passing.
PREFIXES = ('LiteRt', 'Lrt', 'HwMemory', 'Profiled', 'Create', 'Destroy', 'Import', 'Lock', 'Unlock', 'Clear')
# Strings and numbers of C++ in headers, also outside of litert/c that files or environments contain.
CONSTANT_FILES = ('litert/core/build_stamp.h', 'litert/core/dynamic_loading.h', 'litert/vendors/c/litert_compiler_plugin_api.h')


def headers(sources):
    for folder in FOLDERS:
        for path in sorted((sources / folder).glob('*.h')):
            name = path.relative_to(sources).as_posix()
            if name not in CPP_ONLY:
                yield name


def parse(sources):
    """Returns clang's tree of one file that includes every header."""
    from clang import cindex

    text = ''.join(f'#include "{name}"\n' for name in headers(sources))
    system = subprocess.run(['gcc', '-print-file-name=include'], capture_output=True, text=True, check=True).stdout.strip()
    # The macros of the build and absl's string_view are not part of the ABI.
    stubs = {
        'litert/build_common/build_config.h': '',
        'absl/strings/string_view.h': 'namespace absl { struct string_view { constexpr string_view(const char*) {} }; }',
    }
    files = [('all.cc', text)] + [(str(sources / name), body) for name, body in stubs.items()]
    tree = cindex.Index.create().parse(
        'all.cc',
        ['-x', 'c++', '-std=c++20', f'-I{sources}', '-isystem', system],
        unsaved_files=files,
        options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
    )
    errors = [str(note) for note in tree.diagnostics if note.severity >= 3]
    if errors:
        raise SystemExit('\n'.join(errors[:20]))
    return tree


def flat(text):
    """Returns tokens as one line with the usual spaces."""
    text = re.sub(r'\s+', ' ', text)
    for pattern, new in (
        (r' ?([(\[]) ', r'\1'),
        (r' ([)\],;])', r'\1'),
        (r' \*', '*'),
        (r'\* \*', '**'),
        (r'\( ?\*', '(*'),
        (r'([*])(?=\w)', r'\1 '),
        (r'\(\* ', '(*'),
        (r'(\w)\(\*', r'\1 (*'),
        (r'(\w) \[', r'\1['),
        (r' ?:: ?', '::'),
        (r' < ', '<'),
        (r' >', '>'),
        (r'> &', '>&'),
    ):
        text = re.sub(pattern, new, text)
    return text.strip()


def signature(cursor):
    """Returns the declaration of a function or a variable in C, on one line."""

    def words(part):
        return flat(' '.join(token.spelling for token in part.get_tokens() if token.kind.name != 'COMMENT'))

    if cursor.kind.name == 'VAR_DECL':
        return words(cursor).removeprefix('extern ')
    parameters = [words(parameter) for parameter in cursor.get_arguments()]
    if cursor.type.kind.name == 'FUNCTIONPROTO' and cursor.type.is_function_variadic():
        parameters.append('...')
    return f'{c_type(cursor.result_type)} {cursor.spelling}({", ".join(parameters) or "void"})'


def declared(tree, sources):
    """Yields (header, cursor) of declarations at file scope, in their order."""
    prefix = f'{sources}/'

    def visit(cursor):
        for child in cursor.get_children():
            file = child.location.file
            if child.kind.name in ('LINKAGE_SPEC', 'UNEXPOSED_DECL'):
                yield from visit(child)
            elif file and file.name.startswith(prefix) and file.name[len(prefix) :].rsplit('/', 1)[0] in FOLDERS:
                yield file.name[len(prefix) :], child

    yield from visit(tree.cursor)


def exported(library):
    """Returns {symbol: (version, letter of nm)}."""
    lines = subprocess.run(
        ['nm', '-D', '--defined-only', '--with-symbol-versions', library], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {name.split('@')[0]: (name.split('@')[-1], letter) for _, letter, name in map(str.split, lines)}


def table_members(sources):
    """Returns {table: {function: member}}."""
    found = {}
    for table, file in TABLES.items():
        text = re.sub(r'//[^\n]*', '', (sources / file).read_text(encoding='utf-8'))
        pairs = re.findall(r'\.(\w+)\s*=\s*(LiteRt\w+)', text)
        found[table] = {function: member for member, function in pairs}
    return found


def first_tags(git_directory, names):
    """Returns {function: oldest tag whose headers declare it}."""
    git = ['git', f'--git-dir={git_directory}']
    tags = subprocess.run([*git, 'tag', '--sort=creatordate'], capture_output=True, text=True, check=True).stdout.split()
    found = {}
    for tag in tags:
        if not re.fullmatch(r'v\d+\.\d+\.\d+', tag):
            continue
        text = subprocess.run(
            [*git, 'grep', '-h', '-w', '-o', '-E', r'LiteRt\w+', tag, '--', 'litert/c/*.h', 'litert/vendors/c/*.h'],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        words = set(text.split())
        for name in names:
            if name in words:
                found.setdefault(name, tag)
    return found


def function_rows(tree, sources, library, git_directory):
    symbols, members = exported(library), table_members(sources)
    rows = {}
    for header, cursor in declared(tree, sources):
        words = [token.spelling for token in cursor.get_tokens()]
        if cursor.kind.name == 'FUNCTION_DECL':
            kind = 'inline' if 'inline' in words else 'c++' if 'std' in words else 'function'
            rows.setdefault(cursor.spelling, (header, kind, signature(cursor)))
        elif cursor.kind.name == 'VAR_DECL' and 'extern' in words:
            rows.setdefault(cursor.spelling, (header, 'data', signature(cursor)))
    for name, (_, kind) in symbols.items():
        rows.setdefault(name, ('', 'function' if kind == 'T' else 'data', ''))
    tags = first_tags(git_directory, rows) if git_directory else {}
    yield ['function', 'kind', 'header', 'signature', 'exported_by_wheel', *TABLES, 'first_tag']
    for name, (header, kind, text) in sorted(rows.items(), key=lambda item: (item[1][0], item[0])):
        yield [
            name,
            kind,
            header,
            text,
            symbols.get(name, ('no',))[0],
            *(members[table].get(name, 'no') for table in TABLES),
            tags.get(name, ''),
        ]


def c_type(kind):
    return re.sub(r'^(const )?class ', r'\1struct ', flat(kind.spelling))


def fields_of(kind, offset=0):
    """Yields (name, type, offset, size) in bytes; the offset of a bit field is BYTE:BIT, and members of an
    unnamed union are listed as members of the struct."""
    for field in kind.get_fields():
        at = offset + field.get_field_offsetof() // 8
        if field.is_anonymous() or not field.spelling or '(' in field.spelling:
            yield from fields_of(field.type, at)
        elif field.is_bitfield():
            bit = field.get_field_offsetof() % 8
            yield field.spelling, f'{c_type(field.type)}:{field.get_bitfield_width()}', f'{at}:{bit}', ''
        else:
            yield field.spelling, c_type(field.type), at, max(field.type.get_size(), 0)


def layout_rows(tree, sources):
    yield ['struct', 'field', 'c_type', 'offset', 'size']
    seen = set()
    for _, cursor in declared(tree, sources):
        if cursor.kind.name == 'STRUCT_DECL' and cursor.is_definition():
            name = cursor.spelling if not cursor.is_anonymous() else ''
            kind = cursor.type
        elif cursor.kind.name == 'TYPEDEF_DECL':
            name, kind = cursor.spelling, cursor.underlying_typedef_type.get_canonical()
        else:
            continue
        if '(' in name or not name.startswith(PREFIXES) or name in seen:
            continue
        if kind.kind.name == 'RECORD' and kind.get_size() > 0:
            seen.add(name)
            for field in fields_of(kind):
                yield [name, *field]
            yield [name, '<total>', 'struct', 0, kind.get_size()]
        elif cursor.kind.name == 'TYPEDEF_DECL' and kind.kind.name == 'POINTER':
            seen.add(name)
            pointee = kind.get_pointee()
            what = {'RECORD': '<handle>', 'FUNCTIONPROTO': '<callback>'}.get(pointee.kind.name, '<typedef>')
            yield [name, what, c_type(cursor.underlying_typedef_type), 0, kind.get_size()]
        elif cursor.kind.name == 'TYPEDEF_DECL' and kind.kind.name not in ('ENUM', 'RECORD'):
            seen.add(name)
            yield [name, '<typedef>', c_type(cursor.underlying_typedef_type), 0, kind.get_size()]


def enum_rows(tree, sources):
    yield ['enum', 'name', 'value', 'sizeof_enum']
    seen = set()
    for _, cursor in declared(tree, sources):
        if cursor.kind.name != 'ENUM_DECL' or not cursor.is_definition():
            continue
        name = '' if '(' in cursor.spelling else cursor.spelling
        for value in cursor.get_children():
            if value.kind.name == 'ENUM_CONSTANT_DECL' and value.spelling not in seen:
                seen.add(value.spelling)
                yield [name, value.spelling, value.enum_value, cursor.type.get_size()]


def resolved(value, values):
    """Returns the number or string of a macro that names another macro; None if it is neither."""
    while value in values and values[value] != value:
        value = values[value]
    return value if re.fullmatch(r'"[^"]*"|-?\d\w*', value) else None


def constant_rows(tree, sources):
    yield ['constant', 'value', 'header']
    values, files = {}, {}
    for cursor in tree.cursor.get_children():
        file = cursor.location.file
        if cursor.kind.name == 'MACRO_DEFINITION' and file and file.name.startswith(f'{sources}/litert/'):
            name, *value = [token.spelling for token in cursor.get_tokens()]
            values.setdefault(name, ' '.join(value))
            files.setdefault(name, file.name[len(f'{sources}/') :])
    for name, header in files.items():
        value = resolved(values[name], values)
        if value and not name.startswith('LITERT_LOG'):
            yield [name, value, header]
    for header in CONSTANT_FILES:
        text = (sources / header).read_text(encoding='utf-8')
        for name, value in re.findall(r'constexpr\s+[\w:]+\s+(k\w+)(?:\[\])?\s*(?:=|\{)?\s*("[^"]*"|[\d.xA-Fa-f]+)', text):
            yield [name, value, header]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('sources', type=pathlib.Path, help='folder with the sources of LiteRT')
    parser.add_argument('library', type=pathlib.Path, help='libLiteRt.so of the wheel')
    parser.add_argument('output', type=pathlib.Path, help='folder of the tables')
    parser.add_argument('--tags', type=pathlib.Path, help='git directory with the tags of LiteRT')
    arguments = parser.parse_args()
    sources = arguments.sources.resolve()
    tree = parse(sources)
    for name, rows in (
        ('functions', function_rows(tree, sources, arguments.library, arguments.tags)),
        ('layouts', layout_rows(tree, sources)),
        ('enums', enum_rows(tree, sources)),
        ('constants', constant_rows(tree, sources)),
    ):
        with open(arguments.output / f'{name}.csv', 'w', encoding='utf-8', newline='') as file:
            csv.writer(file, lineterminator='\n').writerows(rows)


if __name__ == '__main__':
    main()
