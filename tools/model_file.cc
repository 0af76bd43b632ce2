// SPDX-License-Identifier: Apache-2.0
//
// Loads model files, and converts those of MindSpore Lite.
#include "model_file.h"

#include "mindspore/ms/file.h"

namespace deputy::tools {
namespace {

void ReportTo(ModelFile::Reporter reporter, void* user_data, const char* format, ...) {
  va_list args;
  va_start(args, format);
  reporter(user_data, format, args);
  va_end(args);
}

}  // namespace

ModelFile::ModelFile(const std::string& path, ms::Unmapped unmapped, Reporter reporter,
                     void* user_data)
    : model_(nullptr, &TfLiteModelDelete) {
  std::vector<char> file;
  std::string error;
  if (!ms::ReadMsFile(path, &file, &error)) {
    ReportTo(reporter, user_data, "%s", error.c_str());
    return;
  }
  if (file.empty()) {
    model_.reset(TfLiteModelCreateFromFileWithErrorReporter(path.c_str(), reporter, user_data));
    return;
  }
  const auto* first = reinterpret_cast<const uint8_t*>(file.data());
  if (!ms::ConvertMsModel({first, file.size()}, {}, unmapped, &converted_, &error)) {
    ReportTo(reporter, user_data, "%s", error.c_str());
    return;
  }
  model_.reset(TfLiteModelCreateWithErrorReporter(converted_.tflite.data(),
                                                  converted_.tflite.size(), reporter, user_data));
}

}  // namespace deputy::tools
