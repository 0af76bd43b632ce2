// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/graph_calls.h"

#include <map>
#include <mutex>
#include <vector>

#include "deputy/delegate_helper.h"

namespace deputy::layers {
namespace {

std::mutex mutex;  // guards Contexts()

// The objects of each context; the innermost one is the last.
std::map<const TfLiteContext*, std::vector<GraphCalls*>>& Contexts() {
  static auto* const contexts = new std::map<const TfLiteContext*, std::vector<GraphCalls*>>;
  return *contexts;
}

}  // namespace

GraphCalls* GraphCalls::InnermostOf(const TfLiteContext* context) {
  const std::lock_guard lock(mutex);
  const auto found = Contexts().find(context);
  return found == Contexts().end() ? nullptr : found->second.back();
}

GraphCalls::GraphCalls(const LayerCall& caller, const CallRunner* runner)
    : caller_(caller),
      runner_(*runner),
      resize_tensor_(caller.context->ResizeTensor),
      add_tensors_(caller.context->AddTensors),
      outer_(resize_tensor_ == &ResizeEntry ? InnermostOf(caller.context) : nullptr) {
  const std::lock_guard lock(mutex);
  Contexts()[caller.context].push_back(this);
  caller.context->ResizeTensor = &ResizeEntry;
  caller.context->AddTensors = &AddEntry;
}

GraphCalls::~GraphCalls() {
  const std::lock_guard lock(mutex);
  caller_.context->ResizeTensor = resize_tensor_;
  caller_.context->AddTensors = add_tensors_;
  const auto found = Contexts().find(caller_.context);
  found->second.pop_back();
  if (found->second.empty()) Contexts().erase(found);
}

TfLiteStatus GraphCalls::ResizeEntry(TfLiteContext* context, TfLiteTensor* tensor,
                                     TfLiteIntArray* dims) {
  const GraphCalls* const calls = InnermostOf(context);
  if (calls != nullptr) return calls->Resize(tensor, dims);
  DeputyIntArrayFree(dims);  // the call of the delegate has returned meanwhile
  return kTfLiteError;
}

TfLiteStatus GraphCalls::AddEntry(TfLiteContext* context, int count, int* first_tensor) {
  const GraphCalls* const calls = InnermostOf(context);
  return calls == nullptr ? kTfLiteError : calls->Add(count, first_tensor);
}

TfLiteStatus GraphCalls::Resize(TfLiteTensor* tensor, TfLiteIntArray* dims) const {
  LayerCall call;
  call.kind = CallKind::kResizeTensor;
  call.context = caller_.context;
  call.registration = caller_.registration;
  call.kernel = caller_.kernel;
  call.tensor = tensor;
  call.dims = dims;
  bool is_made = false;
  const TfLiteStatus status = runner_.Run(call, [&] {
    is_made = true;
    return outer_ != nullptr ? outer_->Resize(tensor, dims)
                             : resize_tensor_(caller_.context, tensor, dims);
  });
  if (!is_made) DeputyIntArrayFree(dims);  // the runtime owns it otherwise
  return status;
}

TfLiteStatus GraphCalls::Add(int count, int* first_tensor) const {
  LayerCall call;
  call.kind = CallKind::kAddTensors;
  call.context = caller_.context;
  call.registration = caller_.registration;
  call.kernel = caller_.kernel;
  call.count = count;
  call.first_tensor = first_tensor;
  return runner_.Run(call, [&] {
    return outer_ != nullptr ? outer_->Add(count, first_tensor)
                             : add_tensors_(caller_.context, count, first_tensor);
  });
}

GraphCalls::Suspended::Suspended(TfLiteContext* context)
    : context_(context), resize_tensor_(context->ResizeTensor), add_tensors_(context->AddTensors) {
  if (resize_tensor_ != &ResizeEntry) return;
  const GraphCalls* calls = InnermostOf(context);
  if (calls == nullptr) return;
  while (calls->outer_ != nullptr) calls = calls->outer_;
  context_->ResizeTensor = calls->resize_tensor_;
  context_->AddTensors = calls->add_tensors_;
}

GraphCalls::Suspended::~Suspended() {
  context_->ResizeTensor = resize_tensor_;
  context_->AddTensors = add_tensors_;
}

}  // namespace deputy::layers
