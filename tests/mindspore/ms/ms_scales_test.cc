// SPDX-License-Identifier: Apache-2.0
//
// Tests constants of a .ms model whose number of scales fits neither the tensor nor an axis of it:
// the model is refused with a message that names the operand, for each float32 operand of a list of
// primitives. A model with one scale is converted without a message.
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

using testing::ElementsAre;
using testing::HasSubstr;
using Dims = std::vector<int32_t>;
using Attributes = std::function<flatbuffers::Offset<void>(MsWriter&)>;

struct Row {
  file::PrimitiveType value;
  std::vector<Dims> operands;                   // shapes of float32 operands
  std::vector<std::vector<int32_t>> ints = {};  // contents of the int32 constants, which follow
  Attributes attributes = [](MsWriter& w) { return NoAttributes(&w.fbb()).Union(); };
  std::set<size_t> constants = {};  // indices of operands that must be constants
};

Attributes Fused() {
  return [](MsWriter& w) { return file::CreateAddFusion(w.fbb()).Union(); };
}
Attributes Axis(int64_t axis) {
  return [axis](MsWriter& w) { return file::CreateConcat(w.fbb(), axis).Union(); };
}
Attributes Axes(const std::vector<int64_t>& axes) {
  return [axes](MsWriter& w) { return file::CreateSoftmax(w.fbb(), w.Longs(axes)).Union(); };
}
Attributes Activation(file::ActivationType type) {
  return [type](MsWriter& w) { return file::CreateActivation(w.fbb(), type, 0.5F, -1, 1).Union(); };
}

std::vector<Row> Rows() {
  const Dims x = {2, 4};
  std::vector<Row> rows;
  for (const file::PrimitiveType value :
       {file::PrimitiveType_AddFusion, file::PrimitiveType_SubFusion, file::PrimitiveType_MulFusion,
        file::PrimitiveType_DivFusion}) {
    rows.push_back({value, {x, x}, {}, Fused()});
  }
  for (const file::PrimitiveType value :
       {file::PrimitiveType_RealDiv, file::PrimitiveType_BiasAdd, file::PrimitiveType_Maximum,
        file::PrimitiveType_Minimum, file::PrimitiveType_SquaredDifference,
        file::PrimitiveType_FloorDiv, file::PrimitiveType_FloorMod}) {
    rows.push_back({value, {x, x}});
  }
  for (const file::PrimitiveType value :
       {file::PrimitiveType_Abs, file::PrimitiveType_Sqrt, file::PrimitiveType_Neg,
        file::PrimitiveType_Reciprocal}) {
    rows.push_back({value, {x}});
  }
  for (const file::ActivationType type :
       {file::ActivationType_RELU, file::ActivationType_SIGMOID, file::ActivationType_TANH,
        file::ActivationType_ELU, file::ActivationType_SELU, file::ActivationType_GELU,
        file::ActivationType_LEAKY_RELU, file::ActivationType_HSWISH, file::ActivationType_HSIGMOID,
        file::ActivationType_SWISH, file::ActivationType_SOFTPLUS, file::ActivationType_SOFTSIGN,
        file::ActivationType_HARD_TANH}) {
    rows.push_back({file::PrimitiveType_Activation, {x}, {}, Activation(type)});
  }
  const Attributes alpha = [](MsWriter& w) { return file::CreateElu(w.fbb(), 0.5F).Union(); };
  const Attributes epsilon = [](MsWriter& w) {
    return file::CreateInstanceNorm(w.fbb(), 1e-3F).Union();
  };
  rows.push_back({file::PrimitiveType_LeakyRelu, {x}, {}, alpha});
  rows.push_back({file::PrimitiveType_Elu, {x}, {}, alpha});
  rows.push_back({file::PrimitiveType_Clip, {x, x, x}});
  rows.push_back({file::PrimitiveType_PReLUFusion, {x, {4}}});
  rows.push_back({file::PrimitiveType_Eltwise, {x, x, x}, {}, [](MsWriter& w) {
                    return file::CreateEltwise(w.fbb()).Union();
                  }});
  rows.push_back({file::PrimitiveType_PowFusion, {x, x}, {}, [](MsWriter& w) {
                    return file::CreatePowFusion(w.fbb(), 2, 1).Union();
                  }});
  rows.push_back({file::PrimitiveType_ExpFusion, {x}, {}, [](MsWriter& w) {
                    return file::CreateExpFusion(w.fbb(), -1, 2, 1).Union();
                  }});
  rows.push_back({file::PrimitiveType_Concat, {x, x, x}, {}, Axis(1)});
  rows.push_back({file::PrimitiveType_Stack, {x, x}, {}, Axis(0)});
  rows.push_back({file::PrimitiveType_Unstack, {x}, {}, Axis(0)});
  rows.push_back({file::PrimitiveType_Softmax, {x}, {}, Axes({0})});
  rows.push_back({file::PrimitiveType_LogSoftmax, {x}, {}, Axis(0)});
  rows.push_back({file::PrimitiveType_L2NormalizeFusion, {x}, {}, [](MsWriter& w) {
                    return file::CreateL2NormalizeFusion(w.fbb(), w.Longs({1})).Union();
                  }});
  rows.push_back({file::PrimitiveType_ReduceFusion, {x}, {{1}}, [](MsWriter& w) {
                    return file::CreateReduceFusion(w.fbb()).Union();
                  }});
  rows.push_back({file::PrimitiveType_Reshape, {x}, {{8}}});
  rows.push_back({file::PrimitiveType_Squeeze, {x}, {}, Axes({})});
  rows.push_back({file::PrimitiveType_Unsqueeze, {x}, {}, Axes({0})});
  rows.push_back({file::PrimitiveType_ExpandDims, {x}, {{1}}});
  rows.push_back({file::PrimitiveType_Transpose, {x}, {{1, 0}}});
  rows.push_back({file::PrimitiveType_TileFusion, {x}, {{2, 1}}, Axes({})});
  rows.push_back({file::PrimitiveType_SliceFusion, {x}, {{0, 1}, {1, 2}}, Axes({})});
  rows.push_back({file::PrimitiveType_StridedSlice, {x}, {{0, 1}, {2, 3}, {1, 1}}, [](MsWriter& w) {
                    return file::CreateStridedSlice(w.fbb()).Union();
                  }});
  rows.push_back({file::PrimitiveType_Gather, {x}, {{1, 0}, {0}}});
  rows.push_back({file::PrimitiveType_ReverseV2, {x}, {}, Axes({0})});
  rows.push_back({file::PrimitiveType_ScaleFusion, {x, {4}, {4}}, {}, [](MsWriter& w) {
                    return file::CreateScaleFusion(w.fbb(), 1).Union();
                  }});
  rows.push_back({file::PrimitiveType_BatchNorm, {x, {4}, {4}}, {}, epsilon, {1, 2}});
  rows.push_back({file::PrimitiveType_FusedBatchNorm,
                  {x, {4}, {4}, {4}, {4}},
                  {},
                  [](MsWriter& w) { return file::CreateFusedBatchNorm(w.fbb()).Union(); },
                  {1, 2, 3, 4}});
  rows.push_back({file::PrimitiveType_InstanceNorm, {{1, 2, 2, 4}, {4}, {4}}, {}, epsilon});
  rows.push_back({file::PrimitiveType_LayerNormFusion, {x, {4}, {4}}, {}, [](MsWriter& w) {
                    return file::CreateLayerNormFusion(w.fbb(), 1, 1e-5F, true, 1).Union();
                  }});
  rows.push_back({file::PrimitiveType_FullConnection,
                  {x, {2, 4}, {2}},
                  {},
                  [](MsWriter& w) { return file::CreateFullConnection(w.fbb(), true).Union(); },
                  {1}});
  rows.push_back({file::PrimitiveType_MatMulFusion, {x, {4, 2}, {2}}, {}, [](MsWriter& w) {
                    return file::CreateMatMulFusion(w.fbb()).Union();
                  }});
  rows.push_back({file::PrimitiveType_Conv2DFusion,
                  {{1, 3, 3, 2}, {4, 1, 1, 2}, {4}},
                  {},
                  [](MsWriter& w) { return file::CreateConv2DFusion(w.fbb()).Union(); },
                  {1}});
  rows.push_back({file::PrimitiveType_AvgPoolFusion, {{1, 4, 4, 2}}, {}, [](MsWriter& w) {
                    return file::CreateAvgPoolFusion(w.fbb(), w.Longs({2, 2})).Union();
                  }});
  return rows;
}

// Converts a model of this row, whose operand `quantized` is an int8 constant with `scales` scales,
// and returns the error.
std::string ErrorOf(const Row& row, size_t quantized, size_t scales) {
  MsWriter w;
  // This node gives the model an input and an output whatever the operands are.
  w.Node(file::PrimitiveType_Neg, {w.Input({3})}, {w.Output({3})});
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
  if (row.value == file::PrimitiveType_Unstack) outputs.push_back(w.Output({-1, -1}));
  w.Node(row.value, operands, outputs, flatbuffers::Offset<file::Abs>(row.attributes(w).o));
  std::string error;
  const std::vector<uint8_t> tflite = ConvertMsModel(w.Finish(), {}, &error);
  EXPECT_EQ(tflite.empty(), !error.empty()) << error;
  return error;
}

TEST(MsScales, a_wrong_number_is_refused_at_every_operand) {
  for (const Row& row : Rows()) {
    for (size_t i = 0; i < row.operands.size(); ++i) {
      SCOPED_TRACE(std::string(file::EnumNamePrimitiveType(row.value)) + " operand " +
                   std::to_string(i));
      const auto steps = static_cast<size_t>(row.operands[i][0]);
      EXPECT_EQ(ErrorOf(row, i, 1), "");
      for (const size_t wrong : {steps + 1, size_t{5}, size_t{7}}) {
        const std::string error = ErrorOf(row, i, wrong);
        EXPECT_THAT(error, HasSubstr("tensor "));
        EXPECT_THAT(error, HasSubstr("'operand" + std::to_string(i) + "'"));
        EXPECT_THAT(error, HasSubstr("found " + std::to_string(wrong)));
        EXPECT_THAT(error, HasSubstr(file::EnumNamePrimitiveType(row.value)));
      }
    }
  }
}

// Operators on integers have one scale per operand; further scales would be ignored.
TEST(MsScales, operators_on_integers_accept_only_one_scale) {
  for (const file::PrimitiveType value :
       {file::PrimitiveType_AddFusion, file::PrimitiveType_MulFusion}) {
    MsWriter w;
    const uint32_t x = w.Input({2, 4}, kMsInt8), y = w.Output({2, 4}, kMsInt8);
    const uint32_t c = w.Constant<int8_t>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    w.tensors[x].scales = w.tensors[y].scales = {{0.5, 0}};
    w.tensors[c].scales = {{0.5, 0}, {0.25, 0}};
    w.Node(value, {x, c}, {y}, file::CreateAddFusion(w.fbb()));
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
  w.Node(file::PrimitiveType_Gather, {table, at, w.Constant<int32_t>({}, {0})}, {y});
  std::string error;
  EXPECT_TRUE(ConvertMsModel(w.Finish(), {}, &error).empty());
  EXPECT_THAT(error, HasSubstr("expected one scale, found 2"));
}

TEST(MsScales, halves_are_values_of_one_hot) {
  MsWriter w;
  const uint32_t x = w.Input({2}, kMsInt32), depth = w.Constant<int32_t>({}, {3});
  const uint32_t values = w.Constant<uint16_t>({2}, {0xBC00, 0x4500});  // off value -1, on value 5
  const uint32_t y = w.Output({2, 3});
  w.Node(file::PrimitiveType_OneHot, {x, depth, values}, {y}, file::CreateConcat(w.fbb(), -1));
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
