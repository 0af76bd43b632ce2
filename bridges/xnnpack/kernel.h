// SPDX-License-Identifier: Apache-2.0
//
// A run of kernels of the model that XNNPACK computes. Inputs are copied into memory with room
// behind them, which XNNPACK may read, and outputs out of such memory.
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
  // The runtime's external values are inputs, outputs, and `unread`, which XNNPACK writes and
  // nobody reads.
  XnnpackKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs,
                std::vector<MSTensor> unread, std::unique_ptr<Runtime> runtime,
                std::shared_ptr<const Threads> threads);

  int Prepare() override;
  int Execute() override;
  int ReSize() override;

 private:
  const std::vector<MSTensor> unread_;
  std::vector<PaddedBytes> memory_;  // of the external values
  const std::shared_ptr<const Threads> threads_;
  const std::unique_ptr<Runtime> runtime_;  // goes before the memory and the threads
};

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_KERNEL_H_
