// SPDX-License-Identifier: Apache-2.0
//
// Normalisation. Known means and variances are folded into constants; those of the data are
// composed of reductions. SOFTMAX and LOG_SOFTMAX operate on the last axis, to which
// another axis is transposed.
#include <cmath>
#include <numeric>
#include <optional>

#include "mindspore/ms/mapping.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

// Reshapes input `i` so that it broadcasts along `axis` of a tensor with `rank` dimensions.
bool AlongAxis(Mapping& m, size_t i, int axis, int rank, int* out) {
  const Tensor& factor = m.in(i);
  const int factor_rank = Mapping::Rank(factor);
  if (!m.NeedsStatic(i)) return false;
  if (factor_rank > rank - axis) {
    return m.FailInput(
        i, Format("expected at most %d dimensions, found %d", rank - axis, factor_rank));
  }
  *out = m.In(i);
  if (factor_rank == 0 || axis + factor_rank == rank) return true;
  std::vector<int32_t> shape = factor.dims;
  shape.resize(static_cast<size_t>(rank - axis), 1);
  const int reshaped = m.Temp({.type = factor.type, .dims = shape});
  m.Reshape(*out, shape, reshaped);
  *out = reshaped;
  return true;
}

// Maps x * scale, optionally + offset, where scale and offset broadcast from an axis on.
bool MapScale(Mapping& m, Builtin) {
  const file::ScaleFusion* attributes = nullptr;
  int rank = 0, axis = 0, scale = 0, offset = 0;
  if (!m.Read(&attributes) || !m.NeedsFloat32() || !m.KnownRank(0, &rank) ||
      !m.NormalAxis(attributes->axis(), rank, &axis) || !AlongAxis(m, 1, axis, rank, &scale)) {
    return false;
  }
  const bool has_offset = m.inputs() > 2;
  if (has_offset && !AlongAxis(m, 2, axis, rank, &offset)) return false;
  const int input = m.In(0);
  const int scaled = has_offset ? m.Apply(Builtin::MUL, {input, scale}) : 0;
  return m.WithActivation(attributes->activation_type(), [&](Fused fused, int output) {
    if (has_offset) {
      m.Apply(Builtin::ADD, {scaled, offset}, output, fused);
    } else {
      m.Apply(Builtin::MUL, {input, scale}, output, fused);
    }
  });
}

// Adds x * factor + shift with constants per channel. A null `scale` stands for ones, a null
// `offset` for zeros.
bool FoldedNorm(Mapping& m, const std::vector<float>* scale, const std::vector<float>* offset,
                const std::vector<float>& mean, const std::vector<float>& variance, float epsilon) {
  const size_t channels = mean.size();
  if (variance.size() != channels || (scale != nullptr && scale->size() != channels) ||
      (offset != nullptr && offset->size() != channels)) {
    return m.Fail(Format("expected %zu values of variance, scale and offset", channels));
  }
  if (!m.writer().Reserve(2 * channels * sizeof(float))) return true;
  std::vector<float> factor(channels), shift(channels);
  for (size_t c = 0; c < channels; ++c) {
    factor[c] = (scale == nullptr ? 1 : (*scale)[c]) / std::sqrt(variance[c] + epsilon);
    shift[c] = (offset == nullptr ? 0 : (*offset)[c]) - mean[c] * factor[c];
  }
  const std::vector<int32_t> dims = {static_cast<int32_t>(channels)};
  const int scaled = m.Apply(Builtin::MUL, {m.In(0), m.ConstFloats(dims, factor)});
  m.Apply(Builtin::ADD, {scaled, m.ConstFloats(dims, shift)}, m.Out());
  return true;
}

// Inputs: x, scale, offset, mean, variance.
bool MapFusedBatchNorm(Mapping& m, Builtin) {
  const file::FusedBatchNorm* attributes = nullptr;
  std::vector<float> scale, offset, mean, variance;
  return m.Read(&attributes) && m.NeedsFloat32() && m.Floats(1, &scale) && m.Floats(2, &offset) &&
         m.Floats(3, &mean) && m.Floats(4, &variance) &&
         FoldedNorm(m, &scale, &offset, mean, variance, attributes->epsilon());
}

// Inputs: x, mean, variance.
bool MapBatchNorm(Mapping& m, Builtin) {
  const file::BatchNorm* attributes = nullptr;
  std::vector<float> mean, variance;
  return m.Read(&attributes) && m.NeedsFloat32() && m.Floats(1, &mean) && m.Floats(2, &variance) &&
         FoldedNorm(m, nullptr, nullptr, mean, variance, attributes->epsilon());
}

int Mean(Mapping& m, int input, const std::vector<int32_t>& axes) {
  const int mean = m.Temp({.type = Type::kFloat32});
  m.Op(Builtin::MEAN, {input, m.ConstInts(axes)}, {mean},
       schema::CreateReducerOptions(m.fbb(), true));
  return mean;
}

struct ScaleAndOffset {
  int scale, offset;
};

// Adds (x - mean) / sqrt(variance + epsilon), followed by * scale + offset if `after` is given.
void Standardize(Mapping& m, const std::vector<int32_t>& axes, float epsilon,
                 const std::optional<ScaleAndOffset>& after) {
  const int input = m.In(0), mean = Mean(m, input, axes);
  const int spread = Mean(m, m.Apply(Builtin::SQUARED_DIFFERENCE, {input, mean}), axes);
  const int biased = m.Temp({.type = Type::kFloat32}), factor = m.Temp({.type = Type::kFloat32});
  m.Apply(Builtin::ADD, {spread, m.ConstFloat(epsilon)}, biased);
  m.Op(Builtin::RSQRT, {biased}, {factor});
  const int centred = m.Apply(Builtin::SUB, {input, mean});
  if (!after) {
    m.Apply(Builtin::MUL, {centred, factor}, m.Out());
    return;
  }
  const int unit = m.Apply(Builtin::MUL, {centred, factor});
  m.Apply(Builtin::ADD, {m.Apply(Builtin::MUL, {unit, after->scale}), after->offset}, m.Out());
}

// Inputs: x, scale, offset. Normalises over height and width, for each channel.
bool MapInstanceNorm(Mapping& m, Builtin) {
  const file::InstanceNorm* attributes = nullptr;
  int rank = 0;
  ScaleAndOffset after = {};
  if (!m.Read(&attributes) || !m.NeedsFloat32() || !m.KnownRank(0, &rank)) return false;
  if (rank != 4) return m.FailInput(0, Format("expected rank 4, found %d", rank));
  const bool channels_first = m.in(0).channels_first;
  const int channel_axis = channels_first ? 1 : 3;
  if (!AlongAxis(m, 1, channel_axis, rank, &after.scale) ||
      !AlongAxis(m, 2, channel_axis, rank, &after.offset)) {
    return false;
  }
  const std::vector<int32_t> axes =
      channels_first ? std::vector<int32_t>{2, 3} : std::vector<int32_t>{1, 2};
  Standardize(m, axes, attributes->epsilon(), after);
  return true;
}

// Inputs: x, scale, offset. Normalises over the last dimensions, from begin_norm_axis on.
bool MapLayerNorm(Mapping& m, Builtin) {
  const file::LayerNormFusion* attributes = nullptr;
  int rank = 0, axis = 0, first = 0;
  if (!m.Read(&attributes) || !m.NeedsFloat32() || !m.KnownRank(0, &rank) ||
      !m.NormalAxis(attributes->begin_norm_axis(), rank, &axis)) {
    return false;
  }
  std::optional<ScaleAndOffset> after;
  if (m.inputs() == 3) {
    after.emplace();
    if (!m.NormalAxis(attributes->begin_params_axis(), rank, &first) ||
        !AlongAxis(m, 1, first, rank, &after->scale) ||
        !AlongAxis(m, 2, first, rank, &after->offset)) {
      return false;
    }
  }
  if (m.inputs() == 2) return m.Fail("expected 1 or 3 inputs, found 2");
  std::vector<int32_t> axes(static_cast<size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  Standardize(m, axes, attributes->epsilon(), after);
  return true;
}

bool MapL2Normalize(Mapping& m, Builtin) {
  const file::L2NormalizeFusion* attributes = nullptr;
  std::vector<int64_t> axes;
  int rank = 0, axis = 0;
  if (!m.Read(&attributes) || !m.KnownRank(0, &rank) ||
      !m.List(attributes->axis(), "axis", 1, 1, &axes) || !m.NormalAxis(axes[0], rank, &axis)) {
    return false;
  }
  if (axis != rank - 1) {
    return m.Fail(Format("axis: expected the last, %d, found %d", rank - 1, axis));
  }
  return m.WithActivation(attributes->activation_type(), [&](Fused fused, int output) {
    m.Op(Builtin::L2_NORMALIZATION, {m.In(0)}, {output},
         schema::CreateL2NormOptions(m.fbb(), fused));
  });
}

bool MapLrn(Mapping& m, Builtin) {
  const file::LRN* attributes = nullptr;
  if (!m.Read(&attributes) || !m.Within(attributes->depth_radius(), "depth_radius", 0, 1 << 20)) {
    return false;
  }
  m.Op(Builtin::LOCAL_RESPONSE_NORMALIZATION, {m.In(0)}, {m.Out()},
       schema::CreateLocalResponseNormalizationOptions(
           m.fbb(), static_cast<int32_t>(attributes->depth_radius()), attributes->bias(),
           attributes->alpha(), attributes->beta()));
  return true;
}

// Calls `emit(input, output)`, which adds an operator on the last axis. For another axis, adds
// transpositions before and after it.
template <typename Emit>
bool AlongLastAxis(Mapping& m, int64_t given, Emit&& emit) {
  int rank = Mapping::Rank(m.in(0)), axis = 0;
  if (given == -1) {
    emit(m.In(0), m.Out());
    return true;
  }
  if (!m.KnownRank(0, &rank) || !m.NormalAxis(given, rank, &axis)) return false;
  if (axis == rank - 1) {
    emit(m.In(0), m.Out());
    return true;
  }
  std::vector<int32_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm.back());
  const int transposed = m.Temp({.type = m.in(0).type, .quantization = &m.in(0).quantization});
  const int result = m.Temp({.type = m.out().type, .quantization = &m.out().quantization});
  m.Transpose(m.In(0), perm, transposed);
  emit(transposed, result);
  m.Transpose(result, perm, m.Out());
  return true;
}

bool MapSoftmax(Mapping& m, Builtin) {
  const file::Softmax* attributes = nullptr;
  std::vector<int64_t> axes;
  if (!m.Read(&attributes) || !m.List(attributes->axis(), "axis", 0, 1, &axes)) return false;
  return AlongLastAxis(m, axes.empty() ? -1 : axes[0], [&m](int input, int output) {
    m.Op(Builtin::SOFTMAX, {input}, {output}, schema::CreateSoftmaxOptions(m.fbb(), 1));
  });
}

bool MapLogSoftmax(Mapping& m, Builtin) {
  const file::LogSoftmax* attributes = nullptr;
  return m.Read(&attributes) && AlongLastAxis(m, attributes->axis(), [&m](int input, int output) {
           m.Op(Builtin::LOG_SOFTMAX, {input}, {output}, schema::CreateLogSoftmaxOptions(m.fbb()));
         });
}

}  // namespace

std::span<const Row> NormalizeRows() {
  static constexpr Row kRows[] = {
      {file::PrimitiveType_ScaleFusion, 2, 3, 1, &MapScale},
      {file::PrimitiveType_FusedBatchNorm, 5, 5, 1, &MapFusedBatchNorm},
      {file::PrimitiveType_BatchNorm, 3, 3, 1, &MapBatchNorm},
      {file::PrimitiveType_InstanceNorm, 3, 3, 1, &MapInstanceNorm},
      {file::PrimitiveType_LayerNormFusion, 1, 3, 1, &MapLayerNorm},
      {file::PrimitiveType_L2NormalizeFusion, 1, 1, 1, &MapL2Normalize},
      {file::PrimitiveType_LRN, 1, 1, 1, &MapLrn},
      {file::PrimitiveType_Softmax, 1, 1, 1, &MapSoftmax},
      {file::PrimitiveType_LogSoftmax, 1, 1, 1, &MapLogSoftmax},
  };
  return kRows;
}

}  // namespace deputy::ms
