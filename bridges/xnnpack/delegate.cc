// SPDX-License-Identifier: Apache-2.0
#include "bridges/xnnpack/delegate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "bridges/xnnpack/kernel.h"
#include "bridges/xnnpack/operators.h"
#include "deputy/deputy_plugin.h"
#include "mindspore/log.h"

namespace deputy::xnnpack {
namespace {

using mindspore::kernel::Kernel;

// A range [from, end) of kernel positions.
struct Run {
  size_t from = 0, end = 0;
};

// Position of the last consumer of each tensor, to find the boundary of all runs in linear time.
class LastConsumers {
 public:
  explicit LastConsumers(XnnpackDelegate::Model* model) {
    const std::vector<Kernel*>& kernels = *model->nodes();
    for (size_t i = 0; i < kernels.size(); ++i) {
      for (const MSTensor& tensor : kernels[i]->inputs()) Add(tensor, i);
    }
    for (const MSTensor& tensor : model->outputs()) Add(tensor, kernels.size());
  }

  // The tensors that cross the boundary of a run. `unused` are computed in the run and have no
  // consumer: they must be outputs as well, because XNNPACK requires memory for them.
  struct Boundary {
    std::vector<MSTensor> inputs, outputs, unused;
  };

  Boundary BoundaryOf(const std::vector<Kernel*>& kernels, const Run& run) const {
    Boundary boundary;
    std::set<MSTensorHandle> seen;  // computed in the run, or listed already
    for (size_t i = run.from; i < run.end; ++i) {
      for (const MSTensor& tensor : kernels[i]->inputs()) {
        if (tensor.IsConst() || !seen.insert(tensor.handle()).second) continue;
        boundary.inputs.push_back(tensor);
      }
      for (const MSTensor& tensor : kernels[i]->outputs()) {
        seen.insert(tensor.handle());
        const auto last = last_consumer_.find(tensor.handle());
        if (last == last_consumer_.end()) {
          boundary.unused.push_back(tensor);
        } else if (last->second >= run.end) {
          boundary.outputs.push_back(tensor);
        }
      }
    }
    return boundary;
  }

 private:
  void Add(const MSTensor& tensor, size_t position) { last_consumer_[tensor.handle()] = position; }

  // Position of the last consumer of each tensor, which is never before the producer.
  std::map<MSTensorHandle, size_t> last_consumer_;
};

std::vector<Run> FindRuns(XnnpackDelegate::Model* model) {
  std::vector<Run> runs;
  const std::vector<Kernel*>& kernels = *model->nodes();
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (Check(kernels[i], model->derived_attributes(kernels[i])).reason != 0) continue;
    if (runs.empty() || runs.back().end != i) runs.push_back({i, i});
    runs.back().end = i + 1;
  }
  return runs;
}

}  // namespace

// Checks a kernel by creating a definition and a runtime with it alone. Kernels with large
// constants are only defined, since creating a runtime may pack the weights, which happens again in
// Build.
Refusal Check(Kernel* kernel, const mindspore::Attributes& attributes) {
  constexpr size_t kMaxConstantBytes = size_t{1} << 20;
  if (attributes.type() == 0) return {kDeputyReasonOther, "claimed by another delegate"};
  std::vector<MSTensor> inputs;
  for (const MSTensor& tensor : kernel->inputs()) {
    const bool is_new = std::find(inputs.begin(), inputs.end(), tensor) == inputs.end();
    if (!tensor.IsConst() && is_new) inputs.push_back(tensor);
  }
  Definition checked(inputs, kernel->outputs(), true);
  Refusal refusal = AddKernel(&checked, kernel, attributes);
  if (refusal.reason != 0 || checked.constant_bytes() > kMaxConstantBytes) return refusal;
  Definition definition(inputs, kernel->outputs(), false);
  AddKernel(&definition, kernel, attributes);
  definition.Finish(PackedWeights::ForCheck(), nullptr, &refusal);
  return refusal;
}

XnnpackDelegate::XnnpackDelegate(size_t threads, std::string cache_dir)
    : threads_(std::make_shared<const Threads>(threads)), cache_dir_(std::move(cache_dir)) {}

mindspore::Status XnnpackDelegate::Init() {
  switch (xnn_initialize(nullptr)) {
    case xnn_status_success:
      return mindspore::kSuccess;
    case xnn_status_out_of_memory:
      return {mindspore::kLiteMemoryFailed, "XNNPACK: out of memory"};
    default:
      return {mindspore::kLiteNotSupport, "XNNPACK does not support this processor"};
  }
}

mindspore::Status XnnpackDelegate::Build(Model* model) {
  const LastConsumers consumers(model);
  const std::vector<Run> runs = FindRuns(model);
  // Runs are replaced in reverse order, so that the positions of earlier runs stay valid.
  for (size_t r = runs.size(); r > 0; --r) {
    const Run& run = runs[r - 1];
    const std::vector<Kernel*>& kernels = *model->nodes();
    LastConsumers::Boundary boundary = consumers.BoundaryOf(kernels, run);
    std::vector<MSTensor> external_outputs = boundary.outputs;
    external_outputs.insert(external_outputs.end(), boundary.unused.begin(), boundary.unused.end());
    Definition definition(boundary.inputs, external_outputs, false);
    for (size_t i = run.from; i < run.end; ++i) {
      AddKernel(&definition, kernels[i], model->derived_attributes(kernels[i]));
    }
    Refusal refusal;
    auto weights = cache_dir_.empty() ? std::make_unique<PackedWeights>()
                                      : PackedWeights::InFile(cache_dir_, definition.Fingerprint(),
                                                              definition.constant_bytes());
    std::unique_ptr<Runtime> runtime =
        definition.Finish(std::move(weights), threads_->pool(), &refusal);
    if (runtime == nullptr) {
      MS_LOG(WARNING) << "XNNPACK: kernels " << run.from << " to " << run.end - 1
                      << " stay on the CPU: " << refusal.text;
      continue;
    }
    ++(runtime->weights->were_stored() ? hits_ : misses_);
    auto kernel =
        std::make_unique<XnnpackKernel>(std::move(boundary.inputs), std::move(boundary.outputs),
                                        std::move(boundary.unused), std::move(runtime), threads_);
    kernel->set_name("XNNPACK" + std::to_string(r - 1));
    const auto first = model->BeginKernelIterator();
    model->Replace(first + static_cast<std::ptrdiff_t>(run.from),
                   first + static_cast<std::ptrdiff_t>(run.end), kernel.release());
  }
  return mindspore::kSuccess;
}

void XnnpackDelegate::Report(DeputyDelegateReport* report) const {
  if (cache_dir_.empty()) return;
  report->cache_hits = hits_;
  report->cache_misses = misses_;
}

bool XnnpackDelegate::Explain(Model* model) {
  for (Kernel* kernel : *model->nodes()) {
    const Refusal refusal = Check(kernel, model->derived_attributes(kernel));
    if (refusal.reason != 0) model->Refuse(kernel, refusal.reason, refusal.text);
  }
  return true;
}

}  // namespace deputy::xnnpack
