// SPDX-License-Identifier: Apache-2.0
//
// A node's operator as MindSpore describes it: number and name in its schema, and attributes by
// name, made from TensorFlow Lite's options.
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
  std::vector<int64_t> ints;  // of integers and bools
  float number = 0;
  std::string bytes;
};

// "Conv2DFusion" for CONV_2D; "Custom" for what MindSpore does not have.
const char* TypeNameOf(int builtin_code);

}  // namespace deputy::ms_api

// What a DeputyMSPrimitive* points to.
struct DeputyMSPrimitive {
  // Reads the node's options. Tensors are read for their shapes.
  DeputyMSPrimitive(const TfLiteContext& context, const TfLiteNode& node,
                    const TfLiteRegistration& registration);

  void Add(const char* name, std::vector<int64_t> values);
  void AddInt(const char* name, int64_t value) { Add(name, {value}); }
  void AddBool(const char* name, bool value);
  void AddFloat(const char* name, float value);
  // Null if there is none of that name and kind.
  const deputy::ms_api::Attribute* Find(const char* name, DeputyMSAttributeKind kind) const;

  int32_t type = 0;
  const char* type_name = "";
  int32_t builtin_code = 0;
  int32_t version = 0;
  std::string custom_name;
  std::vector<deputy::ms_api::Attribute> attributes;
};

#endif  // DEPUTY_MINDSPORE_SRC_PRIMITIVE_H_
