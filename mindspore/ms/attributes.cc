// SPDX-License-Identifier: Apache-2.0
#include "mindspore/ms/attributes.h"

#include <flatbuffers/reflection_generated.h>

#include <algorithm>
#include <cstring>

#include "mindspore/schema/model_generated.h"
#include "ms_bfbs_generated.h"

namespace deputy::ms {
namespace {

using Fields = std::vector<const reflection::Field*>;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Table;

constexpr char kCustomEntries[] = "attr";

const reflection::Schema& Schema() {
  return *reflection::GetSchema(file::MetaGraphBinarySchema::data());
}

const reflection::Enum& Primitives() {
  return *Schema().enums()->LookupByKey("mindspore.schema.PrimitiveType");
}

// Returns the fields of a primitive's table in the order of their numbers.
Fields MakeFields(const reflection::EnumVal& primitive) {
  Fields fields;
  if (primitive.union_type() == nullptr || primitive.union_type()->index() < 0) return fields;
  const auto index = static_cast<uint32_t>(primitive.union_type()->index());
  const auto& all = *Schema().objects()->Get(index)->fields();
  fields.assign(all.begin(), all.end());
  std::sort(fields.begin(), fields.end(),
            [](const auto* a, const auto* b) { return a->id() < b->id(); });
  return fields;
}

// Returns the fields of a primitive; null if the number is not in the schema.
const Fields* FieldsOf(int primitive) {
  static const std::vector<Fields> tables = [] {
    std::vector<Fields> made;
    for (const auto* value : *Primitives().values()) made.push_back(MakeFields(*value));
    return made;
  }();
  if (primitive <= 0 || static_cast<size_t>(primitive) >= tables.size()) return nullptr;
  return &tables[static_cast<size_t>(primitive)];
}

// Calls `visit` with a value of the C++ type of a schema's scalar type.
template <typename Visit>
void WithScalar(reflection::BaseType type, Visit&& visit) {
  switch (type) {
    case reflection::Byte:
      return visit(int8_t{});
    case reflection::Bool:
    case reflection::UByte:
      return visit(uint8_t{});
    case reflection::Int:
      return visit(int32_t{});
    case reflection::Long:
      return visit(int64_t{});
    case reflection::Float:
      return visit(float{});
    default:
      return;
  }
}

Attribute::Kind KindOf(const reflection::Field& field) {
  reflection::BaseType type = field.type()->base_type();
  if (type == reflection::Vector) type = field.type()->element();
  switch (type) {
    case reflection::Bool:
      return Attribute::Kind::kBool;
    case reflection::Float:
      return Attribute::Kind::kFloat;
    case reflection::String:
      return Attribute::Kind::kBytes;
    default:
      return Attribute::Kind::kInt;
  }
}

// ---- Reading ------------------------------------------------------------------------------------

class AttributeReader {
 public:
  AttributeReader(const Table& table, size_t* budget) : table_(table), budget_(budget) {}

  bool Read(const reflection::Field& field, Attribute* out) {
    out->name = field.name()->str();
    out->kind = KindOf(field);
    switch (field.type()->base_type()) {
      case reflection::String:
        return ReadText(table_.GetPointer<const flatbuffers::String*>(field.offset()), out);
      case reflection::Vector:
        return ReadList(field, out);
      case reflection::Obj:  // the only table among the attributes
        return ReadRows(table_.GetPointer<const file::Vec2D*>(field.offset()), out);
      default:
        ReadScalar(field, out);
        return true;
    }
  }

  // Appends the entries of Custom.attr.
  bool ReadEntries(const file::Custom& custom, std::vector<Attribute>* out) {
    if (custom.attr() == nullptr) return true;
    for (const file::Attribute* entry : *custom.attr()) {
      Attribute& attribute = out->emplace_back();
      attribute.kind = Attribute::Kind::kBytes;
      attribute.is_entry = true;
      const size_t name_size = entry->name() == nullptr ? 0 : entry->name()->size();
      const size_t data_size = entry->data() == nullptr ? 0 : entry->data()->size();
      if (!Take(sizeof(Attribute) + name_size) || !Take(data_size)) return false;
      if (name_size > 0) attribute.name = entry->name()->str();
      attribute.present = entry->data() != nullptr;
      if (data_size > 0) {
        attribute.bytes.assign(reinterpret_cast<const char*>(entry->data()->data()), data_size);
      }
    }
    return true;
  }

 private:
  bool Take(size_t bytes) {
    if (bytes > *budget_) return false;
    *budget_ -= bytes;
    return true;
  }

  // The verifier does not check the alignment of a list's elements, so they are copied.
  template <typename T>
  static T Load(const uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  void ReadScalar(const reflection::Field& field, Attribute* out) {
    const uint8_t* at = table_.GetAddressOf(field.offset());
    if (out->kind == Attribute::Kind::kFloat) {
      out->floats = {at == nullptr ? static_cast<float>(field.default_real()) : Load<float>(at)};
      return;
    }
    out->ints = {field.default_integer()};
    if (at == nullptr) return;
    WithScalar(field.type()->base_type(), [&](auto scalar) {
      out->ints = {static_cast<int64_t>(Load<decltype(scalar)>(at))};
    });
    if (out->kind == Attribute::Kind::kBool) out->ints[0] = out->ints[0] != 0 ? 1 : 0;
  }

  bool ReadText(const flatbuffers::String* text, Attribute* out) {
    out->present = text != nullptr;
    if (text == nullptr) return true;
    if (!Take(text->size())) return false;
    out->bytes = text->str();
    return true;
  }

  bool ReadList(const reflection::Field& field, Attribute* out) {
    // The element type does not matter for the address and the count.
    const auto* list = table_.GetPointer<const flatbuffers::Vector<uint8_t>*>(field.offset());
    out->present = list != nullptr;
    return list == nullptr || ReadNumbers(field.type()->element(), list->data(), list->size(), out);
  }

  bool ReadNumbers(reflection::BaseType type, const uint8_t* data, size_t count, Attribute* out) {
    if (!Take(count * sizeof(int64_t))) return false;
    WithScalar(type, [&](auto scalar) {
      using T = decltype(scalar);
      for (size_t i = 0; i < count; ++i) {
        const T value = Load<T>(data + i * sizeof(T));
        if constexpr (std::is_same_v<T, float>) {
          out->floats.push_back(value);
        } else {
          out->ints.push_back(value);
        }
      }
    });
    return true;
  }

  bool ReadRows(const file::Vec2D* table, Attribute* out) {
    out->present = table != nullptr && table->data() != nullptr;
    if (!out->present) return true;
    for (const file::Vec* row : *table->data()) {
      const auto* list = row->data();
      const size_t count = list == nullptr ? 0 : list->size();
      if (!Take(sizeof(uint32_t)) ||
          (count > 0 && !ReadNumbers(reflection::Long, list->Data(), count, out))) {
        return false;
      }
      out->rows.push_back(static_cast<uint32_t>(count));
    }
    return true;
  }

  const Table& table_;
  size_t* const budget_;
};

// ---- Building -----------------------------------------------------------------------------------

Offset<void> BuildRows(FlatBufferBuilder* fbb, const Attribute& attribute) {
  std::vector<Offset<file::Vec>> rows;
  size_t begin = 0;
  for (const uint32_t count : attribute.rows) {
    rows.push_back(file::CreateVec(*fbb, fbb->CreateVector(attribute.ints.data() + begin, count)));
    begin += count;
  }
  return file::CreateVec2D(*fbb, fbb->CreateVector(rows)).Union();
}

Offset<void> BuildList(FlatBufferBuilder* fbb, reflection::BaseType element,
                       const Attribute& attribute) {
  if (element == reflection::Float) return fbb->CreateVector(attribute.floats).Union();
  if (element == reflection::Long) return fbb->CreateVector(attribute.ints).Union();
  const std::vector<int32_t> ints(attribute.ints.begin(), attribute.ints.end());
  return fbb->CreateVector(ints).Union();
}

// Builds a list, string or Vec2D; returns a null offset for scalars and absent attributes.
Offset<void> BuildReference(FlatBufferBuilder* fbb, const reflection::Field& field,
                            const Attribute& attribute) {
  if (!attribute.present) return 0;
  switch (field.type()->base_type()) {
    case reflection::String:
      return fbb->CreateString(attribute.bytes).Union();
    case reflection::Vector:
      return BuildList(fbb, field.type()->element(), attribute);
    case reflection::Obj:
      return BuildRows(fbb, attribute);
    default:
      return 0;
  }
}

Offset<void> BuildEntries(FlatBufferBuilder* fbb, const std::vector<Attribute>& attributes) {
  std::vector<Offset<file::Attribute>> entries;
  for (const Attribute& attribute : attributes) {
    if (!attribute.is_entry) continue;
    const auto name = fbb->CreateString(attribute.name);
    const auto* first = reinterpret_cast<const uint8_t*>(attribute.bytes.data());
    Offset<flatbuffers::Vector<uint8_t>> data;
    if (attribute.present) data = fbb->CreateVector(first, attribute.bytes.size());
    entries.push_back(file::CreateAttribute(*fbb, name, data));
  }
  return entries.empty() ? Offset<void>() : fbb->CreateVector(entries).Union();
}

void AddScalar(FlatBufferBuilder* fbb, const reflection::Field& field, const Attribute& attribute) {
  WithScalar(field.type()->base_type(), [&](auto scalar) {
    using T = decltype(scalar);
    if constexpr (std::is_same_v<T, float>) {
      if (attribute.floats.size() != 1) return;
      fbb->AddElement(field.offset(), attribute.floats[0],
                      static_cast<float>(field.default_real()));
    } else {
      if (attribute.ints.size() != 1) return;
      fbb->AddElement(field.offset(), static_cast<T>(attribute.ints[0]),
                      static_cast<T>(field.default_integer()));
    }
  });
}

const Attribute* Find(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto found = std::find_if(attributes.begin(), attributes.end(), [name](const Attribute& a) {
    return !a.is_entry && a.name == name;
  });
  return found == attributes.end() ? nullptr : &*found;
}

}  // namespace

bool ReadAttributes(const file::Primitive& primitive, size_t* budget,
                    std::vector<Attribute>* out_attributes) {
  const Fields* fields = FieldsOf(primitive.value_type());
  const auto* table = static_cast<const Table*>(primitive.value());
  if (fields == nullptr || table == nullptr) return false;
  AttributeReader reader(*table, budget);
  for (const reflection::Field* field : *fields) {
    if (field->name()->string_view() == kCustomEntries) continue;
    if (!reader.Read(*field, &out_attributes->emplace_back())) return false;
  }
  const file::Custom* custom = primitive.value_as_Custom();
  return custom == nullptr || reader.ReadEntries(*custom, out_attributes);
}

Offset<file::Primitive> WritePrimitive(int type, const std::vector<Attribute>& attributes,
                                       FlatBufferBuilder* fbb) {
  const Fields& fields = *FieldsOf(type);
  std::vector<Offset<void>> references;
  for (const reflection::Field* field : fields) {
    const Attribute* attribute = Find(attributes, field->name()->string_view());
    if (field->name()->string_view() == kCustomEntries) {
      references.push_back(BuildEntries(fbb, attributes));
    } else {
      references.push_back(attribute == nullptr ? Offset<void>()
                                                : BuildReference(fbb, *field, *attribute));
    }
  }
  const flatbuffers::uoffset_t start = fbb->StartTable();
  for (size_t i = 0; i < fields.size(); ++i) {
    const Attribute* attribute = Find(attributes, fields[i]->name()->string_view());
    fbb->AddOffset(fields[i]->offset(), references[i]);  // adds nothing if it is null
    if (attribute != nullptr) AddScalar(fbb, *fields[i], *attribute);
  }
  const Offset<void> value(fbb->EndTable(start));
  return file::CreatePrimitive(*fbb, static_cast<file::PrimitiveType>(type), value);
}

std::vector<uint8_t> BuildPrimitive(int type, const std::vector<Attribute>& attributes) {
  FlatBufferBuilder fbb;
  fbb.Finish(WritePrimitive(type, attributes, &fbb));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace deputy::ms
