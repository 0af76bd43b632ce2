// SPDX-License-Identifier: Apache-2.0
//
// XNNPACK as a delegate with MindSpore's interface: each run of supported kernels becomes one
// kernel, whose subgraph is created in Build.
#ifndef DEPUTY_BRIDGES_XNNPACK_DELEGATE_H_
#define DEPUTY_BRIDGES_XNNPACK_DELEGATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bridges/xnnpack/definition.h"
#include "bridges/xnnpack/threads.h"
#include "deputy/deputy_plugin.h"
#include "mindspore/delegate.h"

namespace deputy::xnnpack {

class XnnpackDelegate : public mindspore::Delegate {
 public:
  using Model = mindspore::DelegateModel<mindspore::schema::Primitive>;

  // Creates a delegate that computes with `threads` threads, at least 1, and stores packed weights
  // in the directory `cache_dir`; "" for none.
  explicit XnnpackDelegate(size_t threads, std::string cache_dir = "");

  // Returns kLiteNotSupport on a processor that XNNPACK does not support.
  mindspore::Status Init() override;
  mindspore::Status Build(Model* model) override;
  bool StaticShapes() const override { return true; }
  bool Explain(Model* model) override;
  // Sets the numbers of runtimes whose weights were read from the directory, and of those whose
  // weights were packed.
  void Report(DeputyDelegateReport* report) const;

 private:
  const std::shared_ptr<const Threads> threads_;
  const std::string cache_dir_;
  std::atomic<int64_t> hits_ = 0, misses_ = 0;
};

// Returns the reason why XNNPACK does not support a kernel with these derived attributes; reason 0
// if it does.
Refusal Check(mindspore::kernel::Kernel* kernel, const mindspore::Attributes& attributes);

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_DELEGATE_H_
