// SPDX-License-Identifier: Apache-2.0
//
// ONNX Runtime's library, which is loaded when a delegate is created and never linked.
//
// A Library is immutable once it is loaded, so that all threads may use it. It is never unloaded,
// because ONNX Runtime runs threads in it.
#ifndef DEPUTY_BRIDGES_ONNXRUNTIME_LIBRARY_H_
#define DEPUTY_BRIDGES_ONNXRUNTIME_LIBRARY_H_

#include <memory>
#include <string>

#include "bridges/onnxruntime/ort_api.h"

namespace deputy::onnxruntime {

struct Library {
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  Functions functions;
  std::string path, version;
  OrtEnv* env = nullptr;
  OrtMemoryInfo* memory = nullptr;  // describes the host's memory
};

// Loads `path` or, if it is "", the library in the environment variable
// DEPUTY_ONNXRUNTIME_LIBRARY, or else libonnxruntime.so.1 or libonnxruntime.so. Returns null if it
// cannot be loaded or is too old; `out_error` then has the library's name, the origin of the name,
// and the loader's or ONNX Runtime's message.
std::shared_ptr<const Library> OpenLibrary(const std::string& path, std::string* out_error);

// Returns "" if `status` means success, otherwise a message such as "Run: invalid shape (2)".
// Releases the status.
std::string TakeError(const Functions& functions, const char* function, OrtStatus* status);

}  // namespace deputy::onnxruntime

#endif  // DEPUTY_BRIDGES_ONNXRUNTIME_LIBRARY_H_
