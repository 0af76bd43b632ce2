// SPDX-License-Identifier: Apache-2.0
//
// The private door between the builtin kernels and the interpreter that runs them. Kernels are
// written against the public (TfLiteContext*, TfLiteNode*) signature like anybody's custom
// operator; what they may ask beyond it is here, and nothing else is.
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

// How quantised results are rounded. kDefault scales in float, as XNNPACK does; kReference is
// gemmlowp's double rounding, equal to TensorFlow Lite's reference kernels bit by bit.
enum class Arithmetic { kDefault, kReference };

// What kernels may do with float32 factors. kBfloat16: products of factors that are rounded to
// bfloat16, with sums in float32, where the machine is faster at that.
enum class Precision { kFloat32, kBfloat16 };

// A value that is passed to a subgraph: a view of memory that the caller keeps.
struct CallInput {
  TfLiteType type = kTfLiteNoType;  // NoType: an optional input that is left out
  std::span<const int> dims;
  const char* data = nullptr;  // looked at by Call only
  size_t bytes = 0;
};

// What is known of an output before the call.
struct CallOutput {
  TfLiteType type = kTfLiteNoType;
  bool known = false;  // false: the shape is known only when the subgraph has run
  std::vector<int> dims;
};

// Another subgraph of the model, as control flow operators call it. Both functions take as many
// inputs as input_count().
class CallableSubgraph {
 public:
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;

  // The operators of the model's subgraph, whoever runs them.
  virtual size_t operator_count() const = 0;
  virtual TfLiteBuiltinOperator operator_code(size_t n) const = 0;

  // For prepare: what a call with inputs of these types and shapes returns. The subgraph is
  // prepared for them unless it is known already.
  virtual TfLiteStatus InferOutputs(std::span<const CallInput> inputs,
                                    std::vector<CallOutput>* out_outputs) = 0;

  // For invoke: copies the inputs, which are not the subgraph's own tensors, prepares the subgraph
  // where it was prepared for other shapes, and runs it. Afterwards its outputs can be read, even
  // if a delegate computed them on a device.
  virtual TfLiteStatus Call(std::span<const CallInput> inputs) = 0;

  // The n-th output, until the next call of anything; null when the subgraph has none there.
  virtual const TfLiteTensor* output(size_t n) = 0;

 protected:
  ~CallableSubgraph() = default;
};

// What a node with one output can be in a step; see step.h.
enum class StepRole : uint8_t {
  kNone,
  kHead,       // a layer that computes what follows it before it stores
  kClamp,      // of input 0
  kSum,        // of two inputs, clamped
  kPrelu,      // of input 0 with slopes per channel
  kHardSwish,  // of input 0
  kPad,        // input 0 in zeros
  kScale,      // an input times a factor per channel, the other one
};

// Zeros around an image [batches][height][width][channels].
struct StepMargins {
  int top = 0, bottom = 0, left = 0, right = 0;
  int channels = 0;  // behind the last channel

  bool any_around() const { return (top | bottom | left | right) != 0; }
};

// Every y-th row and every x-th column of an image, from the first on.
struct PixelStride {
  int y = 1, x = 1;

  bool any() const { return y != 1 || x != 1; }
  // What is left of so many rows and columns.
  int rows(int all) const { return (all - 1) / y + 1; }
  int columns(int all) const { return (all - 1) / x + 1; }
  friend bool operator==(const PixelStride&, const PixelStride&) = default;
  friend PixelStride operator*(const PixelStride& a, const PixelStride& b) {
    return {a.y * b.y, a.x * b.x};
  }
};

// A sum of int8 steps in float: round(clamp(a * factors[0] + b * factors[1] + offset)) +
// zero_point, to nearest even.
struct StepScales {
  float factors[2] = {0, 0};
  float offset = 0;
  int32_t zero_point = 0;
};

// A layer of images whose output can be computed row by row, for layers that are computed strip by
// strip (core/exec/strips.h).
struct StripOffer {
  int batches = 0, rows = 0;  // of the output; no rows: it cannot
  size_t row_bytes = 0;       // of the output
  int64_t reach = 1;          // rows of input 0 that one of the output reads
  int stride = 1;             // from one row of the output to the next

  // The rows of input 0 that so many neighbours read.
  int64_t InputRows(int64_t count) const { return (count - 1) * stride + reach; }
};

struct StepRun;

// What a node that only copies leaves undone where memory allows it: parts that follow each other
// without gaps in a whole, from byte `offset` on.
struct ViewOffer {
  // kRefused: no output of the node may use an input's memory, whatever its registration allows.
  enum class Kind : uint8_t { kNone, kInputsInOutput, kOutputsInInput, kRefused };
  Kind kind = Kind::kNone;
  int whole = 0;  // its number among the outputs or inputs
  size_t offset = 0;
};

struct StepOffer {
  // The kernel's own invoke: a node whose registration has another is left alone.
  TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*) = nullptr;
  // For nodes that can be the head of a step: called in place of `invoke` to compute the whole
  // step.
  TfLiteStatus (*run)(TfLiteContext*, TfLiteNode*, const StepRun&) = nullptr;
  StepRole role = StepRole::kNone;
  // kClamp, kSum: the bounds.
  float low = 0, high = 0;
  // kSum, kScale: bit i: input i has as many elements as the output, in the same places.
  uint32_t matching_inputs = 0;
  StepScales scales = {};  // kSum, of int8
  // kHead: input 0 may come without its margins; before it was multiplied by factors.
  bool takes_margins = false, takes_factors = false;
  // kHead: can make an output of which pixels are left out, and read an input of which it needs
  // those alone that are there. `pointwise`: one pixel of the output reads one of input 0, which
  // are `stride` apart there.
  bool subsamples = false, pointwise = false;
  PixelStride stride = {};
  StripOffer strip = {};  // kHead
  // kHead: announces the scratch of a step with layers, or with factors, whose tensors have memory.
  void (*announce)(TfLiteContext*, const StepRun&) = nullptr;
  // kPad.
  StepMargins margins = {};
  // Whatever the role.
  RowOffer by_rows = {};
};

struct StripLayer;
inline constexpr int kMostStripLayers = 8;

// What the head of a step computes, in this order; tensors by index, -1 where there is none.
struct StepRun {
  int input = -1;  // read in place of its input 0, which has these margins in addition
  StepMargins margins = {};
  int factors = -1;  // or which is to be multiplied by these, of its channels
  // Bounds of the clamp behind the head's own operator.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  int addend = -1;  // may have fewer channels than the output: zeros follow
  float sum_low = 0, sum_high = 0;
  StepScales scales = {};            // of int8: what is made, then the addend
  StepRole curve = StepRole::kNone;  // or kPrelu, kHardSwish
  int slopes = -1;                   // of kPrelu
  int output = -1;                   // written in place of its own
  // Input 0 and the output have these pixels alone, one behind the other; their shapes are those of
  // all pixels.
  PixelStride input_stride = {}, output_stride = {};
  // Of a step by rows, which has none of the above but the output.
  RowProgram rows = {};
  // Instead of all of that, but for the input, its margins and the output: layers that are computed
  // strip by strip, each of which reads what the one before it makes. The last makes `strip_rows`
  // rows at a time.
  std::vector<StripLayer> layers;
  int strip_rows = 0;
};

struct StripLayer {
  int position = -1;           // in the plan
  TfLiteNode* node = nullptr;  // in invoke
  StepRun run;
};

class Runtime {
 public:
  virtual ThreadPool& pool() = 0;
  // Who is told what the pool's threads do for a node; null: nobody.
  virtual TileObserver* tile_observer() = 0;
  virtual Arithmetic arithmetic() const = 0;
  virtual Precision precision() const = 0;
  virtual const Limits& limits() const = 0;

  // Whether any node of the current plan, or the caller as a graph output, reads the tensor.
  virtual bool TensorIsRead(int tensor_index) const = 0;

  // Returns true if the tensor has the shape that the model declares, without open extents.
  virtual bool HasDeclaredShape(int tensor_index) const = 0;

  // The subgraph of that number, null when there is none.
  virtual CallableSubgraph* FindSubgraph(int index) = 0;

  // True once per request to stop; then return kTfLiteCancelled. For kernels that loop.
  virtual bool TakeCancellation() = 0;

  // Memory for the time of one invoke; see scratch.h.
  virtual ScratchArena& scratch() = 0;

  // What lasts from one inference to the next, for all subgraphs of the interpreter.
  virtual Resources& resources() = 0;

  // Returns the store of packed constants that the interpreters of the model share, if `data` is
  // part of the model's file or of that store; else null. See packed_constant.h.
  virtual PackedConstants* PackedConstantsOf(const void* data) = 0;

  // Memory for constants that nodes pack for themselves; it lasts as long as the interpreter.
  virtual PackedConstants& node_constants() = 0;

  // Copies a part of a constant that lies in a file; see constant_reader.h. False where it does
  // not, or cannot be read. Any thread may call it.
  virtual bool CopyConstant(const void* data, size_t bytes, void* to) = 0;

  // For prepare: `pack` is to be called for the node when all nodes are prepared and memory is
  // laid out, so that the first invoke need not pack constants. It may not happen: nodes that a
  // delegate takes never run.
  virtual void RequestPacking(const TfLiteNode* node,
                              TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) = 0;

  // For `pack`: the node's output is a constant (PersistentRo) whose contents are there now, and
  // whether some tensor is such a one. Of others they come with the first invoke.
  virtual void NoteContents(int tensor_index) = 0;
  virtual bool HasContents(int tensor_index) const = 0;

  // For prepare: what computes the node that is being prepared, of those operators that have
  // several implementations. Static; shown to whoever asks how a node is run.
  virtual void NoteImplementation(const char* name) = 0;

  // For prepare: the node can be part of a step with what it has prepared. It holds until the node
  // is prepared again.
  virtual void OfferStep(const TfLiteNode* node, const StepOffer& offer) = 0;

  // Likewise: parts and their whole may lie in one memory. A part that does has to be left where it
  // is.
  virtual void OfferViews(const TfLiteNode* node, const ViewOffer& offer) = 0;

  // For StepOffer::run: a node of the step.
  virtual TfLiteNode* step_node(int node_index) = 0;

  // Keeps the reason of a failing kernel for the one report the interpreter makes about it.
  virtual void NoteFailure(const char* text) = 0;

  // What a kernel or a delegate reports through the context.
  virtual void Report(const char* format, va_list args) = 0;

 protected:
  ~Runtime() = default;
};

// The ReportError of every context that is ours, by which they are known; impl_ is their Runtime.
void ReportContextError(TfLiteContext* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// The runtime behind one of our contexts, or null.
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

// Threads that ParallelFor may use: at least 1; worker numbers are below it.
inline int ThreadCount(const TfLiteContext* context) {
  Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? 1 : runtime->pool().threads();
}

// function(tile, worker) for every tile, on the interpreter's threads. Results must not depend on
// which worker runs a tile.
template <typename Function>
void ParallelFor(const TfLiteContext* context, int tiles, Function&& function) {
  if (Runtime* runtime = RuntimeOf(context)) {
    runtime->pool().ParallelFor(tiles, function, runtime->tile_observer());
  } else {
    for (int tile = 0; tile < tiles; ++tile) function(tile, 0);
  }
}

// call(function, first, last, worker) for ranges that together are [0, count), on the interpreter's
// threads: tasks of `grain` or more each, because a hand-over must not cost more than the work.
void RunRanges(const TfLiteContext* context, int64_t count, int64_t grain, const void* function,
               void (*call)(const void* function, int64_t first, int64_t last, int worker));

// The same with function(first, last) or function(first, last, worker), which is compiled once,
// whatever runs it.
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

// A kernel's failure: the reason as "tensor T 'name': expected X, found Y" or the like. Under our
// interpreter it becomes part of the one report "Node number N (OP) failed to prepare.; subgraph S
// node N OP: <reason>"; under a foreign context it is reported at once. Returns kTfLiteError.
TfLiteStatus KernelError(TfLiteContext* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_RUNTIME_H_
