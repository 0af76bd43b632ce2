// SPDX-License-Identifier: Apache-2.0
//
// Variables, which the interpreter stores under the names given by VAR_HANDLE, and hash tables,
// which it stores by number. Names of variables point into the model. A table is filled once:
// importing into a full table has no effect, and of equal keys the first one is used, as in
// TensorFlow Lite.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/elements.h"
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

constexpr uint32_t kValueTypes = kMovedNumberBits | kPackedBits | TypeBit(kTfLiteComplex128);

constexpr uint32_t kEntryTypes = kInt64Bit | kStringBit;

// Returns the interpreter's resources, or null after reporting an error.
Resources* FindResources(TfLiteContext* context) {
  Runtime* runtime = RuntimeOf(context);
  if (runtime != nullptr) return &runtime->resources();
  KernelError(context, "variables and tables are only supported in Deputy's own interpreter");
  return nullptr;
}

TfLiteStatus CheckHandle(TfLiteContext* context, const TfLiteTensor* handle) {
  DEPUTY_TRY(CheckType(context, handle, kHandleTypes));
  return CheckElementCount(context, handle, 1);
}

// Returns the number in a handle, whose contents are known only in invoke.
TfLiteStatus ReadHandle(TfLiteContext* context, const TfLiteTensor* handle, int* out_id) {
  int32_t id;
  if (handle->data.raw == nullptr || handle->bytes < sizeof id) {
    return TensorError(context, handle, "expected the handle of a resource, found no contents");
  }
  memcpy(&id, handle->data.raw, sizeof id);
  *out_id = id;
  return kTfLiteOk;
}

// Prepares an operator that returns a handle. Its output has persistent memory, as in TensorFlow
// Lite. Its size is set here, because a resource's type does not determine it.
TfLiteStatus PrepareHandle(TfLiteContext* context, TfLiteNode* node, int rank) {
  DEPUTY_TRY(CheckNode(context, node, 0, 0, 1));
  if (FindResources(context) == nullptr) return kTfLiteError;
  TfLiteTensor* handle = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, handle, kHandleTypes));
  TfLiteIntArray* dims = TfLiteIntArrayCreate(rank);
  if (dims == nullptr) return TensorError(context, handle, "out of memory for its shape");
  for (int i = 0; i < rank; ++i) dims->data[i] = 1;
  TfLiteIntArrayFree(handle->dims);
  handle->dims = dims;
  if (IsDynamic(handle)) TfLiteTensorDataFree(handle);
  handle->allocation_type = kTfLiteArenaRwPersistent;
  handle->bytes = sizeof(int32_t);
  return kTfLiteOk;
}

TfLiteStatus PrepareVarHandle(TfLiteContext* context, TfLiteNode* node) {
  return PrepareHandle(context, node, 0);
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

// Prepares READ_VARIABLE. If the model declares no shape or a scalar, values of any shape may be
// read.
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
    return TensorError(context, value, "expected space for the %zu bytes of variable %d, found %zu",
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
    return TensorError(context, value, "out of memory for its %zu bytes in variable %d",
                       value->bytes, id);
  }
  return kTfLiteOk;
}

// ---- Hash tables --------------------------------------------------------------------------------

// Checks that the table maps int64 to string or string to int64.
TfLiteStatus CheckTableTypes(TfLiteContext* context, TfLiteType key, TfLiteType value) {
  const bool by_number = key == kTfLiteInt64 && value == kTfLiteString;
  const bool by_string = key == kTfLiteString && value == kTfLiteInt64;
  if (by_number || by_string) return kTfLiteOk;
  return KernelError(context, "expected INT64 to STRING or STRING to INT64, found %s to %s",
                     TfLiteTypeGetName(key), TfLiteTypeGetName(value));
}

TfLiteStatus PrepareHashtable(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteHashtableParams>(node);
  DEPUTY_TRY(CheckTableTypes(context, params.key_dtype, params.value_dtype));
  return PrepareHandle(context, node, 1);
}

TfLiteStatus EvalHashtable(TfLiteContext* context, TfLiteNode* node) {
  Resources* const resources = FindResources(context);
  if (resources == nullptr) return kTfLiteError;
  const auto& params = ParamsOf<TfLiteHashtableParams>(node);
  const int32_t id = params.table_id;
  if (!resources->CreateTable(id, params.key_dtype, params.value_dtype, LimitsOf(context))) {
    return KernelError(context, "cannot create table %d: too many tables", id);
  }
  memcpy(Output(context, node, 0)->data.raw, &id, sizeof id);
  return kTfLiteOk;
}

// Returns the table that input 0 refers to, or null after reporting an error.
const Resources::Table* ReadTable(TfLiteContext* context, TfLiteNode* node, int* out_id) {
  Resources* const resources = FindResources(context);
  const TfLiteTensor* handle = Input(context, node, 0);
  if (resources == nullptr || ReadHandle(context, handle, out_id) != kTfLiteOk) return nullptr;
  const Resources::Table* table = resources->FindTable(*out_id);
  if (table == nullptr) TensorError(context, handle, "there is no table %d", *out_id);
  return table;
}

TfLiteStatus CheckEntryTypes(TfLiteContext* context, const Resources::Table& table,
                             const TfLiteTensor* keys, const TfLiteTensor* values) {
  if (keys->type == table.key_type && values->type == table.value_type) return kTfLiteOk;
  return TensorError(context, keys, "expected the types of the table, %s to %s, found %s to %s",
                     TfLiteTypeGetName(table.key_type), TfLiteTypeGetName(table.value_type),
                     TfLiteTypeGetName(keys->type), TfLiteTypeGetName(values->type));
}

TfLiteStatus PrepareHashtableFind(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  DEPUTY_TRY(CheckHandle(context, Input(context, node, 0)));
  const TfLiteTensor* keys = Input(context, node, 1);
  const TfLiteTensor* otherwise = Input(context, node, 2);
  TfLiteTensor* values = Output(context, node, 0);
  DEPUTY_TRY(CheckSameType(context, values, otherwise));
  DEPUTY_TRY(CheckTableTypes(context, keys->type, values->type));
  if (values->type == kTfLiteString) MakeDynamic(values);
  return ResizeLike(context, values, keys);
}

TfLiteStatus FindNumbers(TfLiteContext* context, const Resources::Table& table,
                         const TfLiteTensor* keys, int64_t otherwise, TfLiteTensor* values) {
  std::vector<std::string_view> names;
  DEPUTY_TRY(ReadStrings(context, keys, &names));
  int64_t* out = Data<int64_t>(values);
  for (const std::string_view name : names) {
    const auto found = table.numbers.find(name);
    *out++ = found == table.numbers.end() ? otherwise : found->second;
  }
  return kTfLiteOk;
}

TfLiteStatus FindStrings(TfLiteContext* context, const Resources::Table& table,
                         const TfLiteTensor* keys, const TfLiteTensor* otherwise,
                         TfLiteTensor* values) {
  std::vector<std::string_view> fallback, strings;
  DEPUTY_TRY(ReadStrings(context, otherwise, &fallback));
  const int64_t count = ElementCount(keys);
  DEPUTY_TRY(ReserveStrings(context, values, count, &strings));
  for (int64_t i = 0; i < count; ++i) {
    const auto found = table.strings.find(Data<int64_t>(keys)[i]);
    strings[static_cast<size_t>(i)] =
        found == table.strings.end() ? fallback[0] : std::string_view(found->second);
  }
  return WriteStrings(context, values, strings);
}

TfLiteStatus EvalHashtableFind(TfLiteContext* context, TfLiteNode* node) {
  int id = 0;
  const Resources::Table* table = ReadTable(context, node, &id);
  if (table == nullptr) return kTfLiteError;
  const TfLiteTensor* keys = Input(context, node, 1);
  const TfLiteTensor* otherwise = Input(context, node, 2);
  TfLiteTensor* values = Output(context, node, 0);
  DEPUTY_TRY(CheckEntryTypes(context, *table, keys, values));
  if (!table->filled) return KernelError(context, "nothing was imported into table %d", id);
  if (ElementCount(otherwise) == 0) {
    return TensorError(context, otherwise, "expected 1 element or more, found none");
  }
  if (table->key_type == kTfLiteString) {
    return FindNumbers(context, *table, keys, *Data<int64_t>(otherwise), values);
  }
  return FindStrings(context, *table, keys, otherwise, values);
}

TfLiteStatus PrepareHashtableImport(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 0));
  DEPUTY_TRY(CheckHandle(context, Input(context, node, 0)));
  const TfLiteTensor* keys = Input(context, node, 1);
  const TfLiteTensor* values = Input(context, node, 2);
  DEPUTY_TRY(CheckTableTypes(context, keys->type, values->type));
  if (TfLiteIntArrayEqual(keys->dims, values->dims) != 0) return kTfLiteOk;
  return TensorError(context, values, "expected the shape of the keys");
}

TfLiteStatus EvalHashtableImport(TfLiteContext* context, TfLiteNode* node) {
  int id = 0;
  const Resources::Table* table = ReadTable(context, node, &id);
  if (table == nullptr) return kTfLiteError;
  const TfLiteTensor* keys = Input(context, node, 1);
  const TfLiteTensor* values = Input(context, node, 2);
  DEPUTY_TRY(CheckEntryTypes(context, *table, keys, values));
  if (table->filled) return kTfLiteOk;
  const bool by_string = table->key_type == kTfLiteString;
  std::vector<std::string_view> strings;
  DEPUTY_TRY(ReadStrings(context, by_string ? keys : values, &strings));
  const int64_t* numbers = Data<int64_t>(by_string ? values : keys);
  Resources::Table filled = *table;
  filled.filled = true;
  for (size_t i = 0; i < strings.size(); ++i) {
    filled.bytes += strings[i].size() + sizeof(int64_t);
    if (by_string) {
      filled.numbers.emplace(strings[i], numbers[i]);
    } else {
      filled.strings.emplace(numbers[i], strings[i]);
    }
  }
  if (RuntimeOf(context)->resources().FillTable(id, std::move(filled), LimitsOf(context))) {
    return kTfLiteOk;
  }
  return TensorError(context, keys, "out of memory for its %zu entries in table %d", strings.size(),
                     id);
}

TfLiteStatus PrepareHashtableSize(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  DEPUTY_TRY(CheckHandle(context, Input(context, node, 0)));
  TfLiteTensor* size = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, size, kInt64Bit));
  const int one[] = {1};
  return ResizeTo(context, size, one);
}

TfLiteStatus EvalHashtableSize(TfLiteContext* context, TfLiteNode* node) {
  int id = 0;
  const Resources::Table* table = ReadTable(context, node, &id);
  if (table == nullptr) return kTfLiteError;
  *Data<int64_t>(Output(context, node, 0)) =
      static_cast<int64_t>(table->strings.size() + table->numbers.size());
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
    WithOptions<107, TfLiteHashtableParams, &FillHashtable>(
        KernelRow<void>("HASHTABLE", kTfLiteBuiltinHashtable, 1, TypeBit(kTfLiteResource),
                        &PrepareHashtable, &Guarded<&EvalHashtable>)),
    KernelRow<void>("HASHTABLE_FIND", kTfLiteBuiltinHashtableFind, 1, kEntryTypes,
                    &PrepareHashtableFind, &Guarded<&EvalHashtableFind>),
    KernelRow<void>("HASHTABLE_IMPORT", kTfLiteBuiltinHashtableImport, 1, kEntryTypes,
                    &PrepareHashtableImport, &Guarded<&EvalHashtableImport>),
    KernelRow<void>("HASHTABLE_SIZE", kTfLiteBuiltinHashtableSize, 1, kInt64Bit,
                    &PrepareHashtableSize, &Guarded<&EvalHashtableSize>),
};

}  // namespace

constexpr std::span<const OpDef> kResourceOps = kTable;

}  // namespace deputy
