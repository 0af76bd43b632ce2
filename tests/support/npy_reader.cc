// SPDX-License-Identifier: Apache-2.0
//
// Implements npy_reader.h. A file's header is a Python dict as text; the reader searches for its
// three keys.
#include "tests/support/npy_reader.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace deputy {
namespace {

// Returns the text after `'key':` in the header, without leading spaces.
std::string ValueOf(const std::string& header, const std::string& key) {
  const size_t found = header.find("'" + key + "':");
  if (found == std::string::npos) return "";
  return header.substr(header.find_first_not_of(' ', found + key.size() + 3));
}

// Parses the numbers up to the closing parenthesis of "(3, 4), ...".
std::vector<int> ParseShape(const std::string& text) {
  std::vector<int> dims;
  const char* at = text.c_str();
  while (*at != '\0' && *at != ')') {
    char* end = nullptr;
    const long value = std::strtol(at, &end, 10);
    if (end == at) {
      ++at;
      continue;
    }
    dims.push_back(static_cast<int>(value));
    at = end;
  }
  return dims;
}

}  // namespace

bool ReadNpy(const std::string& path, NpyArray* array, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  const auto fail = [&](const char* why) {
    *error = path + ": " + why;
    return false;
  };
  if (content.size() < 12 || content.compare(0, 6, "\x93NUMPY") != 0) return fail("no .npy file");
  const bool old = content[6] == 1;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(content[i])); };
  size_t length = byte(8) | byte(9) << 8;
  if (!old) length |= byte(10) << 16 | byte(11) << 24;
  const size_t start = (old ? 10 : 12);
  if (length > content.size() - start) return fail("ends early");
  const std::string header = content.substr(start, length);
  const std::string type = ValueOf(header, "descr");
  if (type.size() < 5 || type[0] != '\'' || type[1] == '>') return fail("unknown element type");
  if (ValueOf(header, "fortran_order").compare(0, 5, "False") != 0) return fail("Fortran order");
  array->dtype = type.substr(2, type.find('\'', 1) - 2);
  array->dims = ParseShape(ValueOf(header, "shape"));
  size_t bytes = static_cast<size_t>(std::atoi(array->dtype.c_str() + 1));
  for (int dim : array->dims) bytes *= static_cast<size_t>(dim);
  if (content.size() - start - length != bytes) return fail("data and shape do not fit");
  array->data.assign(content.begin() + static_cast<std::ptrdiff_t>(start + length), content.end());
  return true;
}

}  // namespace deputy
