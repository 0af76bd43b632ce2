// SPDX-License-Identifier: Apache-2.0
//
// Functions on opaque contexts.
//
// Most of them call the context's function pointers, so they work with the context of any runtime.
// A few need properties that no function pointer provides (inputs, names, node counts, the model's
// file); they require Deputy's contexts and return the failure value for others.
//
// No exception leaves these functions: code that may allocate runs in Guard or in the context's
// callbacks, which are guarded.
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <span>

#include "c_api/include/c_api_opaque.h"
#include "c_api/src/objects.h"
#include "c_api/src/tensor_builder.h"
#include "core/base/operator_object.h"
#include "core/base/type_size.h"
#include "core/exec/context.h"
#include "core/exec/interpreter.h"
#include "core/exec/subgraph.h"

namespace {

using deputy::Guard;
using deputy::Subgraph;

TfLiteContext* Plain(TfLiteOpaqueContext* context) {
  return reinterpret_cast<TfLiteContext*>(context);
}

Subgraph* SubgraphOf(const TfLiteOpaqueContext* context) {
  return context == nullptr ? nullptr
                            : Subgraph::Of(reinterpret_cast<const TfLiteContext*>(context));
}

TfLiteStatus Expose(const std::vector<int>& indices, const int** out_data, int* out_count) {
  if (out_data == nullptr || out_count == nullptr) return kTfLiteError;
  *out_data = indices.data();
  *out_count = static_cast<int>(indices.size());
  return kTfLiteOk;
}

// Returns true if a kernel or delegate may add a tensor with this allocation type and data.
bool HasValidStorage(const TfLiteOpaqueTensorBuilder& builder) {
  switch (builder.allocation_type) {
    case kTfLiteDynamic:
      return builder.data != nullptr;
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
      return builder.data == nullptr;
    default:
      return false;
  }
}

}  // namespace

extern "C" {

// ---- Functions that call the context's function pointers ----

TfLiteStatus TfLiteOpaqueContextGetExecutionPlan(TfLiteOpaqueContext* opaque_context,
                                                 TfLiteIntArray** execution_plan) {
  TfLiteContext* context = Plain(opaque_context);
  if (context == nullptr || execution_plan == nullptr) return kTfLiteError;
  return context->GetExecutionPlan(context, execution_plan);
}

TfLiteStatus TfLiteOpaqueContextGetExternalContext(TfLiteOpaqueContext* opaque_context,
                                                   void** external_context,
                                                   TfLiteExternalContextType type) {
  TfLiteContext* context = Plain(opaque_context);
  if (context == nullptr || external_context == nullptr) return kTfLiteError;
  *external_context = context->GetExternalContext(context, type);
  return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueContextGetNodeAndRegistration(struct TfLiteOpaqueContext* opaque_context,
                                                       int node_index, TfLiteOpaqueNode** node,
                                                       TfLiteOperator** registration_external) {
  TfLiteContext* context = Plain(opaque_context);
  if (context == nullptr || node == nullptr || registration_external == nullptr) {
    return kTfLiteError;
  }
  TfLiteNode* plain_node = nullptr;
  TfLiteRegistration* registration = nullptr;
  const TfLiteStatus status =
      context->GetNodeAndRegistration(context, node_index, &plain_node, &registration);
  if (status != kTfLiteOk) return status;
  // In delegate mode every registration of Deputy has an operator object.
  if (registration->registration_external == nullptr) return kTfLiteError;
  *node = reinterpret_cast<TfLiteOpaqueNode*>(plain_node);
  *registration_external = registration->registration_external;
  return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(
    struct TfLiteOpaqueContext* opaque_context, TfLiteOperator* registration_external,
    const TfLiteIntArray* nodes_to_replace, TfLiteOpaqueDelegate* opaque_delegate) {
  TfLiteContext* context = Plain(opaque_context);
  if (context == nullptr || registration_external == nullptr || nodes_to_replace == nullptr) {
    return kTfLiteError;
  }
  TfLiteRegistration registration{};
  registration.registration_external = registration_external;
  registration.builtin_code = registration_external->builtin_code;
  registration.custom_name = registration_external->custom_name;
  registration.version = registration_external->version;
  return context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes_to_replace,
                                                        opaque_delegate);
}

TfLiteOpaqueTensor* TfLiteOpaqueContextGetOpaqueTensor(const TfLiteOpaqueContext* opaque_context,
                                                       int index) {
  const auto* context = reinterpret_cast<const TfLiteContext*>(opaque_context);
  deputy::Subgraph* const subgraph = deputy::Subgraph::Of(context);
  deputy::Observer* const observer =
      subgraph == nullptr ? nullptr : subgraph->interpreter()->observer();
  if (observer != nullptr) {
    observer->CheckTensorIndex(subgraph, index, "TfLiteOpaqueContextGetOpaqueTensor");
  }
  if (context == nullptr || index < 0 || static_cast<size_t>(index) >= context->tensors_size) {
    return nullptr;
  }
  return reinterpret_cast<TfLiteOpaqueTensor*>(&context->tensors[index]);
}

size_t TfLiteOpaqueContextGetNumTensors(const struct TfLiteOpaqueContext* opaque_context) {
  const auto* context = reinterpret_cast<const TfLiteContext*>(opaque_context);
  return context == nullptr ? 0 : context->tensors_size;
}

TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext* context,
                                             TfLiteOpaqueTensor* tensor, TfLiteIntArray* new_size) {
  if (context == nullptr || tensor == nullptr || new_size == nullptr) {
    TfLiteIntArrayFree(new_size);
    return kTfLiteError;
  }
  return Plain(context)->ResizeTensor(Plain(context), reinterpret_cast<TfLiteTensor*>(tensor),
                                      new_size);
}

void TfLiteOpaqueContextReportError(struct TfLiteOpaqueContext* opaque_context, const char* format,
                                    ...) {
  va_list args;
  va_start(args, format);
  TfLiteOpaqueContextReportErrorVa(opaque_context, format, args);
  va_end(args);
}

void TfLiteOpaqueContextReportErrorVa(struct TfLiteOpaqueContext* opaque_context,
                                      const char* format, va_list vlist) {
  TfLiteContext* context = Plain(opaque_context);
  if (context == nullptr || format == nullptr) return;
  char text[1024];  // a longer message is truncated, as in the error reporter
  vsnprintf(text, sizeof text, format, vlist);
  context->ReportError(context, "%s", text);
}

TfLiteStatus TfLiteOpaqueContextAddTensor(TfLiteOpaqueContext* context,
                                          TfLiteOpaqueTensorBuilder* builder,
                                          int* new_tensor_index) {
  TfLiteContext* plain = Plain(context);
  if (plain == nullptr || builder == nullptr) return kTfLiteError;
  if (!HasValidStorage(*builder)) {
    plain->ReportError(plain,
                       "AddTensor: expected a dynamic tensor with data or an arena tensor without, "
                       "found allocation type %d %s data.",
                       static_cast<int>(builder->allocation_type),
                       builder->data == nullptr ? "without" : "with");
    return kTfLiteError;
  }
  int index = -1;
  const TfLiteStatus status = plain->AddTensors(plain, 1, &index);
  if (status != kTfLiteOk) return status;
  TfLiteTensor& tensor = plain->tensors[index];
  tensor.type = builder->type;
  tensor.data.data = builder->data;
  tensor.allocation_type = builder->allocation_type;
  tensor.params = builder->params;
  tensor.quantization = builder->quantization;
  if (new_tensor_index != nullptr) *new_tensor_index = index;
  return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueContextGetSizeOfType(TfLiteOpaqueContext* context, TfLiteType type,
                                              size_t* bytes) {
  const size_t size = deputy::TypeBytes(type);
  if (bytes == nullptr || size == 0) {
    if (context != nullptr) {
      TfLiteOpaqueContextReportError(context, "Type %s has no fixed size.",
                                     TfLiteTypeGetName(type));
    }
    return kTfLiteError;
  }
  *bytes = size;
  return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueContextGetMetadata(TfLiteOpaqueContext* context, const char* name,
                                            const char** ptr, size_t* bytes) {
  if (context == nullptr || name == nullptr || ptr == nullptr || bytes == nullptr) {
    return kTfLiteError;
  }
  return Plain(context)->GetModelMetadata(Plain(context), name, ptr, bytes);
}

// ---- Functions that access the subgraph ----

TfLiteStatus TfLiteOpaqueContextGetInputs(const struct TfLiteOpaqueContext* opaque_context,
                                          const int** inputs, int* num_inputs) {
  const Subgraph* subgraph = SubgraphOf(opaque_context);
  return subgraph == nullptr ? kTfLiteError
                             : Expose(subgraph->graph().inputs(), inputs, num_inputs);
}

TfLiteStatus TfLiteOpaqueContextGetOutputs(const struct TfLiteOpaqueContext* opaque_context,
                                           const int** outputs, int* num_outputs) {
  const Subgraph* subgraph = SubgraphOf(opaque_context);
  return subgraph == nullptr ? kTfLiteError
                             : Expose(subgraph->graph().outputs(), outputs, num_outputs);
}

TfLiteStatus TfLiteOpaqueContextGetVariables(const struct TfLiteOpaqueContext* opaque_context,
                                             const int** variables, int* num_variables) {
  const Subgraph* subgraph = SubgraphOf(opaque_context);
  return subgraph == nullptr ? kTfLiteError
                             : Expose(subgraph->graph().variables(), variables, num_variables);
}

size_t TfLiteOpaqueContextGetNumNodes(const struct TfLiteOpaqueContext* opaque_context) {
  const Subgraph* subgraph = SubgraphOf(opaque_context);
  return subgraph == nullptr ? 0 : static_cast<size_t>(subgraph->graph().node_count());
}

const char* TfLiteOpaqueContextGetName(const struct TfLiteOpaqueContext* opaque_context) {
  const Subgraph* subgraph = SubgraphOf(opaque_context);
  return subgraph == nullptr ? "" : subgraph->name();
}

TfLiteStatus TfLiteOpaqueContextAcquireSubgraphContext(
    struct TfLiteOpaqueContext* opaque_context, int subgraph_index,
    TfLiteOpaqueContext** acquired_opaque_context) {
  const Subgraph* subgraph = SubgraphOf(opaque_context);
  if (subgraph == nullptr || acquired_opaque_context == nullptr) return kTfLiteError;
  TfLiteContext* acquired = nullptr;
  const TfLiteStatus status =
      deputy::AcquireContext(subgraph->interpreter(), subgraph_index, &acquired);
  if (status == kTfLiteOk) {
    *acquired_opaque_context = reinterpret_cast<TfLiteOpaqueContext*>(acquired);
  }
  return status;
}

TfLiteStatus TfLiteOpaqueContextReleaseSubgraphContext(struct TfLiteOpaqueContext* opaque_context,
                                                       int subgraph_index) {
  const Subgraph* subgraph = SubgraphOf(opaque_context);
  return subgraph == nullptr ? kTfLiteError
                             : deputy::ReleaseContext(subgraph->interpreter(), subgraph_index);
}

// Excludes a subgraph from delegation, except the first one, which the client runs.
TfLiteStatus TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(
    TfLiteOpaqueContext* opaque_context, int subgraph_index) {
  const Subgraph* subgraph = SubgraphOf(opaque_context);
  if (subgraph == nullptr || subgraph_index < 1 ||
      subgraph_index >= subgraph->interpreter()->subgraph_count()) {
    return kTfLiteError;
  }
  return Guard(kTfLiteError, [&] {
    deputy::InterpreterState& interpreter = *subgraph->interpreter();
    interpreter.skippable().Mark(subgraph_index, interpreter.subgraph_count());
    return kTfLiteOk;
  });
}

TfLiteStatus TfLiteOpaqueContextGetNodeInitDataMmapInfo(const TfLiteOpaqueContext* context,
                                                        const TfLiteOpaqueNode* node, int* fd,
                                                        int64_t* custom_initial_data_offset_in_file,
                                                        int64_t* custom_initial_data_size) {
  const Subgraph* subgraph = SubgraphOf(context);
  if (subgraph == nullptr || node == nullptr || fd == nullptr ||
      custom_initial_data_offset_in_file == nullptr || custom_initial_data_size == nullptr) {
    return kTfLiteError;
  }
  const deputy::Model& model = subgraph->interpreter()->model();
  if (model.file_descriptor() < 0) return kTfLiteError;
  const auto* plain = reinterpret_cast<const TfLiteNode*>(node);
  *fd = model.file_descriptor();
  *custom_initial_data_offset_in_file = -1;
  *custom_initial_data_size = -1;
  const auto* data = static_cast<const uint8_t*>(plain->custom_initial_data);
  const std::span<const uint8_t> file = model.bytes();
  // A node that was added in code has its data elsewhere.
  if (data != nullptr && std::less_equal<>()(file.data(), data) &&
      std::less<>()(data, file.data() + file.size())) {
    *custom_initial_data_offset_in_file = data - file.data();
    *custom_initial_data_size = plain->custom_initial_data_size;
  }
  return kTfLiteOk;
}

}  // extern "C"
