// SPDX-License-Identifier: Apache-2.0
#include "tensor_file.h"

#include <algorithm>
#include <vector>

#include "npy.h"
#include "tensor_data.h"
#include "text.h"

namespace deputy::tools {
namespace {

std::vector<int> WithoutOnes(std::vector<int> shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape;
}

}  // namespace

void WriteFromFile(const std::string& path, TfLiteTensor* tensor) {
  const std::string name = NameOf(tensor);
  const TfLiteType type = TfLiteTensorType(tensor);
  const size_t bytes = TfLiteTensorByteSize(tensor);
  if (!path.ends_with(".npy")) {
    const std::vector<char> raw = ReadFile(path);
    if (raw.size() != bytes) {
      FailUsage("input '%s': expected %zu bytes (%s %s), %s holds %zu", name.c_str(), bytes,
                TfLiteTypeGetName(type), ShapeText(ShapeOf(tensor)).c_str(), path.c_str(),
                raw.size());
    }
    WriteBytes(raw, tensor);
    return;
  }
  const NpyArray array = ReadNpy(path);
  if (WithoutOnes(array.shape) != WithoutOnes(ShapeOf(tensor))) {
    FailUsage("input '%s': expected shape %s, %s has %s", name.c_str(),
              ShapeText(ShapeOf(tensor)).c_str(), path.c_str(), ShapeText(array.shape).c_str());
  }
  if (array.type == type) {
    WriteBytes(array.bytes, tensor);
    return;
  }
  if (!IsNumeric(array.type)) {
    FailUsage("input '%s': expected %s, %s holds %s", name.c_str(), TfLiteTypeGetName(type),
              path.c_str(), TfLiteTypeGetName(array.type));
  }
  const std::vector<double> reals = ReadReals(array.type, array.bytes, {0, 0});
  WriteReals(std::vector<float>(reals.begin(), reals.end()), tensor);
}

}  // namespace deputy::tools
