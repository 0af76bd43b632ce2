// SPDX-License-Identifier: Apache-2.0
//
// The operators that XNNPACK can have, one function each, which both checks a kernel and defines
// it: what is claimed is what can be built. operators.cc has the table of them.
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

// Adds a kernel to the definition; the refusal is the definition's.
Refusal AddKernel(Definition* definition, mindspore::kernel::Kernel* kernel,
                  const mindspore::schema::Primitive& primitive);

// A kernel on its way into a definition. Functions that return a bool have refused when it is
// false.
struct Operation {
  Definition* definition;
  const mindspore::schema::Primitive* primitive;
  std::vector<MSTensor> inputs, outputs;
  std::vector<Shape> in, out;  // their shapes
  int argument;                // the row's

  bool ExpectInputs(size_t least, size_t most) const;
  bool ExpectRank(const Shape& shape, size_t rank) const;
  bool ExpectShape(const Shape& found, const Shape& expected, const char* what) const;
  // That all inputs before `count` and the output are of one type, quantised or not.
  bool ExpectOneType(size_t count) const;
  bool ExpectFloat(size_t count) const;
  // That input 0 and the output have one scale and zero point, where they are quantised.
  bool ExpectSameQuantization() const;
  bool ExpectConstant(size_t input) const;
  bool is_float(const MSTensor& tensor) const;

  // The bounds of the fused activation.
  bool Bounds(float* low, float* high) const;
  // The values of inputs 0 to `count` - 1 as data, and of the output.
  bool Values(size_t count, uint32_t* ids, uint32_t* out_id) const;
  // Contents of a constant of int32 or int64.
  bool ReadInts(size_t input, std::vector<int64_t>* values) const;
  // An attribute of `count` numbers, each from `least` to 2^20.
  bool ReadNumbers(const char* name, size_t count, int64_t least,
                   std::vector<uint32_t>* values) const;
};

// As the member of mindspore::PluginDescription.
void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data);

// The functions of the table.
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
