// SPDX-License-Identifier: Apache-2.0
#include "output_files.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

#include "text.h"

namespace deputy::tools {
namespace {

constexpr const char* kExtension = ".npy";
// Bytes of a file name reserved after the item for "_", the output's index, "_", ".npy", and a part
// of the tensor's name.
constexpr size_t kReservedBytes = 48;

// Returns a tensor's name with all characters other than letters, digits, '.' and '-' replaced by
// '_'.
std::string SafeName(const std::string& name) {
  std::string safe;
  for (const char c : name) {
    safe += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ? c : '_';
  }
  return safe;
}

// Returns at most `bytes` bytes of `text` without cutting a UTF-8 character.
std::string CutTo(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

OutputFiles OutputFiles::In(const std::string& folder) {
  constexpr long kUsualMax = 255;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) FailUsage("%s: %s", folder.c_str(), error.message().c_str());
  const long max = pathconf(folder.c_str(), _PC_NAME_MAX);
  return {folder, static_cast<size_t>(max > 0 ? max : kUsualMax)};
}

void OutputFiles::Begin(const std::string& item) {
  stem_.clear();
  const std::string whole = std::filesystem::path(item).stem().string();
  if (whole.empty()) return;
  std::string stem = CutTo(whole, max_name_ - std::min(max_name_, kReservedBytes));
  for (size_t number = 2; !stems_.insert(stem).second; ++number) {
    const std::string suffix = "~" + std::to_string(number);
    const size_t capacity = kReservedBytes + suffix.size();
    stem = CutTo(whole, max_name_ - std::min(max_name_, capacity)) + suffix;
  }
  stem_ = stem + "_";
}

// The index distinguishes the outputs of an inference whose names are equal after shortening.
// Outputs of two inferences are equal if an item and an index are the other item: item "a" with
// output 0 "1_x", and item "a_0" with output 1 "x".
std::string OutputFiles::PathOf(int index, const std::string& tensor) {
  const std::string whole = stem_ + std::to_string(index) + "_" + SafeName(tensor);
  std::string suffix;
  std::string name;
  for (size_t number = 2;; ++number) {
    const size_t reserved = std::strlen(kExtension) + suffix.size();
    name = whole.substr(0, max_name_ - std::min(max_name_, reserved)) + suffix;
    if (names_.insert(name).second) break;
    suffix = "~" + std::to_string(number);
  }
  return (std::filesystem::path(folder_) / (name + kExtension)).string();
}

}  // namespace deputy::tools
