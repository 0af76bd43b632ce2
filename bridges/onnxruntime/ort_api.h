// SPDX-License-Identifier: Apache-2.0
//
// The part of ONNX Runtime's C API that this bridge uses. A library exports one function,
// OrtGetApiBase, which returns an ApiBase; its GetApi returns a table of function pointers. Tables
// grow at their end, so that an index has the same function in every version.
#ifndef DEPUTY_BRIDGES_ONNXRUNTIME_ORT_API_H_
#define DEPUTY_BRIDGES_ONNXRUNTIME_ORT_API_H_

#include <cstddef>
#include <cstdint>

namespace deputy::onnxruntime {

struct OrtEnv;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;  // null: success; the caller releases other ones
struct OrtValue;

struct ApiBase {
  // Returns null if the library is older than `version`.
  const void* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)();
};
using GetApiBaseFunction = const ApiBase* (*)();

// ONNX Runtime 1.19, the first release whose wheel has the library.
constexpr uint32_t kApiVersion = 19;

enum LogLevel : int32_t { kLogFatal = 4 };
enum OptimizationLevel : int32_t {
  kOptimizeNothing = 0,
  kOptimizeBasic = 1,
  kOptimizeExtended = 2,
  kOptimizeAll = 99,
};
enum AllocatorType : int32_t { kDeviceAllocator = 0 };
enum MemoryType : int32_t { kMemoryDefault = 0 };

// Types of elements, in the C API and in ONNX models.
enum ElementType : int32_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
};

// X(name, index in the table, result, parameters)
#define DEPUTY_ORT_FUNCTIONS(X)                                                                   \
  X(GetErrorCode, 1, int32_t, (const OrtStatus* status))                                          \
  X(GetErrorMessage, 2, const char*, (const OrtStatus* status))                                   \
  X(CreateEnv, 3, OrtStatus*, (int32_t log_level, const char* name, OrtEnv** env))                \
  X(CreateSessionFromArray, 8, OrtStatus*,                                                        \
    (const OrtEnv* env, const void* model, size_t bytes, const OrtSessionOptions* options,        \
     OrtSession** session))                                                                       \
  X(Run, 9, OrtStatus*,                                                                           \
    (OrtSession * session, const OrtRunOptions* options, const char* const* input_names,          \
     const OrtValue* const* inputs, size_t input_count, const char* const* output_names,          \
     size_t output_count, OrtValue** outputs))                                                    \
  X(CreateSessionOptions, 10, OrtStatus*, (OrtSessionOptions * *options))                         \
  X(SetSessionLogSeverityLevel, 22, OrtStatus*, (OrtSessionOptions * options, int32_t log_level)) \
  X(SetSessionGraphOptimizationLevel, 23, OrtStatus*,                                             \
    (OrtSessionOptions * options, int32_t level))                                                 \
  X(SetIntraOpNumThreads, 24, OrtStatus*, (OrtSessionOptions * options, int32_t threads))         \
  X(CreateTensorWithDataAsOrtValue, 49, OrtStatus*,                                               \
    (const OrtMemoryInfo* memory, void* data, size_t bytes, const int64_t* dims, size_t rank,     \
     int32_t element_type, OrtValue** value))                                                     \
  X(CreateCpuMemoryInfo, 69, OrtStatus*,                                                          \
    (int32_t allocator_type, int32_t memory_type, OrtMemoryInfo * *memory))                       \
  X(AddSessionConfigEntry, 130, OrtStatus*,                                                       \
    (OrtSessionOptions * options, const char* key, const char* value))                            \
  X(ReleaseEnv, 92, void, (OrtEnv * env))                                                         \
  X(ReleaseStatus, 93, void, (OrtStatus * status))                                                \
  X(ReleaseMemoryInfo, 94, void, (OrtMemoryInfo * memory))                                        \
  X(ReleaseSession, 95, void, (OrtSession * session))                                             \
  X(ReleaseValue, 96, void, (OrtValue * value))                                                   \
  X(ReleaseSessionOptions, 100, void, (OrtSessionOptions * options))

struct Functions {
#define DEPUTY_ORT_MEMBER(name, index, result, parameters) result(*name) parameters = nullptr;
  DEPUTY_ORT_FUNCTIONS(DEPUTY_ORT_MEMBER)
#undef DEPUTY_ORT_MEMBER
};

}  // namespace deputy::onnxruntime

#endif  // DEPUTY_BRIDGES_ONNXRUNTIME_ORT_API_H_
