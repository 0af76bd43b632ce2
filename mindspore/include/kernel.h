// SPDX-License-Identifier: Apache-2.0
//
// A kernel: one operator of the model, or a delegate's kernel that replaces a run of operators.
#ifndef DEPUTY_MINDSPORE_INCLUDE_KERNEL_H_
#define DEPUTY_MINDSPORE_INCLUDE_KERNEL_H_

#include <utility>
#include <vector>

#include "context.h"     // IWYU pragma: export
#include "kernel_api.h"  // IWYU pragma: export
#include "schema.h"      // IWYU pragma: export
#include "status.h"
#include "types.h"

namespace mindspore::kernel {

// Base class of kernels. Kernels of delegates may have a null primitive and context; after
// DelegateModel::Replace the runtime owns them.
class Kernel : public IKernel<schema::Primitive> {
 public:
  Kernel() = default;
  Kernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs,
         const schema::Primitive* primitive, const mindspore::Context* context)
      : IKernel<schema::Primitive>(std::move(inputs), std::move(outputs), primitive, context) {
    if (primitive != nullptr) type_ = primitive->value_type();
  }

  int InferShape() override { return lite::RET_NOT_SUPPORT; }
  virtual schema::PrimitiveType type() const { return type_; }
  // Returns the kind of quantisation of a kernel that sets it; the runtime does not.
  virtual schema::QuantType quant_type() const { return quant_type_; }

 protected:
  schema::PrimitiveType type_ = schema::PrimitiveType_NONE;
  schema::QuantType quant_type_ = schema::QuantType_QUANT_NONE;
};

}  // namespace mindspore::kernel

#endif  // DEPUTY_MINDSPORE_INCLUDE_KERNEL_H_
