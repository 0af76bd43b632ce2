// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates that compute in NCHW (deputy_plugin_layout.h). tests/plugins/nchw.cc computes its
// nodes by plain loops and refuses images in NHWC; results are compared with the CPU's. Plans are
// texts: T for a transposition, D for a delegate's node, C for a node of the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/builtin_ops.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/delegate_isolation.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "c_api/include/deputy_layout.h"
#include "c_api/include/deputy_placement.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::layout_test {
namespace {

using testing::HasSubstr;

using Dims = std::vector<int>;

// Builds models of float32 images. Functions return the index of their result.
class Net {
 public:
  explicit Net(unsigned seed = 1) : random_(seed) {}

  int Input(const Dims& dims) {
    inputs_.push_back(Tensor(dims));
    return inputs_.back();
  }
  int Conv(int x, int channels, int size = 3, int stride = 1) {
    const Dims d = dims(x);
    const int filter = Constant({channels, size, size, d[3]});
    const int y = Tensor({d[0], Up(d[1], stride), Up(d[2], stride), channels});
    m_.AddOp(kTfLiteBuiltinConv2d, {x, filter, Constant({channels})}, {y},
             schema::CreateConv2DOptions(m_.fbb(), schema::Padding::SAME, stride, stride));
    return y;
  }
  int Depthwise(int x, int multiplier = 1) {
    const Dims d = dims(x);
    const int depth = d[3] * multiplier;
    const int y = Tensor({d[0], d[1], d[2], depth});
    m_.AddOp(
        kTfLiteBuiltinDepthwiseConv2d, {x, Constant({1, 3, 2, depth}), Constant({depth})}, {y},
        schema::CreateDepthwiseConv2DOptions(m_.fbb(), schema::Padding::SAME, 1, 1, multiplier));
    return y;
  }
  int Pool(int x, TfLiteBuiltinOperator code = kTfLiteBuiltinMaxPool2d, int stride = 2) {
    const Dims d = dims(x);
    const int y = Tensor({d[0], Up(d[1], stride), Up(d[2], stride), d[3]});
    m_.AddOp(code, {x}, {y},
             schema::CreatePool2DOptions(m_.fbb(), schema::Padding::SAME, stride, stride, 2, 3));
    return y;
  }
  int Resize(int x, int height, int width) {
    const int y = Tensor({dims(x)[0], height, width, dims(x)[3]});
    m_.AddOp(kTfLiteBuiltinResizeNearestNeighbor, {x, Integers({2}, {height, width})}, {y},
             schema::CreateResizeNearestNeighborOptions(m_.fbb()));
    return y;
  }
  int DepthToSpace(int x) {
    const Dims d = dims(x);
    const int y = Tensor({d[0], d[1] * 2, d[2] * 2, d[3] / 4});
    m_.AddOp(kTfLiteBuiltinDepthToSpace, {x}, {y}, schema::CreateDepthToSpaceOptions(m_.fbb(), 2));
    return y;
  }
  int Relu(int x) {
    const int y = Tensor(dims(x));
    m_.AddOp(kTfLiteBuiltinRelu, {x}, {y});
    return y;
  }
  int Logistic(int x) {
    const int y = Tensor(dims(x));
    m_.AddOp(kTfLiteBuiltinLogistic, {x}, {y});
    return y;
  }
  int Softmax(int x) {
    const int y = Tensor(dims(x));
    m_.AddOp(kTfLiteBuiltinSoftmax, {x}, {y}, schema::CreateSoftmaxOptions(m_.fbb(), 1));
    return y;
  }
  // An operator that the delegate does not know, and that the CPU computes.
  int Abs(int x) {
    const int y = Tensor(dims(x));
    m_.AddOp(kTfLiteBuiltinAbs, {x}, {y});
    return y;
  }
  int Add(int a, int b) {
    const int y = Tensor(Broadcast(dims(a), dims(b)));
    m_.AddOp(kTfLiteBuiltinAdd, {a, b}, {y}, schema::CreateAddOptions(m_.fbb()));
    return y;
  }
  int Mul(int a, int b) {
    const int y = Tensor(Broadcast(dims(a), dims(b)));
    m_.AddOp(kTfLiteBuiltinMul, {a, b}, {y}, schema::CreateMulOptions(m_.fbb()));
    return y;
  }
  int Prelu(int x) {
    const int y = Tensor(dims(x));
    m_.AddOp(kTfLiteBuiltinPrelu, {x, Constant({1, 1, dims(x)[3]})}, {y});
    return y;
  }
  int Concatenate(const std::vector<int>& parts, int axis) {
    Dims d = dims(parts[0]);
    const size_t at = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
    for (size_t i = 1; i < parts.size(); ++i) d[at] += dims(parts[i])[at];
    const int y = Tensor(d);
    m_.AddOp(kTfLiteBuiltinConcatenation, parts, {y},
             schema::CreateConcatenationOptions(m_.fbb(), axis));
    return y;
  }
  int Pad(int x, const std::vector<int>& paddings) {
    Dims d = dims(x);
    for (size_t i = 0; i < d.size(); ++i) d[i] += paddings[2 * i] + paddings[2 * i + 1];
    const int y = Tensor(d);
    m_.AddOp(kTfLiteBuiltinPad, {x, Integers({4, 2}, paddings)}, {y});
    return y;
  }
  int Slice(int x, const Dims& begin, const Dims& size) {
    Dims d = size;
    for (size_t i = 0; i < 4; ++i) d[i] = size[i] < 0 ? dims(x)[i] - begin[i] : size[i];
    const int y = Tensor(d);
    m_.AddOp(kTfLiteBuiltinSlice, {x, Integers({4}, begin), Integers({4}, size)}, {y});
    return y;
  }
  int StridedSlice(int x, const Dims& begin, const Dims& end, const Dims& strides, int begin_mask,
                   int end_mask) {
    Dims d(4);
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<size_t>(i);
      const int first = (begin_mask >> i & 1) != 0 ? 0 : begin[at];
      const int last = (end_mask >> i & 1) != 0 ? dims(x)[at] : end[at];
      d[at] = Up(last - first, strides[at]);
    }
    const int y = Tensor(d);
    m_.AddOp(kTfLiteBuiltinStridedSlice,
             {x, Integers({4}, begin), Integers({4}, end), Integers({4}, strides)}, {y},
             schema::CreateStridedSliceOptions(m_.fbb(), begin_mask, end_mask));
    return y;
  }
  int Tile(int x, const Dims& multiples) {
    Dims d = dims(x);
    for (size_t i = 0; i < 4; ++i) d[i] *= multiples[i];
    const int y = Tensor(d);
    m_.AddOp(kTfLiteBuiltinTile, {x, Integers({4}, multiples)}, {y});
    return y;
  }
  std::vector<int> Split(int x, int axis, int count) {
    Dims d = dims(x);
    d[static_cast<size_t>(axis < 0 ? axis + 4 : axis)] /= count;
    std::vector<int> parts;
    for (int i = 0; i < count; ++i) parts.push_back(Tensor(d));
    m_.AddOp(kTfLiteBuiltinSplit, {Integers({}, {axis}), x}, parts,
             schema::CreateSplitOptions(m_.fbb(), count));
    return parts;
  }
  int Reduce(TfLiteBuiltinOperator code, int x, const std::vector<int>& axes, bool keeps) {
    Dims d;
    for (int i = 0; i < 4; ++i) {
      bool reduced = false;
      for (const int axis : axes) reduced = reduced || (axis + 4) % 4 == i;
      if (!reduced) d.push_back(dims(x)[static_cast<size_t>(i)]);
      if (reduced && keeps) d.push_back(1);
    }
    const int y = Tensor(d);
    m_.AddOp(code, {x, Integers({static_cast<int>(axes.size())}, axes)}, {y},
             schema::CreateReducerOptions(m_.fbb(), keeps));
    return y;
  }

  int TransposeConv(int x, int channels) {
    const Dims d = dims(x);
    const Dims to = {d[0], d[1] * 2, d[2] * 2, channels};
    const int shape = Integers({4}, to), filter = Constant({channels, 3, 2, d[3]});
    const int y = Tensor(to);
    m_.AddOp(kTfLiteBuiltinTransposeConv, {shape, filter, x}, {y},
             schema::CreateTransposeConvOptions(m_.fbb(), schema::Padding::SAME, 2, 2));
    return y;
  }
  int SpaceToBatch(int x) {
    const Dims d = dims(x);
    const int block = Integers({2}, {2, 3}), paddings = Integers({2, 2}, {1, 1, 0, 3});
    const int y = Tensor({d[0] * 6, (d[1] + 2) / 2, (d[2] + 3) / 3, d[3]});
    m_.AddOp(kTfLiteBuiltinSpaceToBatchNd, {x, block, paddings}, {y});
    return y;
  }
  int PadWith(int x, const std::vector<int>& paddings) {
    Dims d = dims(x);
    for (size_t i = 0; i < d.size(); ++i) d[i] += paddings[2 * i] + paddings[2 * i + 1];
    const int values = Integers({4, 2}, paddings), value = Constant({1}), y = Tensor(d);
    m_.AddOp(kTfLiteBuiltinPadv2, {x, values, value}, {y});
    return y;
  }
  std::vector<int> SplitV(int x, int axis, const std::vector<int>& sizes) {
    const int given = Integers({static_cast<int>(sizes.size())}, sizes), at = Integers({}, {axis});
    std::vector<int> parts;
    for (const int size : sizes) {
      Dims d = dims(x);
      d[static_cast<size_t>(axis < 0 ? axis + 4 : axis)] = size;
      parts.push_back(Tensor(d));
    }
    m_.AddOp(kTfLiteBuiltinSplitV, {x, given, at}, parts,
             schema::CreateSplitVOptions(m_.fbb(), static_cast<int>(sizes.size())));
    return parts;
  }
  // The result is converted to float32 by a node of the CPU.
  int ArgMax(int x, int axis) {
    Dims d = dims(x);
    d.erase(d.begin() + (axis < 0 ? axis + 4 : axis));
    const int at = Integers({}, {axis});
    const int index = Known(m_.AddTensor(kTfLiteInt32, d), d);
    const int y = Tensor(d);
    m_.AddOp(kTfLiteBuiltinArgMax, {x, at}, {index},
             schema::CreateArgMaxOptions(m_.fbb(), schema::TensorType::INT32));
    m_.AddOp(kTfLiteBuiltinCast, {index}, {y});
    return y;
  }

  int Constant(const Dims& dims) {
    size_t count = 1;
    for (const int dim : dims) count *= static_cast<size_t>(dim);
    std::vector<float> values(count);
    for (float& value : values) value = Random();
    return Known(m_.AddConstant<float>(kTfLiteFloat32, dims, values), dims);
  }
  void Output(int x) { outputs_.push_back(x); }
  std::vector<uint8_t> Finish() {
    m_.SetInputs(inputs_);
    m_.SetOutputs(outputs_);
    return m_.Finish();
  }
  const Dims& dims(int tensor) const { return dims_[static_cast<size_t>(tensor)]; }
  float Random() { return std::uniform_real_distribution<float>(-1, 1)(random_); }

 private:
  static int Up(int size, int stride) { return (size + stride - 1) / stride; }
  static Dims Broadcast(Dims a, Dims b) {
    if (a.size() < b.size()) std::swap(a, b);
    b.insert(b.begin(), a.size() - b.size(), 1);
    for (size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
    return a;
  }
  int Tensor(Dims dims) {
    return Known(m_.AddTensor(kTfLiteFloat32, dims, "t" + std::to_string(dims_.size())), dims);
  }
  int Integers(const Dims& dims, const std::vector<int>& values) {
    return Known(m_.AddConstant<int>(kTfLiteInt32, dims, values), dims);
  }
  int Known(int tensor, Dims dims) {
    dims_.resize(static_cast<size_t>(tensor) + 1);
    dims_.back() = std::move(dims);
    return tensor;
  }

  ModelBuilder m_;
  std::mt19937 random_;
  std::vector<Dims> dims_;
  std::vector<int32_t> inputs_, outputs_;
};

class Layout : public QuietTest {
 protected:
  void TearDown() override {
    t_.reset();
    delegates_.clear();
    QuietTest::TearDown();
  }
  void Start(const std::vector<uint8_t>& model, DeputyDelegatePolicy policy = kDeputyPolicyTfLite,
             bool validates = false) {
    t_.reset();
    delegates_.clear();
    model_ = model;
    std::remove(log_.c_str());
    t_ = std::make_unique<TestInterpreter>(model, [&](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
      DeputyValidationOptions validation{};
      validation.struct_size = sizeof validation;
      validation.enabled = validates ? 1 : 0;
      DeputyInterpreterOptionsSetValidation(options, &validation);
    });
    ASSERT_NE(t_->get(), nullptr);
  }
  TfLiteStatus Apply(Options options = {}) {
    options.emplace_back("log", log_);
    delegates_.push_back(External("nchw", options));
    return TfLiteInterpreterModifyGraphWithDelegate(t_->get(), delegates_.back().get());
  }
  // Applies a delegate and expects the plan and the CPU's results.
  void Check(const std::string& plan, const Options& options = {}) {
    ASSERT_EQ(Apply(options), kTfLiteOk) << t_->log();
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    EXPECT_EQ(Plan(), plan);
    ExpectCpuResults();
  }
  std::string Plan() const {
    int32_t count = 0;
    const int32_t* nodes = DeputyInterpreterGetExecutionPlan(t_->get(), 0, &count);
    std::string text;
    for (int32_t i = 0; i < count; ++i) {
      const DeputyNode* node = DeputyInterpreterGetNode(t_->get(), 0, nodes[i]);
      if (node->node.delegate != nullptr) {
        text += 'D';
      } else {
        text += node->registration.builtin_code == kTfLiteBuiltinTranspose ? 'T' : 'C';
      }
    }
    return text;
  }
  // Checks each transposition of the plan by itself: it writes a tensor that no other one writes,
  // it does not read the result of another one, and something needs its result.
  void CheckTranspositions() {
    int32_t count = 0;
    const int32_t* nodes = DeputyInterpreterGetExecutionPlan(t_->get(), 0, &count);
    std::vector<int> written, read;
    for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(t_->get()); ++i) {
      read.push_back(TfLiteInterpreterOutputTensorIndices(t_->get())[i]);
    }
    for (int32_t i = 0; i < count; ++i) {
      const TfLiteNode& node = DeputyInterpreterGetNode(t_->get(), 0, nodes[i])->node;
      const int layout = DeputyInterpreterGetNodeLayout(t_->get(), 0, nodes[i]);
      if (layout == kDeputyNodeToNchw || layout == kDeputyNodeToNhwc) {
        const int from = node.inputs->data[0], to = node.outputs->data[0];
        EXPECT_EQ(std::count(written.begin(), written.end(), to), 0);
        EXPECT_EQ(std::count(written.begin(), written.end(), from), 0);
        written.push_back(to);
        Dims dims = TestInterpreter::Shape(t_->Tensor(from));
        dims = layout == kDeputyNodeToNchw ? Dims{dims[0], dims[3], dims[1], dims[2]}
                                           : Dims{dims[0], dims[2], dims[3], dims[1]};
        EXPECT_EQ(TestInterpreter::Shape(t_->Tensor(to)), dims);
        ++transpositions_;
      } else {
        const bool is_delegates = node.delegate != nullptr;
        EXPECT_TRUE(layout == kDeputyNodeOfModel || (is_delegates && layout == kDeputyNodeInNchw));
        partitions_ += layout == kDeputyNodeInNchw;
      }
      read.insert(read.end(), node.inputs->data, node.inputs->data + node.inputs->size);
    }
    for (const int tensor : written) {
      EXPECT_NE(std::count(read.begin(), read.end(), tensor), 0) << tensor;
    }
  }
  static std::vector<std::vector<float>> Run(TestInterpreter* t, unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(t->get()); ++i) {
      std::vector<float> values(TfLiteTensorByteSize(TfLiteInterpreterGetInputTensor(t->get(), i)) /
                                sizeof(float));
      for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
      t->Set(i, values);
    }
    EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    std::vector<std::vector<float>> results;
    for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(t->get()); ++i) {
      results.push_back(t->Get<float>(i));
    }
    return results;
  }
  // Runs an interpreter without delegates on inputs of the same shapes, and compares all outputs.
  void ExpectCpuResults() {
    TestInterpreter cpu(model_);
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(t_->get()); ++i) {
      cpu.Resize(i, TestInterpreter::Shape(TfLiteInterpreterGetInputTensor(t_->get(), i)));
    }
    ASSERT_EQ(cpu.Allocate(), kTfLiteOk) << cpu.log();
    static unsigned seed = 0;
    ++seed;
    const auto expected = Run(&cpu, seed), found = Run(t_.get(), seed);
    ASSERT_EQ(expected.size(), found.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const int output = static_cast<int>(i);
      EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(t_->get(), output)),
                TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(cpu.get(), output)));
      ASSERT_EQ(expected[i].size(), found[i].size());
      for (size_t k = 0; k < expected[i].size(); ++k) {
        ASSERT_NEAR(found[i][k], expected[i][k], 1e-4 * (1 + std::fabs(expected[i][k])))
            << "output " << i << " element " << k;
      }
    }
  }
  // Returns the log since the last call.
  std::string Log() {
    const std::string all = ReadText(log_);
    std::remove(log_.c_str());
    return all;
  }
  void SetFault(const char* fault) {
    const char* const key = "fault";
    EXPECT_EQ(DeputyPluginSetDelegateOptions(delegates_.back().get(), &key, &fault, 1), kTfLiteOk);
  }

  const std::string log_ = ScratchFile("layout.log");
  int transpositions_ = 0, partitions_ = 0;  // counted by CheckTranspositions
  std::vector<uint8_t> model_;
  std::vector<Handle> delegates_;
  std::unique_ptr<TestInterpreter> t_;
};

// ---- Transpositions, counted by hand ------------------------------------------------------------

// Two transpositions around each convolution would be four.
TEST_F(Layout, a_chain_has_a_transposition_at_each_end) {
  Net n;
  n.Output(n.Conv(n.Relu(n.Conv(n.Input({1, 5, 6, 3}), 4)), 2));
  Start(n.Finish());
  Check("TDT");
  EXPECT_EQ(Log(), "invoke 3; ");
}

TEST_F(Layout, neighbouring_partitions_of_two_delegates_exchange_nchw) {
  Net n;
  n.Output(n.Conv(n.Relu(n.Conv(n.Input({1, 5, 6, 3}), 4)), 2));
  Start(n.Finish());
  ASSERT_EQ(Apply({{"claims", "0"}}), kTfLiteOk);
  EXPECT_EQ(Plan(), "TDTCC");
  ASSERT_EQ(Apply({{"claims", "1,2"}}), kTfLiteOk) << t_->log();
  EXPECT_EQ(Plan(), "TDDT");
  ASSERT_EQ(t_->Allocate(), kTfLiteOk);
  ExpectCpuResults();
}

TEST_F(Layout, an_output_in_the_middle_is_transposed_once_more) {
  Net n;
  const int middle = n.Conv(n.Input({1, 5, 6, 3}), 4);
  n.Output(middle);
  n.Output(n.Conv(n.Relu(middle), 2));
  Start(n.Finish());
  Check("TDTT");
}

TEST_F(Layout, a_residual_block_and_branches_need_two_transpositions) {
  Net n;
  const int x = n.Input({2, 5, 6, 3});
  const int a = n.Conv(x, 4);
  const int sum = n.Add(n.Conv(n.Relu(a), 4), a);
  n.Output(n.Concatenate({n.Depthwise(sum), n.Pool(sum, kTfLiteBuiltinAveragePool2d, 1)}, 3));
  Start(n.Finish());
  Check("TDT");
  EXPECT_EQ(Log(), "invoke 7; ");
}

TEST_F(Layout, an_input_with_two_consumers_is_transposed_once) {
  Net n;
  const int x = n.Input({1, 5, 6, 3});
  n.Output(n.Conv(x, 2));
  n.Output(n.Conv(x, 3));
  Start(n.Finish());
  Check("TDTT");
}

TEST_F(Layout, a_cpu_node_between_partitions_is_surrounded) {
  Net n;
  n.Output(n.Conv(n.Abs(n.Conv(n.Input({1, 5, 6, 3}), 4)), 2));
  Start(n.Finish());
  Check("TDTCTDT");
}

// The indices of channels have the dimensions N, H, W in both layouts; those of rows have N, W, C
// in NHWC, but N, C, W in NCHW.
TEST_F(Layout, indices_of_channels_need_no_transposition) {
  for (const int axis : {3, -1, 1}) {
    SCOPED_TRACE(axis);
    Net n;
    n.Output(n.ArgMax(n.Conv(n.Input({2, 5, 6, 3}), 4), axis));
    Start(n.Finish());
    Check(axis == 1 ? "TDTDC" : "TDC");
  }
}

// SOFTMAX normalises along the last dimension, which are the channels only in NHWC.
TEST_F(Layout, an_operator_that_cannot_be_converted_stays_in_nhwc) {
  Net n;
  n.Output(n.Softmax(n.Relu(n.Conv(n.Input({1, 5, 6, 3}), 4))));
  Start(n.Finish());
  Check("TDTD");
}

TEST_F(Layout, nodes_without_connection_to_images_stay_in_nhwc) {
  Net n;
  const int x = n.Input({1, 5, 6, 3});
  n.Output(n.Softmax(n.Mul(x, n.Constant({3}))));
  Start(n.Finish());
  Check("D");
  EXPECT_EQ(Log(), "invoke 2; ");
}

TEST_F(Layout, a_mean_over_pixels_ends_nchw_without_transposition) {
  Net n;
  n.Output(n.Reduce(kTfLiteBuiltinMean, n.Conv(n.Input({2, 5, 6, 3}), 4), {1, 2}, false));
  Start(n.Finish());
  Check("TD");
}

// The mean over rows has the dimensions N, W, C in NHWC, but N, C, W in NCHW.
TEST_F(Layout, a_mean_over_rows_stays_in_nhwc) {
  Net n;
  n.Output(n.Reduce(kTfLiteBuiltinMean, n.Conv(n.Input({2, 5, 6, 3}), 4), {1}, false));
  Start(n.Finish());
  Check("TDTD");
}

// ---- Operators ----------------------------------------------------------------------------------

struct Case {
  const char* name;
  std::function<void(Net*, int)> add;  // adds nodes that read an image of {2, 4, 6, 8}
};

TEST_F(Layout, operators_between_convolutions_are_converted) {
  const auto to_conv = [](Net* n, int x) { n->Output(n->Conv(x, 2)); };
  const std::vector<Case> cases = {
      {"transposed", [&](Net* n, int x) { to_conv(n, n->TransposeConv(x, 3)); }},
      {"space to batch", [&](Net* n, int x) { to_conv(n, n->SpaceToBatch(x)); }},
      {"pad with",
       [&](Net* n, int x) {
         to_conv(n, n->PadWith(x, {1, 0, 0, 2, 3, 0, 0, 1}));
       }},
      {"split by size",
       [&](Net* n, int x) {
         const std::vector<int> parts = n->SplitV(x, -1, {5, 3}), rows = n->SplitV(x, 1, {1, 3});
         to_conv(n, n->Concatenate({n->Conv(parts[0], 8), rows[1], rows[0], x}, 1));
       }},
      {"depthwise", [&](Net* n, int x) { to_conv(n, n->Depthwise(x, 2)); }},
      {"max pool", [&](Net* n, int x) { to_conv(n, n->Pool(x)); }},
      {"resize", [&](Net* n, int x) { to_conv(n, n->Resize(x, 8, 3)); }},
      {"depth to space", [&](Net* n, int x) { to_conv(n, n->DepthToSpace(x)); }},
      {"logistic", [&](Net* n, int x) { to_conv(n, n->Mul(x, n->Logistic(x))); }},
      {"prelu", [&](Net* n, int x) { to_conv(n, n->Prelu(x)); }},
      {"channels", [&](Net* n, int x) { to_conv(n, n->Add(x, n->Constant({8}))); }},
      {"columns",
       [&](Net* n, int x) {
         to_conv(n, n->Mul(n->Constant({6, 1}), x));
       }},
      {"pixels",
       [&](Net* n, int x) {
         to_conv(n, n->Mul(x, n->Constant({4, 6, 8})));
       }},
      {"image",
       [&](Net* n, int x) {
         to_conv(n, n->Add(x, n->Constant({2, 4, 6, 8})));
       }},
      {"rows",
       [&](Net* n, int x) {
         to_conv(n, n->Add(x, n->Constant({1, 4, 1, 1})));
       }},
      {"scalar", [&](Net* n, int x) { to_conv(n, n->Mul(x, n->Constant({1}))); }},
      {"pad",
       [&](Net* n, int x) {
         to_conv(n, n->Pad(x, {0, 0, 1, 2, 0, 3, 2, 0}));
       }},
      {"slice",
       [&](Net* n, int x) {
         to_conv(n, n->Slice(x, {0, 1, 2, 3}, {1, -1, 2, 4}));
       }},
      {"strided slice",
       [&](Net* n, int x) {
         to_conv(n, n->StridedSlice(x, {1, 1, 3, 2}, {2, 3, 5, 7}, {1, 2, 1, 3}, 9, 4));
       }},
      {"tile",
       [&](Net* n, int x) {
         to_conv(n, n->Tile(x, {1, 2, 1, 3}));
       }},
      {"mean",
       [&](Net* n, int x) {
         to_conv(n, n->Mul(x, n->Reduce(kTfLiteBuiltinMean, x, {1, -2}, true)));
       }},
      {"channel sum",
       [&](Net* n, int x) { to_conv(n, n->Mul(x, n->Reduce(kTfLiteBuiltinSum, x, {3}, true))); }},
      {"row maximum",
       [&](Net* n, int x) {
         to_conv(n, n->Mul(x, n->Reduce(kTfLiteBuiltinReduceMax, x, {1}, true)));
       }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    Net n;
    each.add(&n, n.Conv(n.Input({2, 4, 6, 3}), 8));
    Start(n.Finish());
    Check("TDT");
  }
  for (int axis = -4; axis < 4; ++axis) {
    SCOPED_TRACE(axis);
    Net n;
    const int x = n.Conv(n.Input({2, 4, 6, 3}), 8);
    const std::vector<int> parts = n.Split(x, axis, 2);
    n.Output(n.Conv(n.Concatenate({parts[1], n.Relu(parts[0]), parts[1]}, axis), 2));
    Start(n.Finish());
    Check("TDT");
  }
}

// Adds a random node that reads images of the list, which have 1 to 8 in each dimension.
void AddRandomNode(std::mt19937* random, Net* n, std::vector<int>* images) {
  const auto pick = [&](int count) {
    return std::uniform_int_distribution<int>(0, count - 1)(*random);
  };
  const int x = (*images)[static_cast<size_t>(pick(static_cast<int>(images->size())))];
  const Dims d = n->dims(x);
  const auto same = [&] {
    std::vector<int> found;
    for (const int image : *images) {
      if (n->dims(image) == d) found.push_back(image);
    }
    return found[static_cast<size_t>(pick(static_cast<int>(found.size())))];
  };
  const int axis = pick(4), dim = d[static_cast<size_t>(axis)];
  Dims zeros(4, 0), paddings(8, 0), channel = {1, 1, 1, d[3]};
  switch (pick(15)) {
    case 0:
    case 1:
      return images->push_back(n->Conv(x, 1 + pick(5), 1 + pick(3), 1 + pick(2)));
    case 2:
      return images->push_back(n->Depthwise(x, d[3] > 4 ? 1 : 1 + pick(2)));
    case 3:
      return images->push_back(n->Pool(x, kTfLiteBuiltinAveragePool2d, 1 + pick(2)));
    case 4:
      return images->push_back(n->Relu(x));
    case 5:
      return images->push_back(n->Add(x, same()));
    case 6:
      return images->push_back(n->Mul(x, n->Constant(pick(2) != 0 ? Dims{d[3]} : d)));
    case 7:
      if (dim > 4) return images->push_back(n->Abs(x));
      return images->push_back(n->Concatenate({x, same()}, axis - 4 * pick(2)));
    case 8:
      if (dim > 6) return images->push_back(n->Softmax(x));
      paddings[static_cast<size_t>(2 * axis + pick(2))] = 1;
      return images->push_back(n->Pad(x, paddings));
    case 9: {
      Dims begin = zeros, size = d;
      begin[static_cast<size_t>(axis)] = pick(dim);
      size[static_cast<size_t>(axis)] = -1;
      return images->push_back(n->Slice(x, begin, size));
    }
    case 10:
      return images->push_back(n->StridedSlice(
          x, zeros, d, {1, 1 + pick(2), 1 + pick(2), 1 + pick(2)}, pick(16), pick(16)));
    case 11:
      return images->push_back(n->Add(x, n->Reduce(kTfLiteBuiltinMean, x, {axis, pick(4)}, true)));
    case 12:
      return images->push_back(n->Softmax(x));
    case 13:
      return images->push_back(n->Abs(x));
    default:
      return n->Output(n->Reduce(kTfLiteBuiltinSum, x, {axis, pick(4)}, false));
  }
}

std::vector<uint8_t> RandomModel(unsigned seed) {
  std::mt19937 random(seed);
  Net n(seed);
  std::vector<int> images = {n.Input({1, 5, 6, 3}), n.Input({2, 3, 4, 2})};
  for (int i = 0; i < 10; ++i) AddRandomNode(&random, &n, &images);
  for (size_t i = 0; i < 3; ++i) n.Output(images[images.size() - 1 - i]);
  return n.Finish();
}

TEST_F(Layout, random_graphs_have_the_results_of_the_cpu) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Start(RandomModel(seed));
    ASSERT_EQ(Apply(), kTfLiteOk) << t_->log();
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    CheckTranspositions();
    ExpectCpuResults();
    if (HasFailure()) return;
  }
  EXPECT_GT(partitions_, 150);
  EXPECT_GT(transpositions_, 300);
}

// Each of two delegates claims a random half of the nodes.
TEST_F(Layout, random_graphs_with_two_delegates) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Start(RandomModel(seed), seed % 2 == 0 ? kDeputyPolicyTfLite : kDeputyPolicyHot, seed % 3 == 0);
    std::mt19937 random(seed + 1000);
    std::string halves[2];
    int32_t count = 0;
    static_cast<void>(DeputyInterpreterGetExecutionPlan(t_->get(), 0, &count));
    for (int i = 0; i < count; ++i) {
      const auto* node = DeputyInterpreterGetNode(t_->get(), 0, i);
      if (node->registration.builtin_code == kTfLiteBuiltinAbs) continue;
      std::string& half = halves[random() % 2];
      half += (half.empty() ? "" : ",") + std::to_string(i);
    }
    for (const std::string& half : halves) {
      if (half.empty()) continue;
      ASSERT_EQ(Apply({{"claims", half}}), kTfLiteOk) << t_->log();
    }
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    CheckTranspositions();
    ExpectCpuResults();
    EXPECT_EQ(DeputyInterpreterGetFindingCount(t_->get()), 0u) << t_->log();
    if (HasFailure()) return;
  }
  EXPECT_GT(partitions_, 100);
}

// The other delegate claims all nodes; transpositions stay on the CPU.
TEST_F(Layout, random_graphs_with_another_delegate) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Start(RandomModel(seed), seed % 2 == 0 ? kDeputyPolicyTfLite : kDeputyPolicyHot);
    ASSERT_EQ(Apply(), kTfLiteOk) << t_->log();
    const Handle other = External("compiled");
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), other.get()), kTfLiteOk);
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    EXPECT_EQ(Plan().find('C'), std::string::npos);
    ExpectCpuResults();
    if (seed % 2 == 1) SetFault("invoke");
    ExpectCpuResults();
    ASSERT_EQ(DeputyInterpreterRemoveDelegates(t_->get()), kTfLiteOk);
    ExpectCpuResults();
    if (HasFailure()) return;
  }
}

// The delegate in the middle claims all nodes, but gets only ABS: transpositions stay on the CPU,
// so that the last delegate can use the results of the first one in NCHW.
TEST_F(Layout, another_delegate_between_two_in_nchw) {
  for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    for (const bool before : {false, true}) {
      SCOPED_TRACE(testing::Message() << policy << before);
      t_.reset();
      Net net;
      const int x = net.Input({1, 5, 6, 3});
      const int middle = before ? net.Abs(x) : net.Conv(x, 4);
      net.Output(before ? net.Conv(middle, 3) : net.Abs(middle));
      net.Output(net.Conv(middle, 2));
      net.Output(middle);
      model_ = net.Finish();
      const Handle first = External("nchw", {{"claims", before ? "1" : "0"}}),
                   ordinary = External("compiled"), last = External("nchw", {{"claims", "2"}});
      t_ = std::make_unique<TestInterpreter>(model_, [&](TfLiteInterpreterOptions* options) {
        DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
        DeputyPlacement placement{};
        placement.struct_size = sizeof placement;
        placement.selector = kDeputySelectIndex;
        placement.node_index = 2;
        placement.delegate = last.get();
        EXPECT_EQ(DeputyInterpreterOptionsAddPlacement(options, &placement), kTfLiteOk);
      });
      for (const Handle* delegate : {&first, &ordinary, &last}) {
        ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), delegate->get()), kTfLiteOk)
            << t_->log();
      }
      ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
      EXPECT_EQ(Plan(), before ? "DTDTDT" : "TDTDDT");
      CheckTranspositions();
      ExpectCpuResults();
      ASSERT_EQ(t_->Resize(0, {2, 4, 7, 3}), kTfLiteOk);
      ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
      ExpectCpuResults();
      ASSERT_EQ(DeputyInterpreterRemoveDelegates(t_->get()), kTfLiteOk);
      ExpectCpuResults();
      t_.reset();
    }
  }
}

// Tensors in NCHW have the quantisation of the model's, which TRANSPOSE checks.
TEST_F(Layout, quantised_images_keep_their_parameters) {
  ModelBuilder m;
  TensorExtras scale;
  scale.scale = {0.25f};
  scale.zero_point = {-3};
  const int x = m.AddTensor(kTfLiteInt8, {1, 4, 6, 3}, "x", scale);
  const int pooled = m.AddTensor(kTfLiteInt8, {1, 2, 3, 3}, "pooled", scale);
  const int joined = m.AddTensor(kTfLiteInt8, {1, 2, 3, 6}, "joined", scale);
  const int y = m.AddTensor(kTfLiteInt8, {1, 1, 3, 6}, "y", scale);
  m.AddOp(kTfLiteBuiltinMaxPool2d, {x}, {pooled},
          schema::CreatePool2DOptions(m.fbb(), schema::Padding::VALID, 2, 2, 2, 2));
  m.AddOp(kTfLiteBuiltinConcatenation, {pooled, pooled}, {joined},
          schema::CreateConcatenationOptions(m.fbb(), -1));
  const int begin = m.AddConstant<int>(kTfLiteInt32, {4}, {0, 1, 0, 0});
  const int size = m.AddConstant<int>(kTfLiteInt32, {4}, {1, 1, -1, 6});
  m.AddOp(kTfLiteBuiltinSlice, {joined, begin, size}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  Start(m.Finish());
  ASSERT_EQ(Apply({{"claims", "0,1,2"}}), kTfLiteOk) << t_->log();
  ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
  EXPECT_EQ(Plan(), "TDT");
  TestInterpreter cpu(model_);
  ASSERT_EQ(cpu.Allocate(), kTfLiteOk);
  std::vector<int8_t> values;
  for (int i = 0; i < 72; ++i) values.push_back(static_cast<int8_t>(i * 37));
  for (TestInterpreter* const t : {&cpu, t_.get()}) {
    t->Set(0, values);
    ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  }
  EXPECT_EQ(t_->Get<int8_t>(0), cpu.Get<int8_t>(0));
  EXPECT_EQ(Log(), "invoke 3; ");
  for (int i = 0; i < DeputyInterpreterGetTensorCount(t_->get(), 0); ++i) {
    const TfLiteTensor* const tensor = DeputyInterpreterGetTensor(t_->get(), 0, i);
    if (tensor->type != kTfLiteInt8) continue;
    EXPECT_EQ(tensor->params.scale, 0.25f) << i;
    EXPECT_EQ(tensor->params.zero_point, -3) << i;
  }
}

// ---- Undo ---------------------------------------------------------------------------------------

std::vector<uint8_t> Block() {
  Net n;
  const int x = n.Input({1, 5, 6, 3});
  const int a = n.Conv(x, 4);
  n.Output(n.Conv(n.Abs(n.Add(n.Relu(a), n.Depthwise(a))), 2));
  return n.Finish();
}

TEST_F(Layout, removal_restores_the_plan_and_the_tensors) {
  Start(Block());
  ASSERT_EQ(t_->Allocate(), kTfLiteOk);
  std::vector<Dims> shapes;
  const int count = 12;
  for (int i = 0; i < count; ++i) shapes.push_back(TestInterpreter::Shape(t_->Tensor(i)));
  for (int round = 0; round < 3; ++round) {
    Check("TDTCTDT");
    ASSERT_EQ(DeputyInterpreterRemoveDelegates(t_->get()), kTfLiteOk);
    EXPECT_EQ(Plan(), "CCCCCC");
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(TestInterpreter::Shape(t_->Tensor(i)), shapes[static_cast<size_t>(i)]) << i;
    }
    ExpectCpuResults();
  }
}

TEST_F(Layout, resized_inputs_are_computed_in_nchw_again) {
  for (const char* dynamic : {"false", "true"}) {
    SCOPED_TRACE(dynamic);
    Start(Block());
    Check("TDTCTDT", {{"dynamic", dynamic}});
    for (const Dims& dims : {Dims{2, 7, 4, 3}, Dims{1, 1, 9, 3}, Dims{1, 5, 6, 3}}) {
      ASSERT_EQ(t_->Resize(0, dims), kTfLiteOk);
      ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
      EXPECT_EQ(Plan(), "TDTCTDT");
      ExpectCpuResults();
    }
  }
}

// Without new shapes for the nodes after the SLICE, the convolution would compute 5 rows again.
TEST_F(Layout, a_slice_to_the_end_follows_a_resized_input) {
  for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    Net net;
    const int x = net.Input({1, 5, 6, 3});
    net.Output(net.Slice(x, {0, 1, 0, 0}, {-1, -1, -1, -1}));
    net.Output(net.Conv(x, 4));
    Start(net.Finish(), policy);
    Check("DTDT", {{"dynamic", "true"}});
    for (const int rows : {6, 4, 5}) {
      ASSERT_EQ(t_->Resize(0, {1, rows, 6, 3}), kTfLiteOk);
      ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
      const TfLiteTensor* const y = TfLiteInterpreterGetOutputTensor(t_->get(), 1);
      EXPECT_EQ(TestInterpreter::Shape(y), (Dims{1, rows, 6, 4}));
      ExpectCpuResults();
    }
    if (policy != kDeputyPolicyHot) continue;
    SetFault("prepare");
    ASSERT_EQ(t_->Resize(0, {1, 6, 6, 3}), kTfLiteOk);
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    ExpectCpuResults();
    SetFault("");
    ASSERT_EQ(t_->Resize(0, {1, 5, 6, 3}), kTfLiteOk);
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    ExpectCpuResults();
  }
}

// ---- Failures -----------------------------------------------------------------------------------

TEST_F(Layout, a_failing_invoke_is_computed_by_the_cpu_under_hot) {
  for (const bool validates : {false, true}) {
    Start(Block(), kDeputyPolicyHot, validates);
    Check("TDTCTDT");
    SetFault("invoke");
    ExpectCpuResults();
    EXPECT_THAT(t_->log(), HasSubstr("its 4 nodes were computed on the CPU"));
    SetFault("");
    Log();
    ExpectCpuResults();
    EXPECT_EQ(Log(), "invoke 4; invoke 1; ");
  }
}

TEST_F(Layout, a_failing_prepare_is_computed_by_the_cpu_under_hot) {
  Start(Block(), kDeputyPolicyHot);
  Check("TDTCTDT", {{"dynamic", "true"}});
  SetFault("prepare");
  ASSERT_EQ(t_->Resize(0, {2, 7, 4, 3}), kTfLiteOk);
  ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
  Log();
  ExpectCpuResults();
  EXPECT_EQ(Log(), "");
}

TEST_F(Layout, a_failing_application_leaves_the_graph_unchanged) {
  for (const auto policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    Start(Block(), policy);
    EXPECT_NE(Apply({{"fault", "prepare"}}), kTfLiteOk);
    EXPECT_EQ(Plan(), "CCCCCC");
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    ExpectCpuResults();
    Check("TDTCTDT");
  }
}

TEST_F(Layout, random_graphs_under_hot_are_computed_by_the_cpu) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Start(RandomModel(seed), kDeputyPolicyHot);
    ASSERT_EQ(Apply(), kTfLiteOk) << t_->log();
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    SetFault("invoke");
    ExpectCpuResults();
    SetFault(seed % 2 == 0 ? "invoke" : "");
    ASSERT_EQ(t_->Resize(0, {1, 7, 3, 3}), kTfLiteOk);
    // Constants and concatenations may not accept other shapes.
    if (t_->Allocate() == kTfLiteOk) ExpectCpuResults();
    if (HasFailure()) return;
  }
}

// The CPU transposes the delegate's inputs back, but not into the client's memory.
TEST_F(Layout, memory_of_the_client_is_not_written) {
  Net n;
  n.Output(n.Conv(n.Input({1, 5, 6, 3}), 4));
  Start(n.Finish(), kDeputyPolicyHot);
  ASSERT_EQ(Apply(), kTfLiteOk);
  const size_t bytes = 5 * 6 * 3 * sizeof(float);
  void* const memory = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const TfLiteCustomAllocation allocation = {memory, bytes};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t_->get(), 0, &allocation, 0), kTfLiteOk);
  ASSERT_EQ(t_->Allocate(), kTfLiteOk);
  SetFault("invoke");
  ASSERT_EQ(t_->Invoke(), kTfLiteOk);
  const std::vector<float> found = t_->Get<float>(0);
  TestInterpreter cpu(model_);
  ASSERT_EQ(cpu.Allocate(), kTfLiteOk);
  cpu.Set(0, std::vector<float>(5 * 6 * 3, 0));
  ASSERT_EQ(cpu.Invoke(), kTfLiteOk);
  EXPECT_EQ(found, cpu.Get<float>(0));
  t_.reset();
  munmap(memory, 4096);
}

// TILE computes its output's shape while the model runs. Under Hot, the replaced nodes compute the
// shapes that follow.
TEST_F(Layout, shapes_known_only_during_the_run) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "x");
  const int multiples = m.AddTensor(kTfLiteInt32, {4}, "multiples");
  const int tiled = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "tiled");
  const int pooled = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "pooled");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "y");
  m.AddOp(kTfLiteBuiltinTile, {x, multiples}, {tiled});
  m.AddOp(kTfLiteBuiltinMaxPool2d, {tiled}, {pooled},
          schema::CreatePool2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 2, 2));
  m.AddOp(kTfLiteBuiltinRelu, {pooled}, {y});
  m.SetInputs({x, multiples});
  m.SetOutputs({y});
  Start(m.Finish(), kDeputyPolicyHot);
  ASSERT_EQ(Apply({{"claims", "1,2"}, {"dynamic", "true"}}), kTfLiteOk) << t_->log();
  ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
  EXPECT_EQ(Plan(), "CTDT");
  TestInterpreter cpu(model_);
  ASSERT_EQ(cpu.Allocate(), kTfLiteOk);
  for (const std::vector<int32_t>& times : {std::vector<int32_t>{1, 2, 1, 3}, {2, 1, 3, 1}}) {
    for (TestInterpreter* const t : {&cpu, t_.get()}) {
      t->Set<float>(0, {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12});
      t->Set<int32_t>(1, times);
      ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    }
    EXPECT_EQ(t_->Get<float>(0), cpu.Get<float>(0));
    EXPECT_EQ(Log(), "invoke 2; ");
  }
}

// The shape of TILE is known only during the run; the convolution after it does not depend on it.
TEST_F(Layout, nodes_after_an_unknown_shape_follow_a_resized_input) {
  for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    for (const bool first : {false, true}) {
      SCOPED_TRACE(testing::Message() << policy << first);
      ModelBuilder m;
      const int x = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "x");
      const int multiples = m.AddTensor(kTfLiteInt32, {4}, "multiples");
      const int tiled = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "tiled");
      const int pooled = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "pooled");
      const int inner = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "inner");
      const int y = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "y");
      if (first) m.AddOp(kTfLiteBuiltinTile, {x, multiples}, {tiled});
      m.AddOp(kTfLiteBuiltinMaxPool2d, {first ? tiled : x}, {pooled},
              schema::CreatePool2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 2, 2));
      if (!first) m.AddOp(kTfLiteBuiltinTile, {x, multiples}, {tiled});
      m.AddOp(kTfLiteBuiltinMaxPool2d, {pooled}, {inner},
              schema::CreatePool2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 2, 2));
      m.AddOp(kTfLiteBuiltinRelu, {inner}, {y});
      m.SetInputs({x, multiples});
      m.SetOutputs({y, tiled});
      Start(m.Finish(), policy);
      ASSERT_EQ(Apply({{"claims", first ? "1,2,3" : "0,2,3"}, {"dynamic", "true"}}), kTfLiteOk);
      TestInterpreter cpu(model_);
      for (const int rows : {2, 5, 3, 2}) {
        for (const std::vector<int32_t>& times : {std::vector<int32_t>{1, 2, 1, 3}, {2, 1, 3, 1}}) {
          for (TestInterpreter* const t : {&cpu, t_.get()}) {
            ASSERT_EQ(t->Resize(0, {1, rows, 3, 2}), kTfLiteOk);
            ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
            std::vector<float> values(static_cast<size_t>(rows) * 6);
            for (size_t i = 0; i < values.size(); ++i) values[i] = (i % 2 == 0 ? 1 : -1) * i;
            t->Set(0, values);
            t->Set<int32_t>(1, times);
            ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
          }
          for (const int output : {0, 1}) {
            EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(t_->get(), output)),
                      TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(cpu.get(), output)));
            EXPECT_EQ(t_->Get<float>(output), cpu.Get<float>(output));
          }
        }
      }
    }
  }
}

// The delegate claims both TILEs, whose shapes are known only during the run.
TEST_F(Layout, nodes_with_unknown_shapes_stay_on_the_cpu) {
  for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    for (const bool allocates : {false, true}) {
      SCOPED_TRACE(testing::Message() << policy << allocates);
      ModelBuilder m;
      const int x = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "x");
      const int multiples = m.AddTensor(kTfLiteInt32, {4}, "multiples");
      int y = x;
      for (const int code : {kTfLiteBuiltinMaxPool2d, kTfLiteBuiltinTile, kTfLiteBuiltinTile}) {
        const int to = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "");
        if (code == kTfLiteBuiltinTile) {
          m.AddOp(kTfLiteBuiltinTile, {y, multiples}, {to});
        } else {
          m.AddOp(kTfLiteBuiltinMaxPool2d, {y}, {to},
                  schema::CreatePool2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 2, 2));
        }
        y = to;
      }
      m.SetInputs({x, multiples});
      m.SetOutputs({y});
      Start(m.Finish(), policy);
      if (allocates) {
        ASSERT_EQ(t_->Allocate(), kTfLiteOk);
      }
      ASSERT_EQ(Apply({{"dynamic", "true"}}), kTfLiteOk) << t_->log();
      ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
      EXPECT_EQ(Plan(), "TDTCC");
      for (const int columns : {1, 2}) {
        t_->Set<float>(0, {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12});
        t_->Set<int32_t>(1, {1, 1, columns, 1});
        ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
        const std::vector<float> row = {9, -2, 11, -4, 11, -6}, last = {9, -8, 11, -10, 11, -12};
        std::vector<float> expected;
        for (const std::vector<float>& each : {row, last}) {
          for (int i = 0; i < columns * columns; ++i) {
            expected.insert(expected.end(), each.begin(), each.end());
          }
        }
        EXPECT_EQ(t_->Get<float>(0), expected);
      }
    }
  }
}

TEST_F(Layout, wrong_results_are_found_by_verification) {
  t_.reset();
  model_ = Block();
  t_ = std::make_unique<TestInterpreter>(model_, [](TfLiteInterpreterOptions* options) {
    DeputyVerification verification{};
    verification.struct_size = sizeof verification;
    verification.mode = kDeputyVerifyAlways;
    DeputyInterpreterOptionsSetVerification(options, &verification);
  });
  Check("TDTCTDT");
  EXPECT_EQ(t_->log().find("is wrong"), std::string::npos) << t_->log();
  SetFault("wrong");
  Run(t_.get(), 1);
  EXPECT_THAT(t_->log(), HasSubstr("is wrong"));
}

// ---- Queries ------------------------------------------------------------------------------------

TEST_F(Layout, previews_name_the_nodes_and_tensors_of_the_model) {
  Net n;
  const int x = n.Input({1, 5, 6, 3});
  const int y = n.Relu(x);
  n.Output(y);
  const int z = n.Pool(y);
  n.Output(z);
  Start(n.Finish());
  Check("TDTT", {{"previews", "true"}});
  EXPECT_EQ(Log(), "preview 0 1 | 0 | 1 2 |; invoke 2; ");
}

TEST_F(Layout, an_image_that_cannot_be_converted_is_refused) {
  ModelBuilder m;
  TensorExtras variable;
  variable.is_variable = true;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "x", variable);
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 2}, "y");
  m.AddOp(kTfLiteBuiltinMaxPool2d, {x}, {y},
          schema::CreatePool2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 2, 2));
  m.SetInputs({});
  m.SetOutputs({y});
  Start(m.Finish());
  ASSERT_EQ(Apply(), kTfLiteOk) << t_->log();
  EXPECT_EQ(Plan(), "C");
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  ASSERT_EQ(DeputyInterpreterGetNodeSupport(t_->get(), 0, 0, 0, &support), kTfLiteOk);
  EXPECT_EQ(support.reason, kDeputyReasonOther);
  EXPECT_STREQ(support.text,
               "the runtime cannot convert the node to NCHW: an input is not a plain 4-D image");
}

TEST_F(Layout, transpositions_do_not_count_as_nodes_of_the_model) {
  Net n;
  n.Output(n.Conv(n.Input({1, 5, 6, 3}), 4));
  Start(n.Finish());
  ASSERT_EQ(Apply(), kTfLiteOk);
  int32_t delegated = 0, total = 0;
  EXPECT_EQ(DeputyInterpreterCheckDelegation(t_->get(), kDeputyRequireFull, &delegated, &total),
            kTfLiteOk);
  EXPECT_EQ(delegated, 1);
  EXPECT_EQ(total, 1);
  std::vector<int> layouts;
  for (int node = 0; node < DeputyInterpreterGetNodeCount(t_->get(), 0); ++node) {
    layouts.push_back(DeputyInterpreterGetNodeLayout(t_->get(), 0, node));
  }
  std::sort(layouts.begin(), layouts.end());
  EXPECT_EQ(layouts, (std::vector<int>{kDeputyNodeOfModel, kDeputyNodeToNchw, kDeputyNodeToNhwc,
                                       kDeputyNodeInNchw, kDeputyNodeAuxiliary,
                                       kDeputyNodeAuxiliary, kDeputyNodeAuxiliary}));
  EXPECT_EQ(DeputyInterpreterGetNodeLayout(t_->get(), 0, 7), -1);
  EXPECT_EQ(DeputyInterpreterGetNodeLayout(t_->get(), 1, 0), -1);
  EXPECT_EQ(DeputyInterpreterGetNodeLayout(nullptr, 0, 0), -1);
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t_->get()), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetNodeLayout(t_->get(), 0, 0), kDeputyNodeOfModel);
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t_->get(), 0), 1);
}

TEST_F(Layout, transpositions_do_not_break_the_promise_of_full_delegation) {
  Net n;
  n.Output(n.Conv(n.Input({1, 5, 6, 3}), 4));
  Start(n.Finish());
  Check("TDT", {{"full", "true"}});
}

TEST_F(Layout, other_flags_do_not_select_nchw) {
  Net n;
  n.Output(n.Conv(n.Relu(n.Conv(n.Input({1, 5, 6, 3}), 4)), 2));
  Start(n.Finish());
  delegates_.push_back(External("compiled_copies"));  // has kDeputyPluginCopiesConstants
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), delegates_.back().get()),
            kTfLiteOk);
  ASSERT_EQ(t_->Allocate(), kTfLiteOk);
  EXPECT_EQ(Plan(), "D");
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t_->get(), 0), 4);
  ExpectCpuResults();
}

TEST_F(Layout, layers_cannot_be_put_around_the_delegate) {
  EXPECT_THAT(CreationError(BuildPath("libdeputy_layers.so"),
                            {{"library", Library("nchw")}, {"layers", "deadline=60s"}}),
              HasSubstr("a delegate with images in NCHW cannot be used with layers"));
}

TEST_F(Layout, other_delegates_cannot_wrap_the_delegate) {
  Net n;
  n.Output(n.Relu(n.Conv(n.Input({1, 5, 6, 3}), 4)));
  Start(n.Finish());
  const Handle inner = External("nchw");
  TfLiteDelegate outer = {};
  outer.data_ = inner.get();
  outer.Prepare = [](TfLiteContext* context, TfLiteDelegate* self) {
    auto* const wrapped = static_cast<TfLiteDelegate*>(self->data_);
    return wrapped->Prepare(context, wrapped);
  };
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), &outer), kTfLiteDelegateError);
  EXPECT_THAT(t_->log(), HasSubstr("a delegate with images in NCHW cannot be wrapped by another "
                                   "delegate"));
  ASSERT_EQ(t_->Allocate(), kTfLiteOk);
  EXPECT_EQ(Plan(), "CC");
  ExpectCpuResults();
}

TEST_F(Layout, partitions_in_nchw_are_refused_in_another_process) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  Net n;
  n.Output(n.Relu(n.Conv(n.Input({1, 5, 6, 3}), 4)));
  Start(n.Finish());
  delegates_.emplace_back(
      DeputyIsolatedDelegateCreate(Library("nchw").c_str(), nullptr, nullptr, 0, nullptr),
      &DeputyPluginDeleteDelegate);
  ASSERT_NE(delegates_.back(), nullptr) << DeputyLastError();
  EXPECT_NE(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), delegates_.back().get()),
            kTfLiteOk);
  EXPECT_THAT(t_->log(), HasSubstr("a delegate with images in NCHW cannot run in a process of its "
                                   "own"));
  ASSERT_EQ(t_->Allocate(), kTfLiteOk);
  EXPECT_EQ(Plan(), "CC");
  ExpectCpuResults();
}

}  // namespace
}  // namespace deputy::layout_test
