// SPDX-License-Identifier: Apache-2.0
//
// Products, reductions, and operations along an axis.
#include "compiler/number.h"
#include "gpu_cl/emit/emit.h"

namespace deputy::gpu_cl {

using compiler::ElementCount;
using compiler::ReduceKind;
using compiler::Shape;

namespace {

// Assigns each row along an axis to one work-item: element n of row number `row` is at first + n *
// step.
void OpenRows(KernelBuilder* k, const std::string& extent) {
  k->Line("const int inner = g0, step = s0, outer = g1;");
  k->Line("const int row = outer * step + inner, first = outer * " + extent + " * step + inner;");
}

std::array<size_t, 3> Rows(const Axis& axis) {
  return {static_cast<size_t>(axis.inner), static_cast<size_t>(axis.outer), 1};
}

Shape Leading(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

}  // namespace

void Emit(const compiler::MatMul& kind, StepWriter* steps) {
  if (EmitClblast(kind, steps) || EmitFewRows(kind, steps) || EmitMatrixTiles(kind, steps) ||
      EmitGroupTiles(kind, steps) || EmitTiles(kind, steps)) {
    return;
  }
  KernelBuilder k = steps->NewKernel();
  const Shape a = k.shape(k.operation().inputs[0]), b = k.shape(k.operation().inputs[1]);
  const Shape& to = k.shape(k.operation().output());
  const size_t rank = to.size();
  const int m = to[rank - 2], n = to[rank - 1];
  const Buffer left = k.Input(0), right = k.Input(1);
  const std::string depth = k.Int(kind.transpose_a ? a[a.size() - 2] : a.back());
  const Shape batches = Leading(to);
  k.Line("const int n = g0, m = g1, batch = g2;");
  k.Line("const int columns = s0, rows = s1;");
  k.BroadcastIndex("ba", Leading(a), batches, "batch");
  k.BroadcastIndex("bb", Leading(b), batches, "batch");
  k.Line("const int a = ba * rows * " + depth + ", b = bb * columns * " + depth + ";");
  k.Line(std::string(k.sums_integers() ? "int" : "float") +
         " sum = " + (k.has_input(2) ? Load(k.Input(2), "n") : std::string("0")) + ";");
  const std::string zero_point = k.ZeroPoint();
  k.Open("for (int d = 0; d < " + depth + "; ++d)");
  k.AddProduct(Load(left, kind.transpose_a ? "a + d * rows + m" : "a + m * " + depth + " + d"),
               Load(right, kind.transpose_b ? "b + n * " + depth + " + d" : "b + d * columns + n"),
               zero_point);
  k.Close();
  k.Line("const int i = (batch * rows + m) * columns + n;");
  k.StoreResult("sum", "i");
  steps->Add(&k, {static_cast<size_t>(n), static_cast<size_t>(m),
                  static_cast<size_t>(ElementCount(batches))});
}

namespace {

const char* StartOf(ReduceKind kind, bool real) {
  switch (kind) {
    case ReduceKind::kProd:
    case ReduceKind::kAll:
      return "1";
    case ReduceKind::kMax:
      return real ? "-INFINITY" : "$min";
    case ReduceKind::kMin:
      return real ? "INFINITY" : "$max";
    default:
      return "0";
  }
}

const char* Combination(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kProd:
      return "sum *= value;";
    case ReduceKind::kMax:
      return "sum = sum < value ? value : sum;";
    case ReduceKind::kMin:
      return "sum = value < sum ? value : sum;";
    case ReduceKind::kAny:
      return "sum |= value;";
    case ReduceKind::kAll:
      return "sum &= value;";
    default:
      return "sum += value;";
  }
}

std::string StartText(ReduceKind kind, TfLiteType type) {
  std::string text = StartOf(kind, compiler::IsFloat(type));
  if (text == "$min") return Literal(type, {0, compiler::SmallestOf(type)});
  if (text == "$max") return Literal(type, {0, compiler::LargestOf(type)});
  return text;
}

}  // namespace

// Reduces the input to one element per work-item. The indices of kept axes are derived from the
// output's index; reduced axes become loops.
void Emit(const compiler::Reduce& kind, StepWriter* steps) {
  if (EmitVectors(kind, steps)) return;
  KernelBuilder k = steps->NewKernel();
  const Shape& from = k.shape(k.operation().inputs[0]);
  const std::vector<int64_t> strides = compiler::Strides(from);
  const Buffer in = k.Input(0);
  k.Line("const int i = g0;");
  k.Line("int rest = i, first = 0;");
  int64_t count = 1;
  std::string position = "first";
  std::vector<std::string> loops;
  for (size_t axis = from.size(); axis-- > 0;) {
    if (from[axis] == 1) continue;
    const std::string extent = k.Int(from[axis]), stride = k.Int(strides[axis]);
    if ((kind.axes >> axis & 1) == 0) {
      k.Line("first += rest % " + extent + " * " + stride + ";");
      k.Line("rest /= " + extent + ";");
      continue;
    }
    count *= from[axis];
    const std::string d = "d" + std::to_string(axis);
    loops.push_back("for (int " + d + " = 0; " + d + " < " + extent + "; ++" + d + ")");
    position += " + " + d + " * " + stride;
  }
  k.Line(std::string(ComputeType(in.type)) + " sum = " + StartText(kind.kind, in.type) + ";");
  for (size_t n = loops.size(); n-- > 0;) k.Open(loops[n]);
  k.Line(std::string("const ") + ComputeType(in.type) + " value = " + Load(in, position) + ";");
  k.Line(Combination(kind.kind));
  for (size_t n = 0; n < loops.size(); ++n) k.Close();
  const bool mean = kind.kind == ReduceKind::kMean;
  k.StoreResult(mean ? "sum / (float)" + k.Int(count) : "sum", "i");
  steps->Add(&k, {static_cast<size_t>(ElementCount(k.shape(k.operation().output()))), 1, 1});
}

namespace {

// Softmax for GPUs with a work-group per row: each of `kItems` items processes every `kItems`-th
// element, and partial results are combined in local memory.
class GroupSoftmax {
 public:
  GroupSoftmax(const compiler::Softmax& kind, StepWriter* steps, int64_t extent)
      : kind_(kind), steps_(steps), k_(steps->NewKernel()), extent_(extent) {}

  void Emit(int64_t rows) {
    const Buffer in = k_.Input(0);
    const std::string extent = k_.Int(extent_), beta = k_.Float(kind_.beta);
    const std::string items = Decimal(kItems);
    const std::string loop = "for (int n = item; n < " + extent + "; n += " + items + ")";
    k_.Line("const int item = get_local_id(0), first = get_group_id(1) * " + extent + ";");
    k_.Line("local float parts[" + items + "];");
    k_.Line("float found = -INFINITY;");
    k_.Line(loop + " found = fmax(found, " + Load(in, "first + n") + ");");
    Combine("fmax(parts[item], parts[item + half_count])");
    k_.Line("const float largest = parts[0];");
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    const std::string power = beta + " * (" + Load(in, "first + n") + " - largest)";
    k_.Line("found = 0.0f;");
    k_.Line(loop + " found += exp(" + power + ");");
    Combine("parts[item] + parts[item + half_count]");
    k_.Line("const float sum = parts[0];");
    k_.Open(loop);
    k_.Line("const int i = first + n;");
    k_.StoreResult(kind_.log ? "(" + power + " - log(sum))" : "(exp(" + power + ") / sum)", "i");
    k_.Close();
    k_.RequireGroup({kItems, 1, 1});
    steps_->AddItems(k_, {kItems, static_cast<size_t>(rows), 1});
  }

  static constexpr int64_t kItems = 128;

 private:
  // Combines `found` of all items into parts[0].
  void Combine(const std::string& combination) {
    k_.Line("parts[item] = found;");
    k_.Open("for (int half_count = " + Decimal(kItems / 2) + "; half_count > 0; half_count /= 2)");
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("if (item < half_count) parts[item] = " + combination + ";");
    k_.Close();
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
  }

  const compiler::Softmax& kind_;
  StepWriter* const steps_;
  KernelBuilder k_;
  const int64_t extent_;
};

}  // namespace

void Emit(const compiler::Softmax& kind, StepWriter* steps) {
  if (EmitVectors(kind, steps)) return;
  const Shape& of = steps->NewKernel().shape(steps->NewKernel().operation().inputs[0]);
  if (steps->options().group_tiles && ElementCount(of) > 0 &&
      of.back() >= GroupSoftmax::kItems / 2) {
    return GroupSoftmax(kind, steps, of.back()).Emit(ElementCount(of) / of.back());
  }
  KernelBuilder k = steps->NewKernel();
  const Shape& shape = k.shape(k.operation().inputs[0]);
  const Axis axis(shape, static_cast<int>(shape.size()) - 1);
  const Buffer in = k.Input(0);
  const std::string extent = k.Int(axis.extent), beta = k.Float(kind.beta);
  OpenRows(&k, extent);
  k.Line("float largest = -INFINITY, sum = 0.0f;");
  const std::string loop = "for (int n = 0; n < " + extent + "; ++n)";
  k.Line(loop + " largest = fmax(largest, " + Load(in, "first + n") + ");");
  const std::string power = beta + " * (" + Load(in, "first + n") + " - largest)";
  k.Line(loop + " sum += exp(" + power + ");");
  k.Open(loop);
  k.Line("const int i = first + n;");
  k.StoreResult(kind.log ? "(" + power + " - log(sum))" : "(exp(" + power + ") / sum)", "i");
  k.Close();
  steps->Add(&k, Rows(axis));
}

void Emit(const compiler::ArgReduce& kind, StepWriter* steps) {
  KernelBuilder k = steps->NewKernel();
  const Axis axis(k.shape(k.operation().inputs[0]), kind.axis);
  const Buffer in = k.Input(0);
  const std::string extent = k.Int(axis.extent);
  OpenRows(&k, extent);
  k.Line("int best = 0;");
  k.Open("for (int n = 1; n < " + extent + "; ++n)");
  const std::string before = Load(in, "first + best * step"), now = Load(in, "first + n * step");
  k.Line("if (" + (kind.largest ? before + " < " + now : now + " < " + before) + ") best = n;");
  k.Close();
  k.StoreResult("best", "row");
  steps->Add(&k, Rows(axis));
}

void Emit(const compiler::CumulativeSum& kind, StepWriter* steps) {
  KernelBuilder k = steps->NewKernel();
  const Axis axis(k.shape(k.operation().inputs[0]), kind.axis);
  const Buffer in = k.Input(0);
  const std::string extent = k.Int(axis.extent);
  OpenRows(&k, extent);
  k.Line(std::string(ComputeType(in.type)) + " sum = 0;");
  k.Open("for (int n = 0; n < " + extent + "; ++n)");
  k.Line("const int i = first + " + (kind.reverse ? "(" + extent + " - 1 - n)" : std::string("n")) +
         " * step;");
  k.Line(std::string("const ") + ComputeType(in.type) + " before = sum;");
  k.Line("sum += " + Load(in, "i") + ";");
  k.StoreResult(kind.exclusive ? "before" : "sum", "i");
  k.Close();
  steps->Add(&k, Rows(axis));
}

// Emits TOP_K as a loop: each iteration selects the largest element that comes after the previous
// one in the order by falling value, then rising index.
void Emit(const compiler::TopK&, StepWriter* steps) {
  KernelBuilder k = steps->NewKernel();
  const Shape& shape = k.shape(k.operation().inputs[0]);
  const int last = static_cast<int>(shape.size()) - 1;
  const Axis axis(shape, last);
  const Buffer in = k.Input(0), values = k.Output(0), indices = k.Output(1);
  const std::string extent = k.Int(axis.extent);
  const std::string wanted = k.Int(k.shape(k.operation().output()).back());
  OpenRows(&k, extent);
  k.Line("int before = -1;");
  k.Open("for (int round = 0; round < " + wanted + "; ++round)");
  k.Line("int best = -1;");
  k.Open("for (int n = 0; n < " + extent + "; ++n)");
  const std::string now = Load(in, "first + n"), last_one = Load(in, "first + before");
  k.Line("const int follows = before < 0 || " + now + " < " + last_one + " || (" + now +
         " == " + last_one + " && n > before);");
  k.Line("if (follows && (best < 0 || " + Load(in, "first + best") + " < " + now + ")) best = n;");
  k.Close();
  k.Line("if (best < 0) best = 0;");
  k.Line(Store(values, "row * " + wanted + " + round", Load(in, "first + best")));
  k.Line(Store(indices, "row * " + wanted + " + round", "best"));
  k.Line("before = best;");
  k.Close();
  steps->Add(&k, Rows(axis));
}

}  // namespace deputy::gpu_cl
