#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls the getters of operators' options (litert_op_options.h) on models with known options.

    litert_op_options_test.py BUILD_FOLDER

flatc writes the models from JSON. DEPUTY_LITERT_LIBRARY names another libLiteRt.so, for example that of the wheel
ai-edge-litert; calls that end the process there are then left out.
"""

import ctypes
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from litert_calls import LIBRARY, ROOT, Recorder, cpu_environment, model_of, rows_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

OK, INVALID, NOT_FOUND = 0, 1, 6
VARIANTS = 3  # operators of each kind, with different values


# Values of a field in the variants of an operator: what the file contains, and what the getter returns. `index` is the
# position of the field among those of the operator.
def integers(index):
    return [(value := 100 * variant + 11 + index, value) for variant in range(VARIANTS)]


def floats(index):
    return [(0.25, 0.25), (1.5, 1.5), (-3.0, -3.0)]


def bools(index):
    return [(variant == index % VARIANTS, variant == index % VARIANTS) for variant in range(VARIANTS)]


def paddings(index):
    return [('VALID', 1), ('SAME', 0), ('VALID', 1)]


def activations(index):
    return [('RELU6', 3), ('TANH', 4), ('RELU_N1_TO_1', 2)]


def weight_formats(index):
    return [('SHUFFLED4x16INT8', 1), ('DEFAULT', 0), ('SHUFFLED4x16INT8', 1)]


def tensor_types(index):
    return [('INT64', 4), ('INT32', 2), ('FLOAT32', 0)]


def mirror_modes(index):
    return [('REFLECT', 0), ('SYMMETRIC', 1), ('REFLECT', 0)]


def texts(index):
    return [('odml.npu_call', b'odml.npu_call'), ('x', b'x'), (None, b'')]


def arrays(index):
    return [([3, 1, 2], [3, 1, 2]), ([7], [7]), (None, [])]


# Per operator and table of options: getters with the field, and its values.
GETTERS = {
    ('ADD', 'AddOptions'): {
        'LiteRtGetAddFusedActivationOption': ('fused_activation_function', activations),
    },
    ('SUB', 'SubOptions'): {
        'LiteRtGetSubFusedActivationOption': ('fused_activation_function', activations),
    },
    ('MUL', 'MulOptions'): {
        'LiteRtGetMulFusedActivationOption': ('fused_activation_function', activations),
    },
    ('DIV', 'DivOptions'): {
        'LiteRtGetDivFusedActivationOption': ('fused_activation_function', activations),
    },
    ('LEAKY_RELU', 'LeakyReluOptions'): {
        'LiteRtGetLeakyReluAlphaOption': ('alpha', floats),
    },
    ('GELU', 'GeluOptions'): {
        'LiteRtGetGeluApproximateOption': ('approximate', bools),
    },
    ('SOFTMAX', 'SoftmaxOptions'): {
        'LiteRtGetSoftmaxBetaOption': ('beta', floats),
    },
    ('CUMSUM', 'CumsumOptions'): {
        'LiteRtGetCumsumExclusiveOption': ('exclusive', bools),
        'LiteRtGetCumsumReverseOption': ('reverse', bools),
    },
    ('BATCH_MATMUL', 'BatchMatMulOptions'): {
        'LiteRtGetBatchMatmulAdjXOption': ('adj_x', bools),
        'LiteRtGetBatchMatmulAdjYOption': ('adj_y', bools),
        'LiteRtGetBatchMatmulAsymmetricQuantizeInputOption': ('asymmetric_quantize_inputs', bools),
    },
    ('FULLY_CONNECTED', 'FullyConnectedOptions'): {
        'LiteRtGetFullyConnectedFusedActivationOption': ('fused_activation_function', activations),
        'LiteRtGetFullyConnectedWeightsFormatOption': ('weights_format', weight_formats),
        'LiteRtGetFullyConnectedKeepNumDimsOption': ('keep_num_dims', bools),
        'LiteRtFullyConnectedGetQuantizedBiasTypeOption': ('quantized_bias_type', tensor_types),
        'LiteRtGetFullyConnectedAsymmetricQuantizeInputOption': ('asymmetric_quantize_inputs', bools),
    },
    ('CONV_2D', 'Conv2DOptions'): {
        'LiteRtGetConv2dPaddingOption': ('padding', paddings),
        'LiteRtGetConv2dStrideWOption': ('stride_w', integers),
        'LiteRtGetConv2dStrideHOption': ('stride_h', integers),
        'LiteRtGetConv2dFusedActivationOption': ('fused_activation_function', activations),
        'LiteRtGetConv2dDilationWOption': ('dilation_w_factor', integers),
        'LiteRtGetConv2dDilationHOption': ('dilation_h_factor', integers),
    },
    ('CONV_3D', 'Conv3DOptions'): {
        'LiteRtGetConv3dPaddingOption': ('padding', paddings),
        'LiteRtGetConv3dStrideDOption': ('stride_d', integers),
        'LiteRtGetConv3dStrideWOption': ('stride_w', integers),
        'LiteRtGetConv3dStrideHOption': ('stride_h', integers),
        'LiteRtGetConv3dFusedActivationOption': ('fused_activation_function', activations),
        'LiteRtGetConv3dDilationDOption': ('dilation_d_factor', integers),
        'LiteRtGetConv3dDilationWOption': ('dilation_w_factor', integers),
        'LiteRtGetConv3dDilationHOption': ('dilation_h_factor', integers),
    },
    ('DEPTHWISE_CONV_2D', 'DepthwiseConv2DOptions'): {
        'LiteRtGetDepthwiseConv2dPaddingOption': ('padding', paddings),
        'LiteRtGetDepthwiseConv2dStrideWOption': ('stride_w', integers),
        'LiteRtGetDepthwiseConv2dStrideHOption': ('stride_h', integers),
        'LiteRtGetDepthwiseConv2dDepthMultiplierOption': ('depth_multiplier', integers),
        'LiteRtGetDepthwiseConv2dFusedActivationOption': ('fused_activation_function', activations),
        'LiteRtGetDepthwiseConv2dDilationWOption': ('dilation_w_factor', integers),
        'LiteRtGetDepthwiseConv2dDilationHOption': ('dilation_h_factor', integers),
    },
    ('TRANSPOSE_CONV', 'TransposeConvOptions'): {
        'LiteRtGetTransposeConvPaddingOption': ('padding', paddings),
        'LiteRtGetTransposeConvStrideWOption': ('stride_w', integers),
        'LiteRtGetTransposeConvStrideHOption': ('stride_h', integers),
        'LiteRtGetTransposeConvFusedActivationOption': ('fused_activation_function', activations),
    },
    ('AVERAGE_POOL_2D', 'Pool2DOptions'): {
        'LiteRtGetAveragePool2dPaddingOption': ('padding', paddings),
        'LiteRtGetAveragePool2dStrideWOption': ('stride_w', integers),
        'LiteRtGetAveragePool2dStrideHOption': ('stride_h', integers),
        'LiteRtGetAveragePool2dFilterWidthOption': ('filter_width', integers),
        'LiteRtGetAveragePool2dFilterHeightOption': ('filter_height', integers),
        'LiteRtGetAveragePool2dFusedActivationOption': ('fused_activation_function', activations),
    },
    ('MAX_POOL_2D', 'Pool2DOptions'): {
        'LiteRtGetMaxPool2dPaddingOption': ('padding', paddings),
        'LiteRtGetMaxPool2dStrideWOption': ('stride_w', integers),
        'LiteRtGetMaxPool2dStrideHOption': ('stride_h', integers),
        'LiteRtGetMaxPool2dFilterWidthOption': ('filter_width', integers),
        'LiteRtGetMaxPool2dFilterHeightOption': ('filter_height', integers),
        'LiteRtGetMaxPool2dFusedActivationOption': ('fused_activation_function', activations),
    },
    ('L2_POOL_2D', 'Pool2DOptions'): {
        'LiteRtGetL2Pool2dPaddingOption': ('padding', paddings),
        'LiteRtGetL2Pool2dStrideWOption': ('stride_w', integers),
        'LiteRtGetL2Pool2dStrideHOption': ('stride_h', integers),
        'LiteRtGetL2Pool2dFilterWidthOption': ('filter_width', integers),
        'LiteRtGetL2Pool2dFilterHeightOption': ('filter_height', integers),
        'LiteRtGetL2Pool2dFusedActivationOption': ('fused_activation_function', activations),
    },
    ('SUM', 'ReducerOptions'): {
        'LiteRtGetSumKeepDimsOption': ('keep_dims', bools),
    },
    ('MEAN', 'ReducerOptions'): {
        'LiteRtGetMeanKeepDimsOption': ('keep_dims', bools),
    },
    ('REDUCE_MAX', 'ReducerOptions'): {
        'LiteRtGetReduceMaxKeepDimsOption': ('keep_dims', bools),
    },
    ('REDUCE_MIN', 'ReducerOptions'): {
        'LiteRtGetReduceMinKeepDimsOption': ('keep_dims', bools),
    },
    ('REDUCE_ANY', 'ReducerOptions'): {
        'LiteRtGetReduceAnyKeepDimsOption': ('keep_dims', bools),
    },
    ('REDUCE_ALL', 'ReducerOptions'): {
        'LiteRtGetReduceAllKeepDimsOption': ('keep_dims', bools),
    },
    ('RESHAPE', 'ReshapeOptions'): {
        'LiteRtGetReshapeNewShapeOption': ('new_shape', arrays),
    },
    ('SQUEEZE', 'SqueezeOptions'): {
        'LiteRtGetSqueezeDimsOption': ('squeeze_dims', arrays),
    },
    ('CONCATENATION', 'ConcatenationOptions'): {
        'LiteRtGetConcatenationFusedActivationOption': ('fused_activation_function', activations),
        'LiteRtGetConcatenationAxisOption': ('axis', integers),
    },
    ('SPLIT', 'SplitOptions'): {
        'LiteRtGetSplitNumSplitsOption': ('num_splits', integers),
    },
    ('SPLIT_V', 'SplitVOptions'): {
        'LiteRtGetSplitVNumSplitsOption': ('num_splits', integers),
    },
    ('PACK', 'PackOptions'): {
        'LiteRtGetPackAxisOption': ('axis', integers),
        'LiteRtGetPackValuesCountOption': ('values_count', integers),
    },
    ('UNPACK', 'UnpackOptions'): {
        'LiteRtGetUnpackAxisOption': ('axis', integers),
        'LiteRtGetUnpackNumOption': ('num', integers),
    },
    ('GATHER', 'GatherOptions'): {
        'LiteRtGetGatherAxisOption': ('axis', integers),
        'LiteRtGetGatherBatchDimsOption': ('batch_dims', integers),
    },
    ('ONE_HOT', 'OneHotOptions'): {
        'LiteRtGetOneHotAxisOption': ('axis', integers),
    },
    ('STRIDED_SLICE', 'StridedSliceOptions'): {
        'LiteRtGetStridedSliceBeginMaskOption': ('begin_mask', integers),
        'LiteRtGetStridedSliceEndMaskOption': ('end_mask', integers),
        'LiteRtGetStridedSliceEllipsisMaskOption': ('ellipsis_mask', integers),
        'LiteRtGetStridedSliceNewAxisMaskOption': ('new_axis_mask', integers),
        'LiteRtGetStridedSliceShrinkAxisMaskOption': ('shrink_axis_mask', integers),
        'LiteRtGetStridedSliceOffsetOption': ('offset', bools),
    },
    ('MIRROR_PAD', 'MirrorPadOptions'): {
        'LiteRtGetMirrorPadModeOption': ('mode', mirror_modes),
    },
    ('DEPTH_TO_SPACE', 'DepthToSpaceOptions'): {
        'LiteRtGetDepthToSpaceBlockSizeOption': ('block_size', integers),
    },
    ('SPACE_TO_DEPTH', 'SpaceToDepthOptions'): {
        'LiteRtGetSpaceToDepthBlockSizeOption': ('block_size', integers),
    },
    ('RESIZE_BILINEAR', 'ResizeBilinearOptions'): {
        'LiteRtGetResizeBilinearAlignCornersOption': ('align_corners', bools),
        'LiteRtGetResizeBilinearHalfPixelCenterOption': ('half_pixel_centers', bools),
    },
    ('RESIZE_NEAREST_NEIGHBOR', 'ResizeNearestNeighborOptions'): {
        'LiteRtGetResizeNearestNeighborAlignCornersOption': ('align_corners', bools),
        'LiteRtGetResizeNearestNeighborHalfPixelCenterOption': ('half_pixel_centers', bools),
    },
    ('STABLEHLO_COMPOSITE', 'StableHLOCompositeOptions'): {
        'LiteRtGetSHLOCompositeOpName': ('name', texts),
        'LiteRtGetSHLOCompositeOpDecompositionSubgraphIndex': ('decomposition_subgraph_index', integers),
        'LiteRtGetSHLOCompositeOpAttributes': ('composite_attributes', arrays),
        'LiteRtGetSHLOCompositeOpVersion': ('version', integers),
    },}
# The status if the operator has no options; kLiteRtStatusErrorInvalidArgument for the others.
STATUS_WITHOUT_OPTIONS = {'LiteRtGetAddFusedActivationOption': NOT_FOUND}


def operators():
    """Returns [(operator, table, {field: content}, {getter: expected})] of all variants."""
    result = []
    for (name, table), getters in GETTERS.items():
        columns = {
            getter: (field, values(index))
            for index, (getter, (field, values)) in enumerate(sorted(getters.items(), key=lambda item: item[1][0]))
        }
        for variant in range(VARIANTS):
            fields = {field: values[variant][0] for field, values in columns.values() if values[variant][0] is not None}
            result.append((name, table, fields, {getter: values[variant][1] for getter, (_, values) in columns.items()}))
    return result


def write_model(folder, nodes, shapes):
    """Writes a model of nodes (operator, table or None, fields). The first ones have a constant as their second input:
    (type, dimensions, 32-bit words)."""
    codes = sorted({name for name, _, _ in nodes})
    tensors, buffers = [{'shape': [4], 'name': 'x'}], [{}]
    for kind, dimensions, words in shapes:
        tensors.append({'shape': dimensions, 'type': kind, 'buffer': len(buffers)})
        buffers.append({'data': list(struct.pack(f'<{len(words)}i', *words))} if words else {})
    table = []
    for index, (name, options, fields) in enumerate(nodes):
        inputs = [0, 1 + index] if index < len(shapes) else [0]
        table.append({'opcode_index': codes.index(name), 'inputs': inputs, 'outputs': [len(tensors)]})
        tensors.append({'shape': [4], 'name': f'y{index}'})
        union = 'builtin_options_2' if name.startswith('STABLEHLO') else 'builtin_options'
        if options:
            table[-1] |= {f'{union}_type': options, union: fields}
    main = {'tensors': tensors, 'inputs': [0], 'outputs': [len(tensors) - 1], 'operators': table}
    # Composites refer to subgraphs by numbers as high as those that integers() returns.
    other = {'tensors': [{'shape': [1]}], 'inputs': [0], 'outputs': [0], 'operators': []}
    model = {
        'version': 3,
        'operator_codes': [{'builtin_code': name} for name in codes],
        'subgraphs': [main, *[other] * 300],
        'buffers': buffers,
    }
    source = folder / 'model.json'
    source.write_text(json.dumps(model), encoding='utf-8')
    subprocess.run(['flatc', '--binary', '-o', folder, ROOT / 'core/model/schema.fbs', source], check=True)
    return folder / 'model.tflite'


class Getters:
    """The operators of a model, and calls of getters on them."""

    def __init__(self, library, nodes, shapes=()):
        self.record = Recorder(library)
        with tempfile.TemporaryDirectory() as folder:
            path = write_model(pathlib.Path(folder), nodes, shapes)
            self.model = model_of(self.record, cpu_environment(self.record), path)
        graph = ctypes.c_void_p()
        self.record.do('LiteRtGetModelSubgraph', self.model, 0, ctypes.byref(graph))
        self.ops = []
        for index in range(len(nodes)):
            self.ops.append(ctypes.c_void_p())
            self.record.do('LiteRtGetSubgraphOp', graph, index, ctypes.byref(self.ops[-1]))

    def status(self, getter, op):
        return self.call(getter, op)[0]

    def call(self, getter, op):
        """Returns the status, and the value: a number, bytes or a list."""
        types = re.search(r'op, (.*)\)', self.record.signatures[getter])[1].split(', ')
        kind = types[0].rsplit(' ', 1)[0].replace('const ', '')
        scalars = {'int32_t': ctypes.c_int32, 'uint32_t': ctypes.c_uint32, 'bool': ctypes.c_bool, 'float': ctypes.c_float}
        elements = {'int32_t**': ctypes.c_int32, 'uint8_t**': ctypes.c_uint8}
        if kind == 'char**':
            value = ctypes.c_char_p()
        elif kind in elements:
            value = ctypes.POINTER(elements[kind])()
        else:
            value = scalars[kind.rstrip('*')]()
        size = ctypes.c_int32(-1)
        outputs = [ctypes.byref(value), ctypes.byref(size)][: len(types)]
        status = self.record.function(getter)(op, *outputs)
        if status != OK:
            return status, None
        return status, value[: size.value] if kind in elements else value.value


class LitertOpOptionsTest(unittest.TestCase):

    def test_every_getter_of_the_header_is_tested(self):
        declared = {
            row['function']
            for row in rows_of('functions.csv')
            if row['header'].endswith('litert_op_options.h') and 'Builder' not in row['function']
        }
        tested = {getter for getters in GETTERS.values() for getter in getters}
        self.assertEqual(tested, declared)

    def test_getters_return_the_options_of_the_file(self):
        nodes = operators()
        model = Getters(self.library, [node[:3] for node in nodes])
        for op, (name, _, _, expected) in zip(model.ops, nodes):
            for getter, value in expected.items():
                with self.subTest(getter=getter, operator=name):
                    self.assertEqual(model.call(getter, op), (OK, value))

    def test_getters_refuse_other_operators(self):
        model = Getters(self.library, [(name, table, {}) for name, table in GETTERS])
        for index, ((name, _), getters) in enumerate(GETTERS.items()):
            for getter in getters:
                with self.subTest(getter=getter, operator=name):
                    self.assertEqual(model.status(getter, model.ops[index - 1]), INVALID)

    def test_operators_without_options(self):
        model = Getters(self.library, [(name, None, {}) for name, _ in GETTERS])
        for op, getters in zip(model.ops, GETTERS.values()):
            for getter in getters:
                with self.subTest(getter=getter):
                    self.assertEqual(model.status(getter, op), STATUS_WITHOUT_OPTIONS.get(getter, INVALID))

    @unittest.skipIf(LIBRARY, 'the wheel reads through a NULL pointer')
    def test_operators_with_the_options_of_another_one(self):
        model = Getters(
            self.library,
            [(name, 'StablehloCaseOptions' if name.startswith('STABLEHLO') else 'LSTMOptions', {}) for name, _ in GETTERS],
        )
        for op, getters in zip(model.ops, GETTERS.values()):
            for getter in getters:
                with self.subTest(getter=getter):
                    self.assertEqual(model.status(getter, op), STATUS_WITHOUT_OPTIONS.get(getter, INVALID))

    @unittest.skipIf(LIBRARY, 'the wheel does not check them')
    def test_arguments_that_are_null(self):
        model = Getters(self.library, [(name, table, {}) for name, table in GETTERS])
        for op, getters in zip(model.ops, GETTERS.values()):
            for getter in getters:
                with self.subTest(getter=getter):
                    function = model.record.function(getter)
                    count = len(function.argtypes)
                    self.assertEqual(function(op, *[None] * (count - 1)), INVALID)
                    self.assertEqual(function(None, *[ctypes.byref(ctypes.c_int64())] * (count - 1)), INVALID)

    # No header declares it; padding and activation are bytes.
    def test_all_options_of_an_average_pool(self):
        fields = {'padding': 'VALID', 'stride_w': 2, 'stride_h': 3, 'filter_width': 4, 'filter_height': 5}
        fields['fused_activation_function'] = 'RELU6'
        model = Getters(self.library, [('AVERAGE_POOL_2D', 'Pool2DOptions', fields), ('ADD', None, {})])
        values = [ctypes.c_int32(-1) for _ in range(6)]
        function = model.record.library.LiteRtGetAveragePool2dOptions
        references = [ctypes.byref(value) for value in values]
        self.assertEqual(function(model.ops[0], *references), OK)
        self.assertEqual([value.value for value in values], [-255, 2, 3, 4, 5, -253])
        self.assertEqual(function(model.ops[1], *references), INVALID)

    def test_shape_of_a_reshape_without_options_is_its_second_input(self):
        getter = 'LiteRtGetReshapeNewShapeOption'
        shapes = [
            ('INT32', [3], [2, -1, 5]),
            ('INT32', [], [4]),
            ('INT32', [0], None),
            ('INT32', [2], None),
            ('INT64', [1], [4, 0]),
            ('INT32', [1], [7]),
        ]
        nodes = [*[('RESHAPE', None, {})] * (len(shapes) - 1), ('RESHAPE', 'ReshapeOptions', {'new_shape': [9, 9]})]
        model = Getters(self.library, nodes, shapes)
        self.assertEqual(
            [model.call(getter, op) for op in model.ops],
            [(OK, [2, -1, 5]), (OK, [4]), (OK, []), (INVALID, None), (INVALID, None), (OK, [9, 9])],
        )


def main():
    if '--help' in sys.argv:
        print(__doc__)
        return
    LitertOpOptionsTest.library = LIBRARY or os.path.join(sys.argv[1], 'drop-in/libLiteRt.so')
    start_again_with_runtime(pathlib.Path(LitertOpOptionsTest.library))
    unittest.main(argv=sys.argv[:1])


if __name__ == '__main__':
    main()
