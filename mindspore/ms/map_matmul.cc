// SPDX-License-Identifier: Apache-2.0
//
// Matrix products. FULLY_CONNECTED requires weights of shape [out, in] and flattens all dimensions
// of its input except the last.
#include <algorithm>
#include <numeric>

#include "mindspore/ms/mapping.h"
#include "mindspore/ms/shapes.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

// Sets `out` to the bias tensor, or to -1 if there is no bias. The scale of a quantised bias is the
// product of the scales of input and weights.
bool Bias(Mapping& m, const Constant& weights, int* out) {
  *out = -1;
  if (m.inputs() < 3) return true;
  if (!Mapping::IsQuantized(m.in(0)) || !weights.has_scales()) {
    *out = m.In(2);
    return true;
  }
  Quantization scales = *weights.form.quantization;
  for (float& scale : scales.scale) scale *= m.in(0).quantization.scale[0];
  for (int64_t& zero : scales.zero_point) zero = 0;
  Constant bias;
  if (!m.Weight(2, 0, &bias)) return false;
  bias.form.quantization = &scales;
  *out = m.Add(bias);
  return true;
}

// Adds a FULLY_CONNECTED. With `keep_dims` it refuses an input whose last dimension differs from
// the weights' when the model is prepared; otherwise it flattens such an input.
bool EmitFullyConnected(Mapping& m, int input, const Constant& weights, bool keep_dims,
                        file::ActivationType activation) {
  int bias = 0;
  if (!Bias(m, weights, &bias)) return false;
  const int matrix = m.Add(weights);
  return m.WithActivation(activation, [&](Fused fused, int output) {
    m.Op(Builtin::FULLY_CONNECTED, {input, matrix, bias}, {output},
         schema::CreateFullyConnectedOptions(
             m.fbb(), fused, schema::FullyConnectedOptionsWeightsFormat::DEFAULT, keep_dims));
  });
}

// Flattens the input of FullConnection, of rank -1 if it is unknown, from axis 1 on, to [outer,
// in]: an image of another size, which FULLY_CONNECTED would take for a larger batch, is refused
// when the model is prepared.
int FlattenFromOne(Mapping& m, int rank, int depth) {
  const std::vector<int32_t>& dims = m.in(0).dims;
  const int input = m.In(0);
  if (rank == 2) return input;
  const Tensor& image = m.in(0);
  const int flat = m.Temp({.type = image.type, .quantization = &image.quantization});
  if (rank > 2 &&
      std::all_of(dims.begin() + 1, dims.end() - 1, [](int32_t dim) { return dim == 1; })) {
    std::vector<int32_t> axes(static_cast<size_t>(rank - 2));
    std::iota(axes.begin(), axes.end(), 1);
    m.Op(Builtin::SQUEEZE, {input}, {flat},
         schema::CreateSqueezeOptions(m.fbb(), m.fbb().CreateVector(axes)));
    return flat;
  }
  const int outer = DimsOf(m, ShapeOf(m, input), 0, 1);
  ReshapeTo(m, input, JoinShapes(m, {outer, m.ConstInts({depth})}), flat);
  return flat;
}

// Maps FullConnection, whose weights have the shape [out, in]. With `use_axis` the input is
// flattened from `axis` on; without it, all leading dimensions are flattened, so that the last
// extent equals `in`.
bool MapFullConnection(Mapping& m, Builtin) {
  const file::FullConnection* attributes = nullptr;
  Constant weights;
  if (!m.Read(&attributes) || !m.Weight(1, 0, &weights)) return false;
  if (weights.form.dims.size() != 2) {
    return m.FailInput(1, "expected rank 2, found " + DimsText(weights.form.dims));
  }
  if (!attributes->use_axis()) {
    return EmitFullyConnected(m, m.In(0), weights, false, attributes->activation_type());
  }
  int rank = Mapping::Rank(m.in(0)), axis = 1;
  if (attributes->axis() != 1 &&
      (!m.KnownRank(0, &rank) || !m.NormalAxis(attributes->axis(), rank, &axis))) {
    return false;
  }
  if (axis != 1 && axis != rank - 1) {
    return m.Fail(Format("axis: expected 1 or the last of %d, found %d", rank, axis));
  }
  const int input = axis == 1 ? FlattenFromOne(m, rank, weights.form.dims[1]) : m.In(0);
  return EmitFullyConnected(m, input, weights, true, attributes->activation_type());
}

bool BatchMatmul(Mapping& m, const file::MatMulFusion& attributes) {
  const auto matrix = [&m](size_t i, bool transposed, int* out) {
    if (!m.in(i).constant) {
      *out = m.In(i);
      return true;
    }
    const int rank = Mapping::Rank(m.in(i));
    // Scales of weights belong to the rows of the first matrix and the columns of the second.
    const int axis = transposed == (i == 0) ? rank - 1 : rank - 2;
    Constant constant;
    if (rank < 2) return m.FailInput(i, "expected rank 2 or more");
    if (!m.Weight(i, axis, &constant)) return false;
    *out = m.Add(constant);
    return true;
  };
  int a = 0, b = 0;
  if (!matrix(0, attributes.transpose_a(), &a) || !matrix(1, attributes.transpose_b(), &b)) {
    return false;
  }
  const bool biased = m.inputs() > 2;
  if (biased && !m.NeedsFloat32()) return false;
  const auto multiply = [&](int output) {
    m.Op(Builtin::BATCH_MATMUL, {a, b}, {output},
         schema::CreateBatchMatMulOptions(m.fbb(), attributes.transpose_a(),
                                          attributes.transpose_b()));
  };
  if (!biased && Mapping::IsNone(attributes.activation_type())) {
    multiply(m.Out());
    return true;
  }
  const int product = m.TempLike(m.out());
  multiply(product);
  if (!biased) return m.Activate(attributes.activation_type(), product, m.Out());
  return m.WithActivation(attributes.activation_type(), [&](Fused fused, int output) {
    m.Apply(Builtin::ADD, {product, m.In(2)}, output, fused);
  });
}

bool MapMatmul(Mapping& m, Builtin) {
  const file::MatMulFusion* attributes = nullptr;
  int rank = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank)) return false;
  const bool is_weights = m.in(1).constant && m.in(1).dims.size() == 2;
  if (!is_weights || attributes->transpose_a() || rank < 2) return BatchMatmul(m, *attributes);
  const bool old = m.model().version_major == 1 && m.model().version_minor < 6;
  const int axis = old || !attributes->transpose_b() ? 1 : 0;
  Constant weights;
  if (!m.Weight(1, axis, &weights)) return false;
  if (!attributes->transpose_b() && !m.Permute({1, 0}, &weights)) return false;
  return EmitFullyConnected(m, m.In(0), weights, true, attributes->activation_type());
}

}  // namespace

std::span<const Row> MatmulRows() {
  static constexpr Row kRows[] = {
      {file::PrimitiveType_FullConnection, 2, 3, 1, &MapFullConnection},
      {file::PrimitiveType_MatMulFusion, 2, 3, 1, &MapMatmul},
  };
  return kRows;
}

}  // namespace deputy::ms
