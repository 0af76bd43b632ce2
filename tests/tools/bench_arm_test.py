#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the counts of tools/bench/arm: the profile of a loop whose instructions are known, and the
classes, bytes, cycles and ratios that are derived from a profile.

    tests/tools/bench_arm_test.py BUILD_FOLDER
"""
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "bench" / "arm"))
import bench_arm  # noqa: E402  (needs the path above)
import check_counts  # noqa: E402
import cycles  # noqa: E402
import emulator  # noqa: E402
import functions  # noqa: E402
import instructions  # noqa: E402

# Two instructions, ROUNDS rounds of six, three at the end.
LOOP = """
.globl _start
_start:
  mov x1, sp
  mov x0, #ROUNDS
1: ldp q0, q1, [x1]
  add v0.4s, v0.4s, v1.4s
  sdot v2.4s, v0.16b, v1.16b
  ldrb w2, [x1]
  subs x0, x0, #1
  b.ne 1b
  mov x0, #0
  mov x8, #93
  svc #0
"""
READ_CPUINFO = """
#include <stdio.h>
int main(void) {
  FILE* file = fopen("/proc/cpuinfo", "r");
  for (int c = 0; file != NULL && (c = fgetc(file)) != EOF;) putchar(c);
  return 0;
}
"""
REPORT = """
[0] Code Region - 0

Iterations:        100
Instructions:      600
Total Cycles:      250
Total uOps:        600

[1] Code Region - 2

Iterations:        100
Instructions:      100
Total Cycles:      1000
"""


class ParserTest(unittest.TestCase):
    def test_profiles_merge_blocks_with_equal_instructions(self):
        profile = instructions.read_profile(["3 4000e0 0000000a 0000000b", "1 4000f0 0000000c",
                                             "4 5000e0 0000000a 0000000b"])
        self.assertEqual(profile, {("0000000a", "0000000b"): 7, ("0000000c",): 1})

    def test_difference_removes_the_counts_outside_of_inferences(self):
        more = {("start",): 5, ("loop",): 300, ("last",): 2}
        fewer = {("start",): 5, ("loop",): 100, ("first",): 4}
        self.assertEqual(instructions.difference(more, fewer, 2), {("loop",): 100.0, ("last",): 1.0, ("first",): -2.0})

    def test_classes(self):
        rows = [("smmla v0.4s, v1.16b, v2.16b", "matrix product"), ("bfmmla v0.4s, v1.8h, v2.8h", "matrix product"),
                ("sdot v0.4s, v1.16b, v2.4b[1]", "dot product"), ("fmla v0.4s, v1.4s, v2.s[0]", "vector multiply-add"),
                ("smlal2 v0.4s, v1.8h, v2.h[3]", "vector multiply-add"),
                ("mla v0.8h, v1.8h, v2.8h", "vector multiply-add"), ("fmul v0.4s, v1.4s, v2.4s", "vector multiply"),
                ("fadd v0.4s, v1.4s, v2.4s", "vector other"), ("zip1 v0.4s, v1.4s, v2.4s", "vector other"),
                ("ldr q0, [x1, #16]", "vector load"), ("ldr s0, [x1]", "vector load"),
                ("ld1r { v0.4s }, [x1]", "vector load"), ("ldr x0, [x1, x2]", "scalar load"),
                ("stp q0, q1, [sp]", "vector store"), ("str w0, [x1]", "scalar store"),
                ("prfm pldl1keep, [x1]", "prefetch"), ("b.ne #-24", "branch"), ("blr x3", "branch"),
                ("bic w0, w1, w2", "integer"), ("mul w0, w1, w2", "integer"), ("fmadd s0, s1, s2, s3", "scalar float"),
                ("unknown", "unknown")]
        for text, expected in rows:
            self.assertEqual(instructions.class_of(text), expected, text)

    def test_bytes(self):
        rows = [("ldr q0, [x1, #16]", 16), ("ldp q0, q1, [x1], #32", 32), ("ldp x29, x30, [sp], #16", 16),
                ("stp w0, w1, [sp]", 8), ("stp d8, d9, [sp, #-16]!", 16), ("ldnp s0, s1, [x0]", 8),
                ("ldpsw x0, x1, [x2]", 8), ("ldr w0, [x1]", 4), ("ldur h0, [x1, #3]", 2), ("ldrb w0, [x1]", 1),
                ("ldrsh x0, [x1]", 2), ("ldrsw x0, [x1]", 4), ("sturb w0, [x1, #-1]", 1), ("str xzr, [x0]", 8),
                ("ldar x0, [x1]", 8), ("ldaxr w0, [x1]", 4), ("stlxr w0, x1, [x2]", 8), ("stxrb w0, w1, [x2]", 1),
                ("ld1 { v0.16b, v1.16b }, [x0]", 32), ("ld1 { v0.4s, v1.4s, v2.4s, v3.4s }, [x0], #64", 64),
                ("ld1 { v0.s }[1], [x0]", 4), ("ld1r { v0.8h }, [x0]", 2), ("ld2 { v0.8b, v1.8b }, [x0]", 16),
                ("st1 { v0.4h }, [x0]", 8), ("st4 { v0.b, v1.b, v2.b, v3.b }[2], [x0]", 4),
                ("prfm pldl1keep, [x1]", 0), ("add x0, x1, x2", 0), ("b.ne #-24", 0), ("unknown", 0)]
        for text, expected in rows:
            self.assertEqual(instructions.bytes_of(text), expected, text)

    def test_summary(self):
        texts = {"a": "ldp q0, q1, [x1]", "b": "sdot v2.4s, v0.16b, v1.16b", "c": "strb w2, [x1]"}
        self.assertEqual(instructions.summarize({("a", "b", "b"): 10, ("c",): 3}, texts),
                         {"instructions": 33, "bytes": 323,
                          "classes": {"dot product": 20, "vector load": 10, "scalar store": 3}})


class CyclesTest(unittest.TestCase):
    PROFILE = {("a",) * 6: 100, ("c",): 300, ("b",): 100}

    def test_hot_blocks_reach_the_coverage(self):
        self.assertEqual(cycles.hot_blocks(self.PROFILE, 0.5), ([(("a",) * 6, 100)], 0.6))
        self.assertEqual(cycles.hot_blocks(self.PROFILE, 0.9), ([(("a",) * 6, 100), (("c",), 300)], 0.9))
        self.assertEqual(cycles.hot_blocks({}, 0.9), ([], 1.0))

    def test_source_omits_instructions_without_a_model(self):
        texts = {"a": "add x0, x1, x2", "s": "svc #0", "u": "unknown"}
        self.assertEqual(cycles.source_of([(("a", "u", "a"), 1), (("s",), 2), (("s", "a"), 3)], texts),
                         "# LLVM-MCA-BEGIN 0\nadd x0, x1, x2\nadd x0, x1, x2\n# LLVM-MCA-END\n"
                         "# LLVM-MCA-BEGIN 2\nadd x0, x1, x2\n# LLVM-MCA-END\n")

    def test_cycles_are_weighted_by_executions(self):
        simulated = cycles.parse_report(REPORT)
        self.assertEqual(simulated, {0: 2.5, 2: 10.0})
        blocks = [(("a",), 100), (("s",), 7), (("b",), 20)]
        self.assertEqual(cycles.weighted(blocks, 0.5, simulated), 900.0)


class TableTest(unittest.TestCase):
    ROWS = [{"model": "one", "cpu": "cortex-a76",
             "deputy": {"instructions": 3e6, "bytes": 4e6, "cycles": 1e6, "outputs": [0.5]},
             "litert": {"instructions": 2e6, "bytes": 1e6, "cycles": 2e6, "outputs": [0.6]}},
            {"model": "two", "cpu": "cortex-a76",
             "deputy": {"instructions": 6e6, "bytes": 1e6, "cycles": 2e6, "outputs": [0.5]},
             "litert": {"instructions": 1e6, "bytes": 1e6, "cycles": 2e6, "outputs": [0.501]}},
            {"model": "three", "cpu": "cortex-a53", "deputy": {"instructions": 1.5e6, "bytes": 7e6},
             "litert": {"error": "python3.11 failed"}}]

    def test_table(self):
        self.assertEqual(bench_arm.table(self.ROWS).splitlines()[2:], [
            "| one | cortex-a76 | 3.00 | 2.00 | 1.50 | 4.00 | 1.00 | 4.00 | 1.00 | 2.00 | 0.50 |",
            "| two | cortex-a76 | 6.00 | 1.00 | 6.00 | 1.00 | 1.00 | 1.00 | 2.00 | 2.00 | 1.00 |",
            "| three | cortex-a53 | 1.50 | – | – | 7.00 | – | – | – | – | – |",
            "| geometric mean | cortex-a76 | | | 3.00 | | | 2.00 | | | 0.71 |",
            "| geometric mean | cortex-a53 | | | – | | | – | | | – |"])

    def test_notes(self):
        self.assertEqual(bench_arm.notes(self.ROWS), [
            "one, cortex-a76: mean magnitudes of outputs differ: Deputy [0.5], LiteRT [0.6]",
            "three, cortex-a53, litert: python3.11 failed"])


class LimitsTest(unittest.TestCase):
    def test_limits(self):
        self.assertEqual(check_counts.read_limits("# comment\n\nnet  cortex-a53  1.5\nnet  max  2\n"),
                         {("net", "cortex-a53"): 1.5, ("net", "max"): 2.0})

    def test_counts_up_to_half_a_percent_above_the_limit_are_allowed(self):
        rows = [(100.6, False, "more than the limit of 100.0 M"), (100.4, True, "limit 100.0 M"),
                (98.1, True, "limit 100.0 M"), (97.9, True, "lower the limit of 100.0 M")]
        for count, allowed, remark in rows:
            self.assertEqual(check_counts.verdict(count, 100.0), (allowed, remark))

    def test_the_limits_name_emulated_processors(self):
        limits = check_counts.read_limits((ROOT / "tools" / "bench" / "arm" / "limits.txt").read_text())
        self.assertGreater(len(limits), 4)
        self.assertLessEqual({cpu for _, cpu in limits}, emulator.CPUS.keys())


class BoardKitTest(unittest.TestCase):
    def test_the_archive_has_the_library_the_models_and_the_scripts(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "libdeputy.so.1").write_text("library")
            (folder / "net.tflite").write_text("model")
            subprocess.run([ROOT / "tools/bench/board/make_kit.sh", folder, folder, folder / "kit.tar.gz"], check=True,
                           stdout=subprocess.DEVNULL)
            with tarfile.open(folder / "kit.tar.gz") as archive:
                names = archive.getnames()
        for required in ("libdeputy.so.1", "models/net.tflite", "measure.sh", "version", "tools/bench/compare.py",
                         "tools/bench/engines.py", "tests/golden/ours.py"):
            self.assertIn(f"deputy-board/{required}", names)


class FunctionsTest(unittest.TestCase):
    NAMES = ("0000000000001010 t second(int, long)\n0000000000001000 T first\n"
             "0000000000002000 D data\n                 U extern\n")
    SECTIONS = ("  [ 1] .init PROGBITS 0000000000000500 000500 000018 00 AX 0 0 4\n"
                "  [12] .text             PROGBITS        0000000000001000 000004 000020 00  AX  0   0 16\n")

    def test_parsers(self):
        self.assertEqual(functions.parse_symbols(self.NAMES), [(0x1000, "first"), (0x1010, "second(int, long)")])
        self.assertEqual(functions.parse_code_section(self.SECTIONS), (0x1000, 4))

    # The file has a header of 4 bytes and the words 0x100 to 0x107 at the addresses 0x1000 to
    # 0x101c.
    def test_instructions_by_function(self):
        content = b"head" + b"".join(word.to_bytes(4, "little") for word in range(0x100, 0x108))
        library = functions.Library(content, functions.parse_code_section(self.SECTIONS),
                                    functions.parse_symbols(self.NAMES))
        profile = {("00000100", "00000101"): 10, ("00000103",): 5, ("00000104", "00000105", "00000106"): 20,
                   ("00000200",): 7}
        self.assertEqual(functions.by_function(profile, library),
                         [("second(int, long)", 60), ("first", 25), ("outside of the library", 7)])


class EmulatorTest(unittest.TestCase):
    def setUp(self):
        if emulator.missing_tools():
            self.skipTest(f"missing programs (tools/packages-arm.txt): {emulator.missing_tools()}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.plugin = emulator.build_plugin(self.folder)

    def profile(self, rounds):
        source = self.folder / "loop.S"
        source.write_text(LOOP)
        program = emulator.build_program(source, self.folder / "loop", f"-DROUNDS={rounds}", "-nostdlib", "-static",
                                         "-march=armv8.2-a+dotprod")
        return emulator.count(self.plugin, self.folder, "cortex-a76", [program])[0]

    def counts(self, profile):
        texts = instructions.disassemble({word for words in profile for word in words})
        return instructions.summarize(profile, texts), texts

    # 2 + 1000 * 6 + 3 instructions; a round loads 32 + 1 bytes.
    def test_counts_of_a_loop(self):
        summary, _ = self.counts(self.profile(1000))
        self.assertEqual(summary, {"instructions": 6005, "bytes": 33000,
                                   "classes": {"integer": 1005, "vector load": 1000, "vector other": 1000,
                                               "dot product": 1000, "scalar load": 1000, "branch": 1000}})

    def test_difference_of_two_runs(self):
        profile = instructions.difference(self.profile(1000), self.profile(600), 400)
        summary, texts = self.counts(profile)
        self.assertAlmostEqual(summary["instructions"], 6)
        self.assertAlmostEqual(summary["bytes"], 33)
        # llvm-mca 19 estimates 2.12 cycles per round.
        estimate = cycles.estimate(profile, texts, "neoverse-n1")
        self.assertAlmostEqual(estimate, 2, delta=0.2)

    def test_the_prefix_replaces_cpuinfo(self):
        source = self.folder / "cpuinfo.c"
        source.write_text(READ_CPUINFO)
        program = emulator.build_program(source, self.folder / "cpuinfo", "-static")
        prefix = emulator.write_prefix(self.folder / "prefix", self.folder, emulator.CPUS["cortex-a55"])
        _, output = emulator.count(self.plugin, prefix, "cortex-a76", [program])
        self.assertIn("CPU part\t: 0xd05\n", output)


if __name__ == "__main__":
    sys.argv[1:] = sys.argv[2:]
    unittest.main()
