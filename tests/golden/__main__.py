# SPDX-License-Identifier: Apache-2.0
"""Records the results of the real TFLite for single operators, or compares them with Deputy's.

    python tests/golden make [OPERATOR…]             writes tests/data/golden/<operator>.golden
    python tests/golden list [OPERATOR…]             names the cases and TFLite's outcomes
    python tests/golden show OPERATOR NAME [MODEL]   one case in full; MODEL: write its .tflite
    python tests/golden versions OPERATOR…           versions that each resolver supports
    python tests/golden files LIBRARY FILE…          whole .tflite files on both, random inputs
    python tests/golden streams                      writes tests/data/streams (streams.py)
    python tests/golden --check LIBRARY [--draws N] [--graphs N] [--programs N] [--seed S] [OPERATOR…]
                                                     newly drawn cases with Deputy's library

Needs tools/requirements-golden.txt in a virtual environment; --check also needs a build with the tests.
See docs/golden.md.
"""
import argparse
import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE]

try:
    import numpy as np

    from golden import agree, container, files, graphs, model, ops, ours, programs, streams, tflite
except ModuleNotFoundError as error:
    sys.exit(f"{error.name} is missing: see tools/requirements-golden.txt")

DRAWN = 24  # number of random cases in an operator's file
FOLDER = HERE.parent.parent / "tests" / "data" / "golden"


def results_of(case):
    return {name: tflite.run(case, name) for name in tflite.RESOLVERS}


def drawn(operator):
    """Returns random cases of a fixed seed that are small enough to be stored."""
    random, family, number = np.random.default_rng(1), ops.family_of(operator), 0
    while number < DRAWN:
        case = family.draw(operator, random)
        if sum(int(np.prod(feed.shape)) for feed in case.feeds) <= 600:
            case.name = f"drawn_{number}"
            number += 1
            yield case


def cases_of(operator):
    cases = list(ops.family_of(operator).cases(operator)) + list(drawn(operator))
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        sys.exit(f"{operator}: case names used twice: {sorted(twice)}")
    return cases


def describe(result):
    return tflite.OUTCOME_NAMES[result.outcome] + (f": {result.message}" if result.message else "")


def make(arguments):
    FOLDER.mkdir(parents=True, exist_ok=True)
    total = 0
    for operator in arguments.operators or ops.operators():
        rows, count = [], [0] * len(tflite.OUTCOME_NAMES)
        for case in cases_of(operator):
            results = results_of(case)
            count[results["reference"].outcome] += 1
            computed = any(a.outcome == tflite.INVOKED for a in results.values())
            if (case.tags or case.exact) and not computed:
                print(f"note: {operator} {case.name}: {describe(results['optimised'])}")
            elif "refused" in case.name and computed:
                print(f"note: {operator} {case.name}: computed")
            rows.append(container.row(case, results))
        path = FOLDER / f"{operator.lower()}.golden"
        container.write(path, rows)
        total += path.stat().st_size
        told = ", ".join(f"{n} {tflite.OUTCOME_NAMES[i]}" for i, n in enumerate(count) if n)
        print(f"{operator}: {len(rows)} rows, {path.stat().st_size} bytes ({told})", flush=True)
    print(f"{total} bytes")


def list_cases(arguments):
    for operator in arguments.operators or ops.operators():
        for case in cases_of(operator):
            reference, optimised = results_of(case).values()
            line = f"{operator} v{case.version} {case.type} {case.name}: {describe(reference)}"
            if describe(optimised) != describe(reference):
                line += f" | optimised {describe(optimised)}"
            elif not case.exact and any(
                    not tflite.same_array(a, b)
                    for a, b in zip(reference.outputs, optimised.outputs)):
                line += " | the resolvers differ"
            print(line)


def show(arguments):
    for case in cases_of(arguments.operator):
        if case.name != arguments.name:
            continue
        print(f"{case.op} v{case.version} {case.type}, {len(case.model)} bytes")
        for number, feed in enumerate(case.feeds):
            print(f"input {number} {feed.type}{feed.shape}\n{feed.values()}")
        for name, result in results_of(case).items():
            print(f"{name}: {describe(result)}")
            for output in result.outputs:
                print(output.shape, output.dtype, output, sep="\n")
        if arguments.model:
            pathlib.Path(arguments.model).write_bytes(case.model)
        return
    sys.exit("no such case")


def versions(arguments):
    for operator in arguments.operators:
        for resolver in tflite.RESOLVERS:
            known = []
            for version in range(1, 31):
                m = model.Model()
                m.op(operator, [m.input("f32", (1,))], [m.output("f32", (1,))], version)
                result = tflite.run(m.case("version", "f32"), resolver)
                if "find op" not in result.message:
                    known.append(version)
            print(operator, resolver, known)


def check(arguments):
    library = ours.Library(arguments.check)
    agree.load(arguments.check)
    bad = done = 0
    kinds = collections.Counter()
    for operator in arguments.operators or ops.operators():
        random = np.random.default_rng(arguments.seed)
        for _ in range(arguments.draws):
            case = ops.family_of(operator).draw(operator, random)
            results = list(results_of(case).values())
            for reference_mode in (False, True):
                mine = library.run(case, reference_mode)
                why = _judge(case, results, mine, reference_mode)
                done += 1
                kinds["bad" if why else _kind(case, results, mine)] += 1
                if why:
                    bad += 1
                    mode = "reference" if reference_mode else "default"
                    print(f"{operator} {case.name} ({mode}): {why}")
    if done:
        print(f"{done - bad} of {done} drawn runs agree with TFLite (seed {arguments.seed})")
        for kind, count in kinds.most_common():
            print(f"    {count} {kind}")
    for what, count in ((graphs, arguments.graphs), (programs, arguments.programs)):
        if count:
            bad += what.check(library, count, arguments.seed, _judge, arguments.keep)
    return 1 if bad else 0


def _kind(case, results, mine):
    """Classifies a run that passed, for the summary."""
    if not any(a.outputs for a in results):
        undefined = [a for a in results if a.outcome == tflite.UNDEFINED]
        return f"{case.op}: {undefined[0].message}" if undefined else "refused by both"
    if mine.outcome == tflite.INVOKED:
        return "both computed it and agree"
    return f"{case.op}: TFLite computes {'what no model needs' if case.lenient else 'it or crashes'}"


def _judge(case, results, mine, reference_mode):
    if not any(a.outputs for a in results):
        if any(a.outcome == tflite.UNDEFINED for a in results):
            return "" if mine.outcome != tflite.UNDEFINED else f"died: {mine.message}"
        return "" if mine.outcome not in (tflite.INVOKED, tflite.UNDEFINED) else (
            f"{describe(mine)}, TFLite {describe(results[0])}")
    if mine.outcome != tflite.INVOKED:
        may_refuse = case.lenient or any(a.outcome == tflite.UNDEFINED for a in results)
        return "" if may_refuse and mine.outcome != tflite.UNDEFINED else (
            f"{describe(mine)}, TFLite computed")
    return agree.compare(case, results, mine.outputs, reference_mode)


def main():
    parser = argparse.ArgumentParser(prog="golden", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if "--check" in sys.argv[1:]:
        parser.add_argument("--check", metavar="LIBRARY", required=True)
        parser.add_argument("--draws", type=int, default=50, help="cases per operator")
        parser.add_argument("--graphs", type=int, default=0, help="random graphs after them")
        parser.add_argument("--programs", type=int, default=0,
                            help="random graphs with loops, calls and variables after them")
        parser.add_argument("--keep", metavar="FOLDER", help="write graphs that disagree there")
        parser.add_argument("--seed", type=int,
                            default=int(np.random.SeedSequence().entropy % 10**6))
        parser.add_argument("operators", nargs="*")
        sys.exit(check(parser.parse_args()))
    commands = parser.add_subparsers(required=True)
    for name, function in (("make", make), ("list", list_cases), ("versions", versions)):
        command = commands.add_parser(name)
        command.add_argument("operators", nargs="*")
        command.set_defaults(function=function)
    command = commands.add_parser("show")
    command.add_argument("operator")
    command.add_argument("name")
    command.add_argument("model", nargs="?")
    command.set_defaults(function=show)
    command = commands.add_parser("files")
    command.add_argument("library")
    command.add_argument("files", nargs="+")
    command.set_defaults(
        function=lambda given: files.check(ours.Library(given.library), given.files))
    commands.add_parser("streams").set_defaults(function=streams.make)
    arguments = parser.parse_args()
    sys.exit(1 if arguments.function(arguments) else 0)


if __name__ == "__main__":
    main()
