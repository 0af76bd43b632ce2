// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes .npy files. A file consists of "\x93NUMPY", version, header length, a Python
// dictionary as text ({'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }), and the data.
// The header is searched for its three keys instead of parsed as Python; the data must have exactly
// the size that type and shape require.
#include "npy.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "tensor_data.h"
#include "text.h"

namespace deputy::tools {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;
constexpr uint32_t kMaxHeaderBytes = 1 << 20;

struct TypeCode {
  const char* code;
  TfLiteType type;
};
// Codes of NumPy's types. A code with two rows is read as the type of the first. NumPy has no
// bfloat16, so its bits are written as uint16.
constexpr TypeCode kTypeCodes[] = {
    {"<f4", kTfLiteFloat32},   {"<f8", kTfLiteFloat64},     {"<f2", kTfLiteFloat16},
    {"|i1", kTfLiteInt8},      {"|u1", kTfLiteUInt8},       {"<i2", kTfLiteInt16},
    {"<u2", kTfLiteUInt16},    {"<i4", kTfLiteInt32},       {"<u4", kTfLiteUInt32},
    {"<i8", kTfLiteInt64},     {"<u8", kTfLiteUInt64},      {"|b1", kTfLiteBool},
    {"<c8", kTfLiteComplex64}, {"<c16", kTfLiteComplex128}, {"<u2", kTfLiteBFloat16},
};

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

// Returns the text after 'key': in the header, or null.
const char* FindKey(const std::string& header, const char* key) {
  const size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string::npos) return nullptr;
  const size_t colon = header.find(':', at);
  if (colon == std::string::npos) return nullptr;
  const size_t value = header.find_first_not_of(' ', colon + 1);
  return value == std::string::npos ? nullptr : header.c_str() + value;
}

const char* SkipSpaces(const char* text) { return text + std::strspn(text, " "); }

// Reads a tuple: "()", "(2,)" or "(2, 3)", optionally with a comma after the last number.
bool ParseShape(const char* text, std::vector<int>* out_shape) {
  if (text == nullptr || *text != '(') return false;
  text = SkipSpaces(text + 1);
  while (*text != ')') {
    char* end = nullptr;
    errno = 0;
    const long dim = std::strtol(text, &end, 10);
    if (end == text || errno != 0 || dim < 0 || dim > INT_MAX) return false;
    out_shape->push_back(static_cast<int>(dim));
    text = SkipSpaces(end);
    if (*text == ',') {
      text = SkipSpaces(text + 1);
    } else if (*text != ')') {
      return false;
    }
  }
  return true;
}

// Returns true for the value False, up to a comma or the end of the dictionary.
bool IsFalse(const char* text) {
  constexpr size_t kLength = 5;
  if (text == nullptr || std::strncmp(text, "False", kLength) != 0) return false;
  const char next = *SkipSpaces(text + kLength);
  return next == ',' || next == '}';
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : file_(path) {
  auto refuse = [&](const char* why) { FailUsage("%s: %s", path.c_str(), why); };
  char start[12];
  if (file_.size() < sizeof start) refuse("is not a .npy file");
  const size_t version_end = kMagicBytes + 2;
  file_.Read({start, version_end});
  if (std::memcmp(start, kMagic, kMagicBytes) != 0) refuse("is not a .npy file");
  const int version = static_cast<unsigned char>(start[kMagicBytes]);
  if (version < 1 || version > 3) refuse(".npy version is not 1, 2 or 3");
  const size_t length_bytes = version == 1 ? 2 : 4;
  uint32_t header_bytes = 0;
  file_.Read({start + version_end, length_bytes});
  std::memcpy(&header_bytes, start + version_end, length_bytes);
  const uint64_t rest = file_.size() - version_end - length_bytes;
  if (header_bytes > rest) refuse(".npy header is cut off");
  if (header_bytes > kMaxHeaderBytes) refuse(".npy header is too large");
  std::string header(header_bytes, '\0');
  file_.Read(header);
  ParseHeader(header);
  if (rest - header_bytes != bytes_) {
    FailUsage("%s: expected %zu bytes of data for its type and shape, found %llu", path.c_str(),
              bytes_, static_cast<unsigned long long>(rest - header_bytes));
  }
}

void NpyFile::ParseHeader(const std::string& header) {
  auto refuse = [&](const char* why) { FailUsage("%s: %s", file_.path().c_str(), why); };
  const char* descr = FindKey(header, "descr");
  if (descr == nullptr || *descr != '\'') refuse(".npy header has no simple type");
  const std::string code(descr + 1, std::strcspn(descr + 1, "'"));
  for (const TypeCode& row : kTypeCodes) {
    if (code == row.code && type_ == kTfLiteNoType) type_ = row.type;
  }
  if (type_ == kTfLiteNoType) refuse(("cannot use .npy type '" + code + "'").c_str());
  if (!IsFalse(FindKey(header, "fortran_order"))) refuse("is not in C order");
  if (!ParseShape(FindKey(header, "shape"), &shape_)) refuse("cannot read the .npy shape");

  bytes_ = ElementBytes(type_);
  for (const int dim : shape_) {
    if (__builtin_mul_overflow(bytes_, static_cast<size_t>(dim), &bytes_)) {
      refuse("shape overflows");
    }
  }
}

std::vector<char> NpyFile::Read() const {
  std::vector<char> bytes(bytes_);
  file_.Read(bytes);
  return bytes;
}

void WriteNpy(const std::string& path, TfLiteType type, const std::vector<int>& shape,
              const void* data, size_t bytes) {
  const char* code = nullptr;
  for (const TypeCode& row : kTypeCodes) {
    if (row.type == type && code == nullptr) code = row.code;
  }
  if (code == nullptr)
    FailWork("%s: .npy does not support %s", path.c_str(), TfLiteTypeGetName(type));
  std::string dims;
  for (const int dim : shape) dims += std::to_string(dim) + ",";
  if (shape.size() > 1) dims.pop_back();
  std::string header =
      "{'descr': '" + std::string(code) + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  // The data must start at a multiple of 64, and the header must end in a line break.
  const size_t before = kMagicBytes + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  const char prefix[4] = {1, 0, static_cast<char>(header.size() & 0xff),
                          static_cast<char>(header.size() >> 8)};
  File file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (file == nullptr) FailWork("%s: %s", path.c_str(), std::strerror(errno));
  const bool written = std::fwrite(kMagic, 1, kMagicBytes, file.get()) == kMagicBytes &&
                       std::fwrite(prefix, 1, 4, file.get()) == 4 &&
                       std::fwrite(header.data(), 1, header.size(), file.get()) == header.size() &&
                       (bytes == 0 || std::fwrite(data, 1, bytes, file.get()) == bytes);
  if (!written || std::fclose(file.release()) != 0) {
    FailWork("%s: %s", path.c_str(), std::strerror(errno));
  }
}

}  // namespace deputy::tools
