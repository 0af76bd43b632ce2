// SPDX-License-Identifier: Apache-2.0
//
// Tests constants of a .ms model whose number of scales fits neither the tensor nor an axis of it:
// at every operand of every primitive that supports quantised weights, the model is refused with a
// message. If a model is converted, there is no error message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "mindspore/ms/convert.h"
#include "tests/mindspore/ms/ms_writer.h"
#include "tests/support/test_interpreter.h"

namespace deputy::ms::ms_scales_test {
namespace {

using file::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using Dims = std::vector<int32_t>;
using Attributes = std::function<flatbuffers::Offset<void>(MsWriter&)>;

struct Row {
  Value value;
  std::vector<Dims> operands;                   // shapes of float32 operands
  std::vector<std::vector<int32_t>> ints = {};  // contents of the int32 constants, which follow
  Attributes attributes = [](MsWriter& w) { return file::CreatePlain(w.fbb()).Union(); };
  std::set<size_t> constants = {};  // indices of operands that must be constants
};

Attributes Fused() {
  return [](MsWriter& w) { return file::CreateFused(w.fbb()).Union(); };
}
Attributes Axis(int64_t axis) {
  return [axis](MsWriter& w) { return file::CreateAxis(w.fbb(), axis).Union(); };
}
Attributes Axes(const std::vector<int64_t>& axes) {
  return [axes](MsWriter& w) { return file::CreateAxes(w.fbb(), w.Longs(axes)).Union(); };
}
Attributes Activation(file::Activation type) {
  return [type](MsWriter& w) {
    return file::CreateActivationAttributes(w.fbb(), type, 0.5F, -1, 1).Union();
  };
}

std::vector<Row> Rows() {
  const Dims x = {2, 4};
  std::vector<Row> rows;
  for (const Value value :
       {Value::AddFusion, Value::SubFusion, Value::MulFusion, Value::DivFusion}) {
    rows.push_back({value, {x, x}, {}, Fused()});
  }
  for (const Value value : {Value::RealDiv, Value::BiasAdd, Value::Maximum, Value::Minimum,
                            Value::SquaredDifference, Value::FloorDiv, Value::FloorMod}) {
    rows.push_back({value, {x, x}});
  }
  for (const Value value : {Value::Abs, Value::Sqrt, Value::Neg, Value::Reciprocal}) {
    rows.push_back({value, {x}});
  }
  using enum file::Activation;
  for (const file::Activation type : {RELU, SIGMOID, TANH, ELU, SELU, GELU, LEAKY_RELU, HSWISH,
                                      HSIGMOID, SWISH, SOFTPLUS, SOFTSIGN, HARD_TANH}) {
    rows.push_back({Value::Activation, {x}, {}, Activation(type)});
  }
  const Attributes alpha = [](MsWriter& w) { return file::CreateAlpha(w.fbb(), 0.5F).Union(); };
  const Attributes epsilon = [](MsWriter& w) {
    return file::CreateEpsilon(w.fbb(), 1e-3F).Union();
  };
  rows.push_back({Value::LeakyRelu, {x}, {}, alpha});
  rows.push_back({Value::Elu, {x}, {}, alpha});
  rows.push_back({Value::Clip, {x, x, x}});
  rows.push_back({Value::PReLUFusion, {x, {4}}});
  rows.push_back({Value::Eltwise, {x, x, x}, {}, [](MsWriter& w) {
                    return file::CreateEltwiseAttributes(w.fbb()).Union();
                  }});
  rows.push_back({Value::PowFusion, {x, x}, {}, [](MsWriter& w) {
                    return file::CreatePowAttributes(w.fbb(), 2, 1).Union();
                  }});
  rows.push_back({Value::ExpFusion, {x}, {}, [](MsWriter& w) {
                    return file::CreateExpAttributes(w.fbb(), -1, 2, 1).Union();
                  }});
  rows.push_back({Value::Concat, {x, x, x}, {}, Axis(1)});
  rows.push_back({Value::Stack, {x, x}, {}, Axis(0)});
  rows.push_back({Value::Unstack, {x}, {}, Axis(0)});
  rows.push_back({Value::Softmax, {x}, {}, Axes({0})});
  rows.push_back({Value::LogSoftmax, {x}, {}, Axis(0)});
  rows.push_back({Value::L2NormalizeFusion, {x}, {}, [](MsWriter& w) {
                    return file::CreateL2NormalizeAttributes(w.fbb(), w.Longs({1})).Union();
                  }});
  rows.push_back({Value::ReduceFusion, {x}, {{1}}, [](MsWriter& w) {
                    return file::CreateReduceAttributes(w.fbb()).Union();
                  }});
  rows.push_back({Value::Reshape, {x}, {{8}}});
  rows.push_back({Value::Squeeze, {x}, {}, Axes({})});
  rows.push_back({Value::Unsqueeze, {x}, {}, Axes({0})});
  rows.push_back({Value::ExpandDims, {x}, {{1}}});
  rows.push_back({Value::Transpose, {x}, {{1, 0}}});
  rows.push_back({Value::TileFusion, {x}, {{2, 1}}, Axes({})});
  rows.push_back({Value::SliceFusion, {x}, {{0, 1}, {1, 2}}, Axes({})});
  rows.push_back({Value::StridedSlice, {x}, {{0, 1}, {2, 3}, {1, 1}}, [](MsWriter& w) {
                    return file::CreateStridedSliceAttributes(w.fbb()).Union();
                  }});
  rows.push_back({Value::Gather, {x}, {{1, 0}, {0}}});
  rows.push_back({Value::ReverseV2, {x}, {}, Axes({0})});
  rows.push_back({Value::ScaleFusion, {x, {4}, {4}}, {}, [](MsWriter& w) {
                    return file::CreateScaleAttributes(w.fbb(), 1).Union();
                  }});
  rows.push_back({Value::BatchNorm, {x, {4}, {4}}, {}, epsilon, {1, 2}});
  rows.push_back({Value::FusedBatchNorm,
                  {x, {4}, {4}, {4}, {4}},
                  {},
                  [](MsWriter& w) { return file::CreateFusedBatchNormAttributes(w.fbb()).Union(); },
                  {1, 2, 3, 4}});
  rows.push_back({Value::InstanceNorm, {{1, 2, 2, 4}, {4}, {4}}, {}, epsilon});
  rows.push_back({Value::LayerNormFusion, {x, {4}, {4}}, {}, [](MsWriter& w) {
                    return file::CreateLayerNormAttributes(w.fbb(), 1, 1e-5F, true, 1).Union();
                  }});
  rows.push_back(
      {Value::FullConnection,
       {x, {2, 4}, {2}},
       {},
       [](MsWriter& w) { return file::CreateFullConnectionAttributes(w.fbb(), true).Union(); },
       {1}});
  rows.push_back({Value::MatMulFusion, {x, {4, 2}, {2}}, {}, [](MsWriter& w) {
                    return file::CreateMatMulAttributes(w.fbb()).Union();
                  }});
  rows.push_back({Value::Conv2DFusion,
                  {{1, 3, 3, 2}, {4, 1, 1, 2}, {4}},
                  {},
                  [](MsWriter& w) { return file::CreateConvAttributes(w.fbb()).Union(); },
                  {1}});
  rows.push_back({Value::AvgPoolFusion, {{1, 4, 4, 2}}, {}, [](MsWriter& w) {
                    return file::CreatePoolAttributes(w.fbb(), w.Longs({2, 2})).Union();
                  }});
  return rows;
}

// Converts a model of this row, whose operand `quantized` is an int8 constant with `scales` scales,
// and returns the error.
std::string ErrorOf(const Row& row, size_t quantized, size_t scales) {
  MsWriter w;
  // This node gives the model an input and an output whatever the operands are.
  w.Node(Value::Neg, {w.Input({3})}, {w.Output({3})});
  std::vector<uint32_t> operands;
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const Dims& dims = row.operands[i];
    size_t count = 1;
    for (const int32_t dim : dims) count *= static_cast<size_t>(dim);
    if (i == quantized) {
      operands.push_back(w.Constant<int8_t>(dims, std::vector<int8_t>(count, 3)));
      w.tensors.back().scales.assign(scales, {0.5, 0});
    } else if (row.constants.count(i) != 0) {
      operands.push_back(w.Constant<float>(dims, std::vector<float>(count, 1)));
    } else {
      operands.push_back(w.Input(dims));
    }
    w.tensors.back().name = "operand" + std::to_string(i);
  }
  for (const auto& values : row.ints) operands.push_back(w.Ints(values));
  std::vector<uint32_t> outputs = {w.Output({-1, -1})};
  if (row.value == Value::Unstack) outputs.push_back(w.Output({-1, -1}));
  w.Node(row.value, operands, outputs, flatbuffers::Offset<file::Plain>(row.attributes(w).o));
  std::string error;
  const std::vector<uint8_t> tflite = ConvertMsModel(w.Finish(), {}, &error);
  EXPECT_EQ(tflite.empty(), !error.empty()) << error;
  return error;
}

TEST(MsScales, a_wrong_number_is_refused_at_every_operand) {
  for (const Row& row : Rows()) {
    for (size_t i = 0; i < row.operands.size(); ++i) {
      SCOPED_TRACE(std::string(file::EnumNameValue(row.value)) + " operand " + std::to_string(i));
      const auto steps = static_cast<size_t>(row.operands[i][0]);
      EXPECT_EQ(ErrorOf(row, i, 1), "");
      for (const size_t wrong : {steps + 1, size_t{5}, size_t{7}}) {
        const std::string error = ErrorOf(row, i, wrong);
        EXPECT_THAT(error, HasSubstr("tensor "));
        EXPECT_THAT(error, HasSubstr("'operand" + std::to_string(i) + "'"));
        EXPECT_THAT(error, HasSubstr("found " + std::to_string(wrong)));
        EXPECT_THAT(error, HasSubstr(file::EnumNameValue(row.value)));
      }
    }
  }
}

// Operators on integers have one scale per operand; further scales would be ignored.
TEST(MsScales, operators_on_integers_accept_only_one_scale) {
  for (const Value value : {Value::AddFusion, Value::MulFusion}) {
    MsWriter w;
    const uint32_t x = w.Input({2, 4}, kMsInt8), y = w.Output({2, 4}, kMsInt8);
    const uint32_t c = w.Constant<int8_t>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    w.tensors[x].scales = w.tensors[y].scales = {{0.5, 0}};
    w.tensors[c].scales = {{0.5, 0}, {0.25, 0}};
    w.Node(value, {x, c}, {y}, file::CreateFused(w.fbb()));
    std::string error;
    EXPECT_TRUE(ConvertMsModel(w.Finish(), {}, &error).empty());
    EXPECT_THAT(error, HasSubstr("expected one scale, found 2"));
  }
}

TEST(MsScales, tables_of_integers_accept_only_one_scale) {
  MsWriter w;
  const uint32_t at = w.Input({1}, kMsInt32), y = w.Output({1, 2}, kMsInt8);
  const uint32_t table = w.Constant<int8_t>({2, 2}, {1, 2, 3, 4});
  w.tensors[y].scales = {{0.5, 0}};
  w.tensors[table].scales = {{0.5, 0}, {0.25, 0}};
  w.Node(Value::Gather, {table, at, w.Constant<int32_t>({}, {0})}, {y});
  std::string error;
  EXPECT_TRUE(ConvertMsModel(w.Finish(), {}, &error).empty());
  EXPECT_THAT(error, HasSubstr("expected one scale, found 2"));
}

TEST(MsScales, halves_are_values_of_one_hot) {
  MsWriter w;
  const uint32_t x = w.Input({2}, kMsInt32), depth = w.Constant<int32_t>({}, {3});
  const uint32_t values = w.Constant<uint16_t>({2}, {0xBC00, 0x4500});  // off value -1, on value 5
  const uint32_t y = w.Output({2, 3});
  w.Node(Value::OneHot, {x, depth, values}, {y}, file::CreateAxis(w.fbb(), -1));
  std::string error;
  TestInterpreter t(ConvertMsModel(w.Finish(), {}, &error));
  ASSERT_EQ(error, "");
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int32_t>(0, {2, 0});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(-1, -1, 5, 5, -1, -1));
}

}  // namespace
}  // namespace deputy::ms::ms_scales_test
