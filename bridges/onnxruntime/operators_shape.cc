// SPDX-License-Identifier: Apache-2.0
//
// Reductions along axes and operators that move data.
#include <algorithm>
#include <limits>
#include <numeric>

#include "bridges/onnxruntime/operators.h"

namespace deputy::onnxruntime {
namespace {

// Checks that input 0 and output 0 have one type and one quantisation.
bool ExpectDataMove(const Operation& op, int min, int max) {
  return op.ExpectInputs(min, max) && op.ExpectSameQuantization(op.in(0), op.out(0));
}

size_t RankOf(const TfLiteTensor& tensor) { return static_cast<size_t>(tensor.dims->size); }

// Defines output 0 as `value`, brought into the output's shape if its shape `dims` differs.
void SetReshaped(const Operation& op, std::string value, const Dims& dims) {
  Definition& d = *op.definition;
  const Dims out = DimsOf(op.out(0));
  if (dims != out) value = d.Add("Reshape", {value, d.Ints(out)});
  d.SetStored(op.Out(0), value);
}

// Defines output 0 as input 0 between `starts` and `ends`.
void SetSlice(const Operation& op, const Dims& starts, const Dims& ends, const Dims& steps,
              const Dims& dims) {
  Definition& d = *op.definition;
  Dims axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  SetReshaped(op,
              d.Add("Slice", {d.Stored(op.In(0)), d.Ints(starts), d.Ints(ends), d.Ints(axes),
                              d.Ints(steps)}),
              dims);
}

// Returns the paddings of PAD in ONNX's order: all leading ones, then all trailing ones.
bool ReadPads(const Operation& op, Layout layout, Dims* out_pads) {
  const size_t rank = RankOf(op.in(0));
  Dims pairs;
  if (!op.ReadInts(1, &pairs) || !op.ExpectCount(pairs, 2 * rank, "paddings")) return false;
  if (std::any_of(pairs.begin(), pairs.end(), [](int64_t value) { return value < 0; })) {
    return op.definition->Refuse(kDeputyReasonParameter, "a negative padding");
  }
  out_pads->resize(2 * rank);
  Dims expected;
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<size_t>(AxisIn(layout, static_cast<int64_t>(i)));
    (*out_pads)[axis] = pairs[2 * i];
    (*out_pads)[rank + axis] = pairs[2 * i + 1];
    expected.push_back(op.in(0).dims->data[i] + pairs[2 * i] + pairs[2 * i + 1]);
  }
  return op.ExpectOutput(expected);
}

// Reads a constant of indices and checks that all of them are below `extent`.
bool ExpectIndices(const Operation& op, int input, int64_t extent) {
  Dims indices;
  if (!op.ReadInts(input, &indices)) return false;
  return std::all_of(indices.begin(), indices.end(),
                     [extent](int64_t index) { return index >= 0 && index < extent; }) ||
         op.definition->Refuse(kDeputyReasonParameter, "indices: expected all of them from 0 to " +
                                                           std::to_string(extent - 1));
}

void DefineSplitInto(const Operation& op, int data, int64_t axis) {
  Definition& d = *op.definition;
  Dims sizes;
  for (int i = 0; i < op.outputs(); ++i) {
    if (!op.ExpectSameQuantization(op.in(data), op.out(i)) ||
        !op.ExpectRank(op.out(i), op.in(data).dims->size)) {
      return;
    }
    sizes.push_back(op.out(i).dims->data[axis]);
  }
  if (std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != op.in(data).dims->data[axis]) {
    d.Refuse(kDeputyReasonShape,
             NameOf(op.in(data)) + ": expected the sum of the outputs' extents");
    return;
  }
  const std::vector<std::string> parts =
      d.AddMany(op.onnx, {d.Stored(op.In(data)), d.Ints(sizes)}, op.outputs(), {{"axis", axis}});
  for (int i = 0; i < op.outputs(); ++i) d.SetStored(op.Out(i), parts[static_cast<size_t>(i)]);
}

}  // namespace

void DefineReduce(const Operation& op) {
  Definition& d = *op.definition;
  Dims given, axes;
  const int rank = op.in(0).dims->size;
  if (!op.ExpectInputs(2, 2) || !op.ExpectType(op.out(0), op.in(0).type) ||
      !op.ReadInts(1, &given)) {
    return;
  }
  for (const int64_t value : given) {
    int64_t axis = 0;
    if (!op.ToAxis(value, rank, &axis)) return;
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  if (axes.empty()) {
    d.Refuse(kDeputyReasonParameter, "expected an axis, found none");
    return;
  }
  // The result of a reduction of height and width has the same order in both layouts.
  const bool keeps = op.params<TfLiteReducerParams>().keep_dims;
  const Layout layout = axes == Dims{1, 2} ? op.SharedLayout(1) : Layout::kNhwc;
  for (int64_t& axis : axes) axis = AxisIn(layout, axis);
  const bool has_axes_input = op.builtin == kTfLiteBuiltinSum;
  std::vector<std::string> inputs = {d.Real(op.In(0), layout)};
  std::vector<Attribute> attributes = {{"keepdims", int64_t{keeps ? 1 : 0}}};
  if (has_axes_input) {
    inputs.push_back(d.Ints(axes));
  } else {
    attributes.emplace_back("axes", axes);
  }
  d.SetReal(op.Out(0), d.Add(op.onnx, inputs, attributes), keeps ? layout : Layout::kNhwc);
}

void DefineArgument(const Operation& op) {
  Definition& d = *op.definition;
  int64_t axis = 0;
  if (!op.ExpectInputs(2, 2) || !op.ReadAxis(1, op.in(0).dims->size, &axis)) return;
  if (op.out(0).type != kTfLiteInt64 && !op.ExpectType(op.out(0), kTfLiteInt32)) return;
  std::string value =
      d.Add(op.onnx, {d.Real(op.In(0))}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  if (op.out(0).type == kTfLiteInt32) value = d.Add("Cast", {value}, {{"to", int64_t{kInt32}}});
  d.SetStored(op.Out(0), value);
}

void DefineCumsum(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteCumsumParams>();
  int64_t axis = 0;
  if (!ExpectDataMove(op, 2, 2) || !op.ReadAxis(1, op.in(0).dims->size, &axis)) return;
  d.SetReal(op.Out(0), d.Add(op.onnx, {d.Real(op.In(0)), d.Ints({axis})},
                             {{"exclusive", int64_t{params.exclusive}},
                              {"reverse", int64_t{params.reverse}}}));
}

// Defines operators that keep the order of the elements. The shape is taken from the output tensor,
// which is known.
void DefineReshape(const Operation& op) {
  Definition& d = *op.definition;
  const Dims out = DimsOf(op.out(0));
  if (!ExpectDataMove(op, 1, 2)) return;
  if (CountOf(DimsOf(op.in(0))) != CountOf(out)) {
    d.Refuse(kDeputyReasonShape, NameOf(op.out(0)) + ": expected as many elements as the input");
    return;
  }
  d.SetStored(op.Out(0), d.Add(op.onnx, {d.Stored(op.In(0)), d.Ints(out)}));
}

void DefineTranspose(const Operation& op) {
  Definition& d = *op.definition;
  Dims order;
  if (!ExpectDataMove(op, 2, 2) || !op.ReadInts(1, &order) ||
      !op.ExpectCount(order, RankOf(op.in(0)), "permutation")) {
    return;
  }
  for (int64_t& axis : order) {
    if (!op.ToAxis(axis, op.in(0).dims->size, &axis)) return;
  }
  d.SetStored(op.Out(0), d.Add(op.onnx, {d.Stored(op.In(0))}, {{"perm", order}}));
}

void DefinePad(const Operation& op) {
  Definition& d = *op.definition;
  const bool has_value = op.builtin == kTfLiteBuiltinPadv2;
  const int count = has_value ? 3 : 2;
  if (!ExpectDataMove(op, count, count)) return;
  const Layout layout = op.SharedLayout(1);
  Dims pads;
  if (!ReadPads(op, layout, &pads)) return;
  if (has_value &&
      (!op.ExpectSameQuantization(op.in(0), op.in(2)) || !op.ExpectConstant(op.in(2)))) {
    return;
  }
  const ElementType type = TypeOf(op.in(0));
  const size_t bytes = ElementBytes(type);
  std::string contents(bytes, '\0');
  if (IsQuantized(op.in(0))) contents[0] = static_cast<char>(op.in(0).params.zero_point);
  if (has_value) contents.assign(op.in(2).data.raw_const, bytes);
  d.SetStored(
      op.Out(0),
      d.Add(op.onnx, {d.Stored(op.In(0), layout), d.Ints(pads), d.Constant(type, {}, contents)}),
      layout);
}

void DefineMirrorPad(const Operation& op) {
  Definition& d = *op.definition;
  Dims pads;
  if (!ExpectDataMove(op, 2, 2) || !ReadPads(op, Layout::kNhwc, &pads)) return;
  if (op.params<TfLiteMirrorPaddingParams>().mode != kTfLiteMirrorPaddingReflect) {
    d.Refuse(kDeputyReasonParameter, "mode: expected REFLECT");
    return;
  }
  for (size_t i = 0; i < pads.size(); ++i) {
    const int extent = op.in(0).dims->data[i % RankOf(op.in(0))];
    if (pads[i] < extent) continue;
    d.Refuse(kDeputyReasonParameter,
             "paddings: expected less than the extent " + std::to_string(extent));
    return;
  }
  d.SetStored(op.Out(0), d.Add(op.onnx, {d.Stored(op.In(0)), d.Ints(pads)},
                               {{"mode", std::string_view("reflect")}}));
}

void DefineConcatenation(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteConcatenationParams>();
  int64_t axis = 0;
  if (!op.ExpectInputs(op.inputs(), op.inputs()) ||
      !op.ToAxis(params.axis, op.in(0).dims->size, &axis)) {
    return;
  }
  if (params.activation != kTfLiteActNone) {
    d.Refuse(kDeputyReasonParameter, "fused activation: expected none");
    return;
  }
  for (int i = 0; i < op.inputs(); ++i) {
    if (!op.ExpectRank(op.in(i), op.out(0).dims->size) ||
        !op.ExpectSameQuantization(op.out(0), op.in(i))) {
      return;
    }
  }
  const Layout layout = op.SharedLayout(op.inputs());
  std::vector<std::string> values;
  values.reserve(static_cast<size_t>(op.inputs()));
  for (int i = 0; i < op.inputs(); ++i) values.push_back(d.Stored(op.In(i), layout));
  d.SetStored(op.Out(0), d.Add(op.onnx, values, {{"axis", AxisIn(layout, axis)}}), layout);
}

void DefinePack(const Operation& op) {
  Definition& d = *op.definition;
  int64_t axis = 0;
  if (!op.ExpectInputs(op.inputs(), op.inputs()) ||
      !op.ToAxis(op.params<TfLitePackParams>().axis, op.out(0).dims->size, &axis)) {
    return;
  }
  Dims part = DimsOf(op.out(0));
  part[static_cast<size_t>(axis)] = 1;
  std::vector<std::string> values;
  for (int i = 0; i < op.inputs(); ++i) {
    if (!op.ExpectSameQuantization(op.out(0), op.in(i))) return;
    values.push_back(d.Add("Reshape", {d.Stored(op.In(i)), d.Ints(part)}));
  }
  d.SetStored(op.Out(0), d.Add(op.onnx, values, {{"axis", axis}}));
}

void DefineUnpack(const Operation& op) {
  Definition& d = *op.definition;
  int64_t axis = 0;
  if (!ExpectDataMove(op, 1, 1) ||
      !op.ToAxis(op.params<TfLiteUnpackParams>().axis, op.in(0).dims->size, &axis)) {
    return;
  }
  if (op.in(0).dims->data[axis] != op.outputs()) {
    d.Refuse(kDeputyReasonShape, NameOf(op.in(0)) + ": expected the extent " +
                                     std::to_string(op.outputs()) + " along the axis");
    return;
  }
  const Dims sizes(static_cast<size_t>(op.outputs()), 1);
  const std::vector<std::string> parts =
      d.AddMany(op.onnx, {d.Stored(op.In(0)), d.Ints(sizes)}, op.outputs(), {{"axis", axis}});
  for (int i = 0; i < op.outputs(); ++i) {
    const Dims out = DimsOf(op.out(i));
    d.SetStored(op.Out(i), d.Add("Reshape", {parts[static_cast<size_t>(i)], d.Ints(out)}));
  }
}

// Defines SPLIT, whose axis is input 0 and whose data is input 1.
void DefineSplit(const Operation& op) {
  int64_t axis = 0;
  if (!op.ExpectInputs(2, 2) || !op.ReadAxis(0, op.in(1).dims->size, &axis)) return;
  DefineSplitInto(op, 1, axis);
}

void DefineSplitV(const Operation& op) {
  int64_t axis = 0;
  if (!op.ExpectInputs(3, 3) || !op.ReadAxis(2, op.in(0).dims->size, &axis)) return;
  DefineSplitInto(op, 0, axis);
}

void DefineSlice(const Operation& op) {
  Dims begin;
  if (!ExpectDataMove(op, 3, 3) || !op.ReadInts(1, &begin) || !op.ExpectConstant(op.in(2)) ||
      !op.ExpectCount(begin, RankOf(op.in(0)), "begin") ||
      !op.ExpectRank(op.out(0), op.in(0).dims->size)) {
    return;
  }
  const Dims out = DimsOf(op.out(0));
  Dims end;
  for (size_t i = 0; i < begin.size(); ++i) {
    end.push_back(begin[i] + out[i]);
    if (begin[i] < 0 || end[i] > op.in(0).dims->data[i]) {
      op.definition->Refuse(kDeputyReasonParameter, "begin: expected positions in the input");
      return;
    }
  }
  SetSlice(op, begin, end, Dims(begin.size(), 1), out);
}

void DefineStridedSlice(const Operation& op) {
  const auto& params = op.params<TfLiteStridedSliceParams>();
  if (!ExpectDataMove(op, 4, 4)) return;
  if (params.ellipsis_mask != 0 || params.new_axis_mask != 0 || params.offset) {
    op.definition->Refuse(kDeputyReasonParameter,
                          "ellipses, new axes and offsets are not supported");
    return;
  }
  const size_t rank = RankOf(op.in(0));
  Dims begin, end, stride, dims;
  if (!op.ReadInts(1, &begin) || !op.ReadInts(2, &end) || !op.ReadInts(3, &stride) ||
      !op.ExpectCount(begin, rank, "begin") || !op.ExpectCount(end, rank, "end") ||
      !op.ExpectCount(stride, rank, "strides")) {
    return;
  }
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = op.in(0).dims->data[i], step = stride[i];
    const int bit = 1 << i;
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    const auto clamp = [&](int64_t at, bool is_masked, int64_t whole) {
      return is_masked ? whole : std::clamp(at < 0 ? at + extent : at, low, high);
    };
    begin[i] = clamp(begin[i], (params.begin_mask & bit) != 0, step > 0 ? 0 : extent - 1);
    end[i] = clamp(end[i], (params.end_mask & bit) != 0, step > 0 ? extent : -1);
    if ((params.shrink_axis_mask & bit) != 0) end[i] = begin[i] + (step > 0 ? 1 : -1);
    const int64_t count = step == 0 ? 0 : (end[i] - begin[i] + step - (step > 0 ? 1 : -1)) / step;
    if (step == 0 || count <= 0 || begin[i] < 0 || begin[i] >= extent) {
      op.definition->Refuse(kDeputyReasonParameter,
                            "expected strides other than 0 and at least one element");
      return;
    }
    dims.push_back(count);
    // ONNX counts a negative end from the end of the dimension.
    if (end[i] < 0) end[i] -= extent;
  }
  if (CountOf(dims) != CountOf(DimsOf(op.out(0)))) {
    op.definition->Refuse(kDeputyReasonShape,
                          NameOf(op.out(0)) + ": its shape does not match the slice");
    return;
  }
  SetSlice(op, begin, end, stride, dims);
}

void DefineReverse(const Operation& op) {
  Definition& d = *op.definition;
  Dims axes;
  if (!ExpectDataMove(op, 2, 2) || !op.ReadInts(1, &axes)) return;
  for (int64_t& axis : axes) {
    if (!op.ToAxis(axis, op.in(0).dims->size, &axis)) return;
  }
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] == axes[i - 1] + 1) continue;
    d.Refuse(kDeputyReasonParameter, "axes: expected neighbouring dimensions");
    return;
  }
  const Dims starts(axes.size(), -1), ends(axes.size(), std::numeric_limits<int64_t>::min());
  const std::string value = d.Add(op.onnx, {d.Stored(op.In(0)), d.Ints(starts), d.Ints(ends),
                                            d.Ints(axes), d.Ints(Dims(axes.size(), -1))});
  d.SetStored(op.Out(0), value);
}

void DefineGather(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteGatherParams>();
  int64_t axis = 0;
  if (!ExpectDataMove(op, 2, 2) || !op.ToAxis(params.axis, op.in(0).dims->size, &axis)) return;
  if (params.batch_dims != 0) {
    d.Refuse(kDeputyReasonParameter, "batch dimensions are not supported");
    return;
  }
  if (!ExpectIndices(op, 1, op.in(0).dims->data[axis])) return;
  d.SetStored(op.Out(0),
              d.Add(op.onnx, {d.Stored(op.In(0)), d.Stored(op.In(1))}, {{"axis", axis}}));
}

void DefineEmbeddingLookup(const Operation& op) {
  Definition& d = *op.definition;
  if (!op.ExpectInputs(2, 2) || !op.ExpectRank(op.in(0), 1) ||
      !op.ExpectSameQuantization(op.in(1), op.out(0))) {
    return;
  }
  if (op.in(1).dims->size < 2) {
    d.Refuse(kDeputyReasonShape, "values: expected at least 2 dimensions");
    return;
  }
  if (!ExpectIndices(op, 0, op.in(1).dims->data[0])) return;
  d.SetStored(op.Out(0),
              d.Add(op.onnx, {d.Stored(op.In(1)), d.Stored(op.In(0))}, {{"axis", int64_t{0}}}));
}

void DefineTile(const Operation& op) {
  Definition& d = *op.definition;
  Dims multiples;
  if (!ExpectDataMove(op, 2, 2) || !op.ReadInts(1, &multiples) ||
      !op.ExpectCount(multiples, RankOf(op.in(0)), "multiples")) {
    return;
  }
  d.SetStored(op.Out(0), d.Add(op.onnx, {d.Stored(op.In(0)), d.Ints(multiples)}));
}

void DefineBroadcastTo(const Operation& op) {
  Definition& d = *op.definition;
  if (!ExpectDataMove(op, 2, 2) || !op.ExpectConstant(op.in(1))) return;
  d.SetStored(op.Out(0), d.Add(op.onnx, {d.Stored(op.In(0)), d.Ints(DimsOf(op.out(0)))}));
}

// Defines SPACE_TO_DEPTH and DEPTH_TO_SPACE as a permutation of six dimensions.
void DefineBlocks(const Operation& op) {
  Definition& d = *op.definition;
  const bool to_depth = op.builtin == kTfLiteBuiltinSpaceToDepth;
  const int64_t block = to_depth ? op.params<TfLiteSpaceToDepthParams>().block_size
                                 : op.params<TfLiteDepthToSpaceParams>().block_size;
  if (!ExpectDataMove(op, 1, 1) || !op.ExpectRank(op.in(0), 4) || !op.ExpectRank(op.out(0), 4)) {
    return;
  }
  if (block < 1) {
    d.Refuse(kDeputyReasonParameter, "block size: expected a positive number");
    return;
  }
  // `fine` is the shape with more rows and columns.
  const Dims in = DimsOf(op.in(0)), out = DimsOf(op.out(0));
  const Dims &fine = to_depth ? in : out, &coarse = to_depth ? out : in;
  if (fine[0] != coarse[0] || fine[1] != coarse[1] * block || fine[2] != coarse[2] * block ||
      coarse[3] != fine[3] * block * block) {
    d.Refuse(kDeputyReasonShape, NameOf(op.out(0)) + ": its shape does not match the blocks");
    return;
  }
  const Dims split = to_depth ? Dims{in[0], out[1], block, out[2], block, in[3]}
                              : Dims{in[0], in[1], in[2], block, block, out[3]};
  const std::string blocks = d.Add("Reshape", {d.Stored(op.In(0)), d.Ints(split)});
  const std::string moved = d.Add(op.onnx, {blocks}, {{"perm", Dims{0, 1, 3, 2, 4, 5}}});
  d.SetStored(op.Out(0), d.Add("Reshape", {moved, d.Ints(out)}));
}

}  // namespace deputy::onnxruntime
