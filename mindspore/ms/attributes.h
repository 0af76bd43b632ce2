// SPDX-License-Identifier: Apache-2.0
//
// Primitives through the binary schema of the .ms format: reads all attributes by name, copies a
// primitive, and builds one from attributes. ms.fbs is the only list of attributes.
#ifndef DEPUTY_MINDSPORE_MS_ATTRIBUTES_H_
#define DEPUTY_MINDSPORE_MS_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flatbuffers/flatbuffer_builder.h"
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

// Reads all attributes of a primitive in the order of their field numbers, with the defaults of
// those that it does not contain. Entries of Custom.attr follow. The primitive must have passed
// FlatBuffers' verifier. Subtracts the memory of lists, strings and entries from `budget`. Returns
// false if that is exceeded, if the primitive's type is not in the schema, or if it has no value.
bool ReadAttributes(const file::Primitive& primitive, size_t* budget,
                    std::vector<Attribute>* out_attributes);

// Writes a Primitive of a type in the schema with these attributes, whose values are aligned also
// if those of the source are not. Attributes that the type does not have are ignored; those that
// are not given have their defaults.
flatbuffers::Offset<file::Primitive> WritePrimitive(int type,
                                                    const std::vector<Attribute>& attributes,
                                                    flatbuffers::FlatBufferBuilder* fbb);

// Returns a FlatBuffer whose root is such a Primitive.
std::vector<uint8_t> BuildPrimitive(int type, const std::vector<Attribute>& attributes);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_ATTRIBUTES_H_
