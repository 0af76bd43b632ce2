#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that comments, messages, names and documents are plain technical English.

    check_english.py                    counts per folder against tools/english_budgets.txt
    check_english.py --list PATH...     findings below the given files and folders
    check_english.py --write-budgets    lowers the budgets to the counts
    check_english.py --subjects RANGE   subjects of the commits of a range, for example main..HEAD
    check_english.py --self-test        plants each pattern and checks that it is found

A comment block must not begin with a sentence fragment (FRAGMENT), and no text may contain the words of
WORDS, which docs/style.md replaces by the terms of the field. NAMES applies to identifiers. A budget is
the number of findings that a folder may have; the check fails if a folder exceeds it.
"""
import argparse
import ast
import collections
import dataclasses
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGETS = ROOT / 'tools' / 'english_budgets.txt'

FRAGMENT = re.compile(r'(What|Whether|Of|How|Who|Whose|Whoever|Whom|That|As|Such|The same|So that|Nobody|'
                      r'Somebody)\b(?!.*\?$)')
# Pattern and the term that replaces it. docs/style.md has the whole glossary.
WORDS = [(re.compile(rf'\b(?:{pattern})\b', re.IGNORECASE), term) for pattern, term in (
    (r'who(?:so)?ever|nobody|somebody|some ?one|no one|theirs|strangers?', 'the name of the component'),
    (r'(?:is|are|was|were|be|been|being) told|tells? (?:it|them)', 'receives, is notified'),
    (r'asks?|asked|asking', 'call, request, query'),
    (r'answers?|answered|answering', 'result; return, report'),
    (r'hears?|listens?(?: to)?', 'is notified'),
    (r'lets? go(?: of)?|letting go', 'release'),
    (r'(?:take|takes|taking|taken|took) (?:(?:it|them|that) )?back', 'roll back, undo, restore'),
    (r'(?:give|gives|giving|given|gave) (?:(?:it|them|that) )?back', 'release, return'),
    (r'(?:stand|stands|standing|stood) in(?: for)?|stand-ins?', 'fallback, test double, replace'),
    (r'hands? (?:it |them )?over(?: to)?|(?:in|into) .{0,12}hands', 'pass, transfer'),
    (r'of its own accord', 'unrequested'),
    (r'so many|as many as there (?:are|may be)', 'the number, upper bound'),
    (r'memory is short|short of memory|memory is refused', 'out of memory'),
    (r'rests(?! on)|the rest of a (?:panel|row|block|vector)', 'remainder'),
    (r'comes from far|ahead', 'prefetch; before, earlier'),
    (r'behind', 'after, following'),
    (r'beside', 'with, next to, in addition to'),
    (r'rooms?|houses?|doors?|halls?|roads?|walk(?:s|ed|ing)?', 'space, module, entry point, traverse'),
    (r'makers?|readers? of (?:it|a tensor|the tensor)', 'producer, consumer'),
    (r'in (?:its|their|his) turn|out of turn', 'at its position'),
    (r'pictures?', 'image, batch element'),
    (r'in the (?:morning|evening|night)', 'nothing: history belongs to git'),
)]
NAMES = [(re.compile(pattern), term) for pattern, term in (
    (r'\bk(?:Most|Fewest|Greatest)[A-Z]\w*|\bkLeast(?!Squares)[A-Z]\w*', 'kMax…, kMin…'),
    (r'\b\w*(?:NodeAnswer|SupportAnswer|NotAsked|ReasonTaken)\w*', 'the final public name'),
    (r'\b(?:Whoever|Nobody|Somebody|Whose)[A-Z]\w*', 'a name without people'),
    (r'\bTakeBack\w*|\bLetGo\w*|\bGiveBack\w*', 'Rollback, Release'),
)]
# First words that make a commit subject a description instead of a command.
NOT_IMPERATIVE = re.compile(r'(?:a|an|the|what|of|whether|who|that|how|there|it|no|all|every|one|two|some|more|'
                            r'its|each|both|[0-9]+|\w+(?:ed|ing)|(?!address|access|bypass|compress|cross|discuss|'
                            r'express|focus|miss|pass|process|suppress|bus|canvas|alias)\w+s)\b', re.IGNORECASE)
VERBS = re.compile(r'(?:feed|embed|need|seed|shed|speed|bring|string|ping)\b', re.IGNORECASE)
SUBJECT_COLUMNS = 72

C_SUFFIXES = {'.c', '.cc', '.cl', '.h', '.hpp', '.inc', '.in', '.java', '.go', '.rs', '.mjs'}
HASH_SUFFIXES = {'.sh', '.cmake', '.lua', '.supp', '.map', ''}
C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
                     r"(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.DOTALL)
# Files whose words are data: upstream's names and texts, golden rows, other projects' licences.
DATA = re.compile(r'\.(?:golden|results|png|tflite|npy|csv|jsonl|json|fbs)$|^LICENSE$|^tests/golden/.*\.txt$|'
                  r'^tools/check_english\.py$|^tools/english_budgets\.txt$')


@dataclasses.dataclass
class Text:
    """A comment block, a string, code with names or a paragraph, with the line on which it begins."""
    line: int
    kind: str  # 'comment', 'string', 'name', 'prose'
    words: str


@dataclasses.dataclass
class Finding:
    path: str
    line: int
    words: str
    term: str

    def __str__(self):
        return f'{self.path}:{self.line}: {self.words} -> {self.term}'


def joined(blocks):
    """Joins the comments of adjacent lines. `blocks` are pairs of line and words, one per whole-line
    comment."""
    texts = []
    last = None
    for line, words in blocks:
        if texts and line == last + 1:
            texts[-1].words += '\n' + words
        else:
            texts.append(Text(line, 'comment', words))
        last = line
    return [part for text in texts for part in paragraphs(text)]


def paragraphs(text):
    """Returns the paragraphs of a comment block: an empty comment line separates them."""
    parts, line = [], text.line
    for part in re.split(r'\n[ \t]*\n', text.words):
        parts.append(Text(line, text.kind, part))
        line += part.count('\n') + 2
    return parts


def c_texts(source):
    whole_lines, texts, code, end = [], [], [], 0
    for match in C_TOKEN.finditer(source):
        token, line = match.group(), source.count('\n', 0, match.start()) + 1
        code.append(source[end:match.start()])
        end = match.end()
        if token.startswith('/*'):
            words = re.sub(r'^[ \t]*\*[ \t]?', '', token[2:-2].lstrip('*!'), flags=re.MULTILINE)
            texts += paragraphs(Text(line, 'comment', words.strip()))
        elif token.startswith('//'):
            words = re.sub(r'^//[/!<]*[ \t]?', '', token)
            before = source[source.rfind('\n', 0, match.start()) + 1:match.start()]
            if before.strip():
                texts.append(Text(line, 'comment', words))
            else:
                whole_lines.append((line, words))
            code.append(' ')
        else:
            texts.append(Text(line, 'string', token))
    code.append(source[end:])
    return joined(whole_lines) + texts + names(''.join(code))


def names(code):
    return [Text(number, 'name', line) for number, line in enumerate(code.split('\n'), 1)]


def python_texts(source):
    whole_lines, texts = [], []
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token in tokens:
        if token.type == tokenize.COMMENT:
            words = token.string.lstrip('#').strip()
            if token.line.strip().startswith('#'):
                whole_lines.append((token.start[0], words))
            else:
                texts.append(Text(token.start[0], 'comment', words))
        elif token.type == tokenize.NAME:
            texts.append(Text(token.start[0], 'name', token.string))
    documented = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, 'body', None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                documented.add(id(value))
                texts += paragraphs(Text(value.lineno, 'comment', value.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            texts.append(Text(node.lineno, 'string', node.value))
    return joined(whole_lines) + texts


def hash_texts(source):
    whole_lines, texts = [], []
    for number, line in enumerate(source.split('\n'), 1):
        match = re.match(r'\s*#+!?\s?(.*)', line)
        if match:
            whole_lines.append((number, match.group(1)))
        elif line.strip():
            texts.append(Text(number, 'string', line))
    return joined(whole_lines) + texts


def prose_texts(source):
    texts, fenced, begin, lines = [], False, 0, []
    for number, line in enumerate(source.split('\n') + [''], 1):
        fence = line.lstrip().startswith('```')
        fenced ^= fence
        if fenced or fence or not line.strip() or re.match(r'\s*([-*|#>]|\d+\.)', line):
            if lines:
                texts.append(Text(begin, 'comment', '\n'.join(lines)))
                lines = []
        if not fenced and not fence and line.strip():
            if re.match(r'\s*([-*|#>]|\d+\.)', line):
                texts.append(Text(number, 'prose', line))
            else:
                begin = begin if lines else number
                lines.append(line)
    return texts


def texts_of(path, source):
    suffix = pathlib.PurePath(path).suffix
    if suffix == '.py':
        return python_texts(source)
    if suffix == '.md':
        return prose_texts(source)
    if suffix in C_SUFFIXES:
        return c_texts(source)
    if suffix in HASH_SUFFIXES or path.endswith('CMakeLists.txt') or suffix == '.txt':
        return hash_texts(source)
    return [Text(1, 'prose', source)]


def findings_in(path, source):
    found = []
    for text in texts_of(path, source):
        patterns = NAMES if text.kind == 'name' else WORDS
        if text.kind == 'comment' and FRAGMENT.match(text.words):
            begin = text.words.split('\n')[0][:60]
            found.append(Finding(path, text.line, begin, 'a sentence about the thing below'))
        for pattern, term in patterns:
            for match in pattern.finditer(text.words):
                line = text.line + text.words.count('\n', 0, match.start())
                found.append(Finding(path, line, match.group().replace('\n', ' '), term))
    return found


def files(paths):
    listed = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard',
                             '--', *paths], check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split('\0') if name and not DATA.search(name)
            and (ROOT / name).is_file()]


def findings(paths):
    found = []
    for name in files(paths):
        try:
            source = (ROOT / name).read_text(encoding='utf-8')
        except UnicodeDecodeError:
            continue
        found += findings_in(name, source)
    return found


def folder_of(path):
    """Returns the folder whose budget counts a file: two levels in core and kernels, else one."""
    parts = pathlib.PurePath(path).parts
    if len(parts) == 1:
        return '.'
    return '/'.join(parts[:2]) if parts[0] in ('core', 'kernels') and len(parts) > 2 else parts[0]


def read_budgets():
    rows = [line.split() for line in BUDGETS.read_text(encoding='utf-8').splitlines()
            if line and not line.startswith('#')]
    return {folder: int(count) for folder, count in rows}


def lowered(budgets, counts):
    """Returns the budgets without slack; a count above its budget has no effect."""
    return {folder: min(budget, counts[folder]) for folder, budget in budgets.items()}


def write_budgets(budgets):
    rows = ''.join(f'{folder} {count}\n' for folder, count in sorted(budgets.items()) if count)
    BUDGETS.write_text('# Findings of tools/check_english.py that each folder may have. Only lowered, by '
                       '--write-budgets.\n' + rows, encoding='utf-8')


def check_budgets(counts):
    status = 0
    budgets = read_budgets()
    for folder in sorted(set(counts) | set(budgets)):
        count, budget = counts[folder], budgets.get(folder, 0)
        if count > budget:
            print(f'check_english.py: {folder}: expected at most {budget} findings, found {count}; list '
                  f'them with --list {folder}')
            status = 1
    return status


def wrong_subject(subject):
    """Returns the reason why a commit subject breaks the rules, or an empty text."""
    if len(subject) > SUBJECT_COLUMNS:
        return f'expected at most {SUBJECT_COLUMNS} columns, found {len(subject)}'
    command = re.sub(r'^[^:]{1,60}: ', '', subject)
    if NOT_IMPERATIVE.match(command) and not VERBS.match(command):
        return f'expected an imperative verb, found "{command.split()[0]}"'
    return ''


def check_subjects(commits):
    log = subprocess.run(['git', '-C', ROOT, 'log', '--no-merges', '--format=%h %s', commits], check=True,
                         capture_output=True, text=True).stdout
    status = 0
    for row in log.splitlines():
        commit, _, subject = row.partition(' ')
        reason = wrong_subject(subject)
        if reason:
            print(f'check_english.py: {commit} {subject}: {reason}')
            status = 1
    return status


PLANTED = (
    ('a.cc', '// What a group costs.\nint a;\n', 'What a group costs.'),
    ('a.cc', 'int a;  // Whether it is set\n', 'Whether it is set'),
    ('a.cc', '// A sentence.\n//\n// That it fits.\n', 'That it fits.'),
    ('a.h', '/* Of two values\n * the first. */\n', 'Of two values'),
    ('a.inc', 'Fail("%s: nobody reads it");\n', 'nobody'),
    ('a.cc', 'constexpr int kMostTiles = 4;\n', 'kMostTiles'),
    ('a.py', '"""Lines.\n\nHow many are left."""\n', 'How many are left.'),
    ('a.py', 'def f():\n    return "it is asked"\n', 'asked'),
    ('a.py', '# The same for rows\n', 'The same for rows'),
    ('a.sh', '# Whoever calls it\n', 'Whoever calls it'),
    ('CMakeLists.txt', 'message("memory is short")\n', 'memory is short'),
    ('a.md', 'Text.\n\nWho runs it is shown.\n', 'Who runs it is shown.'),
    ('a.md', '| a | what stands in for it |\n', 'stands in for'),
)
PLAIN = (
    ('a.cc', '// Number of columns per tile.\nconst char* a = "expected 2, found 3";\n'),
    ('a.cc', "char a = '\"'; // A quote.\nconst char* url = \"http://example.com\";\n"),
    ('a.md', '## How to repeat it\n\n```\nask\n```\n'),
    ('a.py', '"""Prints the table."""\nvalue = 1  # bytes\n'),
)
SUBJECTS = (('core: the plan is made once', 'imperative'), ('core: makes a plan', 'imperative'),
            ('core: added a plan', 'imperative'), ('core: ' + 'a' * 80, '72 columns'),
            ('core: add a plan', ''), ('core/exec: pass groups by value', ''), ('Embed the schema', ''))


def self_test():
    failures = []
    for path, source, expected in PLANTED:
        if not any(finding.words == expected for finding in findings_in(path, source)):
            failures.append(f'not found in {path}: {expected}')
    for pattern, _ in WORDS:
        if not any(pattern.search(source) for _, source, _ in PLANTED) and not sample_of(pattern):
            failures.append(f'no sample matches {pattern.pattern}')
    for path, source in PLAIN:
        failures += [f'found in plain text: {finding}' for finding in findings_in(path, source)]
    for subject, reason in SUBJECTS:
        if bool(reason) != bool(wrong_subject(subject)) or reason not in wrong_subject(subject):
            failures.append(f'subject "{subject}": expected "{reason}", found "{wrong_subject(subject)}"')
    budgets = lowered({'a': 3, 'b': 3, 'c': 3}, collections.Counter({'a': 2, 'b': 4, 'd': 1}))
    if budgets != {'a': 2, 'b': 3, 'c': 0}:
        failures.append(f'budgets were not only lowered: {budgets}')
    for failure in failures:
        print(f'check_english.py: self-test: {failure}')
    return 1 if failures else 0


# One text for each pattern of WORDS that PLANTED does not contain.
SAMPLES = ('is told', 'answers', 'hears', 'lets go of', 'takes it back', 'gives back', 'hands over to',
           'of its own accord', 'so many', 'rests', 'ahead', 'behind', 'beside', 'rooms', 'maker',
           'in its turn', 'picture', 'in the morning')


def sample_of(pattern):
    return any(pattern.search(sample) for sample in SAMPLES)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--list', nargs='+', metavar='PATH')
    parser.add_argument('--write-budgets', action='store_true')
    parser.add_argument('--subjects', metavar='RANGE')
    parser.add_argument('--self-test', action='store_true')
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.subjects:
        return check_subjects(options.subjects)
    found = findings(options.list or [])
    if options.list:
        print('\n'.join(map(str, found)))
        return 1 if found else 0
    counts = collections.Counter(folder_of(finding.path) for finding in found)
    if options.write_budgets:
        write_budgets(lowered(read_budgets(), counts))
    return check_budgets(counts)


if __name__ == '__main__':
    sys.exit(main())
