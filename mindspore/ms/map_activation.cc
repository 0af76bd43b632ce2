// SPDX-License-Identifier: Apache-2.0
//
// Activations: fused into the preceding operator, as an operator of TensorFlow Lite, or composed of
// several operators.
#include <cmath>

#include "mindspore/ms/mapping.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

// Returns true if the activation is one operator of TensorFlow Lite without options.
bool SingleOperator(file::ActivationType activation, Builtin* out) {
  switch (activation) {
    case file::ActivationType_RELU:
      *out = Builtin::RELU;
      return true;
    case file::ActivationType_SIGMOID:
      *out = Builtin::LOGISTIC;
      return true;
    case file::ActivationType_RELU6:
      *out = Builtin::RELU6;
      return true;
    case file::ActivationType_ABS:
      *out = Builtin::ABS;
      return true;
    case file::ActivationType_RELU1:
      *out = Builtin::RELU_N1_TO_1;
      return true;
    case file::ActivationType_TANH:
      *out = Builtin::TANH;
      return true;
    case file::ActivationType_HSWISH:
      *out = Builtin::HARD_SWISH;
      return true;
    case file::ActivationType_SIGN:
      *out = Builtin::SIGN;
      return true;
    default:
      return false;
  }
}

void Gelu(Mapping& m, int input, int output, bool approximate) {
  m.Op(Builtin::GELU, {input}, {output}, schema::CreateGeluOptions(m.fbb(), approximate));
}

// Adds factor * (relu(x) + alpha * (exp(min(x, 0)) - 1)).
bool ScaledElu(Mapping& m, int input, int output, float alpha, float factor) {
  if (!m.NeedsFloat32()) return false;
  const int below = m.Apply(Builtin::MINIMUM, {input, m.ConstFloat(0)});
  const int curve = m.Apply(Builtin::SUB, {m.Apply(Builtin::EXP, {below}), m.ConstFloat(1)});
  const int above = m.Apply(Builtin::RELU, {input});
  const int scaled = m.Apply(Builtin::MUL, {curve, m.ConstFloat(alpha)});
  m.Apply(Builtin::MUL, {m.Apply(Builtin::ADD, {above, scaled}), m.ConstFloat(factor)}, output);
  return true;
}

bool Elu(Mapping& m, int input, int output, float alpha) {
  if (alpha != 1) return ScaledElu(m, input, output, alpha, 1);
  m.Op(Builtin::ELU, {input}, {output});
  return true;
}

void LeakyRelu(Mapping& m, int input, int output, float alpha) {
  m.Op(Builtin::LEAKY_RELU, {input}, {output}, schema::CreateLeakyReluOptions(m.fbb(), alpha));
}

// Adds relu(x) + log(1 + exp(-|x|)): softplus in a form that does not overflow.
void Softplus(Mapping& m, int input, int output) {
  const int size = m.Apply(Builtin::ABS, {input});
  const int falling = m.Apply(Builtin::EXP, {m.Apply(Builtin::NEG, {size})});
  const int tail = m.Apply(Builtin::LOG, {m.Apply(Builtin::ADD, {falling, m.ConstFloat(1)})});
  m.Apply(Builtin::ADD, {m.Apply(Builtin::RELU, {input}), tail}, output);
}

// Adds operators that clamp the input to [min, max].
bool Clamp(Mapping& m, int input, int output, float min, float max) {
  if (!m.NeedsFloat32()) return false;
  if (!(min <= max)) {
    return m.Fail(Format("expected min <= max, found %g and %g", min, max));
  }
  const int above = m.Apply(Builtin::MAXIMUM, {input, m.ConstFloat(min)});
  m.Apply(Builtin::MINIMUM, {above, m.ConstFloat(max)}, output);
  return true;
}

bool MapActivation(Mapping& m, Builtin) {
  const file::Activation* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  switch (attributes->activation_type()) {
    case file::ActivationType_NO_ACTIVATION:
    case file::ActivationType_LINEAR:
      return m.Forward();
    case file::ActivationType_LEAKY_RELU:
      LeakyRelu(m, m.In(0), m.Out(), attributes->alpha());
      return true;
    case file::ActivationType_ELU:
      return Elu(m, m.In(0), m.Out(), attributes->alpha());
    case file::ActivationType_GELU:
      Gelu(m, m.In(0), m.Out(), attributes->approximate());
      return true;
    case file::ActivationType_HARD_TANH:
      return Clamp(m, m.In(0), m.Out(), attributes->min_val(), attributes->max_val());
    default:
      return m.Activate(attributes->activation_type(), m.In(0), m.Out());
  }
}

bool MapLeakyRelu(Mapping& m, Builtin) {
  const file::LeakyRelu* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  LeakyRelu(m, m.In(0), m.Out(), attributes->negative_slope());
  return true;
}

bool MapElu(Mapping& m, Builtin) {
  const file::Elu* attributes = nullptr;
  return m.Read(&attributes) && Elu(m, m.In(0), m.Out(), attributes->alpha());
}

// Maps PReLU, whose slopes have shape [C] and apply to the last axis.
bool MapPrelu(Mapping& m, Builtin) {
  m.Op(Builtin::PRELU, {m.In(0), m.In(1)}, {m.Out()});
  return true;
}

// Maps Clip, whose bounds are inputs 1 and 2, or attributes.
bool MapClip(Mapping& m, Builtin) {
  if (m.inputs() == 3) {
    m.Apply(Builtin::MINIMUM, {m.Apply(Builtin::MAXIMUM, {m.In(0), m.In(1)}), m.In(2)}, m.Out());
    return true;
  }
  const file::Clip* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  if (attributes->min() == 0 && attributes->max() == 6) {
    m.Op(Builtin::RELU6, {m.In(0)}, {m.Out()});
    return true;
  }
  return Clamp(m, m.In(0), m.Out(), attributes->min(), attributes->max());
}

}  // namespace

bool Mapping::FusedActivation(file::ActivationType activation, Fused* out) {
  switch (activation) {
    case file::ActivationType_NO_ACTIVATION:
    case file::ActivationType_LINEAR:
      *out = Fused::NONE;
      return true;
    case file::ActivationType_RELU:
      *out = Fused::RELU;
      return true;
    case file::ActivationType_RELU6:
      *out = Fused::RELU6;
      return true;
    case file::ActivationType_RELU1:
      *out = Fused::RELU_N1_TO_1;
      return true;
    default:
      return false;
  }
}

bool Mapping::Activate(file::ActivationType activation, int input, int output) {
  constexpr float kSeluAlpha = 1.6732632423543772F, kSeluScale = 1.0507009873554805F;
  Builtin code = Builtin::RELU;
  if (SingleOperator(activation, &code)) {
    Apply(code, {input}, output);
    return true;
  }
  if (!NeedsFloat32()) return false;
  switch (activation) {
    case file::ActivationType_ELU:
      return Elu(*this, input, output, 1);
    case file::ActivationType_SELU:
      return ScaledElu(*this, input, output, kSeluAlpha, kSeluScale);
    case file::ActivationType_SOFTSIGN:
      Apply(Builtin::DIV,
            {input, Apply(Builtin::ADD, {Apply(Builtin::ABS, {input}), ConstFloat(1)})}, output);
      return true;
    case file::ActivationType_SOFTPLUS:
      Softplus(*this, input, output);
      return true;
    case file::ActivationType_HSIGMOID:  // relu6(x + 3) / 6
      Apply(Builtin::MUL,
            {Apply(Builtin::RELU6, {Apply(Builtin::ADD, {input, ConstFloat(3)})}),
             ConstFloat(1.0F / 6)},
            output);
      return true;
    case file::ActivationType_SWISH:
      Apply(Builtin::MUL, {input, Apply(Builtin::LOGISTIC, {input})}, output);
      return true;
    default:
      return Fail(Format("activation %d is not supported", static_cast<int>(activation)));
  }
}

std::span<const Row> ActivationRows() {
  static constexpr Row kRows[] = {
      {file::PrimitiveType_Activation, 1, 1, 1, &MapActivation},
      {file::PrimitiveType_PReLUFusion, 2, 2, 1, &MapPrelu},
      {file::PrimitiveType_LeakyRelu, 1, 1, 1, &MapLeakyRelu},
      {file::PrimitiveType_Elu, 1, 1, 1, &MapElu},
      {file::PrimitiveType_Clip, 1, 3, 1, &MapClip},
  };
  return kRows;
}

}  // namespace deputy::ms
