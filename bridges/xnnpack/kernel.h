// SPDX-License-Identifier: Apache-2.0
//
// A run of the model's kernels that XNNPACK computes. Inputs and outputs are copied from and to
// padded memory, because XNNPACK accesses bytes beyond the end of a tensor.
#ifndef DEPUTY_BRIDGES_XNNPACK_KERNEL_H_
#define DEPUTY_BRIDGES_XNNPACK_KERNEL_H_

#include <memory>
#include <vector>

#include "bridges/xnnpack/definition.h"
#include "bridges/xnnpack/threads.h"
#include "mindspore/delegate.h"

namespace deputy::xnnpack {

class XnnpackKernel : public mindspore::kernel::Kernel {
 public:
  // Creates a kernel whose runtime has the external values `inputs`, `outputs` and `unused`; the
  // last are outputs of XNNPACK without a consumer.
  XnnpackKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs,
                std::vector<MSTensor> unused, std::unique_ptr<Runtime> runtime,
                std::shared_ptr<const Threads> threads);

  int Prepare() override;
  int Execute() override;
  int ReSize() override;

 private:
  const std::vector<MSTensor> unused_;
  std::vector<PaddedBytes> memory_;  // memory of the runtime's external values
  const std::shared_ptr<const Threads> threads_;
  const std::unique_ptr<Runtime> runtime_;  // destroyed before the memory and the threads
};

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_KERNEL_H_
