// SPDX-License-Identifier: Apache-2.0
//
// A node's operator as a MindSpore primitive: a FlatBuffer with MindSpore's schema, and attributes
// by name that are read from it. A primitive is derived from the options of TensorFlow Lite's
// operator, or copied from a .ms file.
#ifndef DEPUTY_MINDSPORE_SRC_PRIMITIVE_H_
#define DEPUTY_MINDSPORE_SRC_PRIMITIVE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deputy/common.h"
#include "mindspore/include/delegate_c.h"
#include "mindspore/ms/attributes.h"

namespace deputy::ms_api {

// Returns a name such as "Conv2DFusion" for CONV_2D; "Custom" if the operator has no primitive.
const char* TypeNameOf(int builtin_code);

}  // namespace deputy::ms_api

struct DeputyMSPrimitive {
  // Derives the primitive from the node's options and the shapes of its tensors.
  DeputyMSPrimitive(const TfLiteContext& context, const TfLiteNode& node,
                    const TfLiteRegistration& registration);

  // Returns a primitive for the same operator with the type and attributes of `from`, which must
  // have passed FlatBuffers' verifier. Subtracts the bytes of lists and strings from `budget`.
  // Returns null if that is exceeded or the schema does not have the type.
  std::unique_ptr<DeputyMSPrimitive> WithContents(const mindspore::schema::Primitive& from,
                                                  size_t* budget) const;

  void Add(const char* name, std::vector<int64_t> values);
  void AddInt(const char* name, int64_t value) { Add(name, {value}); }
  void AddBool(const char* name, bool value);
  void AddFloat(const char* name, float value);
  // Adds an option of TensorFlow Lite's operator for which MindSpore's primitive has no attribute.
  void AddExtraInt(const char* name, int64_t value);
  void AddExtraFloat(const char* name, float value);
  // Returns an attribute; null if none has this name and kind.
  const deputy::ms::Attribute* Find(const char* name, deputy::ms::Attribute::Kind kind) const;

  int32_t type = 0;
  const char* type_name = "";
  int32_t builtin_code = 0;
  int32_t version = 0;
  std::string custom_name;
  std::vector<uint8_t> buffer;  // root: mindspore::schema::Primitive
  std::vector<deputy::ms::Attribute> attributes;

 private:
  DeputyMSPrimitive() = default;
  void SetType(int32_t number);
  void AddCustomAttributes(const TfLiteNode& node);
  // Builds `buffer` from `attributes`, and reads `attributes` back from it, followed by `extra_`.
  void Finish();

  std::vector<deputy::ms::Attribute> extra_;
};

#endif  // DEPUTY_MINDSPORE_SRC_PRIMITIVE_H_
