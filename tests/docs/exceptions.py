# SPDX-License-Identifier: Apache-2.0
"""Exceptions of programs_test.py: commands and blocks that it does not run, with the reason, and other
statuses, outputs and fragments.

A row begins with the page ('*' is every page) and a part of the command or block. A row that no block
needs fails the test.
"""

# Commands that begin with these programs are not run.
PROGRAMS = {
    'apt': 'changes the machine', 'apt-get': 'changes the machine', 'sudo': 'changes the machine',
    'pip': 'needs packages of PyPI', 'build/peers/bin/pip': 'needs packages of PyPI',
    'venv/bin/pip': 'needs packages of PyPI', 'cargo': 'needs crates',
    'scp': 'needs a board', 'tar': 'needs a board', 'deputy-board/measure.sh': 'needs a board',
    'tritonserver': 'run by make check-serving',
    'podman': 'needs images from the network', 'your-program': 'a placeholder',
    'chrt': 'needs real-time priority', 'build/release/deputy_bench': 'takes minutes',
    'taskset': 'a load that the reader ends',
}

# Commands that are not run.
COMMANDS = (
    ('docs/cpp.md', 'cmake -S . -B build', 'install_test builds the page after an installation'),
    ('docs/cpp.md', 'build/first', 'install_test runs it'),
    ('docs/cpp.md', 'main.cc', 'install_test builds it'),
    ('docs/cpp.md', 'build/liblogistic.so', 'install_test runs it'),
    ('docs/delegates.md', 'ai_edge_litert', 'needs ai-edge-litert of PyPI'),
    ('docs/hexagon.md', '--use_hexagon', 'needs a Hexagon device'),
    ('docs/nnapi.md', '--use_nnapi', 'needs Android'),
    ('docs/litert.md', 'DEPUTY_LITERT_VENDORS', 'needs packages of PyPI'),
    ('docs/onnxruntime.md', 'library=.../site-packages', 'needs ONNX Runtime'),
    ('docs/python.md', 'python3 -c "from tflite_runtime', 'python_shim_test runs it'),
    ('docs/mindspore-models.md', 'face.ms', 'the repository has no .ms model of images; cli_test runs one of floats'),
    ('docs/raspberry-pi.md', '~/examples', 'languages_test and cli_test run it'),
    ('docs/raspberry-pi.md', '/usr/lib/libvendor_delegate.so', 'needs a library of a vendor'),
    ('docs/raspberry-pi.md', 'cd deb-arm64', 'needs a board'),
    ('docs/writing-a-delegate.md', 'palm_detection', 'the repository has no such model'),
    ('README.md', 'deputy replay', 'replay_test runs it, after a record'),
    ('docs/precision-plans.md', '--precision-plan', 'needs a plan; precision_command_test runs it'),
    ('*', 'deputy precision', 'needs products of 16 bits; precision_command_test runs it'),
    ('*', 'deputy certify', 'takes a minute; certify_test runs it'),
)

# Exit codes other than 0.
STATUSES = (
    ('docs/delegates.md', '--require --delegate npu_stub,faults=compile', 1),
    ('docs/delegates.md', 'libwrong.so,how=nan', 1),
    ('docs/validation.md', 'libthrowing.so', 1),
    ('docs/writing-a-delegate.md', 'DEPUTY_NPU=absent', 1),
)

# Output that is not compared.
OUTPUTS = (
    ('docs/delegates.md', '--use_gpu --use_npu_stub', 'the warning of a machine without OpenCL'),
    ('docs/delegates.md', 'gpu,precision=fp16,cache_token=x', 'the device of one machine'),
)

# Programs in C and C++ that are not compiled.
PROGRAM_BLOCKS = (
    ('docs/cpp.md', '', 'install_test compiles and runs the page'),
)

# Fragments in C and C++: run or compile, what comes before (declarations, form feed, statements), and after.
FRAGMENTS = (
    ('docs/async.md', 'DeputyRunRequest request', (
        'run', 'int done;\n'
        'void on_done(void* data, TfLiteStatus status) {\n(void)data, done += status == kTfLiteOk;\n}\f',
        'CHECK(DeputyRunWait(run, -1, NULL) && done == 1);')),
    ('docs/async.md', 'TfLiteAsyncSignatureRunner', (
        'compile', '#include "deputy/async_signature_runner.h"\n#include "deputy/async_task.h"\n'
        'TfLiteBackendBuffer* buffer;\nTfLiteAttributeMap* attributes;\nTfLiteBufferHandle handle;\f', '')),
    ('docs/background.md', 'DeputyBackgroundOptions', (
        'run', '', 'CHECK(status.delegate_inferences >= 1);')),
    ('docs/cpu_delegate.md', 'deputy_cpu.h', ('compile', '', '')),
    ('docs/gpu.md', 'DeputyGpuOptions', (
        'compile', '#include "deputy/deputy_gpu.h"\nvoid *queue, *cl_mem;\nTfLiteTensor* input;\f', '')),
    ('docs/gpu.md', 'TfLiteCustomAllocation', (
        'compile', '#include "deputy/c_api_experimental.h"\n#include "deputy/deputy_gpu.h"\n'
        'TfLiteDelegate* delegate;\nTfLiteTensor* input;\f', '')),
    ('docs/layouts.md', 'kDeputyPluginNchw', (
        'compile', '#include "deputy/deputy_plugin.h"\nDeputyDelegatePlugin plugin;\f', '')),
    ('docs/mindspore.md', 'GetPrimitive', (
        'compile', '#include "mindspore/schema.h"\nnamespace schema = mindspore::schema;\n'
        'mindspore::DelegateModel<schema::Primitive>* model;\nmindspore::kernel::Kernel* kernel;\n'
        'void Use(int64_t);\f', '')),
    ('docs/mindspore.md', 'ModelParallelRunner', (
        'compile', 'std::shared_ptr<mindspore::Context> context;\f', '')),
    ('docs/mindspore.md', 'REGISTER_CUSTOM_KERNEL', (
        'compile', 'std::shared_ptr<mindspore::kernel::Kernel> CreateMyKernel(\n'
        'const std::vector<mindspore::MSTensor>&, const std::vector<mindspore::MSTensor>&,\n'
        'const mindspore::schema::Primitive*, const mindspore::Context*);\n'
        'std::shared_ptr<mindspore::kernel::KernelInterface> CreateMyInfer();\n', '')),
    ('docs/placement.md', 'DeputyPlacementPlan', (
        'run', 'TfLiteDelegate *gpu, *npu;\fgpu = delegate;\nnpu = TestDelegate(PLUGINS "/libdescribed0.so");\n',
        'CHECK(interpreter != NULL && plan != NULL);')),
    ('docs/shared-state.md', 'DeputyInterpreterShareState', (
        'compile', 'TfLiteSignatureRunner *prefill, *decode;\f', '')),
    ('docs/weight-cache.md', 'DeputyInterpreterOptionsSetWeightCache', (
        'run', '\fTfLiteInterpreterDelete(interpreter);\n', 'CHECK(use.packed > 0);')),
)

# Blocks in Python that are only compiled.
PYTHON_BLOCKS = (
    ('docs/cpu_delegate.md', 'ai_edge_litert', 'needs ai-edge-litert of PyPI'),
    ('docs/scale.md', 'from PIL import', 'needs Pillow'),
    ('docs/scale.md', 'apache_beam', 'make check-engines runs the adapter'),
    ('docs/scale.md', 'import ray', 'make check-engines runs the adapter'),
    ('docs/scale.md', 'pyspark', 'make check-engines runs the adapter'),
    ('docs/shared-state.md', 'share_state', 'the repository has no language model; python_test runs these calls'),
)

# Fragments in Python: what comes before and after.
IMPORTS = 'import numpy as np\nfrom deputy.interpreter import Interpreter, load_delegate\n'
INTERPRETER = IMPORTS + "interpreter = Interpreter('model.tflite')\ninterpreter.allocate_tensors()\n"
PYTHON_FRAGMENTS = (
    ('docs/background.md', 'background=True', (
        IMPORTS, "assert interpreter.background_status()['state'] in ('active', 'ready')\n")),
    ('docs/delegates.md', 'set_options', (IMPORTS, "assert delegate.get_option('time_limit_ms') == '50'\n")),
    ('docs/design/memory.md', 'release_memory', (INTERPRETER, '')),
    ('docs/placement.md', 'placement_plan', (IMPORTS, '')),
    ('docs/weight-cache.md', 'weight_cache', (IMPORTS, '')),
)

# Variables of the tests' environment.
TEST_VARIABLES = ('DEPUTY_ALL_ROWS', 'DEPUTY_CPP_SOURCES', 'DEPUTY_LITERT_LIBRARY', 'DEPUTY_LITERT_VENDORS', 'DEPUTY_MINDSPORE_SOURCES')
