#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if an inference executes more instructions on AArch64 than tools/bench/arm/limits.txt allows.

    check_counts.py --build BUILD --root ROOT [--limits FILE] MODEL...

BUILD and ROOT are those of bench_arm.py. MODEL is a .tflite file; the rows of the limits name it without
its suffix: model, processor, millions of instructions. A count may exceed its limit by 0.5 %, which allows
for copy loops that depend on addresses. A count that is more than 2 % lower is reported, so that the limit
can be lowered.
"""
import argparse
import pathlib
import sys

import bench_arm
import emulator
import instructions

TOLERANCE = 0.005
OUTDATED = 0.02


def read_limits(text):
    """Returns {(model, cpu): millions of instructions}."""
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.startswith('#')]
    return {(model, cpu): float(millions) for model, cpu, millions in rows}


def verdict(millions, limit):
    """Returns whether a count is allowed, and a remark."""
    if millions > limit * (1 + TOLERANCE):
        return False, f'more than the limit of {limit} M'
    if millions < limit * (1 - OUTDATED):
        return True, f'lower the limit of {limit} M'
    return True, f'limit {limit} M'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('models', nargs='+', type=pathlib.Path, metavar='MODEL')
    parser.add_argument('--build', type=pathlib.Path, required=True, help='build directory of libdeputy for AArch64')
    parser.add_argument('--root', type=pathlib.Path, required=True, help='root of an arm64 Debian')
    parser.add_argument('--limits', type=pathlib.Path, default=emulator.FOLDER / 'limits.txt',
                        help='file of the limits (%(default)s)')
    parser.add_argument('--work', type=pathlib.Path, default=pathlib.Path('build/bench-arm'),
                        help='directory for compiled programs (%(default)s)')
    arguments = parser.parse_args()
    limits = read_limits(arguments.limits.read_text(encoding='utf-8'))
    models = {path.stem: path for path in arguments.models}
    for model, _ in limits:
        if model not in models:
            sys.exit(f'check_counts.py: {arguments.limits} has limits for {model}, which is not an argument')
    arguments.work.mkdir(parents=True, exist_ok=True)
    plugin = emulator.build_plugin(arguments.work)
    engine, failed = bench_arm.deputy_engine(arguments.work, arguments.build), False
    for (model, name), limit in limits.items():
        cpu = emulator.CPUS[name]
        prefix = emulator.write_prefix(arguments.work / f'prefix-{name}', arguments.root, cpu)
        profile, _ = engine.profile(plugin, prefix, cpu, models[model])
        millions = instructions.total(profile) / 1e6
        allowed, remark = verdict(millions, limit)
        failed = failed or not allowed
        print(f'{"" if allowed else "FAILED: "}{model}, {name}: {millions:.2f} M instructions, {remark}')
    return failed


if __name__ == '__main__':
    sys.exit(main())
