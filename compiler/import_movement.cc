// SPDX-License-Identifier: Apache-2.0
//
// Imports operators that move elements without computing on them, except that CONCATENATION may
// requantise its inputs.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "compiler/copy.h"
#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

using Ints = std::vector<int>;

// Adds a permutation of the axes of `from`.
ValueId AddTranspose(NodeImport* node, ValueId from, const Ints& axes) {
  const Shape shape = node->shape(from);
  Shape to;
  for (int axis : axes) to.push_back(shape[static_cast<size_t>(axis)]);
  const Ints zeros(axes.size(), 0);
  const CopyRegion region = RegionOf({0, to, zeros, zeros, {}, axes}, shape, to);
  return node->Add(Copy{{region}, {}}, {from}, node->value(from).type, to);
}

bool ImportTranspose(NodeImport* node) {
  Ints axes;
  if (!node->CheckInputs(2, 2) || !node->ReadInts(1, &axes)) return false;
  const size_t rank = node->shape(node->Input(0)).size();
  Ints sorted;
  for (int& axis : axes) {
    if (!node->ReadAxis(axis, rank, &axis)) return false;
    sorted.push_back(axis);
  }
  std::sort(sorted.begin(), sorted.end());
  if (axes.size() != rank || std::unique(sorted.begin(), sorted.end()) != sorted.end()) {
    return node->RefuseInput(1, kDeputyReasonParameter, "expected a permutation of the axes");
  }
  return node->SetOutput(0, AddTranspose(node, node->Input(0), axes));
}

// ---- Joining and splitting ----------------------------------------------------------------------

// Converts an input's stored values to the scale of the output.
ValueId Requantized(NodeImport* node, int n) {
  const TfLiteType type = node->output_tensor(0).type;
  if (node->InputQuantization(n) == node->OutputQuantization(0)) return node->Input(n);
  Expression e;
  e.SetResult(AppendQuantize(&e, e.Operand(0, kTfLiteFloat32), type, node->OutputQuantization(0)));
  return node->AddElementwise(std::move(e), {node->Real(n)});
}

// Concatenates `parts` along an axis that all of them have.
ValueId AddJoined(NodeImport* node, const std::vector<ValueId>& parts, int axis) {
  const auto along = static_cast<size_t>(axis);
  Shape to = node->shape(parts[0]);
  int64_t total = 0;
  for (ValueId part : parts) total += node->shape(part)[along];
  to[along] = ClampedExtent(total);
  if (!node->CheckResult(to)) return kNoValue;
  Copy copy;
  Ints start(to.size(), 0);
  const Ints zeros(to.size(), 0);
  for (size_t n = 0; n < parts.size(); ++n) {
    const Shape& from = node->shape(parts[n]);
    copy.regions.push_back(RegionOf({static_cast<int>(n), from, zeros, start, {}, {}}, from, to));
    start[along] += from[along];
  }
  return node->Add(std::move(copy), parts, node->value(parts[0]).type, to);
}

bool ImportConcatenation(NodeImport* node) {
  if (!node->CheckInputs(node->input_count(), node->input_count())) return false;
  const auto& params = node->params<TfLiteConcatenationParams>();
  if (params.activation != kTfLiteActNone || node->input_count() == 0) {
    return node->Refuse(kDeputyReasonParameter, "unsupported fused activation %d",
                        params.activation);
  }
  const Shape first = node->shape(node->Input(0));
  int axis = 0;
  if (!node->ReadAxis(params.axis, first.size(), &axis)) return false;
  std::vector<ValueId> parts;
  for (int n = 0; n < node->input_count(); ++n) {
    if (!node->CheckType(n, {node->output_tensor(0).type})) return false;
    Shape shape = node->shape(node->Input(n));
    if (shape.size() == first.size()) {
      shape[static_cast<size_t>(axis)] = first[static_cast<size_t>(axis)];
    }
    if (shape != first)
      return node->RefuseInput(n, kDeputyReasonShape, "the shape does not match the other inputs");
    if (node->InputQuantization(n) != node->OutputQuantization(0) &&
        node->input_tensor(n).type == kTfLiteInt16) {
      return node->RefuseInput(n, kDeputyReasonQuantization, "the scale differs from the output's");
    }
    parts.push_back(Requantized(node, n));
  }
  return node->SetOutput(0, AddJoined(node, parts, axis));
}

bool ImportPack(NodeImport* node) {
  if (!node->CheckInputs(std::max(node->input_count(), 1), node->input_count())) return false;
  Shape shape = node->shape(node->Input(0));
  int axis = 0;
  if (!node->ReadAxis(node->params<TfLitePackParams>().axis, shape.size() + 1, &axis)) return false;
  Shape one = shape;
  one.insert(one.begin() + axis, 1);
  std::vector<ValueId> parts;
  for (int n = 0; n < node->input_count(); ++n) {
    if (!node->CheckType(n, {node->output_tensor(0).type})) return false;
    if (node->shape(node->Input(n)) != shape) {
      return node->RefuseInput(n, kDeputyReasonShape, "the shape differs from the first input's");
    }
    parts.push_back(node->AddView(node->Input(n), one));
  }
  return node->SetOutput(0, AddJoined(node, parts, axis));
}

ValueId AddPart(NodeImport* node, ValueId from, int axis, int start, int extent) {
  const Shape shape = node->shape(from);
  Shape to = shape;
  to[static_cast<size_t>(axis)] = extent;
  Ints begin(shape.size(), 0);
  begin[static_cast<size_t>(axis)] = start;
  const CopyRegion region = RegionOf({0, to, begin, Ints(shape.size(), 0), {}, {}}, shape, to);
  return node->Add(Copy{{region}, {}}, {from}, node->value(from).type, to);
}

bool ImportUnpack(NodeImport* node) {
  if (!node->CheckInputs(1, 1)) return false;
  const ValueId from = node->Input(0);
  Shape rest = node->shape(from);
  int axis = 0;
  if (!node->ReadAxis(node->params<TfLiteUnpackParams>().axis, rest.size(), &axis)) return false;
  if (rest[static_cast<size_t>(axis)] != node->output_count()) {
    return node->Refuse(kDeputyReasonShape,
                        "the number of outputs does not match the extent of the axis");
  }
  rest.erase(rest.begin() + axis);
  for (int n = 0; n < node->output_count(); ++n) {
    if (!node->SetOutput(n, node->AddView(AddPart(node, from, axis, n, 1), rest))) return false;
  }
  return true;
}

bool FinishSplit(NodeImport* node, int input, int axis, const Ints& extents) {
  int start = 0;
  for (size_t n = 0; n < extents.size(); ++n) {
    const ValueId part = AddPart(node, node->Input(input), axis, start, extents[n]);
    if (!node->SetOutput(static_cast<int>(n), part)) return false;
    start += extents[n];
  }
  return true;
}

bool ReadSplitAxis(NodeImport* node, int axis_input, int input, int* out_axis) {
  Ints axis;
  if (!node->ReadInts(axis_input, &axis)) return false;
  if (axis.size() != 1)
    return node->RefuseInput(axis_input, kDeputyReasonShape, "expected one element");
  return node->ReadAxis(axis[0], node->shape(node->Input(input)).size(), out_axis);
}

bool ImportSplit(NodeImport* node) {
  int axis = 0;
  if (!node->CheckInputs(2, 2) || !ReadSplitAxis(node, 0, 1, &axis)) return false;
  const int extent = node->shape(node->Input(1))[static_cast<size_t>(axis)];
  const int parts = node->output_count();
  if (parts == 0 || extent % parts != 0) {
    return node->Refuse(kDeputyReasonShape, "cannot split %d elements into %d equal parts", extent,
                        parts);
  }
  return FinishSplit(node, 1, axis, Ints(static_cast<size_t>(parts), extent / parts));
}

bool ImportSplitV(NodeImport* node) {
  int axis = 0;
  Ints extents;
  if (!node->CheckInputs(3, 3) || !ReadSplitAxis(node, 2, 0, &axis) ||
      !node->ReadInts(1, &extents)) {
    return false;
  }
  const int total = node->shape(node->Input(0))[static_cast<size_t>(axis)];
  const auto open = std::find(extents.begin(), extents.end(), -1);
  if (open != extents.end()) {
    *open = 0;
    *open = ClampedExtent(total - std::accumulate(extents.begin(), extents.end(), int64_t{0}));
  }
  if (std::any_of(extents.begin(), extents.end(), [](int extent) { return extent < 0; }) ||
      std::accumulate(extents.begin(), extents.end(), int64_t{0}) != total ||
      static_cast<int>(extents.size()) != node->output_count()) {
    return node->RefuseInput(1, kDeputyReasonParameter,
                             "the sizes of the parts do not add up to the extent of the axis");
  }
  return FinishSplit(node, 0, axis, extents);
}

// ---- Padding and repeating ----------------------------------------------------------------------

bool ReadPadding(NodeImport* node, Ints* out_before, Shape* out_shape) {
  Ints pairs;
  if (!node->ReadInts(1, &pairs)) return false;
  const Shape from = node->shape(node->Input(0));
  if (pairs.size() != 2 * from.size()) {
    return node->RefuseInput(1, kDeputyReasonShape, "expected two numbers per axis");
  }
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const int before = pairs[2 * axis], after = pairs[2 * axis + 1];
    if (before < 0 || after < 0) {
      return node->RefuseInput(1, kDeputyReasonParameter, "expected padding of at least 0");
    }
    out_before->push_back(before);
    out_shape->push_back(ClampedExtent(int64_t{before} + from[axis] + after));
  }
  return node->CheckResult(*out_shape);
}

bool FinishPad(NodeImport* node, Number fill) {
  Ints before;
  Shape to;
  if (!ReadPadding(node, &before, &to)) return false;
  const ValueId from = node->Input(0);
  const Shape shape = node->shape(from);
  const CopyRegion region = RegionOf({0, shape, Ints(shape.size(), 0), before, {}, {}}, shape, to);
  return node->SetOutput(0, node->Add(Copy{{region}, fill}, {from}, node->value(from).type, to));
}

bool ImportPad(NodeImport* node) {
  if (!node->CheckInputs(2, 2)) return false;
  return FinishPad(node, {0, node->OutputQuantization(0).zero_point});
}

bool ImportPadV2(NodeImport* node) {
  if (!node->CheckInputs(3, 3) || !node->CheckType(2, {node->input_tensor(0).type})) return false;
  const Value& fill = node->value(node->Input(2));
  if (!fill.constant() || ElementCount(fill.shape) != 1) {
    return node->RefuseInput(2, kDeputyReasonNotConstant,
                             "expected a constant value of one element");
  }
  return FinishPad(node, fill.At(0));
}

// A range along an axis of the output, and the range of the input that it is copied from.
struct AxisRange {
  int to = 0, extent = 0, from = 0, step = 1;
};

// Returns the regions of all combinations of ranges, one from each axis.
std::vector<CopyRegion> Combine(const std::vector<std::vector<AxisRange>>& axes, const Shape& from,
                                const Shape& to) {
  std::vector<Box> boxes(1);
  for (const std::vector<AxisRange>& ranges : axes) {
    std::vector<Box> longer;
    for (const Box& box : boxes) {
      for (const AxisRange& range : ranges) {
        Box next = box;
        next.extents.push_back(range.extent);
        next.from_start.push_back(range.from);
        next.to_start.push_back(range.to);
        next.from_steps.push_back(range.step);
        longer.push_back(std::move(next));
      }
    }
    boxes.swap(longer);
  }
  std::vector<CopyRegion> regions;
  regions.reserve(boxes.size());
  for (const Box& box : boxes) regions.push_back(RegionOf(box, from, to));
  return regions;
}

// Imports MIRROR_PAD. The padding mirrors the contents, with (symmetric) or without (reflect) the
// edge element.
bool ImportMirrorPad(NodeImport* node) {
  Ints before;
  Shape to;
  // The rank is limited because the number of regions is exponential in it: each axis has up to
  // three ranges.
  if (!node->CheckInputs(2, 2) || !node->CheckRank(0, 0, 8) || !ReadPadding(node, &before, &to)) {
    return false;
  }
  const ValueId from = node->Input(0);
  const Shape shape = node->shape(from);
  const int edge =
      node->params<TfLiteMirrorPaddingParams>().mode == kTfLiteMirrorPaddingReflect ? 1 : 0;
  std::vector<std::vector<AxisRange>> axes;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int extent = shape[axis], first = before[axis], last = to[axis] - extent - first;
    if (first > extent - edge || last > extent - edge) {
      return node->RefuseInput(1, kDeputyReasonParameter,
                               "the padding exceeds the extent that can be mirrored");
    }
    axes.push_back({{first, extent, 0, 1}});
    if (first > 0) axes.back().push_back({0, first, first - 1 + edge, -1});
    if (last > 0) axes.back().push_back({first + extent, last, extent - 1 - edge, -1});
  }
  return node->SetOutput(
      0, node->Add(Copy{Combine(axes, shape, to), {}}, {from}, node->value(from).type, to));
}

// Imports TILE: each axis becomes two loops, over repetitions and over contents.
bool ImportTile(NodeImport* node) {
  Ints times;
  if (!node->CheckInputs(2, 2) || !node->ReadInts(1, &times)) return false;
  const ValueId from = node->Input(0);
  const Shape shape = node->shape(from);
  if (times.size() != shape.size() ||
      std::any_of(times.begin(), times.end(), [](int n) { return n < 0; })) {
    return node->RefuseInput(1, kDeputyReasonParameter, "expected a number of at least 0 per axis");
  }
  Shape to;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    to.push_back(ClampedExtent(int64_t{times[axis]} * shape[axis]));
  }
  // An empty axis may have any repetition count, so the counts are checked, too.
  if (!node->CheckResult(to) || !node->CheckResult(times)) return false;
  const std::vector<int64_t> from_strides = Strides(shape), to_strides = Strides(to);
  CopyRegion region;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    region.loops.push_back({times[axis], 0, shape[axis] * to_strides[axis]});
    region.loops.push_back({shape[axis], from_strides[axis], to_strides[axis]});
  }
  return node->SetOutput(
      0, node->Add(Copy{{Simplify(std::move(region))}, {}}, {from}, node->value(from).type, to));
}

bool ImportReverse(NodeImport* node) {
  Ints numbers;
  if (!node->CheckInputs(2, 2) || !node->ReadInts(1, &numbers)) return false;
  const ValueId from = node->Input(0);
  const Shape shape = node->shape(from);
  Box box = {0, shape, Ints(shape.size(), 0), Ints(shape.size(), 0), Ints(shape.size(), 1), {}};
  std::set<int> axes;
  for (int number : numbers) {
    int axis = 0;
    if (!node->ReadAxis(number, shape.size(), &axis)) return false;
    axes.insert(axis);
    const auto along = static_cast<size_t>(axis);
    box.from_start[along] = std::max(shape[along] - 1, 0);
    box.from_steps[along] = -1;
  }
  // The axes must be adjacent, as for the CPU kernel.
  const bool adjacent = axes.empty() || *axes.rbegin() - *axes.begin() + 1 == std::ssize(axes);
  if (axes.size() != numbers.size() || !adjacent) {
    return node->Refuse(kDeputyReasonParameter, "expected adjacent axes without duplicates");
  }
  return node->SetOutput(
      0, node->Add(Copy{{RegionOf(box, shape, shape)}, {}}, {from}, node->value(from).type, shape));
}

// ---- Space, depth and batch ---------------------------------------------------------------------

// Adds a view as `split`, a permutation of its axes, and a view as `to`.
ValueId AddShuffle(NodeImport* node, ValueId from, const Shape& split, const Ints& axes,
                   const Shape& to) {
  return node->AddView(AddTranspose(node, node->AddView(from, split), axes), to);
}

bool ImportSpaceToDepth(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckRank(0, 4, 4)) return false;
  const Shape s = node->shape(node->Input(0));
  const int block = node->params<TfLiteSpaceToDepthParams>().block_size;
  if (block < 1 || s[1] % block != 0 || s[2] % block != 0) {
    return node->Refuse(kDeputyReasonParameter, "invalid block size %d", block);
  }
  const int height = s[1] / block, width = s[2] / block;
  // Bounds the depth of the output before it is computed. This refuses no image that is not empty,
  // because the block size is at most the image's height and width.
  if (!node->CheckResult({block, block, s[3]})) return false;
  return node->SetOutput(
      0, AddShuffle(node, node->Input(0), {s[0], height, block, width, block, s[3]},
                    {0, 1, 3, 2, 4, 5}, {s[0], height, width, block * block * s[3]}));
}

bool ImportDepthToSpace(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckRank(0, 4, 4)) return false;
  const Shape s = node->shape(node->Input(0));
  const int block = node->params<TfLiteDepthToSpaceParams>().block_size;
  if (block < 1 || block > 1024 || s[3] % (block * block) != 0) {
    return node->Refuse(kDeputyReasonParameter, "invalid block size %d", block);
  }
  const int depth = s[3] / (block * block);
  const Shape to = {s[0], ClampedExtent(int64_t{s[1]} * block),
                    ClampedExtent(int64_t{s[2]} * block), depth};
  return node->SetOutput(0,
                         AddShuffle(node, node->Input(0), {s[0], s[1], s[2], block, block, depth},
                                    {0, 1, 3, 2, 4, 5}, to));
}

bool ReadBlocks(NodeImport* node, Ints* out_blocks, Ints* out_pairs) {
  if (!node->CheckInputs(3, 3) || !node->CheckRank(0, 3, 4) || !node->ReadInts(1, out_blocks) ||
      !node->ReadInts(2, out_pairs)) {
    return false;
  }
  const size_t spatial = node->shape(node->Input(0)).size() - 2;
  const auto negative = [](int n) { return n < 0; };
  if (out_blocks->size() != spatial || out_pairs->size() != 2 * spatial ||
      std::any_of(out_blocks->begin(), out_blocks->end(), [](int n) { return n < 1; }) ||
      std::any_of(out_pairs->begin(), out_pairs->end(), negative)) {
    return node->Refuse(kDeputyReasonParameter, "invalid block sizes, paddings or crops");
  }
  return true;
}

// Imports SPACE_TO_BATCH_ND: maps a padded [batch, rows, columns, …] to [blocks * batch, rows /
// block, columns / block, …].
bool ImportSpaceToBatch(NodeImport* node) {
  Ints blocks, pairs;
  if (!ReadBlocks(node, &blocks, &pairs)) return false;
  const ValueId from = node->Input(0);
  const Shape shape = node->shape(from);
  Shape padded = shape, split = {shape[0]}, to = {shape[0]};
  Ints before(shape.size(), 0), axes;
  for (size_t n = 0; n < blocks.size(); ++n) {
    before[n + 1] = pairs[2 * n];
    padded[n + 1] = ClampedExtent(int64_t{padded[n + 1]} + pairs[2 * n] + pairs[2 * n + 1]);
    if (padded[n + 1] % blocks[n] != 0) {
      return node->Refuse(kDeputyReasonParameter, "%d is not divisible by the block size %d",
                          padded[n + 1], blocks[n]);
    }
    split.insert(split.end(), {padded[n + 1] / blocks[n], blocks[n]});
    to[0] = ClampedExtent(int64_t{to[0]} * blocks[n]);
    to.push_back(padded[n + 1] / blocks[n]);
    axes.push_back(static_cast<int>(2 * n + 2));
  }
  axes.push_back(0);
  for (size_t n = 0; n < blocks.size(); ++n) axes.push_back(static_cast<int>(2 * n + 1));
  axes.push_back(static_cast<int>(split.size()));
  split.push_back(shape.back());
  to.push_back(shape.back());
  if (!node->CheckResult(padded) || !node->CheckResult(split)) return false;
  const Number fill = {0, node->OutputQuantization(0).zero_point};
  const CopyRegion region =
      RegionOf({0, shape, Ints(shape.size(), 0), before, {}, {}}, shape, padded);
  const ValueId bordered =
      padded == shape ? from
                      : node->Add(Copy{{region}, fill}, {from}, node->value(from).type, padded);
  return node->SetOutput(0, AddShuffle(node, bordered, split, axes, to));
}

bool ImportBatchToSpace(NodeImport* node) {
  Ints blocks, crops;
  if (!ReadBlocks(node, &blocks, &crops)) return false;
  const ValueId from = node->Input(0);
  const Shape shape = node->shape(from);
  const int64_t block_count = ElementCount(blocks);
  if (shape[0] % block_count != 0) {
    return node->Refuse(kDeputyReasonParameter, "the batch size %d is not divisible by %lld",
                        shape[0], static_cast<long long>(block_count));
  }
  const auto spatial = static_cast<int>(blocks.size());
  Shape split = blocks, uncropped = {static_cast<int>(shape[0] / block_count)}, to = uncropped;
  split.insert(split.end(), shape.begin(), shape.end());
  split[blocks.size()] = uncropped[0];
  Ints axes = {spatial}, begin = {0};
  for (size_t n = 0; n < blocks.size(); ++n) {
    axes.insert(axes.end(), {static_cast<int>(n) + spatial + 1, static_cast<int>(n)});
    uncropped.push_back(ClampedExtent(int64_t{shape[n + 1]} * blocks[n]));
    begin.push_back(crops[2 * n]);
    to.push_back(ClampedExtent(int64_t{uncropped.back()} - crops[2 * n] - crops[2 * n + 1]));
    if (to.back() < 0) return node->Refuse(kDeputyReasonParameter, "the crops exceed the extent");
  }
  axes.push_back(static_cast<int>(split.size()) - 1);
  for (Shape* s : {&uncropped, &to}) s->push_back(shape.back());
  begin.push_back(0);
  if (!node->CheckResult(uncropped) || !node->CheckResult(split)) return false;
  const ValueId joined = AddShuffle(node, from, split, axes, uncropped);
  if (to == uncropped) return node->SetOutput(0, joined);
  const CopyRegion region = RegionOf({0, to, begin, Ints(to.size(), 0), {}, {}}, uncropped, to);
  return node->SetOutput(0, node->Add(Copy{{region}, {}}, {joined}, node->value(joined).type, to));
}

constexpr ImportRow kMovementRows[] = {
    {"BATCH_TO_SPACE_ND", kTfLiteBuiltinBatchToSpaceNd, 4, &ImportBatchToSpace, true},
    {"CONCATENATION", kTfLiteBuiltinConcatenation, 7, &ImportConcatenation},
    {"DEPTH_TO_SPACE", kTfLiteBuiltinDepthToSpace, 2, &ImportDepthToSpace, true},
    {"MIRROR_PAD", kTfLiteBuiltinMirrorPad, 3, &ImportMirrorPad, true},
    {"PACK", kTfLiteBuiltinPack, 5, &ImportPack, true},
    {"PAD", kTfLiteBuiltinPad, 6, &ImportPad, true},
    {"PADV2", kTfLiteBuiltinPadv2, 6, &ImportPadV2, true},
    {"REVERSE_V2", kTfLiteBuiltinReverseV2, 3, &ImportReverse, true},
    {"SPACE_TO_BATCH_ND", kTfLiteBuiltinSpaceToBatchNd, 4, &ImportSpaceToBatch, true},
    {"SPACE_TO_DEPTH", kTfLiteBuiltinSpaceToDepth, 2, &ImportSpaceToDepth, true},
    {"SPLIT", kTfLiteBuiltinSplit, 5, &ImportSplit, true},
    {"SPLIT_V", kTfLiteBuiltinSplitV, 3, &ImportSplitV, true},
    {"TILE", kTfLiteBuiltinTile, 3, &ImportTile, true},
    {"TRANSPOSE", kTfLiteBuiltinTranspose, 9, &ImportTranspose, true},
    {"UNPACK", kTfLiteBuiltinUnpack, 6, &ImportUnpack, true},
};

}  // namespace

std::span<const ImportRow> MovementRows() { return kMovementRows; }

}  // namespace deputy::compiler
