// SPDX-License-Identifier: Apache-2.0
//
// Reductions along any set of axes, and CUMSUM. Adjacent axes that are both reduced or both kept
// are merged; then the input is read once and its elements are folded into accumulators, on all
// threads. The partition of the work depends only on the shape, and so do the bits of a float sum.
//
// Quantised SUM and MEAN add quantised values and rescale once: exactly in the default arithmetic,
// like upstream in the reference arithmetic (sums of 32 bits, a fixed-point factor). MAX and MIN
// compare quantised values; the default arithmetic rescales the result (common/rescale.h), the
// reference arithmetic requires equal scales. PROD rescales after every factor in both, with a
// narrower fixed-point multiplication of 64-bit numbers. int16 is symmetric.
#include <cmath>

#include "core/kernel_api/fusion.h"
#include "core/kernel_api/scratch.h"
#include "kernels/common/activation_range.h"
#include "kernels/common/element_type.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/requantize.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"
#include "kernels/cpu/cpu.h"
#include "kernels/linalg/channel_scaling.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillReducer(const OpOptions& options, TfLiteReducerParams* params) {
  params->keep_dims = options.Bool(0);
  return true;
}

bool FillCumsum(const OpOptions& options, TfLiteCumsumParams* params) {
  params->exclusive = options.Bool(0);
  params->reverse = options.Bool(1);
  return true;
}

// ---- Loops ------------------------------------------------------------------------------------

struct ReducePlan {
  struct Axis {
    int64_t extent = 1;
    int64_t step_in = 1;
    int64_t step_out = 0;  // 0 if the axis is reduced
  };
  Axis axes[kMaxRank];
  int rank = 0;            // at least 1 in a valid plan
  int64_t outputs = 1;     // number of output elements
  int64_t per_output = 1;  // number of input elements folded into each output
};

// Plans the reduction of the axes in `reduced`, which has bit i set for axis i.
ReducePlan PlanFor(std::span<const int> dims, uint32_t reduced) {
  ReducePlan plan;
  bool last_reduced = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_reduced = (reduced >> i & 1) != 0;
    (is_reduced ? plan.per_output : plan.outputs) *= dims[i];
    if (dims[i] == 1) continue;
    if (plan.rank == 0 || is_reduced != last_reduced) ++plan.rank;
    ReducePlan::Axis& axis = plan.axes[plan.rank - 1];
    axis.extent *= dims[i];
    axis.step_out = is_reduced ? 0 : 1;
    last_reduced = is_reduced;
  }
  if (plan.rank == 0) plan.axes[plan.rank++].step_out = 1;
  int64_t step_in = 1, step_out = 1;
  for (int i = plan.rank - 1; i >= 0; --i) {
    ReducePlan::Axis& axis = plan.axes[i];
    axis.step_in = step_in;
    step_in *= axis.extent;
    if (axis.step_out == 0) continue;
    axis.step_out = step_out;
    step_out *= axis.extent;
  }
  return plan;
}

// Folds a run of elements into one accumulator. Floats use several lanes if the order does not
// matter, because latency dominates a chain of additions. For integers the compiler may choose the
// order anyway. They must not use the lanes: in this form g++ 12.2 at -O3 miscompiles sums of 8-bit
// integers. It is a compiler bug: address and undefined-behaviour sanitizers find nothing; the sums
// are correct at -O2, with the sanitizers also at -O3, and without either loop vectorisation or
// interprocedural constant propagation.
template <typename T, typename Acc, typename Fold>
Acc FoldRun(const T* in, int64_t count, Acc start, const Fold& fold) {
  constexpr int kLanes = 8;
  int64_t i = 0;
  if constexpr (Fold::kAnyOrder && std::is_floating_point_v<Acc>) {
    if (count >= 8 * kLanes) {
      Acc lanes[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = static_cast<Acc>(in[lane]);
      for (i = kLanes; i + kLanes <= count; i += kLanes) {
        for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = fold(lanes[lane], in[i + lane]);
      }
      for (const Acc lane : lanes) start = fold(start, lane);
    }
  }
  for (; i < count; ++i) start = fold(start, in[i]);
  return start;
}

// Folds rows, `stride` elements apart, elementwise into `count` accumulators.
template <typename T, typename Acc, typename Fold>
void FoldRows(const T* in, int64_t rows, int64_t stride, int64_t count, Acc* out,
              const Fold& fold) {
  for (; rows > 0; --rows, in += stride) {
    for (int64_t i = 0; i < count; ++i) out[i] = fold(out[i], in[i]);
  }
}

// Interface to the loops of one reduction, for one element type and one accumulator type. The
// partitioning code uses only this interface, so it is compiled once for all types.
class FoldingLoops {
 public:
  FoldingLoops(size_t element_bytes, size_t accumulator_bytes, bool any_order)
      : element_bytes_(static_cast<int64_t>(element_bytes)),
        accumulator_bytes_(static_cast<int64_t>(accumulator_bytes)),
        any_order_(any_order) {}

  // Initialises `count` accumulators.
  virtual void Start(int64_t count, char* out) const = 0;
  // Folds `runs` contiguous runs of `count` elements into one accumulator each.
  virtual void Runs(const char* in, int64_t runs, int64_t count, char* out) const = 0;
  // Folds rows, `stride` elements apart, elementwise into `count` accumulators.
  virtual void Rows(const char* in, int64_t rows, int64_t stride, int64_t count,
                    char* out) const = 0;
  // Folds partial accumulators into others; called only if the order does not matter.
  virtual void Merge(const char* in, int64_t count, char* out) const = 0;

  int64_t element_bytes() const { return element_bytes_; }
  int64_t accumulator_bytes() const { return accumulator_bytes_; }
  bool any_order() const { return any_order_; }

 protected:
  ~FoldingLoops() = default;

 private:
  int64_t element_bytes_, accumulator_bytes_;
  bool any_order_;
};

template <typename T, typename Acc, typename Fold>
class TypedFolding final : public FoldingLoops {
 public:
  TypedFolding([[maybe_unused]] const VectorKernels& vector, Acc start, const Fold& fold)
      : FoldingLoops(sizeof(T), sizeof(Acc), Fold::kAnyOrder), start_(start), fold_(fold) {
    if constexpr (requires { fold.vector_loops(vector); }) {
      loops_ = fold.vector_loops(vector).template of<FromTo<T, Acc>>();
    }
  }

  void Start(int64_t count, char* out) const override { std::fill_n(Sums(out), count, start_); }
  // Folds runs. The vector loop is called only for 16 or more elements, because its call costs more
  // than a few elements.
  void Runs(const char* in, int64_t runs, int64_t count, char* out) const override {
    const T* from = Elements(in);
    Acc* sum = Sums(out);
    if (loops_.runs != nullptr && runs * count >= 16) return loops_.runs(from, runs, count, sum);
    for (; runs > 0; --runs, from += count, ++sum) *sum = FoldRun(from, count, *sum, fold_);
  }
  void Rows(const char* in, int64_t rows, int64_t stride, int64_t count, char* out) const override {
    if (loops_.rows != nullptr && rows * count >= 16) {
      return loops_.rows(Elements(in), rows, stride, count, Sums(out));
    }
    FoldRows(Elements(in), rows, stride, count, Sums(out), fold_);
  }
  void Merge(const char* in, int64_t count, char* out) const override {
    if constexpr (Fold::kAnyOrder) {
      FoldRows(reinterpret_cast<const Acc*>(in), 1, 0, count, Sums(out), fold_);
    }
  }

 private:
  static const T* Elements(const char* in) { return reinterpret_cast<const T*>(in); }
  static Acc* Sums(char* out) { return reinterpret_cast<Acc*>(out); }

  Acc start_;
  const Fold& fold_;
  FoldLoops<T, Acc> loops_;
};

// One reduction: a plan, and the loops for its elements.
class Folding {
 public:
  Folding(const ReducePlan& plan, const FoldingLoops& loops) : plan_(plan), loops_(loops) {}

  // Reduces the whole tensor, on all threads. Returns false if out of memory for partial
  // accumulators.
  bool All(TfLiteContext* context, const char* in, char* out) const {
    loops_.Start(plan_.outputs, out);
    if (plan_.outputs == 0 || plan_.per_output == 0) return true;
    return Share(context, 0, in, out);
  }

 private:
  using Axis = ReducePlan::Axis;
  // Number of folds per task; a fold costs less than the work per element that kElementsPerTask
  // assumes.
  static constexpr int64_t kFoldsPerTask = 2 * kElementsPerTask;
  // Maximum number of partial accumulators of one output.
  static constexpr int64_t kMaxPieces = 16;
  // Minimum number of elements of a row that is split by columns; shorter rows are reduced in
  // pieces.
  static constexpr int64_t kWideRow = 1024;

  static int64_t Grain(int64_t folds_each) { return kFoldsPerTask / folds_each + 1; }

  // Returns the address of element `index` along an axis.
  const char* ElementAt(const char* in, const Axis& axis, int64_t index) const {
    return in + index * axis.step_in * loops_.element_bytes();
  }
  // Returns the address of the accumulator of element `index` along an axis.
  char* SumAt(char* out, const Axis& axis, int64_t index) const {
    return out + index * axis.step_out * loops_.accumulator_bytes();
  }

  // Reduces the axes from `level` on, partitioned along the first axis with enough parallelism.
  bool Share(TfLiteContext* context, int level, const char* in, char* out) const {
    const Axis& axis = plan_.axes[level];
    const bool is_last = level + 1 == plan_.rank;
    if (axis.step_out == 0) {
      if (is_last || axis.step_in < kWideRow) return SharePieces(context, level, in, out);
      ShareColumns(context, level, in, out);
      return true;
    }
    // An output has the same pieces whatever the number of outputs, so that a batch has the bits of
    // its images.
    if (is_last || (axis.extent >= kMaxPieces && !HasPieces(level + 1))) {
      ParallelRanges(context, axis.extent, Grain(axis.step_in), [&](int64_t first, int64_t last) {
        Level(level, last - first, ElementAt(in, axis, first), SumAt(out, axis, first));
      });
      return true;
    }
    for (int64_t i = 0; i < axis.extent; ++i) {
      if (!Share(context, level + 1, ElementAt(in, axis, i), SumAt(out, axis, i))) return false;
    }
    return true;
  }

  // Reduces the axes from `level` on, partitioned along the axis inside the reduced axis of
  // `level`.
  void ShareColumns(TfLiteContext* context, int level, const char* in, char* out) const {
    const Axis &axis = plan_.axes[level], &columns = plan_.axes[level + 1];
    const int64_t grain = Grain(axis.extent * columns.step_in) + 64 / columns.step_in;
    ParallelRanges(context, columns.extent, grain, [&](int64_t first, int64_t last) {
      Columns(level, axis.extent, last - first, ElementAt(in, columns, first),
              SumAt(out, columns, first));
    });
  }

  // Reduces the axes from `level` on. If the order of folds does not matter, the work is
  // partitioned along the reduced axis of `level`: each piece has its own accumulators, which are
  // merged in order.
  bool SharePieces(TfLiteContext* context, int level, const char* in, char* out) const {
    const Axis& axis = plan_.axes[level];
    const int pieces = PiecesOf(axis);
    if (pieces > 1) return FoldPieces(context, level, pieces, in, out);
    Level(level, axis.extent, in, out);
    return true;
  }

  int PiecesOf(const Axis& axis) const {
    const int64_t wanted = axis.extent * axis.step_in / kFoldsPerTask;
    return loops_.any_order() ? static_cast<int>(std::min({wanted, axis.extent, kMaxPieces})) : 1;
  }

  // Returns true if outputs of the axes from `level` on are reduced in pieces.
  bool HasPieces(int level) const {
    while (level < plan_.rank && plan_.axes[level].step_out != 0) ++level;
    if (level == plan_.rank) return false;
    const Axis& axis = plan_.axes[level];
    return (level + 1 == plan_.rank || axis.step_in < kWideRow) && PiecesOf(axis) > 1;
  }

  bool FoldPieces(TfLiteContext* context, int level, int pieces, const char* in, char* out) const {
    const Axis& axis = plan_.axes[level];
    const bool is_last = level + 1 == plan_.rank;
    const int64_t outputs =
        is_last ? 1 : plan_.axes[level + 1].extent * plan_.axes[level + 1].step_out;
    Scratch scratch;
    const size_t bytes = static_cast<size_t>(outputs * loops_.accumulator_bytes());
    if (!scratch.AcquireForWorkers(context, bytes, pieces)) return false;
    ParallelFor(context, pieces, [&](int piece, int) {
      const int64_t first = axis.extent * piece / pieces, last = axis.extent * (piece + 1) / pieces;
      loops_.Start(outputs, scratch.worker(piece));
      Level(level, last - first, ElementAt(in, axis, first), scratch.worker(piece));
    });
    for (int piece = 0; piece < pieces; ++piece) loops_.Merge(scratch.worker(piece), outputs, out);
    return true;
  }

  // Reduces the axes from `level` on, for the first `extent` elements of axis `level`.
  void Level(int level, int64_t extent, const char* in, char* out) const {
    const Axis& axis = plan_.axes[level];
    if (level + 1 == plan_.rank) {
      if (axis.step_out == 0) {
        loops_.Runs(in, 1, extent, out);
      } else {
        loops_.Rows(in, 1, 0, extent, out);
      }
    } else if (axis.step_out == 0) {
      Columns(level, extent, plan_.axes[level + 1].extent, in, out);
    } else if (level + 2 == plan_.rank) {
      loops_.Runs(in, extent, axis.step_in, out);
    } else {
      for (int64_t i = 0; i < extent; ++i) {
        Level(level + 1, plan_.axes[level + 1].extent, ElementAt(in, axis, i), SumAt(out, axis, i));
      }
    }
  }

  // Reduces `extent` elements of the reduced axis of `level`, and `columns` of the next axis.
  void Columns(int level, int64_t extent, int64_t columns, const char* in, char* out) const {
    const Axis& axis = plan_.axes[level];
    if (level + 2 == plan_.rank) return loops_.Rows(in, extent, axis.step_in, columns, out);
    for (int64_t i = 0; i < extent; ++i) Level(level + 1, columns, ElementAt(in, axis, i), out);
  }

  const ReducePlan& plan_;
  const FoldingLoops& loops_;
};

template <typename T, typename Acc, typename Fold>
TfLiteStatus FoldAll(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan, Acc start,
                     Acc* out, const Fold& fold) {
  const TypedFolding<T, Acc, Fold> loops(CpuOf(context).vector, start, fold);
  const T* in = Data<T>(Input(context, node, 0));
  if (Folding(plan, loops)
          .All(context, reinterpret_cast<const char*>(in), reinterpret_cast<char*>(out))) {
    return kTfLiteOk;
  }
  return TensorError(context, Output(context, node, 0), "out of memory for its accumulators");
}

// ---- Folds ------------------------------------------------------------------------------------

// Type in which T is added and multiplied: unsigned for integers, which wrap in two's complement.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>,
                                    std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, T>;

struct FoldSum {
  static constexpr bool kAnyOrder = true;
  static const SumFolds& vector_loops(const VectorKernels& vector) { return vector.sum; }
  template <typename Acc, typename T>
  Acc operator()(Acc sum, T x) const {
    return static_cast<Acc>(static_cast<Wrapping<Acc>>(sum) + static_cast<Wrapping<Acc>>(x));
  }
  template <typename T>
  static T Start(bool) {
    return T{0};
  }
};

struct FoldProduct {
  static constexpr bool kAnyOrder = true;
  static const ProductFolds& vector_loops(const VectorKernels& vector) { return vector.product; }
  template <typename T>
  T operator()(T product, T x) const {
    return static_cast<T>(static_cast<Wrapping<T>>(product) * static_cast<Wrapping<T>>(x));
  }
  template <typename T>
  static T Start(bool) {
    return T{1};
  }
};

// Maximum of the elements; the lowest finite number if there are none, as in upstream.
struct FoldMax {
  static constexpr bool kAnyOrder = true;
  static const ExtremeFolds& vector_loops(const VectorKernels& vector) { return vector.max; }
  template <typename T>
  T operator()(T largest, T x) const {
    return x > largest ? x : largest;
  }
  template <typename T>
  static T Start(bool of_nothing) {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity && !of_nothing ? -Limits::infinity() : Limits::lowest();
  }
};

struct FoldMin {
  static constexpr bool kAnyOrder = true;
  static const ExtremeFolds& vector_loops(const VectorKernels& vector) { return vector.min; }
  template <typename T>
  T operator()(T smallest, T x) const {
    return x < smallest ? x : smallest;
  }
  template <typename T>
  static T Start(bool of_nothing) {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity && !of_nothing ? Limits::infinity() : Limits::max();
  }
};

// Logical "or" of bools: every nonzero byte is true, because clients may write any value.
struct FoldAny {
  static constexpr bool kAnyOrder = true;
  static const LogicalFolds& vector_loops(const VectorKernels& vector) { return vector.any; }
  uint8_t operator()(uint8_t any, uint8_t x) const { return any | (x != 0 ? 1 : 0); }
};
struct FoldEvery {
  static constexpr bool kAnyOrder = true;
  static const LogicalFolds& vector_loops(const VectorKernels& vector) { return vector.every; }
  uint8_t operator()(uint8_t all, uint8_t x) const { return all & (x != 0 ? 1 : 0); }
};

// Product of quantised values. The first factor is used as it is; later factors are multiplied and
// the product is rescaled after each.
struct FoldScaledProduct {
  static constexpr bool kAnyOrder = false;
  struct Value {
    int32_t product;
    bool started;
  };
  template <typename T>
  Value operator()(Value value, T x) const {
    const int32_t factor = x - zero_point;
    if (!value.started) return {factor, true};
    return {static_cast<int32_t>(MultiplyWide(int64_t{value.product} * factor, multiplier)), true};
  }
  int32_t zero_point;
  FixedMultiplier multiplier;
};

// ---- Prepare ----------------------------------------------------------------------------------

// Reads the axes to reduce as a mask; a scalar has none whatever the tensor contains.
TfLiteStatus ReadAxes(TfLiteContext* context, const TfLiteTensor* input, const TfLiteTensor* axes,
                      uint32_t* out_reduced) {
  *out_reduced = 0;
  if (Rank(input) == 0) return kTfLiteOk;
  const int64_t count = ElementCount(axes);
  for (int64_t i = 0; i < count; ++i) {
    int axis = 0;
    DEPUTY_TRY(ResolveAxis(context, axes, IntegerAt(axes, i), Rank(input), &axis));
    *out_reduced |= uint32_t{1} << axis;
  }
  return kTfLiteOk;
}

TfLiteStatus ResizeOutput(TfLiteContext* context, TfLiteNode* node, uint32_t reduced) {
  const TfLiteTensor* input = Input(context, node, 0);
  const bool keep_dims = ParamsOf<TfLiteReducerParams>(node).keep_dims;
  int dims[kMaxRank];
  size_t rank = 0;
  for (int i = 0; i < Rank(input); ++i) {
    const bool is_reduced = (reduced >> i & 1) != 0;
    if (!is_reduced || keep_dims) dims[rank++] = is_reduced ? 1 : Dim(input, i);
  }
  return ResizeTo(context, Output(context, node, 0), {dims, rank});
}

bool IsQuantizable(TfLiteType type) {
  return type == kTfLiteInt8 || type == kTfLiteUInt8 || type == kTfLiteInt16;
}

template <uint32_t types>
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* axes = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, types));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckType(context, axes, kInt32Bit));
  DEPUTY_TRY(CheckSymmetric(context, input));
  DEPUTY_TRY(CheckSymmetric(context, output));
  if (!IsKnown(axes)) {
    MakeDynamic(output);
    return kTfLiteOk;
  }
  uint32_t reduced = 0;
  DEPUTY_TRY(ReadAxes(context, input, axes, &reduced));
  return ResizeOutput(context, node, reduced);
}

// Checks that input and output have the same quantisation, or scales that allow rescaling: MAX, MIN
// and PROD of plain integers do not rescale themselves. Tensors without quantisation are accepted.
TfLiteStatus CheckSameSteps(TfLiteContext* context, const TfLiteTensor* input,
                            const TfLiteTensor* output) {
  if (!IsQuantizable(input->type) || (input->params.scale == output->params.scale &&
                                      input->params.zero_point == output->params.zero_point)) {
    return kTfLiteOk;
  }
  if (NeedsRescaling(context, input, output)) return kTfLiteOk;
  return TensorError(context, output, "expected scale %g and zero point %d, found %g and %d",
                     static_cast<double>(input->params.scale), input->params.zero_point,
                     static_cast<double>(output->params.scale), output->params.zero_point);
}

template <uint32_t types>
TfLiteStatus PrepareSteps(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Prepare<types>(context, node));
  return CheckSameSteps(context, Input(context, node, 0), Output(context, node, 0));
}

template <uint32_t types>
TfLiteStatus PrepareRescaled(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Prepare<types>(context, node));
  if (!IsQuantizable(Input(context, node, 0)->type)) return kTfLiteOk;
  DEPUTY_TRY(CheckQuantized(context, Input(context, node, 0)));
  return CheckQuantized(context, Output(context, node, 0));
}

bool IsQuantized(const TfLiteTensor* tensor) {
  return tensor->quantization.type != kTfLiteNoQuantization;
}

template <uint32_t types>
TfLiteStatus PrepareProduct(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  if (input == nullptr || !IsQuantized(input)) return PrepareSteps<types>(context, node);
  DEPUTY_TRY(Prepare<types>(context, node));
  DEPUTY_TRY(CheckType(context, input, kInt8Bit | kInt16Bit));
  DEPUTY_TRY(CheckQuantized(context, input));
  return CheckQuantized(context, Output(context, node, 0));
}

// ---- Eval -------------------------------------------------------------------------------------

// Reads the axes, resizes a dynamic output, and plans the loops.
TfLiteStatus MakePlan(TfLiteContext* context, TfLiteNode* node, ReducePlan* out_plan) {
  uint32_t reduced = 0;
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(ReadAxes(context, input, Input(context, node, 1), &reduced));
  if (IsDynamic(Output(context, node, 0))) DEPUTY_TRY(ResizeOutput(context, node, reduced));
  *out_plan = PlanFor(Dims(input), reduced);
  return kTfLiteOk;
}

// Allocates one Acc per output; returns null after reporting an error.
template <typename Acc>
Acc* Accumulators(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan,
                  Scratch* scratch) {
  size_t bytes;
  if (!MultiplySizes(static_cast<size_t>(plan.outputs), sizeof(Acc), &bytes) ||
      !scratch->Acquire(context, bytes)) {
    TensorError(context, Output(context, node, 0), "out of memory for its accumulators");
    return nullptr;
  }
  return scratch->as<Acc>();
}

template <typename Fold, uint32_t types>
TfLiteStatus FoldTyped(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan) {
  const TfLiteTensor* input = Input(context, node, 0);
  return DispatchType<types>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return FoldAll<T>(context, node, plan, Fold::template Start<T>(plan.per_output == 0),
                      Data<T>(Output(context, node, 0)), Fold());
  });
}

// Computes SUM, PROD, MAX or MIN without rescaling. For bools, SUM and MAX are "any", PROD and MIN
// "all".
template <typename Fold>
TfLiteStatus FoldElements(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan) {
  const TfLiteTensor* input = Input(context, node, 0);
  if (input->type == kTfLiteBool) {
    uint8_t* out = Data<uint8_t>(Output(context, node, 0));
    if constexpr (std::is_same_v<Fold, FoldSum> || std::is_same_v<Fold, FoldMax>) {
      return FoldAll<uint8_t>(context, node, plan, uint8_t{0}, out, FoldAny());
    } else {
      return FoldAll<uint8_t>(context, node, plan, uint8_t{1}, out, FoldEvery());
    }
  }
  constexpr uint32_t kTypes =
      kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;
  return FoldTyped<Fold, kTypes>(context, node, plan);
}

template <typename Fold>
TfLiteStatus EvalElements(TfLiteContext* context, TfLiteNode* node) {
  ReducePlan plan;
  DEPUTY_TRY(MakePlan(context, node, &plan));
  return FoldElements<Fold>(context, node, plan);
}

// Returns the factor from a sum of quantised values to the output. For a mean it includes the
// division by the number of elements, as far as the bits allow.
FixedMultiplier SumMultiplier(const TfLiteTensor* input, const TfLiteTensor* output,
                              int64_t divisor) {
  FixedMultiplier by = ToFixedMultiplier(static_cast<double>(input->params.scale) /
                                         static_cast<double>(output->params.scale));
  if (divisor <= 1) return by;
  const int shift =
      std::min({63 - std::countl_zero(static_cast<uint64_t>(divisor)), 32, 31 + by.shift});
  by.mantissa = static_cast<int32_t>((int64_t{by.mantissa} << shift) / divisor);
  by.shift -= shift;
  return by;
}

template <typename T>
bool HasZeroPointOf(const TfLiteTensor* tensor) {
  return tensor->params.zero_point >= std::numeric_limits<T>::min() &&
         tensor->params.zero_point <= std::numeric_limits<T>::max();
}

// Rescales sums, which may have wrapped, less `zero_in` to quantised 8-bit outputs, with the
// requantisation kernels of matrix products.
void RescaleSums(const RequantizeKernels& requantize, int32_t* sums, int64_t count, int64_t zero_in,
                 FixedMultiplier by, const TfLiteTensor* output, void* out) {
  constexpr int kChunk = 64;
  const bool is_unsigned = output->type == kTfLiteUInt8;
  int32_t mantissas[kChunk], shifts[kChunk];
  std::fill_n(mantissas, kChunk, by.mantissa);
  std::fill_n(shifts, kChunk, by.shift);
  RequantizeTile tile = {};
  tile.rows = 1;
  tile.mantissas = mantissas;
  tile.shifts = shifts;
  tile.zero_point = output->params.zero_point - (is_unsigned ? 128 : 0);
  tile.low = -128;
  tile.high = 127;
  for (int64_t first = 0; first < count; first += kChunk) {
    tile.columns = static_cast<int>(std::min<int64_t>(kChunk, count - first));
    tile.sums = sums + first;
    tile.out = static_cast<int8_t*>(out) + first;
    for (int64_t i = first; i < first + tile.columns; ++i) {
      sums[i] = static_cast<int32_t>(sums[i] - zero_in);
    }
    requantize.exact(tile);
    if (is_unsigned) FlipSigns(tile);
  }
}

// Computes sums of quantised values, or their means if `divisor` is above 1, rescaled with one
// rounding.
template <typename T, typename Acc>
TfLiteStatus SumExactly(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan,
                        int64_t divisor) {
  Scratch scratch;
  Acc* const sums = Accumulators<Acc>(context, node, plan, &scratch);
  if (sums == nullptr) return kTfLiteError;
  DEPUTY_TRY(FoldAll<T>(context, node, plan, Acc{0}, sums, FoldSum()));
  const TfLiteQuantizationParams& from = Input(context, node, 0)->params;
  const TfLiteQuantizationParams& to = Output(context, node, 0)->params;
  const double factor = static_cast<double>(from.scale) /
                        (static_cast<double>(to.scale) * static_cast<double>(divisor));
  const int64_t zero_in = int64_t{from.zero_point} * plan.per_output;
  constexpr double kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  T* out = Data<T>(Output(context, node, 0));
  for (int64_t i = 0; i < plan.outputs; ++i) {
    const double steps = std::round(static_cast<double>(sums[i] - zero_in) * factor);
    out[i] = static_cast<T>(std::clamp(steps + to.zero_point, kLow, kHigh));
  }
  return kTfLiteOk;
}

// Computes sums of quantised values in 32 bits if they cannot overflow, because such sums are
// vectorised; otherwise in 64 bits.
template <typename T>
TfLiteStatus SumExactly(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan,
                        int64_t divisor) {
  constexpr int64_t kMaxInInt32 = INT32_MAX / (int64_t{1} << (8 * sizeof(T)));
  return plan.per_output <= kMaxInInt32 ? SumExactly<T, int32_t>(context, node, plan, divisor)
                                        : SumExactly<T, int64_t>(context, node, plan, divisor);
}

template <typename T>
TfLiteStatus SumSteps(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan,
                      int64_t divisor) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  T* out = Data<T>(output);
  // If there are no elements, upstream writes quantised value 0, not the zero point.
  if (plan.per_output == 0) {
    std::fill_n(out, plan.outputs, T{0});
    return kTfLiteOk;
  }
  if (ArithmeticOf(context) == Arithmetic::kDefault) {
    return SumExactly<T>(context, node, plan, divisor);
  }
  Scratch scratch;
  int32_t* const sums = Accumulators<int32_t>(context, node, plan, &scratch);
  if (sums == nullptr) return kTfLiteError;
  DEPUTY_TRY(FoldAll<T>(context, node, plan, int32_t{0}, sums, FoldSum()));
  const FixedMultiplier by = SumMultiplier(input, output, divisor);
  const int64_t zero_in = int64_t{input->params.zero_point} * plan.per_output;
  const RequantizeKernels& requantize = CpuOf(context).requantize;
  if (sizeof(T) == 1 && requantize.exact != nullptr && HasZeroPointOf<T>(output)) {
    RescaleSums(requantize, sums, plan.outputs, zero_in, by, output, out);
    return kTfLiteOk;
  }
  for (int64_t i = 0; i < plan.outputs; ++i) {
    const int64_t steps =
        int64_t{Multiply(static_cast<int32_t>(sums[i] - zero_in), by)} + output->params.zero_point;
    out[i] = static_cast<T>(
        std::clamp<int64_t>(steps, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  return kTfLiteOk;
}

TfLiteStatus SumQuantized(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan,
                          int64_t divisor) {
  return DispatchType<kInt8Bit | kUInt8Bit | kInt16Bit>(
      context, Input(context, node, 0), [&](auto tag) {
        return SumSteps<typename decltype(tag)::type>(context, node, plan, divisor);
      });
}

TfLiteStatus EvalSum(TfLiteContext* context, TfLiteNode* node) {
  ReducePlan plan;
  DEPUTY_TRY(MakePlan(context, node, &plan));
  if (IsQuantizable(Input(context, node, 0)->type)) return SumQuantized(context, node, plan, 1);
  return FoldElements<FoldSum>(context, node, plan);
}

// Computes MEAN of integers without scales, truncated towards zero. The mean of no elements is 0.
TfLiteStatus MeanInteger(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan) {
  const TfLiteTensor* input = Input(context, node, 0);
  return DispatchType<kInt32Bit | kInt64Bit>(context, input, [&](auto tag) -> TfLiteStatus {
    using T = typename decltype(tag)::type;
    Scratch scratch;
    int64_t* const sums = Accumulators<int64_t>(context, node, plan, &scratch);
    if (sums == nullptr) return kTfLiteError;
    DEPUTY_TRY(FoldAll<T>(context, node, plan, int64_t{0}, sums, FoldSum()));
    T* out = Data<T>(Output(context, node, 0));
    const int64_t divisor = std::max<int64_t>(plan.per_output, 1);
    for (int64_t i = 0; i < plan.outputs; ++i) out[i] = static_cast<T>(sums[i] / divisor);
    return kTfLiteOk;
  });
}

void DivideAll(const VectorKernels& vector, float* values, int64_t count, float divisor) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto loop = vector.plain_quotient.of<float>();
  if (loop != nullptr && count >= 16) {
    return loop({values, &divisor, values, count, true, false}, {-kInfinity, kInfinity});
  }
  for (int64_t i = 0; i < count; ++i) values[i] /= divisor;
}

TfLiteStatus EvalMean(TfLiteContext* context, TfLiteNode* node) {
  ReducePlan plan;
  DEPUTY_TRY(MakePlan(context, node, &plan));
  const TfLiteTensor* input = Input(context, node, 0);
  if (IsQuantizable(input->type)) return SumQuantized(context, node, plan, plan.per_output);
  if (input->type != kTfLiteFloat32) return MeanInteger(context, node, plan);
  DEPUTY_TRY(FoldElements<FoldSum>(context, node, plan));
  DivideAll(CpuOf(context).vector, Data<float>(Output(context, node, 0)), plan.outputs,
            static_cast<float>(plan.per_output));  // the mean of no elements is 0 / 0, NaN
  return kTfLiteOk;
}

constexpr uint32_t kMeanBits =
    kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;

// ---- Row-wise fusion groups -------------------------------------------------------------------

void MeansOfRows(TfLiteContext* context, TfLiteNode* node, const GroupRows& rows) {
  const TfLiteTensor* const input = Input(context, node, 0);
  const int64_t columns = LastDim(input);
  const float* in =
      rows.computed[0] != nullptr ? rows.computed[0] : Data<float>(input) + rows.first * columns;
  const FoldSum fold;
  const TypedFolding<float, float, FoldSum> loops(rows.cpu->vector, 0.0f, fold);
  // The output can be cleared first, because it does not alias the input: HasWholeRows excludes
  // rows of one element.
  std::fill_n(rows.out, rows.count, 0.0f);
  loops.Runs(reinterpret_cast<const char*>(in), rows.count, columns,
             reinterpret_cast<char*>(rows.out));
  DivideAll(rows.cpu->vector, rows.out, rows.count, static_cast<float>(columns));
}

constexpr RowKernel kMeanRows = {.rows = &MeansOfRows};

// Returns true if the reduction is over rows that are so short and numerous that EvalMean never
// partitions one.
bool HasWholeRows(const TfLiteTensor* input, uint32_t reduced) {
  if (Rank(input) == 0) return false;
  const ReducePlan plan = PlanFor(Dims(input), reduced);
  return plan.rank == 2 && plan.axes[0].step_out != 0 && plan.axes[1].step_out == 0 &&
         plan.axes[1].extent == LastDim(input) && plan.outputs >= 16 && plan.per_output > 0 &&
         plan.per_output < 2 * kElementsPerTask;
}

TfLiteStatus PrepareMean(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PrepareRescaled<kMeanBits>(context, node));
  const TfLiteTensor *input = Input(context, node, 0), *axes = Input(context, node, 1);
  if (input->type != kTfLiteFloat32 || IsDynamic(Output(context, node, 0)) || !IsKnown(axes)) {
    return kTfLiteOk;
  }
  uint32_t reduced = 0;
  DEPUTY_TRY(ReadAxes(context, input, axes, &reduced));
  if (!HasWholeRows(input, reduced)) return kTfLiteOk;
  OfferFusion(context, node,
              {.invoke = &Guarded<&EvalMean>, .by_rows = {&kMeanRows, RowKind::kRowReduce, 1}});
  return kTfLiteOk;
}

template <typename T>
TfLiteStatus ProductOfSteps(TfLiteContext* context, TfLiteNode* node, const ReducePlan& plan) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const double root = std::pow(static_cast<double>(output->params.scale),
                               1.0 / static_cast<double>(std::max<int64_t>(plan.per_output, 1)));
  const FoldScaledProduct fold{input->params.zero_point,
                               ToFixedMultiplier(static_cast<double>(input->params.scale) / root)};
  Scratch scratch;
  FoldScaledProduct::Value* const products =
      Accumulators<FoldScaledProduct::Value>(context, node, plan, &scratch);
  if (products == nullptr) return kTfLiteError;
  DEPUTY_TRY(FoldAll<T>(context, node, plan, FoldScaledProduct::Value{0, false}, products, fold));
  constexpr float kAboveAnyValue = 1 << 17;
  T* out = Data<T>(output);
  for (int64_t i = 0; i < plan.outputs; ++i) {
    // The product of no elements is 1.
    const int64_t product =
        products[i].started
            ? static_cast<int32_t>(MultiplyWide(products[i].product, fold.multiplier))
            : static_cast<int64_t>(std::min(1.0f / output->params.scale, kAboveAnyValue));
    out[i] = static_cast<T>(std::clamp<int64_t>(product + output->params.zero_point,
                                                std::numeric_limits<T>::min(),
                                                std::numeric_limits<T>::max()));
  }
  return kTfLiteOk;
}

TfLiteStatus EvalProduct(TfLiteContext* context, TfLiteNode* node) {
  ReducePlan plan;
  DEPUTY_TRY(MakePlan(context, node, &plan));
  const TfLiteTensor* input = Input(context, node, 0);
  if (!IsQuantized(input)) return FoldElements<FoldProduct>(context, node, plan);
  return input->type == kTfLiteInt8 ? ProductOfSteps<int8_t>(context, node, plan)
                                    : ProductOfSteps<int16_t>(context, node, plan);
}

template <typename Fold, uint8_t start>
TfLiteStatus EvalBool(TfLiteContext* context, TfLiteNode* node) {
  ReducePlan plan;
  DEPUTY_TRY(MakePlan(context, node, &plan));
  return FoldAll<uint8_t>(context, node, plan, start, Data<uint8_t>(Output(context, node, 0)),
                          Fold());
}

// ---- CUMSUM -----------------------------------------------------------------------------------

constexpr uint32_t kCumsumBits = kFloat32Bit | kInt32Bit | kInt64Bit;

TfLiteStatus PrepareCumsum(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* axis = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kCumsumBits));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckType(context, axis, kInt32Bit));
  DEPUTY_TRY(CheckElementCount(context, axis, 1));
  if (Rank(input) == 0) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  return ResizeLike(context, output, input);
}

template <typename T>
constexpr Bounds<T> kUnbounded = {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
template <>
constexpr Bounds<float> kUnbounded<float> = {-std::numeric_limits<float>::infinity(),
                                             std::numeric_limits<float>::infinity()};

// Computes CUMSUM. Each output slice across the axis is the previous output slice plus the input's
// slice or, if exclusive, plus the input's previous slice.
template <typename T>
void CumulativeSum(const VectorKernels& vector, const T* in, const AxisSplit& split,
                   const TfLiteCumsumParams& params, T* out) {
  const int64_t inner = split.inner;
  const int64_t block = split.extent * inner;
  const int64_t direction = params.reverse ? -inner : inner;
  const FoldSum add;
  // Sums along the innermost axis depend on each other, so they cannot be vectorised like adjacent
  // sums.
  if (inner == 1) {
    for (int64_t o = 0; o < split.outer; ++o) {
      const int64_t first = o * block + (params.reverse ? block - 1 : 0);
      const T* from = in + first;
      T* to = out + first;
      T sum = params.exclusive ? T{0} : *from;
      *to = sum;
      if (!params.exclusive) from += direction;
      for (int64_t left = split.extent - 1; left > 0; --left, from += direction) {
        to += direction;
        sum = add(sum, *from);
        *to = sum;
      }
    }
    return;
  }
  const BoundedLoop<T> loop = inner < 16 ? nullptr : vector.plain_sum.of<T>();
  for (int64_t o = 0; o < split.outer; ++o) {
    const int64_t first = o * block + (params.reverse ? block - inner : 0);
    const T* from = in + first;
    T* to = out + first;
    if (params.exclusive) {
      std::fill_n(to, inner, T{0});
    } else {
      std::copy_n(from, inner, to);
    }
    for (int64_t step = 1; step < split.extent; ++step) {
      const T* addend = params.exclusive ? from : from + direction;
      if (loop != nullptr) {
        loop({to, addend, to + direction, inner, true, true}, kUnbounded<T>);
      } else {
        for (int64_t i = 0; i < inner; ++i) to[i + direction] = add(to[i], addend[i]);
      }
      from += direction;
      to += direction;
    }
  }
}

TfLiteStatus EvalCumsum(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* axis_tensor = Input(context, node, 1);
  int axis = 0;
  DEPUTY_TRY(ResolveAxis(context, axis_tensor, IntegerAt(axis_tensor, 0), Rank(input), &axis));
  const AxisSplit split = SplitAt(Dims(input), axis);
  if (ElementCount(input) == 0) return kTfLiteOk;
  return DispatchType<kCumsumBits>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    CumulativeSum(CpuOf(context).vector, Data<T>(input), split, ParamsOf<TfLiteCumsumParams>(node),
                  Data<T>(Output(context, node, 0)));
    return kTfLiteOk;
  });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef Row(const char* name, TfLiteBuiltinOperator code, int max_version, uint32_t types,
                    TfLiteStatus (*prepare)(TfLiteContext*, TfLiteNode*),
                    TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*)) {
  return WithOptions<27, TfLiteReducerParams, &FillReducer>(
      KernelRow<void>(name, code, max_version, types, prepare, invoke));
}

constexpr uint32_t kReduceBits = kMeanBits | kBoolBit;

constexpr OpDef kTable[] = {
    Row("MEAN", kTfLiteBuiltinMean, 3, kMeanBits, &Guarded<&PrepareMean>, &Guarded<&EvalMean>),
    Row("SUM", kTfLiteBuiltinSum, 2, kReduceBits,
        kFoldingPrepare<&PrepareRescaled<kReduceBits>, &EvalSum>, kFoldedInvoke<&EvalSum>),
    Row("REDUCE_MAX", kTfLiteBuiltinReduceMax, 3, kReduceBits,
        kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareSteps<kReduceBits>>,
                        &EvalMove<RescaleOutputs(), &EvalElements<FoldMax>>>,
        kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalElements<FoldMax>>>),
    Row("REDUCE_MIN", kTfLiteBuiltinReduceMin, 3, kReduceBits,
        kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareSteps<kReduceBits>>,
                        &EvalMove<RescaleOutputs(), &EvalElements<FoldMin>>>,
        kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalElements<FoldMin>>>),
    Row("REDUCE_PROD", kTfLiteBuiltinReduceProd, 2, kReduceBits,
        kFoldingPrepare<&PrepareProduct<kReduceBits>, &EvalProduct>, kFoldedInvoke<&EvalProduct>),
    Row("REDUCE_ANY", kTfLiteBuiltinReduceAny, 1, kBoolBit,
        kFoldingPrepare<&Prepare<kBoolBit>, &EvalBool<FoldAny, 0>>,
        kFoldedInvoke<&EvalBool<FoldAny, 0>>),
    Row("REDUCE_ALL", kTfLiteBuiltinReduceAll, 1, kBoolBit,
        kFoldingPrepare<&Prepare<kBoolBit>, &EvalBool<FoldEvery, 1>>,
        kFoldedInvoke<&EvalBool<FoldEvery, 1>>),
    {.name = "CUMSUM",
     .code = kTfLiteBuiltinCumsum,
     .min_version = 1,
     .max_version = 1,
     .types = kCumsumBits,
     .options = {1, 102},
     .params_size = sizeof(TfLiteCumsumParams),
     .parse = &ParseOptions<102, TfLiteCumsumParams, &FillCumsum>,
     .init = nullptr,
     .free = nullptr,
     .prepare = kFoldingPrepare<&PrepareCumsum, &EvalCumsum>,
     .invoke = kFoldedInvoke<&EvalCumsum>,
     .inplace = kTfLiteInplaceOpNone},
};

}  // namespace

constexpr std::span<const OpDef> kReduceOps = kTable;

}  // namespace deputy
