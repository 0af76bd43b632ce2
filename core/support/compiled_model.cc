// SPDX-License-Identifier: Apache-2.0
#include "core/support/compiled_model.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/support/compiled_model_format.h"

namespace deputy {
namespace {

// Decodes numbers and texts of a description that may be damaged.
class IndexReader {
 public:
  explicit IndexReader(std::span<const char> bytes) : bytes_(bytes) {}

  // Returns 0 after a failure; a number above `limit` is one.
  uint64_t Number(uint64_t limit) {
    uint64_t number = 0;
    if (bytes_.size() < sizeof number) {
      ok_ = false;
      return 0;
    }
    std::memcpy(&number, bytes_.data(), sizeof number);
    bytes_ = bytes_.subspan(sizeof number);
    ok_ = ok_ && number <= limit;
    return ok_ ? number : 0;
  }
  std::string Text() {
    const uint64_t size = Number(std::min(kMaxCompiledText, bytes_.size()));
    if (!ok_ || size > bytes_.size()) {
      ok_ = false;
      return "";
    }
    std::string text(bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return text;
  }
  // Returns the number of elements of a list, each of which has at least `bytes` bytes.
  uint64_t Count(size_t bytes) { return Number(bytes_.size() / bytes); }
  bool ok() const { return ok_; }
  bool is_done() const { return ok_ && bytes_.empty(); }

 private:
  std::span<const char> bytes_;
  bool ok_ = true;
};

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
  IndexReader reader(index);
  CompiledModel model;
  model.model_bytes = reader.Number(footer.index_offset);
  model.targets.resize(reader.Count(3 * sizeof(uint64_t)));
  for (CompiledTarget& target : model.targets) {
    target.owner = reader.Text();
    target.version = reader.Text();
    target.device = reader.Text();
  }
  model.sections.resize(reader.Count(6 * sizeof(uint64_t)));
  bool valid = true;
  for (CompiledSection& section : model.sections) {
    section.owner = reader.Text();
    section.name = reader.Text();
    section.offset = reader.Number(UINT64_MAX);
    section.bytes = reader.Number(UINT64_MAX);
    for (uint64_t& word : section.checksum) word = reader.Number(UINT64_MAX);
    valid = valid && IsValid(section, model.model_bytes, footer.index_offset);
  }
  if (!valid || !reader.is_done()) return CompiledModelState::kDamaged;
  *out = std::move(model);
  return CompiledModelState::kCompiled;
}

bool IsIntact(std::span<const char> file, const CompiledSection& section) {
  const DeputyFingerprint sum = SumOf(file.subspan(section.offset, section.bytes));
  return sum.words[0] == section.checksum[0] && sum.words[1] == section.checksum[1];
}

}  // namespace deputy
