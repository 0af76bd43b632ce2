# SPDX-License-Identifier: Apache-2.0
"""Finds the places in a source file where a small change alters the program."""
import dataclasses
import random
import re

FOLDERS = ('core', 'kernels', 'c_api', 'compiler', 'gpu_cl', 'npu_stub', 'mindspore', 'bridges',
           'tools')
KINDS = ('swapped argument', 'dropped call', 'negated condition', 'changed constant')

CALL = re.compile(r'^(\s+)((?:[A-Za-z_]\w*(?:::|\.|->))*[A-Za-z_]\w*)\(.*\);\s*(?://.*)?$')
NOT_CALLS = {'return', 'if', 'while', 'for', 'switch', 'static_assert', 'assert', 'sizeof', 'defined'}
CONDITION = re.compile(r'\b(if|while) \(')
COMPARISON = re.compile(r' (==|!=|<=|>=|<|>) ')
OPPOSITE = {'==': '!=', '!=': '==', '<': '>=', '>=': '<', '>': '<=', '<=': '>'}
NUMBER = re.compile(r'(?<![\w.\'"])(\d+)(?![\w.\'])')
TRUTH = re.compile(r'\b(true|false)\b')
ARGUMENTS = re.compile(r'[\w>\]]\(([^()"]*)\)')


@dataclasses.dataclass(frozen=True)
class Mutation:
    """A mutation: `before` is replaced by `after`: the whole line `line` (from 1) of `path`, or, if `line` is
    0, a text that occurs once."""
    kind: str
    path: str
    line: int
    before: str
    after: str


def sources(root):
    """Returns the sources of the libraries and the command, as paths relative to `root`."""
    found = [path for folder in FOLDERS for pattern in ('*.cc', '*.c', '*.inc')
             for path in (root / folder).rglob(pattern)]
    return sorted(str(path.relative_to(root)) for path in found)


def without_comments(text):
    """Returns the lines of a source with comments and texts blanked, column by column."""
    out, i, state = [], 0, None
    while i < len(text):
        two = text[i:i + 2]
        if state is None and two in ('//', '/*'):
            state = two
        elif state is None and text[i] in '"\'' and not (text[i] == "'" and text[i - 1:i].isdigit()):
            state = text[i]
            out.append(text[i])
            i += 1
            continue
        if state is None:
            out.append(text[i])
        elif state in ('"', "'"):
            if text[i] == '\\':
                out.append('  ')
                i += 2
                continue
            closes = text[i] == state or text[i] == '\n'
            out.append(text[i] if closes else ' ')
            state = None if closes else state
        elif state == '//':
            out.append('\n' if text[i] == '\n' else ' ')
            state = None if text[i] == '\n' else state
        elif two == '*/':
            out.append('  ')
            state = None
            i += 2
            continue
        else:
            out.append('\n' if text[i] == '\n' else ' ')
        i += 1
    return ''.join(out).split('\n')


def closing(code, opening):
    """Returns the column of the parenthesis that closes the one at `opening`; -1 if it is on another line."""
    depth = 0
    for at in range(opening, len(code)):
        depth += {'(': 1, ')': -1}.get(code[at], 0)
        if depth == 0:
            return at
    return -1


def swapped_arguments(line, code):
    for found in ARGUMENTS.finditer(code):
        parts = found[1].split(',')
        if not 2 <= len(parts) <= 6 or any('<' in part or not part.strip() for part in parts):
            continue
        for i in range(len(parts) - 1):
            first, second = parts[i].strip(), parts[i + 1].strip()
            if first == second or ' ' in first + second:  # two words: a declaration with a type
                continue
            at = found.start(1) + len(','.join(parts[:i])) + (1 if i else 0)
            end = at + len(parts[i]) + 1 + len(parts[i + 1])
            original = line[at:end]
            lead = original[:len(original) - len(original.lstrip())]
            yield line[:at] + lead + second + ', ' + first + line[end:]


def dropped_calls(line, code):
    found = CALL.match(code)
    if found and found[2] not in NOT_CALLS and not found[2].isupper():
        yield found[1] + ';'


def negated_conditions(line, code):
    for found in CONDITION.finditer(code):
        if found[0].endswith('constexpr ('):
            continue
        opening = found.end() - 1
        end = closing(code, opening)
        if end > 0 and ';' not in code[opening:end] and ' = ' not in code[opening:end]:
            yield line[:opening] + '(!' + line[opening:end + 1] + ')' + line[end + 1:]
    if code.strip().startswith('return ') and '<<' not in code and 'template' not in code:
        for found in COMPARISON.finditer(code):
            yield line[:found.start(1)] + OPPOSITE[found[1]] + line[found.end(1):]


def changed_constants(line, code):
    if code.lstrip().startswith(('case ', '#', 'namespace', 'static_assert')):
        return
    for found in NUMBER.finditer(code):
        other = str(int(found[1]) + 1) if found[1] != '1' else '0'
        yield line[:found.start()] + other + line[found.end():]
    for found in TRUTH.finditer(code):
        yield line[:found.start()] + {'true': 'false', 'false': 'true'}[found[1]] + line[found.end():]


FINDERS = dict(zip(KINDS, (swapped_arguments, dropped_calls, negated_conditions, changed_constants)))


def mutations_of(path, text):
    """Returns all mutations of a file, by kind."""
    found = {kind: [] for kind in KINDS}
    if '\\\n' in text:  # continuation lines of a macro must not be treated as code
        text = text.replace('\\\n', ' \n')
    lines = text.split('\n')
    for number, (line, code) in enumerate(zip(lines, without_comments(text)), start=1):
        if code.lstrip().startswith('#'):
            continue
        for kind, finder in FINDERS.items():
            found[kind] += [Mutation(kind, path, number, line, after)
                            for after in finder(line, code) if after != line]
    return found


def draw(root, seed, count):
    """Draws `count` mutations of the tree: first a kind, then one of its places, with equal probability."""
    places = {kind: [] for kind in KINDS}
    for path in sources(root):
        for kind, found in mutations_of(path, (root / path).read_text(encoding='utf-8')).items():
            places[kind] += found
    chance = random.Random(seed)
    drawn = []
    while len(drawn) < count:
        mutation = chance.choice(places[chance.choice(KINDS)])
        if mutation not in drawn:
            drawn.append(mutation)
    return drawn
