// SPDX-License-Identifier: Apache-2.0
//
// XNNPACK as a delegate with MindSpore's interface: each run of supported kernels becomes one
// kernel, whose subgraph is created in Build.
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

  // Creates a delegate that computes with `threads` threads, at least 1.
  explicit XnnpackDelegate(size_t threads);

  // Returns kLiteNotSupport on a processor that XNNPACK does not support.
  mindspore::Status Init() override;
  mindspore::Status Build(Model* model) override;
  bool StaticShapes() const override { return true; }
  bool Explain(Model* model) override;

 private:
  const std::shared_ptr<const Threads> threads_;
};

// Returns the reason why XNNPACK does not support a kernel with these derived attributes; reason 0
// if it does.
Refusal Check(mindspore::kernel::Kernel* kernel, const mindspore::Attributes& attributes);

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_DELEGATE_H_
