// SPDX-License-Identifier: Apache-2.0
//
// MindData's DataHelper converts its arguments with dual_abi_helper.h and passes them to functions
// of a library, which are defined here: each records what it receives.
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#define DATASET_API
#include "minddata/dataset/include/dataset/data_helper.h"

namespace mindspore::dataset {
namespace {

std::string received;

std::string Text(const std::vector<char>& chars) { return {chars.begin(), chars.end()}; }
std::string Text(const std::vector<std::vector<char>>& texts) {
  std::string all;
  for (const auto& text : texts) all += Text(text) + ",";
  return all;
}
template <class T>
std::string Text(const std::vector<T>& values) {
  std::ostringstream all;
  for (const T value : values) all << +value << ",";
  return all.str();
}
template <class T>
std::string Text(const T& value) {
  std::ostringstream text;
  text << +value;
  return text.str();
}

template <class... Args>
Status Record(const char* function, const Args&... args) {
  received = function;
  ((received += " " + Text(args)), ...);
  return kSuccess;
}

}  // namespace

using Chars = std::vector<char>;

Status DataHelper::CreateAlbumIF(const Chars& in, const Chars& out) {
  return Record("CreateAlbum", in, out);
}
Status DataHelper::RemoveKeyIF(const Chars& in, const Chars& key, const Chars& out) {
  return Record("RemoveKey", in, key, out);
}
#define DEPUTY_DEFINE(name, type)                                                   \
  Status DataHelper::name##IF(const Chars& in, const Chars& key, const type& value, \
                              const Chars& out) {                                   \
    return Record(#name, in, key, value, out);                                      \
  }
DEPUTY_DEFINE(UpdateArray, std::vector<std::vector<char>>)
DEPUTY_DEFINE(UpdateArray, std::vector<bool>)
DEPUTY_DEFINE(UpdateArray, std::vector<int8_t>)
DEPUTY_DEFINE(UpdateArray, std::vector<uint8_t>)
DEPUTY_DEFINE(UpdateArray, std::vector<int16_t>)
DEPUTY_DEFINE(UpdateArray, std::vector<uint16_t>)
DEPUTY_DEFINE(UpdateArray, std::vector<int32_t>)
DEPUTY_DEFINE(UpdateArray, std::vector<uint32_t>)
DEPUTY_DEFINE(UpdateArray, std::vector<int64_t>)
DEPUTY_DEFINE(UpdateArray, std::vector<uint64_t>)
DEPUTY_DEFINE(UpdateArray, std::vector<float>)
DEPUTY_DEFINE(UpdateArray, std::vector<double>)
DEPUTY_DEFINE(UpdateValue, std::vector<char>)
DEPUTY_DEFINE(UpdateValue, bool)
DEPUTY_DEFINE(UpdateValue, int8_t)
DEPUTY_DEFINE(UpdateValue, uint8_t)
DEPUTY_DEFINE(UpdateValue, int16_t)
DEPUTY_DEFINE(UpdateValue, uint16_t)
DEPUTY_DEFINE(UpdateValue, int32_t)
DEPUTY_DEFINE(UpdateValue, uint32_t)
DEPUTY_DEFINE(UpdateValue, int64_t)
DEPUTY_DEFINE(UpdateValue, uint64_t)
DEPUTY_DEFINE(UpdateValue, float)
DEPUTY_DEFINE(UpdateValue, double)

TEST(DataHelperCheck, texts_arrive_unchanged) {
  DataHelper helper;
  EXPECT_EQ(helper.CreateAlbum("in dir", "out"), kSuccess);
  EXPECT_EQ(received, "CreateAlbum in dir out");
  EXPECT_EQ(helper.RemoveKey("a.json", "key", "b.json"), kSuccess);
  EXPECT_EQ(received, "RemoveKey a.json key b.json");
  EXPECT_EQ(helper.UpdateArray("a", "k", std::vector<std::string>{"x", "", "yz"}), kSuccess);
  EXPECT_EQ(received, "UpdateArray a k x,,yz, ");
  EXPECT_EQ(helper.UpdateValue("a", "k", std::string("text"), "b"), kSuccess);
  EXPECT_EQ(received, "UpdateValue a k text b");
}

template <class T>
void CheckNumbers() {
  DataHelper helper;
  EXPECT_EQ(helper.UpdateArray("a", "k", std::vector<T>{1, 0, 1}, "b"), kSuccess);
  EXPECT_EQ(received, "UpdateArray a k 1,0,1, b");
  EXPECT_EQ(helper.UpdateValue("a", "k", T{1}, "b"), kSuccess);
  EXPECT_EQ(received, "UpdateValue a k 1 b");
}

TEST(DataHelperCheck, numbers_of_all_types_arrive_unchanged) {
  CheckNumbers<bool>();
  CheckNumbers<int8_t>();
  CheckNumbers<uint8_t>();
  CheckNumbers<int16_t>();
  CheckNumbers<uint16_t>();
  CheckNumbers<int32_t>();
  CheckNumbers<uint32_t>();
  CheckNumbers<int64_t>();
  CheckNumbers<uint64_t>();
  CheckNumbers<float>();
  CheckNumbers<double>();
}

}  // namespace mindspore::dataset
