// SPDX-License-Identifier: Apache-2.0
//
// Shape inference of a registered operator.
#ifndef DEPUTY_MINDSPORE_INCLUDE_KERNEL_INTERFACE_H_
#define DEPUTY_MINDSPORE_INCLUDE_KERNEL_INTERFACE_H_

#include <vector>

#include "schema.h"
#include "status.h"
#include "types.h"

namespace mindspore {
namespace kernel {

class Kernel;

// Derive a class and register it with register_kernel_interface.h. One object serves all models;
// its functions may be called from several threads at the same time.
class KernelInterface {
 public:
  KernelInterface() = default;
  KernelInterface(const KernelInterface&) = delete;
  KernelInterface& operator=(const KernelInterface&) = delete;
  virtual ~KernelInterface() = default;

  // Sets the shapes of the outputs. Called before Prepare and ReSize of a registered kernel.
  // kLiteInferInvalid postpones that to the inference, when inputs have data; other failures make
  // Model::Build or Model::Resize fail. `primitive` is the operator.
  virtual Status Infer(std::vector<MSTensor>* /*inputs*/, std::vector<MSTensor>* /*outputs*/,
                       const schema::Primitive* /*primitive*/) {
    return kSuccess;
  }
  // Sets the shapes likewise, and also gets the kernel. The runtime calls this function.
  virtual Status Infer(std::vector<MSTensor>* inputs, std::vector<MSTensor>* outputs,
                       const schema::Primitive* primitive, const Kernel* /*kernel*/) {
    return Infer(inputs, outputs, primitive);
  }
};

}  // namespace kernel
}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_KERNEL_INTERFACE_H_
