// SPDX-License-Identifier: Apache-2.0
//
// See model_file.h.
#include "model_file.h"

#include <fstream>

#include "mindspore/ms/convert.h"

namespace deputy::tools {
namespace {

// The whole file, if it is one of MindSpore's; else nothing.
std::vector<uint8_t> ReadMsFile(const std::string& path) {
  constexpr size_t kIdentifierEnd = 8;
  std::vector<uint8_t> bytes(kIdentifierEnd);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), kIdentifierEnd) || !ms::IsMsModel(bytes)) {
    return {};
  }
  file.seekg(0, std::ios::end);
  bytes.resize(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

void ReportTo(ModelFile::Reporter reporter, void* user_data, const char* format, ...) {
  va_list args;
  va_start(args, format);
  reporter(user_data, format, args);
  va_end(args);
}

}  // namespace

ModelFile::ModelFile(const std::string& path, Reporter reporter, void* user_data)
    : model_(nullptr, &TfLiteModelDelete) {
  const std::vector<uint8_t> file = ReadMsFile(path);
  if (file.empty()) {
    model_.reset(TfLiteModelCreateFromFileWithErrorReporter(path.c_str(), reporter, user_data));
    return;
  }
  std::string error;
  converted_ = ms::ConvertMsModel(file, {}, &error);
  if (converted_.empty()) {
    ReportTo(reporter, user_data, "%s", error.c_str());
    return;
  }
  model_.reset(TfLiteModelCreateWithErrorReporter(converted_.data(), converted_.size(), reporter,
                                                  user_data));
}

}  // namespace deputy::tools
