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


TESTS = (
    UpstreamTest('interpreter_test.cc', ('interpreter_test_util.h',)),
    UpstreamTest('core/model_test.cc'),
    UpstreamTest('core/signature_runner_test.cc'),
    UpstreamTest('delegates/utils/simple_delegate_test.cc',
                 ('delegates/utils/dummy_delegate/dummy_delegate.h',
                  'delegates/utils/dummy_delegate/dummy_delegate.cc')),
    UpstreamTest('delegates/utils_test.cc'),
    UpstreamTest('delegates/delegate_test.cc',
                 ('delegates/delegate_test_util.h', 'delegates/delegate_test_util.cc',
                  'converter/experimental/remat/metadata_util.h',
                  'converter/experimental/remat/metadata_util.cc', 'converter/utils/control_edges.h')),
    UpstreamTest('mutable_op_resolver_test.cc'),
    UpstreamTest('util_test.cc'),
)
