// SPDX-License-Identifier: Apache-2.0
//
// Reads NumPy's .npy files, versions 1 to 3, C order and little-endian only: the format of the
// expected results under shared/golden.
#ifndef DEPUTY_TESTS_SUPPORT_NPY_READER_H_
#define DEPUTY_TESTS_SUPPORT_NPY_READER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace deputy {

struct NpyArray {
  std::string dtype;  // NumPy's short name without the byte order: "f4", "i1", "i8", ...
  std::vector<int> dims;
  std::vector<uint8_t> data;
};

// Reads a file. Returns false, with a reason in `error`, if it is missing, damaged or of another
// layout.
bool ReadNpy(const std::string& path, NpyArray* array, std::string* error);

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_NPY_READER_H_
