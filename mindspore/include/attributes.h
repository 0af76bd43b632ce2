// SPDX-License-Identifier: Apache-2.0
//
// Deputy extension: the attributes of a primitive by name, for dumps and for delegates that handle
// all primitives in the same way. schema.h has the typed accessors.
#ifndef DEPUTY_MINDSPORE_INCLUDE_ATTRIBUTES_H_
#define DEPUTY_MINDSPORE_INCLUDE_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "delegate_c.h"

namespace mindspore {

// Refers to a primitive, and is valid as long as the primitive: during the call that presents the
// graph to the delegate (Delegate::Build, Delegate::Explain). A null primitive has no attributes.
class Attributes {
 public:
  explicit Attributes(const DeputyMSPrimitive* primitive) : primitive_(primitive) {}

  // Value and name of the primitive's type in MindSpore's schema: 35 and "Conv2DFusion".
  int type() const { return DeputyMSPrimitiveType(primitive_); }
  std::string type_name() const { return DeputyMSPrimitiveTypeName(primitive_); }
  // Code, version and custom name of the operator in TensorFlow Lite's schema.
  int builtin_code() const { return DeputyMSPrimitiveBuiltinCode(primitive_); }
  int version() const { return DeputyMSPrimitiveVersion(primitive_); }
  std::string custom_name() const { return DeputyMSPrimitiveCustomName(primitive_); }

  // Returns the names of the attributes, among them those that the model does not set.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < DeputyMSPrimitiveAttributeCount(primitive_); ++i) {
      names.emplace_back(DeputyMSPrimitiveAttributeName(primitive_, i));
    }
    return names;
  }
  bool has(const char* name) const {
    for (const std::string& attribute : names()) {
      if (attribute == name) return true;
    }
    return false;
  }
  // Return an attribute. Enumerations are integers, strings are bytes. If no attribute has this
  // name and kind, the result is `default_value`, or empty for a list or string. GetInt and
  // GetFloat also return `default_value` for a list that does not have exactly one value.
  int64_t GetInt(const char* name, int64_t default_value = 0) const {
    DeputyMSPrimitiveGetInt(primitive_, name, &default_value);
    return default_value;
  }
  float GetFloat(const char* name, float default_value = 0) const {
    DeputyMSPrimitiveGetFloat(primitive_, name, &default_value);
    return default_value;
  }
  std::vector<float> GetFloats(const char* name) const {
    const float* values = nullptr;
    size_t count = 0;
    DeputyMSPrimitiveGetFloats(primitive_, name, &values, &count);
    return std::vector<float>(values, values + count);
  }
  bool GetBool(const char* name, bool default_value = false) const {
    DeputyMSPrimitiveGetBool(primitive_, name, &default_value);
    return default_value;
  }
  std::vector<int64_t> GetInts(const char* name) const {
    const int64_t* values = nullptr;
    size_t count = 0;
    DeputyMSPrimitiveGetInts(primitive_, name, &values, &count);
    return std::vector<int64_t>(values, values + count);
  }
  std::string GetBytes(const char* name) const {
    const void* bytes = nullptr;
    size_t size = 0;
    DeputyMSPrimitiveGetBytes(primitive_, name, &bytes, &size);
    return std::string(static_cast<const char*>(bytes), size);
  }

 private:
  const DeputyMSPrimitive* primitive_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_ATTRIBUTES_H_
