// SPDX-License-Identifier: Apache-2.0
//
// Private interface between the builtin kernels and the interpreter that runs them. Kernels are
// written against the public (TfLiteContext*, TfLiteNode*) signature, as custom operators are; this
// file declares everything that they may use beyond it.
//
// A delegate may call a builtin's invoke with a context of its own. RuntimeOf returns null for any
// context that is not ours, and the helpers below then run single-threaded with default
// arithmetic.
#ifndef DEPUTY_CORE_KERNEL_API_RUNTIME_H_
#define DEPUTY_CORE_KERNEL_API_RUNTIME_H_

#include <cstdarg>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "c_api/include/builtin_ops.h"
#include "c_api/include/common.h"
#include "core/base/memory.h"
#include "core/base/packed_constants.h"
#include "core/base/resources.h"
#include "core/base/scratch_arena.h"
#include "core/base/thread_pool.h"
#include "core/base/tile_observer.h"
#include "core/kernel_api/row_kernel.h"

namespace deputy {

// Rounding of quantised results. kDefault scales in float, as XNNPACK does; kReference is
// gemmlowp's double rounding, equal to TensorFlow Lite's reference kernels bit by bit.
enum class Arithmetic { kDefault, kReference };

// Precision of float32 products. kBfloat16 permits kernels to round factors to bfloat16 and to
// accumulate in float32, on machines where that is faster.
enum class Precision { kFloat32, kBfloat16 };

// An argument of a subgraph call: a view of memory that the caller owns.
struct CallInput {
  TfLiteType type = kTfLiteNoType;  // NoType: an optional input that is absent
  std::span<const int> dims;
  const char* data = nullptr;  // read by Call only
  size_t bytes = 0;
};

// An output's type and shape, as far as they are known before the call.
struct CallOutput {
  TfLiteType type = kTfLiteNoType;
  bool known = false;  // false: the shape is known only after the subgraph has run
  std::vector<int> dims;
};

// Another subgraph of the model, as control flow operators call it. Both functions take
// input_count() inputs.
class CallableSubgraph {
 public:
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;

  // The operators of the model's subgraph, including those that a delegate runs.
  virtual size_t operator_count() const = 0;
  virtual TfLiteBuiltinOperator operator_code(size_t n) const = 0;

  // For prepare: infers types and shapes of the outputs from those of the inputs. Prepares the
  // subgraph for the inputs unless the result is known already.
  virtual TfLiteStatus InferOutputs(std::span<const CallInput> inputs,
                                    std::vector<CallOutput>* out_outputs) = 0;

  // For invoke: copies the inputs, which must not be tensors of the subgraph, prepares the subgraph
  // again if their shapes have changed, and runs it. Afterwards its outputs can be read, even if a
  // delegate computed them on a device.
  virtual TfLiteStatus Call(std::span<const CallInput> inputs) = 0;

  // Returns the n-th output, valid until the next call of any subgraph; null if n is out of range.
  virtual const TfLiteTensor* output(size_t n) = 0;

 protected:
  ~CallableSubgraph() = default;
};

// Role that a node with one output can have in a fusion group; see step.h.
enum class FusionRole : uint8_t {
  kNone,
  kHead,       // a layer that can apply an epilogue to its results
  kClamp,      // clamps input 0
  kSum,        // clamped sum of two inputs
  kPrelu,      // PRELU of input 0 with one slope per channel
  kHardSwish,  // HARD_SWISH of input 0
  kPad,        // pads input 0 with zeros
  kScale,      // one input times a factor per channel, which is the other input
};

// Zero padding around an image [batches][height][width][channels].
struct ImagePadding {
  int top = 0, bottom = 0, left = 0, right = 0;
  int channels = 0;  // padding after the last channel

  bool pads_image() const { return (top | bottom | left | right) != 0; }
};

// Subsampling of an image: every y-th row and every x-th column, starting with the first.
struct PixelStride {
  int y = 1, x = 1;

  bool any() const { return y != 1 || x != 1; }
  // Number of rows or columns that remain of `all`.
  int rows(int all) const { return (all - 1) / y + 1; }
  int columns(int all) const { return (all - 1) / x + 1; }
  friend bool operator==(const PixelStride&, const PixelStride&) = default;
  friend PixelStride operator*(const PixelStride& a, const PixelStride& b) {
    return {a.y * b.y, a.x * b.x};
  }
};

// Requantisation of an int8 sum in float: round(clamp(a * factors[0] + b * factors[1] + offset)) +
// zero_point, rounded to nearest even.
struct SumScales {
  float factors[2] = {0, 0};
  float offset = 0;
  int32_t zero_point = 0;
};

// Describes an image layer whose output can be computed row by row, for layers that are computed
// strip by strip (core/fusion/strips.h).
struct StripOffer {
  int batches = 0, rows = 0;  // of the output; rows = 0: not supported
  size_t row_bytes = 0;       // bytes per row of the output
  int64_t reach = 1;          // rows of input 0 that one output row reads
  int stride = 1;             // distance in input rows between adjacent output rows

  // Returns the number of input rows that `count` adjacent output rows read.
  int64_t InputRows(int64_t count) const { return (count - 1) * stride + reach; }
};

struct GroupRun;

// Describes a node that only copies, so that its outputs can alias its inputs: the parts follow
// each other without gaps in a whole, starting at byte `offset`.
struct ViewOffer {
  // kRefused: no output of the node may use an input's memory, whatever its registration allows.
  enum class Kind : uint8_t { kNone, kInputsInOutput, kOutputsInInput, kRefused };
  Kind kind = Kind::kNone;
  int whole = 0;  // index of the whole among the outputs or inputs
  size_t offset = 0;
};

struct FusionOffer {
  // The kernel's own invoke: a node whose registration has another one is not fused.
  TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*) = nullptr;
  // Called in place of `invoke` to compute the whole group if the node is its head.
  TfLiteStatus (*run)(TfLiteContext*, TfLiteNode*, const GroupRun&) = nullptr;
  FusionRole role = FusionRole::kNone;
  // Bounds of kClamp and kSum.
  float low = 0, high = 0;
  // kSum, kScale, bit i: input i has the output's shape, so that elements match by index.
  uint32_t matching_inputs = 0;
  SumScales scales = {};  // kSum of int8
  // kHead: can absorb a preceding PAD and a preceding multiplication by a factor per channel.
  bool absorbs_padding = false, absorbs_factors = false;
  // kHead: supports a subsampled output and a subsampled input. `pointwise`: each output pixel
  // reads one pixel of input 0; adjacent ones are `stride` apart there.
  bool subsamples = false, pointwise = false;
  PixelStride stride = {};
  StripOffer strip = {};  // kHead
  // kHead: announces the scratch memory of a group with layers or factors. Called when the tensors
  // have memory.
  void (*announce)(TfLiteContext*, const GroupRun&) = nullptr;
  // Padding of kPad.
  ImagePadding margins = {};
  // Valid for every role.
  RowOffer by_rows = {};
};

struct StripLayer;
inline constexpr int kMaxStripLayers = 8;

// The fusion group that a head computes, in this order; tensors by index, -1: absent.
struct GroupRun {
  int input = -1;  // read in place of input 0; `margins` is added to the head's own padding
  ImagePadding margins = {};
  int factors = -1;  // factors per channel that the input is multiplied by
  // Bounds of the clamp after the head's own operator.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  int addend = -1;  // may have fewer channels than the output: the others are 0
  float sum_low = 0, sum_high = 0;
  SumScales scales = {};  // int8: factors of the computed value and of the addend
  FusionRole activation = FusionRole::kNone;  // kNone, kPrelu or kHardSwish
  int slopes = -1;                            // slopes of kPrelu
  int output = -1;                            // written in place of the head's own output
  // Input 0 and the output store only these pixels, contiguously; their shapes still count all
  // pixels.
  PixelStride input_stride = {}, output_stride = {};
  // Program of a row-wise group; of the members above, only `output` is used then.
  RowProgram rows = {};
  // Layers that are computed strip by strip, each of which reads the output of the one before it;
  // of the members above, only `input`, `margins` and `output` are used then. The last layer
  // computes `strip_rows` rows at a time.
  std::vector<StripLayer> layers;
  int strip_rows = 0;
};

struct StripLayer {
  int position = -1;           // position in the plan
  TfLiteNode* node = nullptr;  // set during invoke
  GroupRun run;
};

class Runtime {
 public:
  virtual ThreadPool& pool() = 0;
  // Receives the tiles that the pool's threads compute for a node; null: there is no observer.
  virtual TileObserver* tile_observer() = 0;
  virtual Arithmetic arithmetic() const = 0;
  virtual Precision precision() const = 0;
  virtual const Limits& limits() const = 0;

  // Returns true if a node of the current plan reads the tensor, or if it is an output of the
  // graph.
  virtual bool TensorIsRead(int tensor_index) const = 0;

  // Returns true if the tensor has the shape that the model declares, without open extents.
  virtual bool HasDeclaredShape(int tensor_index) const = 0;

  // Returns the subgraph with this index, or null if it is out of range.
  virtual CallableSubgraph* FindSubgraph(int index) = 0;

  // Returns true once per request to cancel; the caller then returns kTfLiteCancelled. For kernels
  // that loop.
  virtual bool TakeCancellation() = 0;

  // Memory with the lifetime of one invoke; see scratch.h.
  virtual ScratchArena& scratch() = 0;

  // State that persists between inferences, shared by all subgraphs of the interpreter.
  virtual Resources& resources() = 0;

  // Returns the store of packed constants that the interpreters of the model share, if `data` is
  // part of the model's file or of that store; else null. See packed_constant.h.
  virtual PackedConstants* PackedConstantsOf(const void* data) = 0;

  // Memory for constants that belong to one node; its lifetime is the interpreter's.
  virtual PackedConstants& node_constants() = 0;

  // Copies a part of a constant that lies in a mapped file; see constant_reader.h. Returns false if
  // the constant lies elsewhere or cannot be read. Thread-safe.
  virtual bool CopyConstant(const void* data, size_t bytes, void* to) = 0;

  // For prepare: requests a call of `pack` for the node once all nodes are prepared and memory is
  // allocated, so that the first invoke need not pack constants. The call is not guaranteed: nodes
  // that a delegate claims never run.
  virtual void RequestPacking(const TfLiteNode* node,
                              TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) = 0;

  // For `pack`: NoteContents declares that the node's output, a constant (PersistentRo), has its
  // contents now; HasContents queries that. Other constants of this kind are computed by the first
  // invoke.
  virtual void NoteContents(int tensor_index) = 0;
  virtual bool HasContents(int tensor_index) const = 0;

  // For prepare, by operators with several implementations: sets the name of the one that computes
  // the node. The string is static; it is shown in reports.
  virtual void NoteImplementation(const char* name) = 0;

  // For prepare: declares that the node keeps state between inferences which its prepare resets.
  // Every AllocateTensors after a resize then prepares the node.
  virtual void NoteState() = 0;

  // For prepare: declares that the node can be fused, with the state it has prepared. Valid until
  // the node is prepared again.
  virtual void OfferFusion(const TfLiteNode* node, const FusionOffer& offer) = 0;

  // For prepare: declares that parts and their whole may share memory. The kernel must not copy a
  // part that already lies in the whole. Valid until the node is prepared again.
  virtual void OfferViews(const TfLiteNode* node, const ViewOffer& offer) = 0;

  // For FusionOffer::run: returns a node of the group.
  virtual TfLiteNode* group_node(int node_index) = 0;

  // Keeps the reason of a failing kernel for the one report the interpreter makes about it.
  virtual void NoteFailure(const char* text) = 0;

  // Receives a text that a kernel or a delegate reports through the context.
  virtual void Report(const char* format, va_list args) = 0;

 protected:
  ~Runtime() = default;
};

// The ReportError of all contexts of Deputy, which identifies them; impl_ points to their Runtime.
void ReportContextError(TfLiteContext* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// Returns the Runtime of one of Deputy's contexts, or null for a foreign context.
inline Runtime* RuntimeOf(const TfLiteContext* context) {
  if (context == nullptr || context->ReportError != &ReportContextError) return nullptr;
  return static_cast<Runtime*>(context->impl_);
}

inline Arithmetic ArithmeticOf(const TfLiteContext* context) {
  const Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? Arithmetic::kDefault : runtime->arithmetic();
}

inline Precision PrecisionOf(const TfLiteContext* context) {
  const Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? Precision::kFloat32 : runtime->precision();
}

// Number of threads that ParallelFor may use, at least 1. Worker numbers are below it.
inline int ThreadCount(const TfLiteContext* context) {
  Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? 1 : runtime->pool().threads();
}

// Calls function(tile, worker) for every tile on the interpreter's threads. Results must not depend
// on which worker runs a tile.
template <typename Function>
void ParallelFor(const TfLiteContext* context, int tiles, Function&& function) {
  if (Runtime* runtime = RuntimeOf(context)) {
    runtime->pool().ParallelFor(tiles, function, runtime->tile_observer());
  } else {
    for (int tile = 0; tile < tiles; ++tile) function(tile, 0);
  }
}

// Calls call(function, first, last, worker) on the interpreter's threads for ranges that together
// cover [0, count). Each range has at least `grain` elements, so that the work outweighs the cost
// of the hand-over to a thread.
void RunRanges(const TfLiteContext* context, int64_t count, int64_t grain, const void* function,
               void (*call)(const void* function, int64_t first, int64_t last, int worker));

// Calls RunRanges with function(first, last) or function(first, last, worker). RunRanges itself is
// compiled once for all functions.
template <typename Function>
void ParallelRanges(const TfLiteContext* context, int64_t count, int64_t grain,
                    const Function& function) {
  RunRanges(context, count, grain, &function,
            [](const void* f, int64_t first, int64_t last, [[maybe_unused]] int worker) {
              const Function& run = *static_cast<const Function*>(f);
              if constexpr (std::is_invocable_v<const Function&, int64_t, int64_t, int>) {
                run(first, last, worker);
              } else {
                run(first, last);
              }
            });
}

// Reports a kernel's failure. The text has the form "tensor T 'name': expected X, found Y". Under
// our interpreter it becomes part of the one report "Node number N (OP) failed to prepare.;
// subgraph S node N OP: <reason>"; under a foreign context it is reported at once. Returns
// kTfLiteError.
TfLiteStatus KernelError(TfLiteContext* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_RUNTIME_H_
