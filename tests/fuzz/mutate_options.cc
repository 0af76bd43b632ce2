// SPDX-License-Identifier: Apache-2.0
//
// Mutations of numbers in options. Fields are found through flatc's type tables, so that no
// operator is named here.
#include <flatbuffers/minireflect.h>

#include <cstring>

#include "tests/fuzz/mutate.h"

namespace deputy::fuzz {
namespace {

// A number in the options of an operator, at its position in the file.
struct Field {
  uint8_t* at;
  flatbuffers::ElementaryType type;
};

void AddFields(uint8_t* table_bytes, const flatbuffers::TypeTable& types,
               std::vector<Field>* fields) {
  auto* table = reinterpret_cast<flatbuffers::Table*>(table_bytes);
  for (size_t i = 0; i < types.num_elems; ++i) {
    const flatbuffers::TypeCode code = types.type_codes[i];
    const auto type = static_cast<flatbuffers::ElementaryType>(code.base_type);
    uint8_t* at = table->GetAddressOf(static_cast<flatbuffers::voffset_t>(4 + 2 * i));
    if (at == nullptr || type == flatbuffers::ET_STRING || type == flatbuffers::ET_SEQUENCE) {
      continue;
    }
    if (!code.is_repeating) {
      fields->push_back({at, type});
      continue;
    }
    auto* vector = reinterpret_cast<flatbuffers::Vector<uint8_t>*>(
        at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at));
    const size_t bytes = flatbuffers::InlineSize(type, nullptr);
    for (size_t k = 0; k < vector->size(); ++k) {
      fields->push_back({vector->data() + k * bytes, type});
    }
  }
}

// Returns the type table of member `number` of a union of options, `types`.
template <typename Enum>
const flatbuffers::TypeTable* MemberOf(const flatbuffers::TypeTable& types, Enum number) {
  const auto member = static_cast<size_t>(number);
  if (member >= types.num_elems) return nullptr;
  const int reference = types.type_codes[member].sequence_ref;
  return reference < 0 ? nullptr : types.type_refs[reference]();
}

std::vector<Field> FieldsOf(const objects::Operator& node) {
  std::vector<Field> fields;
  const auto add = [&fields](const void* options, const flatbuffers::TypeTable* types) {
    if (options == nullptr || types == nullptr) return;
    AddFields(const_cast<uint8_t*>(static_cast<const uint8_t*>(options)), *types, &fields);
  };
  add(node.builtin_options(),
      MemberOf(*objects::BuiltinOptionsTypeTable(), node.builtin_options_type()));
  add(node.builtin_options_2(),
      MemberOf(*objects::BuiltinOptions2TypeTable(), node.builtin_options_2_type()));
  return fields;
}

void Change(const Field& field, Random* random) {
  const size_t bytes = flatbuffers::InlineSize(field.type, nullptr);
  if (field.type == flatbuffers::ET_FLOAT) {
    const float value = random->Float();
    std::memcpy(field.at, &value, sizeof value);
  } else {
    const int64_t value = random->Int();
    std::memcpy(field.at, &value, bytes);  // fields are little-endian
  }
}

// Returns the option fields of all nodes of subgraph 0.
std::vector<Field> FieldsOfGraph(std::vector<uint8_t>* file) {
  std::vector<Field> fields;
  const objects::Model* model = objects::GetModel(file->data());
  for (const objects::Operator* node : *model->subgraphs()->Get(0)->operators()) {
    const std::vector<Field> more = FieldsOf(*node);
    fields.insert(fields.end(), more.begin(), more.end());
  }
  return fields;
}

}  // namespace

size_t CountOptionsFields(std::vector<uint8_t> file) { return FieldsOfGraph(&file).size(); }

void SetOptionsField(std::vector<uint8_t>* file, size_t field, int64_t number) {
  const Field at = FieldsOfGraph(file)[field];
  if (at.type == flatbuffers::ET_FLOAT) {
    const float value = number >= INT32_MAX - 1 ? 1e30f : static_cast<float>(number);
    std::memcpy(at.at, &value, sizeof value);
  } else {
    std::memcpy(at.at, &number, flatbuffers::InlineSize(at.type, nullptr));  // little-endian
  }
}

void MutateOptionsField(std::vector<uint8_t>* file, Random* random) {
  const objects::Model* model = objects::GetModel(file->data());
  if (model->subgraphs() == nullptr || model->subgraphs()->size() == 0) return;
  const auto* graph =
      model->subgraphs()->Get(static_cast<uint32_t>(random->Below(model->subgraphs()->size())));
  if (graph->operators() == nullptr || graph->operators()->size() == 0) return;
  const auto* node =
      graph->operators()->Get(static_cast<uint32_t>(random->Below(graph->operators()->size())));
  const std::vector<Field> fields = FieldsOf(*node);
  if (!fields.empty()) Change(random->Pick(fields), random);
}

}  // namespace deputy::fuzz
