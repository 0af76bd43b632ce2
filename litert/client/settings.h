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
#include "litert/client/setting_reader.h"

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

// Stores the address of a text, or a default.
template <typename Options>
LiteRtStatus GetTextOr(const Options* options, std::optional<std::string> Options::*field,
                       const char* fallback, const char** out_text) {
  if (options == nullptr || out_text == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *out_text = options->*field ? (options->*field)->c_str() : fallback;
  return kLiteRtStatusOk;
}

// Sets a text; null removes it.
template <typename Options>
LiteRtStatus SetOrClear(Options* options, std::optional<std::string> Options::*field,
                        const char* text) {
  return text == nullptr ? Set(options, field, std::nullopt) : Set(options, field, text);
}

// Sets a text, which must not be null; an empty one removes it.
template <typename Options>
LiteRtStatus SetUnlessEmpty(Options* options, std::optional<std::string> Options::*field,
                            const char* text) {
  if (text == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return SetOrClear(options, field, *text == '\0' ? nullptr : text);
}

// The following functions change and enumerate a list.
template <typename Options>
LiteRtStatus AddElement(Options* options, std::vector<std::string> Options::*field,
                        const char* text) {
  if (options == nullptr || text == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    (options->*field).emplace_back(text);
    return kLiteRtStatusOk;
  });
}

template <typename Options>
LiteRtStatus CountElements(const Options* options, std::vector<std::string> Options::*field,
                           int* out_count) {
  if (options == nullptr || out_count == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *out_count = static_cast<int>((options->*field).size());
  return kLiteRtStatusOk;
}

template <typename Options>
LiteRtStatus GetElement(const Options* options, std::vector<std::string> Options::*field, int index,
                        const char** out_text) {
  if (options == nullptr || out_text == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const std::vector<std::string>& list = options->*field;
  if (static_cast<size_t>(index) >= list.size()) return kLiteRtStatusErrorIndexOOB;
  *out_text = list[static_cast<size_t>(index)].c_str();
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

  // A line for each entry; its key begins with `prefix`.
  template <typename Value>
  void AddEach(std::string_view prefix, const Entries<Value>& entries) {
    for (const auto& [name, value] : entries) {
      Add(std::string(prefix) + name, std::optional<Value>(value));
    }
  }

  void AddLine(std::string_view key, std::string_view value) {
    text_.append(key).append(" = ").append(value).append("\n");
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Stores the arguments of LiteRtCreateOpaqueOptions. `Options::Visit(options, visitor)` calls
// `visitor.Add(key, field)` for each field.
template <typename Options>
LiteRtStatus Deliver(const Options* options, const char* identifier, const char** out_identifier,
                     void** out_payload, void (**out_deleter)(void*)) {
  if (options == nullptr || out_identifier == nullptr || out_payload == nullptr ||
      out_deleter == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    SettingsText text;
    Options::Visit(*options, text);
    litert::internal::MakeCStringPayload(text.text(), out_payload, out_deleter);
    *out_identifier = identifier;
    return kLiteRtStatusOk;
  });
}

// Creates an object with the settings of a text, where null is an empty text.
template <typename Options>
LiteRtStatus CreateFromText(const char* text, Options** out_options) {
  const LiteRtStatus created = Create(out_options);
  if (created != kLiteRtStatusOk) return created;
  const LiteRtStatus status = Guard([&] {
    bool is_valid = true;
    ForEachSetting(text == nullptr ? "" : text, [&](std::string_view key, std::string_view value) {
      SettingReader reader(key, value);
      Options::Visit(**out_options, reader);
      is_valid = is_valid && reader.is_valid();
    });
    return is_valid ? kLiteRtStatusOk : kLiteRtStatusErrorInvalidArgument;
  });
  if (status == kLiteRtStatusOk) return kLiteRtStatusOk;
  delete *out_options;
  *out_options = nullptr;
  return status;
}

}  // namespace deputy::litert_client

#endif  // DEPUTY_LITERT_CLIENT_SETTINGS_H_
