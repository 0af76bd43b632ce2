// SPDX-License-Identifier: Apache-2.0
//
// FlatBuffers without its asserts. They detect errors of the calling code, but here they would be
// triggered by untrusted files, which must not abort the process: the verifier and
// core/model/model_check.cc validate files instead. Must be included before other headers of
// FlatBuffers.
#ifndef DEPUTY_CORE_BASE_FLATBUFFERS_ACCESS_H_
#define DEPUTY_CORE_BASE_FLATBUFFERS_ACCESS_H_

#ifdef FLATBUFFERS_ASSERT
#error "core/base/flatbuffers_access.h must come before the headers of FlatBuffers"
#endif
#define FLATBUFFERS_ASSERT(condition) static_cast<void>(0)

#include "flatbuffers/flatbuffers.h"  // IWYU pragma: export

#endif  // DEPUTY_CORE_BASE_FLATBUFFERS_ACCESS_H_
