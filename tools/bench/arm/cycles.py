# SPDX-License-Identifier: Apache-2.0
"""Estimates the cycles of a profile with llvm-mca.

Each hot block is simulated as a loop of its own, and its cycles are multiplied by its executions.
The simulation has no cache and no mispredicted branch.
"""
import re
import subprocess

from instructions import FEATURES, UNKNOWN

SIMULATOR = 'llvm-mca-19'
ITERATIONS = 100
# Minimum share of the executed instructions that is simulated; the cycles are scaled to all of them.
COVERAGE = 0.97
# The simulator has no model of system instructions and hints.
_OMITTED = re.compile(r'(svc|hint|mrs|msr|brk|udf|nop|bti|paciasp|autiasp|yield|dmb|isb)\b')


def hot_blocks(profile, coverage=COVERAGE):
    """Returns the blocks with the most executed instructions, up to `coverage` of all, and their share."""
    total = sum(len(words) * executions for words, executions in profile.items())
    ranked = sorted(profile.items(), key=lambda item: (-len(item[0]) * item[1], item[0]))
    blocks, covered = [], 0
    for words, executions in ranked:
        if covered >= coverage * total:
            break
        blocks.append((words, executions))
        covered += len(words) * executions
    return blocks, covered / total if total else 1.0


def source_of(blocks, texts):
    """Returns the assembly of the blocks, each one in a region named by its number."""
    lines = []
    for number, (words, _) in enumerate(blocks):
        body = [texts[word] for word in words if texts[word] != UNKNOWN and not _OMITTED.match(texts[word])]
        if body:
            lines += [f'# LLVM-MCA-BEGIN {number}', *body, '# LLVM-MCA-END']
    return '\n'.join(lines) + '\n'


def parse_report(report):
    """Returns {block number: cycles of one execution}."""
    regions = re.findall(r'Code Region - (\d+)\n.*?Iterations:\s+(\d+)\n.*?Total Cycles:\s+(\d+)', report, re.S)
    return {int(number): int(cycles) / int(iterations) for number, iterations, cycles in regions}


def weighted(blocks, share, cycles):
    """Returns the cycles of all executions, scaled by the share that the blocks cover. Blocks without
    cycles consist of omitted instructions."""
    return sum(executions * cycles.get(number, 0.0) for number, (_, executions) in enumerate(blocks)) / share


def estimate(profile, texts, cpu):
    """Returns the estimated cycles of the profile on a processor of llvm-mca."""
    blocks, share = hot_blocks(profile)
    source = source_of(blocks, texts)
    result = subprocess.run([SIMULATOR, '-mtriple=aarch64', f'-mcpu={cpu}', f'-mattr={FEATURES}',
                             f'-iterations={ITERATIONS}', '-skip-unsupported-instructions=any',
                             '-resource-pressure=false', '-instruction-info=false'],
                            input=source, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f'{SIMULATOR} -mcpu={cpu}: {result.stderr.strip()[:500]}')
    simulated = parse_report(result.stdout)
    if len(simulated) != source.count('LLVM-MCA-BEGIN'):
        raise RuntimeError(f'{SIMULATOR} -mcpu={cpu}: cycles of {len(simulated)} blocks, '
                           f'expected {source.count("LLVM-MCA-BEGIN")}')
    return weighted(blocks, share, simulated)
