// SPDX-License-Identifier: Apache-2.0
//
// FlatBuffers with its asserts switched off. They guard against callers' mistakes, but what they
// would see here is a stranger's file, which must never end the process: the verifier and
// core/model/model_check.cc answer for it instead. Included before anything else of FlatBuffers.
#ifndef DEPUTY_CORE_BASE_FLATBUFFERS_ACCESS_H_
#define DEPUTY_CORE_BASE_FLATBUFFERS_ACCESS_H_

#ifdef FLATBUFFERS_ASSERT
#error "core/base/flatbuffers_access.h must come before the headers of FlatBuffers"
#endif
#define FLATBUFFERS_ASSERT(condition) static_cast<void>(0)

#include "flatbuffers/flatbuffers.h"  // IWYU pragma: export

#endif  // DEPUTY_CORE_BASE_FLATBUFFERS_ACCESS_H_
