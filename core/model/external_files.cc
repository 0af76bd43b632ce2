// SPDX-License-Identifier: Apache-2.0
#include "core/model/external_files.h"

#include <utility>

#include "core/base/error.h"

namespace deputy {
namespace {

// Returns true for a relative path without "..".
bool IsBelowDirectory(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos)
    return false;
  const std::string framed = "/" + std::string(path) + "/";
  return framed.find("/../") == std::string::npos;
}

}  // namespace

void ExternalFiles::SetModel(const char* path, bool reads) {
  const std::string_view text = path == nullptr ? "" : path;
  const size_t slash = text.rfind('/');
  directory_ = slash == std::string_view::npos ? "" : text.substr(0, slash + 1);
  reads_ = reads;
}

std::string ExternalFiles::Open(std::string_view name, const Limits& limits,
                                std::span<const uint8_t>* out) {
  if (const auto found = files_.find(name); found != files_.end()) {
    *out = found->second->bytes();
    return "";
  }
  if (!directory_.has_value()) return "expected a model that is loaded from a file, found a buffer";
  if (!IsBelowDirectory(name)) {
    return "file name: expected a relative path without '..', found '" +
           std::string(name.substr(0, 64)) + "'";
  }
  const std::string path = *directory_ + std::string(name);
  auto bytes = std::make_unique<ModelBytes>();
  ErrorReporter problem([](void*, const char*, va_list) {}, nullptr);
  const bool opened =
      reads_ ? bytes->Read(path.c_str(), limits, &problem) : bytes->Map(path.c_str(), &problem);
  if (!opened) return problem.last_error();
  *out = bytes->bytes();
  bytes_ += out->size();
  files_.emplace(name, std::move(bytes));
  return "";
}

const void* ExternalFiles::ReadPart(const void* from, size_t bytes, void* to) const {
  for (const auto& [name, file] : files_) {
    if (const void* const read = file->ReadPart(from, bytes, to)) return read;
  }
  return nullptr;
}

size_t ExternalFiles::ReleasePages(const void* from, size_t bytes) const {
  size_t released = 0;
  for (const auto& [name, file] : files_) released += file->ReleasePages(from, bytes);
  return released;
}

}  // namespace deputy
