# SPDX-License-Identifier: Apache-2.0
"""Finds the fenced blocks of the documents, and the commands in them with the output that follows."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMENT = re.compile(r'\s+#\s.*$')


@dataclasses.dataclass
class Block:
    """A fenced block; `line` is the number of its first line in the page."""
    page: str
    line: int
    language: str
    text: str

    def __str__(self):
        return f'{self.page}:{self.line}'


@dataclasses.dataclass
class Command:
    """A command, its continuation lines joined, without a comment; `output` are the lines below it."""
    block: Block
    text: str
    output: list

    def __str__(self):
        return f'{self.block}: {self.text}'


def pages():
    """Returns the paths of the documents, relative to the root."""
    found = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').rglob('*.md'))]
    return [str(path.relative_to(ROOT)) for path in found]


def blocks_of(page, text):
    """Returns the fenced blocks of a page."""
    found, begin, language, indent = [], None, '', 0
    lines = text.split('\n')
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith('```'):
            continue
        if begin is None:
            begin, language, indent = number, line.strip()[3:], len(line) - len(line.lstrip())
        else:
            body = [row[indent:] for row in lines[begin:number - 1]]
            found.append(Block(page, begin + 1, language, '\n'.join(body) + '\n'))
            begin = None
    if begin is not None:
        raise ValueError(f'{page}:{begin}: the block has no end')
    return found


def all_blocks():
    """Returns the fenced blocks of all documents."""
    return [block for page in pages()
            for block in blocks_of(page, (ROOT / page).read_text(encoding='utf-8'))]


def is_open(text):
    """Returns whether a command continues on the next line: a backslash or an open quotation mark."""
    return text.endswith('\\') or text.count('"') % 2 == 1 or text.count("'") % 2 == 1


def commands_of(block):
    """Returns the commands of a block. If a line begins with '$ ', the other lines are output."""
    prompts = any(line.startswith('$ ') for line in block.text.split('\n'))
    found, text = [], ''
    for line in block.text.rstrip('\n').split('\n'):
        if not text and prompts and not line.startswith('$ '):
            if found:
                found[-1].output.append(line)
            continue
        if not text and (not line.strip() or line.startswith('#')):
            continue
        line = COMMENT.sub('', line.removeprefix('$ ') if prompts and not text else line)
        text = f'{text}\n{line}' if text else line
        if not is_open(text):
            found.append(Command(block, text.replace('\\\n', ' '), []))
            text = ''
    if text:
        raise ValueError(f'{block}: the command has no end: {text}')
    return found


def programs_of(text):
    """Returns the words that are in the position of a program in a command line."""
    found, expects = [], True
    for word in re.findall(r"'[^']*'|\"[^\"]*\"|\$\([^)]*\)|&&|\|\||[|;&]|[^\s|;&]+", text):
        if word in ('&&', '||', '|', ';', '&'):
            expects = True
        elif expects and not re.match(r'[A-Z_]+=', word):
            found.append(word)
            expects = False
    return found
