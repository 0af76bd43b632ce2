#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ctest and adds the estimated time left to each line of progress.

    run_tests.py [--durations FILE] [--record FILE] -- CTEST_ARGUMENT...

Passes ctest's lines and its exit status through. The estimate uses the durations of FILE (lines of
`NAME SECONDS`, measured on two quiet cores), scaled by the speed of this run so far. --record writes
such a file from this run. When a signal ends the run, the last line says how many tests have run.
"""
import argparse
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import time

LISTED = re.compile(r'^ *Test +#\d+: (\S+)')
RESULT = re.compile(r'^ *\d+/\d+ Test +#\d+: (\S+) \.+ *(.*?) +([0-9.]+) sec')


def read_durations(path):
    """Returns {test name: seconds}; lines that start with # are comments."""
    durations = {}
    if path:
        with open(path, encoding='utf-8') as file:
            for line in file:
                fields = line.split('#')[0].split()
                if len(fields) == 2:
                    durations[fields[0]] = float(fields[1])
    return durations


class Estimate:
    """Estimates the remaining wall time from durations and from the tests that have finished."""

    # Share of the planned work after which the observed speed replaces the recorded one.
    TRUSTED_SHARE = 0.05

    def __init__(self, names, durations, jobs):
        default = statistics.median(durations.values()) if durations else 1.0
        self.left = {name: durations.get(name, default) for name in names}
        self.total = sum(self.left.values())
        self.jobs = jobs
        self.begin = time.monotonic()

    def finish(self, name):
        """Removes a finished test and returns the estimated remaining seconds."""
        self.left.pop(name, None)
        left = sum(self.left.values())
        done = self.total - left
        if done < self.TRUSTED_SHARE * self.total or done == 0:
            return left / self.jobs
        return left * (time.monotonic() - self.begin) / done


def in_words(seconds):
    """Returns a duration as a short text."""
    if seconds < 90:
        return f'{seconds:.0f} s'
    return f'{seconds / 60:.0f} min'


def listed_tests(arguments):
    """Returns the names of the tests that ctest would run."""
    listing = subprocess.run(['ctest', '-N', *arguments], capture_output=True, text=True, check=False)
    matches = (LISTED.match(line) for line in listing.stdout.splitlines())
    return [match[1] for match in matches if match]


def jobs_of(arguments):
    """Returns the number of parallel jobs that the arguments of ctest request."""
    for i, argument in enumerate(arguments):
        match = re.match(r'^(?:-j|--parallel)=?(\d*)$', argument)
        if match:
            following = arguments[i + 1] if i + 1 < len(arguments) else ''
            return max(1, int(match[1] or (following if following.isdigit() else 1)))
    return 1


def run(arguments, durations, record):
    """Runs ctest; returns its exit status."""
    names = listed_tests(arguments)
    estimate = Estimate(names, durations, jobs_of(arguments))
    measured = {}
    ctest = subprocess.Popen(['ctest', *arguments], stdout=subprocess.PIPE, text=True, bufsize=1)

    def stop(number, _):
        ctest.terminate()
        # os.write is used, because the signal may have interrupted a print.
        os.write(1, f'run_tests: interrupted: {len(measured)} of {len(names)} tests ran\n'.encode())
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    for line in ctest.stdout:
        line = line.rstrip('\n')
        match = RESULT.match(line)
        if match:
            measured[match[1]] = float(match[3])
            left = estimate.finish(match[1])
            if estimate.left:
                line += f', about {in_words(left)} left'
        print(line, flush=True)
    status = ctest.wait()
    if record:
        with open(record, 'w', encoding='utf-8') as file:
            for name, seconds in sorted(measured.items()):
                file.write(f'{name} {max(1, math.ceil(seconds))}\n')
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--durations', help='file with the measured duration of each test')
    parser.add_argument('--record', help='write the durations of this run to this file')
    parser.add_argument('arguments', nargs='*', metavar='CTEST_ARGUMENT')
    options = parser.parse_args()
    return run(options.arguments, read_durations(options.durations), options.record)


if __name__ == '__main__':
    sys.exit(main())
