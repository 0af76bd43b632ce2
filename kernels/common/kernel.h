// SPDX-License-Identifier: Apache-2.0
//
// Functions used by every kernel: access to a node's tensors, checks of what a model claims about
// them, and output shapes. The checks report with KernelError the tensor's number and name
// (CheckNode: the position of a missing tensor), what was expected and what was found, and return
// kTfLiteError.
//
// Kernels call the checks from prepare. Invoke may rely on them, except for contents of tensors
// (shapes, indices), which only invoke can check, and data pointers, which may be null for tensors
// of zero bytes, and only for those.
#ifndef DEPUTY_KERNELS_COMMON_KERNEL_H_
#define DEPUTY_KERNELS_COMMON_KERNEL_H_

#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <type_traits>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/common.h"
#include "core/base/memory.h"
#include "core/base/op_options.h"
#include "core/kernel_api/op_def.h"
#include "core/kernel_api/runtime.h"

// Returns the status of `expression` from the calling function unless it is Ok.
#define DEPUTY_TRY(expression)                                      \
  do {                                                              \
    const TfLiteStatus deputy_try_status_ = (expression);           \
    if (deputy_try_status_ != kTfLiteOk) return deputy_try_status_; \
  } while (false)

namespace deputy {

// Maximum rank of the tensors that kernels support.
inline constexpr int kMaxRank = 8;

// Type masks for CheckType and OpDef::types.
inline constexpr uint32_t kFloat32Bit = TypeBit(kTfLiteFloat32);
inline constexpr uint32_t kFloat16Bit = TypeBit(kTfLiteFloat16);
inline constexpr uint32_t kBFloat16Bit = TypeBit(kTfLiteBFloat16);
inline constexpr uint32_t kInt8Bit = TypeBit(kTfLiteInt8);
inline constexpr uint32_t kInt16Bit = TypeBit(kTfLiteInt16);
inline constexpr uint32_t kInt32Bit = TypeBit(kTfLiteInt32);
inline constexpr uint32_t kInt64Bit = TypeBit(kTfLiteInt64);
inline constexpr uint32_t kUInt8Bit = TypeBit(kTfLiteUInt8);
inline constexpr uint32_t kUInt32Bit = TypeBit(kTfLiteUInt32);
inline constexpr uint32_t kBoolBit = TypeBit(kTfLiteBool);

// ---- Access to a node -------------------------------------------------------------------------

// Returns the tensor of an input or output, or null if the node has none at `index` (too few
// tensors, or index -1).
TfLiteTensor* Input(TfLiteContext* context, const TfLiteNode* node, int index);
TfLiteTensor* Output(TfLiteContext* context, const TfLiteNode* node, int index);

// Returns the operator's parameters. The runtime creates them for every operator that has
// parameters.
template <typename Params>
const Params& ParamsOf(const TfLiteNode* node) {
  return *static_cast<const Params*>(node->builtin_data);
}

// Returns the node's data, which NewData created.
template <typename OpData>
OpData& DataOf(const TfLiteNode* node) {
  return *static_cast<OpData*>(node->user_data);
}

// Functions for OpDef::init (as GuardedInit<&NewData<X>>) and OpDef::free.
template <typename OpData>
void* NewData(TfLiteContext*, const char*, size_t) {
  return new OpData();
}
template <typename OpData>
void DeleteData(TfLiteContext*, void* user_data) {
  delete static_cast<OpData*>(user_data);
}

template <typename T>
T* Data(TfLiteTensor* tensor) {
  return static_cast<T*>(tensor->data.data);
}
template <typename T>
const T* Data(const TfLiteTensor* tensor) {
  return static_cast<const T*>(tensor->data.data);
}

inline int Rank(const TfLiteTensor* tensor) {
  return tensor->dims == nullptr ? 0 : tensor->dims->size;
}
inline int Dim(const TfLiteTensor* tensor, int axis) { return tensor->dims->data[axis]; }
// Returns the extent of the innermost dimension; 1 for a scalar.
inline int LastDim(const TfLiteTensor* tensor) {
  return Rank(tensor) == 0 ? 1 : tensor->dims->data[Rank(tensor) - 1];
}
inline std::span<const int> Dims(const TfLiteTensor* tensor) {
  return {Rank(tensor) == 0 ? nullptr : tensor->dims->data, static_cast<size_t>(Rank(tensor))};
}

// Returns the number of elements. CheckNode (inputs) or ResizeTo has checked that it does not
// overflow.
int64_t ElementCount(std::span<const int> dims);
inline int64_t ElementCount(const TfLiteTensor* tensor) { return ElementCount(Dims(tensor)); }

// Returns true if the tensor is a constant of the model (MmapRo), which can be read in prepare.
// PersistentRo tensors may get their contents later: unpacked constants do so when their producer
// runs.
inline bool IsReadableConstant(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteMmapRo;
}
inline bool IsConstant(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLitePersistentRo;
}

// Returns true if a `pack` function (RequestPacking) can read a constant's contents now. A constant
// produced by another node can be read if that node's `pack` has produced it.
inline bool IsReadableNow(const TfLiteContext* context, const TfLiteTensor* tensor) {
  if (tensor->allocation_type != kTfLitePersistentRo) return IsReadableConstant(tensor);
  const Runtime* runtime = RuntimeOf(context);
  const std::less<> before;
  if (runtime == nullptr || before(tensor, context->tensors) ||
      !before(tensor, context->tensors + context->tensors_size)) {
    return false;
  }
  return runtime->HasContents(static_cast<int>(tensor - context->tensors));
}

// Returns the interpreter's limits, or the defaults for a foreign context.
inline Limits LimitsOf(const TfLiteContext* context) {
  const Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? Limits() : runtime->limits();
}

// ---- Checks -----------------------------------------------------------------------------------

// Reports an error about one tensor: "tensor T 'name': " and the formatted text. Returns
// kTfLiteError.
TfLiteStatus TensorError(TfLiteContext* context, const TfLiteTensor* tensor, const char* format,
                         ...) __attribute__((format(printf, 3, 4)));

// States whether an operator supports sparse constants, which have fewer values than their shape
// implies.
enum class Sparse { kRefused, kAllowed };

// Makes the first checks of every prepare: the number of inputs and outputs is right; the first
// `min_inputs` inputs and all outputs are present; every input is dense, unless `sparse` is
// kAllowed, and has a shape that kernels support (rank at most kMaxRank, extents from 0 to 2^31-1,
// no overflow of the product).
TfLiteStatus CheckNode(TfLiteContext* context, const TfLiteNode* node, int min_inputs,
                       int max_inputs, int outputs, Sparse sparse = Sparse::kRefused);

// Checks that the tensor's type is in the mask.
TfLiteStatus CheckType(TfLiteContext* context, const TfLiteTensor* tensor, uint32_t types);
TfLiteStatus CheckSameType(TfLiteContext* context, const TfLiteTensor* tensor,
                           const TfLiteTensor* like);
TfLiteStatus CheckRank(TfLiteContext* context, const TfLiteTensor* tensor, int rank);
TfLiteStatus CheckDim(TfLiteContext* context, const TfLiteTensor* tensor, int axis, int expected);
TfLiteStatus CheckElementCount(TfLiteContext* context, const TfLiteTensor* tensor,
                               int64_t expected);
// Checks that there is one scale, positive and finite, and a zero point in the range of the type.
TfLiteStatus CheckQuantized(TfLiteContext* context, const TfLiteTensor* tensor);
// Checks that the zero point is in the range of the type, without a check of the scale.
TfLiteStatus CheckZeroPoint(TfLiteContext* context, const TfLiteTensor* tensor);
// Checks that the zero point is 0.
TfLiteStatus CheckNoZeroPoint(TfLiteContext* context, const TfLiteTensor* tensor);
// Checks that the zero point is 0 if the type is int16.
TfLiteStatus CheckSymmetric(TfLiteContext* context, const TfLiteTensor* tensor);
// Checks that both tensors have the same zero point and scales that differ by at most 1e-6, for
// kernels that do not rescale.
TfLiteStatus CheckSameQuantization(TfLiteContext* context, const TfLiteTensor* tensor,
                                   const TfLiteTensor* like);

// Checks the size of a container of `count` objects of `bytes` each against the limits. Block
// checks its own size; other containers need this call.
TfLiteStatus CheckContainerSize(TfLiteContext* context, const TfLiteTensor* tensor, int64_t count,
                                size_t bytes, const char* what);

// Returns the minimum and maximum of int8, uint8 or int16; false for any other type.
bool QuantizedLimits(TfLiteType type, int32_t* out_min, int32_t* out_max);

// Reports an element type that the kernel does not support.
TfLiteStatus UnexpectedType(TfLiteContext* context, const TfLiteTensor* tensor);

// ---- Output shapes ----------------------------------------------------------------------------

// Resizes the tensor to `dims`. Fails for negative extents, and for shapes, including empty ones,
// in which the product of some extents overflows.
TfLiteStatus ResizeTo(TfLiteContext* context, TfLiteTensor* tensor, std::span<const int> dims);
inline TfLiteStatus ResizeLike(TfLiteContext* context, TfLiteTensor* tensor,
                               const TfLiteTensor* like) {
  return ResizeTo(context, tensor, Dims(like));
}

// Makes the tensor persistent, in memory of its own that ResizeTo allocates at once. Its previous
// data pointer is dropped, and freed only if the tensor owns it. Fails for a constant of the model.
TfLiteStatus MakePersistent(TfLiteContext* context, TfLiteTensor* tensor);

// Makes the tensor's shape dynamic: invoke determines it, and ResizeTo then allocates at once.
void MakeDynamic(TfLiteTensor* tensor);
inline bool IsDynamic(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteDynamic;
}

// Minimum number of elements per task of an operator with little work per element; see
// ParallelRanges.
inline constexpr int64_t kElementsPerTask = 4096;

// ---- Options ----------------------------------------------------------------------------------

// OpDef::parse of operators whose options are the union member `member`. If the model has no
// options or those of another operator, the struct remains zeroed, as in TensorFlow Lite.
template <uint8_t member, typename Params, bool (*fill)(const OpOptions&, Params*)>
bool ParseOptions(const OpOptions& options, void* params) {
  if (!options.present() || options.kind() != OptionsKind{1, member}) return true;
  return fill(options, static_cast<Params*>(params));
}

// Row of an operator without options, versions 1 to `max_version`. OpData is the type of a node's
// data; void if nodes have none.
template <typename OpData>
constexpr OpDef KernelRow(const char* name, TfLiteBuiltinOperator code, int max_version,
                          uint32_t types, TfLiteStatus (*prepare)(TfLiteContext*, TfLiteNode*),
                          TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*),
                          uint64_t inplace = kTfLiteInplaceOpNone) {
  OpDef op = {.name = name,
              .code = code,
              .min_version = 1,
              .max_version = max_version,
              .types = types,
              .options = {},
              .params_size = 0,
              .parse = nullptr,
              .init = nullptr,
              .free = nullptr,
              .prepare = prepare,
              .invoke = invoke,
              .inplace = inplace};
  if constexpr (!std::is_void_v<OpData>) {
    op.init = &GuardedInit<&NewData<OpData>>;
    op.free = &DeleteData<OpData>;
  }
  return op;
}

// Adds options to a row; see ParseOptions.
template <uint8_t member, typename Params, bool (*fill)(const OpOptions&, Params*)>
constexpr OpDef WithOptions(OpDef op) {
  op.options = {1, member};
  op.params_size = sizeof(Params);
  op.parse = &ParseOptions<member, Params, fill>;
  return op;
}

// Row of an operator for which this library has no kernel: its options are parsed, so that a client
// or a delegate can provide the kernel. It is not found among the builtin kernels.
constexpr OpDef ParserRow(const char* name, TfLiteBuiltinOperator code, OptionsKind options = {},
                          size_t params_size = 0,
                          bool (*parse)(const OpOptions&, void*) = nullptr) {
  return {.name = name,
          .code = code,
          .min_version = 1,
          .max_version = 0,
          .types = 0,
          .options = options,
          .params_size = params_size,
          .parse = parse,
          .init = nullptr,
          .free = nullptr,
          .prepare = nullptr,
          .invoke = nullptr,
          .inplace = kTfLiteInplaceOpNone};
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_KERNEL_H_
