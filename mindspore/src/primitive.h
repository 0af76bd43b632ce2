// SPDX-License-Identifier: Apache-2.0
//
// A node's operator as a MindSpore primitive: value and name in MindSpore's schema, and attributes
// by name, derived from TensorFlow Lite's options.
#ifndef DEPUTY_MINDSPORE_SRC_PRIMITIVE_H_
#define DEPUTY_MINDSPORE_SRC_PRIMITIVE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "deputy/common.h"
#include "mindspore/include/delegate_c.h"

namespace deputy::ms_api {

struct Attribute {
  const char* name;
  DeputyMSAttributeKind kind;
  std::vector<int64_t> ints;  // values of integers and booleans
  float number = 0;
  std::string bytes;
};

// Returns a name such as "Conv2DFusion" for CONV_2D; "Custom" if MindSpore has no such operator.
const char* TypeNameOf(int builtin_code);

}  // namespace deputy::ms_api

// Implementation of DeputyMSPrimitive.
struct DeputyMSPrimitive {
  // Reads the node's options, and the shapes of its tensors.
  DeputyMSPrimitive(const TfLiteContext& context, const TfLiteNode& node,
                    const TfLiteRegistration& registration);

  void Add(const char* name, std::vector<int64_t> values);
  void AddInt(const char* name, int64_t value) { Add(name, {value}); }
  void AddBool(const char* name, bool value);
  void AddFloat(const char* name, float value);
  // Returns an attribute; null if none has this name and kind.
  const deputy::ms_api::Attribute* Find(const char* name, DeputyMSAttributeKind kind) const;

  int32_t type = 0;
  const char* type_name = "";
  int32_t builtin_code = 0;
  int32_t version = 0;
  std::string custom_name;
  std::vector<deputy::ms_api::Attribute> attributes;
};

#endif  // DEPUTY_MINDSPORE_SRC_PRIMITIVE_H_
