// SPDX-License-Identifier: Apache-2.0
//
// Slicing, padding, tiling, broadcasting and gathering.
#include <algorithm>
#include <numeric>

#include "mindspore/ms/mapping.h"
#include "mindspore/ms/shapes.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

// Saturates to int32, because ends beyond the extent of any tensor are common.
int32_t Clamped(int64_t value) {
  return static_cast<int32_t>(std::clamp(value, -kMaxInt32, kMaxInt32));
}

bool Axes(Mapping& m, const std::vector<int64_t>& axes, int rank, std::vector<int>* out) {
  std::vector<bool> seen(kMaxRank);
  for (const int64_t axis : axes) {
    int normal = 0;
    if (!m.NormalAxis(axis, rank, &normal)) return false;
    if (seen[normal]) return m.Fail(Format("axis %d occurs twice", normal));
    seen[normal] = true;
    out->push_back(normal);
  }
  return true;
}

// Returns a list of length `rank` with `values` at the positions `axes` and `fill` elsewhere.
std::vector<int32_t> Scattered(const std::vector<int64_t>& values, const std::vector<int>& axes,
                               int rank, int32_t fill) {
  std::vector<int32_t> full(static_cast<size_t>(rank), fill);
  for (size_t i = 0; i < axes.size(); ++i) full[axes[i]] = Clamped(values[i]);
  return full;
}

// Inputs: x, begin, size.
bool MapSlice(Mapping& m, Builtin) {
  const file::SliceFusion* attributes = nullptr;
  std::vector<int64_t> given, begin, size;
  std::vector<int> axes;
  int rank = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank) ||
      !m.List(attributes->axes(), "axes", 0, kMaxRank, &given) || !m.Ints(1, kMaxRank, &begin) ||
      !m.Ints(2, kMaxRank, &size)) {
    return false;
  }
  if (given.empty()) {
    given.resize(begin.size());
    std::iota(given.begin(), given.end(), 0);
  }
  if (begin.size() != given.size() || size.size() != given.size()) {
    return m.Fail(Format("expected begin and size for %zu axes, found %zu and %zu", given.size(),
                         begin.size(), size.size()));
  }
  if (!Axes(m, given, rank, &axes)) return false;
  m.Op(Builtin::SLICE,
       {m.In(0), m.ConstInts(Scattered(begin, axes, rank, 0)),
        m.ConstInts(Scattered(size, axes, rank, -1))},
       {m.Out()}, schema::CreateSliceOptions(m.fbb()));
  return true;
}

// Inputs: x, begin, end, strides; or x, begin, end, axes, strides, where the axes are in any order.
bool MapStridedSlice(Mapping& m, Builtin) {
  const file::StridedSlice* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  const int64_t masks[] = {attributes->begin_mask(), attributes->end_mask(),
                           attributes->ellipsis_mask(), attributes->new_axis_mask(),
                           attributes->shrink_axis_mask()};
  for (const int64_t mask : masks) {
    if (!m.Within(mask, "mask", 0, 255)) return false;
  }
  const auto emit = [&](const std::vector<int>& inputs, int end_mask) {
    m.Op(Builtin::STRIDED_SLICE, inputs, {m.Out()},
         schema::CreateStridedSliceOptions(m.fbb(), static_cast<int>(masks[0]), end_mask,
                                           static_cast<int>(masks[2]), static_cast<int>(masks[3]),
                                           static_cast<int>(masks[4])));
    return true;
  };
  if (m.inputs() == 4) return emit(m.AllIn(), static_cast<int>(masks[1]));
  std::vector<int64_t> begin, end, given, strides;
  std::vector<int> axes;
  int rank = 0;
  if (!m.KnownRank(0, &rank) || !m.Ints(1, kMaxRank, &begin) || !m.Ints(2, kMaxRank, &end) ||
      !m.Ints(3, kMaxRank, &given) || !m.Ints(4, kMaxRank, &strides) ||
      !Axes(m, given, rank, &axes)) {
    return false;
  }
  if (strides.empty()) strides.assign(given.size(), 1);
  if (begin.size() != given.size() || end.size() != given.size() ||
      strides.size() != given.size()) {
    return m.Fail(Format("expected begin, end and strides for %zu axes, found %zu, %zu and %zu",
                         given.size(), begin.size(), end.size(), strides.size()));
  }
  if (std::any_of(masks, std::end(masks), [](int64_t mask) { return mask != 0; })) {
    return m.Fail("masks are not supported together with an input of axes");
  }
  // Axes that are not listed stay whole: their end is masked.
  int end_mask = (1 << rank) - 1;
  for (const int axis : axes) end_mask &= ~(1 << axis);
  return emit(
      {m.In(0), m.ConstInts(Scattered(begin, axes, rank, 0)),
       m.ConstInts(Scattered(end, axes, rank, 0)), m.ConstInts(Scattered(strides, axes, rank, 1))},
      end_mask);
}

// Reads pairs of leading and trailing padding from an input or an attribute.
bool ReadPaddings(Mapping& m, const file::PadFusion& attributes, std::vector<int32_t>* out) {
  std::vector<int64_t> values;
  if (m.inputs() > 1) {
    if (!m.Ints(1, 2 * kMaxRank, &values)) return false;
  } else if (attributes.paddings() != nullptr && attributes.paddings()->data() != nullptr) {
    for (const file::Vec* row : *attributes.paddings()->data()) {
      std::vector<int64_t> pair;
      if (row == nullptr || !m.List(row->data(), "paddings", 2, 2, &pair)) return false;
      values.insert(values.end(), pair.begin(), pair.end());
      if (values.size() > 2 * kMaxRank) break;
    }
  }
  int rank = 0;
  if (!m.KnownRank(0, &rank)) return false;
  if (values.size() != 2 * static_cast<size_t>(rank)) {
    return m.Fail(Format("paddings: expected %d values, found %zu", 2 * rank, values.size()));
  }
  for (const int64_t value : values) {
    if (!m.Within(value, "paddings", 0, kMaxInt32)) return false;
    out->push_back(static_cast<int32_t>(value));
  }
  return true;
}

bool MapPad(Mapping& m, Builtin) {
  const file::PadFusion* attributes = nullptr;
  std::vector<int32_t> values;
  if (!m.Read(&attributes) || !ReadPaddings(m, *attributes, &values) ||
      !m.Within(static_cast<int>(attributes->padding_mode()), "padding_mode", 0, 2)) {
    return false;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  const int paddings = m.writer().AddConstant(
      {.type = Type::kInt32, .dims = {static_cast<int32_t>(values.size() / 2), 2}},
      {bytes, values.size() * sizeof(int32_t)});
  if (attributes->padding_mode() != file::PaddingMode_CONSTANT) {
    const bool reflect = attributes->padding_mode() == file::PaddingMode_REFLECT;
    m.Op(Builtin::MIRROR_PAD, {m.In(0), paddings}, {m.Out()},
         schema::CreateMirrorPadOptions(
             m.fbb(), reflect ? schema::MirrorPadMode::REFLECT : schema::MirrorPadMode::SYMMETRIC));
  } else if (attributes->constant_value() == 0) {
    m.Op(Builtin::PAD, {m.In(0), paddings}, {m.Out()}, schema::CreatePadOptions(m.fbb()));
  } else {
    if (!m.NeedsFloat32()) return false;
    m.Op(Builtin::PADV2, {m.In(0), paddings, m.ConstFloat(attributes->constant_value())}, {m.Out()},
         schema::CreatePadV2Options(m.fbb()));
  }
  return true;
}

// Maps Tile. Input 1 has the number of repetitions, for every dimension or for those that the
// attribute lists.
bool MapTile(Mapping& m, Builtin) {
  const file::TileFusion* attributes = nullptr;
  std::vector<int64_t> given, times;
  std::vector<int> axes;
  int rank = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank) ||
      !m.List(attributes->dims(), "dims", 0, kMaxRank, &given) || !m.Ints(1, kMaxRank, &times)) {
    return false;
  }
  if (given.empty()) {
    given.resize(times.size());
    std::iota(given.begin(), given.end(), 0);
  }
  if (given.size() != times.size()) {
    return m.Fail(Format("expected %zu multiples, found %zu", given.size(), times.size()));
  }
  if (!Axes(m, given, rank, &axes)) return false;
  m.Op(Builtin::TILE, {m.In(0), m.ConstInts(Scattered(times, axes, rank, 1))}, {m.Out()},
       schema::CreateTileOptions(m.fbb()));
  return true;
}

// Maps BroadcastTo. In the shape, -1 keeps a dimension of the input; the graph computes it.
bool MapBroadcast(Mapping& m, Builtin) {
  const file::BroadcastTo* attributes = nullptr;
  std::vector<int64_t> shape;
  if (!m.Read(&attributes)) return false;
  const bool read = m.inputs() > 1 ? m.Ints(1, kMaxRank, &shape)
                                   : m.List(attributes->shape(), "shape", 1, kMaxRank, &shape);
  if (!read) return false;
  const size_t rank = m.in(0).dims.size();
  const size_t added = shape.size() - std::min(rank, shape.size());
  std::vector<int32_t> leading, kept, given;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool keeps = shape[d] == -1 && d >= added;
    if (!keeps && !m.Within(shape[d], "shape", 0, kMaxInt32)) return false;
    const int32_t size = keeps ? 0 : static_cast<int32_t>(shape[d]);
    if (d < added) leading.push_back(size);
    if (d >= added) given.push_back(size);
    if (d >= added) kept.push_back(keeps ? 1 : 0);
  }
  const int input = m.In(0);
  int target = 0;
  if (std::count(kept.begin(), kept.end(), 1) == 0) {
    leading.insert(leading.end(), given.begin(), given.end());
    target = m.ConstInts(leading);
  } else {
    const int dims = ShapeOfRank(m, input, static_cast<int>(rank));
    target = ScaledShape(m, dims, kept, given);
    if (!leading.empty()) target = JoinShapes(m, {m.ConstInts(leading), target});
  }
  m.Op(Builtin::BROADCAST_TO, {input, target}, {m.Out()},
       schema::CreateBroadcastToOptions(m.fbb()));
  return true;
}

// Inputs: table, indices, axis.
bool MapGather(Mapping& m, Builtin) {
  std::vector<int64_t> values = {0};
  int rank = 0, axis = 0;
  if (!m.KnownRank(0, &rank) || (m.inputs() > 2 && !m.Ints(2, 1, &values))) return false;
  if (values.size() != 1) return m.FailInput(2, "expected one axis");
  if (!m.NormalAxis(values[0], rank, &axis)) return false;
  int table = 0;
  if (m.in(0).constant) {
    Constant constant;
    if (!m.Weight(0, axis, &constant)) return false;
    if (constant.has_scales() && !m.NeedsOneScale(0)) return false;
    table = m.Add(constant);
  } else {
    table = m.In(0);
  }
  m.Op(Builtin::GATHER, {table, m.In(1)}, {m.Out()}, schema::CreateGatherOptions(m.fbb(), axis));
  return true;
}

bool MapGatherNd(Mapping& m, Builtin) {
  m.Op(Builtin::GATHER_ND, m.AllIn(), {m.Out()}, schema::CreateGatherNdOptions(m.fbb()));
  return true;
}

// Inputs: indices, updates, shape.
bool MapScatterNd(Mapping& m, Builtin) {
  m.Op(Builtin::SCATTER_ND, m.AllIn(), {m.Out()}, schema::CreateScatterNdOptions(m.fbb()));
  return true;
}

// Inputs: indices, depth, then on and off values, or both in one tensor [off, on].
bool MapOneHot(Mapping& m, Builtin) {
  const file::OneHot* attributes = nullptr;
  if (!m.Read(&attributes) || !m.Within(attributes->axis(), "axis", -1, kMaxRank - 1)) return false;
  std::vector<int64_t> depth;
  if (!m.Ints(1, 1, &depth) || depth.size() != 1) return m.FailInput(1, "expected one depth");
  if (!m.Within(depth[0], "depth", 0, kMaxInt32)) return false;
  int on = 0, off = 0;
  const auto scalar = [&m](size_t i, size_t at, int* out) {
    Constant value;
    if (!m.Weight(i, 0, &value)) return false;
    if (value.has_scales() && !m.NeedsOneScale(i)) return false;
    const size_t size = ElementSize(value.form.type);
    if (value.bytes.size() < (at + 1) * size) return m.FailInput(i, "expected more values");
    value.form.dims = {};
    value.bytes = value.bytes.subspan(at * size, size);
    *out = m.Add(value);
    return true;
  };
  const bool joined = m.inputs() == 3;
  if (!scalar(2, joined ? 1 : 0, &on) || !scalar(joined ? 2 : 3, 0, &off)) return false;
  m.Op(Builtin::ONE_HOT, {m.In(0), m.ConstInt(static_cast<int32_t>(depth[0])), on, off}, {m.Out()},
       schema::CreateOneHotOptions(m.fbb(), static_cast<int32_t>(attributes->axis())));
  return true;
}

}  // namespace

std::span<const Row> SliceRows() {
  static constexpr Row kRows[] = {
      {file::PrimitiveType_SliceFusion, 3, 3, 1, &MapSlice},
      {file::PrimitiveType_StridedSlice, 4, 5, 1, &MapStridedSlice},
      {file::PrimitiveType_PadFusion, 1, 2, 1, &MapPad},
      {file::PrimitiveType_TileFusion, 2, 2, 1, &MapTile},
      {file::PrimitiveType_BroadcastTo, 1, 2, 1, &MapBroadcast},
      {file::PrimitiveType_Gather, 2, 3, 1, &MapGather},
      {file::PrimitiveType_GatherNd, 2, 2, 1, &MapGatherNd},
      {file::PrimitiveType_ScatterNd, 3, 3, 1, &MapScatterNd},
      {file::PrimitiveType_OneHot, 3, 4, 1, &MapOneHot},
  };
  return kRows;
}

}  // namespace deputy::ms
