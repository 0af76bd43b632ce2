# SPDX-License-Identifier: Apache-2.0
"""Attributes the executed instructions of a profile to the functions of a library.

A profile has no addresses: the words of a block are searched for in the file. A block whose words occur
several times counts for the function of the first occurrence.
"""
import bisect
import collections
import re
import subprocess

NAMES = 'aarch64-linux-gnu-nm'
SECTIONS = 'aarch64-linux-gnu-readelf'
OTHER = 'outside of the library'


def _output(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def parse_symbols(text):
    """Returns the functions in the output of `nm -C --defined-only`, as sorted pairs of address and name."""
    rows = [line.split(maxsplit=2) for line in text.splitlines()]
    return sorted((int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in 'tTwW')


def parse_code_section(text):
    """Returns the address and the file offset of .text in the output of `readelf -SW`."""
    address, offset = re.search(r'\] \.text\s+PROGBITS\s+([0-9a-f]+) ([0-9a-f]+)', text).groups()
    return int(address, 16), int(offset, 16)


class Library:
    """The code and the functions of a library that is not stripped."""

    def __init__(self, content, code_section, symbols):
        self._content, self._symbols = content, symbols
        self._bias = code_section[0] - code_section[1]
        self._addresses = [address for address, _ in symbols]

    @classmethod
    def open(cls, path):
        """Reads a file with binutils for AArch64."""
        return cls(path.read_bytes(), parse_code_section(_output(SECTIONS, '-SW', path)),
                   parse_symbols(_output(NAMES, '-C', '--defined-only', path)))

    def function_of(self, words):
        """Returns the name of the function that contains the instructions of a block."""
        code = b''.join(int(word, 16).to_bytes(4, 'little') for word in words)
        offset = self._content.find(code)
        index = bisect.bisect(self._addresses, offset + self._bias) - 1
        return OTHER if offset < 0 or index < 0 else self._symbols[index][1]


def by_function(profile, library):
    """Returns the executed instructions of each function, in descending order."""
    counts = collections.Counter()
    for words, executions in profile.items():
        counts[library.function_of(words)] += len(words) * executions
    return counts.most_common()
