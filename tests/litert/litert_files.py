# SPDX-License-Identifier: Apache-2.0
"""Model files for tests: read and written as JSON by flatc, and run through TFLite's C API."""

import ctypes
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / 'core/model/schema.fbs'
POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t


def flatc(source, name, *options):
    """Returns what flatc makes of a file."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as target:
        path = pathlib.Path(folder) / name
        path.write_bytes(source)
        found = subprocess.run(
            ['flatc', *options, '-o', target, str(SCHEMA), *(['--'] if '--raw-binary' in options else []), str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        if found.returncode:
            raise AssertionError(found.stdout + found.stderr)
        return next(pathlib.Path(target).iterdir()).read_bytes()


def tables_of(file):
    """Returns the tables of a model file as lists and dictionaries."""
    return json.loads(flatc(file, 'model.tflite', '--json', '--strict-json', '--raw-binary'))


def file_of(tables):
    """Returns the file with these tables."""
    return flatc(json.dumps(tables).encode(), 'model.json', '--binary', '--force-empty-vectors')


def file_with_appended(tables, parts):
    """Returns a file that ends with the contents of buffers: {index: bytes}."""
    for _ in range(2):  # the second round uses the size of the first
        offset = len(file_of(tables)) if 'offset' in tables['buffers'][next(iter(parts))] else 2
        for index, part in parts.items():
            tables['buffers'][index] = {'offset': offset, 'size': len(part)}
            offset += len(part)
    return file_of(tables) + b''.join(parts.values())


def dispatch_options(offset, size, name=b'entry'):
    """Returns the options of DISPATCH_OP, byte by byte as LiteRT writes them. The name has five bytes."""
    keys = b'bytecode_size\0bytecode_offset\0name\0'
    numbers = [3, 42, 64, 42, 24, 8, 3, offset, size, 84]  # keys and their width, then values
    return keys + b'\x05' + name + bytes(7) + b''.join(n.to_bytes(8, 'little') for n in numbers) + bytes([11, 11, 20, 27, 39, 1])


def contents_of(file, buffer):
    """Returns the bytes of a buffer; None if it has none."""
    if buffer.get('offset', 0) > 1:
        return file[buffer['offset'] : buffer['offset'] + buffer['size']]
    return bytes(buffer['data']) if 'data' in buffer else None


def without_empty(value):
    """Removes empty lists and texts: a writer may leave them out."""
    if isinstance(value, dict):
        items = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in items.items() if item not in ([], '', {})}
    return [without_empty(item) for item in value] if isinstance(value, list) else value


def meaning_of(file):
    """Returns the tables of a file with references in place of the numbers of buffers and operator codes."""
    model = tables_of(file)
    buffers = [contents_of(file, buffer) for buffer in model.get('buffers', [])]
    for subgraph in model['subgraphs']:
        for tensor in subgraph.get('tensors', []):
            tensor['buffer'] = buffers[tensor.get('buffer', 0)]
        for op in subgraph.get('operators', []):
            code = model['operator_codes'][op.pop('opcode_index', 0)]
            builtin = code.get('builtin_code', code.get('deprecated_builtin_code', 0))
            op['code'] = [builtin, code.get('custom_code'), code.get('version', 1)]
            for key in ('large_custom_options_offset', 'large_custom_options_size'):
                op.pop(key, None)
    metadata = {item['name']: buffers[item['buffer']] or b'' for item in model.get('metadata', [])}
    parts = ('version', 'description', 'subgraphs', 'signature_defs', 'external_buffer_groups', 'external_buffers')
    return without_empty({**{part: model.get(part, []) for part in parts}, 'metadata': metadata})


class Runner:
    """Runs models through TFLite's C API."""

    def __init__(self, library):
        self.library = ctypes.CDLL(str(library))
        for name in (
            'TfLiteModelCreate',
            'TfLiteInterpreterCreate',
            'TfLiteInterpreterGetInputTensor',
            'TfLiteInterpreterGetOutputTensor',
            'TfLiteTensorData',
        ):
            getattr(self.library, name).restype = POINTER
        self.library.TfLiteTensorByteSize.restype = SIZE

    def run(self, file, times=2):
        """Returns the outputs' bytes of a few inferences; inputs have a fixed pattern of small values."""
        api, outputs = self.library, []
        model = POINTER(api.TfLiteModelCreate(file, SIZE(len(file))))
        interpreter = POINTER(api.TfLiteInterpreterCreate(model, None))
        if not interpreter or api.TfLiteInterpreterAllocateTensors(interpreter):
            raise AssertionError('the model cannot be loaded')
        for number in range(times):
            for i in range(api.TfLiteInterpreterGetInputTensorCount(interpreter)):
                tensor = POINTER(api.TfLiteInterpreterGetInputTensor(interpreter, i))
                size, kind = api.TfLiteTensorByteSize(tensor), api.TfLiteTensorType(tensor)
                values = [(7 * k + 3 * number + i) % 23 for k in range(size)]
                data = (ctypes.c_float * (size // 4))(*(v / 16 for v in values[: size // 4])) if kind == 1 else bytes(values)
                ctypes.memmove(api.TfLiteTensorData(tensor), data, size)
            if api.TfLiteInterpreterInvoke(interpreter):
                raise AssertionError('the inference failed')
            for i in range(api.TfLiteInterpreterGetOutputTensorCount(interpreter)):
                tensor = POINTER(api.TfLiteInterpreterGetOutputTensor(interpreter, i))
                outputs.append(ctypes.string_at(api.TfLiteTensorData(tensor), api.TfLiteTensorByteSize(tensor)))
        api.TfLiteInterpreterDelete(interpreter)
        api.TfLiteModelDelete(model)
        return outputs
