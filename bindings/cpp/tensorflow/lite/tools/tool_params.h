// SPDX-License-Identifier: Apache-2.0
//
// Named parameters of command-line tools, of type int32_t, float, bool or std::string. Access with
// another type, or to a parameter that does not exist, aborts with a message.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_TOOL_PARAMS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_TOOL_PARAMS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "tensorflow/lite/tools/logging_wrapper.h"

namespace tflite {
namespace tools {

template <typename T>
class TypedToolParam;

// A value of any of the types, and its position in the command line.
class ToolParam {
 protected:
  enum class ParamType { TYPE_INT32, TYPE_FLOAT, TYPE_BOOL, TYPE_STRING };

  template <typename T>
  static ParamType GetValueType() {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      return ParamType::TYPE_INT32;
    } else if constexpr (std::is_same_v<T, float>) {
      return ParamType::TYPE_FLOAT;
    } else if constexpr (std::is_same_v<T, bool>) {
      return ParamType::TYPE_BOOL;
    } else {
      static_assert(std::is_same_v<T, std::string>, "Parameters have one of four types.");
      return ParamType::TYPE_STRING;
    }
  }

 public:
  template <typename T>
  static std::unique_ptr<ToolParam> Create(const T& default_value, int position = 0) {
    auto param = std::make_unique<TypedToolParam<T>>(default_value);
    param->SetPosition(position);
    return param;
  }

  explicit ToolParam(ParamType type) : type_(type) {}
  virtual ~ToolParam() = default;

  template <typename T>
  TypedToolParam<T>* AsTyped() {
    CheckType(GetValueType<T>());
    return static_cast<TypedToolParam<T>*>(this);
  }
  template <typename T>
  const TypedToolParam<T>* AsConstTyped() const {
    CheckType(GetValueType<T>());
    return static_cast<const TypedToolParam<T>*>(this);
  }

  // True after a call of Set, also with the default value.
  bool HasValueSet() const { return has_value_set_; }

  int GetPosition() const { return position_; }
  void SetPosition(int position) { position_ = position; }

  // Copies value and position.
  virtual void Set(const ToolParam& /*other*/) {}
  virtual std::unique_ptr<ToolParam> Clone() const = 0;

 protected:
  bool has_value_set_ = false;
  int position_ = 0;

 private:
  void CheckType(ParamType type) const {
    using logging::LoggingWrapper;
    LoggingWrapper(LoggingWrapper::LogSeverity::FATAL, type != type_).Stream()
        << "Type mismatch while accessing parameter.";
  }

  const ParamType type_;
};

template <typename T>
class TypedToolParam : public ToolParam {
 public:
  explicit TypedToolParam(const T& value) : ToolParam(GetValueType<T>()), value_(value) {}

  const T& Get() const { return value_; }

  void Set(const T& value) {
    value_ = value;
    has_value_set_ = true;
  }
  void Set(const ToolParam& other) override {
    Set(other.AsConstTyped<T>()->Get());
    SetPosition(other.GetPosition());
  }

  std::unique_ptr<ToolParam> Clone() const override { return Create<T>(value_, position_); }

 private:
  T value_;
};

class ToolParams {
 public:
  // Adds or replaces a parameter.
  void AddParam(const std::string& name, std::unique_ptr<ToolParam> value) {
    params_[name] = std::move(value);
  }
  void RemoveParam(const std::string& name) { params_.erase(name); }
  bool HasParam(const std::string& name) const { return params_.count(name) > 0; }
  bool Empty() const { return params_.empty(); }

  // Null if there is no such parameter.
  const ToolParam* GetParam(const std::string& name) const {
    const auto found = params_.find(name);
    return found == params_.end() ? nullptr : found->second.get();
  }

  template <typename T>
  void Set(const std::string& name, const T& value, int position = 0) {
    TypedToolParam<T>* param = Existing(name)->AsTyped<T>();
    param->Set(value);
    param->SetPosition(position);
  }
  template <typename T>
  bool HasValueSet(const std::string& name) const {
    return Existing(name)->AsConstTyped<T>()->HasValueSet();
  }
  template <typename T>
  int GetPosition(const std::string& name) const {
    return Existing(name)->AsConstTyped<T>()->GetPosition();
  }
  template <typename T>
  T Get(const std::string& name) const {
    return Existing(name)->AsConstTyped<T>()->Get();
  }

  // Copies the values of the parameters that both objects have.
  void Set(const ToolParams& other) {
    for (auto& [name, param] : params_) {
      const ToolParam* value = other.GetParam(name);
      if (value != nullptr) param->Set(*value);
    }
  }

  // Adds copies of parameters that are missing here; sets the others if `overwrite` is true.
  void Merge(const ToolParams& other, bool overwrite = false) {
    for (const auto& [name, param] : other.params_) {
      if (!HasParam(name)) {
        AddParam(name, param->Clone());
      } else if (overwrite) {
        params_[name]->Set(*param);
      }
    }
  }

 private:
  ToolParam* Existing(const std::string& name) const {
    using logging::LoggingWrapper;
    const auto found = params_.find(name);
    LoggingWrapper(LoggingWrapper::LogSeverity::FATAL, found == params_.end()).Stream()
        << name << " was not found.";
    return found->second.get();
  }

  std::unordered_map<std::string, std::unique_ptr<ToolParam>> params_;
};

}  // namespace tools
}  // namespace tflite

// Prints "description: [value]" if `verbose` is true or the value was set. Needs tools/logging.h.
#define LOG_TOOL_PARAM(params, type, name, description, verbose)      \
  do {                                                                \
    TFLITE_MAY_LOG(INFO, (verbose) || params.HasValueSet<type>(name)) \
        << description << ": [" << params.Get<type>(name) << "]";     \
  } while (0)

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_TOOL_PARAMS_H_
