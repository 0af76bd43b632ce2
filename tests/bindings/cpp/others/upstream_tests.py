# SPDX-License-Identifier: Apache-2.0
"""Upstream's tests of its C++ API that run against Deputy's headers, and the files that support them.

Paths are below the folder `litert/tflite` of the fetched sources.
"""
import dataclasses

REPOSITORY = 'https://github.com/google-ai-edge/LiteRT'
COMMIT = 'f6745779'
# The share of cases that are listed in docs/cpp.md must be below this limit.
MAX_LISTED = 0.03
# Headers that several tests include and that are not part of the API.
SUPPORT = ('testing/util.h',)


@dataclasses.dataclass
class UpstreamTest:
    source: str
    # Files that are copied to a private folder; the .cc files among them are compiled, too.
    support: tuple = ()

    @property
    def name(self):
        """Name of the test in docs/cpp.md: its path without the suffix."""
        return self.source.removesuffix('.cc')


DELEGATES = ('delegates/delegate_test_util.h', 'delegates/delegate_test_util.cc')
SAMPLE = 'delegates/utils/experimental/sample_stable_delegate/sample_stable_delegate'

TESTS = (
    UpstreamTest('interpreter_test.cc', ('interpreter_test_util.h',)),
    UpstreamTest('core/model_test.cc'),
    UpstreamTest('core/signature_runner_test.cc'),
    UpstreamTest('delegates/utils/simple_delegate_test.cc',
                 ('delegates/utils/dummy_delegate/dummy_delegate.h',
                  'delegates/utils/dummy_delegate/dummy_delegate.cc')),
    UpstreamTest('delegates/utils_test.cc'),
    UpstreamTest('delegates/delegate_test.cc',
                 (*DELEGATES, 'converter/experimental/remat/metadata_util.h',
                  'converter/experimental/remat/metadata_util.cc', 'converter/utils/control_edges.h')),
    UpstreamTest('mutable_op_resolver_test.cc'),
    UpstreamTest('util_test.cc'),
    UpstreamTest('delegates/utils/simple_opaque_delegate_test.cc',
                 (*DELEGATES, f'{SAMPLE}.h', f'{SAMPLE}.cc')),
    UpstreamTest(f'{SAMPLE}_test.cc', (f'{SAMPLE}.h', f'{SAMPLE}.cc')),
    UpstreamTest(f'{SAMPLE}_with_control_flow_test.cc',
                 (f'{SAMPLE}_with_control_flow.h', f'{SAMPLE}_with_control_flow.cc')),
    UpstreamTest('delegates/opaque_delegate_test.cc'),
    UpstreamTest('delegates/interpreter_utils_test.cc', DELEGATES),
    UpstreamTest('delegates/serialization_test.cc'),
    UpstreamTest('kernels/kernel_util_test.cc'),
    UpstreamTest('array_test.cc'),
    UpstreamTest('string_util_test.cc'),
    UpstreamTest('minimal_logging_test.cc'),
    UpstreamTest('stderr_reporter_test.cc'),
    UpstreamTest('type_to_tflitetype_test.cc'),
    UpstreamTest('allocation_test.cc'),
    UpstreamTest('core/api/op_resolver_test.cc'),
    UpstreamTest('optional_debug_tools_test.cc'),
    UpstreamTest('profiling/profile_buffer_test.cc'),
    UpstreamTest('profiling/profiler_test.cc'),
    UpstreamTest('profiling/root_profiler_test.cc'),
    UpstreamTest('profiling/time_test.cc'),
)
