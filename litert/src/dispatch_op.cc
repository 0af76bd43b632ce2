// SPDX-License-Identifier: Apache-2.0
#include "litert/src/dispatch_op.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "flatbuffers/flexbuffers.h"
#include "litert/src/log.h"

namespace deputy::litert {
namespace {

constexpr char kSizeKey[] = "bytecode_size";
constexpr char kOffsetKey[] = "bytecode_offset";
constexpr char kNameKey[] = "name";

// Number of bytes of each string in a stamp, with at least two zeros at the end.
constexpr size_t kStampField = 125;

// Reads a map of FlexBuffers. Every access is checked; FlexBuffers' verifier (2.0.8) accepts keys
// without an end.
class MapReader {
 public:
  explicit MapReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // Finds the map at the end of the bytes. Returns false if there is none.
  bool Open() {
    if (bytes_.size() < 3) return false;
    const size_t end = bytes_.size() - 2;  // the type and the width of the root follow it
    const Type type = TypeOf(bytes_[end]);
    const uint64_t root_width = bytes_[end + 1];
    if (type.kind != flexbuffers::FBT_MAP || root_width > end) return false;
    width_ = type.width;
    if (!Follow(end - root_width, root_width, &values_) || values_ < 3 * width_) return false;
    return Follow(values_ - 3 * width_, width_, &keys_) &&
           Number(values_ - 2 * width_, width_, &key_width_) &&
           Number(values_ - width_, width_, &count_) && count_ <= bytes_.size() &&
           key_width_ <= sizeof(uint64_t);
  }

  bool ReadNumber(std::string_view key, uint64_t* out_number) const {
    uint64_t position = 0;
    Type type;
    if (!Find(key, &position, &type)) return false;
    const bool is_signed =
        type.kind == flexbuffers::FBT_INT || type.kind == flexbuffers::FBT_INDIRECT_INT;
    uint64_t width = width_;
    if (type.kind == flexbuffers::FBT_INDIRECT_INT || type.kind == flexbuffers::FBT_INDIRECT_UINT) {
      if (!Follow(position, width_, &position)) return false;
      width = type.width;
    } else if (!is_signed && type.kind != flexbuffers::FBT_UINT) {
      return false;
    }
    if (!Number(position, width, out_number)) return false;
    const bool is_negative = is_signed && (*out_number >> (8 * width - 1)) != 0;
    return !is_negative;
  }

  bool ReadString(std::string_view key, std::string* out_text) const {
    uint64_t position = 0, size = 0;
    Type type;
    if (!Find(key, &position, &type) || type.kind != flexbuffers::FBT_STRING ||
        !Follow(position, width_, &position) || position < type.width ||
        !Number(position - type.width, type.width, &size) || !Contains(position, size)) {
      return false;
    }
    const auto text = bytes_.subspan(position, size);
    out_text->assign(text.begin(), text.end());
    return true;
  }

 private:
  struct Type {
    uint8_t kind = 0;
    uint64_t width = 0;  // bytes of each element, or of the number referred to
  };

  static Type TypeOf(uint8_t packed) {
    return {.kind = static_cast<uint8_t>(packed >> 2), .width = uint64_t{1} << (packed & 3)};
  }

  bool Contains(uint64_t position, uint64_t size) const {
    return position <= bytes_.size() && size <= bytes_.size() - position;
  }

  // Reads a number with `width` bytes.
  bool Number(uint64_t position, uint64_t width, uint64_t* out_number) const {
    if (width == 0 || width > sizeof *out_number || !Contains(position, width)) return false;
    *out_number = 0;
    std::memcpy(out_number, bytes_.data() + position, width);
    return true;
  }

  // Reads a reference: the distance from its own position back to `out_target`.
  bool Follow(uint64_t position, uint64_t width, uint64_t* out_target) const {
    uint64_t distance = 0;
    if (!Number(position, width, &distance) || distance > position) return false;
    *out_target = position - distance;
    return true;
  }

  // Finds the value of a key.
  bool Find(std::string_view key, uint64_t* out_position, Type* out_type) const {
    for (uint64_t i = 0; i < count_; ++i) {
      uint64_t name = 0;
      if (!Follow(keys_ + i * key_width_, key_width_, &name)) return false;
      if (!Contains(name, key.size() + 1) ||
          std::memcmp(bytes_.data() + name, key.data(), key.size()) != 0 ||
          bytes_[name + key.size()] != 0) {
        continue;
      }
      const uint64_t type = values_ + count_ * width_ + i;  // types follow the values
      if (!Contains(type, 1)) return false;
      *out_position = values_ + i * width_;
      *out_type = TypeOf(bytes_[type]);
      return true;
    }
    return false;
  }

  const std::span<const uint8_t> bytes_;
  uint64_t values_ = 0, keys_ = 0;      // positions of the values and of the keys
  uint64_t width_ = 0, key_width_ = 0;  // bytes of each value and of each key
  uint64_t count_ = 0;                  // number of pairs
};

LiteRtStatus ReadStampField(std::span<const uint8_t> field, std::string* out_text) {
  const auto end = std::find(field.begin(), field.end(), 0);
  if (end == field.end()) {
    return Fail(kLiteRtStatusErrorInvalidArgument, "build stamp: a string has no end");
  }
  out_text->assign(field.begin(), end);
  return kLiteRtStatusOk;
}

}  // namespace

std::vector<uint8_t> WriteDispatchOptions(const DispatchOptions& options) {
  flexbuffers::Builder builder;
  // All numbers have 64 bits, so that their values do not change the size.
  builder.ForceMinimumBitWidth(flexbuffers::BIT_WIDTH_64);
  const size_t map = builder.StartMap();
  builder.UInt(kSizeKey, options.size);
  builder.UInt(kOffsetKey, options.offset);
  builder.String(kNameKey, options.name);
  builder.EndMap(map);
  builder.Finish();
  return builder.GetBuffer();
}

LiteRtStatus ReadDispatchOptions(std::span<const uint8_t> bytes, DispatchOptions* out_options) {
  MapReader reader(bytes);
  DispatchOptions options;
  if (!reader.Open() || !reader.ReadNumber(kSizeKey, &options.size) ||
      !reader.ReadNumber(kOffsetKey, &options.offset) ||
      !reader.ReadString(kNameKey, &options.name)) {
    return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                "%s: expected options with the numbers '%s' and '%s' and the string '%s'",
                kDispatchOpCode, kSizeKey, kOffsetKey, kNameKey);
  }
  *out_options = std::move(options);
  return kLiteRtStatusOk;
}

LiteRtStatus FindByteCode(const DispatchOptions& options, std::span<const uint8_t> file,
                          std::span<const uint8_t>* out_byte_code) {
  if (options.offset == 0 || options.offset > file.size() ||
      options.size > file.size() - options.offset) {
    return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                "%s '%s': expected byte code inside the %zu bytes of the file, found offset %llu, "
                "size %llu",
                kDispatchOpCode, options.name.c_str(), file.size(),
                static_cast<unsigned long long>(options.offset),
                static_cast<unsigned long long>(options.size));
  }
  *out_byte_code = file.subspan(options.offset, options.size);
  return kLiteRtStatusOk;
}

LiteRtStatus WriteBuildStamp(const BuildStamp& stamp, std::vector<uint8_t>* out_bytes) {
  std::vector<uint8_t> bytes(2 * kStampField);
  size_t field = 0;
  for (const std::string& text : {stamp.manufacturer, stamp.soc_model}) {
    if (text.size() > kStampField - 2 || text.find('\0') != std::string::npos) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "build stamp: expected a string of at most %zu bytes, found %zu", kStampField - 2,
                  text.size());
    }
    std::copy(text.begin(), text.end(), bytes.data() + field);
    field += kStampField;
  }
  *out_bytes = std::move(bytes);
  return kLiteRtStatusOk;
}

LiteRtStatus ReadBuildStamp(std::span<const uint8_t> bytes, BuildStamp* out_stamp) {
  if (bytes.size() != 2 * kStampField) {
    return Fail(kLiteRtStatusErrorInvalidArgument, "build stamp: expected %zu bytes, found %zu",
                2 * kStampField, bytes.size());
  }
  BuildStamp stamp;
  LITERT_TRY(ReadStampField(bytes.first(kStampField), &stamp.manufacturer));
  LITERT_TRY(ReadStampField(bytes.last(kStampField), &stamp.soc_model));
  *out_stamp = std::move(stamp);
  return kLiteRtStatusOk;
}

}  // namespace deputy::litert
