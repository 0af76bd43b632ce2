// SPDX-License-Identifier: Apache-2.0
//
// Changes of shape, concatenation and splitting, transpositions, and tensors computed from shapes.
#include <algorithm>
#include <numeric>

#include "mindspore/ms/mapping.h"
#include "mindspore/ms/shapes.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

bool ToInts(Mapping& m, const std::vector<int64_t>& values, const char* name,
            std::vector<int32_t>* out) {
  out->clear();
  for (const int64_t value : values) {
    if (!m.Within(value, name, -kMaxInt32, kMaxInt32)) return false;
    out->push_back(static_cast<int32_t>(value));
  }
  return true;
}

// Returns the shape of a Reshape: the leading dimensions are those of the input wherever `shape`
// has 0, up to its last 0. The graph computes them, because inputs may be resized.
int CopiedShape(Mapping& m, int input, const std::vector<int32_t>& shape, size_t leading) {
  std::vector<int32_t> copied(leading), given(leading);
  for (size_t d = 0; d < leading; ++d) {
    copied[d] = shape[d] == 0 ? 1 : 0;
    given[d] = shape[d];
  }
  const int dims = DimsOf(m, ShapeOf(m, input), 0, static_cast<int>(leading));
  const int first = ScaledShape(m, dims, copied, given);
  if (leading == shape.size()) return first;
  return JoinShapes(
      m, {first, m.ConstInts({shape.begin() + static_cast<ptrdiff_t>(leading), shape.end()})});
}

// Maps Reshape. In the shape, 0 copies the dimension of the input and -1 is derived from the
// element count.
bool MapReshape(Mapping& m, Builtin) {
  if (!m.in(1).constant) {
    ReshapeTo(m, m.In(0), m.In(1), m.Out());
    return true;
  }
  std::vector<int64_t> values;
  std::vector<int32_t> shape;
  if (!m.Ints(1, kMaxRank, &values) || !ToInts(m, values, "shape", &shape)) return false;
  const auto last_zero = std::find(shape.rbegin(), shape.rend(), 0);
  const auto leading = static_cast<size_t>(shape.rend() - last_zero);
  if (leading == 0) {
    m.Reshape(m.In(0), shape, m.Out());
    return true;
  }
  const int rank = Mapping::Rank(m.in(0));
  if (rank >= 0 && leading > static_cast<size_t>(rank)) {
    return m.Fail(
        Format("shape: 0 at %zu copies a dimension of an input of rank %d", leading - 1, rank));
  }
  const int input = m.In(0);
  ReshapeTo(m, input, CopiedShape(m, input, shape, leading), m.Out());
  return true;
}

// Maps Flatten. The output has the shape [outer, inner]: the dimensions before the axis, and those
// from it on.
bool MapFlatten(Mapping& m, Builtin) {
  const file::Flatten* attributes = nullptr;
  int rank = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank) ||
      !m.Within(attributes->axis(), "axis", -rank, rank)) {
    return false;
  }
  const bool from_end = attributes->axis() < 0;
  const auto axis = static_cast<int>(from_end ? attributes->axis() + rank : attributes->axis());
  const int input = m.In(0);
  if (axis == 0) {
    m.Reshape(input, {1, -1}, m.Out());
    return true;
  }
  const int shape = from_end ? ShapeOfRank(m, input, rank) : ShapeOf(m, input);
  const int outer = DimsOf(m, shape, 0, axis);
  ReshapeTo(m, input, JoinShapes(m, {axis == 1 ? outer : ProductOf(m, outer), m.ConstInts({-1})}),
            m.Out());
  return true;
}

bool MapSqueeze(Mapping& m, Builtin) {
  const file::Squeeze* attributes = nullptr;
  std::vector<int64_t> values;
  std::vector<int32_t> axes;
  if (!m.Read(&attributes) || !m.List(attributes->axis(), "axis", 0, kMaxRank, &values) ||
      !ToInts(m, values, "axis", &axes)) {
    return false;
  }
  m.Op(Builtin::SQUEEZE, {m.In(0)}, {m.Out()},
       schema::CreateSqueezeOptions(m.fbb(), m.fbb().CreateVector(axes)));
  return true;
}

void ExpandDims(Mapping& m, int input, int axis, int output) {
  m.Op(Builtin::EXPAND_DIMS, {input, m.ConstInt(axis)}, {output},
       schema::CreateExpandDimsOptions(m.fbb()));
}

// Maps Unsqueeze, whose axes refer to the dimensions of the output.
bool MapUnsqueeze(Mapping& m, Builtin) {
  const file::Unsqueeze* attributes = nullptr;
  std::vector<int64_t> axes;
  int rank = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank) ||
      !m.List(attributes->axis(), "axis", 1, kMaxRank, &axes)) {
    return false;
  }
  rank += static_cast<int>(axes.size());
  for (int64_t& axis : axes) {
    int normal = 0;
    if (!m.NormalAxis(axis, rank, &normal)) return false;
    axis = normal;
  }
  std::sort(axes.begin(), axes.end());
  int value = m.In(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int output = i + 1 == axes.size()
                           ? m.Out()
                           : m.Temp({.type = m.out().type, .quantization = &m.out().quantization});
    ExpandDims(m, value, static_cast<int>(axes[i]), output);
    value = output;
  }
  return true;
}

bool MapExpandDims(Mapping& m, Builtin) {
  std::vector<int64_t> axis;
  std::vector<int32_t> axes;
  if (!m.Ints(1, 1, &axis) || !ToInts(m, axis, "axis", &axes)) return false;
  if (axes.size() != 1) return m.FailInput(1, "expected one axis");
  ExpandDims(m, m.In(0), axes[0], m.Out());
  return true;
}

bool MapTranspose(Mapping& m, Builtin) {
  std::vector<int64_t> values;
  std::vector<int32_t> perm;
  if (!m.Ints(1, kMaxRank, &values) || !ToInts(m, values, "perm", &perm)) return false;
  m.Transpose(m.In(0), perm, m.Out());
  return true;
}

bool MapFormatTranspose(Mapping& m, Builtin) {
  const file::FormatTranspose* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  const file::Format from = attributes->src_format(), to = attributes->dst_format();
  if (from == to) return m.Forward();
  if (from == file::Format_NHWC && to == file::Format_NCHW) {
    m.Transpose(m.In(0), {0, 3, 1, 2}, m.Out());
    return true;
  }
  if (from == file::Format_NCHW && to == file::Format_NHWC) {
    m.Transpose(m.In(0), {0, 2, 3, 1}, m.Out());
    return true;
  }
  return m.Fail(Format("expected layouts NCHW (0) and NHWC (1), found %d and %d",
                       static_cast<int>(from), static_cast<int>(to)));
}

// ---- Joining and splitting ----------------------------------------------------------------------

bool MapConcat(Mapping& m, Builtin) {
  const file::Concat* attributes = nullptr;
  int axis = 0;
  if (!m.Read(&attributes) || !m.NormalAxis(attributes->axis(), Mapping::Rank(m.in(0)), &axis)) {
    return false;
  }
  m.Op(Builtin::CONCATENATION, m.AllIn(), {m.Out()},
       schema::CreateConcatenationOptions(m.fbb(), axis));
  return true;
}

// Splits into parts of equal size (SPLIT), or of the sizes given by the attribute (SPLIT_V).
bool MapSplit(Mapping& m, Builtin) {
  const file::Split* attributes = nullptr;
  std::vector<int64_t> values;
  std::vector<int32_t> sizes;
  int axis = 0;
  const size_t count = m.outputs();
  if (!m.Read(&attributes) ||
      !m.List(attributes->size_splits(), "size_splits", 0, count, &values) ||
      !ToInts(m, values, "size_splits", &sizes) ||
      !m.NormalAxis(attributes->axis(), Mapping::Rank(m.in(0)), &axis)) {
    return false;
  }
  const auto parts = static_cast<int32_t>(count);
  if (attributes->output_num() != 0 &&
      !m.Within(attributes->output_num(), "output_num", parts, parts)) {
    return false;
  }
  if (sizes.empty()) {
    m.Op(Builtin::SPLIT, {m.ConstInt(axis), m.In(0)}, m.AllOut(),
         schema::CreateSplitOptions(m.fbb(), parts));
    return true;
  }
  if (sizes.size() != count) {
    return m.Fail(Format("size_splits: expected %zu values, found %zu", count, sizes.size()));
  }
  m.Op(Builtin::SPLIT_V, {m.In(0), m.ConstInts(sizes), m.ConstInt(axis)}, m.AllOut(),
       schema::CreateSplitVOptions(m.fbb(), parts));
  return true;
}

bool MapStack(Mapping& m, Builtin) {
  const file::Stack* attributes = nullptr;
  int axis = 0;
  const int rank = Mapping::Rank(m.in(0));
  if (!m.Read(&attributes) || !m.NormalAxis(attributes->axis(), rank < 0 ? -1 : rank + 1, &axis)) {
    return false;
  }
  m.Op(Builtin::PACK, m.AllIn(), {m.Out()},
       schema::CreatePackOptions(m.fbb(), static_cast<int32_t>(m.inputs()), axis));
  return true;
}

bool MapUnstack(Mapping& m, Builtin) {
  const file::Unstack* attributes = nullptr;
  int axis = 0;
  if (!m.Read(&attributes) || !m.NormalAxis(attributes->axis(), Mapping::Rank(m.in(0)), &axis)) {
    return false;
  }
  m.Op(Builtin::UNPACK, {m.In(0)}, m.AllOut(),
       schema::CreateUnpackOptions(m.fbb(), static_cast<int32_t>(m.outputs()), axis));
  return true;
}

// ---- Blocks -------------------------------------------------------------------------------------

bool MapDepthToSpace(Mapping& m, Builtin) {
  const file::DepthToSpace* attributes = nullptr;
  if (!m.Read(&attributes) || !m.Within(attributes->block_size(), "block_size", 1, kMaxInt32)) {
    return false;
  }
  const std::string mode = attributes->mode() == nullptr ? "" : attributes->mode()->str();
  if (!mode.empty() && mode != "DCR") return m.Fail("mode: expected DCR, found " + Quoted(mode));
  m.Op(Builtin::DEPTH_TO_SPACE, {m.In(0)}, {m.Out()},
       schema::CreateDepthToSpaceOptions(m.fbb(), static_cast<int32_t>(attributes->block_size())));
  return true;
}

bool MapSpaceToDepth(Mapping& m, Builtin) {
  const file::SpaceToDepth* attributes = nullptr;
  if (!m.Read(&attributes) || !m.Within(attributes->block_size(), "block_size", 1, kMaxInt32)) {
    return false;
  }
  m.Op(Builtin::SPACE_TO_DEPTH, {m.In(0)}, {m.Out()},
       schema::CreateSpaceToDepthOptions(m.fbb(), static_cast<int32_t>(attributes->block_size())));
  return true;
}

// Return the block of a primitive, and its crops or paddings.
const LongList* BlockOf(const file::BatchToSpace& from) { return from.block_size(); }
const LongList* BlockOf(const file::SpaceToBatch& from) { return from.block_size(); }
const LongList* BlockOf(const file::BatchToSpaceND& from) { return from.block_shape(); }
const LongList* BlockOf(const file::SpaceToBatchND& from) { return from.block_shape(); }
const file::Vec2D* PairsOf(const file::BatchToSpace& from) { return from.crops(); }
const file::Vec2D* PairsOf(const file::SpaceToBatch& from) { return from.paddings(); }
const file::Vec2D* PairsOf(const file::BatchToSpaceND& from) { return from.crops(); }
const file::Vec2D* PairsOf(const file::SpaceToBatchND& from) { return from.paddings(); }

// Maps BatchToSpace and SpaceToBatch. The block and the paddings (or crops) are inputs or
// attributes.
template <typename Blocks>
bool MapBlocks(Mapping& m, Builtin code) {
  const Blocks* attributes = nullptr;
  std::vector<int64_t> values, pairs;
  std::vector<int32_t> block, pads;
  if (m.inputs() == 3) {
    m.Op(code, m.AllIn(), {m.Out()});
    return true;
  }
  if (!m.Read(&attributes) || !m.List(BlockOf(*attributes), "block", 1, kMaxRank, &values) ||
      !ToInts(m, values, "block", &block)) {
    return false;
  }
  const file::Vec2D* table = PairsOf(*attributes);
  const auto* rows = table == nullptr ? nullptr : table->data();
  if (rows == nullptr || rows->size() != block.size()) {
    return m.Fail(Format("crops or paddings: expected %zu pairs, found %u", block.size(),
                         rows == nullptr ? 0 : rows->size()));
  }
  for (const file::Vec* row : *rows) {
    std::vector<int64_t> pair;
    if (row == nullptr || !m.List(row->data(), "crops or paddings", 2, 2, &pair)) return false;
    pairs.insert(pairs.end(), pair.begin(), pair.end());
  }
  if (!ToInts(m, pairs, "crops or paddings", &pads)) return false;
  const int sizes = m.writer().AddConstant(
      {.type = Type::kInt32, .dims = {static_cast<int32_t>(block.size()), 2}},
      {reinterpret_cast<const uint8_t*>(pads.data()), pads.size() * sizeof(int32_t)});
  m.Op(code, {m.In(0), m.ConstInts(block), sizes}, {m.Out()});
  return true;
}

// ---- Tensors computed from shapes ---------------------------------------------------------------

bool MapShape(Mapping& m, Builtin) {
  const bool wide = m.out().type == Type::kInt64;
  m.Op(Builtin::SHAPE, {m.RawIn(0)}, {m.Out()},
       schema::CreateShapeOptions(m.fbb(),
                                  wide ? schema::TensorType::INT64 : schema::TensorType::INT32));
  return true;
}

bool MapRank(Mapping& m, Builtin) {
  m.Op(Builtin::RANK, {m.RawIn(0)}, {m.Out()}, schema::CreateRankOptions(m.fbb()));
  return true;
}

// Inputs: value, shape.
bool MapFill(Mapping& m, Builtin) {
  int rank = 0;
  if (!m.KnownRank(0, &rank)) return false;
  if (rank > 1) return m.FailInput(0, Format("expected one value, found rank %d", rank));
  int value = m.In(0);
  if (rank == 1) {
    const int scalar = m.Temp({.type = m.in(0).type});
    m.Op(Builtin::SQUEEZE, {value}, {scalar},
         schema::CreateSqueezeOptions(m.fbb(), m.fbb().CreateVector(std::vector<int32_t>{0})));
    value = scalar;
  }
  m.Op(Builtin::FILL, {m.In(1), value}, {m.Out()}, schema::CreateFillOptions(m.fbb()));
  return true;
}

// Maps Range. Start, limit and delta are inputs or attributes.
bool MapRange(Mapping& m, Builtin) {
  if (m.inputs() == 3) {
    m.Op(Builtin::RANGE, m.AllIn(), {m.Out()}, schema::CreateRangeOptions(m.fbb()));
    return true;
  }
  const file::Range* attributes = nullptr;
  if (!m.Read(&attributes) || !m.Within(attributes->start(), "start", -kMaxInt32, kMaxInt32) ||
      !m.Within(attributes->limit(), "limit", -kMaxInt32, kMaxInt32) ||
      !m.Within(attributes->delta(), "delta", -kMaxInt32, kMaxInt32)) {
    return false;
  }
  if (m.out().type != Type::kInt32) {
    return m.Fail(std::string("expected an output of INT32, found ") + TypeName(m.out().type));
  }
  m.Op(Builtin::RANGE,
       {m.ConstInt(static_cast<int32_t>(attributes->start())),
        m.ConstInt(static_cast<int32_t>(attributes->limit())),
        m.ConstInt(static_cast<int32_t>(attributes->delta()))},
       {m.Out()}, schema::CreateRangeOptions(m.fbb()));
  return true;
}

// Reverses the given axes: a STRIDED_SLICE with stride -1.
bool MapReverse(Mapping& m, Builtin) {
  const file::ReverseV2* attributes = nullptr;
  std::vector<int64_t> axes;
  int rank = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank) ||
      !m.List(attributes->axis(), "axis", 1, kMaxRank, &axes)) {
    return false;
  }
  std::vector<int32_t> strides(static_cast<size_t>(rank), 1);
  for (const int64_t given : axes) {
    int axis = 0;
    if (!m.NormalAxis(given, rank, &axis)) return false;
    strides[axis] = -1;
  }
  const int zeros = m.ConstInts(std::vector<int32_t>(strides.size()));
  const int all = (1 << rank) - 1;  // masks all begins and ends: each axis is whole
  m.Op(Builtin::STRIDED_SLICE, {m.In(0), zeros, zeros, m.ConstInts(strides)}, {m.Out()},
       schema::CreateStridedSliceOptions(m.fbb(), all, all));
  return true;
}

}  // namespace

std::span<const Row> ShapeRows() {
  static constexpr Row kRows[] = {
      {file::PrimitiveType_Reshape, 2, 2, 1, &MapReshape},
      {file::PrimitiveType_Flatten, 1, 1, 1, &MapFlatten},
      {file::PrimitiveType_Squeeze, 1, 1, 1, &MapSqueeze},
      {file::PrimitiveType_Unsqueeze, 1, 1, 1, &MapUnsqueeze},
      {file::PrimitiveType_ExpandDims, 2, 2, 1, &MapExpandDims},
      {file::PrimitiveType_Transpose, 2, 2, 1, &MapTranspose},
      {file::PrimitiveType_FormatTranspose, 1, 1, 1, &MapFormatTranspose},
      {file::PrimitiveType_Concat, 1, 255, 1, &MapConcat},
      {file::PrimitiveType_Split, 1, 1, 0, &MapSplit},
      {file::PrimitiveType_Stack, 1, 255, 1, &MapStack},
      {file::PrimitiveType_Unstack, 1, 1, 0, &MapUnstack},
      {file::PrimitiveType_DepthToSpace, 1, 1, 1, &MapDepthToSpace},
      {file::PrimitiveType_SpaceToDepth, 1, 1, 1, &MapSpaceToDepth},
      {file::PrimitiveType_BatchToSpace, 1, 3, 1, &MapBlocks<file::BatchToSpace>,
       Builtin::BATCH_TO_SPACE_ND},
      {file::PrimitiveType_BatchToSpaceND, 1, 3, 1, &MapBlocks<file::BatchToSpaceND>,
       Builtin::BATCH_TO_SPACE_ND},
      {file::PrimitiveType_SpaceToBatch, 1, 3, 1, &MapBlocks<file::SpaceToBatch>,
       Builtin::SPACE_TO_BATCH_ND},
      {file::PrimitiveType_SpaceToBatchND, 1, 3, 1, &MapBlocks<file::SpaceToBatchND>,
       Builtin::SPACE_TO_BATCH_ND},
      {file::PrimitiveType_Shape, 1, 1, 1, &MapShape},
      {file::PrimitiveType_Rank, 1, 1, 1, &MapRank},
      {file::PrimitiveType_Fill, 2, 2, 1, &MapFill},
      {file::PrimitiveType_Range, 1, 3, 1, &MapRange},
      {file::PrimitiveType_ReverseV2, 1, 1, 1, &MapReverse},
  };
  return kRows;
}

}  // namespace deputy::ms
