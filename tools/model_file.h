// SPDX-License-Identifier: Apache-2.0
//
// A model's file of any format that the command takes: .tflite, or MindSpore Lite's .ms, which is
// converted in memory. What a file is, its first bytes say, not its name.
#ifndef DEPUTY_TOOLS_MODEL_FILE_H_
#define DEPUTY_TOOLS_MODEL_FILE_H_

#include <cstdarg>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "deputy/c_api.h"

namespace deputy::tools {

class ModelFile {
 public:
  using Reporter = void (*)(void* user_data, const char* format, va_list args);

  // Null if the file is no usable model; then the reporter, which must outlive this, has the
  // reason.
  ModelFile(const std::string& path, Reporter reporter, void* user_data);

  const TfLiteModel* get() const { return model_.get(); }

 private:
  std::vector<uint8_t> converted_;  // what the model reads, if its file is of another format
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_MODEL_FILE_H_
