// SPDX-License-Identifier: Apache-2.0
#include "bridges/xnnpack/kernel.h"

#include <cstring>
#include <utility>

#include "mindspore/log.h"

namespace deputy::xnnpack {

using mindspore::lite::RET_ERROR;
using mindspore::lite::RET_NOT_SUPPORT;
using mindspore::lite::RET_OK;

XnnpackKernel::XnnpackKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs,
                             std::vector<MSTensor> unused, std::unique_ptr<Runtime> runtime,
                             std::shared_ptr<const Threads> threads)
    : Kernel(std::move(inputs), std::move(outputs), nullptr, nullptr),
      unused_(std::move(unused)),
      threads_(std::move(threads)),
      runtime_(std::move(runtime)) {}

int XnnpackKernel::Prepare() {
  std::vector<xnn_external_value> values;
  memory_.clear();
  for (const std::vector<MSTensor>* tensors :
       std::initializer_list<const std::vector<MSTensor>*>{&inputs_, &outputs_, &unused_}) {
    for (const MSTensor& tensor : *tensors) {
      memory_.emplace_back(tensor.DataSize());
      values.push_back({static_cast<uint32_t>(values.size()), memory_.back().data()});
    }
  }
  const xnn_status status =
      xnn_setup_runtime(runtime_->runtime.get(), values.size(), values.data());
  return status == xnn_status_success ? RET_OK : RET_ERROR;
}

int XnnpackKernel::Execute() {
  if (threads_->IsForkedChild()) {
    MS_LOG(ERROR) << "XNNPACK: the delegate's threads do not exist in this forked child of the "
                     "process that created it: create the delegate after fork()";
    return RET_ERROR;
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::shared_ptr<const void> data = inputs_[i].Data();
    if (data == nullptr || inputs_[i].DataSize() != memory_[i].size()) return RET_ERROR;
    std::memcpy(memory_[i].data(), data.get(), memory_[i].size());
  }
  if (xnn_invoke_runtime(runtime_->runtime.get()) != xnn_status_success) return RET_ERROR;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    PaddedBytes& result = memory_[inputs_.size() + i];
    void* data = outputs_[i].MutableData();
    if (data == nullptr || outputs_[i].DataSize() != result.size()) return RET_ERROR;
    std::memcpy(data, result.data(), result.size());
  }
  return RET_OK;
}

// This function is not called: the delegate has static shapes, so that a resize builds the kernel
// again.
int XnnpackKernel::ReSize() { return RET_NOT_SUPPORT; }

}  // namespace deputy::xnnpack
