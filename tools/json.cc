// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace deputy::tools {
namespace {

using Library = nlohmann::ordered_json;

std::string Text(const Library& json, int indent, Library::error_handler_t invalid) {
  return json.dump(indent, ' ', false, invalid);
}

std::string Checked(const std::string& text, Library::error_handler_t invalid) {
  return Library::parse(Text(Library(text), -1, invalid)).get<std::string>();
}

}  // namespace

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(bool value) : kind_(Kind::kBool), integer_(value ? 1 : 0) {}
Json::Json(double value) : kind_(Kind::kDouble), double_(value) {}
Json::Json(const char* text) : kind_(Kind::kString), text_(text) {}
Json::Json(std::string text) : kind_(Kind::kString), text_(std::move(text)) {}
Json::Json(std::initializer_list<Member> members) : kind_(Kind::kObject), members_(members) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array() {
  Json json;
  json.kind_ = Kind::kArray;
  return json;
}

Json Json::object() {
  Json json;
  json.kind_ = Kind::kObject;
  return json;
}

int64_t Json::integer() const {
  return kind_ == Kind::kDouble ? static_cast<int64_t>(double_) : integer_;
}

double Json::number() const {
  return kind_ == Kind::kDouble ? double_ : static_cast<double>(integer_);
}

void Json::push_back(Json element) {
  if (is_null()) kind_ = Kind::kArray;
  elements_.push_back(std::move(element));
}

bool Json::contains(const char* name) const {
  for (const Member& member : members_) {
    if (member.name == name) return true;
  }
  return false;
}

const Json& Json::operator[](const char* name) const {
  static const Json null;
  for (const Member& member : members_) {
    if (member.name == name) return member.value;
  }
  return null;
}

Json& Json::operator[](const char* name) {
  if (is_null()) kind_ = Kind::kObject;
  for (Member& member : members_) {
    if (member.name == name) return member.value;
  }
  return members_.emplace_back(Member{name, nullptr}).value;
}

void Json::update(const Json& members) {
  for (const Member& member : members.items()) (*this)[member.name] = member.value;
}

size_t Json::size() const { return is_object() ? members_.size() : elements_.size(); }

bool Json::operator==(const Json& other) const {
  if (is_number() && other.is_number()) return number() == other.number();
  const auto equal = [](const Member& a, const Member& b) {
    return a.name == b.name && a.value == b.value;
  };
  return kind_ == other.kind_ && integer_ == other.integer_ && text_ == other.text_ &&
         elements_ == other.elements_ &&
         std::equal(members_.begin(), members_.end(), other.members_.begin(), other.members_.end(),
                    equal);
}

struct Json::Writer {
  static Library Convert(const Json& json) {
    switch (json.kind_) {
      case Kind::kNull:
        return nullptr;
      case Kind::kBool:
        return json.boolean();
      case Kind::kInteger:
        return json.integer_;
      case Kind::kDouble:
        return json.double_;
      case Kind::kString:
        return json.text_;
      case Kind::kArray: {
        Library array = Library::array();
        for (const Json& element : json) array.push_back(Convert(element));
        return array;
      }
      case Kind::kObject: {
        Library object = Library::object();
        for (const Member& member : json.members_) object[member.name] = Convert(member.value);
        return object;
      }
    }
    return nullptr;
  }

  static void ReplaceInvalid(std::string* text) {
    *text = Checked(*text, Library::error_handler_t::replace);
  }

  static void ReplaceInvalid(Json* json) {
    ReplaceInvalid(&json->text_);
    for (Json& element : *json) ReplaceInvalid(&element);
    for (Member& member : json->members_) {
      ReplaceInvalid(&member.name);
      ReplaceInvalid(&member.value);
    }
  }
};

std::string JsonText(const Json& json, int indent) {
  return Text(Json::Writer::Convert(json), indent, Library::error_handler_t::replace);
}

Json ValidUtf8(const Json& json) {
  Json valid = json;
  Json::Writer::ReplaceInvalid(&valid);
  return valid;
}

std::string WithoutInvalidUtf8(const std::string& text) {
  return Checked(text, Library::error_handler_t::ignore);
}

}  // namespace deputy::tools
