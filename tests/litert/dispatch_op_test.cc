// SPDX-License-Identifier: Apache-2.0
//
// Tests of the container of compiled models.
#include "litert/src/dispatch_op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "flatbuffers/flexbuffers.h"
#include "litert/src/log.h"

namespace deputy::litert::dispatch_op_test {
namespace {

using Buffer = std::vector<uint8_t>;

std::span<const uint8_t> SpanOf(const char* text, size_t size) {
  return {reinterpret_cast<const uint8_t*>(text), size};
}

// The options that LiteRT 2.3.0 writes for offset 0x1122334455667788, size 0x99, name "entry".
constexpr char kOptions[] =
    "bytecode_size\0bytecode_offset\0name\0\x05"
    "entry\0\0\0\0\0\0\0"
    "\x03\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0"
    "\x18\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"
    "\x88\x77\x66\x55\x44\x33\x22\x11\x99\0\0\0\0\0\0\0\x54\0\0\0\0\0\0\0"
    "\x0b\x0b\x14\x1b\x27\x01";
constexpr size_t kOptionsSize = sizeof kOptions - 1;

TEST(DispatchOptions, HaveTheBytesOfLiteRt) {
  const auto expected = SpanOf(kOptions, kOptionsSize);
  const Buffer written =
      WriteDispatchOptions({.offset = 0x1122334455667788, .size = 0x99, .name = "entry"});
  EXPECT_EQ(written, Buffer(expected.begin(), expected.end()));
}

TEST(DispatchOptions, AreReadFromTheBytesOfLiteRt) {
  DispatchOptions options;
  ASSERT_EQ(ReadDispatchOptions(SpanOf(kOptions, kOptionsSize), &options), kLiteRtStatusOk);
  EXPECT_EQ(options.offset, 0x1122334455667788U);
  EXPECT_EQ(options.size, 0x99U);
  EXPECT_EQ(options.name, "entry");
}

TEST(DispatchOptions, SizeDependsOnTheNameAlone) {
  const uint64_t large = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(WriteDispatchOptions({.offset = 1, .size = 1, .name = "a"}).size(),
            WriteDispatchOptions({.offset = large, .size = large, .name = "a"}).size());
}

TEST(DispatchOptions, NumbersOfAllWidthsAndKindsAreRead) {
  for (const uint64_t number : {uint64_t{7}, uint64_t{300}, uint64_t{70000}, uint64_t{1} << 40}) {
    for (const bool indirect : {false, true}) {
      flexbuffers::Builder builder;
      builder.Map([&] {
        builder.String("name", std::string(200, 'n'));
        builder.Int("other", -5);
        builder.Key("bytecode_size");
        if (indirect) {
          builder.IndirectUInt(number);
        } else {
          builder.Int(static_cast<int64_t>(number));
        }
        builder.UInt("bytecode_offset", number + 1);
      });
      builder.Finish();
      DispatchOptions options;
      ASSERT_EQ(ReadDispatchOptions(builder.GetBuffer(), &options), kLiteRtStatusOk) << number;
      EXPECT_EQ(options.size, number);
      EXPECT_EQ(options.offset, number + 1);
      EXPECT_EQ(options.name, std::string(200, 'n'));
    }
  }
}

// Options with other values, or without one of the keys.
template <typename Write>
LiteRtStatus ReadMap(Write&& write) {
  flexbuffers::Builder builder;
  builder.Map([&] { write(builder); });
  builder.Finish();
  DispatchOptions options;
  return ReadDispatchOptions(builder.GetBuffer(), &options);
}

TEST(DispatchOptions, OtherContentsAreRefused) {
  const auto refused = kLiteRtStatusErrorInvalidFlatbuffer;
  EXPECT_EQ(ReadMap([](auto& map) {
              map.UInt("bytecode_size", 1);
              map.UInt("bytecode_offset", 2);
              map.String("name", "n");
            }),
            kLiteRtStatusOk);
  EXPECT_EQ(ReadMap([](auto& map) {
              map.UInt("bytecode_size", 1);
              map.UInt("bytecode_offset", 2);
            }),
            refused);
  EXPECT_EQ(ReadMap([](auto& map) {
              map.UInt("bytecode_size", 1);
              map.String("name", "n");
            }),
            refused);
  EXPECT_EQ(ReadMap([](auto& map) {
              map.Int("bytecode_size", -1);
              map.UInt("bytecode_offset", 2);
              map.String("name", "n");
            }),
            refused);
  EXPECT_EQ(ReadMap([](auto& map) {
              map.String("bytecode_size", "1");
              map.UInt("bytecode_offset", 2);
              map.String("name", "n");
            }),
            refused);
  EXPECT_EQ(ReadMap([](auto& map) {
              map.UInt("bytecode_size", 1);
              map.UInt("bytecode_offset", 2);
              map.UInt("name", 3);
            }),
            refused);
  flexbuffers::Builder vector;
  vector.Vector([&] { vector.UInt(1); });
  vector.Finish();
  DispatchOptions options;
  EXPECT_EQ(ReadDispatchOptions(vector.GetBuffer(), &options), refused);
}

TEST(DispatchOptions, EveryShorterTextIsRefused) {
  DispatchOptions options;
  for (size_t size = 0; size < kOptionsSize; ++size) {
    // A copy of its own size, so that a sanitizer notices reads beyond the end.
    const Buffer bytes(kOptions, kOptions + size);
    EXPECT_EQ(ReadDispatchOptions(bytes, &options), kLiteRtStatusErrorInvalidFlatbuffer) << size;
  }
  EXPECT_EQ(options.name, "");
}

// Reads options in a block of their size, so that a sanitizer notices reads beyond it.
LiteRtStatus ReadCopy(const Buffer& bytes) {
  const Buffer copy(bytes);
  DispatchOptions options;
  return ReadDispatchOptions(copy, &options);
}

TEST(DispatchOptions, KeysAndTypesAreCompared) {
  const Buffer good(kOptions, kOptions + kOptionsSize);
  Buffer longer = good;
  longer[13] = 'X';  // the end of "bytecode_size"
  EXPECT_EQ(ReadCopy(longer), kLiteRtStatusErrorInvalidFlatbuffer);
  Buffer vector = good;
  vector[kOptionsSize - 2] = flexbuffers::FBT_VECTOR << 2 | 3;
  EXPECT_EQ(ReadCopy(vector), kLiteRtStatusErrorInvalidFlatbuffer);
  EXPECT_EQ(ReadCopy(good), kLiteRtStatusOk);
}

TEST(DispatchOptions, EveryValueOfEachByteIsSurvived) {
  const LiteRtLogSeverity severity = MinSeverity();
  SetMinSeverity(kLiteRtLogSeveritySilent);
  Buffer bytes(kOptions, kOptions + kOptionsSize);
  for (uint8_t& byte : bytes) {
    const uint8_t original = byte;
    for (int value = 0; value < 256; ++value) {
      byte = static_cast<uint8_t>(value);
      ReadCopy(bytes);
    }
    byte = original;
  }
  // The numbers with 64 bits: small, large and negative ones.
  for (size_t field = 48; field + 8 <= kOptionsSize; field += 8) {
    const Buffer good = bytes;
    for (int64_t number = -300; number < 300; ++number) {
      for (const int64_t base : {int64_t{0}, std::numeric_limits<int64_t>::min()}) {
        const uint64_t value = static_cast<uint64_t>(number) + static_cast<uint64_t>(base);
        std::memcpy(bytes.data() + field, &value, sizeof value);
        ReadCopy(bytes);
      }
    }
    bytes = good;
  }
  SetMinSeverity(severity);
  EXPECT_EQ(ReadCopy(bytes), kLiteRtStatusOk);
}

TEST(DispatchOptions, StringsMayNotBeLongerThanTheOptions) {
  // The name's length has 64 bits here.
  Buffer bytes(200);
  const auto put = [&](size_t at, uint64_t number) { std::memcpy(&bytes[at], &number, 8); };
  const std::string keys("bytecode_offset\0bytecode_size\0name\0", 35);
  std::copy(keys.begin(), keys.end(), bytes.begin());
  const size_t name = 48, key_list = 64, values = 120;
  put(name - 8, 4);
  std::copy_n("abcd", 4, &bytes[name]);
  put(key_list - 8, 3);
  put(key_list, key_list);
  put(key_list + 8, key_list + 8 - 16);
  put(key_list + 16, key_list + 16 - 30);
  put(values - 24, values - 24 - key_list);
  put(values - 16, 8);
  put(values - 8, 3);
  put(values, 1);
  put(values + 8, 2);
  put(values + 16, values + 16 - name);
  bytes[values + 24] = bytes[values + 25] = flexbuffers::FBT_UINT << 2 | 3;
  bytes[values + 26] = flexbuffers::FBT_STRING << 2 | 3;
  bytes[values + 27] = 27;
  bytes[values + 28] = flexbuffers::FBT_MAP << 2 | 3;
  bytes[values + 29] = 1;
  bytes.resize(values + 30);
  ASSERT_EQ(ReadCopy(bytes), kLiteRtStatusOk);
  for (const uint64_t size : {uint64_t{110}, ~uint64_t{0}, ~uint64_t{0} - 47, ~uint64_t{0} - 48}) {
    put(name - 8, size);
    EXPECT_EQ(ReadCopy(bytes), kLiteRtStatusErrorInvalidFlatbuffer) << size;
  }
  // More keys of one byte than there are: the last ones begin near the end.
  put(values - 16, 1);
  put(values - 8, 100);
  bytes[16] = 'X';  // the first letter of "bytecode_size", so that all keys are compared
  EXPECT_EQ(ReadCopy(bytes), kLiteRtStatusErrorInvalidFlatbuffer);
}

// Mutated options are read within their bytes, and byte code is found within the file.
TEST(DispatchOptions, MutationsAreSurvived) {
  const int runs = std::getenv("DEPUTY_ALL_ROWS") == nullptr ? 10000 : 100000;
  const LiteRtLogSeverity severity = MinSeverity();
  SetMinSeverity(kLiteRtLogSeveritySilent);  // most mutations are errors
  const Buffer file(1000);
  std::mt19937 random(47);
  const auto draw = [&](size_t bound) { return random() % bound; };
  int read = 0, found = 0;
  for (int run = 0; run < runs; ++run) {
    Buffer bytes =
        WriteDispatchOptions({.offset = draw(1200), .size = draw(1200), .name = "entry"});
    for (size_t change = draw(4); change-- > 0;) {
      const size_t position = draw(2) == 0 ? bytes.size() - 1 - draw(60) : draw(bytes.size());
      bytes[position] =
          static_cast<uint8_t>(draw(2) == 0 ? random() : bytes[position] ^ 1U << draw(8));
    }
    if (draw(8) == 0) bytes.resize(60 + draw(80));
    bytes.shrink_to_fit();
    DispatchOptions options;
    if (ReadDispatchOptions(bytes, &options) != kLiteRtStatusOk) continue;
    ++read;
    ASSERT_LE(options.name.size(), bytes.size());
    std::span<const uint8_t> code;
    if (FindByteCode(options, file, &code) != kLiteRtStatusOk) continue;
    ++found;
    ASSERT_GE(code.data(), file.data());
    ASSERT_LE(code.data() + code.size(), file.data() + file.size());
    ASSERT_EQ(code.size(), options.size);
  }
  SetMinSeverity(severity);
  // Both results must be frequent, or the mutations test nothing.
  EXPECT_GT(read, runs / 4);
  EXPECT_LT(read, runs * 3 / 4);
  EXPECT_GT(found, runs / 20);
}

TEST(ByteCode, IsFoundInsideTheFileOnly) {
  const Buffer file(100);
  const uint64_t large = std::numeric_limits<uint64_t>::max();
  std::span<const uint8_t> code;
  const auto find = [&](uint64_t offset, uint64_t size) {
    return FindByteCode({.offset = offset, .size = size, .name = "n"}, file, &code);
  };
  EXPECT_EQ(find(90, 10), kLiteRtStatusOk);
  EXPECT_EQ(code.data(), file.data() + 90);
  EXPECT_EQ(code.size(), 10U);
  EXPECT_EQ(find(100, 0), kLiteRtStatusOk);
  EXPECT_EQ(find(1, 99), kLiteRtStatusOk);
  for (const auto& [offset, size] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 10}, {90, 11}, {101, 0}, {large, 1}, {1, large}, {large, large}, {50, large - 49}}) {
    EXPECT_EQ(find(offset, size), kLiteRtStatusErrorInvalidFlatbuffer) << offset << ' ' << size;
  }
}

TEST(BuildStamp, HasTwoStringsOf125Bytes) {
  Buffer bytes;
  ASSERT_EQ(WriteBuildStamp({.manufacturer = "Vendor", .soc_model = "Chip"}, &bytes),
            kLiteRtStatusOk);
  Buffer expected(250);
  std::copy_n("Vendor", 6, expected.begin());
  std::copy_n("Chip", 4, expected.begin() + 125);
  EXPECT_EQ(bytes, expected);
  BuildStamp stamp;
  ASSERT_EQ(ReadBuildStamp(bytes, &stamp), kLiteRtStatusOk);
  EXPECT_EQ(stamp.manufacturer, "Vendor");
  EXPECT_EQ(stamp.soc_model, "Chip");
}

TEST(BuildStamp, StringsHaveAtMost123Bytes) {
  const std::string longest(123, 'm');
  Buffer bytes;
  BuildStamp stamp;
  ASSERT_EQ(WriteBuildStamp({.manufacturer = longest, .soc_model = longest}, &bytes),
            kLiteRtStatusOk);
  ASSERT_EQ(ReadBuildStamp(bytes, &stamp), kLiteRtStatusOk);
  EXPECT_EQ(stamp.manufacturer, longest);
  EXPECT_EQ(stamp.soc_model, longest);
  const std::string longer(124, 'm');
  const auto refused = kLiteRtStatusErrorInvalidArgument;
  EXPECT_EQ(WriteBuildStamp({.manufacturer = longer, .soc_model = ""}, &bytes), refused);
  EXPECT_EQ(WriteBuildStamp({.manufacturer = "", .soc_model = longer}, &bytes), refused);
  EXPECT_EQ(WriteBuildStamp({.manufacturer = std::string(2, '\0'), .soc_model = ""}, &bytes),
            refused);
}

TEST(BuildStamp, MalformedOnesAreRefused) {
  BuildStamp stamp;
  const auto refused = kLiteRtStatusErrorInvalidArgument;
  for (const size_t size : {0, 1, 125, 249, 251}) {
    EXPECT_EQ(ReadBuildStamp(Buffer(size), &stamp), refused) << size;
  }
  EXPECT_EQ(ReadBuildStamp(Buffer(250), &stamp), kLiteRtStatusOk);
  EXPECT_EQ(stamp.manufacturer, "");
  EXPECT_EQ(ReadBuildStamp(Buffer(250, 'x'), &stamp), refused);
}

}  // namespace
}  // namespace deputy::litert::dispatch_op_test
