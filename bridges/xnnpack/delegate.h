// SPDX-License-Identifier: Apache-2.0
//
// XNNPACK as a delegate of MindSpore's shape: runs of kernels that it can compute become one kernel
// each, whose subgraph is built in Build.
#ifndef DEPUTY_BRIDGES_XNNPACK_DELEGATE_H_
#define DEPUTY_BRIDGES_XNNPACK_DELEGATE_H_

#include <memory>
#include <string>
#include <vector>

#include "bridges/xnnpack/definition.h"
#include "bridges/xnnpack/threads.h"
#include "mindspore/delegate.h"

namespace deputy::xnnpack {

class XnnpackDelegate : public mindspore::Delegate {
 public:
  using Model = mindspore::DelegateModel<mindspore::schema::Primitive>;

  // `threads`: how many work, from 1.
  explicit XnnpackDelegate(size_t threads);

  // NotSupport on a processor that XNNPACK does not know.
  mindspore::Status Init() override;
  mindspore::Status Build(Model* model) override;
  bool StaticShapes() const override { return true; }
  bool Explain(Model* model) override;

 private:
  const std::shared_ptr<const Threads> threads_;
};

// Why XNNPACK does not take a kernel; no reason if it does.
Refusal Check(mindspore::kernel::Kernel* kernel, const mindspore::schema::Primitive* primitive);

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_DELEGATE_H_
