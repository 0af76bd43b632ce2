// SPDX-License-Identifier: Apache-2.0
#include "what_if.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

#include "deputy/c_api_experimental.h"
#include "deputy/common.h"
#include "deputy/deputy.h"

namespace deputy::tools {
namespace {

// Upper limit on node visits: a preview visits every node of the plan once per partition. The limit
// bounds the duration to a few seconds.
constexpr size_t kMaxVisits = 200'000'000;

using IntArray = std::unique_ptr<TfLiteIntArray, void (*)(TfLiteIntArray*)>;

IntArray MakeIntArray(const std::set<int>& values) {
  IntArray array(TfLiteIntArrayCreate(static_cast<int>(values.size())), &TfLiteIntArrayFree);
  if (array != nullptr) std::copy(values.begin(), values.end(), array->data);
  return array;
}

class Study {
 public:
  Study(const NodesOfDelegate& claims, const std::function<int64_t(int, int)>& bytes_of,
        std::vector<WhatIf>* changes)
      : claims_(claims), bytes_of_(bytes_of), changes_(changes) {}

  void Run(const TfLiteModel* model, int delegate_count);

 private:
  // Dummy delegate that replaces a real one.
  struct Dummy {
    TfLiteDelegate base;
    Study* study;
    int delegate;
  };

  static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate);
  TfLiteStatus PreviewAll(TfLiteContext* context, Dummy* dummy);
  std::optional<Boundaries> Preview(TfLiteContext* context, int subgraph,
                                    const std::set<int>& nodes);
  int SubgraphOf(const TfLiteContext* context) const;

  const NodesOfDelegate& claims_;
  const std::function<int64_t(int, int)>& bytes_of_;
  std::vector<WhatIf>* changes_;
  TfLiteInterpreter* interpreter_ = nullptr;
  size_t visits_ = 0;
};

// Returns the subgraph of a context. A delegate receives only a context, whose tensor array
// identifies the subgraph.
int Study::SubgraphOf(const TfLiteContext* context) const {
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter_); ++s) {
    const TfLiteTensor* first = DeputyInterpreterGetTensor(interpreter_, s, 0);
    if (first != nullptr && first == context->tensors) return s;
  }
  return -1;
}

std::optional<Boundaries> Study::Preview(TfLiteContext* context, int subgraph,
                                         const std::set<int>& nodes) {
  TfLiteDelegateParams* partitions = nullptr;
  int count = 0;
  const IntArray array = MakeIntArray(nodes);
  if (array == nullptr || context->PreviewDelegatePartitioning(context, array.get(), &partitions,
                                                               &count) != kTfLiteOk) {
    return std::nullopt;
  }
  Boundaries boundaries;
  boundaries.partitions = static_cast<size_t>(count);
  for (int p = 0; p < count; ++p) {
    for (const TfLiteIntArray* tensors :
         {partitions[p].input_tensors, partitions[p].output_tensors}) {
      for (int i = 0; i < tensors->size; ++i) {
        const int64_t bytes = bytes_of_(subgraph, tensors->data[i]);
        if (bytes < 0) continue;
        ++boundaries.tensors;
        boundaries.bytes += static_cast<size_t>(bytes);
      }
    }
  }
  return boundaries;
}

TfLiteStatus Study::PreviewAll(TfLiteContext* context, Dummy* dummy) {
  const int subgraph = SubgraphOf(context);
  TfLiteIntArray* plan = nullptr;
  if (subgraph < 0 || context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteOk;
  const std::set<int> known(plan->data, plan->data + plan->size);
  std::set<int> claimed;
  if (const auto claim = claims_.find({dummy->delegate, subgraph}); claim != claims_.end()) {
    for (int node : claim->second) {
      if (known.count(node) != 0) claimed.insert(node);
    }
  }
  const std::optional<Boundaries> before = Preview(context, subgraph, claimed);
  for (WhatIf& change : *changes_) {
    if (change.delegate != dummy->delegate || change.subgraph != subgraph) continue;
    if (!before || visits_ > kMaxVisits) break;
    visits_ += known.size() * (2 * before->partitions + 1);
    std::set<int> more = claimed;
    for (int node : change.nodes) {
      if (known.count(node) != 0) more.insert(node);
    }
    const std::optional<Boundaries> after = Preview(context, subgraph, more);
    if (!after) continue;
    change.previewed = true;
    change.before = *before;
    change.after = *after;
  }
  // The dummy claims the nodes, because later delegates must see the graph that this one leaves.
  const IntArray array = MakeIntArray(claimed);
  if (array == nullptr || claimed.empty()) return kTfLiteOk;
  TfLiteRegistration kernel = {};
  kernel.custom_name = "Dummy";
  kernel.version = 1;
  return context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, array.get(), &dummy->base);
}

// Prepares a dummy. Exceptions are caught, because they must not propagate through the library,
// which is C.
TfLiteStatus Study::Prepare(TfLiteContext* context, TfLiteDelegate* delegate) try {
  auto* dummy = static_cast<Dummy*>(delegate->data_);
  return dummy->study->PreviewAll(context, dummy);
} catch (...) {
  return kTfLiteError;
}

void Study::Run(const TfLiteModel* model, int delegate_count) {
  std::vector<Dummy> dummies(static_cast<size_t>(delegate_count));
  const std::unique_ptr<TfLiteInterpreterOptions, void (*)(TfLiteInterpreterOptions*)> options(
      TfLiteInterpreterOptionsCreate(), &TfLiteInterpreterOptionsDelete);
  TfLiteInterpreterOptionsSetErrorReporter(
      options.get(), [](void*, const char*, va_list) {}, nullptr);
  DeputyInterpreterOptionsSetDelegatePolicy(options.get(), kDeputyPolicyTfLite);
  const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter(
      TfLiteInterpreterCreate(model, options.get()), &TfLiteInterpreterDelete);
  interpreter_ = interpreter.get();
  if (interpreter_ == nullptr) return;
  for (int i = 0; i < delegate_count; ++i) {
    Dummy& dummy = dummies[static_cast<size_t>(i)];
    dummy.base = TfLiteDelegateCreate();
    dummy.base.data_ = &dummy;
    // Shapes are given by the caller; this interpreter never allocates tensors.
    dummy.base.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
    dummy.base.Prepare = &Prepare;
    dummy.study = this;
    dummy.delegate = i;
    if (TfLiteInterpreterModifyGraphWithDelegate(interpreter_, &dummy.base) != kTfLiteOk) return;
  }
}

}  // namespace

void PreviewChanges(const TfLiteModel* model, int delegate_count, const NodesOfDelegate& claims,
                    const std::function<int64_t(int, int)>& bytes_of,
                    std::vector<WhatIf>* changes) {
  if (changes->empty()) return;
  Study(claims, bytes_of, changes).Run(model, delegate_count);
}

}  // namespace deputy::tools
