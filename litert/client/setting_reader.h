// SPDX-License-Identifier: Apache-2.0
//
// Reads the settings of a text: a line `key = value` for each one, and comments that begin with #.
#ifndef DEPUTY_LITERT_CLIENT_SETTING_READER_H_
#define DEPUTY_LITERT_CLIENT_SETTING_READER_H_

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace deputy::litert_client {

// Calls `read(key, value)` for each line. Quotes around a value are removed.
void ForEachSetting(std::string_view text,
                    const std::function<void(std::string_view key, std::string_view value)>& read);

// Reads a list ["a", "b"]; no value if it is malformed.
std::optional<std::vector<std::string>> ReadList(std::string_view text);

// Settings with names of the client.
template <typename Value>
using Entries = std::vector<std::pair<std::string, Value>>;

// Stores the value of one line in the field with its key. Other keys have no effect.
class SettingReader {
 public:
  SettingReader(std::string_view key, std::string_view value) : key_(key), value_(value) {}

  bool is_valid() const { return is_valid_; }

  void Add(std::string_view key, std::optional<bool>& field) {
    if (key != key_) return;
    is_valid_ = value_ == "true" || value_ == "false";
    field = value_ == "true";
  }
  void Add(std::string_view key, std::optional<std::string>& field) {
    if (key == key_) field = std::string(value_);
  }
  void Add(std::string_view key, std::vector<std::string>& field) {
    if (key != key_) return;
    const std::optional<std::vector<std::string>> list = ReadList(value_);
    is_valid_ = list.has_value();
    if (list) field = *list;
  }
  // Numbers, and enumerators as numbers.
  template <typename Value>
  void Add(std::string_view key, std::optional<Value>& field) {
    if (key != key_) return;
    using Number = std::conditional_t<std::is_enum_v<Value>, int, Value>;
    Number number = 0;
    const char* const end = value_.data() + value_.size();
    const auto [position, error] = std::from_chars(value_.data(), end, number);
    is_valid_ = error == std::errc() && position == end;
    field = static_cast<Value>(number);
  }
  // Appends an entry if the key begins with `prefix`.
  template <typename Value>
  void AddEach(std::string_view prefix, Entries<Value>& entries) {
    if (!key_.starts_with(prefix)) return;
    std::optional<Value> value;
    Add(key_, value);
    if (value) entries.emplace_back(key_.substr(prefix.size()), *value);
  }

 private:
  const std::string_view key_, value_;
  bool is_valid_ = true;
};

}  // namespace deputy::litert_client

#endif  // DEPUTY_LITERT_CLIENT_SETTING_READER_H_
