// SPDX-License-Identifier: Apache-2.0
//
// Conversions between std::string and std::vector<char>, alone and inside containers. MindSpore
// Lite passes strings to its library in this form; Deputy's C++ layer does not need it, and has the
// functions for programs that call them.
#ifndef DEPUTY_MINDSPORE_INCLUDE_DUAL_ABI_HELPER_H_
#define DEPUTY_MINDSPORE_INCLUDE_DUAL_ABI_HELPER_H_

#include <algorithm>  // IWYU pragma: export
#include <cstdint>
#include <iterator>  // IWYU pragma: export
#include <map>
#include <memory>  // IWYU pragma: export
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mindspore {

using CharVector = std::vector<char>;

inline CharVector StringToChar(const std::string& text) { return {text.begin(), text.end()}; }
inline std::string CharToString(const CharVector& text) { return {text.begin(), text.end()}; }

namespace detail {

// Converts the strings of a value; all other values are copied.
inline CharVector ToChar(const std::string& text) { return StringToChar(text); }
inline std::string ToString(const CharVector& text) { return CharToString(text); }
template <class T>
const T& ToChar(const T& value) {
  return value;
}
template <class T>
const T& ToString(const T& value) {
  return value;
}

// Converts a container of single values, or one of pairs, to `Result`.
template <class Result, class Container>
Result ItemsToChar(const Container& items) {
  Result result;
  for (const auto& item : items) result.insert(result.end(), ToChar(item));
  return result;
}
template <class Result, class Container>
Result ItemsToString(const Container& items) {
  Result result;
  for (const auto& item : items) result.insert(result.end(), ToString(item));
  return result;
}
template <class Result, class Container>
Result PairsToChar(const Container& pairs) {
  Result result;
  for (const auto& pair : pairs) {
    result.insert(result.end(), {ToChar(pair.first), ToChar(pair.second)});
  }
  return result;
}
template <class Result, class Container>
Result PairsToString(const Container& pairs) {
  Result result;
  for (const auto& pair : pairs) {
    result.insert(result.end(), {ToString(pair.first), ToString(pair.second)});
  }
  return result;
}

}  // namespace detail

inline std::optional<CharVector> OptionalStringToChar(const std::optional<std::string>& text) {
  if (!text.has_value()) return std::nullopt;
  return StringToChar(*text);
}
inline std::optional<std::string> OptionalCharToString(const std::optional<CharVector>& text) {
  if (!text.has_value()) return std::nullopt;
  return CharToString(*text);
}

inline std::pair<CharVector, int32_t> PairStringToChar(const std::pair<std::string, int32_t>& s) {
  return {StringToChar(s.first), s.second};
}
inline std::pair<std::string, int32_t> PairCharToString(const std::pair<CharVector, int32_t>& c) {
  return {CharToString(c.first), c.second};
}

inline std::vector<CharVector> VectorStringToChar(const std::vector<std::string>& s) {
  return detail::ItemsToChar<std::vector<CharVector>>(s);
}
inline std::vector<std::string> VectorCharToString(const std::vector<CharVector>& c) {
  return detail::ItemsToString<std::vector<std::string>>(c);
}

inline std::set<CharVector> SetStringToChar(const std::set<std::string>& s) {
  return detail::ItemsToChar<std::set<CharVector>>(s);
}
inline std::set<std::string> SetCharToString(const std::set<CharVector>& c) {
  return detail::ItemsToString<std::set<std::string>>(c);
}

template <class T = int32_t>
std::map<CharVector, T> MapStringToChar(const std::map<std::string, T>& s) {
  return detail::PairsToChar<std::map<CharVector, T>>(s);
}
template <class T = int32_t>
std::map<std::string, T> MapCharToString(const std::map<CharVector, T>& c) {
  return detail::PairsToString<std::map<std::string, T>>(c);
}

inline std::map<CharVector, CharVector> UnorderedMapStringToChar(
    const std::unordered_map<std::string, std::string>& s) {
  return detail::PairsToChar<std::map<CharVector, CharVector>>(s);
}
inline std::unordered_map<std::string, std::string> UnorderedMapCharToString(
    const std::map<CharVector, CharVector>& c) {
  return detail::PairsToString<std::unordered_map<std::string, std::string>>(c);
}

inline std::map<CharVector, CharVector> MapStringToVectorChar(
    const std::map<std::string, std::string>& s) {
  return detail::PairsToChar<std::map<CharVector, CharVector>>(s);
}
inline std::map<std::string, std::string> MapVectorCharToString(
    const std::map<CharVector, CharVector>& c) {
  return detail::PairsToString<std::map<std::string, std::string>>(c);
}

inline std::map<CharVector, std::map<CharVector, CharVector>> MapMapStringToChar(
    const std::map<std::string, std::map<std::string, std::string>>& s) {
  std::map<CharVector, std::map<CharVector, CharVector>> result;
  for (const auto& [key, map] : s) result[StringToChar(key)] = MapStringToVectorChar(map);
  return result;
}
inline std::map<std::string, std::map<std::string, std::string>> MapMapCharToString(
    const std::map<CharVector, std::map<CharVector, CharVector>>& c) {
  std::map<std::string, std::map<std::string, std::string>> result;
  for (const auto& [key, map] : c) result[CharToString(key)] = MapVectorCharToString(map);
  return result;
}

inline std::vector<std::pair<CharVector, std::vector<int32_t>>> ClassIndexStringToChar(
    const std::vector<std::pair<std::string, std::vector<int32_t>>>& s) {
  return detail::PairsToChar<std::vector<std::pair<CharVector, std::vector<int32_t>>>>(s);
}
inline std::vector<std::pair<std::string, std::vector<int32_t>>> ClassIndexCharToString(
    const std::vector<std::pair<CharVector, std::vector<int32_t>>>& c) {
  return detail::PairsToString<std::vector<std::pair<std::string, std::vector<int32_t>>>>(c);
}

inline std::vector<std::pair<CharVector, int64_t>> PairStringInt64ToPairCharInt64(
    const std::vector<std::pair<std::string, int64_t>>& s) {
  return detail::PairsToChar<std::vector<std::pair<CharVector, int64_t>>>(s);
}

template <class T>
std::map<CharVector, T> PadInfoStringToChar(const std::map<std::string, T>& s) {
  return detail::PairsToChar<std::map<CharVector, T>>(s);
}
template <class T>
std::map<std::string, T> PadInfoCharToString(const std::map<CharVector, T>& c) {
  return detail::PairsToString<std::map<std::string, T>>(c);
}

// Adds the pairs of `c` whose keys `s` does not have.
template <class T>
void TensorMapCharToString(const std::map<CharVector, T>* c,
                           std::unordered_map<std::string, T>* s) {
  for (const auto& pair : *c) s->emplace(CharToString(pair.first), pair.second);
}

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_DUAL_ABI_HELPER_H_
