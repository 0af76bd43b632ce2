// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fstream>
#include <string_view>

#include "core/support/compiled_model.h"
#include "core/support/compiled_model_format.h"

namespace deputy {
namespace {

void AddNumber(uint64_t number, std::string* index) {
  index->append(reinterpret_cast<const char*>(&number), sizeof number);
}

void AddText(const std::string& text, std::string* index) {
  const std::string_view part = std::string_view(text).substr(0, kMaxCompiledText);
  AddNumber(part.size(), index);
  index->append(part);
}

}  // namespace

bool IsCompiledModel(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[sizeof kCompiledMagic] = {};
  file.seekg(-static_cast<long>(sizeof magic), std::ios::end);
  return file.read(magic, sizeof magic) && std::memcmp(magic, kCompiledMagic, sizeof magic) == 0;
}

void AppendSection(const std::string& owner, const std::string& name, std::span<const char> bytes,
                   CompiledModel* model, std::string* file) {
  file->resize((file->size() + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment);
  const DeputyFingerprint sum = SumOf(bytes);
  model->sections.push_back(
      {owner, name, file->size(), bytes.size(), {sum.words[0], sum.words[1]}});
  file->append(bytes.data(), bytes.size());
}

void FinishCompiledModel(const CompiledModel& model, std::string* file) {
  std::string index;
  AddNumber(model.model_bytes, &index);
  AddNumber(model.targets.size(), &index);
  for (const CompiledTarget& target : model.targets) {
    AddText(target.owner, &index);
    AddText(target.version, &index);
    AddText(target.device, &index);
  }
  AddNumber(model.sections.size(), &index);
  for (const CompiledSection& section : model.sections) {
    AddText(section.owner, &index);
    AddText(section.name, &index);
    AddNumber(section.offset, &index);
    AddNumber(section.bytes, &index);
    for (const uint64_t word : section.checksum) AddNumber(word, &index);
  }
  CompiledFooter footer = {file->size(), index.size(), {}, {}};
  footer.checksum = SumOf(footer, index);
  std::memcpy(footer.magic, kCompiledMagic, sizeof kCompiledMagic);
  *file += index;
  file->append(reinterpret_cast<const char*>(&footer), sizeof footer);
}

}  // namespace deputy
