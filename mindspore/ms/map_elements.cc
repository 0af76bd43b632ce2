// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators: arithmetic, comparisons, unary functions, conversions.
#include <cmath>

#include "mindspore/ms/attributes.h"
#include "mindspore/ms/mapping.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

// Maps a primitive without attributes to one operator.
bool MapPlain(Mapping& m, Builtin code) {
  std::vector<int> inputs = m.AllIn();
  m.Apply(code, inputs, m.Out());
  return true;
}

template <typename Fusion>
bool MapFused(Mapping& m, Builtin code) {
  const Fusion* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  return m.WithActivation(attributes->activation_type(), [&](Fused fused, int output) {
    m.Apply(code, {m.In(0), m.In(1)}, output, fused);
  });
}

bool MapEltwise(Mapping& m, Builtin) {
  const file::Eltwise* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  if (!m.Within(static_cast<int>(attributes->mode()), "mode", 0, 2)) return false;
  const Builtin code = attributes->mode() == file::EltwiseMode_PROD  ? Builtin::MUL
                       : attributes->mode() == file::EltwiseMode_SUM ? Builtin::ADD
                                                                     : Builtin::MAXIMUM;
  int sum = m.In(0);
  for (size_t i = 1; i + 1 < m.inputs(); ++i) sum = m.Apply(code, {sum, m.In(i)});
  m.Apply(code, {sum, m.In(m.inputs() - 1)}, m.Out());
  return true;
}

bool MapReciprocal(Mapping& m, Builtin) {
  if (!m.NeedsFloat32()) return false;
  m.Apply(Builtin::DIV, {m.ConstFloat(1), m.In(0)}, m.Out());
  return true;
}

// Adds scale * x + shift; a scale of 1 and a shift of 0 add nothing.
int Linear(Mapping& m, int value, float scale, float shift) {
  if (scale != 1) value = m.Apply(Builtin::MUL, {value, m.ConstFloat(scale)});
  if (shift != 0) value = m.Apply(Builtin::ADD, {value, m.ConstFloat(shift)});
  return value;
}

// Maps base ^ (scale * x + shift); a base of -1 stands for e.
bool MapExp(Mapping& m, Builtin) {
  const file::ExpFusion* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  const float base = attributes->base();
  if (base != -1 && !(base > 0)) return m.Fail(Format("expected a positive base, found %g", base));
  const float power = base == -1 ? 1 : std::log(base);
  const float scale = attributes->scale() * power, shift = attributes->shift() * power;
  if ((scale != 1 || shift != 0) && !m.NeedsFloat32()) return false;
  m.Op(Builtin::EXP, {Linear(m, m.In(0), scale, shift)}, {m.Out()},
       schema::CreateExpOptions(m.fbb()));
  return true;
}

// Maps (scale * x + shift) ^ y.
bool MapPow(Mapping& m, Builtin) {
  const file::PowFusion* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  const float scale = attributes->scale(), shift = attributes->shift();
  if ((scale != 1 || shift != 0) && !m.NeedsFloat32()) return false;
  m.Apply(Builtin::POW, {Linear(m, m.In(0), scale, shift), m.In(1)}, m.Out());
  return true;
}

bool MapSelect(Mapping& m, Builtin) {
  m.Op(Builtin::SELECT_V2, m.AllIn(), {m.Out()}, schema::CreateSelectV2Options(m.fbb()));
  return true;
}

// Maps Where: with one input, to the indices of true elements; with three inputs, to an
// element-wise selection.
bool MapWhere(Mapping& m, Builtin code) {
  if (m.inputs() == 3) return MapSelect(m, code);
  if (m.inputs() != 1) return m.Fail(Format("expected 1 or 3 inputs, found %zu", m.inputs()));
  m.Op(Builtin::WHERE, {m.In(0)}, {m.Out()}, schema::CreateWhereOptions(m.fbb()));
  return true;
}

// Maps Cast. The type of the output tensor determines the conversion.
bool MapCast(Mapping& m, Builtin) {
  m.Op(Builtin::CAST, {m.RawIn(0)}, {m.Out()});
  return true;
}

bool MapQuantCast(Mapping& m, Builtin) {
  const bool from_float = m.in(0).type == Type::kFloat32, to_float = m.out().type == Type::kFloat32;
  if (from_float && to_float) return m.Forward();
  if (!from_float && !Mapping::IsQuantized(m.in(0)) && m.in(0).type != Type::kFloat16) {
    return m.FailInput(0, "expected FLOAT32 or a tensor with a scale, found " +
                              std::string(TypeName(m.in(0).type)) + " without");
  }
  if (!to_float && !Mapping::IsQuantized(m.out())) {
    return m.Fail("expected an output of FLOAT32 or with a scale, found " +
                  std::string(TypeName(m.out().type)) + " without");
  }
  m.Op(to_float ? Builtin::DEQUANTIZE : Builtin::QUANTIZE, {m.RawIn(0)}, {m.Out()});
  return true;
}

// Maps the custom operators of the file. This library has no kernel for them; the client or a
// delegate may provide one. The options are the primitive, unless it has no attributes.
bool MapCustom(Mapping& m, Builtin) {
  const file::Custom* custom = nullptr;
  if (!m.Read(&custom)) return false;
  if (custom->type() == nullptr || custom->type()->size() == 0) {
    return m.Fail("expected a type, found none");
  }
  std::vector<uint8_t> options;
  if (custom->attr() != nullptr && custom->attr()->size() > 0) {
    std::vector<Attribute> attributes;
    size_t budget = m.writer().free_bytes();
    if (!ReadAttributes(*m.node().primitive, &budget, &attributes)) {
      return m.Fail("its attributes exceed the size limit");
    }
    options = BuildPrimitive(file::PrimitiveType_Custom, attributes);
  }
  m.writer().AddCustomOp(custom->type()->c_str(), m.AllIn(), m.AllOut(), options);
  return true;
}

}  // namespace

std::span<const Row> ElementRows() {
  static constexpr Row kRows[] = {
      {file::PrimitiveType_AddFusion, 2, 2, 1, &MapFused<file::AddFusion>, Builtin::ADD},
      {file::PrimitiveType_SubFusion, 2, 2, 1, &MapFused<file::SubFusion>, Builtin::SUB},
      {file::PrimitiveType_MulFusion, 2, 2, 1, &MapFused<file::MulFusion>, Builtin::MUL},
      {file::PrimitiveType_DivFusion, 2, 2, 1, &MapFused<file::DivFusion>, Builtin::DIV},
      {file::PrimitiveType_RealDiv, 2, 2, 1, &MapPlain, Builtin::DIV},
      {file::PrimitiveType_BiasAdd, 2, 2, 1, &MapPlain, Builtin::ADD},
      {file::PrimitiveType_Eltwise, 2, 255, 1, &MapEltwise},
      {file::PrimitiveType_FloorDiv, 2, 2, 1, &MapPlain, Builtin::FLOOR_DIV},
      {file::PrimitiveType_FloorMod, 2, 2, 1, &MapPlain, Builtin::FLOOR_MOD},
      {file::PrimitiveType_Maximum, 2, 2, 1, &MapPlain, Builtin::MAXIMUM},
      {file::PrimitiveType_Minimum, 2, 2, 1, &MapPlain, Builtin::MINIMUM},
      {file::PrimitiveType_SquaredDifference, 2, 2, 1, &MapPlain, Builtin::SQUARED_DIFFERENCE},
      {file::PrimitiveType_Equal, 2, 2, 1, &MapPlain, Builtin::EQUAL},
      {file::PrimitiveType_NotEqual, 2, 2, 1, &MapPlain, Builtin::NOT_EQUAL},
      {file::PrimitiveType_Greater, 2, 2, 1, &MapPlain, Builtin::GREATER},
      {file::PrimitiveType_GreaterEqual, 2, 2, 1, &MapPlain, Builtin::GREATER_EQUAL},
      {file::PrimitiveType_Less, 2, 2, 1, &MapPlain, Builtin::LESS},
      {file::PrimitiveType_LessEqual, 2, 2, 1, &MapPlain, Builtin::LESS_EQUAL},
      {file::PrimitiveType_LogicalAnd, 2, 2, 1, &MapPlain, Builtin::LOGICAL_AND},
      {file::PrimitiveType_LogicalOr, 2, 2, 1, &MapPlain, Builtin::LOGICAL_OR},
      {file::PrimitiveType_LogicalNot, 1, 1, 1, &MapPlain, Builtin::LOGICAL_NOT},
      {file::PrimitiveType_Cos, 1, 1, 1, &MapPlain, Builtin::COS},
      {file::PrimitiveType_Sin, 1, 1, 1, &MapPlain, Builtin::SIN},
      {file::PrimitiveType_Log, 1, 1, 1, &MapPlain, Builtin::LOG},
      {file::PrimitiveType_Sqrt, 1, 1, 1, &MapPlain, Builtin::SQRT},
      {file::PrimitiveType_Rsqrt, 1, 1, 1, &MapPlain, Builtin::RSQRT},
      {file::PrimitiveType_Square, 1, 1, 1, &MapPlain, Builtin::SQUARE},
      {file::PrimitiveType_Abs, 1, 1, 1, &MapPlain, Builtin::ABS},
      {file::PrimitiveType_Neg, 1, 1, 1, &MapPlain, Builtin::NEG},
      {file::PrimitiveType_Floor, 1, 1, 1, &MapPlain, Builtin::FLOOR},
      {file::PrimitiveType_Ceil, 1, 1, 1, &MapPlain, Builtin::CEIL},
      {file::PrimitiveType_Round, 1, 1, 1, &MapPlain, Builtin::ROUND},
      {file::PrimitiveType_ZerosLike, 1, 1, 1, &MapPlain, Builtin::ZEROS_LIKE},
      {file::PrimitiveType_Reciprocal, 1, 1, 1, &MapReciprocal},
      {file::PrimitiveType_ExpFusion, 1, 1, 1, &MapExp},
      {file::PrimitiveType_PowFusion, 2, 2, 1, &MapPow},
      {file::PrimitiveType_Select, 3, 3, 1, &MapSelect},
      {file::PrimitiveType_Where, 1, 3, 1, &MapWhere},
      {file::PrimitiveType_Cast, 1, 2, 1, &MapCast},
      {file::PrimitiveType_QuantDTypeCast, 1, 1, 1, &MapQuantCast},
      {file::PrimitiveType_Custom, 0, 255, 0, &MapCustom},
  };
  return kRows;
}

}  // namespace deputy::ms
