// SPDX-License-Identifier: Apache-2.0
#include "litert/src/compile_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "litert/src/environment.h"
#include "litert/src/opaque_options.h"

namespace deputy::litert {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashDigits = 32;

std::string HexOf(const DeputyFingerprint& hash) {
  std::array<char, kHashDigits + 1> text;
  std::snprintf(text.data(), text.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash.words[0]),
                static_cast<unsigned long long>(hash.words[1]));
  return text.data();
}

void AddPlugin(const CompilerPlugin& plugin, DeputyFingerprint* key) {
  DeputyFingerprintAddText(key, plugin.path().c_str());
  DeputyFingerprintAddText(key, plugin.manufacturer().c_str());
  DeputyFingerprintAddText(key, plugin.sdk_version().c_str());
  DeputyFingerprintStep(key, static_cast<uint64_t>(plugin.hardware()));
  for (const std::string& model : plugin.soc_models()) {
    DeputyFingerprintAddText(key, model.c_str());
  }
  // A new build of a plug-in may have the version of the old one.
  std::error_code error;
  DeputyFingerprintStep(key, fs::file_size(plugin.path(), error));
  const auto time = fs::last_write_time(plugin.path(), error).time_since_epoch().count();
  DeputyFingerprintStep(key, static_cast<uint64_t>(time));
}

// Adds the options that may change the result. Returns false if one has no hash.
bool AddOptions(const LiteRtOptionsT& options, DeputyFingerprint* key) {
  DeputyFingerprintStep(key, static_cast<uint64_t>(options.accelerators));
  for (const LiteRtOpaqueOptionsT* each = options.opaque; each != nullptr; each = each->next) {
    const std::optional<uint64_t> hash = HashOf(*each);
    if (!hash) {
      Log(kLiteRtLogSeverityInfo,
          "compiler plug-ins: options '%s' have no hash, so that nothing is cached",
          each->identifier.c_str());
      return false;
    }
    DeputyFingerprintAddText(key, each->identifier.c_str());
    DeputyFingerprintStep(key, *hash);
  }
  return true;
}

// Adds the options that plug-ins can read, except pointers, which differ between processes.
void AddEnvironment(const LiteRtEnvironmentOptionsT& options, DeputyFingerprint* key) {
  for (const auto& [tag, value] : options.values()) {
    const bool concerns_others = tag == kLiteRtEnvOptionTagCompilerCacheDir ||
                                 tag == kLiteRtEnvOptionTagCompilerCacheMaxConfigsPerModel ||
                                 tag == kLiteRtEnvOptionTagCompilerCacheMaxTotalSize ||
                                 tag == kLiteRtEnvOptionTagMinLoggerSeverity;
    if (concerns_others) continue;
    DeputyFingerprintStep(key, static_cast<uint64_t>(tag));
    switch (value.type) {
      case kLiteRtAnyTypeBool:
        DeputyFingerprintStep(key, value.bool_value ? 1 : 0);
        break;
      case kLiteRtAnyTypeInt:
        DeputyFingerprintStep(key, static_cast<uint64_t>(value.int_value));
        break;
      case kLiteRtAnyTypeReal:
        DeputyFingerprintStep(key, std::bit_cast<uint64_t>(value.real_value));
        break;
      case kLiteRtAnyTypeString:
        DeputyFingerprintAddText(key, value.str_value);
        break;
      default:
        break;
    }
  }
}

uint64_t NumberOption(LiteRtEnvironment environment, LiteRtEnvOptionTag tag, uint64_t otherwise) {
  const LiteRtAny* const value = environment->options().Find(tag);
  const bool is_number =
      value != nullptr && value->type == kLiteRtAnyTypeInt && value->int_value >= 0;
  return is_number ? static_cast<uint64_t>(value->int_value) : otherwise;
}

// A file of a cache.
struct Entry {
  fs::path path;
  fs::file_time_type time;
  uint64_t bytes = 0;
};

// Returns the entries of a folder, the newest first. Other files are left out.
std::vector<Entry> ListEntries(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; file != end && !error;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    const bool is_entry = name.size() > kHashDigits && name[kHashDigits] == '-' &&
                          name.find_first_not_of("0123456789abcdef") == kHashDigits &&
                          name.ends_with(".bin");
    std::error_code unknown;
    Entry entry = {.path = file->path(), .time = file->last_write_time(unknown)};
    entry.bytes = file->file_size(unknown);
    if (is_entry && !unknown) entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.time > b.time; });
  return entries;
}

}  // namespace

CompileCache::CompileCache(LiteRtEnvironment environment, const LiteRtOptionsT& options,
                           const LiteRtModelT& model, const char* soc_model,
                           const CompilerPlugins& plugins) {
  const char* const folder = environment->TextOption(kLiteRtEnvOptionTagCompilerCacheDir);
  if (folder == nullptr || *folder == '\0') return;
  DeputyFingerprint content;
  DeputyFingerprintInit(&content);
  DeputyFingerprintAdd(&content, model.bytes.data(), model.bytes.size());
  token_ = HexOf(content) + "-" + (model.name.empty() ? "mem" : model.name);
  DeputyFingerprintInit(&key_);
  DeputyFingerprintAddText(&key_, soc_model);
  for (const auto& plugin : plugins) AddPlugin(*plugin, &key_);
  AddEnvironment(environment->options(), &key_);
  if (!AddOptions(options, &key_)) return;
  max_configs_ = std::max<uint64_t>(
      NumberOption(environment, kLiteRtEnvOptionTagCompilerCacheMaxConfigsPerModel, 1), 1);
  max_bytes_ = NumberOption(environment, kLiteRtEnvOptionTagCompilerCacheMaxTotalSize, 0);
  folder_ = folder;
}

std::unique_ptr<LiteRtModelT> CompileCache::Load() const {
  if (folder_.empty()) return nullptr;
  const DeputySerialization from = store();
  void* data = nullptr;
  size_t bytes = 0;
  if (DeputySerializationRead(&from, &key_, &data, &bytes) != kTfLiteOk) return nullptr;
  auto model = std::make_unique<LiteRtModelT>();
  model->owned_block.reset(static_cast<uint8_t*>(data));
  if (model->Load({model->owned_block.get(), bytes}) != kLiteRtStatusOk) {
    DeputySerializationRemove(&from, &key_);
    return nullptr;
  }
  std::array<char, kDeputySerializationPathBytes> path;
  if (DeputySerializationPath(&from, &key_, path.data())) {
    // The oldest entries are removed first.
    std::error_code error;
    fs::last_write_time(path.data(), fs::file_time_type::clock::now(), error);
    Log(kLiteRtLogSeverityInfo, "compiler plug-ins: the compiled model is read from %s",
        path.data());
  }
  return model;
}

void CompileCache::Store(const LiteRtModelT& compiled) const {
  if (folder_.empty()) return;
  const DeputySerialization to = store();
  if (DeputySerializationWrite(&to, &key_, compiled.bytes.data(), compiled.bytes.size()) !=
      kTfLiteOk) {
    Log(kLiteRtLogSeverityWarning, "compiler plug-ins: the compiled model cannot be cached in %s",
        folder_.c_str());
    return;
  }
  RemoveOldest();
}

void CompileCache::RemoveOldest() const {
  size_t configs = 0;
  uint64_t bytes = 0;
  for (const Entry& entry : ListEntries(folder_)) {
    const bool is_same_model =
        entry.path.filename().string().compare(0, kHashDigits, token_, 0, kHashDigits) == 0;
    configs += is_same_model ? 1 : 0;
    bytes += entry.bytes;
    const bool is_too_much =
        (is_same_model && configs > max_configs_) || (max_bytes_ > 0 && bytes > max_bytes_);
    std::error_code error;
    if (is_too_much) fs::remove(entry.path, error);
  }
}

}  // namespace deputy::litert
