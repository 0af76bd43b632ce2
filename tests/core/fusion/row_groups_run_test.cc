// SPDX-License-Identifier: Apache-2.0
//
// Tests that nodes in row-wise fusion groups compute the same bits as single nodes: attention of
// random shapes, masks and orders of nodes, with TRANSPOSEs and intermediate outputs, run with and
// without DEPUTY_PLAN=off; and one attention compared with plain sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "c_api/include/deputy.h"
#include "c_api/include/telemetry_profiler.h"
#include "kernels/cpu/cpu.h"
#include "tests/core/fusion/run_support.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::row_groups_run_test {
namespace {

using Shape = std::vector<int32_t>;

class RowFusedGraphs : public testing::Test {
 private:
  const ScopedFusion guard_{true};
};

int Count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
}

// Writes random graphs that begin with scores = f(Q x K), where f is a chain of nodes, or with a
// normalisation and a layer. Most of them contain a further product, some another layer.
class GraphWriter {
 public:
  explicit GraphWriter(uint32_t seed) : random_(seed) {}

  std::vector<uint8_t> Write() {
    if (Pick(0, 3) > 0) {
      WriteScores();
    } else {
      shape_ = {Pick(1, 5), Pick(10, 40), Pick(3, 50)};
      value_ = Operand(shape_, false);
      Normalize();
      AddLayer();
    }
    for (int n = Pick(0, 5); n > 0; --n) AddFollower();
    switch (Pick(0, 4)) {
      case 0:
        break;
      case 1:
        AddLayer();
        break;
      default:
        AddProduct();
        if (shape_.size() > 2 && Maybe()) MoveRows();
    }
    if (Pick(0, 2) == 0) AddFollower();
    if (outputs_.empty() || outputs_.back() != value_) outputs_.push_back(value_);
    m_.SetInputs(inputs_);
    m_.SetOutputs(outputs_);
    return m_.Finish();
  }
  // Returns the indices of the TRANSPOSE nodes.
  const std::vector<int>& moves() const { return moves_; }
  // Returns the nodes that the scripted delegate can compute.
  const std::set<int>& sums() const { return sums_; }

 private:
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool Maybe() { return Pick(0, 1) == 0; }
  float Number() { return static_cast<float>(Pick(-200, 200)) / 100; }

  int Constant(const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(Count(shape)));
    for (float& value : values) value = Number();
    return m_.AddConstant<float>(kTfLiteFloat32, shape, values);
  }
  // Adds an operand: a constant, an input, or the output of another node.
  int Operand(const Shape& shape, bool may_be_constant) {
    if (may_be_constant && Pick(0, 3) == 0) return Constant(shape);
    if (shape.size() > 1 && Pick(0, 2) == 0) return MovedOperand(shape);
    int tensor = m_.AddTensor(kTfLiteFloat32, shape);
    inputs_.push_back(tensor);
    if (Maybe()) tensor = Map(kTfLiteBuiltinTanh, tensor, shape);
    return tensor;
  }
  // Adds an operand computed by TRANSPOSEs, sometimes with RESHAPEs before and after them.
  int MovedOperand(const Shape& shape) {
    Shape split = shape;
    if (shape.size() < 6 && shape[0] % 2 == 0 && Maybe()) {
      split[0] /= 2;
      split.insert(split.begin(), 2);
    }
    const std::vector<int> order = Order(split.size());
    Shape from(split.size());
    for (size_t i = 0; i < split.size(); ++i) from[static_cast<size_t>(order[i])] = split[i];
    int tensor = Pick(0, 3) == 0 ? MovedOperand(from) : Operand(from, false);
    if (Pick(0, 3) == 0) tensor = ReshapeTo(tensor, from);
    tensor = Transpose(tensor, &from, order);
    if (Pick(0, 7) == 0) outputs_.push_back(tensor);
    return split == shape ? tensor : ReshapeTo(tensor, shape);
  }
  std::vector<int> Order(size_t rank) {
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }
  int Transpose(int from, Shape* shape, const std::vector<int>& order) {
    Shape to;
    for (int axis : order) to.push_back((*shape)[static_cast<size_t>(axis)]);
    const int out = m_.AddTensor(kTfLiteFloat32, to);
    const int axes = m_.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(order.size())}, order);
    moves_.push_back(m_.AddOp(kTfLiteBuiltinTranspose, {from, axes}, {out}));
    *shape = to;
    return out;
  }
  int ReshapeTo(int from, const Shape& to) {
    const int wanted = m_.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(to.size())}, to);
    const int out = m_.AddTensor(kTfLiteFloat32, to);
    m_.AddOp(kTfLiteBuiltinReshape, {from, wanted}, {out});
    return out;
  }
  int Map(TfLiteBuiltinOperator code, int from, const Shape& shape) {
    const int to = m_.AddTensor(kTfLiteFloat32, shape);
    m_.AddOp(code, {from}, {to});
    return to;
  }

  void WriteScores() {
    for (int n = Pick(0, 2); n > 0; --n) shape_.push_back(Pick(1, 4));
    const int rows = Maybe() ? Pick(1, 40) : Pick(12, 100), columns = Pick(1, 90);
    const int depth = Pick(1, 40);
    Product({shape_, rows, depth, columns}, -1);
  }

  struct Extents {
    Shape batches;
    int rows, depth, columns;
  };
  // Adds a product. `left` is the left operand, or -1 for a new one.
  void Product(const Extents& of, int left) {
    const bool adj_x = left < 0 && Pick(0, 4) == 0, adj_y = Maybe();
    const auto shape_of = [&](int first, int second, bool swapped, bool may_broadcast) {
      Shape shape = of.batches;
      for (int& extent : shape) {
        if (may_broadcast && Pick(0, 4) == 0) extent = 1;
      }
      shape.push_back(swapped ? second : first);
      shape.push_back(swapped ? first : second);
      return shape;
    };
    // If both operands are new, the left one has all batches.
    if (left < 0) left = Operand(shape_of(of.rows, of.depth, adj_x, false), false);
    const int right = Operand(shape_of(of.depth, of.columns, adj_y, true), true);
    shape_ = of.batches;
    shape_.insert(shape_.end(), {of.rows, of.columns});
    value_ = m_.AddTensor(kTfLiteFloat32, shape_);
    m_.AddOp(kTfLiteBuiltinBatchMatmul, {left, right}, {value_},
             schema::CreateBatchMatMulOptions(m_.fbb(), adj_x, adj_y));
  }

  void AddProduct() {
    if (shape_.size() < 2) return;
    const Shape batches(shape_.begin(), shape_.end() - 2);
    Product({batches, shape_[shape_.size() - 2], shape_.back(), Pick(1, 40)}, value_);
  }

  void AddLayer() {
    const int units = Pick(3, 40), depth = shape_.back();
    const int weights = Constant({units, depth}), bias = Constant({units});
    shape_ = {Count(shape_) / depth, units};
    const int out = m_.AddTensor(kTfLiteFloat32, shape_);
    m_.AddOp(kTfLiteBuiltinFullyConnected, {value_, weights, bias}, {out},
             schema::CreateFullyConnectedOptions(m_.fbb(),
                                                 Maybe() ? schema::ActivationFunctionType::RELU6
                                                         : schema::ActivationFunctionType::NONE));
    value_ = out;
  }

  void AddFollower() {
    if (Pick(0, 9) == 0) outputs_.push_back(value_);
    switch (Pick(0, 14)) {
      case 14:
        return GateByProduct();
      case 12:
      case 13:
        return Chain();
      case 11:
        return Slice();
      case 9:
      case 10:
        return Move();
      case 8:
        return Normalize();
      case 0:
        return Softmax();
      case 1:
        return Reshape();
      case 2:
        value_ = Map(Maybe() ? kTfLiteBuiltinTanh : kTfLiteBuiltinLogistic, value_, shape_);
        return;
      case 3:
        return Gate();
      default:
        return Arithmetic();
    }
  }
  void Softmax() {
    const int out = m_.AddTensor(kTfLiteFloat32, shape_);
    m_.AddOp(kTfLiteBuiltinSoftmax, {value_}, {out},
             schema::CreateSoftmaxOptions(m_.fbb(), Maybe() ? 1.0f : 0.3f));
    value_ = out;
  }
  // Adds a RESHAPE that keeps the rows, or makes a single row of all elements.
  void Reshape() {
    const Shape to = Pick(0, 4) == 0 ? Shape{Count(shape_)}
                                     : Shape{Count(shape_) / shape_.back(), shape_.back()};
    value_ = ReshapeTo(value_, to);
    shape_ = to;
  }
  // Adds a TRANSPOSE that keeps the elements of a row together.
  void MoveRows() {
    if (Pick(0, 3) == 0) {
      Shape split = shape_;
      split.insert(split.begin(), 1);
      std::swap(split[0], split[1]);
      value_ = ReshapeTo(value_, split);
      shape_ = split;
    }
    std::vector<int> order = Order(shape_.size() - 1);
    order.push_back(static_cast<int>(order.size()));
    value_ = Transpose(value_, &shape_, order);
  }
  // Adds a TRANSPOSE, or a TRANSPOSE and its inverse with nodes in between.
  void Move() {
    if (shape_.size() < 2) return;
    const std::vector<int> order = Order(shape_.size());
    value_ = Transpose(value_, &shape_, order);
    if (Pick(0, 2) == 0) return;
    for (int n = Pick(0, 3); n > 0; --n) AddBetween();
    std::vector<int> back(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      back[static_cast<size_t>(order[i])] = static_cast<int>(i);
    }
    if (shape_.size() < 6 && Pick(0, 3) == 0) {
      Shape longer = shape_;
      longer.push_back(1);
      value_ = ReshapeTo(value_, longer);
      shape_ = longer;
      back.insert(back.begin() + Pick(0, static_cast<int>(back.size())),
                  static_cast<int>(back.size()));
    }
    value_ = Transpose(value_, &shape_, back);
  }
  // Adds an operation between a TRANSPOSE and its inverse; most kinds do not depend on the
  // elements' positions.
  void AddBetween() {
    switch (Pick(0, 4)) {
      case 0:
        value_ = Map(kTfLiteBuiltinLogistic, value_, shape_);
        return;
      case 1:
        return Gate();
      case 2:
        return Combine(kTfLiteBuiltinMul, Constant({}));
      case 3:
        return Slice();
      default:
        return Arithmetic();
    }
  }
  // Adds a slice of half of an axis, or both halves combined.
  void Slice() {
    const size_t axis = static_cast<size_t>(Pick(0, static_cast<int>(shape_.size()) - 1));
    if (shape_[axis] < 2) return;
    Shape half = shape_;
    half[axis] /= 2;
    const auto part = [&](int begin) {
      Shape first(shape_.size());
      first[axis] = begin;
      const int rank = static_cast<int>(shape_.size());
      const int out = m_.AddTensor(kTfLiteFloat32, half);
      m_.AddOp(kTfLiteBuiltinSlice,
               {value_, m_.AddConstant<int32_t>(kTfLiteInt32, {rank}, first),
                m_.AddConstant<int32_t>(kTfLiteInt32, {rank}, half)},
               {out});
      return out;
    };
    const int upper = Maybe() ? part(shape_[axis] - half[axis]) : -1;
    const int lower = part(Pick(0, 1));
    shape_ = half;
    value_ = lower;
    if (upper >= 0) Combine(kTfLiteBuiltinMul, upper, true);
  }
  // Adds (x - mean) / deviation of each row, as converters write it.
  void Normalize() {
    const bool keeps = Maybe();
    const int axis = m_.AddConstant<int32_t>(kTfLiteInt32, {1}, {-1});
    const Shape one = [this] {
      Shape shape = shape_;
      shape.back() = 1;
      return shape;
    }();
    const int x = value_, mean = Mean(x, axis, one, keeps);
    const int squares = m_.AddTensor(kTfLiteFloat32, shape_);
    m_.AddOp(kTfLiteBuiltinSquaredDifference, {x, mean}, {squares});
    const int variance = Mean(squares, axis, one, keeps);
    const int epsilon = m_.AddConstant<float>(kTfLiteFloat32, {}, {0.01f});
    const int sum = m_.AddTensor(kTfLiteFloat32, one),
              shifted = m_.AddTensor(kTfLiteFloat32, shape_);
    m_.AddOp(kTfLiteBuiltinAdd, {variance, epsilon}, {sum});
    const int factor = Map(kTfLiteBuiltinRsqrt, sum, one);
    m_.AddOp(kTfLiteBuiltinSub, {x, mean}, {shifted});
    value_ = m_.AddTensor(kTfLiteFloat32, shape_);
    m_.AddOp(kTfLiteBuiltinMul, {shifted, factor}, {value_});
  }
  // Adds the mean of each row, with a last dimension of 1: directly, or by a RESHAPE.
  int Mean(int from, int axis, const Shape& one, bool keeps) {
    const int out = m_.AddTensor(kTfLiteFloat32, one);
    const Shape flat(one.begin(), one.end() - 1);
    const int mean = keeps ? out : m_.AddTensor(kTfLiteFloat32, flat);
    m_.AddOp(kTfLiteBuiltinMean, {from, axis}, {mean},
             schema::CreateReducerOptions(m_.fbb(), keeps));
    if (keeps) return out;
    const int wanted = m_.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(one.size())}, one);
    m_.AddOp(kTfLiteBuiltinReshape, {mean, wanted}, {out});
    return out;
  }
  // Adds x * LOGISTIC(x), so that x has two consumers.
  void Gate() {
    const int gate = Map(kTfLiteBuiltinLogistic, value_, shape_);
    Combine(kTfLiteBuiltinMul, gate, true);
  }
  // Adds a product of the newest value and the result of a separate matrix product.
  void GateByProduct() {
    if (shape_.size() < 2) return;
    const Shape shape = shape_;
    const int value = value_;
    const Shape batches(shape_.begin(), shape_.end() - 2);
    Product({batches, shape_[shape_.size() - 2], Pick(1, 20), shape_.back()}, -1);
    if (shape_ != shape) return;
    const int gate = value_;
    value_ = value;
    Combine(kTfLiteBuiltinMul, gate, true);
  }
  // Adds a chain of element-wise operations with constants, inputs of one element, or the first
  // value of the chain. Every fourth operation is a bounded activation, which limits the magnitude.
  void Chain() {
    const int first = value_;
    for (int n = Pick(2, 20); n > 0; --n) {
      static constexpr TfLiteBuiltinOperator kCodes[] = {kTfLiteBuiltinAdd, kTfLiteBuiltinMul,
                                                         kTfLiteBuiltinSub};
      const TfLiteBuiltinOperator code = kCodes[Pick(0, 2)];
      if (n % 4 == 0) {
        value_ = Map(Maybe() ? kTfLiteBuiltinTanh : kTfLiteBuiltinLogistic, value_, shape_);
      } else if (Pick(0, 2) == 0) {
        Combine(code, first);
      } else {
        Combine(code, Pick(0, 3) == 0 ? Operand({1}, false) : Constant({}));
      }
    }
  }
  void Arithmetic() {
    static constexpr TfLiteBuiltinOperator kCodes[] = {kTfLiteBuiltinAdd, kTfLiteBuiltinMul,
                                                       kTfLiteBuiltinSub, kTfLiteBuiltinDiv};
    const TfLiteBuiltinOperator code = kCodes[Pick(0, 3)];
    Shape other = shape_;
    for (int& extent : other) {
      if (Pick(0, 2) == 0) extent = 1;
    }
    while (!other.empty() && Pick(0, 3) == 0) other.erase(other.begin());
    if (Pick(0, 5) == 0) return Combine(code, value_, true);
    Combine(code, Operand(other, true));
  }
  void Combine(TfLiteBuiltinOperator code, int other, bool of_same_shape = false) {
    const bool swapped = Maybe();
    const std::vector<int32_t> inputs = {swapped ? other : value_, swapped ? value_ : other};
    const int out = m_.AddTensor(kTfLiteFloat32, shape_);
    const int node = m_.AddOp(code, inputs, {out});
    if (of_same_shape && (code == kTfLiteBuiltinMul || code == kTfLiteBuiltinAdd)) {
      sums_.insert(node);
    }
    value_ = out;
  }

  std::mt19937 random_;
  ModelBuilder m_;
  std::vector<int32_t> inputs_, outputs_;
  std::vector<int> moves_;
  std::set<int> sums_;
  Shape shape_;
  int value_ = -1;
};

void FillInputs(TfLiteInterpreter* interpreter, uint32_t seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    TfLiteTensor* const input = TfLiteInterpreterGetInputTensor(interpreter, i);
    for (size_t at = 0; at < TfLiteTensorByteSize(input) / sizeof(float); ++at) {
      const int number = std::uniform_int_distribution<int>(-100, 100)(random);
      static_cast<float*>(TfLiteTensorData(input))[at] = static_cast<float>(number) / 60;
    }
  }
}

// Returns the outputs' bits, except those of NaN, whose sign depends on the order of operands.
std::vector<std::string> Outputs(TfLiteInterpreter* interpreter) {
  std::vector<std::string> outputs;
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    const TfLiteTensor* const output = TfLiteInterpreterGetOutputTensor(interpreter, i);
    std::vector<float> values = TestInterpreter::Values<float>(output);
    for (float& value : values) {
      if (std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();
    }
    outputs.emplace_back(reinterpret_cast<const char*>(values.data()),
                         values.size() * sizeof(float));
  }
  return outputs;
}

struct Found {
  std::vector<std::vector<std::string>> outputs;  // output bytes of each inference
  int followers = 0;
  int moves = 0;  // number of the given TRANSPOSEs that are in groups
  // Number of tensors in the client's memory, or of partitions that the delegate has run.
  int changes = 0;
};

Found RunGraph(const std::vector<uint8_t>& model, bool fused, int threads = 1,
               const std::vector<int>& moves = {}, const LateChanges& changes = {}) {
  const ScopedFusion guard(fused);
  Scripted delegate(changes.claims);
  struct alignas(64) Line {
    float values[16];
  };
  std::vector<Line> own(changes.custom < 0 ? 0 : 1 << 14);
  Found found;
  TestInterpreter t(model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << t.log();
    return found;
  }
  for (uint32_t inference = 0; inference < 2; ++inference) {
    if (inference == 1) {
      found.changes +=
          ApplyLateChanges(&t, changes, &delegate, own.data(), own.size() * sizeof(Line));
    }
    FillInputs(t.get(), inference);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    found.outputs.push_back(Outputs(t.get()));
  }
  found.followers = FollowersOf(t.get());
  found.changes += delegate->calls[kScriptedInvoke];
  for (int node : moves) found.moves += NodeRunOf(t.get(), node).group_head >= 0 ? 1 : 0;
  return found;
}

constexpr uint32_t kGraphs = 150;

TEST_F(RowFusedGraphs, graphs_have_the_bits_of_single_nodes) {
  for (const CpuKernels* kernels : CpuTables()) {
    const ScopedCpu cpu(kernels);
    int followers = 0, moves = 0;
    for (uint32_t seed = 0; seed < RandomGraphCount(kGraphs); ++seed) {
      GraphWriter writer(seed);
      const std::vector<uint8_t> model = writer.Write();
      const Found expected = RunGraph(model, false);
      EXPECT_EQ(expected.followers, 0);
      for (int threads : {1, 2, 3, 4}) {
        const Found found = RunGraph(model, true, threads, writer.moves());
        EXPECT_TRUE(found.outputs == expected.outputs)
            << kernels->name << ", seed " << seed << ", threads " << threads;
        followers += found.followers;
        moves += found.moves;
      }
    }
    std::printf("%s: %d followers, %d TRANSPOSEs\n", kernels->name, followers, moves);
    EXPECT_GE(followers, static_cast<int>(RandomGraphCount(kGraphs))) << kernels->name;
    EXPECT_GE(moves, static_cast<int>(RandomGraphCount(kGraphs))) << kernels->name;
  }
}

TEST_F(RowFusedGraphs, client_memory_and_delegates_may_be_added_later) {
  int moved = 0, computed = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    GraphWriter writer(seed);
    const std::vector<uint8_t> model = writer.Write();
    const Found expected = RunGraph(model, false);
    for (int tensor = static_cast<int>(seed % 4); tensor < 40; tensor += 4) {
      const Found found = RunGraph(model, true, 1, {}, {.custom = tensor});
      ASSERT_TRUE(found.outputs == expected.outputs) << "seed " << seed << ", tensor " << tensor;
      moved += found.changes;
    }
    // The delegate passes on infinities, which kernels do not, so both runs use the delegate.
    const LateChanges claims = {.claims = writer.sums()};
    const Found found = RunGraph(model, true, 1, {}, claims);
    ASSERT_TRUE(found.outputs == RunGraph(model, false, 1, {}, claims).outputs) << "seed " << seed;
    computed += found.changes;
  }
  EXPECT_GE(moved, 150);
  EXPECT_GE(computed, 20);
}

// Two layers with a multiplication between them.
std::vector<uint8_t> MakeLayers() {
  constexpr int kLines = 200, kIn = 24, kMiddle = 40, kOut = 19;
  ModelBuilder m;
  const auto constant = [&m](const Shape& shape, int count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = 0.01f * static_cast<float>(i * 37 % 101) - 0.5f;
    }
    return m.AddConstant<float>(kTfLiteFloat32, shape, values);
  };
  const auto add_layer = [&](int input, int columns, int depth) {
    const int weights = constant({columns, depth}, columns * depth);
    const int bias = constant({columns}, columns);
    const int out = m.AddTensor(kTfLiteFloat32, {kLines, columns});
    m.AddOp(kTfLiteBuiltinFullyConnected, {input, weights, bias}, {out},
            schema::CreateFullyConnectedOptions(m.fbb()));
    return out;
  };
  const int x = m.AddTensor(kTfLiteFloat32, {kLines, kIn});
  const int first = add_layer(x, kMiddle, kIn);
  const int scaled = m.AddTensor(kTfLiteFloat32, {kLines, kMiddle});
  m.AddOp(kTfLiteBuiltinMul, {first, constant({kMiddle}, kMiddle)}, {scaled},
          schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({add_layer(scaled, kOut, kMiddle)});
  return m.Finish();
}

// An interpreter keeps its table: weights packed for one table cannot be multiplied with another's
// kernels.
TEST_F(RowFusedGraphs, interpreters_keep_their_table) {
  const std::vector<uint8_t> model = MakeLayers();
  for (const CpuKernels* prepared : CpuTables()) {
    const ScopedCpu cpu(prepared);
    const Found expected = RunGraph(model, true);
    EXPECT_GE(expected.followers, 1) << prepared->name;
    for (const CpuKernels* other : CpuTables()) {
      const ScopedCpu again(prepared);
      TestInterpreter t(model);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      const ScopedCpu late(other);
      FillInputs(t.get(), 0);
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_TRUE(Outputs(t.get()) == expected.outputs.at(0))
          << "prepared with " << prepared->name << ", run with " << other->name;
    }
  }
}

// ---- One attention ----------------------------------------------------------------------------

constexpr int kBatches = 2, kHeads = 3, kRows = 37, kKeys = 41, kDepth = 19, kWidth = 11;
constexpr float kScale = 0.25f;

struct Attention {
  std::vector<uint8_t> model;
  int scores = 0, masked = 0, shares = 0, result = 0;  // indices of tensors
};

// An attention with the inputs Q, K, a mask per batch and key, and V; the RESHAPE that computes V
// follows the SOFTMAX in the plan. If `also_output`, the output of the SOFTMAX is also an output of
// the graph.
Attention MakeAttention(bool also_output = false) {
  ModelBuilder m;
  Attention a;
  const auto tensor = [&m](const Shape& shape) { return m.AddTensor(kTfLiteFloat32, shape); };
  const Shape scores = {kBatches, kHeads, kRows, kKeys};
  const int q = tensor({kBatches, kHeads, kRows, kDepth});
  const int k = tensor({kBatches, kHeads, kKeys, kDepth});
  const int mask = tensor({kBatches, 1, 1, kKeys});
  const int flat_v = tensor({kBatches * kHeads * kKeys, kWidth});
  const int scale = m.AddConstant<float>(kTfLiteFloat32, {}, {kScale});
  a.scores = tensor(scores);
  const int scaled = tensor(scores);
  a.masked = tensor(scores);
  a.shares = tensor(scores);
  const int v = tensor({kBatches, kHeads, kKeys, kWidth});
  a.result = tensor({kBatches, kHeads, kRows, kWidth});
  const Shape v_shape = {kBatches, kHeads, kKeys, kWidth};
  const int wanted = m.AddConstant<int32_t>(kTfLiteInt32, {4}, v_shape);
  m.AddOp(kTfLiteBuiltinBatchMatmul, {q, k}, {a.scores},
          schema::CreateBatchMatMulOptions(m.fbb(), false, true));
  m.AddOp(kTfLiteBuiltinMul, {a.scores, scale}, {scaled}, schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {mask, scaled}, {a.masked}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSoftmax, {a.masked}, {a.shares}, schema::CreateSoftmaxOptions(m.fbb(), 1));
  m.AddOp(kTfLiteBuiltinReshape, {flat_v, wanted}, {v});
  m.AddOp(kTfLiteBuiltinBatchMatmul, {a.shares, v}, {a.result},
          schema::CreateBatchMatMulOptions(m.fbb(), false, false));
  m.SetInputs({q, k, mask, flat_v});
  m.SetOutputs(also_output ? std::vector<int32_t>{a.result, a.shares}
                           : std::vector<int32_t>{a.result});
  a.model = m.Finish();
  return a;
}

std::vector<float> InputOf(TfLiteInterpreter* interpreter, int input) {
  return TestInterpreter::Values<float>(TfLiteInterpreterGetInputTensor(interpreter, input));
}

struct Expected {
  std::vector<double> shares, result;
};

// Computes the attention on the interpreter's inputs, with plain sums.
Expected PlainAttention(TfLiteInterpreter* interpreter) {
  const std::vector<float> q = InputOf(interpreter, 0), k = InputOf(interpreter, 1);
  const std::vector<float> mask = InputOf(interpreter, 2), v = InputOf(interpreter, 3);
  Expected expected;
  for (int row = 0; row < kBatches * kHeads * kRows; ++row) {
    const int head = row / kRows, batch = head / kHeads;
    std::vector<double> shares;
    double sum = 0;
    for (int key = 0; key < kKeys; ++key) {
      double score = 0;
      for (int d = 0; d < kDepth; ++d) {
        score += double{q[static_cast<size_t>(row * kDepth + d)]} *
                 double{k[static_cast<size_t>((head * kKeys + key) * kDepth + d)]};
      }
      shares.push_back(std::exp(score * double{kScale} +
                                double{mask[static_cast<size_t>(batch * kKeys + key)]}));
      sum += shares.back();
    }
    for (double& share : shares) share /= sum;
    for (int c = 0; c < kWidth; ++c) {
      double value = 0;
      for (int key = 0; key < kKeys; ++key) {
        value += shares[static_cast<size_t>(key)] *
                 double{v[static_cast<size_t>((head * kKeys + key) * kWidth + c)]};
      }
      expected.result.push_back(value);
    }
    expected.shares.insert(expected.shares.end(), shares.begin(), shares.end());
  }
  return expected;
}

void ExpectNear(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-5) << i;
}

TEST_F(RowFusedGraphs, attention_is_one_group_headed_by_its_last_product) {
  TestInterpreter t(MakeAttention().model);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int node = 0; node < 6; ++node) {
    const DeputyNodeRun run = NodeRunOf(t.get(), node);
    // Node 4, which computes V, is between the nodes of the group, but not in it.
    EXPECT_EQ(run.group_head, node == 4 ? -1 : 5) << node;
    EXPECT_EQ(run.group_size, node == 4 ? 0 : 5) << node;
  }
  FillInputs(t.get(), 3);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  ExpectNear(t.Get<float>(0), PlainAttention(t.get()).result);
  EXPECT_EQ(NodeRunOf(t.get(), 0).runs, 0);
}

// The internal tensors of a group are planned after all others, although they are the largest, so
// that the tensors that are written stay close together.
TEST_F(RowFusedGraphs, the_result_of_a_group_is_in_the_last_slot) {
  const Attention a = MakeAttention();
  TestInterpreter t(a.model);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const auto place = [&t](int tensor) {
    return static_cast<const char*>(TfLiteTensorData(TfLiteInterpreterGetTensor(t.get(), tensor)));
  };
  const char* last = place(a.result);
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(t.get()); ++i) {
    const TfLiteTensor* const input = TfLiteInterpreterGetInputTensor(t.get(), i);
    last = std::max(last, static_cast<const char*>(TfLiteTensorData(input)));
  }
  for (int tensor : {a.scores, a.masked, a.shares}) EXPECT_GT(place(tensor), last) << tensor;
}

TEST_F(RowFusedGraphs, an_output_in_the_middle_is_stored) {
  TestInterpreter t(MakeAttention(true).model);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(NodeRunOf(t.get(), 3).group_head, 0);
  EXPECT_EQ(NodeRunOf(t.get(), 5).group_head, -1);
  FillInputs(t.get(), 4);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const Expected expected = PlainAttention(t.get());
  ExpectNear(t.Get<float>(0), expected.result);
  ExpectNear(t.Get<float>(1), expected.shares);
}

// The client may read a tensor in its memory, so it must be written.
TEST_F(RowFusedGraphs, tensors_in_client_memory_are_stored) {
  const Attention a = MakeAttention();
  TestInterpreter t(a.model);
  alignas(64) static float memory[kBatches * kHeads * kRows * kKeys];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), a.shares, &allocation, 0),
            kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(FollowersOf(t.get()), 3);
  FillInputs(t.get(), 5);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const Expected expected = PlainAttention(t.get());
  ExpectNear({memory, memory + kBatches * kHeads * kRows * kKeys}, expected.shares);
  ExpectNear(t.Get<float>(0), expected.result);
}

// Tensors may also be moved to the client's memory after the allocation.
TEST_F(RowFusedGraphs, tensors_that_clients_provide_later_are_stored) {
  ModelBuilder m;
  const Shape shape = {kRows, kKeys};
  const int q = m.AddTensor(kTfLiteFloat32, {kRows, kDepth});
  const int k = m.AddTensor(kTfLiteFloat32, {kDepth, kKeys});
  const int scores = m.AddTensor(kTfLiteFloat32, shape), out = m.AddTensor(kTfLiteFloat32, shape);
  m.AddOp(kTfLiteBuiltinBatchMatmul, {q, k}, {scores},
          schema::CreateBatchMatMulOptions(m.fbb(), false, false));
  m.AddOp(kTfLiteBuiltinTanh, {scores}, {out});
  m.SetInputs({q, k});
  m.SetOutputs({out});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(FollowersOf(t.get()), 1);
  alignas(64) static float memory[kRows * kKeys];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), scores, &allocation, 0),
            kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  FillInputs(t.get(), 5);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const std::vector<float> values = t.Get<float>(0);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], std::tanh(memory[i]), 1e-5) << i;
  }
}

// The client has placed V, which a node between those of the group computes, in the memory of K:
// the nodes must run one by one, so that the product of K is complete by then.
TEST_F(RowFusedGraphs, memory_of_the_clients_is_checked_for_aliases) {
  const Attention a = MakeAttention();
  TestInterpreter plain(a.model), t(a.model);
  const int k = TfLiteInterpreterInputTensorIndices(t.get())[1];
  const int v = a.result - 1;
  alignas(64) static float memory[kBatches * kHeads * kKeys * kDepth];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  for (int tensor : {k, v}) {
    ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), tensor, &allocation, 0),
              kTfLiteOk);
  }
  ASSERT_EQ(plain.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(FollowersOf(t.get()), 4);
  FillInputs(plain.get(), 6);
  FillInputs(t.get(), 6);
  ASSERT_EQ(plain.Invoke(), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_TRUE(Outputs(t.get()) == Outputs(plain.get()));
}

// The input of a delayed product must not be overwritten by a layer that runs before the product
// and whose ADD would reuse the input's memory.
TEST_F(RowFusedGraphs, the_inputs_of_delayed_nodes_stay_allocated) {
  ModelBuilder m;
  const Shape shape = {1, 5, 24, 8}, scores = {1, 5, 24, 10};
  const int x = m.AddTensor(kTfLiteFloat32, shape), k = m.AddTensor(kTfLiteFloat32, {1, 5, 8, 10});
  const int q = m.AddTensor(kTfLiteFloat32, shape), s = m.AddTensor(kTfLiteFloat32, scores);
  const int shares = m.AddTensor(kTfLiteFloat32, scores), c = m.AddTensor(kTfLiteFloat32, shape);
  const int y = m.AddTensor(kTfLiteFloat32, {1, 5, 24, 8}), z = m.AddTensor(kTfLiteFloat32, shape);
  const int out = m.AddTensor(kTfLiteFloat32, shape);
  std::vector<float> weights(64);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 5) - 2;
  const int w = m.AddConstant<float>(kTfLiteFloat32, {8, 1, 1, 8}, weights);
  const int b = m.AddConstant<float>(kTfLiteFloat32, {8}, std::vector<float>(8, 0.5f));
  m.AddOp(kTfLiteBuiltinTanh, {x}, {q});
  m.AddOp(kTfLiteBuiltinBatchMatmul, {q, k}, {s},
          schema::CreateBatchMatMulOptions(m.fbb(), false, false));
  m.AddOp(kTfLiteBuiltinSoftmax, {s}, {shares}, schema::CreateSoftmaxOptions(m.fbb(), 1));
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {c},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::VALID, 1, 1));
  m.AddOp(kTfLiteBuiltinBatchMatmul, {shares, k}, {y},
          schema::CreateBatchMatMulOptions(m.fbb(), false, true));
  m.AddOp(kTfLiteBuiltinAdd, {q, c}, {z}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinTanh, {z}, {out});
  m.SetInputs({x, k});
  m.SetOutputs({out, y});
  const std::vector<uint8_t> model = m.Finish();
  const Found found = RunGraph(model, true);
  EXPECT_EQ(found.followers, 3);
  EXPECT_TRUE(found.outputs == RunGraph(model, false).outputs);
}

// A model with heads that are contiguous in each row, [rows][heads][depth], and 4 TRANSPOSEs, which
// fusion absorbs. If `also_output`, the last TRANSPOSE's input is also an output of the graph, so
// that this TRANSPOSE runs.
std::vector<uint8_t> HeadsModel(bool also_output) {
  ModelBuilder m;
  const auto transpose = [&](int from, const std::vector<int32_t>& order, const Shape& to) {
    const int axes = m.AddConstant<int32_t>(kTfLiteInt32, {3}, order);
    const int out = m.AddTensor(kTfLiteFloat32, to);
    m.AddOp(kTfLiteBuiltinTranspose, {from, axes}, {out});
    return out;
  };
  const auto product = [&](int left, int right, const Shape& to) {
    const int out = m.AddTensor(kTfLiteFloat32, to);
    m.AddOp(kTfLiteBuiltinBatchMatmul, {left, right}, {out},
            schema::CreateBatchMatMulOptions(m.fbb(), false, false));
    return out;
  };
  const int q = m.AddTensor(kTfLiteFloat32, {kRows, kHeads, kDepth});
  const int k = m.AddTensor(kTfLiteFloat32, {kKeys, kHeads, kDepth});
  const int v = m.AddTensor(kTfLiteFloat32, {kKeys, kHeads, kWidth});
  const int left = transpose(q, {1, 0, 2}, {kHeads, kRows, kDepth});
  const int right = transpose(k, {1, 2, 0}, {kHeads, kDepth, kKeys});
  const int scores = product(left, right, {kHeads, kRows, kKeys});
  const int values = transpose(v, {1, 0, 2}, {kHeads, kKeys, kWidth});
  const int result = product(scores, values, {kHeads, kRows, kWidth});
  const int out = transpose(result, {1, 0, 2}, {kRows, kHeads, kWidth});
  m.SetInputs({q, k, v});
  m.SetOutputs(also_output ? std::vector<int32_t>{out, result} : std::vector<int32_t>{out});
  return m.Finish();
}

TEST_F(RowFusedGraphs, heads_are_not_moved) {
  TestInterpreter t(HeadsModel(false));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int node = 0; node < 6; ++node) {
    EXPECT_EQ(NodeRunOf(t.get(), node).group_head, 4) << node;
    EXPECT_EQ(NodeRunOf(t.get(), node).group_size, 6) << node;
  }
  for (const bool also_output : {false, true}) {
    const std::vector<uint8_t> model = HeadsModel(also_output);
    const Found found = RunGraph(model, true), expected = RunGraph(model, false);
    EXPECT_EQ(found.outputs, expected.outputs);
    EXPECT_EQ(found.followers, also_output ? 4 : 5);
    EXPECT_EQ(expected.followers, 0);
  }
}

// GELU as converters write it, multiplied by a gate, is one group and computes the values of the
// formula.
TEST_F(RowFusedGraphs, a_gated_layer_is_one_group) {
  constexpr int kManyRows = 101;  // enough work for two threads
  ModelBuilder m;
  const Shape shape = {kManyRows, kKeys};
  const auto tensor = [&m](const Shape& of) { return m.AddTensor(kTfLiteFloat32, of); };
  const auto number = [&m](float value) {
    return m.AddConstant<float>(kTfLiteFloat32, {}, std::vector<float>{value});
  };
  int made = 0;
  const auto node = [&](TfLiteBuiltinOperator code, std::vector<int32_t> inputs) {
    made = tensor(shape);
    m.AddOp(code, inputs, {made});
    return made;
  };
  const auto product = [&](int left, int right, int out) {
    m.AddOp(kTfLiteBuiltinBatchMatmul, {left, right}, {out},
            schema::CreateBatchMatMulOptions(m.fbb(), false, false));
    return out;
  };
  const int in = tensor({kManyRows, kDepth}), up = tensor({kDepth, kKeys});
  const int gate = tensor({kDepth, kKeys}), down = tensor({kKeys, kWidth});
  const int x = product(in, up, tensor(shape));
  node(kTfLiteBuiltinMul, {x, x});
  node(kTfLiteBuiltinMul, {made, x});
  node(kTfLiteBuiltinMul, {made, number(0.044715f)});
  node(kTfLiteBuiltinAdd, {x, made});
  node(kTfLiteBuiltinMul, {made, number(0.7978845608f)});
  node(kTfLiteBuiltinTanh, {made});
  node(kTfLiteBuiltinAdd, {made, number(1.0f)});
  node(kTfLiteBuiltinMul, {made, number(0.5f)});
  const int gelu = node(kTfLiteBuiltinMul, {x, made});
  const int gates = product(in, gate, tensor(shape));
  node(kTfLiteBuiltinMul, {gelu, gates});
  const int out = product(made, down, tensor({kManyRows, kWidth}));
  m.SetInputs({in, up, gate, down});
  m.SetOutputs({out});
  const std::vector<uint8_t> model = m.Finish();
  for (int threads : {1, 2}) {
    const Found found = RunGraph(model, true, threads);
    EXPECT_EQ(found.followers, 12);
    EXPECT_TRUE(found.outputs == RunGraph(model, false).outputs);
  }
  TestInterpreter t(model);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  FillInputs(t.get(), 11);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const std::vector<float> values = InputOf(t.get(), 0), ups = InputOf(t.get(), 1);
  const std::vector<float> gate_weights = InputOf(t.get(), 2), downs = InputOf(t.get(), 3);
  std::vector<double> expected(size_t{kManyRows} * kWidth);
  for (size_t row = 0; row < kManyRows; ++row) {
    for (size_t key = 0; key < kKeys; ++key) {
      double hidden = 0, gated = 0;
      for (size_t d = 0; d < kDepth; ++d) {
        hidden += double{values[row * kDepth + d]} * double{ups[d * kKeys + key]};
        gated += double{values[row * kDepth + d]} * double{gate_weights[d * kKeys + key]};
      }
      const double inner = 0.7978845608 * (hidden + 0.044715 * hidden * hidden * hidden);
      const double product_of_both = 0.5 * hidden * (1 + std::tanh(inner)) * gated;
      for (size_t c = 0; c < kWidth; ++c) {
        expected[row * kWidth + c] += product_of_both * double{downs[key * kWidth + c]};
      }
    }
  }
  const std::vector<float> outputs = t.Get<float>(0);
  ASSERT_EQ(outputs.size(), expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSERT_NEAR(outputs[i], expected[i], 1e-4 * (1 + std::fabs(expected[i]))) << i;
  }
}

// While a profiler for single nodes is installed, each node runs separately and writes its output;
// without the profiler, no internal tensor is written.
TEST_F(RowFusedGraphs, a_temporary_profiler_receives_each_node) {
  static std::vector<int64_t> nodes;
  TfLiteTelemetryProfilerStruct profiler = {};
  const auto begin = +[](TfLiteTelemetryProfilerStruct*, const char*, int64_t node, int64_t) {
    nodes.push_back(node);
    return static_cast<uint32_t>(node);
  };
  const Attention a = MakeAttention();
  TestInterpreter t(a.model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetTelemetryProfiler(options, &profiler);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  for (const bool watched : {true, false, true}) {
    profiler.ReportBeginOpInvokeEvent = watched ? begin : nullptr;
    nodes.clear();
    FillInputs(t.get(), watched ? 7 : 8);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    ExpectNear(t.Get<float>(0), PlainAttention(t.get()).result);
    EXPECT_EQ(nodes, watched ? (std::vector<int64_t>{0, 1, 2, 3, 4, 5}) : std::vector<int64_t>{});
  }
}

TEST_F(RowFusedGraphs, another_shape_changes_the_groups) {
  const Attention a = MakeAttention();
  TestInterpreter t(a.model);
  for (int rows : {kRows, 1, 200}) {
    ASSERT_EQ(t.Resize(0, {kBatches, kHeads, rows, kDepth}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    // With one row the nodes are not fused, because the tiles would be mostly empty.
    EXPECT_EQ(FollowersOf(t.get()), rows == 1 ? 0 : 4) << rows;
    FillInputs(t.get(), 9);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  }
}

TEST_F(RowFusedGraphs, reference_arithmetic_disables_fusion) {
  TestInterpreter exact(MakeAttention().model, [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
  });
  ASSERT_EQ(exact.Allocate(), kTfLiteOk);
  EXPECT_EQ(FollowersOf(exact.get()), 0);
}

}  // namespace
}  // namespace deputy::row_groups_run_test
