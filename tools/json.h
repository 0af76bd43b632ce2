// SPDX-License-Identifier: Apache-2.0
//
// The JSON documents of the command: a plain tree whose members keep their insertion order.
// nlohmann/json writes the text (json.cc); including it here would add seconds of compile time to
// every file that uses the tree.
#ifndef DEPUTY_TOOLS_JSON_H_
#define DEPUTY_TOOLS_JSON_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace deputy::tools {

class Json {
 public:
  struct Member;

  Json();
  Json(std::nullptr_t);
  Json(bool value);
  Json(double value);
  Json(const char* text);
  Json(std::string text);
  Json(std::initializer_list<Member> members);  // {{"name", value}, …}: an object
  template <std::integral T>
  Json(T value) : kind_(Kind::kInteger), integer_(static_cast<int64_t>(value)) {}
  template <typename T>
  Json(const std::vector<T>& elements) : kind_(Kind::kArray) {
    for (const T& element : elements) elements_.push_back(Json(element));
  }
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json object();

  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_number() const { return kind_ == Kind::kInteger || kind_ == Kind::kDouble; }
  bool is_object() const { return kind_ == Kind::kObject; }

  // Returns the value as a bool, a number, a std::string or, for an array, a vector. Bools and
  // numbers convert to each other, except a floating-point number to a bool; the result is zero or
  // empty if the kind differs otherwise.
  template <typename T>
  T get() const {
    if constexpr (std::same_as<T, bool>) {
      return boolean();
    } else if constexpr (std::integral<T>) {
      return static_cast<T>(integer());
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(number());
    } else if constexpr (std::same_as<T, std::string>) {
      return text_;
    } else {
      return T(begin(), end());
    }
  }
  template <typename T>
  requires std::integral<T> || std::floating_point<T> || std::same_as<T, std::string>
  operator T() const { return get<T>(); }

  // Access to the elements of an array. push_back() turns a null into an array.
  void push_back(Json element);
  const Json& front() const { return elements_.front(); }
  const Json& back() const { return elements_.back(); }
  Json& back() { return elements_.back(); }
  std::vector<Json>::iterator begin() { return elements_.begin(); }
  std::vector<Json>::iterator end() { return elements_.end(); }
  std::vector<Json>::const_iterator begin() const { return elements_.begin(); }
  std::vector<Json>::const_iterator end() const { return elements_.end(); }
  const Json& operator[](size_t index) const { return elements_[index]; }

  // Access to the members of an object. operator[] turns a null into an object and adds missing
  // members; on a const Json it returns null for a missing member.
  const std::vector<Member>& items() const { return members_; }
  bool contains(const char* name) const;
  const Json& operator[](const char* name) const;
  Json& operator[](const char* name);
  Json& operator[](const std::string& name) { return (*this)[name.c_str()]; }
  void update(const Json& members);

  // Returns the number of elements or members.
  size_t size() const;
  bool empty() const { return size() == 0; }

  bool operator==(const Json& other) const;
  template <typename T>
  requires std::integral<T> || std::floating_point<T>
  bool operator==(T value) const { return *this == Json(value); }

  // Serialises on one line, or with each level indented by `indent` blanks. Names come from models,
  // drivers and files and may be invalid UTF-8; invalid bytes are replaced.
  friend std::string JsonText(const Json& json, int indent);

  // Returns a copy of the document with invalid UTF-8 replaced.
  friend Json ValidUtf8(const Json& json);

 private:
  enum class Kind { kNull, kBool, kInteger, kDouble, kString, kArray, kObject };
  struct Writer;

  bool boolean() const { return integer_ != 0; }
  int64_t integer() const;
  double number() const;

  Kind kind_ = Kind::kNull;
  int64_t integer_ = 0;
  double double_ = 0;
  std::string text_;
  std::vector<Json> elements_;
  std::vector<Member> members_;
};

struct Json::Member {
  std::string name;
  Json value;
};

std::string JsonText(const Json& json, int indent = -1);

// Returns `text` with invalid UTF-8 removed.
std::string WithoutInvalidUtf8(const std::string& text);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_JSON_H_
