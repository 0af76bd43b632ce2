# SPDX-License-Identifier: Apache-2.0
"""Writes model files for the small .mlir files of LiteRT's tests: one function with one operator and its constants."""

import re

TYPES = {'f32': 'FLOAT32', 'i32': 'INT32', 'i64': 'INT64'}
# Operator in MLIR: operator and table of options in the file's schema.
OPERATORS = {
    'add': ('ADD', 'AddOptions'),
    'average_pool_2d': ('AVERAGE_POOL_2D', 'Pool2DOptions'),
    'batch_matmul': ('BATCH_MATMUL', 'BatchMatMulOptions'),
    'concatenation': ('CONCATENATION', 'ConcatenationOptions'),
    'conv_2d': ('CONV_2D', 'Conv2DOptions'),
    'conv_3d': ('CONV_3D', 'Conv3DOptions'),
    'cumsum': ('CUMSUM', 'CumsumOptions'),
    'custom': ('CUSTOM', None),
    'depth_to_space': ('DEPTH_TO_SPACE', 'DepthToSpaceOptions'),
    'depthwise_conv_2d': ('DEPTHWISE_CONV_2D', 'DepthwiseConv2DOptions'),
    'div': ('DIV', 'DivOptions'),
    'fully_connected': ('FULLY_CONNECTED', 'FullyConnectedOptions'),
    'gather': ('GATHER', 'GatherOptions'),
    'gelu': ('GELU', 'GeluOptions'),
    'leaky_relu': ('LEAKY_RELU', 'LeakyReluOptions'),
    'max_pool_2d': ('MAX_POOL_2D', 'Pool2DOptions'),
    'mean': ('MEAN', 'ReducerOptions'),
    'MirrorPad': ('MIRROR_PAD', 'MirrorPadOptions'),
    'mul': ('MUL', 'MulOptions'),
    'pack': ('PACK', 'PackOptions'),
    'reduce_max': ('REDUCE_MAX', 'ReducerOptions'),
    'reshape': ('RESHAPE', None),
    'resize_bilinear': ('RESIZE_BILINEAR', 'ResizeBilinearOptions'),
    'resize_nearest_neighbor': ('RESIZE_NEAREST_NEIGHBOR', 'ResizeNearestNeighborOptions'),
    'softmax': ('SOFTMAX', 'SoftmaxOptions'),
    'space_to_depth': ('SPACE_TO_DEPTH', 'SpaceToDepthOptions'),
    'split': ('SPLIT', 'SplitOptions'),
    'strided_slice': ('STRIDED_SLICE', 'StridedSliceOptions'),
    'sub': ('SUB', 'SubOptions'),
    'sum': ('SUM', 'ReducerOptions'),
    'transpose_conv': ('TRANSPOSE_CONV', 'TransposeConvOptions'),
    'unpack': ('UNPACK', 'UnpackOptions'),
}
# The attributes of the model with a composite as FlexBuffers: {an_attribute: "foo", meaning_of_life: 42}.
ATTRIBUTES = b'an_attribute\0\3foo\0meaning_of_life\0' + bytes([2, 35, 18, 2, 1, 2, 26, 42, 20, 4, 4, 36, 1])


class Model:
    """The tables of a model that is under construction."""

    def __init__(self):
        self.tensors, self.buffers, self.numbers = [], [{}], {}

    def tensor(self, name, text, data=None):
        *shape, element = re.fullmatch(r'tensor<(.*)>', text).group(1).replace(' ', '').split('x')
        dynamic = '?' in shape
        entry = {'name': name, 'type': TYPES[element], 'shape': [1 if n == '?' else int(n) for n in shape]}
        if dynamic:
            entry['shape_signature'] = [-1 if n == '?' else int(n) for n in shape]
        if data is not None:
            entry['buffer'] = len(self.buffers)
            self.buffers.append({'data': list(b''.join(n.to_bytes(4, 'little') for n in data))})
        self.numbers[name] = len(self.tensors)
        self.tensors.append(entry)
        return self.numbers[name]


def options_of(text):
    """Returns the attributes of an operator that are numbers, texts or truth values."""
    found = {}
    for name, value in re.findall(r'(\w+) = ("[^"]*"|true|false|-?[\d.]+(?:e[+-]?\d+)?)', text):
        found[name] = value.strip('"') if value[0] == '"' else value == 'true' if value in ('true', 'false') else float(value)
    return {name: int(value) if isinstance(value, float) and value == int(value) else value for name, value in found.items()}


def model_of(text):
    """Returns the tables of the model that an .mlir file describes."""
    text = re.sub(r'//.*', '', text).replace('\n', ' ')
    model, operators, code = Model(), [], {}
    head = re.search(r'func\.func @main\((.*?)\) *->', text).group(1)
    inputs = [model.tensor(name, kind) for name, kind in re.findall(r'(%\w+) *: *(tensor<[^>]*>)', head)]
    for statement in re.findall(r'%\w+(?::\d+)? = .*?(?=%\w+(?::\d+)? = |(?:func\.)?return )', text):
        result, count, name, rest = re.match(r'(%\w+)(?::(\d+))? = "?\w+\.(\w+)"?(.*)', statement).groups()
        kinds = re.findall(r'tensor<[^>]*>', rest.split('->')[-1] if '->' in rest else rest)
        if name == 'no_value':
            model.numbers[result] = -1
        elif name == 'pseudo_const':
            model.tensor(result, kinds[0], [int(n) for n in re.findall(r'\d+', re.search(r'dense<(.*?)>', rest).group(1))])
        else:
            operator, table = OPERATORS[name]
            options = options_of(rest)
            code = {'builtin_code': operator, 'deprecated_builtin_code': 127 if operator in ('GELU', 'CONV_3D', 'CUMSUM') else 0}
            if operator == 'CUSTOM':
                code['custom_code'] = options['custom_code']
            operands = [model.numbers[operand] for operand in re.findall(r'%\w+', rest.split('->')[0])]
            outputs = [model.tensor(f'{result}#{i}', kind) for i, kind in enumerate(kinds[-int(count or 1) :])]
            operators.append({'inputs': operands, 'outputs': outputs})
            if table:
                operators[-1].update(builtin_options_type=table, builtin_options=options)
    graph = {'tensors': model.tensors, 'inputs': inputs, 'outputs': operators[-1]['outputs'], 'operators': operators}
    return {'version': 3, 'operator_codes': [code], 'subgraphs': [graph], 'buffers': model.buffers}


def composite():
    """Returns the tables of simple_shlo_composite: an operator with a body and attributes."""
    scalar = [{'name': name, 'type': 'INT64', 'shape': []} for name in ('x', 'y')]
    options = {'name': 'stablehlo.add_n', 'decomposition_subgraph_index': 1, 'version': 3, 'composite_attributes': list(ATTRIBUTES)}
    call = {'inputs': [0], 'outputs': [1], 'builtin_options_2_type': 'StableHLOCompositeOptions', 'builtin_options_2': options}
    add = {'opcode_index': 1, 'inputs': [0, 0], 'outputs': [1], 'builtin_options_type': 'AddOptions', 'builtin_options': {}}
    graphs = [{'tensors': scalar, 'inputs': [0], 'outputs': [1], 'operators': [operator]} for operator in (call, add)]
    codes = [{'builtin_code': 'STABLEHLO_COMPOSITE', 'deprecated_builtin_code': 127}, {'builtin_code': 'ADD'}]
    return {'version': 3, 'operator_codes': codes, 'subgraphs': graphs, 'buffers': [{}]}
