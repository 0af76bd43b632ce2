// SPDX-License-Identifier: Apache-2.0
//
// The operators that XNNPACK supports. Each has one function that both checks a kernel and defines
// it, so that each claimed kernel can be built. operators.cc has the table.
#ifndef DEPUTY_BRIDGES_XNNPACK_OPERATORS_H_
#define DEPUTY_BRIDGES_XNNPACK_OPERATORS_H_

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bridges/xnnpack/definition.h"
#include "deputy/deputy_plugin.h"
#include "mindspore/delegate.h"

namespace deputy::xnnpack {

// Adds a kernel to the definition and returns the definition's refusal.
Refusal AddKernel(Definition* definition, mindspore::kernel::Kernel* kernel,
                  const mindspore::Attributes& attributes);

// A kernel that is being added to a definition. Functions that return false have recorded a
// refusal.
struct Operation {
  Definition* definition;
  const mindspore::Attributes* attributes;  // of TensorFlow Lite's operator
  std::vector<MSTensor> inputs, outputs;
  std::vector<Shape> in, out;  // shapes of inputs and outputs
  int argument;                // argument of the table row

  bool ExpectInputs(size_t min, size_t max) const;
  bool ExpectRank(const Shape& shape, size_t rank) const;
  bool ExpectShape(const Shape& found, const Shape& expected, const char* what) const;
  // Checks that the inputs before `count` and the output have the same type, which must be float32,
  // int8 or uint8.
  bool ExpectOneType(size_t count) const;
  bool ExpectFloat(size_t count) const;
  // Checks that input 0 and the output, if quantised, have the same scale and zero point.
  bool ExpectSameQuantization() const;
  bool ExpectConstant(size_t input) const;
  bool is_float(const MSTensor& tensor) const;

  // Determines the bounds of the fused activation.
  bool Bounds(float* low, float* high) const;
  // Returns the values of the inputs before `count` and of the output, as data.
  bool Values(size_t count, uint32_t* ids, uint32_t* out_id) const;
  // Reads a constant of int32 or int64.
  bool ReadInts(size_t input, std::vector<int64_t>* values) const;
  // Reads an attribute with `count` numbers, each from `min` to 2^20.
  bool ReadNumbers(const char* name, size_t count, int64_t min,
                   std::vector<uint32_t>* values) const;
};

// Implements mindspore::PluginDescription.list_operators.
void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data);

// Functions in the table of operators.cc, which check and define one operator each.
bool DefineUnary(const Operation& operation);
bool DefineClamp(const Operation& operation);
bool DefineBinary(const Operation& operation);
bool DefineBounded(const Operation& operation);
bool DefineSoftmax(const Operation& operation);
bool DefinePrelu(const Operation& operation);
bool DefineConvert(const Operation& operation);
bool DefineConv(const Operation& operation);
bool DefineDepthwise(const Operation& operation);
bool DefineTransposeConv(const Operation& operation);
bool DefineFullyConnected(const Operation& operation);
bool DefinePool(const Operation& operation);
bool DefineMean(const Operation& operation);
bool DefinePad(const Operation& operation);
bool DefineReshape(const Operation& operation);
bool DefineResize(const Operation& operation);
bool DefineDepthToSpace(const Operation& operation);

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_OPERATORS_H_
