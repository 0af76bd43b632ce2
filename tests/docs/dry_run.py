#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the arguments of a program of the documents instead of running it; programs_test.py puts links
to this script into PATH under the names of the programs.

The variable DOCS_BUILD is the build folder.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get('DOCS_BUILD', 'build/release'))
VARIABLE = re.compile(r'([A-Z_]+)=')


def output_of(*command):
    """Returns the output of a command, which must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stdout + done.stderr)
    return done.stdout


def make(arguments):
    """Checks that targets exist, by make -n, and that the Makefile uses the variables."""
    text = (ROOT / 'Makefile').read_text(encoding='utf-8')
    for name in filter(None, map(VARIABLE.match, arguments)):
        if not re.search(rf'^{name[1]}\b|\$[({{]?{name[1]}\b', text, re.M):
            raise ValueError(f'the Makefile has no variable {name[1]}')
    targets = [argument for argument in arguments if '=' not in argument]
    for target in targets:
        if not re.search(rf'^(?:[\w -]* )?{re.escape(target)}(?: [\w -]*)?:', text, re.M):
            raise ValueError(f'the Makefile has no target {target}')


def cmake(arguments):
    """Checks the options of the project, presets and the toolchain file."""
    cache = (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
    for name in re.findall(r'-D(DEPUTY_\w+)=', ' '.join(arguments)):
        if f'\n{name}:' not in cache:
            raise ValueError(f'CMake has no option {name}')
    for option, value in zip(arguments, arguments[1:]):
        if option == '--toolchain' and not value.startswith('/') and not (ROOT / value).exists():
            raise ValueError(f'the file {value} does not exist')
        if option == '--preset' and f'"name": "{value}"' not in (ROOT / 'CMakePresets.json').read_text():
            raise ValueError(f'CMake has no preset {value}')


def ninja(arguments):
    """Checks that targets exist."""
    targets = [argument for argument in arguments if not argument.startswith('-')]
    for target in targets[arguments[:1] == ['-C']:]:
        output_of('ninja', '-C', BUILD, '-t', 'query', target)


def ctest(arguments):
    """Checks that the pattern selects at least one test."""
    if '\nTotal Tests: 0\n' in output_of('ctest', '--test-dir', BUILD, '-N', *arguments):
        raise ValueError('no test matches')


def test_program(arguments):
    """Checks that a program of tests exists, and that the filter selects at least one test."""
    name, *options = arguments
    if 'Gpu' in ''.join(options) and not (BUILD / 'libdeputy_gpu.so').exists():
        return  # The headers of OpenCL are not installed.
    program = BUILD / 'tests' / name
    if not program.exists():
        targets = (BUILD / 'build.ninja').read_text(encoding='utf-8')
        if f'\nbuild {name}: phony ' not in targets:
            raise ValueError(f'there is no test program {name}')
        return  # It is not built.
    filters = [option for option in options if option.startswith('--gtest_filter=')]
    if filters and len(output_of(program, '--gtest_list_tests', *filters).split('\n')) < 3:
        raise ValueError(f'no test of {name} matches {filters[0]}')


def test_script(arguments):
    """Checks that a script of tests exists, and that it has the classes and functions that are named."""
    name, *options = arguments
    text = (ROOT / name).read_text(encoding='utf-8')
    for word in '.'.join(option for option in options if re.match(r'[A-Z][A-Za-z]*\.|[A-Z][a-z]', option)).split('.'):
        if word and not re.search(rf'(class|def) \w*{word}\w*\b', text):
            raise ValueError(f'{name} has no test {word}')


def python3(arguments):
    """Runs Python itself, but only checks scripts of tests and the options of tools."""
    if arguments and arguments[0].endswith('_test.py'):
        test_script(arguments)
    elif arguments and arguments[0].startswith(('tools/', 'tests/')):
        path = ROOT / arguments[0]
        text = ''.join(file.read_text(encoding='utf-8') for file in (path.glob('*.py') if path.is_dir() else [path]))
        for option in filter(lambda word: word.startswith('--'), arguments[1:]):
            if f"'{option}'" not in text and f'"{option}"' not in text:
                raise ValueError(f'{arguments[0]} has no option {option}')
    else:
        os.execv('/usr/bin/python3', ['python3', *arguments])


def pkg_config(arguments):
    """Prints the flags of the build for a package that the build has."""
    for name in (argument for argument in arguments if not argument.startswith('--')):
        if not (BUILD / f'pkgconfig/{name}.pc').exists():
            raise ValueError(f'there is no package {name}')
        folder = BUILD / 'drop-in' if name.startswith('tensor') else BUILD
        library = {'tensorflow-lite': 'tensorflowlite_c'}.get(name, name)
        print(f'-I{BUILD}/include -I{BUILD}/include/mindspore -L{folder} -l{library} -Wl,-rpath,{folder}')


PROGRAMS = {'cmake': cmake, 'ctest': ctest, 'make': make, 'ninja': ninja, 'pkg-config': pkg_config,
            'python3': python3, 'python': python3, 'test_program': test_program}

if __name__ == '__main__':
    name = pathlib.Path(sys.argv[0]).name
    if name not in PROGRAMS:
        print(f'usage: a link to this script, named {", ".join(PROGRAMS)}, with its arguments')
        sys.exit(0)
    # Programs that this script starts are those of the machine.
    os.environ['PATH'] = ':'.join(os.environ['PATH'].split(':')[1:])
    try:
        PROGRAMS[name](sys.argv[1:])
    except (OSError, ValueError) as error:
        sys.exit(f'{name}: {error}')
