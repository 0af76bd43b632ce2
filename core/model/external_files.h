// SPDX-License-Identifier: Apache-2.0
//
// Files with weights that a model refers to by name (ExternalBufferGroup of the schema). Names are
// not trusted: a file must be in the model's directory or a subdirectory.
#ifndef DEPUTY_CORE_MODEL_EXTERNAL_FILES_H_
#define DEPUTY_CORE_MODEL_EXTERNAL_FILES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/memory.h"
#include "core/model/model_bytes.h"

namespace deputy {

class ExternalFiles {
 public:
  // Sets the path of the model, whose directory contains the files; if it is not set, Open fails.
  // Files are mapped, or read into memory if `reads` is true.
  void SetModel(const char* path, bool reads);

  // Sets `*out` to the contents of a file, which is opened at the first call. Returns "" or the
  // reason of a failure.
  std::string Open(std::string_view name, const Limits& limits, std::span<const uint8_t>* out);

  // Total size of the opened files.
  size_t bytes() const { return bytes_; }
  // Call the functions of ModelBytes.
  const void* ReadPart(const void* from, size_t bytes, void* to) const;
  size_t ReleasePages(const void* from, size_t bytes) const;

 private:
  std::optional<std::string> directory_;
  bool reads_ = false;
  size_t bytes_ = 0;
  std::map<std::string, std::unique_ptr<ModelBytes>, std::less<>> files_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_EXTERNAL_FILES_H_
