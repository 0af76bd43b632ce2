// SPDX-License-Identifier: Apache-2.0
//
// Profiler is BufferedProfiler in programs that define TFLITE_PROFILING_ENABLED, and NoopProfiler
// in others.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_PROFILER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_PROFILER_H_

#include "tensorflow/lite/profiling/buffered_profiler.h"
#include "tensorflow/lite/profiling/noop_profiler.h"

namespace tflite {
namespace profiling {

#ifdef TFLITE_PROFILING_ENABLED
using Profiler = BufferedProfiler;
#else
using Profiler = NoopProfiler;
#endif

}  // namespace profiling
}  // namespace tflite

#define SCOPED_TAGGED_OPERATOR_PROFILE TFLITE_SCOPED_TAGGED_OPERATOR_PROFILE

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_PROFILER_H_
