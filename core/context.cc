// SPDX-License-Identifier: Apache-2.0
//
// Every callback finds its subgraph, calls one method, and turns an exception into a status. The
// functions for delegates are separate stubs, so that calling one from a kernel says so.
#include "core/context.h"

#include "core/interpreter.h"

namespace deputy {
namespace {

Subgraph* SubgraphOf(const TfLiteContext* context) {
  return static_cast<Subgraph*>(context->impl_);
}

template <typename Call>
TfLiteStatus Contain(const TfLiteContext* context, Call&& call) {
  try {
    return call(SubgraphOf(context));
  } catch (...) {
    return Fail(SubgraphOf(context)->interpreter()->reporter(), kTfLiteError, "out of memory");
  }
}

void ReportError(TfLiteContext* context, const char* format, ...) {
  va_list args;
  va_start(args, format);
  SubgraphOf(context)->interpreter()->reporter()->ReportV(format, args);
  va_end(args);
}

TfLiteStatus ResizeTensor(TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* new_dims) {
  return Contain(context,
                 [&](Subgraph* subgraph) { return subgraph->ResizeTensor(tensor, new_dims); });
}

TfLiteStatus AddTensors(TfLiteContext* context, int count, int* out_first_index) {
  return Contain(context, [&](Subgraph* subgraph) {
    return subgraph->AddTensors(count, out_first_index);
  });
}

TfLiteExternalContext* GetExternalContext(TfLiteContext* context, TfLiteExternalContextType type) {
  return SubgraphOf(context)->interpreter()->external_context(type);
}

void SetExternalContext(TfLiteContext* context, TfLiteExternalContextType type,
                        TfLiteExternalContext* external) {
  SubgraphOf(context)->interpreter()->set_external_context(type, external);
}

TfLiteStatus GetModelMetadata(const TfLiteContext* context, const char* name, const char** out_data,
                              size_t* out_bytes) {
  if (name == nullptr || out_data == nullptr || out_bytes == nullptr) return kTfLiteError;
  *out_data = nullptr;
  *out_bytes = 0;
  const std::span<const uint8_t>* data =
      SubgraphOf(context)->interpreter()->FindMetadata(name);
  if (data == nullptr) return kTfLiteError;
  *out_data = reinterpret_cast<const char*>(data->data());
  *out_bytes = data->size();
  return kTfLiteOk;
}

// ---- Functions of delegate mode, as kernels meet them -------------------------------------------

TfLiteStatus Forbidden(const TfLiteContext* context) {
  return Fail(SubgraphOf(context)->interpreter()->reporter(), kTfLiteError,
              "The function is forbidden if not calling in delegate.");
}

TfLiteStatus ForbiddenGetExecutionPlan(TfLiteContext* context, TfLiteIntArray**) {
  return Forbidden(context);
}
TfLiteStatus ForbiddenGetNodeAndRegistration(TfLiteContext* context, int, TfLiteNode**,
                                             TfLiteRegistration**) {
  return Forbidden(context);
}
TfLiteStatus ForbiddenReplaceNodeSubsets(TfLiteContext* context, TfLiteRegistration,
                                         const TfLiteIntArray*, TfLiteDelegate*) {
  return Forbidden(context);
}
TfLiteStatus ForbiddenPreviewDelegatePartitioning(TfLiteContext* context, const TfLiteIntArray*,
                                                  TfLiteDelegateParams**, int*) {
  return Forbidden(context);
}
TfLiteStatus ForbiddenAcquireSubgraphContext(TfLiteContext* context, int, TfLiteContext**) {
  return Forbidden(context);
}
TfLiteStatus ForbiddenReleaseSubgraphContext(TfLiteContext* context, int) {
  return Forbidden(context);
}

}  // namespace

void InitContext(Subgraph* subgraph, TfLiteContext* context) {
  *context = TfLiteContext{};
  context->impl_ = subgraph;
  context->recommended_num_threads = -1;
  context->ResizeTensor = &ResizeTensor;
  context->ReportError = &ReportError;
  context->AddTensors = &AddTensors;
  context->GetExternalContext = &GetExternalContext;
  context->SetExternalContext = &SetExternalContext;
  context->GetModelMetadata = &GetModelMetadata;
  context->GetExecutionPlan = &ForbiddenGetExecutionPlan;
  context->GetNodeAndRegistration = &ForbiddenGetNodeAndRegistration;
  context->ReplaceNodeSubsetsWithDelegateKernels = &ForbiddenReplaceNodeSubsets;
  context->PreviewDelegatePartitioning = &ForbiddenPreviewDelegatePartitioning;
  context->AcquireSubgraphContext = &ForbiddenAcquireSubgraphContext;
  context->ReleaseSubgraphContext = &ForbiddenReleaseSubgraphContext;
}

bool IsOurContext(const TfLiteContext* context) {
  return context != nullptr && context->ReportError == &ReportError;
}

}  // namespace deputy
