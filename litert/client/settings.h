// SPDX-License-Identifier: Apache-2.0
//
// Objects with settings, which are written as a text with a line `key = value` for each setting
// that has a value.
#ifndef DEPUTY_LITERT_CLIENT_SETTINGS_H_
#define DEPUTY_LITERT_CLIENT_SETTINGS_H_

#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "litert/c/internal/litert_options_helper.h"
#include "litert/c/litert_common.h"

namespace deputy::litert_client {

// Calls a function that returns a status; C callers must not see its exceptions.
template <typename Function>
LiteRtStatus Guard(Function&& function) noexcept {
  try {
    return function();
  } catch (...) {
    return kLiteRtStatusErrorMemoryAllocationFailure;
  }
}

template <typename Options>
LiteRtStatus Create(Options** out_options) {
  if (out_options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *out_options = new (std::nothrow) Options();
  return *out_options == nullptr ? kLiteRtStatusErrorMemoryAllocationFailure : kLiteRtStatusOk;
}

// Sets a field.
template <typename Options, typename Field, typename Value>
LiteRtStatus Set(Options* options, Field Options::*field, const Value& value) {
  if (options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    options->*field = value;
    return kLiteRtStatusOk;
  });
}

// Sets a text, which must not be null.
template <typename Options, typename Field>
LiteRtStatus Set(Options* options, Field Options::*field, const char* text) {
  if (text == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Set(options, field, std::string(text));
}

// Stores the value of a field; kLiteRtStatusErrorNotFound if it has none.
template <typename Options, typename Value, typename Out>
LiteRtStatus Get(const Options* options, std::optional<Value> Options::*field, Out* out_value) {
  if (options == nullptr || out_value == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const std::optional<Value>& value = options->*field;
  if (!value) return kLiteRtStatusErrorNotFound;
  if constexpr (std::is_same_v<Value, std::string>) {
    *out_value = value->c_str();
  } else {
    *out_value = *value;
  }
  return kLiteRtStatusOk;
}

// Stores the value of a field, or a default.
template <typename Options, typename Value>
LiteRtStatus GetOr(const Options* options, std::optional<Value> Options::*field,
                   std::common_type_t<Value> fallback, Value* out_value) {
  if (options == nullptr || out_value == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *out_value = (options->*field).value_or(fallback);
  return kLiteRtStatusOk;
}

// The text of an object.
class SettingsText {
 public:
  void Add(std::string_view key, const std::optional<bool>& value) {
    if (value) AddLine(key, *value ? "true" : "false");
  }
  void Add(std::string_view key, const std::optional<std::string>& value) {
    if (value) AddLine(key, '"' + *value + '"');
  }
  void Add(std::string_view key, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& each : values) list += (list.empty() ? "\"" : ", \"") + each + '"';
    if (!values.empty()) AddLine(key, '[' + list + ']');
  }
  // Numbers, and enumerators as numbers.
  template <typename Value>
  void Add(std::string_view key, const std::optional<Value>& value) {
    if (!value) return;
    if constexpr (std::is_enum_v<Value>) {
      AddLine(key, std::to_string(static_cast<int>(*value)));
    } else {
      AddLine(key, std::to_string(*value));
    }
  }

  void AddLine(std::string_view key, std::string_view value) {
    text_.append(key).append(" = ").append(value).append("\n");
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Stores the arguments of LiteRtCreateOpaqueOptions. `write(text)` adds the settings.
template <typename Options, typename Write>
LiteRtStatus Deliver(const Options* options, const char* identifier, const Write& write,
                     const char** out_identifier, void** out_payload, void (**out_deleter)(void*)) {
  if (options == nullptr || out_identifier == nullptr || out_payload == nullptr ||
      out_deleter == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    SettingsText text;
    write(&text);
    litert::internal::MakeCStringPayload(text.text(), out_payload, out_deleter);
    *out_identifier = identifier;
    return kLiteRtStatusOk;
  });
}

}  // namespace deputy::litert_client

#endif  // DEPUTY_LITERT_CLIENT_SETTINGS_H_
