#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `deputy explain` as a command, with the delegate libraries of the tests: owners, reasons and
partitions of the digits as literals; the predicted gains of claiming a node, compared with a delegate that
claims it; the page parsed, and loaded by a browser if there is one. Models with hostile names are written
by this script, so that Python's own library is sufficient.

    tests/tools/explain_test.py BUILD_FOLDER
"""
import html
import html.parser
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits_float.tflite"
DEPUTY = PLUGINS = None  # set from the command line

# Operator numbers of the model format.
ADD, MUL, NEG, SUB, ABS, SIN = 0, 18, 59, 41, 101, 66
NAMES = {ADD: "ADD", MUL: "MUL", NEG: "NEG", SUB: "SUB", ABS: "ABS", SIN: "SIN"}
ARITY = {ADD: 2, MUL: 2, NEG: 1, SUB: 2, ABS: 1, SIN: 1}


# ---- A writer for .tflite files -----------------------------------------------------------------

class Table:
    """A FlatBuffer table: field number -> (struct code, number), string, list or Table."""

    def __init__(self, **fields):
        self.fields = {int(name[1:]): value for name, value in fields.items()}


class Writer:
    """Writes parents before their children, because offsets point forward."""

    def __init__(self, root):
        self.data = bytearray(b"\0\0\0\0TFL3")
        self.patch(0, self.write(root))

    def align(self, size):
        self.data += bytes(-len(self.data) % size)

    def patch(self, at, target):
        struct.pack_into("<I", self.data, at, target - at)

    def write(self, value):
        if isinstance(value, Table):
            return self.write_table(value)
        if isinstance(value, bytes):
            self.align(4)
            at = len(self.data)
            self.data += struct.pack("<I", len(value)) + value + b"\0"
            return at
        self.align(4)
        at = len(self.data)
        self.data += struct.pack("<I", len(value))
        if value and isinstance(value[0], int):
            self.data += struct.pack(f"<{len(value)}i", *value)
            return at
        self.data += bytes(4 * len(value))
        for i, child in enumerate(value):
            self.patch(at + 4 + 4 * i, self.write(child))
        return at

    def write_table(self, table):
        count = max(table.fields, default=-1) + 1
        # In a table, every field takes four bytes.
        places = {field: 4 + 4 * i for i, field in enumerate(sorted(table.fields))}
        self.align(4)
        vtable = len(self.data)
        self.data += struct.pack(f"<HH{count}H", 4 + 2 * count, 4 + 4 * len(places),
                                 *(places.get(field, 0) for field in range(count)))
        self.align(4)
        at = len(self.data)
        self.data += struct.pack("<i", at - vtable) + bytes(4 * len(places))
        for field, value in table.fields.items():
            if isinstance(value, tuple):
                struct.pack_into("<" + value[0], self.data, at + places[field], value[1])
            else:
                self.patch(at + places[field], self.write(value))
        return at


def build_model(ops, names=None, elements=4, graph_name=b"main"):
    """Builds a model. `ops` is a list of (operator or custom name, input tensors); operator i writes
    tensor i + 1, tensor 0 is the input and the last one the output."""
    codes = sorted({op for op, _ in ops}, key=str)
    names = names or {}
    tensors = [Table(_0=[1, elements], _1=("b", 0), _3=names.get(i, b"t%d" % i))
               for i in range(len(ops) + 1)]
    operators = [Table(_0=("I", codes.index(op)), _1=list(inputs), _2=[i + 1])
                 for i, (op, inputs) in enumerate(ops)]
    code_tables = [Table(_0=("b", 32), _1=op, _2=("i", 1), _3=("i", 32))
                   if isinstance(op, bytes) else
                   Table(_0=("b", min(op, 127)), _2=("i", 1), _3=("i", op)) for op in codes]
    graph = Table(_0=tensors, _1=[0], _2=[len(ops)], _3=operators, _4=graph_name)
    return bytes(Writer(Table(_0=("I", 3), _1=code_tables, _2=[graph], _4=[Table()])).data)


def chain(*ops):
    return [(op, [i] * ARITY[op]) for i, op in enumerate(ops)]


# ---- The page -----------------------------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """Counts the elements of the page, and collects forbidden ones."""

    def __init__(self, text):
        super().__init__()
        self.owners, self.rows, self.ids, self.tags, self.links = {}, [], [], [], []
        self.boundary_edges = self.edges = self.ends = self.arrows = 0
        self.outlines = self.labels = self.heated = 0
        self.hot_outlines = self.in_partitions = 0
        self.colours = dict(re.findall(r"\.(own-\w+) \{ fill: (#\w+);", text))
        self.text = []
        self.node = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        classes = (values.get("class") or "").split()
        self.links += [v for k, v in attributes if k in ("href", "src") or k.startswith("on")]
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "g" and "node" in classes:
            self.node = values["data-node"]
        if tag == "g" and "end" in classes:
            self.node, self.ends = None, self.ends + 1
        if tag == "rect" and self.node is not None:
            self.owners[self.node] = classes[0]
        if tag == "path" and "edge" in classes:
            self.edges += 1
            self.boundary_edges += "boundary" in classes
            self.arrows += values.get("marker-end", "").startswith("url(#arrow")
        if tag == "g" and "outline" in classes:
            self.outlines += 1
            self.hot_outlines += any(name.startswith("heat-") for name in classes)
        if tag == "rect" and "in-partition" in classes:
            self.in_partitions += 1
        if tag == "text" and "label" in classes:
            self.labels += 1
        if tag == "rect" and any(name.startswith("heat-") for name in classes):
            self.heated += 1
        if tag == "tr" and "data-node" in values:
            self.rows.append(values["data-node"])

    def handle_data(self, data):
        self.text.append(data)


def deputy(*arguments, **options):
    return subprocess.run([DEPUTY, *map(str, arguments)], capture_output=True, timeout=300,
                          encoding="utf-8", errors="surrogateescape", **options)


def plugin(name, *options):
    return ["--delegate", ",".join([f"{PLUGINS}/lib{name}.so", *options])]


class ExplainTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def model(self, *arguments, **options):
        path = self.folder / "model.tflite"
        path.write_bytes(build_model(*arguments, **options))
        return path

    def explain(self, *arguments, code=0):
        result = deputy("explain", *arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        if code == 0:
            self.assertEqual(result.stderr, "")
        else:
            self.assertRegex(result.stderr, r"\Adeputy: [^\n]+\n\Z")
        return result.stdout

    def report(self, *arguments, code=0):
        return json.loads(self.explain(*arguments, "--json", code=code))

    def test_times_reported_by_a_delegate_are_assigned_to_nodes(self):
        options = ["nodes=0 1 2", "events=0 1 2000 conv;2 3 6000 conv"]
        arguments = [DIGITS, *plugin("node_events", *options, "flags=4"), "--profile", "2"]
        graph = self.report(*arguments)["subgraphs"][0]
        nodes = {node["index"]: node for node in graph["nodes"]}
        self.assertEqual([nodes[i]["reported_ns"] for i in range(4)], [2000, None, 6000, None])
        self.assertEqual([nodes[i]["cost_ns"] is None for i in range(4)], [True, True, True, False])
        self.assertEqual(graph["partitions"][0]["nodes"], [0, 1, 2])
        text = self.explain(*arguments)
        self.assertRegex(text, r"\n +0 \| CONV_2D +\[0\] +2\.0+ us")
        self.assertRegex(text, r"\n +2 \| DEPTHWISE_CONV_2D +\[0\] +6\.0+ us")
        without = self.report(DIGITS, *plugin("node_events", *options), "--profile", "2")
        self.assertTrue(all(node["reported_ns"] is None
                            for node in without["subgraphs"][0]["nodes"]))

    def refused(self, code, pattern, *arguments):
        result = deputy("explain", *arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertRegex(result.stderr, r"\Adeputy: [^\n]+\n\Z")
        self.assertRegex(result.stderr, pattern)

    def owners(self, *arguments):
        return [node["owner"] for node in self.report(*arguments)["subgraphs"][0]["nodes"]]

    # ---- text ----------------------------------------------------------------------------------

    def test_the_digits_as_a_table(self):
        text = self.explain(DIGITS, *plugin("described0", "ops=0"))
        self.assertRegex(text, r"(?m)^delegate   \[0\] elementwise 1.2.3,\s+\S+libdescribed0.so$")
        self.assertIn("           runs 2 of 16 nodes in 2 partitions\n           device ", text)
        self.assertIn("\ndelegated  2 of 16 nodes, 12 %, in 2 partitions; policy hot\n"
                      "boundary   6 tensors cross it: 110.2 KiB in, 55.1 KiB out\n", text)
        self.assertIn("why nodes stay on the CPU\n"
                      "  14  [0] OPERATOR: operator (1 AVERAGE_POOL_2D, 5 CONV_2D, 4 "
                      "DEPTHWISE_CONV_2D,\n"
                      "      2 FULLY_CONNECTED, 1 MAX_POOL_2D, 1 SOFTMAX)\n", text)
        self.assertIn(" node   operator           run by  why not a delegate\n"
                      "    0   CONV_2D            CPU     OPERATOR: operator\n", text)
        self.assertIn("    5   CONV_2D            CPU     OPERATOR: operator\n"
                      "      partition 0 in [0]: 1 node, in 73.5 KiB, out 36.8 KiB\n"
                      "    6 | ADD                [0]\n"
                      "    7   DEPTHWISE_CONV_2D  CPU     OPERATOR: operator\n", text)
        self.assertIn("possible improvements\n"
                      "  if claimed            by   partitions  boundary\n"
                      "  #7 DEPTHWISE_CONV_2D  [0]  2 -> 2      165.4 KiB -> 137.8 KiB\n"
                      "  #12 AVERAGE_POOL_2D   [0]  2 -> 2      165.4 KiB -> 147.4 KiB\n", text)

    def test_no_delegate_is_no_error(self):
        text = self.explain(DIGITS)
        self.assertIn("delegate   none (use --delegate)\n", text)
        self.assertNotIn("possible improvements", text)
        self.assertEqual(len(re.findall(r"(?m)^ +\d+   [A-Z_0-9]+ +CPU(?: +fused into node \d+)?$", text)), 16)

    def test_lines_fit_80_columns(self):
        long_names = self.model([(b"A custom operator whose name has no end at all, it goes on", [0]),
                                 *((ADD, [1, 1]) for _ in range(3))])
        for arguments in ([DIGITS], [DIGITS, *plugin("elementwise")],
                          [DIGITS, *plugin("elementwise"), *plugin("opaque"), "--profile", "2"],
                          [DIGITS, *plugin("throwing", "in=prepare"), *plugin("described0")],
                          [DIGITS, *plugin("failing"), "--profile", "1"], ["--help"]):
            for line in self.explain(*arguments).splitlines():
                self.assertLessEqual(len(line), 80, line)
        for line in self.explain(long_names, code=1).splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_operators_without_a_kernel_are_marked(self):
        model = self.model([(b"Unheard", [0]), *((ADD, [1, 1]) for _ in range(2)), (b"Unheard", [3])])
        for options in (), ("--profile", "2"):
            result = deputy("explain", model, *options)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"\Adeputy: \S+: 1 operator has no kernel: Unheard "
                                            r"version 1 \(2 nodes\)\n\Z")
            self.assertIn("    0   Unheard   none    no kernel for version 1\n"
                          "    1   ADD       CPU\n", result.stdout)
        nodes = self.report(model, code=1)["subgraphs"][0]["nodes"]
        self.assertEqual([node.get("missing") for node in nodes], [True, None, None, True])
        nodes = self.report(model, *plugin("elementwise"), code=1)["subgraphs"][0]["nodes"]
        self.assertEqual([node["owner"] for node in nodes], [-1, 0, 0, -1])
        page = self.folder / "page.html"
        self.explain(model, "--html", page, code=1)
        self.assertIn("none: no kernel", page.read_text())

    def test_several_delegates_each_have_a_column(self):
        text = self.explain(DIGITS, *plugin("described0", "ops=18"), *plugin("elementwise"))
        self.assertRegex(text, r"(?m)^    0   CONV_2D +CPU     \[0\] OPERATOR: operator\n"
                               r" {35}\[1\] NOT_CLAIMED: no reason given")
        # The reason of the owner is omitted; that of the delegate that refused the node is printed.
        self.assertRegex(text, r"(?m)^    6 \| ADD +\[1\]     \[0\] OPERATOR: operator$")

    def test_a_partition_is_one_group_of_rows(self):
        model = self.model(chain(ADD, MUL, SIN, ADD, NEG))
        text = self.explain(model, *plugin("elementwise"))
        self.assertIn("      partition 0 in [0]: 2 nodes, in 16 B, out 16 B\n"
                      "    0 | ADD       [0]\n"
                      "    1 | MUL       [0]\n"
                      "    2   SIN       CPU     NOT_CLAIMED: no reason given; the delegate"
                      " claimed n..\n"
                      "      partition 1 in [0]: 2 nodes, in 16 B, out 16 B\n"
                      "    3 | ADD       [0]\n"
                      "    4 | NEG       [0]\n", text)
        self.assertIn("  #2 SIN      [0]  2 -> 1      64 B -> 32 B\n", text)

    def test_profiles_have_times(self):
        text = self.explain(DIGITS, *plugin("elementwise"), "--profile", "3")
        self.assertRegex(text, r"time +[0-9.]+ [um]s on the CPU, [0-9.]+ [um]s in delegates "
                               r"\(mean of 3 inferences\)")
        self.assertRegex(text, r"(?m)^    0   CONV_2D +CPU +[0-9.]+ [um]s  NOT_CLAIMED")
        self.assertRegex(text, r"partition 0 in \[0\]: 1 node, in 73.5 KiB, out 36.8 KiB, [0-9.]+ ")
        for arguments in ([DIGITS, "--profile"], ["--profile", DIGITS]):
            self.assertIn("(mean of 10 inferences)", self.explain(*arguments))
        self.refused(2, "expected a number", DIGITS, "--profile", "many")

    # ---- JSON ----------------------------------------------------------------------------------

    def test_delegates_show_their_partitions_if_they_can(self):
        path = self.model(chain(SIN, ABS, NEG))
        arguments = [path, *plugin("described0"), "--ir", "--profile", "1"]
        self.assertIn("\npartition of [0] at node -1, counted\n  4 nodes\n",
                      self.explain(*arguments))
        self.assertEqual(self.report(*arguments)["partition_texts"],
                         [{"delegate": 0, "first_node": -1, "stage": "counted",
                           "text": "4 nodes"}])
        for name in ("elementwise", "described_first_release"):
            self.assertIn("\nno delegate can show its partitions\n",
                          self.explain(path, *plugin(name), "--ir"))
        self.assertNotIn("partition_texts", self.report(path, *plugin("described0")))

    def test_marks_nodes_that_multiply_in_bfloat16(self):
        full = self.report(DIGITS)
        self.assertEqual(full["precision"], "")
        names = [node["implementation"] for node in full["subgraphs"][0]["nodes"]]
        self.assertTrue(any(names))
        self.assertFalse([name for name in names if name.endswith("_bf16")])
        report = self.report(DIGITS, "--precision", "bf16")
        names = [node["implementation"] for node in report["subgraphs"][0]["nodes"]]
        count = len([name for name in names if name.endswith("_bf16")])
        text = self.explain(DIGITS, "--precision", "bf16")
        self.assertEqual(text.count(" CPU bf16"), count)
        self.assertIn(f"precision  {report['precision'][:40]}", text)
        self.assertIn(f"bf16 in {count} nodes" if count else "float32 in all", report["precision"])

    def test_json_has_everything(self):
        report = self.report(DIGITS, *plugin("described0", "ops=0"), *plugin("opaque"))
        self.assertEqual((report["policy"], report["nodes"], report["delegated"]), ("hot", 16, 2))
        first, second = report["delegates"]
        self.assertEqual((first["name"], first["version"], first["vendor"], first["applied"]),
                         ("elementwise", "1.2.3", "Deputy's tests", True))
        self.assertEqual((first["nodes"], first["partitions"]), (2, 2))
        self.assertEqual((second["nodes"], second["partitions"], second["failure"]), (0, 0, ""))
        graph, = report["subgraphs"]
        self.assertEqual([n["index"] for n in graph["nodes"] if n["owner"] == 0], [6, 11])
        self.assertEqual([n["index"] for n in graph["nodes"]], list(range(16)))
        node = graph["nodes"][6]
        self.assertEqual((node["operator"], node["partition"], node["runner"]), ("ADD", 0, 16))
        self.assertEqual([a["delegated"] for a in node["support"]], [True, False])
        left = graph["nodes"][0]
        self.assertEqual([(a["delegate"], a["reason"], a["reason_name"]) for a in left["support"]],
                         [(0, 1, "OPERATOR"), (1, 100, "NOT_CLAIMED")])
        self.assertEqual(
            {k: v for k, v in graph["partitions"][0].items() if k != "cost_ns"},
            {"index": 0, "delegate": 0, "node": 16, "plan_position": 6, "nodes": [6],
             "input_count": 2, "input_bytes": 75264, "output_count": 1, "output_bytes": 37632,
             "constant_bytes": 0, "recomputed": 0})
        self.assertEqual(report["boundary"],
                         {"tensors": 6, "input_bytes": 112896, "output_bytes": 56448})
        self.assertEqual(report["status"]["degraded"], False)

    def test_memory_of_copied_constants_is_shown(self):
        copies = [DIGITS, *plugin("compiled_copies")]
        constants = self.report(*copies)["constants"]
        self.assertEqual((constants["packed_bytes_before"], constants["packed_bytes"]), (0, 0))
        self.assertGreater(constants["released_file_bytes"], 32 << 10)
        self.assertEqual(constants["released_file_bytes"] % 4096, 0)
        self.assertRegex(self.explain(*copies), r"(?m)^constants +copied by delegates: [\d.]+ KiB of")
        kept = [DIGITS, *plugin("compiled")]
        self.assertEqual(self.report(*kept)["constants"]["released_file_bytes"], 0)
        self.assertNotIn("constants ", self.explain(*kept))

    def test_buffers_between_delegates_are_counted(self):
        model = self.model(chain(ADD, ADD, ADD))
        for types, memory, shared, copied in (("shared", "shared", 6, 0), ("dma_buf", "host", 0, 6)):
            arguments = [model, "--profile", "5", *plugin("exchanging", "node=0", "types=shared"),
                         *plugin("exchanging", "node=1", f"types={types}")]
            edge, = self.report(*arguments)["buffers"]
            self.assertEqual((edge["memory"], edge["shared_runs"], edge["copied_runs"]), (memory, shared, copied))
            self.assertEqual((edge["bytes"], edge["copied_bytes"]), (16, 16 * copied))
            self.assertRegex(self.explain(*arguments), rf"(?m)^buffer +tensor 1 from .*: {memory} memory, {16 * copied} B ")

    def test_inserted_transpositions_are_counted(self):
        arguments = [DIGITS, "--profile", "3", *plugin("nchw")]
        report = self.report(*arguments)
        graph, = report["subgraphs"]
        inserted = [(n["operator"], n["inserted"], n["owner"]) for n in graph["nodes"] if "inserted" in n]
        self.assertEqual(inserted, [("TRANSPOSE", "to NCHW", -1), ("TRANSPOSE", "to NHWC", -1)])
        self.assertEqual(len(graph["nodes"]), 16 + 2)
        self.assertEqual([p.get("layout") for p in graph["partitions"]], ["NCHW", None])
        self.assertEqual(graph["partitions"][0]["nodes"], list(range(13)))
        self.assertEqual((report["nodes"], report["delegated"]), (16, 14))
        text = self.explain(*arguments)
        self.assertRegex(text, r"(?m)^layout +inserted transpositions: 1 to NCHW, 1 to NHWC; [\d.]+ .?s$")
        self.assertRegex(text, r"(?m)^ +partition 0 in \[0\]: 13 nodes, .*, in NCHW$")
        self.assertRegex(text, r"(?m)^ *\d+ +TRANSPOSE +CPU +[\d.]+ .?s +inserted by the runtime, to NHWC$")
        self.assertNotIn("layout ", self.explain(DIGITS, *plugin("elementwise")))

    # ---- predicted gains -----------------------------------------------------------------------

    def test_suggestions_equal_the_effect_of_claiming(self):
        shuffle = random.Random(5)
        checked = 0
        for _ in range(15):
            every = [ADD, MUL, NEG, SUB, ABS]
            ops = [(op, [shuffle.randrange(i + 1) for _ in range(ARITY[op])])
                   for i, op in enumerate(shuffle.choices(every, k=12))]
            model = self.model(ops)
            taken = shuffle.sample(every, 2)
            before = self.report(model, *plugin("elementwise", "ops=" + ",".join(map(str, taken))))
            changes = before["what_if"]["changes"]
            ranks = [(c["after"]["partitions"] - c["before"]["partitions"],
                      c["after"]["bytes"] - c["before"]["bytes"], len(c["nodes"])) for c in changes]
            self.assertEqual(ranks, sorted(ranks))
            for change in changes:
                op = next(k for k, v in NAMES.items() if v == change["operator"])
                others = [i for i, (code, _) in enumerate(ops)
                          if code == op and i not in change["nodes"]]
                option = "ops=" + ",".join(map(str, [*taken, op]))
                after = self.report(model, *plugin("elementwise", option),
                                    *(f"--exclude=#{i}" for i in others))
                for found, predicted in ((before, change["before"]), (after, change["after"])):
                    boundary = found["boundary"]
                    self.assertEqual(len(found["subgraphs"][0]["partitions"]), predicted["partitions"])
                    self.assertEqual(boundary["tensors"], predicted["tensors"])
                    self.assertEqual(boundary["input_bytes"] + boundary["output_bytes"],
                                     predicted["bytes"])
                checked += 1
        self.assertGreater(checked, 20)

    def test_a_later_delegate_is_queried_for_remaining_nodes(self):
        # SIN and ABS stay on the CPU. Claiming ABS joins the second delegate's ADDs; the first
        # delegate has only one MUL.
        model = self.model(chain(MUL, SIN, ADD, ABS, ADD, SIN))
        changes = self.report(model, *plugin("elementwise", "ops=18"),
                              *plugin("elementwise", "ops=0"))["what_if"]["changes"]
        best = changes[0]
        self.assertEqual((best["delegate"], best["operator"], best["nodes"]), (1, "ABS", [3]))
        self.assertEqual((best["before"]["partitions"], best["after"]["partitions"]), (2, 1))

    def test_the_table_omits_delegates_that_were_never_offered_a_node(self):
        text = self.explain(self.model(chain(MUL, SIN, ADD)), *plugin("elementwise", "ops=18"),
                            *plugin("elementwise", "ops=0"))
        rows = re.findall(r"(?m)^ +\d . +(MUL|SIN|ADD) +(\S+) *(.*)$", text)
        self.assertEqual([row[:2] for row in rows], [("MUL", "[0]"), ("SIN", "CPU"), ("ADD", "[1]")])
        self.assertEqual(rows[0][2], "")  # the second delegate was not offered the node
        self.assertIn("[0] ", rows[1][2])

    def test_edges_between_layers_do_not_cross(self):
        svg = self.folder / "graph.svg"
        # Nodes 2 and 3 consume the outputs of nodes 1 and 0.
        self.explain(self.model([(ABS, [0]), (SIN, [0]), (NEG, [2]), (MUL, [1, 1])]), "--svg", svg)
        at = {name: float(x) for x, name in re.findall(
            r'<rect x="([-\d.]+)" y="[-\d.]+" width="196".*?(ABS|SIN|NEG|MUL)\b',
            svg.read_text(encoding="utf-8"), re.DOTALL)}
        self.assertEqual(set(at), {"ABS", "SIN", "NEG", "MUL"})
        self.assertEqual(at["ABS"] < at["SIN"], at["MUL"] < at["NEG"])

    def test_skipped_trials_are_reported(self):
        model = self.model(chain(*[ADD, SIN] * 1000))
        text = self.explain(model, *plugin("elementwise"))[-800:]
        self.assertRegex(text, r"(?m)^  9\d\d were not tried: the graph is too large$")
        self.assertIn("  all 1000 SIN  [0]  1000 -> 1    31.2 KiB -> 32 B\n", text)

    # ---- queries without applying --------------------------------------------------------------

    def test_check_queries_without_applying(self):
        log = self.folder / "log"
        described = plugin("described0", "ops=0", f"log={log}")
        text = self.explain(DIGITS, *described, "--check")
        self.assertIn("delegate   [0] elementwise 1.2.3\nsupported  2 of 16 nodes\n", text)
        self.assertIn("     2  ADD                  supported\n"
                      "     1  AVERAGE_POOL_2D      OPERATOR: operator\n"
                      "     5  CONV_2D              OPERATOR: operator\n", text)
        report = self.report(DIGITS, *described, *plugin("described0", "ops=99"), "--check")
        self.assertEqual((report["nodes"], report["supported"]), (16, 2))
        self.assertEqual([row["supported"] for row in report["delegates"]], [2, 0])
        first = report["delegates"][0]["nodes"]
        self.assertEqual([node["index"] for node in first], list(range(16)))
        self.assertEqual([node["index"] for node in first if node["supported"]], [6, 11])
        self.assertEqual((first[0]["operator"], first[0]["reason_name"], first[0]["text"]),
                         ("CONV_2D", "OPERATOR", "operator"))
        self.assertFalse(log.exists())  # the delegate has claimed and run nothing
        self.explain(DIGITS, *described)
        self.assertTrue(log.exists())

    def test_check_has_an_exit_code(self):
        described = plugin("described0", "ops=0")
        self.explain(DIGITS, *described, "--check", "--require", "partial")
        self.refused(1, "--require full: 2 of 16 nodes are supported", DIGITS, *described, "--check",
                     "--require", "full")
        self.refused(1, "--check: .*no support query", DIGITS, *plugin("elementwise"), "--check")
        everything = self.model(chain(ADD, MUL))
        self.explain(everything, *plugin("described0"), "--check", "--require", "full")
        for line in self.explain(DIGITS, *described, "--check").splitlines():
            self.assertLessEqual(len(line), 80, line)

    # ---- pin, exclude, require -----------------------------------------------------------------

    def test_nodes_are_excluded_and_pinned_by_every_selector(self):
        model = self.model(chain(ADD, MUL, ADD))
        both = [model, *plugin("elementwise"), *plugin("elementwise")]
        self.assertEqual(self.owners(*both), [0, 0, 0])
        for selector, nodes in (("#1", [1]), ("0#1", [1]), ("op:ADD", [0, 2]), ("tensor:t1", [0])):
            rest = [-1 if i in nodes else 0 for i in range(3)]
            self.assertEqual(self.owners(*both, "--exclude", selector), rest)
            pinned = [1 if i in nodes else 0 for i in range(3)]
            self.assertEqual(self.owners(*both, "--pin", selector + "=1"), pinned)
        nodes = self.report(*both, "--exclude=#1")["subgraphs"][0]["nodes"]
        self.assertEqual(next(n for n in nodes if n["index"] == 1)["support"][0]["reason_name"],
                         "EXCLUDED")

    def test_selectors_that_match_no_node_are_refused(self):
        self.refused(2, "'op:NOPE': matches no node of the model", DIGITS, *plugin("elementwise"),
                     "--exclude", "op:NOPE")
        for selector in ("#99", "tensor:unknown"):  # the library's own messages
            self.refused(1, "the model has none", DIGITS, "--exclude", selector)
        self.refused(2, "'op:NOPE': matches no node", DIGITS, *plugin("elementwise"), "--pin", "op:NOPE=0")

    def test_findings_are_shown_and_make_the_exit_code_1(self):
        thrower = plugin("throwing", "in=prepare")
        for arguments, environment in ((["--validate"], {}), ([], {"DEPUTY_VALIDATION": "1"})):
            result = deputy("explain", DIGITS, *thrower, *arguments,
                            env={**os.environ, **environment})
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"\Adeputy: validation: V17 exception: [^\n]*\n"
                                            r"deputy: the validation layer has 1 finding\n\Z")
            self.assertRegex(result.stdout, r"(?m)^finding    V17 exception: ")
        result = deputy("explain", DIGITS, *thrower, "--validate", "--json",
                        "--html", self.folder / "page.html")
        finding, = json.loads(result.stdout)["findings"]
        self.assertEqual((finding["rule"], finding["count"]), ("V17 exception", 1))
        self.assertIn('id="findings"', (self.folder / "page.html").read_text(encoding="utf-8"))
        text = self.explain(DIGITS, *plugin("elementwise"), "--validate")
        self.assertRegex(text, r"(?m)^findings   none$")
        self.assertIsNone(self.report(DIGITS)["findings"])

    def test_an_exception_of_a_delegate_is_quoted(self):
        for policy in ("hot", "tflite"):
            for where, words in (("prepare", "Prepare threw an exception: prepare"),
                                 ("init", "init threw an exception: no device 7")):
                report = self.report(DIGITS, *plugin("throwing", f"in={where}"), "--policy", policy)
                self.assertIn(words, report["delegates"][0]["failure"])

    def test_bad_selectors_are_refused(self):
        model = self.model(chain(ADD, MUL))
        one = [model, *plugin("elementwise")]
        for selector in ("1", "#", "#x", "x#1", "op:", "#1,2", ""):
            self.refused(2, "expected #NODE", *one, "--exclude", selector)
        self.refused(2, "no delegate 1, there are 1", *one, "--pin", "#0=1")
        self.refused(2, "expected SELECTOR=DELEGATE", *one, "--pin", "#0")
        self.refused(1, "Cannot place node 9", *one, "--exclude", "#9")
        self.refused(1, "placed twice", *one, "--exclude", "#0", "--pin", "op:ADD=0")

    def test_requirements_determine_the_exit_code(self):
        add = [DIGITS, *plugin("elementwise")]
        self.explain(*add, "--require", "partial")
        self.refused(1, r"--require full: 2 of 16 nodes are delegated; left on the CPU: 0#0 "
                        r"CONV_2D, .*, 0#15 SOFTMAX$", *add, "--require", "full")
        self.refused(1, "--require partial: 0 of 16", DIGITS, "--require", "partial")
        self.explain(self.model(chain(ADD, MUL)), *plugin("elementwise"), "--require", "full")
        self.refused(2, "--require", *add, "--require", "most")
        # The report is written although the requirement is not met.
        self.assertEqual(self.report(*add, "--require", "full", code=1)["delegated"], 2)

    # ---- when a delegate fails -----------------------------------------------------------------

    def test_a_failing_delegate_is_reported_once(self):
        plain = deputy("run", DIGITS, "--random")
        self.assertEqual(plain.stderr, "")
        for name, options, note in (("throwing", ["in=prepare"], "1 delegate could not be applied"),
                                    ("failing", [], "replaced a failed node 2 times")):
            flags = plugin(name, *options)
            result = deputy("run", DIGITS, "--random", *flags)
            self.assertEqual((result.returncode, result.stdout), (0, plain.stdout))
            self.assertRegex(result.stderr, rf"\Adeputy: degraded: [^\n]*{note}[^\n]*\n\Z")
            refused = deputy("run", DIGITS, "--random", *flags, "--policy", "tflite")
            self.assertEqual(refused.returncode, 1)
            environment = dict(os.environ, DEPUTY_DELEGATE_POLICY="tflite")
            self.assertEqual(
                deputy("run", DIGITS, "--random", *flags, env=environment).returncode, 1)
            bench = deputy("bench", DIGITS, *flags, "--runs", 2, "--min-secs", 0, "--warmup", 0)
            self.assertEqual(bench.returncode, 0, bench.stderr)
            self.assertRegex(bench.stderr, r"deputy: degraded: ")
        self.refused(2, "--policy", DIGITS, "--policy", "cold")

    def test_a_failed_delegate_is_explained(self):
        for policy in ("hot", "tflite"):
            report = self.report(DIGITS, *plugin("throwing", "in=prepare"), "--policy", policy)
            self.assertEqual(report["policy"], policy)
            self.assertEqual(report["delegates"][0]["applied"], False)
            self.assertNotEqual(report["delegates"][0]["failure"], "")
            self.assertEqual(report["subgraphs"][0]["nodes"][0]["support"][0]["reason_name"],
                             "GRAPH")
            self.assertEqual(report["status"]["delegates_skipped"], 1 if policy == "hot" else 0)
        report = self.report(DIGITS, *plugin("failing"), "--profile", "2")
        self.assertEqual(report["status"]["degraded"], True)
        self.assertEqual(report["status"]["recomputed_nodes"], 6)
        self.assertEqual([p["recomputed"] for p in report["subgraphs"][0]["partitions"]], [3, 3])

    def test_bench_prints_the_cost_of_the_fallback(self):
        quick = ["--runs", "2", "--min-secs", "0", "--warmup", "0"]
        model = self.model(chain(ADD, MUL, NEG))
        hot = deputy("bench", model, *plugin("elementwise"), *quick, "--json")
        fallback = json.loads(hot.stdout)["fallback"]
        self.assertGreater(fallback["reserved_bytes"], 0)
        self.assertEqual(fallback["saving_ns"], 0)  # there are no variables to save
        text = deputy("bench", model, *plugin("elementwise"), *quick).stdout
        self.assertRegex(text, r"(?m)^fallback   ready for failing delegates: [0-9.]+ \w+ reserved, ")
        for arguments in ([], [*plugin("elementwise"), "--policy", "tflite"]):
            self.assertNotIn("fallback", deputy("bench", model, *arguments, *quick).stdout)

    # ---- the page ------------------------------------------------------------------------------

    def page(self, *arguments):
        path = self.folder / "page.html"
        self.explain(*arguments, "--html", path)
        return path, Page(path.read_text(encoding="utf-8"))

    def check_page(self, page, report):
        nodes = {f"0-{n['index']}": n for n in report["subgraphs"][0]["nodes"]}
        self.assertEqual(page.owners, {key: "own-cpu" if n["owner"] == -1 else f"own-{n['owner']}"
                                       for key, n in nodes.items()})
        self.assertEqual(page.rows, list(nodes))
        for key in nodes:
            for kind in "nrd":
                self.assertEqual(page.ids.count(kind + key), 1)
        self.assertEqual(page.links, [])
        self.assertEqual(page.tags.count("script"), 1)
        for tag in ("img", "iframe", "link", "object", "embed", "a", "b"):
            self.assertNotIn(tag, page.tags)

    def test_the_page_shows_every_node_in_the_colour_of_its_delegate(self):
        arguments = [DIGITS, *plugin("described0", "ops=18"), *plugin("elementwise")]
        path, page = self.page(*arguments)
        self.check_page(page, self.report(*arguments))
        self.assertEqual(sorted(page.colours), ["own-0", "own-1", "own-cpu"])
        self.assertEqual(len(set(page.colours.values())), 3)
        self.assertEqual(list(page.owners.values()).count("own-1"), 2)
        # The page has 19 edges: 15 between consecutive nodes, two that skip nodes, one from the
        # input, one to the output. Of these, 3 touch each of the two ADDs.
        self.assertEqual((page.edges, page.boundary_edges, page.ends), (19, 6, 2))
        text = path.read_text(encoding="utf-8")
        self.assertNotRegex(text, r"https?://(?!www\.w3\.org/2000/svg)")
        self.assertIn("default-src 'none'", text)

    def test_the_page_shows_shapes_partitions_constants_and_times(self):
        path, page = self.page(DIGITS, *plugin("described0", "ops=18"), "--profile", "1")
        self.assertEqual(page.arrows, page.edges)
        # The page has one label for each tensor: the input and the outputs of 16 nodes.
        self.assertEqual(page.labels, 17)
        # Two of the 16 nodes are fused with others, so they have no time of their own.
        self.assertEqual(page.heated, 14)
        report = self.report(DIGITS, *plugin("described0", "ops=18"))
        self.assertEqual(page.outlines, len(report["subgraphs"][0]["partitions"]))
        text = path.read_text(encoding="utf-8")
        self.assertRegex(text, r">1x28x28x24, 73\.5 KiB</text>")
        self.assertRegex(text, r">2 constants, 2\.4 KiB</text>")
        for tool in ("in", "out", "fit", "plain", "heat"):
            self.assertIn(f'data-do="{tool}"', text)
        self.assertIn("prefers-color-scheme: dark", text)

    def test_equal_reasons_are_one_row(self):
        path, _ = self.page(DIGITS, *plugin("described0"))
        text = path.read_text(encoding="utf-8")
        table = re.search(r'<table class="reasons">(.*?)</table>', text, re.DOTALL)[1]
        results = [(a["reason_name"], a["text"]) for n in
                   self.report(DIGITS, *plugin("described0"))["subgraphs"][0]["nodes"]
                   for a in n["support"] if not a["delegated"]]
        rows = re.findall(r'<tr><td class="number">\d+</td><td class="number">(\d+)</td>', table)
        self.assertEqual(len(rows), len(set(results)))
        self.assertEqual(sum(map(int, rows)), len(results))
        self.assertLess(len(rows), len(results))

    def test_the_graph_is_written_as_svg_and_dot(self):
        svg, dot = self.folder / "graph.svg", self.folder / "graph.dot"
        self.explain(self.hostile_model(), *plugin("elementwise"), "--svg", svg, "--dot", dot)
        root = xml.etree.ElementTree.parse(svg).getroot()
        space = "{http://www.w3.org/2000/svg}"
        nodes = [g for g in root.iter(f"{space}g") if g.get("class") == "node"]
        self.assertEqual(len(nodes), len(self.HOSTILE))
        self.assertFalse([e for e in root.iter() if e.tag in (f"{space}script", f"{space}image")])
        text = dot.read_text(encoding="utf-8")
        self.assertEqual(text.count(" -> "), 2 * len(self.HOSTILE) + 1)
        self.assertEqual(text.count("{"), text.count("}"))
        self.assertEqual(len(re.findall(r"subgraph cluster_s0p\d+ ", text)),
                         len(self.report(self.hostile_model(), *plugin("elementwise"))
                             ["subgraphs"][0]["partitions"]))
        self.refused(2, "No such file", DIGITS, "--svg", self.folder / "no" / "x.svg")
        self.refused(2, "No such file", DIGITS, "--dot", self.folder / "no" / "x.dot")

    def test_boxes_do_not_overlap(self):
        shuffle = random.Random(3)
        for size in (1, 40, 200):
            ops = [(op, [shuffle.randrange(max(0, i - 20), i + 1) for _ in range(ARITY[op])])
                   for i, op in enumerate(shuffle.choices([ADD, MUL, ABS, SIN], k=size))]
            path, _ = self.page(self.model(ops), *plugin("elementwise"))
            boxes = [tuple(map(float, box)) for box in re.findall(
                r'<rect x="([-\d.]+)" y="([-\d.]+)" width="196" height="52"', path.read_text())]
            self.assertGreater(len(boxes), size)
            boxes.sort(key=lambda box: (box[1], box[0]))
            for (x, y), (next_x, next_y) in zip(boxes, boxes[1:]):
                self.assertTrue(next_x - x >= 196 if next_y == y else next_y - y >= 52)

    def test_deep_graphs_are_cut_into_columns(self):
        def drawn(count):
            svg = self.folder / "graph.svg"
            self.explain(self.model([(ABS, [i]) for i in range(count)]), "--svg", svg)
            text = svg.read_text(encoding="utf-8")
            boxes = re.findall(r'<rect x="([-\d.]+)" y="([-\d.]+)" width="196" height="52"', text)
            self.assertEqual(len(boxes), count + 2)
            width, height = map(float, re.search(r'<svg [^>]*width="(\d+)" height="(\d+)"', text).groups())
            return width, height, {float(x) for x, _ in boxes}

        width, height, columns = drawn(30)
        self.assertEqual(len(columns), 1)
        self.assertGreater(height, 8 * width)
        width, height, columns = drawn(1000)
        self.assertGreater(len(columns), 10)
        self.assertTrue(1.2 < width / height < 2.2, (width, height))

    # In this model, node 0 computes tensor 2 from the constant 1, which nodes 1 and 2 read; node 3
    # writes a graph output.
    def constants_model(self, outputs=(4, 5)):
        tensors = [Table(_0=[1, 4], _1=("b", 0), _2=("I", int(i == 1)), _3=b"t%d" % i)
                   for i in range(6)]
        codes = [ABS, ADD, MUL]
        operators = [Table(_0=("I", codes.index(op)), _1=inputs, _2=[output]) for op, inputs, output in
                     ((ABS, [1], 2), (ADD, [0, 2], 3), (MUL, [3, 2], 4), (ABS, [1], 5))]
        graph = Table(_0=tensors, _1=[0], _2=list(outputs), _3=operators, _4=b"main")
        path = self.folder / "constants.tflite"
        path.write_bytes(bytes(Writer(Table(
            _0=("I", 3), _1=[Table(_0=("b", op), _2=("i", 1), _3=("i", op)) for op in codes], _2=[graph],
            _4=[Table(), Table(_0=bytes(16))])).data))
        return path

    def test_constant_nodes_are_drawn_in_their_consumer(self):
        path, page = self.page(self.constants_model())
        text = path.read_text(encoding="utf-8")
        self.assertEqual(sorted(page.owners), ["0-1", "0-2", "0-3"])
        self.assertEqual(page.rows, ["0-0", "0-1", "0-2", "0-3"])
        self.assertIn('<tr id="r0-0" data-node="0-0" data-in="0-1"', text)
        self.assertEqual(text.count(">16 B, 1 constant +1 node</text>"), 2)
        self.assertEqual(text.count(">1 constant, 16 B</text>"), 1)
        # The page has the edges t0 -> 1, 1 -> 2, 2 -> its output, 3 -> its output.
        self.assertEqual((page.edges, page.ends), (4, 3))
        self.assertIn("<dt>constant nodes</dt><dd>ABS</dd>", text)
        dot = self.folder / "graph.dot"
        self.explain(self.constants_model(), "--dot", dot)
        self.assertEqual(dot.read_text(encoding="utf-8").count(" -> "), 4)
        self.assertNotIn("s0n0", dot.read_text(encoding="utf-8"))

    def test_outputs_are_drawn_even_if_a_node_reads_them_and_no_other_tensor_is(self):
        model = self.constants_model(outputs=(3, 4))  # no node reads tensor 5
        path, page = self.page(model)
        # The page has the edges t0 -> 1, 1 -> 2, 1 -> its output, 2 -> its output.
        self.assertEqual((page.edges, page.ends), (4, 3))
        self.assertEqual(re.findall(r">output</text><text[^>]*>(t\d)</text>", path.read_text(encoding="utf-8")),
                         ["t3", "t4"])
        dot = self.folder / "graph.dot"
        self.explain(model, "--dot", dot)
        self.assertEqual(re.findall(r's0n(\d) -> s0o(\d)', dot.read_text(encoding="utf-8")), [("1", "0"), ("2", "1")])
        self.assertEqual(self.report(model)["subgraphs"][0]["outputs"], [3, 4])

    def test_a_partition_has_one_heat(self):
        _, page = self.page(DIGITS, *plugin("elementwise"), "--profile", "1")
        report = self.report(DIGITS, *plugin("elementwise"))
        partitions = report["subgraphs"][0]["partitions"]
        self.assertGreater(len(partitions), 0)
        self.assertEqual(page.hot_outlines, len(partitions))
        self.assertEqual(page.in_partitions, sum(len(partition["nodes"]) for partition in partitions))

    def test_the_title_is_the_name_of_the_file(self):
        path, _ = self.page(DIGITS)
        text = path.read_text(encoding="utf-8")
        self.assertIn("<title>digits_float.tflite - deputy explain</title>", text)
        self.assertIn(f'<h1 title="{DIGITS}">digits_float.tflite</h1>', text)

    HOSTILE = (b"<script>alert(1)</script>", b"</svg><img src=x onerror=alert(1)>",
               b"\"'><b>&amp;", b"a\x1b[31m\nb\x00c", b"\xff\xfe\xc3(")

    def hostile_model(self):
        return self.model(chain(*[ADD] * len(self.HOSTILE)),
                          names={i + 1: name for i, name in enumerate(self.HOSTILE)},
                          graph_name=self.HOSTILE[0])

    def test_names_from_the_model_are_only_text(self):
        arguments = [self.hostile_model(), *plugin("elementwise")]
        _, page = self.page(*arguments)
        self.check_page(page, self.report(*arguments))
        text = "".join(page.text)
        for name in (self.HOSTILE[0].decode(), self.HOSTILE[1].decode(), self.HOSTILE[2].decode()):
            self.assertIn(name, text)
        self.assertIn("a?[31m b", text)
        self.assertNotIn("\x1b", self.explain(*arguments))

    def test_a_browser_renders_the_page(self):
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        if browser is None:
            self.skipTest("no chromium here")
        path, page = self.page(self.hostile_model(), *plugin("elementwise"))
        result = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
             f"--user-data-dir={self.folder / 'browser'}", f"file://{path}#0-3"],
            capture_output=True, text=True, timeout=120, errors="replace")
        if result.returncode != 0 or "<svg" not in result.stdout:
            self.skipTest("chromium does not run here: " + result.stderr[-200:])
        seen = Page(result.stdout)
        self.assertEqual(seen.owners, page.owners)
        self.assertEqual(seen.tags.count("script"), 1)
        # The page's script must have run: the node in the URL is selected and its details are
        # shown.
        self.assertRegex(result.stdout, r'<g class="node chosen"[^>]* id="n0-3"')
        self.assertEqual(re.findall(r'<section class="details" id="(\w+-\d+)">', result.stdout),
                         ["d0-3"])

    # A page of two hundred nodes at 1:1; the script stores the view after wheel, mouse and
    # two-finger gestures.
    GESTURES = '''<script>
        const main = document.querySelector('.main'), corner = main.getBoundingClientRect();
        const seen = () => main.getAttribute('viewBox').split(' ').map(Number);
        const views = [];
        const point = (type, id, x, y) => main.dispatchEvent(new PointerEvent(type, {
          pointerId: id, clientX: corner.left + x, clientY: corner.top + y, bubbles: true}));
        const wheel = (more) => main.dispatchEvent(new WheelEvent('wheel', {
          clientX: corner.left + 100, clientY: corner.top + 100, cancelable: true, ...more}));
        views.push(seen());
        wheel({deltaY: 120});
        views.push(seen());
        wheel({deltaY: -120, ctrlKey: true});
        views.push(seen());
        point('pointerdown', 1, 100, 200); point('pointermove', 1, 90, 150); point('pointermove', 1, 60, 100);
        point('pointerup', 1, 60, 100);
        views.push(seen());
        point('pointerdown', 1, 100, 100); point('pointerdown', 2, 200, 100);
        point('pointermove', 1, 50, 100); point('pointermove', 2, 250, 100);
        point('pointerup', 1, 50, 100); point('pointerup', 2, 250, 100);
        views.push(seen());
        document.body.dataset.views = JSON.stringify(views);
        </script>'''

    def test_the_graph_pans_and_zooms_in_a_browser(self):
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        if browser is None:
            self.skipTest("no chromium here")
        path, _ = self.page(self.model(chain(*[ABS] * 200)))
        path.write_text(path.read_text(encoding="utf-8") + self.GESTURES, encoding="utf-8")
        for width in (420, 900, 1600):
            result = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                 f"--window-size={width},900", f"--user-data-dir={self.folder / 'browser'}",
                 f"file://{path}"],
                capture_output=True, text=True, timeout=120, errors="replace")
            if result.returncode != 0 or "<svg" not in result.stdout:
                self.skipTest("chromium does not run here: " + result.stderr[-200:])
            first, down, near, dragged, pinched = json.loads(
                html.unescape(re.search(r'data-views="([^"]*)"', result.stdout)[1]))
            scale = down[3] / near[3]
            self.assertGreater(down[1], first[1])
            self.assertEqual(down[2:], first[2:])
            self.assertAlmostEqual(scale, 1.492, places=2)
            self.assertGreater(dragged[1], near[1])
            self.assertEqual(dragged[2:], near[2:])
            self.assertAlmostEqual(dragged[3] / pinched[3], 2, places=1)

    def test_a_page_that_cannot_be_written_is_an_error(self):
        self.refused(2, "No such file", DIGITS, "--html", self.folder / "no" / "page.html")
        if os.path.exists("/dev/full"):
            self.refused(1, "No space", DIGITS, "--html", "/dev/full")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = os.path.abspath(sys.argv.pop(1))
    DEPUTY, PLUGINS = os.path.join(BUILD, "deputy"), os.path.join(BUILD, "tests", "plugins")
    if not os.path.exists(DEPUTY) or not os.path.exists(f"{PLUGINS}/libfailing.so"):
        print("the deputy command or the plug-ins of the tests are not here: skipped")
        sys.exit(77)
    unittest.main()
