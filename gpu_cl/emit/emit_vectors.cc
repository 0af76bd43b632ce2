// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operations, reductions and SOFTMAX for CPUs: loops over vectors, and over the
// remainder after the last whole vector. A work-item computes a range of rows, or of one row.
#include <algorithm>

#include "core/support/int_math.h"
#include "gpu_cl/emit/emit.h"
#include "gpu_cl/emit/vector_text.h"

namespace deputy::gpu_cl {

using compiler::ReduceKind;
using compiler::Shape;

namespace {

constexpr int64_t kMinVectorElements = 1024;

// Writes a kernel over rows of `extent` elements each.
class RowLoops {
 public:
  RowLoops(StepWriter* steps, int64_t rows, int64_t extent)
      : steps_(steps),
        k_(steps->NewKernel()),
        rows_(rows),
        count_(extent),
        width_(steps->options().vector_width) {}

  KernelBuilder& kernel() { return k_; }
  int width() const { return width_; }
  const std::string& extent() const { return extent_; }

  // Opens the loop over the rows of the work-item.
  void OpenRows() {
    extent_ = k_.Int(count_);
    const std::string each = k_.Int(RowsOfItem()), rows = k_.Int(rows_);
    k_.Line("const int last = min((int)(get_global_id(0) + 1) * " + each + ", " + rows + ");");
    k_.Open("for (int row = get_global_id(0) * " + each + "; row < last; ++row)");
  }
  // Loops over the elements from `begin` to `end` of a row: vector(c) is called for a whole vector
  // that begins at c, scalar(c) for an element of the remainder.
  template <typename Vector, typename Scalar>
  void ForElements(const std::string& begin, const std::string& end, const Vector& vector,
                   const Scalar& scalar) {
    const std::string step = Decimal(width_);
    k_.Open("");
    k_.Line("int c = " + begin + ";");
    k_.Open("for (; c + " + step + " <= " + end + "; c += " + step + ")");
    vector("c");
    k_.Close();
    k_.Open("FEW_TIMES for (; c < " + end + "; ++c)");
    scalar("c");
    k_.Close();
    k_.Close();
  }
  void Add() {
    k_.Close();
    steps_->AddItems(k_, {static_cast<size_t>(CeilDiv(rows_, RowsOfItem())), 1, 1});
  }

 private:
  int64_t RowsOfItem() const {
    return std::max(CeilDiv(rows_, 4 * int64_t{steps_->options().items}),
                    CeilDiv(kMinVectorElements, std::max<int64_t>(count_, 1)));
  }

  StepWriter* const steps_;
  KernelBuilder k_;
  const int64_t rows_, count_;
  const int width_;
  std::string extent_;
};

// ---- Element-wise operations --------------------------------------------------------------------

// Adjacent axes of the output along which the same operands are repeated.
struct Run {
  int64_t extent = 1;
  std::vector<bool> repeats;  // by operand: is repeated along the axes
};

// Returns the runs from the last axis to the first.
std::vector<Run> RunsOf(const KernelBuilder& k) {
  const Shape& to = k.shape(k.operation().output());
  std::vector<Run> runs;
  for (size_t back = 1; back <= to.size(); ++back) {
    const int extent = to[to.size() - back];
    if (extent == 1) continue;
    Run run{extent, {}};
    for (compiler::ValueId id : k.operation().inputs) {
      const Shape& from = k.shape(id);
      run.repeats.push_back(back > from.size() || from[from.size() - back] == 1);
    }
    if (!runs.empty() && runs.back().repeats == run.repeats) {
      runs.back().extent *= extent;
    } else {
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

class ElementLoops {
 public:
  ElementLoops(const compiler::Elementwise& kind, StepWriter* steps, std::vector<Run> runs)
      : kind_(kind),
        steps_(steps),
        runs_(std::move(runs)),
        loops_(steps, Rows(), runs_[0].extent) {}

  void Emit() { runs_.size() == 1 ? EmitRange() : EmitRows(); }

 private:
  int64_t Rows() const {
    int64_t rows = 1;
    for (size_t i = 1; i < runs_.size(); ++i) rows *= runs_[i].extent;
    return rows;
  }

  // Emits all elements as one row, of which a work-item computes a part.
  void EmitRange() {
    KernelBuilder& k = loops_.kernel();
    const int64_t count = runs_[0].extent, items = steps_->options().items;
    const int64_t part = std::max(RoundUp(CeilDiv(count, items), 16), kMinVectorElements);
    const std::string each = k.Int(part), all = k.Int(count);
    k.Line("const int begin = get_global_id(0) * " + each + ", end = min(begin + " + each + ", " +
           all + ");");
    Compute("begin", "end", "");
    steps_->AddItems(k, {static_cast<size_t>(CeilDiv(count, part)), 1, 1});
  }

  void EmitRows() {
    KernelBuilder& k = loops_.kernel();
    loops_.OpenRows();
    std::vector<std::string> extents;
    for (size_t run = 1; run + 1 < runs_.size(); ++run) extents.push_back(k.Int(runs_[run].extent));
    for (size_t n = 0; n < k.operation().inputs.size(); ++n) {
      k.Line("const int base" + Decimal(static_cast<int64_t>(n)) + " = " + Base(n, extents) + ";");
    }
    Compute("0", loops_.extent(), "row * " + loops_.extent() + " + ");
    loops_.Add();
  }

  // Returns the position of the operand's first element for a row.
  std::string Base(size_t operand, const std::vector<std::string>& extents) {
    int64_t stride = runs_[0].repeats[operand] ? 1 : runs_[0].extent;
    std::string remaining = "row", base;
    for (size_t run = 1; run < runs_.size(); ++run) {
      const bool last = run + 1 == runs_.size();
      if (!runs_[run].repeats[operand]) {
        const std::string index = last ? remaining : remaining + " % " + extents[run - 1];
        base += (base.empty() ? "" : " + ") + index + " * " + loops_.kernel().Int(stride);
        stride *= runs_[run].extent;
      }
      if (!last) remaining = "(" + remaining + " / " + extents[run - 1] + ")";
    }
    return base.empty() ? "0" : base;
  }

  void Compute(const std::string& begin, const std::string& end, const std::string& to) {
    KernelBuilder& k = loops_.kernel();
    const auto compute = [&](const std::string& c, int width) {
      std::vector<std::string> operands;
      for (size_t n = 0; n < k.operation().inputs.size(); ++n) {
        operands.push_back(Operand(n, c, width));
      }
      k.StoreResult(k.Evaluate(kind_.expression, operands, width), to + c, width);
    };
    loops_.ForElements(
        begin, end, [&](const std::string& c) { compute(c, loops_.width()); },
        [&](const std::string& c) { compute(c, 1); });
  }

  std::string Operand(size_t n, const std::string& c, int width) {
    KernelBuilder& k = loops_.kernel();
    const Buffer buffer = k.Input(n);
    const bool repeats = runs_[0].repeats[n];
    const std::string base =
        runs_.size() == 1 ? (repeats ? "0" : "") : "base" + Decimal(static_cast<int64_t>(n));
    const std::string index = repeats ? base : base + (base.empty() ? "" : " + ") + c;
    if (width == 1) return Load(buffer, index);
    return repeats ? LoadSplat(buffer, index, width) : LoadVector(buffer, index, width);
  }

  const compiler::Elementwise& kind_;
  StepWriter* const steps_;
  const std::vector<Run> runs_;
  RowLoops loops_;
};

}  // namespace

bool EmitVectors(const compiler::Elementwise& kind, StepWriter* steps) {
  const int width = steps->options().vector_width;
  const KernelBuilder info = steps->NewKernel();
  if (width == 0 || !steps->options().ranges || !info.operation().epilogue.empty() ||
      !HasVectorForm(kind.expression)) {
    return false;
  }
  std::vector<Run> runs = RunsOf(info);
  if (runs.empty() || runs[0].extent < width) return false;
  if (compiler::ElementCount(info.shape(info.operation().output())) == 0) return true;
  ElementLoops(kind, steps, std::move(runs)).Emit();
  return true;
}

// ---- Along the last axis ------------------------------------------------------------------------

namespace {

// Declares `name`, the combination of all lanes of a vector.
void ReduceLanes(KernelBuilder* k, const std::string& name, const std::string& vector, int width,
                 const std::string& start, const std::string& combination) {
  k->Line("const float" + Decimal(width) + " " + name + "_lanes = " + vector + ";");
  k->Line("float " + name + " = " + start + ";");
  k->Open("for (int lane = 0; lane < " + Decimal(width) + "; ++lane)");
  k->Line("const float value = ((private const float*)&" + name + "_lanes)[lane];");
  k->Line(name + " = " + combination + ";");
  k->Close();
}

}  // namespace

bool EmitVectors(const compiler::Softmax& kind, StepWriter* steps) {
  const int width = steps->options().vector_width;
  const KernelBuilder info = steps->NewKernel();
  const Shape& shape = info.shape(info.operation().inputs[0]);
  const int64_t extent = shape.back(), count = compiler::ElementCount(shape);
  if (width == 0 || !steps->options().ranges || extent < width || !info.StoresVectors())
    return false;
  if (count == 0) return true;
  RowLoops loops(steps, count / extent, extent);
  KernelBuilder& k = loops.kernel();
  const Buffer in = k.Input(0);
  const std::string vector = "float" + Decimal(width), beta = k.Float(kind.beta);
  loops.OpenRows();
  const std::string& end = loops.extent();
  k.Line("const int first = row * " + end + ";");
  const auto at = [&](const std::string& c) { return "first + " + c; };

  k.Line(vector + " largest_lane = (" + vector + ")(-INFINITY);");
  k.Line("float largest_left = -INFINITY;");
  loops.ForElements(
      "0", end,
      [&](const std::string& c) {
        k.Line("largest_lane = fmax(largest_lane, " + LoadVector(in, at(c), width) + ");");
      },
      [&](const std::string& c) {
        k.Line("largest_left = fmax(largest_left, " + Load(in, at(c)) + ");");
      });
  ReduceLanes(&k, "largest", "largest_lane", width, "largest_left", "fmax(largest, value)");

  const auto power = [&](const std::string& value) {
    return beta + " * (" + value + " - largest)";
  };
  k.Line(vector + " sum_lane = (" + vector + ")(0.0f);");
  k.Line("float sum_left = 0.0f;");
  loops.ForElements(
      "0", end,
      [&](const std::string& c) {
        k.Line("sum_lane += exp(" + power(LoadVector(in, at(c), width)) + ");");
      },
      [&](const std::string& c) { k.Line("sum_left += exp(" + power(Load(in, at(c))) + ");"); });
  ReduceLanes(&k, "sum", "sum_lane", width, "sum_left", "sum + value");

  const auto result = [&](const std::string& value) {
    return kind.log ? "(" + power(value) + " - log(sum))" : "(exp(" + power(value) + ") / sum)";
  };
  loops.ForElements(
      "0", end,
      [&](const std::string& c) {
        k.StoreResult(result(LoadVector(in, at(c), width)), at(c), width, c);
      },
      [&](const std::string& c) { k.StoreResult(result(Load(in, at(c))), at(c), 1, c); });
  loops.Add();
  return true;
}

// ---- Reductions ---------------------------------------------------------------------------------

namespace {

// Adjacent axes that are all reduced, or all kept.
struct ReduceRun {
  int64_t extent = 1, stride = 1;
  bool reduced = false;
};

// Returns the runs from the last axis to the first, without axes of extent 1.
std::vector<ReduceRun> RunsOf(const Shape& shape, uint32_t axes) {
  std::vector<ReduceRun> runs;
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 1) continue;
    const bool reduced = (axes >> axis & 1) != 0;
    if (!runs.empty() && runs.back().reduced == reduced) {
      runs.back().extent *= shape[axis];
    } else {
      runs.push_back({shape[axis], stride, reduced});
    }
    stride *= shape[axis];
  }
  return runs;
}

struct Fold {
  const char* start;
  const char* combination;  // expression of `sum` and `value`
};

bool FoldFor(ReduceKind kind, Fold* out_fold) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kMean:
      *out_fold = {"0.0f", "sum + value"};
      return true;
    case ReduceKind::kMax:
      *out_fold = {"-INFINITY", "sum < value ? value : sum"};
      return true;
    case ReduceKind::kMin:
      *out_fold = {"INFINITY", "value < sum ? value : sum"};
      return true;
    default:
      return false;
  }
}

class Reduction {
 public:
  Reduction(const compiler::Reduce& kind, const Fold& fold, StepWriter* steps,
            std::vector<ReduceRun> runs)
      : fold_(fold),
        mean_(kind.kind == ReduceKind::kMean),
        runs_(std::move(runs)),
        loops_(steps, Rows(), WorkOfRow()),
        k_(loops_.kernel()),
        in_(k_.Input(0)),
        vector_("float" + Decimal(loops_.width())) {}

  void Emit() {
    loops_.OpenRows();
    DeclareFirst();
    if (runs_[0].reduced) {
      EmitAlongRow();
    } else {
      EmitAcrossRow();
    }
    loops_.Add();
  }

 private:
  // Returns the number of rows: the product of the kept axes, without the innermost run if it is
  // kept.
  int64_t Rows() const {
    int64_t rows = 1;
    for (size_t i = 1; i < runs_.size(); ++i) rows *= runs_[i].reduced ? 1 : runs_[i].extent;
    return rows;
  }
  int64_t WorkOfRow() const {
    int64_t work = runs_[0].extent;
    for (size_t i = 1; i < runs_.size(); ++i) work *= runs_[i].reduced ? runs_[i].extent : 1;
    return work;
  }
  int64_t Count() const {
    int64_t count = 1;
    for (const ReduceRun& run : runs_) count *= run.reduced ? run.extent : 1;
    return count;
  }

  void DeclareFirst() {
    k_.Line("int rest = row, first = 0;");
    for (size_t i = 1; i < runs_.size(); ++i) {
      if (runs_[i].reduced) continue;
      const std::string extent = k_.Int(runs_[i].extent);
      k_.Line("first += rest % " + extent + " * " + k_.Int(runs_[i].stride) + ";");
      k_.Line("rest /= " + extent + ";");
    }
  }

  // Opens loops over the reduced runs other than the innermost; sets `from` to their position.
  int OpenLoops() {
    std::string from = "first";
    int opened = 0;
    for (size_t i = runs_.size(); i-- > 1;) {
      if (!runs_[i].reduced) continue;
      const std::string d = "d" + Decimal(opened++), extent = k_.Int(runs_[i].extent);
      k_.Open("for (int " + d + " = 0; " + d + " < " + extent + "; ++" + d + ")");
      from += " + " + d + " * " + k_.Int(runs_[i].stride);
    }
    k_.Line("const int from = " + from + ";");
    return opened;
  }
  void CloseLoops(int opened) {
    while (opened-- > 0) k_.Close();
  }

  std::string Result(const std::string& sum, const std::string& count) const {
    return mean_ ? sum + " / (float)" + count : sum;
  }

  // Emits a reduction whose innermost run is reduced: a row is reduced to one element.
  void EmitAlongRow() {
    const std::string extent = k_.Int(runs_[0].extent), count = k_.Int(Count());
    const std::string start = fold_.start;
    k_.Line(vector_ + " lanes = (" + vector_ + ")(" + start + ");");
    k_.Line("float left = " + start + ";");
    k_.Open("");
    const int opened = OpenLoops();
    const auto add = [&](const std::string& sum, const std::string& type,
                         const std::string& value) {
      k_.Line("const " + type + " value = " + value + ", sum = " + sum + ";");
      k_.Line(sum + " = " + fold_.combination + ";");
    };
    loops_.ForElements(
        "0", extent,
        [&](const std::string& c) {
          add("lanes", vector_, LoadVector(in_, "from + " + c, loops_.width()));
        },
        [&](const std::string& c) { add("left", "float", Load(in_, "from + " + c)); });
    CloseLoops(opened);
    k_.Close();
    ReduceLanes(&k_, "sum", "lanes", loops_.width(), "left", fold_.combination);
    k_.StoreResult(Result("sum", count), "row");
  }

  // Emits a reduction whose innermost run is kept: its elements are computed side by side.
  void EmitAcrossRow() {
    const std::string extent = k_.Int(runs_[0].extent), count = k_.Int(Count());
    const auto compute = [&](const std::string& c, int width) {
      const std::string type = width == 1 ? "float" : vector_;
      k_.Line(type + " sum = (" + type + ")(" + fold_.start + ");");
      k_.Open("");
      const int opened = OpenLoops();
      const std::string at = "from + " + c;
      k_.Line("const " + type +
              " value = " + (width == 1 ? Load(in_, at) : LoadVector(in_, at, width)) + ";");
      k_.Line("sum = " + std::string(fold_.combination) + ";");
      CloseLoops(opened);
      k_.Close();
      k_.StoreResult(Result("sum", count), "row * " + extent + " + " + c, width);
    };
    loops_.ForElements(
        "0", extent, [&](const std::string& c) { compute(c, loops_.width()); },
        [&](const std::string& c) { compute(c, 1); });
  }

  const Fold fold_;
  const bool mean_;
  const std::vector<ReduceRun> runs_;
  RowLoops loops_;
  KernelBuilder& k_;
  const Buffer in_;
  const std::string vector_;
};

}  // namespace

bool EmitVectors(const compiler::Reduce& kind, StepWriter* steps) {
  const int width = steps->options().vector_width;
  const KernelBuilder info = steps->NewKernel();
  const compiler::Operation& operation = info.operation();
  Fold fold;
  if (width == 0 || !steps->options().ranges ||
      !LoadsAsFloat(info.value(operation.inputs[0]).type) || !operation.epilogue.empty() ||
      !FoldFor(kind.kind, &fold)) {
    return false;
  }
  const Shape& from = info.shape(operation.inputs[0]);
  std::vector<ReduceRun> runs = RunsOf(from, kind.axes);
  if (compiler::ElementCount(from) == 0 || runs.empty() || runs[0].extent < width) return false;
  Reduction(kind, fold, steps, std::move(runs)).Emit();
  return true;
}

}  // namespace deputy::gpu_cl
