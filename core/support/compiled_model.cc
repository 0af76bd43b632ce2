// SPDX-License-Identifier: Apache-2.0
#include "core/support/compiled_model.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/support/compiled_model_format.h"
#include "core/support/word_reader.h"

namespace deputy {
namespace {

bool IsOwner(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_";
  return !name.empty() && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

bool IsFileName(std::string_view name) {
  return !name.empty() && name.size() < 256 && name.front() != '.' &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

// Returns true if the section is between the model and the index.
bool IsValid(const CompiledSection& section, uint64_t begin, uint64_t end) {
  return IsOwner(section.owner) && IsFileName(section.name) &&
         section.offset % kSectionAlignment == 0 && section.offset >= begin &&
         section.offset <= end && section.bytes <= end - section.offset;
}

}  // namespace

const CompiledTarget* CompiledModel::FindTarget(const std::string& owner) const {
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const CompiledTarget& each) { return each.owner == owner; });
  return found == targets.end() ? nullptr : &*found;
}

std::string OwnerOfLibrary(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  name = name.substr(0, name.find(".so"));
  for (const std::string_view prefix : {"lib", "deputy_"}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!IsOwner(std::string_view(&c, 1))) c = '_';
  }
  return name.empty() ? "_" : name;
}

void AddDeviceText(const DeputyDeviceInfo& device, std::string* text) {
  for (const char* const part : {device.name, device.driver_version, device.platform_version}) {
    if (part == nullptr || *part == '\0') continue;
    if (!text->empty()) *text += ", ";
    *text += part;
  }
}

CompiledModelState ParseCompiledModel(std::span<const char> file, CompiledModel* out) {
  CompiledFooter footer;
  if (file.size() < sizeof footer) return CompiledModelState::kPlain;
  const size_t end = file.size() - sizeof footer;
  std::memcpy(&footer, file.data() + end, sizeof footer);
  if (std::memcmp(footer.magic, kCompiledMagic, sizeof kCompiledMagic) != 0)
    return CompiledModelState::kPlain;
  if (footer.index_offset > end || footer.index_bytes != end - footer.index_offset) {
    return CompiledModelState::kDamaged;
  }
  const std::span<const char> index = file.subspan(footer.index_offset, footer.index_bytes);
  const DeputyFingerprint sum = SumOf(footer, index);
  if (std::memcmp(&sum, &footer.checksum, sizeof sum) != 0) return CompiledModelState::kDamaged;
  WordReader reader(index);
  CompiledModel model;
  model.model_bytes = reader.Word();
  for (uint64_t& word : model.model_checksum) word = reader.Word();
  model.targets.resize(reader.Count(3 * sizeof(uint64_t)));
  for (CompiledTarget& target : model.targets) {
    target.owner = reader.Text(kMaxCompiledText);
    target.version = reader.Text(kMaxCompiledText);
    target.device = reader.Text(kMaxCompiledText);
  }
  model.sections.resize(reader.Count(6 * sizeof(uint64_t)));
  bool valid = model.model_bytes <= footer.index_offset;
  for (CompiledSection& section : model.sections) {
    section.owner = reader.Text(kMaxCompiledText);
    section.name = reader.Text(kMaxCompiledText);
    section.offset = reader.Word();
    section.bytes = reader.Word();
    for (uint64_t& word : section.checksum) word = reader.Word();
    valid = valid && IsValid(section, model.model_bytes, footer.index_offset);
  }
  if (!valid || !reader.ok() || !reader.is_at_end()) return CompiledModelState::kDamaged;
  *out = std::move(model);
  return CompiledModelState::kCompiled;
}

bool IsModelIntact(std::span<const char> file, const CompiledModel& model) {
  const DeputyFingerprint sum = SumOf(file.first(model.model_bytes));
  return std::equal(sum.words, sum.words + 2, model.model_checksum);
}

bool IsIntact(std::span<const char> file, const CompiledSection& section) {
  const DeputyFingerprint sum = SumOf(file.subspan(section.offset, section.bytes));
  return std::equal(sum.words, sum.words + 2, section.checksum);
}

}  // namespace deputy
