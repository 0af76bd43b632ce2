// SPDX-License-Identifier: Apache-2.0
//
// What every kernel needs: reading a node, checking what a model claims about its tensors, and
// setting the shape of an output. All checks report through KernelError with the tensor's number
// and name, what was expected and what was found, and answer kTfLiteError.
//
// Kernels call these from prepare. Invoke may rely on what prepare has checked, with two
// exceptions: contents of tensors (shapes, indices), which only invoke sees, and data pointers,
// which may be null exactly for tensors of zero bytes.
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

// Passes on the status of `expression` unless it is Ok.
#define DEPUTY_TRY(expression)                                      \
  do {                                                              \
    const TfLiteStatus deputy_try_status_ = (expression);           \
    if (deputy_try_status_ != kTfLiteOk) return deputy_try_status_; \
  } while (false)

namespace deputy {

// The largest rank our kernels take.
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

// ---- Reading a node ---------------------------------------------------------------------------

// The tensor of an input or output; null when the node has none there (too few, or -1).
TfLiteTensor* Input(TfLiteContext* context, const TfLiteNode* node, int index);
TfLiteTensor* Output(TfLiteContext* context, const TfLiteNode* node, int index);

// The operator's parameters. The runtime always makes them for operators that have some.
template <typename Params>
const Params& ParamsOf(const TfLiteNode* node) {
  return *static_cast<const Params*>(node->builtin_data);
}

// What the kernel keeps per node, made by NewData.
template <typename OpData>
OpData& DataOf(const TfLiteNode* node) {
  return *static_cast<OpData*>(node->user_data);
}

// Values of OpDef::init (as GuardedInit<&NewData<X>>) and OpDef::free.
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
// The extent of the innermost dimension; 1 for a scalar.
inline int LastDim(const TfLiteTensor* tensor) {
  return Rank(tensor) == 0 ? 1 : tensor->dims->data[Rank(tensor) - 1];
}
inline std::span<const int> Dims(const TfLiteTensor* tensor) {
  return {Rank(tensor) == 0 ? nullptr : tensor->dims->data, static_cast<size_t>(Rank(tensor))};
}

// Number of elements. CheckNode has made sure that it fits.
int64_t ElementCount(std::span<const int> dims);
inline int64_t ElementCount(const TfLiteTensor* tensor) { return ElementCount(Dims(tensor)); }

// True when the contents are those of the model file. MmapRo can be read in prepare; PersistentRo
// (an unpacked constant) has its contents only after the node that makes it has run.
inline bool IsReadableConstant(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteMmapRo;
}
inline bool IsConstant(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLitePersistentRo;
}

// For `pack` (RequestPacking): whether a constant can be read now. One that another node makes can
// where that node's `pack` has made it.
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

// Limits of the interpreter, or the defaults under a foreign context.
inline Limits LimitsOf(const TfLiteContext* context) {
  const Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? Limits() : runtime->limits();
}

// ---- Checking ---------------------------------------------------------------------------------

// A failure about one tensor: "tensor T 'name': " and the formatted text. Returns kTfLiteError.
TfLiteStatus TensorError(TfLiteContext* context, const TfLiteTensor* tensor, const char* format,
                         ...) __attribute__((format(printf, 3, 4)));

// Whether a node may read sparse constants, which hold fewer values than their shape says.
enum class Sparse { kRefused, kAllowed };

// The first check of every prepare: numbers of inputs and outputs, the first `min_inputs` inputs
// and all outputs present, and every input dense and of a shape that kernels can compute with (rank
// at most kMaxRank, no negative extent, at most 2^31-1 elements along each, a product that fits).
TfLiteStatus CheckNode(TfLiteContext* context, const TfLiteNode* node, int min_inputs,
                       int max_inputs, int outputs, Sparse sparse = Sparse::kRefused);

// The tensor's type is one of the mask.
TfLiteStatus CheckType(TfLiteContext* context, const TfLiteTensor* tensor, uint32_t types);
TfLiteStatus CheckSameType(TfLiteContext* context, const TfLiteTensor* tensor,
                           const TfLiteTensor* like);
TfLiteStatus CheckRank(TfLiteContext* context, const TfLiteTensor* tensor, int rank);
TfLiteStatus CheckDim(TfLiteContext* context, const TfLiteTensor* tensor, int axis, int expected);
TfLiteStatus CheckElementCount(TfLiteContext* context, const TfLiteTensor* tensor,
                               int64_t expected);
// One scale, positive and finite, and a zero point that the type can hold.
TfLiteStatus CheckQuantized(TfLiteContext* context, const TfLiteTensor* tensor);
// The latter alone, for operators that take no notice of the scale.
TfLiteStatus CheckZeroPoint(TfLiteContext* context, const TfLiteTensor* tensor);
// The zero point is 0; CheckSymmetric asks that of int16 only.
TfLiteStatus CheckNoZeroPoint(TfLiteContext* context, const TfLiteTensor* tensor);
TfLiteStatus CheckSymmetric(TfLiteContext* context, const TfLiteTensor* tensor);
// As above, and both alike: operators that only move or compare values do not rescale.
TfLiteStatus CheckSameQuantization(TfLiteContext* context, const TfLiteTensor* tensor,
                                   const TfLiteTensor* like);

// A container of `count` objects of `bytes` each keeps within the limits. For what is no Block.
TfLiteStatus CheckRoom(TfLiteContext* context, const TfLiteTensor* tensor, int64_t count,
                       size_t bytes, const char* what);

// Smallest and largest value of a quantised type; false for any other type.
bool QuantizedLimits(TfLiteType type, int32_t* out_min, int32_t* out_max);

// The element type found by invoke is none that the kernel knows.
TfLiteStatus UnexpectedType(TfLiteContext* context, const TfLiteTensor* tensor);

// ---- Setting outputs --------------------------------------------------------------------------

// Gives the tensor the shape `dims`. Refuses negative extents and shapes, empty ones too, of which
// kernels could not multiply any part.
TfLiteStatus ResizeTo(TfLiteContext* context, TfLiteTensor* tensor, std::span<const int> dims);
inline TfLiteStatus ResizeLike(TfLiteContext* context, TfLiteTensor* tensor,
                               const TfLiteTensor* like) {
  return ResizeTo(context, tensor, Dims(like));
}

// Turns the tensor into one that keeps its contents, in memory of its own, which ResizeTo allocates
// at once. What it points to so far is forgotten and never freed unless it is its own; a constant
// of the model is refused.
TfLiteStatus MakePersistent(TfLiteContext* context, TfLiteTensor* tensor);

// Turns the tensor into one whose shape invoke decides: ResizeTo then allocates at once.
void MakeDynamic(TfLiteTensor* tensor);
inline bool IsDynamic(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteDynamic;
}

// Elements of a task of an operator that does little with each: see ParallelRanges.
inline constexpr int64_t kElementsPerTask = 4096;

// ---- Options ----------------------------------------------------------------------------------

// OpDef::parse for operators whose options are the union member `member`: a model without them, or
// with another operator's, leaves the zeroed struct, as in TensorFlow Lite.
template <uint8_t member, typename Params, bool (*fill)(const OpOptions&, Params*)>
bool ParseOptions(const OpOptions& options, void* params) {
  if (!options.present() || options.kind() != OptionsKind{1, member}) return true;
  return fill(options, static_cast<Params*>(params));
}

// A row for an operator without options, of version 1 to `max_version`; OpData is what the kernel
// keeps per node, void where it keeps nothing.
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

// The row with options: see ParseOptions.
template <uint8_t member, typename Params, bool (*fill)(const OpOptions&, Params*)>
constexpr OpDef WithOptions(OpDef op) {
  op.options = {1, member};
  op.params_size = sizeof(Params);
  op.parse = &ParseOptions<member, Params, fill>;
  return op;
}

// A row for an operator without a kernel here: its options are read, so that a client or a delegate
// can bring the kernel. No version of it is found among the builtin kernels.
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
