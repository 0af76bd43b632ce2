// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fstream>

#include "core/support/compiled_model.h"
#include "core/support/compiled_model_format.h"
#include "core/support/word_writer.h"

namespace deputy {
namespace {

void AddText(const std::string& text, WordWriter* index) {
  index->AddText(text.substr(0, kMaxCompiledText));
}

void AddNumber(uint64_t number, WordWriter* index) { index->Add(static_cast<int64_t>(number)); }

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
  WordWriter index;
  AddNumber(model.model_bytes, &index);
  const DeputyFingerprint model_sum = SumOf(std::span<const char>(*file).first(model.model_bytes));
  for (const uint64_t word : model_sum.words) AddNumber(word, &index);
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
  CompiledFooter footer = {file->size(), index.bytes().size(), {}, {}};
  footer.checksum = SumOf(footer, index.bytes());
  std::memcpy(footer.magic, kCompiledMagic, sizeof kCompiledMagic);
  *file += index.bytes();
  file->append(reinterpret_cast<const char*>(&footer), sizeof footer);
}

}  // namespace deputy
