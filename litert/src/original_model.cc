// SPDX-License-Identifier: Apache-2.0
#include "litert/src/original_model.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/support/compiled_model.h"
#include "litert/src/log.h"

namespace deputy::litert {
namespace {

std::span<const char> TextOf(const Bytes& file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

// Returns the section with the original model.
std::optional<CompiledSection> FindSection(const Bytes& file) {
  CompiledModel description;
  if (ParseCompiledModel(TextOf(file), &description) != CompiledModelState::kCompiled) return {};
  for (const CompiledSection& section : description.sections) {
    if (section.owner == kOriginalOwner) return section;
  }
  return {};
}

bool HaveSameTypes(const std::vector<LiteRtTensor>& one, const std::vector<LiteRtTensor>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const LiteRtTensorT* left, const LiteRtTensorT* right) {
                      const LiteRtLayout &a = left->type.layout, &b = right->type.layout;
                      return left->type.element_type == right->type.element_type &&
                             std::equal(a.dimensions, a.dimensions + a.rank, b.dimensions,
                                        b.dimensions + b.rank);
                    });
}

// Returns true if programs can run either model with the same buffers.
bool HaveSameSignatures(const LiteRtModelT& one, const LiteRtModelT& other) {
  return std::equal(one.signatures.begin(), one.signatures.end(), other.signatures.begin(),
                    other.signatures.end(), [](const auto& left, const auto& right) {
                      return left->key == right->key && left->input_names == right->input_names &&
                             HaveSameTypes(left->subgraph->inputs, right->subgraph->inputs) &&
                             HaveSameTypes(left->subgraph->outputs, right->subgraph->outputs);
                    });
}

}  // namespace

bool HasOriginal(const LiteRtModelT& compiled) { return FindSection(compiled.bytes).has_value(); }

LiteRtStatus LoadOriginal(const LiteRtModelT& compiled,
                          std::unique_ptr<LiteRtModelT>* out_original) {
  const std::optional<CompiledSection> section = FindSection(compiled.bytes);
  if (!section) return kLiteRtStatusErrorNotFound;
  if (!IsIntact(TextOf(compiled.bytes), *section)) {
    return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                "model: the original model in the file is damaged");
  }
  auto loaded = std::make_unique<LiteRtModelT>();
  LITERT_TRY(loaded->Load(compiled.bytes.subspan(section->offset, section->bytes)));
  if (!HaveSameSignatures(compiled, *loaded)) {
    return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                "model: the original model in the file has other signatures");
  }
  *out_original = std::move(loaded);
  return kLiteRtStatusOk;
}

}  // namespace deputy::litert
