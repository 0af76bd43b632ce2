// SPDX-License-Identifier: Apache-2.0
//
// Tests the description of operators for MindSpore delegates: their numbers in MindSpore's schema,
// and attributes, for the model of every operator case.
#include <map>
#include <set>

#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "gtest/gtest.h"
#include "tests/cases/case.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/support/interpreter_queries.h"

namespace deputy::mindspore_operators_test {
namespace {

struct Operator {
  int number;
  // Names of the attributes, in alphabetical order.
  std::set<std::string> attributes;
};

const std::set<std::string> kConv = {"activation_type", "dilation",    "format",   "group",
                                     "in_channel",      "kernel_size", "pad_mode", "out_channel",
                                     "pad_list",        "stride"};
const std::set<std::string> kPool = {"activation_type", "format", "global",
                                     "kernel_size",     "pad",    "pad_mode",
                                     "round_mode",      "strides"};
const std::set<std::string> kActivation = {"activation_type"};
const std::set<std::string> kReduce = {"coeff", "keep_dims", "mode", "reduce_to_end"};
const std::set<std::string> kArg = {"axis", "keep_dims", "out_max_value", "top_k"};
const std::set<std::string> kTypes = {"dst_t", "src_t"};
const std::set<std::string> kResize = {"coordinate_transform_mode", "method", "new_height",
                                       "new_width"};

// Expected numbers and attributes by TensorFlow Lite's names. Operators that are not listed have
// the number 191, Custom.
const std::map<std::string, Operator> kOperators = {
    {"ABS", {1, {}}},
    {"RELU", {2, kActivation}},
    {"RELU_N1_TO_1", {2, kActivation}},
    {"RELU6", {2, kActivation}},
    {"LOGISTIC", {2, kActivation}},
    {"TANH", {2, kActivation}},
    {"HARD_SWISH", {2, kActivation}},
    {"GELU", {2, {"activation_type", "approximate"}}},
    {"ADD", {5, kActivation}},
    {"ARG_MAX", {11, kArg}},
    {"ARG_MIN", {12, kArg}},
    {"AVERAGE_POOL_2D", {17, kPool}},
    {"BATCH_TO_SPACE_ND", {22, {}}},
    {"BROADCAST_TO", {27, {}}},
    {"CAST", {28, kTypes}},
    {"CEIL", {29, {}}},
    {"CONCATENATION", {31, {"activation_type", "axis"}}},
    {"CONV_2D", {35, kConv}},
    {"DEPTHWISE_CONV_2D", {35, kConv}},
    {"TRANSPOSE_CONV",
     {36, {"activation_type", "dilation", "group", "kernel_size", "pad_mode", "stride"}}},
    {"COS", {37, {}}},
    {"DEPTH_TO_SPACE", {45, {"block_size"}}},
    {"DIV", {47, kActivation}},
    {"ELU", {51, {"alpha"}}},
    {"EQUAL", {53, {}}},
    {"EXP", {55, {"base", "scale", "shift"}}},
    {"EXPAND_DIMS", {56, {}}},
    {"FLOOR", {63, {}}},
    {"FLOOR_DIV", {64, {}}},
    {"FLOOR_MOD", {65, {}}},
    {"FILL", {66, {}}},
    {"FULLY_CONNECTED", {67, {"activation_type", "axis", "has_bias", "use_axis"}}},
    {"GATHER", {69, {"axis", "batch_dims"}}},
    {"GATHER_ND", {70, {}}},
    {"GREATER", {71, {}}},
    {"GREATER_EQUAL", {72, {}}},
    {"LEAKY_RELU", {76, {"negative_slope"}}},
    {"LESS", {77, {}}},
    {"LESS_EQUAL", {78, {}}},
    {"LOG", {79, {}}},
    {"LOGICAL_AND", {81, {}}},
    {"LOGICAL_NOT", {82, {}}},
    {"LOGICAL_OR", {83, {}}},
    {"LOCAL_RESPONSE_NORMALIZATION", {85, {"alpha", "beta", "bias", "depth_radius"}}},
    {"L2_NORMALIZATION", {88, {"axis", "epsilon"}}},
    {"BATCH_MATMUL", {89, {"activation_type", "transpose_a", "transpose_b"}}},
    {"MAXIMUM", {90, {}}},
    {"MAX_POOL_2D", {92, kPool}},
    {"MINIMUM", {96, {}}},
    {"MUL", {99, kActivation}},
    {"NEG", {101, {}}},
    {"NOT_EQUAL", {103, {}}},
    {"ONE_HOT", {105, {"axis"}}},
    {"PAD", {107, {"padding_mode"}}},
    {"PADV2", {107, {"padding_mode"}}},
    {"MIRROR_PAD", {107, {"padding_mode"}}},
    {"POW", {110, {"scale", "shift"}}},
    {"PRELU", {112, {"channel_shared"}}},
    {"QUANTIZE", {113, kTypes}},
    {"DEQUANTIZE", {113, kTypes}},
    {"RANK", {114, {}}},
    {"RANGE", {115, {}}},
    {"MEAN", {118, kReduce}},
    {"REDUCE_MAX", {118, kReduce}},
    {"REDUCE_MIN", {118, kReduce}},
    {"REDUCE_PROD", {118, kReduce}},
    {"SUM", {118, kReduce}},
    {"REDUCE_ALL", {118, kReduce}},
    {"RESHAPE", {119, {}}},
    {"RESIZE_BILINEAR", {120, kResize}},
    {"RESIZE_NEAREST_NEIGHBOR", {120, kResize}},
    {"REVERSE_V2", {122, {}}},
    {"ROUND", {125, {}}},
    {"RSQRT", {126, {}}},
    {"SCATTER_ND", {128, {}}},
    {"SHAPE", {130, {}}},
    {"SIN", {133, {}}},
    {"SLICE", {135, {}}},
    {"SOFTMAX", {138, {"axis", "beta"}}},
    {"SPACE_TO_BATCH_ND", {141, {}}},
    {"SPACE_TO_DEPTH", {142, {"block_size"}}},
    {"SPLIT", {145, {"output_num"}}},
    {"SPLIT_V", {145, {"output_num"}}},
    {"SQRT", {146, {}}},
    {"SQUEEZE", {147, {"axis"}}},
    {"SQUARE", {148, {}}},
    {"SQUARED_DIFFERENCE", {149, {}}},
    {"PACK", {150, {"axis"}}},
    {"STRIDED_SLICE",
     {151, {"begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask"}}},
    {"SUB", {152, kActivation}},
    {"TILE", {160, {}}},
    {"TOPK_V2", {161, {"axis", "largest", "sorted"}}},
    {"TRANSPOSE", {162, {}}},
    {"UNPACK", {166, {"axis"}}},
    {"WHERE", {168, {}}},
    {"SELECT", {170, {}}},
    {"SELECT_V2", {170, {}}},
    {"LOG_SOFTMAX", {189, {"axis"}}},
    {"CUMSUM", {192, {"exclusive", "reverse"}}},
};

// The number and the attributes of one primitive of a model.
struct Seen {
  int number;
  std::set<std::string> attributes;
};

// Applies a delegate to nodes whose options are hidden from it.
class WithoutOptions {
 public:
  explicit WithoutOptions(TfLiteDelegate* inner) : inner_(inner) {
    base.data_ = this;
    base.Prepare = [](TfLiteContext* context, TfLiteDelegate* delegate) {
      return static_cast<WithoutOptions*>(delegate->data_)->Prepare(context);
    };
  }
  TfLiteDelegate base = TfLiteDelegateCreate();

 private:
  TfLiteStatus Prepare(TfLiteContext* context) {
    std::vector<std::pair<TfLiteNode*, void*>> options;
    TfLiteIntArray* plan = nullptr;
    EXPECT_EQ(context->GetExecutionPlan(context, &plan), kTfLiteOk);
    for (int i = 0; i < plan->size; ++i) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      EXPECT_EQ(context->GetNodeAndRegistration(context, plan->data[i], &node, &registration),
                kTfLiteOk);
      options.emplace_back(node, std::exchange(node->builtin_data, nullptr));
    }
    const TfLiteStatus status = inner_->Prepare(context, inner_);
    for (const auto& [node, data] : options) node->builtin_data = data;
    return status;
  }

  TfLiteDelegate* const inner_;
};

enum class Options { kVisible, kHidden };

std::vector<Seen> PrimitivesOf(const std::vector<uint8_t>& bytes, Records* out_operators,
                               Options visibility = Options::kVisible) {
  std::vector<Seen> seen;
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [&seen](DelegateModel* model) -> mindspore::Status {
    for (Kernel* kernel : *model->nodes()) {
      const std::vector<std::string> names = model->attributes(kernel).names();
      seen.push_back({model->GetPrimitive(kernel)->value_type(), {names.begin(), names.end()}});
    }
    // The delegate would be offered every subgraph; the error ends this, so that only the first one
    // is recorded.
    return mindspore::kLiteError;
  };
  TfLiteDelegate* adapted = mindspore::ToTfLiteDelegate(delegate);
  const Owned<TfLiteModel> model(TfLiteModelCreate(bytes.data(), bytes.size()));
  Owned<TfLiteInterpreter> interpreter = SilentInterpreter(model.get());
  if (interpreter != nullptr) {
    for (int i = 0; i < DeputyInterpreterGetNodeCount(interpreter.get(), 0); ++i) {
      const DeputyNodeInfo info = NodeInfoOf(interpreter.get(), i);
      out_operators->push_back(info.operator_name);
    }
    WithoutOptions hiding(adapted);
    TfLiteInterpreterModifyGraphWithDelegate(
        interpreter.get(), visibility == Options::kHidden ? &hiding.base : adapted);
  }
  interpreter.reset();
  DeputyMSDelegateDeleteTfLite(adapted);
  return seen;
}

TEST(MindSporeOperators, have_mindspores_numbers_and_attributes) {
  std::set<std::string> met;
  for (const OpCase& c : AllCases()) {
    if (!c.refusal.empty()) continue;
    Records operators;
    const std::vector<Seen> seen = PrimitivesOf(c.model, &operators);
    ASSERT_EQ(seen.size(), operators.size()) << c.name;
    for (size_t i = 0; i < seen.size(); ++i) {
      const auto known = kOperators.find(operators[i]);
      EXPECT_EQ(seen[i].number, known == kOperators.end() ? 191 : known->second.number) << c.name;
      if (known == kOperators.end() || !met.insert(operators[i]).second) continue;
      // The schema has further attributes, which no operator sets.
      EXPECT_THAT(seen[i].attributes, testing::IsSupersetOf(known->second.attributes)) << c.name;
    }
  }
  // Operators that need not occur in a case.
  const std::set<std::string> without = {"LOCAL_RESPONSE_NORMALIZATION", "REVERSE_V2",
                                         "SCATTER_ND"};
  for (const auto& [name, row] : kOperators) {
    EXPECT_TRUE(met.count(name) > 0 || without.count(name) > 0) << name << " has no case";
  }
}

TEST(MindSporeOperators, do_not_access_options_that_a_node_does_not_have) {
  int checked = 0;
  for (const OpCase& c : AllCases()) {
    if (!c.refusal.empty()) continue;
    Records operators;
    const std::vector<Seen> seen = PrimitivesOf(c.model, &operators, Options::kHidden);
    if (seen.empty()) continue;  // refused: the CPU computes shapes from the options
    ++checked;
    ASSERT_EQ(seen.size(), operators.size()) << c.name;
    for (size_t i = 0; i < seen.size(); ++i) {
      const auto known = kOperators.find(operators[i]);
      EXPECT_EQ(seen[i].number, known == kOperators.end() ? 191 : known->second.number) << c.name;
    }
  }
  EXPECT_GT(checked, 3000);
}

}  // namespace
}  // namespace deputy::mindspore_operators_test
