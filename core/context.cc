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
  return Contain(context,
                 [&](Subgraph* subgraph) { return subgraph->AddTensors(count, out_first_index); });
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
  const std::span<const uint8_t>* data = SubgraphOf(context)->interpreter()->FindMetadata(name);
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

// ---- Functions of delegate mode, as delegates meet them -----------------------------------------

TfLiteStatus GetExecutionPlan(TfLiteContext* context, TfLiteIntArray** out_plan) {
  return Contain(context, [&](Subgraph* subgraph) {
    return subgraph->delegation().GetExecutionPlan(out_plan);
  });
}

TfLiteStatus GetNodeAndRegistration(TfLiteContext* context, int node_index, TfLiteNode** out_node,
                                    TfLiteRegistration** out_registration) {
  return Contain(context, [&](Subgraph* subgraph) {
    return subgraph->delegation().GetNodeAndRegistration(node_index, out_node, out_registration);
  });
}

TfLiteStatus ReplaceNodeSubsets(TfLiteContext* context, TfLiteRegistration registration,
                                const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
  return Contain(context, [&](Subgraph* subgraph) {
    return subgraph->delegation().Replace(registration, nodes, delegate);
  });
}

TfLiteStatus PreviewDelegatePartitioning(TfLiteContext* context, const TfLiteIntArray* nodes,
                                         TfLiteDelegateParams** out_params, int* out_count) {
  return Contain(context, [&](Subgraph* subgraph) {
    return subgraph->delegation().Preview(nodes, out_params, out_count);
  });
}

TfLiteStatus AcquireSubgraphContext(TfLiteContext* context, int index,
                                    TfLiteContext** out_context) {
  return Contain(context, [&](Subgraph* subgraph) {
    return subgraph->interpreter()->AcquireSubgraphContext(index, out_context);
  });
}

TfLiteStatus ReleaseSubgraphContext(TfLiteContext* context, int index) {
  return Contain(context, [&](Subgraph* subgraph) {
    return subgraph->interpreter()->ReleaseSubgraphContext(index);
  });
}

}  // namespace

void SetContextFunctions(TfLiteContext* context, bool delegate_mode) {
  context->GetExecutionPlan = delegate_mode ? &GetExecutionPlan : &ForbiddenGetExecutionPlan;
  context->GetNodeAndRegistration =
      delegate_mode ? &GetNodeAndRegistration : &ForbiddenGetNodeAndRegistration;
  context->ReplaceNodeSubsetsWithDelegateKernels =
      delegate_mode ? &ReplaceNodeSubsets : &ForbiddenReplaceNodeSubsets;
  context->PreviewDelegatePartitioning =
      delegate_mode ? &PreviewDelegatePartitioning : &ForbiddenPreviewDelegatePartitioning;
  context->AcquireSubgraphContext =
      delegate_mode ? &AcquireSubgraphContext : &ForbiddenAcquireSubgraphContext;
  context->ReleaseSubgraphContext =
      delegate_mode ? &ReleaseSubgraphContext : &ForbiddenReleaseSubgraphContext;
}

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
  SetContextFunctions(context, false);
}

bool IsOurContext(const TfLiteContext* context) {
  return context != nullptr && context->ReportError == &ReportError;
}

}  // namespace deputy
