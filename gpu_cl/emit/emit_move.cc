// SPDX-License-Identifier: Apache-2.0
//
// Element-wise expressions, copies, and lookups.
#include <algorithm>
#include <optional>

#include "compiler/number.h"
#include "gpu_cl/emit/emit.h"

namespace deputy::gpu_cl {

using compiler::ElementCount;
using compiler::Shape;

namespace {

size_t OutputCount(const StepWriter& steps) {
  const KernelBuilder k = steps.NewKernel();
  return static_cast<size_t>(ElementCount(k.shape(k.operation().output())));
}

const char* RawType(TfLiteType type) {
  switch (compiler::ElementBytes(type)) {
    case 1:
      return "uchar";
    case 2:
      return "ushort";
    case 4:
      return "uint";
    default:
      return "ulong";
  }
}

void EmitFill(const compiler::Copy& kind, StepWriter* steps) {
  const size_t count = OutputCount(*steps);
  KernelBuilder k = steps->NewKernel();
  const Buffer out = k.Output();
  k.Line(Store(out, "g0", Literal(out.type, kind.fill)));
  steps->Add(&k, {count, 1, 1});
}

// Returns the statement that moves an element between buffers: bit by bit, unless the types differ.
std::string Move(const Buffer& from, const std::string& from_index, const Buffer& to,
                 const std::string& to_index) {
  if (from.type != to.type) return Store(to, to_index, Load(from, from_index));
  const std::string type = RawType(to.type);
  return "((global " + type + "*)" + to.name + ")[" + to_index + "] = ((global const " + type +
         "*)" + from.name + ")[" + from_index + "];";
}

// Appends the step that copies one region. The three innermost loops become the dimensions of the
// range; indices of further loops are derived from the last dimension.
void EmitRegion(const compiler::CopyRegion& region, StepWriter* steps) {
  KernelBuilder k = steps->NewKernel();
  const Buffer in = k.Input(static_cast<size_t>(region.input)), out = k.Output();
  std::array<size_t, 3> global = {1, 1, 1};
  std::string from = k.Int(region.from), to = k.Int(region.to);
  const size_t loops = region.loops.size();
  for (size_t back = 0; back < loops; ++back) {
    const compiler::CopyLoop& loop = region.loops[loops - 1 - back];
    const std::string dimension = std::to_string(std::min<size_t>(back, 2));
    if (back == 2) k.Line("int rest = g2;");
    global[std::min<size_t>(back, 2)] *= static_cast<size_t>(loop.extent);
    const std::string index = "i" + std::to_string(back);
    if (back < 2) {
      k.Line("const int " + index + " = g" + dimension + ";");
    } else {
      const std::string extent = k.Int(loop.extent);
      k.Line("const int " + index + " = rest % " + extent + ";");
      k.Line("rest /= " + extent + ";");
    }
    from += " + " + index + " * " + k.Int(loop.from_stride);
    to += " + " + index + " * " + k.Int(loop.to_stride);
  }
  k.Line("const int from = " + from + ";");
  k.Line("const int to = " + to + ";");
  k.Line(Move(in, "from", out, "to"));
  steps->Add(&k, global);
}

}  // namespace

void Emit(const compiler::Elementwise& kind, StepWriter* steps) {
  if (EmitVectors(kind, steps)) return;
  const size_t count = OutputCount(*steps);
  KernelBuilder k = steps->NewKernel();
  const Shape& to = k.shape(k.operation().output());
  std::vector<std::string> operands;
  for (size_t n = 0; n < k.operation().inputs.size(); ++n) {
    const Buffer in = k.Input(n);
    const std::string index = "i" + std::to_string(n);
    k.BroadcastIndex(index, k.shape(k.operation().inputs[n]), to, "g0");
    operands.push_back(Load(in, index));
  }
  k.StoreResult(k.Evaluate(kind.expression, operands), "g0");
  steps->Add(&k, {count, 1, 1});
}

void Emit(const compiler::View&, StepWriter* steps) {
  const size_t count = OutputCount(*steps);
  KernelBuilder k = steps->NewKernel();
  k.StoreResult(Load(k.Input(0), "g0"), "g0");
  steps->Add(&k, {count, 1, 1});
}

namespace {

// A region of contiguous runs within rows of the output, such as the interior of a padded image.
// Lengths are in elements.
struct Framed {
  int64_t rows = 1, run = 0, from_pitch = 0;  // number of runs, length, distance in the input
  int64_t first_row = 0, first = 0;           // row and column of the output where it begins
  int64_t pitch = 0;                          // row length of the output
};

// Returns the region as runs within rows; nullopt if it has another form.
std::optional<Framed> FindFrame(const compiler::CopyRegion& region, int64_t count) {
  const size_t loops = region.loops.size();
  if (loops == 0 || loops > 2) return std::nullopt;
  const compiler::CopyLoop& inner = region.loops.back();
  if (inner.from_stride != 1 || inner.to_stride != 1) return std::nullopt;
  Framed framed;
  framed.run = inner.extent;
  framed.pitch = count;
  if (loops == 2) {
    framed.rows = region.loops[0].extent;
    framed.from_pitch = region.loops[0].from_stride;
    framed.pitch = region.loops[0].to_stride;
  }
  if (framed.pitch <= 0 || count % framed.pitch != 0) return std::nullopt;
  framed.first_row = region.to / framed.pitch;
  framed.first = region.to % framed.pitch;
  if (framed.first + framed.run > framed.pitch) return std::nullopt;
  return framed;
}

// Copies the region, and fills the rest of the output, in one step.
void EmitFramed(const compiler::Copy& kind, const Framed& framed, StepWriter* steps) {
  const size_t count = OutputCount(*steps);
  KernelBuilder k = steps->NewKernel();
  const compiler::CopyRegion& region = kind.regions[0];
  const Buffer in = k.Input(static_cast<size_t>(region.input)), out = k.Output();
  k.Line("const int row = g1 - " + k.Int(framed.first_row) + ", column = g0 - " +
         k.Int(framed.first) + ", to = g1 * s0 + g0;");
  k.Open("if ((uint)row < (uint)" + k.Int(framed.rows) + " && (uint)column < (uint)" +
         k.Int(framed.run) + ")");
  k.Line(Move(in, k.Int(region.from) + " + row * " + k.Int(framed.from_pitch) + " + column", out,
              "to"));
  k.Close();
  k.Open("else");
  k.Line(Store(out, "to", Literal(out.type, kind.fill)));
  k.Close();
  steps->Add(&k, {static_cast<size_t>(framed.pitch), count / static_cast<size_t>(framed.pitch), 1});
}

}  // namespace

void Emit(const compiler::Copy& kind, StepWriter* steps) {
  const KernelBuilder k = steps->NewKernel();
  int64_t written = 0;
  for (const compiler::CopyRegion& region : kind.regions) {
    int64_t count = 1;
    for (const compiler::CopyLoop& loop : region.loops) count *= loop.extent;
    written += count;
  }
  const int64_t count_of_all = ElementCount(k.shape(k.operation().output()));
  if (written != count_of_all) {
    const auto framed =
        kind.regions.size() == 1 ? FindFrame(kind.regions[0], count_of_all) : std::nullopt;
    if (framed) return EmitFramed(kind, *framed, steps);
    EmitFill(kind, steps);
  }
  for (const compiler::CopyRegion& region : kind.regions) EmitRegion(region, steps);
}

void Emit(const compiler::Gather& kind, StepWriter* steps) {
  KernelBuilder k = steps->NewKernel();
  const Shape& from = k.shape(k.operation().inputs[0]);
  const Axis axis(from, kind.axis);
  int64_t batches = 1;
  for (int i = 0; i < kind.batch_axes; ++i) batches *= from[static_cast<size_t>(i)];
  if (batches == 0) return;
  const int64_t per_batch = ElementCount(k.shape(k.operation().inputs[1])) / batches;
  const Buffer in = k.Input(0), indices = k.Input(1), out = k.Output();
  const std::string extent = k.Int(axis.extent), each = k.Int(per_batch);
  k.Line("const int i = g0, row = g1, inner = s0;");
  k.Line("const int outer = row / " + each + ", batch = outer / " + k.Int(axis.outer / batches) +
         ";");
  k.Line("const int at = " + indices.name + "[batch * " + each + " + row % " + each + "];");
  k.Open("if (at < 0 || at >= " + extent + ")");
  // Keeps the first failure: later steps may read data that the failed step has not written.
  const std::string status = "*" + k.Status();
  k.Line("if (" + status + " == 0) " + status + " = " + k.Int(steps->next_step() + 1) + ";");
  k.Line("return;");
  k.Close();
  k.Line(Move(in, "(outer * " + extent + " + at) * inner + i", out, "row * inner + i"));
  steps->Add(&k, {static_cast<size_t>(axis.inner), static_cast<size_t>(axis.outer * per_batch), 1});
}

void Emit(const compiler::OneHot& kind, StepWriter* steps) {
  KernelBuilder k = steps->NewKernel();
  const Axis axis(k.shape(k.operation().output()), kind.axis);
  const Buffer indices = k.Input(0), on = k.Input(1), off = k.Input(2);
  k.Line("const int inner = g0, at = g1, outer = g2;");
  k.Line("const int row = outer * s0 + inner;");
  k.Line("const int i = (outer * s1 + at) * s0 + inner;");
  k.StoreResult(
      "(" + indices.name + "[row] == at ? " + Load(on, "0") + " : " + Load(off, "0") + ")", "i");
  steps->Add(&k, {static_cast<size_t>(axis.inner), static_cast<size_t>(axis.extent),
                  static_cast<size_t>(axis.outer)});
}

}  // namespace deputy::gpu_cl
