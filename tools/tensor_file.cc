// SPDX-License-Identifier: Apache-2.0
#include "tensor_file.h"

#include <algorithm>
#include <vector>

#include "npy.h"
#include "tensor_data.h"
#include "text.h"
#include "user_file.h"

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
    const UserFile file(path);
    if (file.size() != bytes) {
      FailUsage("input '%s': expected %zu bytes (%s %s), %s has %llu", name.c_str(), bytes,
                TfLiteTypeGetName(type), ShapeText(ShapeOf(tensor)).c_str(), path.c_str(),
                static_cast<unsigned long long>(file.size()));
    }
    std::vector<char> raw(bytes);
    file.Read(raw);
    WriteBytes(raw, tensor);
    return;
  }
  const NpyFile array(path);
  if (WithoutOnes(array.shape()) != WithoutOnes(ShapeOf(tensor))) {
    FailUsage("input '%s': expected shape %s, %s has %s", name.c_str(),
              ShapeText(ShapeOf(tensor)).c_str(), path.c_str(), ShapeText(array.shape()).c_str());
  }
  if (array.type() == type) {
    WriteBytes(array.Read(), tensor);
    return;
  }
  if (!IsNumeric(array.type())) {
    FailUsage("input '%s': expected %s, %s has %s", name.c_str(), TfLiteTypeGetName(type),
              path.c_str(), TfLiteTypeGetName(array.type()));
  }
  const std::vector<double> reals = ReadReals(array.type(), array.Read(), {0, 0});
  WriteReals(std::vector<float>(reals.begin(), reals.end()), tensor);
}

int InputOf(const std::string& assignment, const Session& session) {
  const size_t equals = assignment.find('=');
  if (equals != std::string::npos) return session.FindInput(assignment.substr(0, equals));
  if (session.input_count() != 1) {
    FailUsage("--input %s: the model has %d inputs: select one with NAME=FILE", assignment.c_str(),
              session.input_count());
  }
  return 0;
}

int WriteInput(const std::string& assignment, const Session& session) {
  const int index = InputOf(assignment, session);
  const size_t equals = assignment.find('=');
  WriteFromFile(equals == std::string::npos ? assignment : assignment.substr(equals + 1),
                session.input(index));
  return index;
}

}  // namespace deputy::tools
