// SPDX-License-Identifier: Apache-2.0
//
// Loads a model file of any supported format: .tflite, or MindSpore Lite's .ms, which is converted
// in memory. The format is detected from the first bytes, not from the name.
#ifndef DEPUTY_TOOLS_MODEL_FILE_H_
#define DEPUTY_TOOLS_MODEL_FILE_H_

#include <cstdarg>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "deputy/c_api.h"
#include "mindspore/ms/convert.h"

namespace deputy::tools {

class ModelFile {
 public:
  using Reporter = void (*)(void* user_data, const char* format, va_list args);

  // Loads the file at `path`. get() returns null if the file is not a usable model; the reason goes
  // to the reporter, which must outlive this object. `unmapped` concerns .ms files.
  ModelFile(const std::string& path, ms::Unmapped unmapped, Reporter reporter, void* user_data);

  const TfLiteModel* get() const { return model_.get(); }
  // Returns the nodes of a .ms file that became custom operators without a kernel.
  const std::vector<ms::UnmappedNode>& unmapped() const { return converted_.unmapped; }

 private:
  ms::ConvertedModel converted_;  // backing memory of the model if it was converted
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_MODEL_FILE_H_
