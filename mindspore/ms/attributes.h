// SPDX-License-Identifier: Apache-2.0
//
// Primitives through the binary schema of the .ms format: reads all attributes by name, copies a
// primitive, and builds one from attributes. ms.fbs is the only list of attributes.
#ifndef DEPUTY_MINDSPORE_MS_ATTRIBUTES_H_
#define DEPUTY_MINDSPORE_MS_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindspore/ms/read.h"

namespace deputy::ms {

// An attribute with its values. Enumerations are integers.
struct Attribute {
  enum class Kind { kInt, kFloat, kBool, kBytes };

  std::string name = {};
  Kind kind = Kind::kInt;
  std::vector<int64_t> ints = {};  // of kInt and kBool
  std::vector<float> floats = {};
  std::string bytes = {};
  std::vector<uint32_t> rows = {};  // of a Vec2D: the number of `ints` in each row
  bool present = true;              // false: the primitive does not contain this list or string
  bool is_entry = false;            // an entry of Custom.attr, of kind kBytes
};

// Returns the number of the primitive with this name in the schema; 0 if there is none.
int PrimitiveNumber(std::string_view name);

// Returns true if the primitive has an attribute of this name in the schema.
bool HasAttribute(int primitive, std::string_view name);

// Reads all attributes of a primitive in the order of their field numbers, with the defaults of
// those that it does not contain. Entries of Custom.attr follow. The primitive must have passed
// FlatBuffers' verifier. Returns false if its type is not in the schema or it refers to more than
// `max_bytes` bytes of lists and strings.
bool ReadAttributes(const file::Primitive& primitive, size_t max_bytes,
                    std::vector<Attribute>* out_attributes);

// Returns a FlatBuffer whose root is a Primitive with these attributes, all of them aligned.
// Ignores attributes that are not in the schema, except for Custom: those of kind kBytes become
// `attr`.
std::vector<uint8_t> BuildPrimitive(int primitive, const std::vector<Attribute>& attributes);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_ATTRIBUTES_H_
