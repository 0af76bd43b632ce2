// SPDX-License-Identifier: Apache-2.0
//
// Reductions and arg max, arg min and top-k along axes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "mindspore/ms/mapping.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

using file::ReduceMode;

constexpr size_t kMaxAxes = 8;

// Reads the axes from input 1. An empty or missing input selects all axes; `to_end` selects all
// axes from the given one on.
bool ReduceAxes(Mapping& m, bool to_end, std::vector<int32_t>* out) {
  int rank = 0;
  std::vector<int64_t> axes;
  if (!m.KnownRank(0, &rank) || (m.inputs() > 1 && !m.Ints(1, kMaxAxes, &axes))) return false;
  if (to_end) {
    int first = 0;
    if (axes.size() != 1) {
      return m.Fail(Format("reduce_to_end: expected one axis, found %zu", axes.size()));
    }
    if (!m.NormalAxis(axes[0], rank, &first)) return false;
    out->resize(static_cast<size_t>(rank - first));
    std::iota(out->begin(), out->end(), first);
    return true;
  }
  if (axes.empty()) {
    out->resize(static_cast<size_t>(rank));
    std::iota(out->begin(), out->end(), 0);
    return true;
  }
  for (const int64_t axis : axes) {
    int normal = 0;
    if (!m.NormalAxis(axis, rank, &normal)) return false;
    out->push_back(normal);
  }
  return true;
}

bool ReduceCode(Mapping& m, ReduceMode mode, Builtin* out) {
  switch (mode) {
    case file::ReduceMode_ReduceMean:
      *out = Builtin::MEAN;
      return true;
    case file::ReduceMode_ReduceMax:
      *out = Builtin::REDUCE_MAX;
      return true;
    case file::ReduceMode_ReduceMin:
      *out = Builtin::REDUCE_MIN;
      return true;
    case file::ReduceMode_ReduceProd:
      *out = Builtin::REDUCE_PROD;
      return true;
    case file::ReduceMode_ReduceAll:
      *out = Builtin::REDUCE_ALL;
      return true;
    case file::ReduceMode_ReduceSum:
    case file::ReduceMode_ReduceSumSquare:
    case file::ReduceMode_ReduceASum:
    case file::ReduceMode_ReduceL2:
      *out = Builtin::SUM;
      return true;
  }
  return m.Fail(Format("reduction %d is not supported", static_cast<int>(mode)));
}

bool MapReduce(Mapping& m, Builtin) {
  const file::ReduceFusion* attributes = nullptr;
  std::vector<int32_t> axes;
  Builtin code = Builtin::SUM;
  if (!m.Read(&attributes) || !ReduceCode(m, attributes->mode(), &code) ||
      !ReduceAxes(m, attributes->reduce_to_end(), &axes)) {
    return false;
  }
  const ReduceMode mode = attributes->mode();
  constexpr float kMinCoefficient = 1e-5F;
  const float coefficient = attributes->coeff();
  const bool scaled =
      attributes->reduce_to_end() && std::abs(coefficient) > kMinCoefficient && coefficient != 1;
  const bool composed = scaled || mode == file::ReduceMode_ReduceSumSquare ||
                        mode == file::ReduceMode_ReduceASum || mode == file::ReduceMode_ReduceL2;
  if (composed && !m.NeedsFloat32()) return false;
  int input = m.In(0);
  const auto before = [&](Builtin operation) {
    const int result = m.TempLike(m.in(0));
    m.Op(operation, {input}, {result});
    input = result;
  };
  if (mode == file::ReduceMode_ReduceASum) before(Builtin::ABS);
  if (mode == file::ReduceMode_ReduceSumSquare || mode == file::ReduceMode_ReduceL2)
    before(Builtin::SQUARE);
  const bool after = scaled || mode == file::ReduceMode_ReduceL2;
  int result = after ? m.TempLike(m.out()) : m.Out();
  m.Op(code, {input, m.ConstInts(axes)}, {result},
       schema::CreateReducerOptions(m.fbb(), attributes->keep_dims()));
  if (mode == file::ReduceMode_ReduceL2) {
    const int root = scaled ? m.TempLike(m.out()) : m.Out();
    m.Op(Builtin::SQRT, {result}, {root});
    result = root;
  }
  if (scaled) m.Apply(Builtin::MUL, {result, m.ConstFloat(coefficient)}, m.Out());
  return true;
}

// Maps the positions of the maxima or minima along an axis; with out_max_value, their values.
template <typename Fusion>
bool MapArg(Mapping& m, Builtin code) {
  const Fusion* attributes = nullptr;
  int rank = 0, axis = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank) ||
      !m.NormalAxis(attributes->axis(), rank, &axis) ||
      !m.Within(attributes->top_k(), "top_k", 1, 1)) {
    return false;
  }
  const bool keep = attributes->keep_dims();
  if (attributes->out_max_value()) {
    m.Op(code == Builtin::ARG_MAX ? Builtin::REDUCE_MAX : Builtin::REDUCE_MIN,
         {m.In(0), m.ConstInts({axis})}, {m.Out()}, schema::CreateReducerOptions(m.fbb(), keep));
    return true;
  }
  const bool wide = m.out().type == Type::kInt64;
  if (!wide && m.out().type != Type::kInt32) {
    return m.Fail(std::string("expected an output of INT32 or INT64, found ") +
                  TypeName(m.out().type));
  }
  const int result = keep ? m.Temp({.type = m.out().type}) : m.Out();
  const auto type = wide ? schema::TensorType::INT64 : schema::TensorType::INT32;
  const std::vector<int> inputs = {m.In(0), m.ConstInt(axis)};
  if (code == Builtin::ARG_MAX) {
    m.Op(code, inputs, {result}, schema::CreateArgMaxOptions(m.fbb(), type));
  } else {
    m.Op(code, inputs, {result}, schema::CreateArgMinOptions(m.fbb(), type));
  }
  if (keep) {
    m.Op(Builtin::EXPAND_DIMS, {result, m.ConstInt(axis)}, {m.Out()},
         schema::CreateExpandDimsOptions(m.fbb()));
  }
  return true;
}

bool MapTopK(Mapping& m, Builtin) {
  const file::TopKFusion* attributes = nullptr;
  int rank = 0, axis = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank) ||
      !m.NormalAxis(attributes->axis(), rank, &axis)) {
    return false;
  }
  if (axis != rank - 1 || attributes->largest() == 0) {
    return m.Fail(Format("expected the largest along the last axis, %d, found the %s along %d",
                         rank - 1, attributes->largest() == 0 ? "smallest" : "largest", axis));
  }
  std::vector<int64_t> count;
  if (!m.Ints(1, 1, &count) || count.size() != 1) return m.FailInput(1, "expected one value");
  if (!m.Within(count[0], "k", 0, 1 << 30)) return false;
  m.Op(Builtin::TOPK_V2, {m.In(0), m.ConstInt(static_cast<int32_t>(count[0]))}, m.AllOut(),
       schema::CreateTopKV2Options(m.fbb()));
  return true;
}

bool MapCumSum(Mapping& m, Builtin) {
  const file::CumSum* attributes = nullptr;
  std::vector<int64_t> axis;
  if (!m.Read(&attributes)) return false;
  if (!m.Ints(1, 1, &axis) || axis.size() != 1) return m.FailInput(1, "expected one axis");
  int rank = 0, normal = 0;
  if (!m.KnownRank(0, &rank) || !m.NormalAxis(axis[0], rank, &normal)) return false;
  m.Op(Builtin::CUMSUM, {m.In(0), m.ConstInt(normal)}, {m.Out()},
       schema::CreateCumsumOptions(m.fbb(), attributes->exclusive(), attributes->reverse()));
  return true;
}

}  // namespace

std::span<const Row> ReduceRows() {
  static constexpr Row kRows[] = {
      {file::PrimitiveType_ReduceFusion, 1, 2, 1, &MapReduce},
      {file::PrimitiveType_ArgMaxFusion, 1, 1, 1, &MapArg<file::ArgMaxFusion>, Builtin::ARG_MAX},
      {file::PrimitiveType_ArgMinFusion, 1, 1, 1, &MapArg<file::ArgMinFusion>, Builtin::ARG_MIN},
      {file::PrimitiveType_TopKFusion, 2, 2, 2, &MapTopK},
      {file::PrimitiveType_CumSum, 2, 2, 1, &MapCumSum},
  };
  return kRows;
}

}  // namespace deputy::ms
