// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/config.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

// Limits of MindSpore Lite.
constexpr size_t kMaxSections = 100;
constexpr size_t kMaxEntries = 1000;
constexpr size_t kMaxLines = 100100;
constexpr size_t kMaxLineBytes = 65536;

// Entries that Model::Build obeys.
constexpr const char* kObeyed[][2] = {
    {"common_context", "model_cache_dir"},
    {"gpu_context", "precision_mode"},
};

bool IsObeyed(const std::string& section, const std::string& key) {
  return std::any_of(std::begin(kObeyed), std::end(kObeyed),
                     [&](const auto& row) { return section == row[0] && key == row[1]; });
}

std::string Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) + 1 - first));
}

// Reads the lines of a configuration file.
class Parser {
 public:
  Parser(const char* path, Config::Sections* sections) : path_(path), sections_(sections) {}

  MSStatus Read() {
    std::ifstream file(path_);
    if (!file) return Fail(kMSStatusLiteFileError, "LoadConfig: '%s' cannot be read", path_);
    std::string line;
    while (std::getline(file, line)) {
      ++number_;
      if (number_ > kMaxLines || line.size() > kMaxLineBytes)
        return Problem("the file is too large");
      if (const MSStatus status = ReadLine(Trim(line)); status != kMSStatusSuccess) return status;
    }
    if (file.bad()) return Fail(kMSStatusLiteFileError, "LoadConfig: '%s' cannot be read", path_);
    return kMSStatusSuccess;
  }

 private:
  MSStatus Problem(const char* text) const {
    return Fail(kMSStatusLiteFileError, "LoadConfig: '%s' line %zu: %s", path_, number_, text);
  }

  MSStatus ReadLine(const std::string& line) {
    if (line.empty() || line[0] == '#' || line[0] == ';') return kMSStatusSuccess;
    if (line[0] == '[') {
      if (line.back() != ']') return Problem("expected ']' at the end of a section's name");
      section_ = Trim(std::string_view(line).substr(1, line.size() - 2));
      return section_.empty() ? Problem("a section has no name") : kMSStatusSuccess;
    }
    const size_t equals = line.find('=');
    if (equals == std::string::npos) return Problem("expected 'key = value' or '[section]'");
    if (section_.empty()) return Problem("expected '[section]' before the first key");
    const std::string key = Trim(std::string_view(line).substr(0, equals));
    if (key.empty()) return Problem("expected a key before '='");
    const std::string value = Trim(std::string_view(line).substr(equals + 1));
    if (!(*sections_)[section_].emplace(key, value).second) {
      Log(kDeputyMSLogWarning,
          "LoadConfig: '%s' line %zu: key '%s' of section '%s' exists; ignored", path_, number_,
          key.c_str(), section_.c_str());
    }
    return kMSStatusSuccess;
  }

  const char* const path_;
  Config::Sections* const sections_;
  size_t number_ = 0;
  std::string section_;
};

MSStatus CheckLimits(const Config::Sections& sections) {
  if (sections.size() > kMaxSections) {
    return Fail(kMSStatusLiteParamInvalid, "the configuration has more than %zu sections",
                kMaxSections);
  }
  for (const auto& [name, entries] : sections) {
    if (entries.size() <= kMaxEntries) continue;
    return Fail(kMSStatusLiteParamInvalid, "section '%s' has more than %zu entries", name.c_str(),
                kMaxEntries);
  }
  return kMSStatusSuccess;
}

}  // namespace

MSStatus Config::Load(const char* path) {
  if (path == nullptr) return Fail(kMSStatusLiteNullptr, "LoadConfig: the path is NULL");
  Sections sections = sections_;
  MSStatus status = Parser(path, &sections).Read();
  if (status == kMSStatusSuccess) status = CheckLimits(sections);
  if (status == kMSStatusSuccess) sections_ = std::move(sections);
  return status;
}

MSStatus Config::Update(const std::string& section, const std::string& key,
                        const std::string& value) {
  if (section.empty() || key.empty()) {
    return Fail(kMSStatusLiteParamInvalid, "UpdateConfig: the section or key is empty");
  }
  Sections sections = sections_;
  sections[section][key] = value;
  const MSStatus status = CheckLimits(sections);
  if (status == kMSStatusSuccess) sections_ = std::move(sections);
  return status;
}

std::string Config::Get(const std::string& section, const std::string& key) const {
  const auto found = sections_.find(section);
  if (found == sections_.end()) return {};
  const auto entry = found->second.find(key);
  return entry == found->second.end() ? std::string() : entry->second;
}

void Config::LogIgnored() const {
  for (const auto& [section, entries] : sections_) {
    for (const auto& [key, value] : entries) {
      if (IsObeyed(section, key)) continue;
      Log(kDeputyMSLogWarning,
          "the configuration: key '%s' of section '%s' has no effect; kernels of delegates receive "
          "it",
          key.c_str(), section.c_str());
    }
  }
}

}  // namespace deputy::ms_api
