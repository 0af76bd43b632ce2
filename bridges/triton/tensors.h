// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs of a model as the server sees them: names, types, shapes and the encoding of
// strings.
//
// The server has no tensors without dimensions: a scalar has the shape [1] there. With
// max_batch_size above 0 a tensor's first dimension, which must be 1, is the number of images of a
// request, and is left out of the shapes of the configuration.
#ifndef DEPUTY_BRIDGES_TRITON_TENSORS_H_
#define DEPUTY_BRIDGES_TRITON_TENSORS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bridges/triton/error.h"
#include "deputy/c_api.h"

namespace deputy::triton {

using Shape = std::vector<int64_t>;

// An element type in TensorFlow Lite and in the server.
struct Type {
  TfLiteType tflite;
  DataType triton;
  const char* name;  // name in requests, such as "FP32"
  // Returns the name in a configuration, such as "TYPE_FP32".
  std::string ConfigName() const;
};

// Returns null if the server does not have the type.
const Type* FindType(TfLiteType type);
// Returns the name of a type of the server for messages.
std::string NameOfType(int type);

// An input or output of a model.
struct TensorInfo {
  std::string kind;  // "input" or "output", for messages
  // The tensor's name; "input_0" if it has none, or one that an earlier tensor has.
  std::string name;
  const Type* type = nullptr;
  // Shape in the model, -1 for dimensions that it leaves open. Without the first dimension if
  // max_batch_size is above 0.
  Shape shape;

  // Returns "input 'x'".
  std::string Label() const { return kind + " '" + name + "'"; }
  // Returns the shape in the configuration.
  Shape ConfigShape() const { return shape.empty() ? Shape{1} : shape; }
};

// Describes all inputs or all outputs of an allocated interpreter. With `is_batched`, each must
// have a first dimension of 1.
Error DescribeInputs(const TfLiteInterpreter* interpreter, bool is_batched,
                     std::vector<TensorInfo>* inputs);
Error DescribeOutputs(const TfLiteInterpreter* interpreter, bool is_batched,
                      std::vector<TensorInfo>* outputs);

// Returns the present shape of a tensor.
Shape ShapeOf(const TfLiteTensor* tensor);

// Strings are encoded by the server as 4 bytes with the length and the characters, one after
// another. Splits `bytes` into `count` strings for `label`, "input 'x'".
Error SplitStrings(const std::string& label, std::string_view bytes, size_t count,
                   std::vector<std::string_view>* strings);

// Stores strings in a tensor of strings. Returns false if out of memory.
bool WriteStrings(const std::vector<std::string_view>& strings, TfLiteTensor* tensor);

// Appends the strings of a tensor in the server's encoding. Returns false if the tensor's contents
// are damaged.
bool AppendStrings(const TfLiteTensor* tensor, std::string* bytes);

}  // namespace deputy::triton

#endif  // DEPUTY_BRIDGES_TRITON_TENSORS_H_
