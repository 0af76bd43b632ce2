#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the host of compiler plug-ins with the plug-in pair of npu_stub/litert and with test doubles.

    litert_compiler_test.py BUILD_FOLDER

DEPUTY_LITERT_LIBRARY names another library, for example LiteRT's own; the tests of the class PairTest hold for it, too.
"""

import math
import os
import pathlib
import struct
import sys
import tempfile
import unittest

from litert_files import file_of
from litert_session import CACHE_FOLDER, COMPILER_FOLDER, DISPATCH_FOLDER, MAX_BYTES, MAX_CONFIGS, run_model

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77
CPU, NPU = 1, 4
CODES = {'ADD': 0, 'FULLY_CONNECTED': 9, 'MUL': 18, 'RELU': 19, 'RELU6': 21, 'NEG': 59, 'COS': 108}
OPTIONS = {'ADD': 'AddOptions', 'MUL': 'MulOptions', 'FULLY_CONNECTED': 'FullyConnectedOptions'}


def model_of(ops, shapes, inputs, outputs, constants=None, variables=()):
    """Returns a float32 model. `ops` are (name, inputs, outputs[, options]), `constants` {tensor: numbers}."""
    constants = constants or {}
    names = sorted({op[0] for op in ops})
    buffers = [{}] + [{'data': list(struct.pack(f'{len(values)}f', *values))} for values in constants.values()]
    numbers = {tensor: i + 1 for i, tensor in enumerate(constants)}
    operators = []
    for name, op_inputs, op_outputs, *options in ops:
        operator = {'opcode_index': names.index(name), 'inputs': op_inputs, 'outputs': op_outputs}
        if name in OPTIONS:
            operator |= {'builtin_options_type': OPTIONS[name], 'builtin_options': options[0] if options else {}}
        operators.append(operator)
    return file_of({
        'version': 3,
        'operator_codes': [{'deprecated_builtin_code': min(CODES[n], 127), 'builtin_code': n, 'version': 1} for n in names],
        'subgraphs': [{
            'tensors': [{'shape': shape, 'type': 'FLOAT32', 'buffer': numbers.get(i, 0), 'name': f't{i}',
                         'is_variable': i in variables} for i, shape in enumerate(shapes)],
            'inputs': inputs, 'outputs': outputs, 'operators': operators,
        }],
        'buffers': buffers,
    })


SHAPE = [1, 4]
X = [0.5, -1, 2, -4]
# (x + {1, 2, 3, 4}) * x
SUM = model_of([('ADD', [0, 1], [2]), ('MUL', [2, 0], [3])], [SHAPE] * 4, [0], [3], {1: [1, 2, 3, 4]})
SUM_RESULT = [0.75, -1, 10, 0]
# cos(3 x) + x, and relu6 of relu of it
MIXED = model_of(
    [('MUL', [0, 1], [2]), ('COS', [2], [3]), ('ADD', [3, 0], [4]), ('RELU', [4], [5]), ('RELU6', [5], [6])],
    [SHAPE] * 7, [0], [4, 6], {1: [3, 3, 3, 3]})
MIXED_SUM = [math.cos(3 * x) + x for x in X]
MIXED_RESULT = [MIXED_SUM, [min(max(x, 0), 6) for x in MIXED_SUM]]
# relu of a product with 3 x 4 weights
PRODUCT = model_of(
    [('FULLY_CONNECTED', [0, 1, 2], [3], {'fused_activation_function': 'RELU'})],
    [[2, 4], [3, 4], [3], [2, 3]], [0], [3],
    {1: [1, 0, 0, 0, 0, 2, 0, 1, 1, 1, 1, 1], 2: [0, 0.5, -1]})
PRODUCT_INPUT = [1, 2, 3, 4, -1, 0, 0.5, 2]
PRODUCT_RESULT = [1, 8.5, 9, 0, 2.5, 0.5]

# 3 x; -x; 2 (3 x + y)
SCALED = model_of([('MUL', [0, 1], [2])], [SHAPE] * 3, [0], [2], {1: [3, 3, 3, 3]})
SCALED_RESULT = [3 * x for x in X]
NEGATED = model_of([('NEG', [0], [1])], [SHAPE] * 2, [0], [1])
CHAIN = model_of([('MUL', [0, 2], [3]), ('ADD', [3, 1], [4]), ('MUL', [4, 5], [6])], [SHAPE] * 7, [0, 1], [6],
                 {2: [3, 3, 3, 3], 5: [2, 2, 2, 2]})
Y = [1, 0.25, -3, 8]
CHAIN_RESULT = [2 * (3 * x + y) for x, y in zip(X, Y)]


def branches(is_true):
    """Returns a model that multiplies by 3 if a constant is true, otherwise by 2."""
    def branch(constant):
        return {
            'tensors': [{'shape': SHAPE, 'type': 'FLOAT32', 'buffer': buffer, 'name': f't{i}'}
                        for i, buffer in enumerate((0, constant, 0))],
            'inputs': [0], 'outputs': [2],
            'operators': [{'opcode_index': 0, 'inputs': [0, 1], 'outputs': [2], 'builtin_options_type': 'MulOptions',
                           'builtin_options': {}}],
        }

    return file_of({
        'version': 3,
        'operator_codes': [{'deprecated_builtin_code': 18, 'builtin_code': 'MUL', 'version': 1},
                           {'deprecated_builtin_code': 118, 'builtin_code': 'IF', 'version': 1}],
        'subgraphs': [{
            'tensors': [{'shape': [], 'type': 'BOOL', 'buffer': 1, 'name': 'condition'},
                        {'shape': SHAPE, 'type': 'FLOAT32', 'buffer': 0, 'name': 'x'},
                        {'shape': SHAPE, 'type': 'FLOAT32', 'buffer': 0, 'name': 'y'}],
            'inputs': [1], 'outputs': [2],
            'operators': [{'opcode_index': 1, 'inputs': [0, 1], 'outputs': [2], 'builtin_options_type': 'IfOptions',
                           'builtin_options': {'then_subgraph_index': 1, 'else_subgraph_index': 2}}],
        }, branch(2), branch(3)],
        'buffers': [{}, {'data': [is_true]}, {'data': list(struct.pack('4f', 3, 3, 3, 3))},
                    {'data': list(struct.pack('4f', 2, 2, 2, 2))}],
    })


def composite(name, result=2):
    """Returns a model with a composite that multiplies by 3 and adds y, and a MUL by 2. Its body returns a tensor."""
    tensors = [{'shape': SHAPE, 'type': 'FLOAT32', 'buffer': buffer, 'name': f't{i}'} for i, buffer in enumerate((0, 0, 0, 1, 0))]
    mul, add = ({'opcode_index': i, 'builtin_options_type': f'{kind}Options', 'builtin_options': {}}
                for i, kind in enumerate(('Mul', 'Add')))
    call = {'opcode_index': 2, 'inputs': [1, 0], 'outputs': [2], 'builtin_options_2_type': 'StableHLOCompositeOptions',
            'builtin_options_2': {'name': name, 'decomposition_subgraph_index': 1}}
    return file_of({
        'version': 3,
        'operator_codes': [{'deprecated_builtin_code': min(code, 127), 'builtin_code': kind, 'version': 1}
                           for code, kind in ((18, 'MUL'), (0, 'ADD'), (206, 'STABLEHLO_COMPOSITE'))],
        'subgraphs': [
            {'tensors': [*tensors[:3], tensors[3] | {'buffer': 2}, tensors[4]], 'inputs': [0, 1], 'outputs': [4],
             'operators': [call, mul | {'inputs': [2, 3], 'outputs': [4]}]},
            # The operators read the inputs in the other order.
            {'tensors': tensors, 'inputs': [1, 0], 'outputs': [result],
             'operators': [mul | {'inputs': [0, 3], 'outputs': [4]}, add | {'inputs': [4, 1], 'outputs': [2]}]},
        ],
        'buffers': [{}, {'data': list(struct.pack('4f', 3, 3, 3, 3))}, {'data': list(struct.pack('4f', 2, 2, 2, 2))}],
    })


class Case(unittest.TestCase):

    def run_file(self, file, inputs=(X,), **job):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'model.tflite'
            path.write_bytes(file)
            return run_model(LIBRARY, path, [list(values) for values in inputs], **job)

    def assert_near(self, found, expected):
        self.assertEqual([len(values) for values in found], [len(values) for values in expected])
        for values, wanted in zip(found, expected):
            for value, want in zip(values, wanted):
                self.assertAlmostEqual(value, want, places=5)


class PairTest(Case):
    """The plug-ins of npu_stub/litert."""

    def pair(self, file, inputs=(X,), **job):
        options = {COMPILER_FOLDER: str(PAIR), DISPATCH_FOLDER: str(PAIR)} | job.pop('options', {})
        return self.run_file(file, inputs, options=options, **job)

    def test_operators_are_compiled_and_run(self):
        result = self.pair(SUM, runs=2)
        self.assertEqual((result['created'], result['full'], result['run']), ('Ok', True, 'Ok'), result['log'])
        self.assertEqual(result['outputs'], [[SUM_RESULT]] * 2)

    # The device computes the results: with a fault they are wrong.
    def test_the_device_computes(self):
        result = self.pair(SUM, env={'DEPUTY_NPU_FAULTS': 'wrong'})
        self.assertEqual(result['run'], 'Ok')
        self.assertNotEqual(result['outputs'], [[SUM_RESULT]])

    def test_the_cpu_runs_the_model_after_a_failed_run(self):
        if not IS_OURS:
            self.skipTest('every run fails in LiteRT')
        failing = {'DEPUTY_NPU_FAULTS': 'run'}
        result = self.pair(SUM, accelerators=NPU | CPU, runs=3, env=failing)
        self.assertEqual((result['created'], result['run']), ('Ok', 'Ok'), result['log'])
        self.assertEqual((result['full'], result['full at the end']), (True, False))
        self.assertEqual(result['outputs'], [[SUM_RESULT]] * 3)
        self.assertEqual(result['log'].count('the CPU runs the model from now on'), 1, result['log'])
        mixed = self.pair(MIXED, accelerators=NPU | CPU, env=failing)
        self.assert_near(mixed['outputs'][0], MIXED_RESULT)
        alone = self.pair(SUM, runs=2, env=failing)
        self.assertEqual((alone['run'], alone['outputs']), ('ErrorRuntimeFailure', []))

    def test_other_operators_run_on_the_cpu(self):
        result = self.pair(MIXED, accelerators=NPU | CPU)
        self.assertEqual((result['created'], result['full'], result['run']), ('Ok', False, 'Ok'), result['log'])
        self.assert_near(result['outputs'][0], MIXED_RESULT)
        wrong = self.pair(MIXED, accelerators=NPU | CPU, env={'DEPUTY_NPU_FAULTS': 'wrong'})
        self.assertNotEqual(result['outputs'], wrong['outputs'])

    def test_matrix_products(self):
        result = self.pair(PRODUCT, (PRODUCT_INPUT,))
        self.assertEqual((result['created'], result['full']), ('Ok', True), result['log'])
        self.assertEqual(result['outputs'], [[PRODUCT_RESULT]])

    def test_operators_that_are_not_supported_stay_on_the_cpu(self):
        result = self.pair(model_of([('COS', [0], [1])], [SHAPE] * 2, [0], [1]), accelerators=NPU | CPU)
        self.assertEqual((result['created'], result['full']), ('Ok', False), result['log'])
        self.assert_near(result['outputs'][0], [[math.cos(x) for x in X]])

    # RELU6 of RELU becomes RELU6, which the plug-in compiles together with the sum.
    def test_transformations_are_applied(self):
        file = model_of([('RELU', [0], [1]), ('RELU6', [1], [2])], [SHAPE] * 3, [0], [2])
        result = self.pair(file, ([-1, 3, 7, 0.5],))
        self.assertEqual(result['outputs'], [[[0, 3, 6, 0.5]]])
        if IS_OURS:
            self.assertIn('has compiled 1 of 1 operators in 1 partitions', result['log'])

    # The sum and the product are one partition, although the cosine is between them in the file.
    def test_partition_strategies(self):
        file = model_of([('ADD', [0, 1], [2]), ('COS', [5], [3]), ('MUL', [2, 0], [4])], [SHAPE] * 6, [0, 5], [3, 4],
                        {1: [1, 2, 3, 4]})
        for strategy, partitions in ((0, 2), (1, 1)):
            with self.subTest(strategy=strategy):
                result = self.pair(file, (X, Y), accelerators=NPU | CPU, compiler=f'partition_strategy = {strategy}')
                self.assert_near(result['outputs'][0], [[math.cos(y) for y in Y], SUM_RESULT])
                if IS_OURS:
                    self.assertIn(f'has compiled 2 of 3 operators in {partitions} partitions', result['log'])

    def test_a_partition_that_depends_on_itself_is_refused(self):
        file = model_of([('ADD', [0, 1], [2]), ('COS', [2], [3]), ('MUL', [2, 3], [4])], [SHAPE] * 5, [0], [4], {1: [1, 2, 3, 4]})
        expected = [(x + c) * math.cos(x + c) for x, c in zip(X, (1, 2, 3, 4))]
        job = {'compiler': 'partition_strategy = 1'} if IS_OURS else {}
        result = self.pair(file, accelerators=NPU | CPU, **job)
        self.assert_near(result['outputs'][0], [expected])
        if IS_OURS:
            self.assertIn('builder: the operators form a cycle', result['log'])

    # The body of such a composite is one partition, with the composite's inputs.
    def test_composites_for_the_npu_are_partitions(self):
        if not IS_OURS:
            self.skipTest('LiteRT exchanges the byte code of a composite and that of other partitions')
        for job in ({}, {'compiler': 'partition_strategy = 1'}):
            result = self.pair(composite('odml.npu_call'), (X, Y), **job)
            self.assertEqual((result['created'], result['full']), ('Ok', True), result['log'])
            self.assert_near(result['outputs'][0], [CHAIN_RESULT])
            if IS_OURS:
                self.assertIn('has compiled 2 of 2 operators in 2 partitions', result['log'])

    def test_composites_are_inlined(self):
        result = self.pair(composite('any'), (X, Y))
        self.assertEqual((result['created'], result['full']), ('Ok', True), result['log'])
        self.assert_near(result['outputs'][0], [CHAIN_RESULT])
        if IS_OURS:
            self.assertIn('has compiled 3 of 3 operators in 1 partitions', result['log'])


class DoubleCase(Case):

    def double(self, file, inputs=(X,), setting='', sdk='', **job):
        options = {COMPILER_FOLDER: str(DOUBLES / 'litert_compiler'), DISPATCH_FOLDER: str(DOUBLES / 'litert')}
        options |= job.pop('options', {})
        env = {'LITERT_COMPILER': setting, 'LITERT_COMPILER_SDK': sdk, **job.pop('env', {})}
        return self.run_file(file, inputs, options=options, env=env, **{'accelerators': NPU | CPU, **job})

    def assert_compiled(self, result, outputs, compiled, total, partitions, full=True):
        self.assertEqual((result['created'], result['run'], result['full']), ('Ok', 'Ok', full), result['log'])
        self.assert_near(result['outputs'][0], outputs)
        self.assertIn(f'has compiled {compiled} of {total} operators in {partitions} partitions', result['log'])

    def assert_on_cpu(self, result, outputs, *reasons):
        self.assertEqual((result['created'], result['run'], result['full']), ('Ok', 'Ok', False), result['log'])
        self.assert_near(result['outputs'][0], outputs)
        for reason in reasons:
            self.assertIn(reason, result['log'])


class HostTest(DoubleCase):
    """The host with the doubles of tests/doubles/litert; each operator is a partition."""

    def test_each_group_is_a_partition(self):
        self.assert_compiled(self.double(CHAIN, (X, Y)), [CHAIN_RESULT], 3, 3, 3)

    def test_calls_of_the_plugin(self):
        calls = [line.split()[1] for line in self.double(SCALED)['log'].splitlines()
                 if line.startswith('double:') and 'SoC' not in line]
        self.assertEqual(calls, [
            'GetCompilerPluginVersion', 'CreateCompilerPlugin', 'GetCompilerPluginSupportedHardware',
            'GetNumCompilerPluginSupportedSocModels', 'GetCompilerPluginSupportedSocModel',
            'GetCompilerPluginSupportedSocModel', 'GetCompilerPluginSDKVersion', 'CompilerPluginCheckCompilerCompatibility',
            'CompilerPluginRegisterAllTransformations', 'CompilerPluginPartition', 'CompilerPluginCompile',
            'CompiledResultNumByteCodeModules', 'GetNumCompiledResultCalls', 'GetCompiledResultCallInfo',
            'GetCompiledResultByteCode', 'DestroyCompiledResult', 'DestroyCompilerPlugin'])

    def test_transformations(self):
        self.assert_compiled(self.double(NEGATED), [[-x for x in X]], 1, 1, 1)
        both = self.double(NEGATED, setting='count=2')
        self.assert_compiled(both, [[-x for x in X]], 1, 1, 1)
        self.assertLess(both['log'].index('double: Pattern'), both['log'].index('double: MatchNothing'))
        for setting, reason in (
            ('transform=cycle', "transformation 'multiply' is discarded"),
            ('fail=Pattern', "transformation 'multiply' failed: kLiteRtStatusErrorRuntimeFailure"),
            ('transform=forever', 'stop after 100 changes'),
        ):
            with self.subTest(setting=setting):
                self.assert_on_cpu(self.double(NEGATED, setting=setting), [[-x for x in X]], reason, 'selects none of 1 operators')

    # A failure leaves the model to the CPU, and the message has the plug-in, the function and the reason.
    def test_failures_of_the_plugin(self):
        for name in ('CompilerPluginCheckCompilerCompatibility', 'CompilerPluginRegisterAllTransformations',
                     'CompilerPluginPartition', 'CompilerPluginCompile', 'CompiledResultNumByteCodeModules',
                     'GetNumCompiledResultCalls', 'GetCompiledResultCallInfo', 'GetCompiledResultByteCode'):
            with self.subTest(function=name):
                self.assert_on_cpu(
                    self.double(SCALED, setting=f'fail={name}'), [SCALED_RESULT],
                    f"compiler plug-in 'Double' ({DOUBLES}/litert_compiler/libLiteRtCompilerPlugin_Double.so): "
                    f'LiteRt{name} failed: kLiteRtStatusErrorRuntimeFailure', 'the model is used without it')

    def test_plugins_that_do_not_fit(self):
        for setting, reason in (
            ('version=7', 'expected version 0.1.0 of the interface, found 0.7.0'),
            ('fail=GetCompilerPluginVersion', 'LiteRtGetCompilerPluginVersion failed'),
            ('fail=CreateCompilerPlugin', 'LiteRtCreateCompilerPlugin failed'),
            ('fail=GetCompilerPluginSupportedHardware', 'LiteRtGetCompilerPluginSupportedHardware failed'),
            ('fail=GetNumCompilerPluginSupportedSocModels', 'LiteRtGetNumCompilerPluginSupportedSocModels failed'),
            ('null=CreateCompilerPlugin', 'LiteRtCreateCompilerPlugin returned no plug-in'),
            ('null=GetCompilerPluginSocManufacturer', 'LiteRtGetCompilerPluginSocManufacturer returned NULL'),
            ('bad=GetCompilerPluginSocManufacturer', 'LiteRtGetCompilerPluginSocManufacturer returned no readable name'),
            ('bad=GetCompilerPluginSupportedSocModel', 'LiteRtGetCompilerPluginSupportedSocModel returned no readable name'),
            ('bad=GetCompilerPluginSDKVersion', 'LiteRtGetCompilerPluginSDKVersion returned no readable text'),
            (f'models={1 << 60}', f'expected at most 4096 SoC models, found {1 << 60}'),
        ):
            with self.subTest(setting=setting):
                self.assert_on_cpu(self.double(SCALED, setting=setting), [SCALED_RESULT],
                                   'libLiteRtCompilerPlugin_Double.so is left out: ' + reason)

    def test_texts_that_are_absent_are_accepted(self):
        for name in ('GetCompilerPluginSDKVersion', 'GetCompilerPluginSupportedSocModel'):
            for fault in ('fail', 'null'):
                with self.subTest(function=name, fault=fault):
                    self.assert_compiled(self.double(SCALED, setting=f'{fault}={name}'), [SCALED_RESULT], 1, 1, 1)

    def test_results_that_are_wrong(self):
        huge = 1 << 62
        for setting, reason in (
            ('null=CompilerPluginCompile', 'LiteRtCompilerPluginCompile returned no result'),
            ('null=GetCompiledResultByteCode', 'module 0: expected byte code, found 12 bytes at NULL'),
            ('bad=GetCompiledResultByteCode', 'module 0: expected byte code, found 12 bytes at an address'),
            ('size=0', 'module 0: expected byte code, found 0 bytes at an address'),
            (f'size={huge}', f'module 0: expected byte code, found {huge} bytes at an address'),
            ('null=GetCompiledResultCallInfo', 'expected a name of at most 4096 bytes for call 0, found 5 bytes at NULL'),
            ('bad=GetCompiledResultCallInfo', 'for call 0, found 5 bytes at an address'),
            (f'name={huge}', f'expected a name of at most 4096 bytes for call 0, found {huge} bytes'),
            ('module=1', 'call 0: expected a module below 1, found 1'),
            (f'module={huge}', f'call 0: expected a module below 1, found {huge}'),
            ('modules=0', 'call 0: expected a module below 0, found 0'),
            ('calls=0', 'expected 1 calls, one for each partition, found 0'),
            (f'calls={huge}', f'expected 1 calls, one for each partition, found {huge}'),
            ('transform=empty', 'a transformation has no function'),
            ('transform=code', 'a transformation has no function'),
            ('transform=text', 'a transformation has no name'),
            ('null=CompilerPluginRegisterAllTransformations', 'returned 1 transformations that cannot be read'),
            ('bad=CompilerPluginRegisterAllTransformations', 'returned 1 transformations that cannot be read'),
            (f'count={huge}', f'returned {huge} transformations that cannot be read'),
        ):
            with self.subTest(setting=setting):
                self.assert_on_cpu(self.double(SCALED, setting=setting), [SCALED_RESULT], reason, 'the model is used without it')

    def test_operators_of_other_graphs_are_refused(self):
        reason = 'LiteRtCompilerPluginPartition selected an operator that is not in the subgraph'
        self.assert_on_cpu(self.double(SCALED, setting='select=foreign'), [SCALED_RESULT], reason)

    def test_operators_that_are_selected_twice(self):
        result = self.double(CHAIN, (X, Y), setting='select=twice')
        self.assert_compiled(result, [CHAIN_RESULT], 3, 3, 3)
        self.assertIn('operator 0 with code 18 is selected twice', result['log'])

    # Handles replace byte code, and their result exists as long as the compiled model.
    def test_handles_in_place_of_byte_code(self):
        result = self.double(CHAIN, (X, Y), setting='handles=1')
        self.assert_compiled(result, [CHAIN_RESULT], 3, 3, 3)
        self.assertNotIn('double: GetCompiledResultByteCode', result['log'])
        self.assertEqual(result['log'].count('double: DestroyCompiledResult'), 1)
        # Neither two handles nor handle and byte code of one name are accepted.
        for setting in ('handles=2', 'handles=3'):
            self.assert_on_cpu(self.double(CHAIN, (X, Y), setting=setting), [CHAIN_RESULT], "two programs have the name 'entry'")
        # A failure of the function means byte code.
        env = {'LITERT_COMPILER_HANDLES': '1'}
        failing = self.double(SCALED, setting='fail=GetCompiledResultHandle', env=env)
        self.assert_compiled(failing, [SCALED_RESULT], 1, 1, 1)
        self.assertIn('double: GetCompiledResultByteCode', failing['log'])

    def test_one_thread_at_a_time_calls_the_plugin(self):
        result = self.double(SCALED, parallel=6)
        self.assertEqual(result['full'], [True] * 6, result['log'])

    def test_no_operator_is_selected(self):
        self.assert_on_cpu(self.double(SCALED, setting='select=none'), [SCALED_RESULT], "'Double' selects none of 1 operators")

    def test_without_the_cpu_a_failure_is_an_error(self):
        result = self.double(SCALED, setting='fail=CompilerPluginCompile', accelerators=NPU)
        self.assertEqual(result['created'], 'ErrorCompilation')
        self.assertIn('1 nodes are not accelerated', result['log'])

    def test_other_hardware_is_not_applied(self):
        for setting, accelerators in (('hardware=2', NPU | CPU), ('hardware=4', CPU)):
            with self.subTest(setting=setting):
                result = self.double(SCALED, setting=setting, accelerators=accelerators)
                self.assert_on_cpu(result, [SCALED_RESULT])
                self.assertNotIn('double: CompilerPluginPartition', result['log'])

    # Compiled operators need a dispatch plug-in; the CPU computes the original ones.
    def test_without_a_dispatch_plugin_the_cpu_computes(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.double(SCALED, options={DISPATCH_FOLDER: folder})
            self.assert_on_cpu(result, [SCALED_RESULT], f'{folder} has no file libLiteRtDispatch*.so', 'the CPU runs them')
            alone = self.double(SCALED, options={DISPATCH_FOLDER: folder}, accelerators=NPU)
            self.assertEqual(alone['created'], 'ErrorRuntimeFailure')

    def test_folders_without_plugins(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_on_cpu(self.double(SCALED, options={COMPILER_FOLDER: folder}), [SCALED_RESULT],
                               f'{folder} has no file libLiteRtCompilerPlugin*.so')
            (pathlib.Path(folder) / 'libLiteRtCompilerPlugin_Text.so').write_text('no library', encoding='utf-8')
            self.assert_on_cpu(self.double(SCALED, options={COMPILER_FOLDER: folder}), [SCALED_RESULT],
                               'libLiteRtCompilerPlugin_Text.so is left out: ')

    def test_partitions_that_the_plugin_cannot_compile(self):
        result = self.double(model_of([('NEG', [0], [1])], [SHAPE] * 2, [0], [1]), setting='select=all')
        self.assert_compiled(result, [[-x for x in X]], 1, 1, 1)
        cosine = model_of([('COS', [0], [1])], [SHAPE] * 2, [0], [1])
        self.assert_on_cpu(self.double(cosine, setting='select=all'), [[math.cos(x) for x in X]],
                           'LiteRtCompilerPluginCompile failed: kLiteRtStatusErrorUnsupported')

    # Variables keep their contents in the interpreter.
    def test_operators_with_variables_stay_on_the_cpu(self):
        variable = model_of([('ADD', [0, 1], [2])], [SHAPE] * 3, [0], [2], variables=(1,))
        self.assert_on_cpu(self.double(variable), [X], 'operator 0 with code 0 is not compiled: it has a variable tensor')

    def test_operators_in_branches_are_compiled(self):
        for is_true, expected in ((1, SCALED_RESULT), (0, [2 * x for x in X])):
            with self.subTest(condition=is_true):
                self.assert_compiled(self.double(branches(is_true)), [expected], 2, 3, 2, full=False)

    # Operators of a composite that the plug-in does not select take its place.
    def test_composites_are_inlined(self):
        self.assert_compiled(self.double(composite('any'), (X, Y)), [CHAIN_RESULT], 3, 3, 3)
        # The result is an input, and no operator computes it.
        result = self.double(composite('any', result=1), (X, Y))
        self.assert_compiled(result, [[2 * y for y in Y]], 1, 2, 1, full=False)

    def test_composites_for_the_cpu_stay_there(self):
        for setting in ('', 'select=all'):
            with self.subTest(setting=setting):
                result = self.double(composite('odml.cpu_call'), (X, Y), setting=setting)
                self.assert_compiled(result, [CHAIN_RESULT], 1, 2, 1, full=False)

    def test_number_of_partitions_is_limited(self):
        self.assert_on_cpu(self.double(CHAIN, (X, Y), compiler='max_partitions = 2'), [CHAIN_RESULT],
                           'expected at most 2 partitions of a subgraph, found 3')
        self.assert_compiled(self.double(CHAIN, (X, Y), compiler='max_partitions = 3'), [CHAIN_RESULT], 3, 3, 3)


class CacheTest(DoubleCase):
    """Results of compilations in a folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with, the test ends it
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def cached(self, file=SCALED, result=tuple(SCALED_RESULT), **job):
        """Runs a model; returns whether it was compiled, and not read from the cache."""
        options = {CACHE_FOLDER: str(self.folder)} | job.pop('options', {})
        found = self.double(file, options=options, **job)
        self.assertEqual((found['created'], found['run'], found['full']), ('Ok', 'Ok', True), found['log'])
        self.assert_near(found['outputs'][0], [list(result)])
        is_compiled = 'double: CompilerPluginCompile' in found['log']
        self.assertEqual('the compiled model is read from' in found['log'], not is_compiled)
        return is_compiled

    def entries(self):
        return sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)

    def test_models_are_compiled_once(self):
        self.assertEqual([self.cached(), self.cached()], [True, False])
        self.assertEqual([entry.name[32:39] for entry in self.entries()], ['-model_'])

    # Each of these has an entry of its own.
    def test_contents_plugin_and_options_select_the_entry(self):
        many = {MAX_CONFIGS: 8}
        self.assertTrue(self.cached(options=many))
        other = model_of([('MUL', [0, 1], [2])], [SHAPE] * 3, [0], [2], {1: [5, 5, 5, 5]})
        self.assertTrue(self.cached(other, [5 * x for x in X], options=many))
        self.assertTrue(self.cached(sdk='2.0', options=many))
        self.assertTrue(self.cached(setting='models=3', options=many))
        self.assertTrue(self.cached(compiler='max_partitions = 4', options=many))
        self.assertTrue(self.cached(compiler='max_partitions = 5', options=many))
        self.assertTrue(self.cached(accelerators=NPU, options=many))
        self.assertEqual(len(self.entries()), 7)
        self.assertFalse(self.cached(options=many))
        self.assertFalse(self.cached(sdk='2.0', options=many))

    def test_another_build_of_the_plugin_is_another_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'libLiteRtCompilerPlugin_Double.so'
            path.write_bytes((DOUBLES / 'litert_compiler' / path.name).read_bytes())
            self.assertTrue(self.cached(options={COMPILER_FOLDER: folder}))
            self.assertFalse(self.cached(options={COMPILER_FOLDER: folder}))
            os.utime(path, (1, 1))
            self.assertTrue(self.cached(options={COMPILER_FOLDER: folder}))

    # A plug-in can read the environment's options.
    def test_options_of_the_environment_are_part_of_the_key(self):
        runtime_folder = 22
        many = {MAX_CONFIGS: 9}
        self.assertTrue(self.cached(options=many))
        self.assertTrue(self.cached(options=many | {runtime_folder: '/a'}))
        self.assertTrue(self.cached(options=many | {runtime_folder: '/b'}))
        self.assertFalse(self.cached(options=many | {runtime_folder: '/a'}))
        self.assertFalse(self.cached(options={MAX_CONFIGS: 8}))

    def test_damaged_entries_are_compiled_again(self):
        self.assertTrue(self.cached())
        entry, = self.entries()
        good = entry.read_bytes()
        damaged = [b'', b'text', good[:-1], good[: len(good) // 2], good + b'x', bytes(len(good))]
        for position in range(0, len(good), max(1, len(good) // 40)):
            damaged.append(good[:position] + bytes([good[position] ^ 1]) + good[position + 1:])
        for contents in damaged:
            entry.write_bytes(contents)
            self.assertTrue(self.cached())
            self.assertEqual(entry.read_bytes(), good)
        entry.unlink()
        entry.mkdir()
        self.assertTrue(self.cached())

    def test_old_entries_are_removed(self):
        for number, sdk in enumerate(('1', '2', '3')):
            self.assertTrue(self.cached(sdk=sdk, options={MAX_CONFIGS: 2}))
            os.utime(self.entries()[-1], (number + 1, number + 1))
        self.assertEqual(len(self.entries()), 2)
        self.assertFalse(self.cached(sdk='3', options={MAX_CONFIGS: 2}))
        self.assertTrue(self.cached(sdk='1', options={MAX_CONFIGS: 2}))
        self.assertTrue(self.cached(sdk='4'))  # one by default
        self.assertEqual(len(self.entries()), 1)

    # An entry that was read is newer than one that was written before.
    def test_size_is_limited(self):
        other = model_of([('MUL', [0, 1], [2])], [SHAPE] * 3, [0], [2], {1: [5, 5, 5, 5]})
        self.assertTrue(self.cached())
        first, = self.entries()
        limit = {MAX_BYTES: 5 * first.stat().st_size // 2}
        self.assertTrue(self.cached(other, [5 * x for x in X], options=limit))
        self.assertFalse(self.cached(options=limit))
        self.assertTrue(self.cached(NEGATED, [-x for x in X], options=limit))
        self.assertFalse(self.cached(options=limit))
        self.assertTrue(self.cached(other, [5 * x for x in X], options=limit))
        (self.folder / 'notes.bin').write_bytes(bytes(1 << 20))
        self.assertFalse(self.cached(other, [5 * x for x in X], options=limit))
        # Other files do not count.
        self.assertTrue(self.cached(sdk='2', options=limit))
        self.assertFalse(self.cached(sdk='2', options=limit))
        self.assertTrue((self.folder / 'notes.bin').exists())

    def test_handles_are_not_stored(self):
        for _ in range(2):
            found = self.double(SCALED, setting='handles=1', options={CACHE_FOLDER: str(self.folder)})
            self.assert_compiled(found, [SCALED_RESULT], 1, 1, 1)
        self.assertEqual(self.entries(), [])

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / 'file').write_text('', encoding='utf-8')
        result = self.double(SCALED, options={CACHE_FOLDER: str(self.folder / 'file')})
        self.assert_compiled(result, [SCALED_RESULT], 1, 1, 1)
        self.assertIn('the compiled model cannot be cached in', result['log'])

    def test_options_without_a_hash_are_not_compared(self):
        self.assertEqual([self.cached(opaque={'mine': 'x'}), self.cached(opaque={'mine': 'x'})], [True, True])
        self.assertEqual(self.entries(), [])

    # The other plug-in may succeed in the next run.
    def test_results_of_one_of_two_plugins_are_not_stored(self):
        with tempfile.TemporaryDirectory() as plugins:
            for path in (DOUBLES / 'litert_compiler/libLiteRtCompilerPlugin_Double.so', PAIR / 'libLiteRtCompilerPlugin_NpuStub.so'):
                (pathlib.Path(plugins) / path.name).write_bytes(path.read_bytes())
            options = {COMPILER_FOLDER: plugins, DISPATCH_FOLDER: str(PAIR), CACHE_FOLDER: str(self.folder)}
            for setting, entries in (('fail=CompilerPluginPartition', 0), ('select=none', 1)):
                result = self.double(SUM, options=options, setting=setting)
                self.assert_compiled(result, [SUM_RESULT], 2, 2, 1)
                self.assertEqual(len(self.entries()), entries)

    def test_results_without_a_plugin_that_failed_are_not_stored(self):
        self.assert_on_cpu(self.double(SCALED, setting='fail=CompilerPluginCompile', options={CACHE_FOLDER: str(self.folder)}),
                           [SCALED_RESULT])
        self.assertEqual(self.entries(), [])


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    IS_OURS = 'DEPUTY_LITERT_LIBRARY' not in os.environ
    LIBRARY = pathlib.Path(os.environ.get('DEPUTY_LITERT_LIBRARY') or BUILD / 'drop-in/libLiteRt.so')
    PAIR, DOUBLES = BUILD / 'litert/npu_stub', BUILD / 'tests/doubles'
    if not LIBRARY.exists() or not PAIR.exists():
        print('skipped: libLiteRt.so or the plug-ins are not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(LIBRARY)
    unittest.main(argv=[sys.argv[0], *(sys.argv[2:] or ([] if IS_OURS else ['PairTest']))])
