// SPDX-License-Identifier: Apache-2.0
//
// Variables, which the interpreter keeps under the names that VAR_HANDLE gives them, and hash
// tables. The latter have no kernels yet: their options are read for a client's kernel or a
// delegate. Names of variables point into the model.
#include <cstring>

#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillVarHandle(const OpOptions& options, TfLiteVarHandleParams* params) {
  params->container = options.String(0);
  params->shared_name = options.String(1);
  return true;
}

bool FillHashtable(const OpOptions& options, TfLiteHashtableParams* params) {
  params->table_id = options.Int(0);
  params->key_dtype = options.Type(1);
  params->value_dtype = options.Type(2);
  return true;
}

// ---- Variables ----------------------------------------------------------------------------------

// A handle is one int32: the number of the resource.
constexpr uint32_t kHandleTypes = TypeBit(kTfLiteResource) | kInt32Bit;

constexpr uint32_t kValueTypes =
    kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit | kBoolBit;

// Null after a report.
Resources* FindResources(TfLiteContext* context) {
  Runtime* runtime = RuntimeOf(context);
  if (runtime != nullptr) return &runtime->resources();
  KernelError(context, "variables need the context of their own interpreter");
  return nullptr;
}

TfLiteStatus CheckHandle(TfLiteContext* context, const TfLiteTensor* handle) {
  DEPUTY_TRY(CheckType(context, handle, kHandleTypes));
  return CheckElementCount(context, handle, 1);
}

// The number in a handle, whose memory only invoke sees.
TfLiteStatus ReadHandle(TfLiteContext* context, const TfLiteTensor* handle, int* out_id) {
  int32_t id;
  if (handle->data.raw == nullptr || handle->bytes < sizeof id) {
    return TensorError(context, handle, "expected the handle of a variable, found no contents");
  }
  memcpy(&id, handle->data.raw, sizeof id);
  *out_id = id;
  return kTfLiteOk;
}

// The handle has a place that lasts, as in TensorFlow Lite; a resource's size follows from no type.
TfLiteStatus PrepareVarHandle(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 0, 0, 1));
  if (FindResources(context) == nullptr) return kTfLiteError;
  TfLiteTensor* handle = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, handle, kHandleTypes));
  TfLiteIntArray* scalar = TfLiteIntArrayCreate(0);
  if (scalar == nullptr) return TensorError(context, handle, "no memory for its shape");
  TfLiteIntArrayFree(handle->dims);
  handle->dims = scalar;
  if (IsDynamic(handle)) TfLiteTensorDataFree(handle);
  handle->allocation_type = kTfLiteArenaRwPersistent;
  handle->bytes = sizeof(int32_t);
  return kTfLiteOk;
}

TfLiteStatus EvalVarHandle(TfLiteContext* context, TfLiteNode* node) {
  Resources* const resources = FindResources(context);
  if (resources == nullptr) return kTfLiteError;
  const auto& params = ParamsOf<TfLiteVarHandleParams>(node);
  const int32_t id = resources->Id(params.container == nullptr ? "" : params.container,
                                   params.shared_name == nullptr ? "" : params.shared_name);
  memcpy(Output(context, node, 0)->data.raw, &id, sizeof id);
  return kTfLiteOk;
}

// A model that gives the value no shape, or says that it is a scalar, may read values of any shape.
TfLiteStatus PrepareReadVariable(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  DEPUTY_TRY(CheckHandle(context, Input(context, node, 0)));
  TfLiteTensor* value = Output(context, node, 0);
  if (Rank(value) == 0) MakeDynamic(value);
  return kTfLiteOk;
}

TfLiteStatus EvalReadVariable(TfLiteContext* context, TfLiteNode* node) {
  Resources* const resources = FindResources(context);
  if (resources == nullptr) return kTfLiteError;
  const TfLiteTensor* handle = Input(context, node, 0);
  int id = 0;
  DEPUTY_TRY(ReadHandle(context, handle, &id));
  const Resources::Variable* variable = resources->FindVariable(id);
  if (variable == nullptr) {
    return TensorError(context, handle, "no value was assigned to variable %d", id);
  }
  TfLiteTensor* value = Output(context, node, 0);
  if (variable->type != value->type) {
    return TensorError(context, value, "expected the type of variable %d, %s, found %s", id,
                       TfLiteTypeGetName(variable->type), TfLiteTypeGetName(value->type));
  }
  if (IsDynamic(value)) {
    DEPUTY_TRY(ResizeTo(context, value, variable->dims));
    DEPUTY_TRY(TfLiteTensorRealloc(variable->bytes, value));
  }
  if (value->bytes != variable->bytes) {
    return TensorError(context, value, "expected the %zu bytes of variable %d, found room for %zu",
                       variable->bytes, id, value->bytes);
  }
  if (value->bytes > 0) memcpy(value->data.raw, variable->data.data(), value->bytes);
  return kTfLiteOk;
}

TfLiteStatus PrepareAssignVariable(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 0));
  return CheckHandle(context, Input(context, node, 0));
}

TfLiteStatus EvalAssignVariable(TfLiteContext* context, TfLiteNode* node) {
  Resources* const resources = FindResources(context);
  if (resources == nullptr) return kTfLiteError;
  int id = 0;
  DEPUTY_TRY(ReadHandle(context, Input(context, node, 0), &id));
  const TfLiteTensor* value = Input(context, node, 1);
  const std::span<const char> bytes(value->data.raw, value->bytes);
  if (!resources->Assign(id, value->type, Dims(value), bytes, LimitsOf(context))) {
    return TensorError(context, value, "no memory to keep its %zu bytes in variable %d",
                       value->bytes, id);
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<111, TfLiteVarHandleParams, &FillVarHandle>(
        KernelRow<void>("VAR_HANDLE", kTfLiteBuiltinVarHandle, 1, TypeBit(kTfLiteResource),
                        &PrepareVarHandle, &Guarded<&EvalVarHandle>)),
    KernelRow<void>("READ_VARIABLE", kTfLiteBuiltinReadVariable, 1, kValueTypes,
                    &PrepareReadVariable, &Guarded<&EvalReadVariable>),
    KernelRow<void>("ASSIGN_VARIABLE", kTfLiteBuiltinAssignVariable, 1, kValueTypes,
                    &PrepareAssignVariable, &Guarded<&EvalAssignVariable>),
    ParserRow("HASHTABLE", kTfLiteBuiltinHashtable, {1, 107}, sizeof(TfLiteHashtableParams),
              &ParseOptions<107, TfLiteHashtableParams, &FillHashtable>),
    ParserRow("HASHTABLE_FIND", kTfLiteBuiltinHashtableFind),
    ParserRow("HASHTABLE_IMPORT", kTfLiteBuiltinHashtableImport),
    ParserRow("HASHTABLE_SIZE", kTfLiteBuiltinHashtableSize),
};

}  // namespace

constexpr std::span<const OpDef> kResourceOps = kTable;

}  // namespace deputy
