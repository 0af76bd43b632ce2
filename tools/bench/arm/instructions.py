# SPDX-License-Identifier: Apache-2.0
"""Counts of AArch64 instructions by class and of the bytes that they load and store.

A profile is a dictionary {words: executions}; `words` are the instructions of a block as written by
count_blocks.c. Blocks with equal instructions are merged, so that addresses do not matter.
"""
import collections
import re
import subprocess

DISASSEMBLER = 'llvm-mc-19'
FEATURES = '+v8.6a,+sve,+sve2,+i8mm,+bf16,+fullfp16,+fp16fml,+dotprod,+crypto,+rand,+mte'
UNKNOWN = 'unknown'

_PREFETCH = re.compile(r'prf')
_LOAD = re.compile(r'ld')
_STORE = re.compile(r'st')
_BRANCH = re.compile(r'(b|b\..*|bl|br|blr|ret\w*|cbn?z|tbn?z)$')
_MATRIX = re.compile(r'([su]|us|bf)mmla$')
_DOT = re.compile(r'([su]|us|su|bf)dot$')
_MULTIPLY_ADD = re.compile(r'(fml[as]l?2?|ml[as]|[su]ml[as]l2?|bfmlal[bt])$')
_MULTIPLY = re.compile(r'(fmulx?|mul|[su]mull2?|sqr?dmulh|sqdmull2?)$')
_VECTOR_REGISTER = re.compile(r'\b[vz]\d+\.\w|\{ [vz]\d+|\b[pq]\d+\b')
_FLOAT_REGISTER = re.compile(r'\b[bhsd]\d+\b')

_SIZES = {'b': 1, 'h': 2, 's': 4, 'd': 8, 'q': 16, 'w': 4, 'x': 8, 'z': 16}
_NARROW = re.compile(r'(?:ld|st)[a-z]*?r(s?)([bhw])$')
_LIST = re.compile(r'\{ ([^}]*) \}(\[\d+\])?')
_ARRANGEMENT = re.compile(r'\.(\d*)([bhsd])')


def read_profile(lines):
    """Returns the profile of a file of count_blocks.c."""
    profile = collections.Counter()
    for line in lines:
        executions, _, *words = line.split()
        profile[tuple(words)] += int(executions)
    return profile


def difference(more, fewer, inferences):
    """Returns the profile of one inference: `more` has `inferences` inferences more than `fewer`."""
    profile = {}
    for words in more.keys() | fewer.keys():
        executions = (more.get(words, 0) - fewer.get(words, 0)) / inferences
        if executions:
            profile[words] = executions
    return profile


def _bytes_of(word):
    return ' '.join(f'0x{byte:02x}' for byte in int(word, 16).to_bytes(4, 'little'))


def disassemble(words):
    """Returns {word: assembly text}; the text of an invalid word is UNKNOWN."""
    words = sorted(words)
    result = subprocess.run([DISASSEMBLER, '--disassemble', '--triple=aarch64', f'--mattr={FEATURES}'],
                            input='\n'.join(map(_bytes_of, words)), capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1):
        raise RuntimeError(f'{DISASSEMBLER}: {result.stderr.strip()}')
    invalid = {int(line) for line in re.findall(r'<stdin>:(\d+):\d+: warning: invalid', result.stderr)}
    texts = iter([' '.join(line.split()) for line in result.stdout.splitlines()
                  if line.strip() and not line.strip().startswith('.')])
    return {word: UNKNOWN if number in invalid else next(texts) for number, word in enumerate(words, 1)}


def _is_vector(text):
    return _VECTOR_REGISTER.search(text) is not None


def class_of(text):
    """Returns the class of an instruction, by its mnemonic and its registers."""
    name = text.split()[0]
    if text == UNKNOWN:
        return UNKNOWN
    if _PREFETCH.match(name):
        return 'prefetch'
    if _LOAD.match(name) or _STORE.match(name):
        kind = 'load' if _LOAD.match(name) else 'store'
        registers = text.split('[')[0] if not name.startswith(('ld1', 'st1')) else text
        wide = _is_vector(registers) or _FLOAT_REGISTER.search(registers)
        return f'vector {kind}' if wide else f'scalar {kind}'
    if _BRANCH.match(name):
        return 'branch'
    if _is_vector(text):
        for label, pattern in (('matrix product', _MATRIX), ('dot product', _DOT),
                               ('vector multiply-add', _MULTIPLY_ADD), ('vector multiply', _MULTIPLY)):
            if pattern.match(name):
                return label
        return 'vector other'
    return 'scalar float' if _FLOAT_REGISTER.search(text) else 'integer'


def _list_bytes(name, registers, lane):
    names = registers.split(', ')
    lanes, element = _ARRANGEMENT.search(names[0]).groups()
    size = _SIZES[element]
    if lane or re.match(r'ld\dr', name) or not lanes:
        return len(names) * size
    return len(names) * int(lanes) * size


def bytes_of(text):
    """Returns the number of bytes that an instruction loads or stores. SVE vectors count 16 bytes."""
    name, _, operands = text.partition(' ')
    if not re.match(r'ld|st', name):
        return 0
    registers = _LIST.match(operands)
    if registers:
        if registers[1].startswith('z'):
            return 16 * len(registers[1].split(', '))
        return _list_bytes(name, registers[1], registers[2])
    names = operands.split('[')[0].rstrip(', ').split(', ')
    if re.match(r'stl?xr', name):
        names = names[1:]  # the first one receives the status
    narrow = _NARROW.match(name)
    if narrow:
        return {'b': 1, 'h': 2, 'w': 4}[narrow[2]]
    if name == 'ldpsw':
        return 8
    size = _SIZES.get(names[0][0], 0)
    return 2 * size if re.match(r'(ld|st)n?x?p', name) else size


def total(profile):
    """Returns the number of executed instructions of a profile."""
    return sum(len(words) * executions for words, executions in profile.items())


def summarize(profile, texts):
    """Returns the instructions, the bytes and the instructions of each class of a profile."""
    classes, moved = collections.Counter(), 0
    for words, executions in profile.items():
        for word in words:
            classes[class_of(texts[word])] += executions
            moved += executions * bytes_of(texts[word])
    return {'instructions': sum(classes.values()), 'bytes': moved, 'classes': dict(classes.most_common())}
