// SPDX-License-Identifier: Apache-2.0
//
// Tests batch segments: the choice of ranges against brute force, and that batches of random image
// models have the bits of their images alone, by micro-batch and node by node, for every number of
// threads, with delegates, profilers, client memory and other batches before and after.
#include "core/exec/batch_segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/telemetry_profiler.h"
#include "c_api/src/objects.h"
#include "core/base/processors.h"
#include "core/exec/interpreter.h"
#include "core/exec/subgraph.h"
#include "tests/core/fusion/run_support.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::batch_segments_test {
namespace {

using Shape = std::vector<int32_t>;

// ---- The choice of ranges -----------------------------------------------------------------------

constexpr size_t kKilobyte = 1 << 10;
constexpr size_t kCache = 1000 * kKilobyte;

BatchNode Node(size_t image_kilobytes, size_t constant_kilobytes, bool continues = false) {
  return {true, image_kilobytes * kKilobyte, constant_kilobytes * kKilobyte, continues};
}

TEST(BatchRanges, activations_are_looped_and_constants_are_not) {
  const std::vector<BatchNode> nodes = {Node(300, 1), Node(300, 2), Node(200, 50), Node(10, 900),
                                        Node(10, 900)};
  EXPECT_EQ(FindBatchRanges(nodes, 8, kCache), (std::vector<BatchRange>{{0, 2}}));
}

TEST(BatchRanges, constants_that_stay_in_the_cache_cost_nothing) {
  const std::vector<BatchNode> nodes = {Node(300, 10), Node(300, 10), Node(10, 240), Node(10, 240)};
  EXPECT_EQ(FindBatchRanges(nodes, 8, kCache), (std::vector<BatchRange>{{0, 3}}));
  EXPECT_EQ(FindBatchRanges(nodes, 8, kCache - kKilobyte), (std::vector<BatchRange>{{0, 2}}));
}

TEST(BatchRanges, images_that_fit_the_cache_stay_a_batch) {
  const std::vector<BatchNode> nodes = {Node(100, 1), Node(100, 1), Node(100, 1)};
  EXPECT_EQ(FindBatchRanges(nodes, 5, kCache), std::vector<BatchRange>());
  EXPECT_EQ(FindBatchRanges(nodes, 6, kCache), (std::vector<BatchRange>{{0, 2, 3}}));
}

TEST(BatchRanges, small_images_form_micro_batches) {
  const std::vector<BatchNode> nodes = {Node(50, 0), Node(20, 0), Node(50, 0)};
  EXPECT_EQ(FindBatchRanges(nodes, 10, kCache), std::vector<BatchRange>());
  EXPECT_EQ(FindBatchRanges(nodes, 20, kCache), (std::vector<BatchRange>{{0, 2, 10}}));
  EXPECT_EQ(FindBatchRanges(nodes, 64, kCache), (std::vector<BatchRange>{{0, 2, 8}}));
  // A prime number of images has micro-batches of one image, which are too small.
  EXPECT_EQ(FindBatchRanges(nodes, 61, kCache), std::vector<BatchRange>());
}

TEST(BatchRanges, constants_are_read_once_per_micro_batch) {
  const std::vector<BatchNode> nodes = {Node(100, 0), Node(100, 700), Node(100, 0)};
  EXPECT_EQ(FindBatchRanges(nodes, 10, kCache), (std::vector<BatchRange>{{0, 2, 5}}));
  // Without micro-batches of several images the constants would be read for each image.
  EXPECT_EQ(FindBatchRanges(nodes, 7, kCache), std::vector<BatchRange>());
}

TEST(BatchRanges, other_nodes_and_groups_are_not_divided) {
  std::vector<BatchNode> nodes(7, Node(500, 1));
  nodes[3].by_image = false;
  EXPECT_EQ(FindBatchRanges(nodes, 8, kCache), (std::vector<BatchRange>{{0, 2}, {4, 6}}));
  nodes[4].continues = true;
  EXPECT_EQ(FindBatchRanges(nodes, 8, kCache), (std::vector<BatchRange>{{0, 2}, {5, 6}}));
}

// The largest number of images that divides the batch and of which each output fits half of the
// cache.
int MicroBatchOf(const std::vector<BatchNode>& nodes, int images) {
  int found = 1;
  for (int count = 2; count <= images; ++count) {
    const bool fits = std::all_of(nodes.begin(), nodes.end(), [&](const BatchNode& node) {
      return node.image_bytes * static_cast<size_t>(count) <= kCache / 2;
    });
    if (fits && images % count == 0) found = count;
  }
  return found;
}

// The gain of a range: outputs of all nodes but the last, less the constants per image.
double GainOf(const std::vector<BatchNode>& nodes, int first, int last, int images) {
  double gain = 0;
  size_t constants = 0;
  const int micro_batch = MicroBatchOf(nodes, images);
  for (const BatchNode& node : nodes) constants += node.constant_bytes;
  for (int n = first; n <= last; ++n) {
    const BatchNode& node = nodes[static_cast<size_t>(n)];
    const bool counts = node.image_bytes * static_cast<size_t>(micro_batch) >= 64 * kKilobyte &&
                        node.image_bytes > kCache / 2 / static_cast<size_t>(images);
    if (counts && n < last) gain += static_cast<double>(node.image_bytes);
    if (constants > kCache / 2) gain -= static_cast<double>(node.constant_bytes) / micro_batch;
  }
  return gain;
}

TEST(BatchRanges, the_range_has_the_largest_gain) {
  std::mt19937 random(3);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  int found = 0, with_several = 0;
  for (int run = 0; run < 2000; ++run) {
    std::vector<BatchNode> nodes;
    for (int n = pick(1, 12); n > 0; --n) {
      nodes.push_back(Node(static_cast<size_t>(pick(0, run % 2 == 0 ? 400 : 150)),
                           static_cast<size_t>(pick(0, 300)), !nodes.empty() && pick(0, 3) == 0));
    }
    const int images = pick(2, 16), count = static_cast<int>(nodes.size());
    double best = 0;
    for (int first = 0; first < count; ++first) {
      if (nodes[static_cast<size_t>(first)].continues) continue;
      for (int last = first + 1; last < count; ++last) {
        if (last + 1 < count && nodes[static_cast<size_t>(last) + 1].continues) continue;
        best = std::max(best, GainOf(nodes, first, last, images));
      }
    }
    const std::vector<BatchRange> ranges = FindBatchRanges(nodes, images, kCache);
    ASSERT_EQ(ranges.empty(), best <= 0) << run;
    if (ranges.empty()) continue;
    ++found;
    ASSERT_EQ(ranges.size(), 1u);
    EXPECT_NEAR(GainOf(nodes, ranges[0].first, ranges[0].last, images), best, 1e-6 * best) << run;
    EXPECT_EQ(ranges[0].images, MicroBatchOf(nodes, images)) << run;
    with_several += ranges[0].images > 1 ? 1 : 0;
  }
  EXPECT_GT(found, 500);
  EXPECT_GT(with_several, 50);
}

// ---- Models -------------------------------------------------------------------------------------

// RAII guard: a small second-level cache, so that small images form segments.
class SmallCache {
 public:
  explicit SmallCache(size_t kilobytes) { OverrideSecondLevelCache(kilobytes << 10); }
  ~SmallCache() { OverrideSecondLevelCache(0); }
  SmallCache(const SmallCache&) = delete;
  SmallCache& operator=(const SmallCache&) = delete;
};

constexpr int kHeight = 40, kWidth = 36;

// Writes image models: layers, residual sums, gates, concatenations, and a dense layer at the end.
class ModelWriterOfImages {
 public:
  explicit ModelWriterOfImages(uint32_t seed) : random_(seed) {}

  std::vector<uint8_t> Write(int layers) {
    shape_ = {1, kHeight, kWidth, 3};
    value_ = m_.AddTensor(kTfLiteFloat32, shape_, "x");
    m_.SetInputs({value_});
    AddConv(16);
    std::vector<int32_t> outputs;
    for (int n = 0; n < layers; ++n) {
      const int kind = Pick(0, 7);
      if (kind < 2) AddConv(Pick(1, 3) * 8);
      if (kind == 2) AddDepthwise();
      if (kind == 3) AddResidual();
      if (kind == 4) AddGate();
      if (kind == 5) AddConcatenation();
      if (kind == 6) AddUnary();
      if (kind == 7) AddAbs();
      if (Pick(0, 9) == 0) outputs.push_back(value_);
    }
    outputs.push_back(Flat());
    m_.SetOutputs(outputs);
    return m_.Finish();
  }

 private:
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  int Constant(const Shape& shape) {
    size_t count = 1;
    for (int extent : shape) count *= static_cast<size_t>(extent);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(Pick(-1000, 1000)) / 2000;
    return m_.AddConstant<float>(kTfLiteFloat32, shape, values);
  }
  int Tensor() { return m_.AddTensor(kTfLiteFloat32, shape_); }
  template <typename Options>
  void AddNode(TfLiteBuiltinOperator code, const std::vector<int32_t>& inputs, Options options) {
    const int out = Tensor();
    m_.AddOp(code, inputs, {out}, options);
    value_ = out;
  }

  void AddConv(int channels) {
    const int size = Pick(0, 1) == 0 ? 1 : 3;
    const int weights = Constant({channels, size, size, shape_[3]}), bias = Constant({channels});
    shape_[3] = channels;
    AddNode(kTfLiteBuiltinConv2d, {value_, weights, bias},
            schema::CreateConv2DOptions(m_.fbb(), schema::Padding::SAME, 1, 1,
                                        schema::ActivationFunctionType::RELU6));
  }
  void AddDepthwise() {
    const int weights = Constant({1, 3, 3, shape_[3]}), bias = Constant({shape_[3]});
    AddNode(kTfLiteBuiltinDepthwiseConv2d, {value_, weights, bias},
            schema::CreateDepthwiseConv2DOptions(m_.fbb(), schema::Padding::SAME, 1, 1, 1));
  }
  void AddResidual() {
    const int before = value_;
    AddConv(shape_[3]);
    AddNode(kTfLiteBuiltinAdd, {value_, before}, schema::CreateAddOptions(m_.fbb()));
  }
  // Multiplies the image by factors that are computed from its mean.
  void AddGate() {
    const int image = value_;
    const Shape shape = shape_;
    shape_ = {1, 1, 1, shape[3]};
    const int axes = m_.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2});
    AddNode(kTfLiteBuiltinMean, {value_, axes}, schema::CreateReducerOptions(m_.fbb(), true));
    AddConv(shape[3]);
    const int factors = Tensor();
    m_.AddOp(kTfLiteBuiltinLogistic, {value_}, {factors});
    shape_ = shape;
    AddNode(kTfLiteBuiltinMul, {image, factors}, schema::CreateMulOptions(m_.fbb()));
  }
  void AddConcatenation() {
    const int before = value_;
    const Shape shape = shape_;
    AddConv(8);
    const int channels = shape_[3] + shape[3];
    if (channels > 40) return;
    shape_[3] = channels;
    AddNode(kTfLiteBuiltinConcatenation, {value_, before},
            schema::CreateConcatenationOptions(m_.fbb(), Pick(0, 1) == 0 ? 3 : -1));
  }
  void AddUnary() {
    const int out = Tensor();
    m_.AddOp(Pick(0, 1) == 0 ? kTfLiteBuiltinTanh : kTfLiteBuiltinHardSwish, {value_}, {out});
    value_ = out;
  }
  // Adds an operator that ends a segment.
  void AddAbs() {
    const int out = Tensor();
    m_.AddOp(kTfLiteBuiltinAbs, {value_}, {out});
    value_ = out;
  }
  // Adds the mean of each channel, and a dense layer, which does not work by image.
  int Flat() {
    const int channels = shape_[3];
    shape_ = {1, channels};
    const int axes = m_.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2});
    AddNode(kTfLiteBuiltinMean, {value_, axes}, schema::CreateReducerOptions(m_.fbb(), false));
    const int weights = Constant({5, channels}), bias = Constant({5});
    shape_ = {1, 5};
    AddNode(kTfLiteBuiltinFullyConnected, {value_, weights, bias},
            schema::CreateFullyConnectedOptions(m_.fbb()));
    return value_;
  }

  ModelBuilder m_;
  std::mt19937 random_;
  Shape shape_;
  int value_ = -1;
};

constexpr size_t kImageValues = size_t{kHeight} * kWidth * 3;

std::vector<float> Images(int first, int count) {
  std::vector<float> values;
  for (int image = first; image < first + count; ++image) {
    std::mt19937 random(static_cast<uint32_t>(image) + 1);
    std::uniform_real_distribution<float> value(-1, 1);
    for (size_t i = 0; i < kImageValues; ++i) values.push_back(value(random));
  }
  return values;
}

using Outputs = std::vector<std::string>;

void PrepareBatch(TestInterpreter* t, int images) {
  ASSERT_EQ(t->Resize(0, {images, kHeight, kWidth, 3}), kTfLiteOk);
  ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
}

Outputs RunBatch(TestInterpreter* t, int images) {
  t->Set<float>(0, Images(0, images));
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return OutputBytes(t->get());
}

// Runs each image alone, and returns the outputs in the order of a batch.
Outputs RunAlone(const std::vector<uint8_t>& model, int images) {
  TestInterpreter t(model);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  Outputs outputs;
  for (int image = 0; image < images; ++image) {
    t.Set<float>(0, Images(image, 1));
    EXPECT_EQ(t.Invoke(), kTfLiteOk);
    const Outputs own = OutputBytes(t.get());
    outputs.resize(own.size());
    for (size_t i = 0; i < own.size(); ++i) outputs[i] += own[i];
  }
  return outputs;
}

std::span<const BatchSegment> SegmentsOf(const TestInterpreter& t) {
  return t.get()->impl->primary().execution_plan().segments();
}

TestInterpreter::Configure Threads(int threads) {
  return [=](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  };
}

class BatchSegments : public testing::Test {
 private:
  const ScopedFusion fusion_{true};
  const SmallCache cache_{256};
};

TEST_F(BatchSegments, a_batch_has_the_bits_of_its_images) {
  int with_segments = 0;
  for (uint32_t seed = 0; seed < RandomGraphCount(40); ++seed) {
    const std::vector<uint8_t> model = ModelWriterOfImages(seed).Write(6);
    const int images = 2 + static_cast<int>(seed % 4);
    const Outputs alone = RunAlone(model, images);
    for (int threads = 1; threads <= 4; ++threads) {
      TestInterpreter t(model, Threads(threads));
      PrepareBatch(&t, images);
      with_segments += SegmentsOf(t).empty() ? 0 : 1;
      EXPECT_EQ(RunBatch(&t, images), alone) << seed << " " << threads;
      EXPECT_EQ(RunBatch(&t, images), alone) << seed << " " << threads;
    }
  }
  EXPECT_GT(with_segments, 60);
}

TEST_F(BatchSegments, micro_batches_of_several_images_have_the_same_bits) {
  const SmallCache cache(1024);
  int with_several = 0;
  for (uint32_t seed = 0; seed < RandomGraphCount(40); ++seed) {
    const std::vector<uint8_t> model = ModelWriterOfImages(seed).Write(6);
    const int images = std::vector<int>{6, 8, 9, 12}[seed % 4];
    const Outputs alone = RunAlone(model, images);
    TestInterpreter t(model, Threads(1 + static_cast<int>(seed / 4 % 2)));
    PrepareBatch(&t, images);
    for (const BatchSegment& segment : SegmentsOf(t)) {
      with_several += segment.range().images > 1 ? 1 : 0;
      EXPECT_EQ(segment.range().images * segment.micro_batches(), images);
    }
    EXPECT_EQ(RunBatch(&t, images), alone) << seed;
    EXPECT_EQ(RunBatch(&t, images), alone) << seed;
  }
  EXPECT_GT(with_several, 10);
}

TEST_F(BatchSegments, node_by_node_has_the_same_bits) {
  static int events;
  for (uint32_t seed = 0; seed < RandomGraphCount(20); ++seed) {
    const std::vector<uint8_t> model = ModelWriterOfImages(seed).Write(6);
    TfLiteTelemetryProfilerStruct profiler = {};
    TestInterpreter t(model, [&](TfLiteInterpreterOptions* options) {
      TfLiteInterpreterOptionsSetTelemetryProfiler(options, &profiler);
    });
    // Micro-batches have one image each, or several.
    const SmallCache cache(seed % 2 == 0 ? 256 : 1024);
    const int images = seed % 2 == 0 ? 3 : 8;
    PrepareBatch(&t, images);
    const Outputs by_segment = RunBatch(&t, images);
    events = 0;
    profiler.ReportBeginOpInvokeEvent =
        +[](TfLiteTelemetryProfilerStruct*, const char*, int64_t, int64_t) {
          ++events;
          return uint32_t{0};
        };
    EXPECT_EQ(RunBatch(&t, images), by_segment) << seed;
    EXPECT_GT(events, 0);
    profiler.ReportBeginOpInvokeEvent = nullptr;
    EXPECT_EQ(RunBatch(&t, images), by_segment) << seed;
  }
}

TEST_F(BatchSegments, other_batches_before_and_after) {
  for (uint32_t seed = 0; seed < RandomGraphCount(10); ++seed) {
    const std::vector<uint8_t> model = ModelWriterOfImages(seed).Write(6);
    const Outputs alone = RunAlone(model, 4);
    for (const int plans : {1, 3}) {
      TestInterpreter t(model, [=](TfLiteInterpreterOptions* options) {
        DeputyInterpreterOptionsSetPreparedShapes(options, plans);
      });
      for (const int images : {4, 1, 3, 4, 1, 2, 4}) {
        PrepareBatch(&t, images);
        const Outputs outputs = RunBatch(&t, images);
        EXPECT_EQ(SegmentsOf(t).empty(), images == 1 || SegmentsOf(t).empty());
        for (size_t i = 0; i < outputs.size(); ++i) {
          const size_t bytes = alone[i].size() / 4 * static_cast<size_t>(images);
          EXPECT_EQ(outputs[i], alone[i].substr(0, bytes)) << seed << " " << images;
        }
      }
    }
  }
}

TEST_F(BatchSegments, delegates_between_the_nodes) {
  int claimed = 0;
  for (uint32_t seed = 0; seed < RandomGraphCount(20); ++seed) {
    const std::vector<uint8_t> model = ModelWriterOfImages(seed).Write(6);
    TestInterpreter plain(model);
    ASSERT_EQ(plain.Allocate(), kTfLiteOk);
    const Graph& graph = plain.get()->impl->primary().graph();
    int node = 0;
    while (node < graph.node_count() &&
           graph.registration(node)->builtin_code != kTfLiteBuiltinAdd) {
      ++node;
    }
    if (node == graph.node_count()) continue;
    Scripted delegate({node});
    TestInterpreter t(model);
    PrepareBatch(&t, 3);
    ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_TRUE(SegmentsOf(t).empty());
    const Outputs outputs = RunBatch(&t, 3);
    EXPECT_GT(NodeRunOf(t.get(), node).delegate_index, -1);
    EXPECT_EQ(outputs, RunAlone(model, 3)) << seed;
    ++claimed;
  }
  EXPECT_GT(claimed, 2);
}

// Clients place inputs and outputs, overlapping or not, and intermediate tensors.
TEST_F(BatchSegments, memory_of_the_client) {
  constexpr int kImages = 3;
  const std::vector<uint8_t> model = ModelWriterOfImages(1).Write(6);
  const Outputs alone = RunAlone(model, kImages);
  std::vector<char> block(64 << 20);
  char* const memory = block.data() + (64 - reinterpret_cast<uintptr_t>(block.data()) % 64) % 64;
  const int tensors = TestInterpreter(model).get()->impl->primary().graph().tensor_count();
  int moved = 0;
  for (int tensor = 0; tensor < tensors; ++tensor) {
    TestInterpreter t(model);
    PrepareBatch(&t, kImages);
    ASSERT_FALSE(SegmentsOf(t).empty());
    EXPECT_EQ(RunBatch(&t, kImages), alone);
    const TfLiteCustomAllocation allocation = {memory, 32 << 20};
    if (TfLiteInterpreterSetCustomAllocationForTensor(t.get(), tensor, &allocation, 0) !=
        kTfLiteOk) {
      continue;
    }
    ++moved;
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(RunBatch(&t, kImages), alone) << tensor;
    // The tensor has all images.
    const std::string seen(memory, TfLiteTensorByteSize(t.Tensor(tensor)));
    TestInterpreter single(model);
    ASSERT_EQ(single.Allocate(), kTfLiteOk);
    const TfLiteCustomAllocation other = {memory + (32 << 20), 16 << 20};
    ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(single.get(), tensor, &other, 0),
              kTfLiteOk);
    ASSERT_EQ(single.Allocate(), kTfLiteOk);
    std::string wanted;
    for (int image = 0; image < kImages; ++image) {
      single.Set<float>(0, Images(image, 1));
      ASSERT_EQ(single.Invoke(), kTfLiteOk);
      wanted.append(memory + (32 << 20), TfLiteTensorByteSize(single.Tensor(tensor)));
    }
    EXPECT_EQ(seen, wanted) << tensor;
  }
  EXPECT_GT(moved, 5);
}

// y = tanh(conv(x)), both in one block of the client: y begins at the second image of x.
TEST_F(BatchSegments, memory_of_the_client_that_overlaps) {
  ModelBuilder m;
  const Shape shape = {1, kHeight, kWidth, 16};
  const int x = m.AddTensor(kTfLiteFloat32, shape, "x");
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {16, 1, 1, 16},
                                           std::vector<float>(256, 0.03125f), "weights");
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {16}, std::vector<float>(16, 0.5f), "bias");
  std::vector<int> layers = {x};
  for (int n = 0; n < 3; ++n) {
    layers.push_back(m.AddTensor(kTfLiteFloat32, shape, "layer"));
    m.AddOp(kTfLiteBuiltinConv2d, {layers[static_cast<size_t>(n)], weights, bias}, {layers.back()},
            schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  }
  const int y = m.AddTensor(kTfLiteFloat32, shape, "y");
  m.AddOp(kTfLiteBuiltinTanh, {layers.back()}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> model = m.Finish();
  constexpr int kImages = 4;
  const size_t image_bytes = size_t{kHeight} * kWidth * 16 * sizeof(float);
  std::vector<float> values(kImages * image_bytes / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 101) / 50 - 1;
  Outputs outputs;
  for (const bool overlaps : {false, true}) {
    TestInterpreter t(model);
    ASSERT_EQ(t.Resize(0, {kImages, kHeight, kWidth, 16}), kTfLiteOk);
    std::vector<char> block(9 * image_bytes + 64);
    char* const memory = block.data() + (64 - reinterpret_cast<uintptr_t>(block.data()) % 64) % 64;
    const size_t begin = overlaps ? image_bytes : kImages * image_bytes;
    const TfLiteCustomAllocation in = {memory, kImages * image_bytes};
    const TfLiteCustomAllocation out = {memory + begin, kImages * image_bytes};
    ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), x, &in, 0), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), y, &out, 0), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ASSERT_FALSE(SegmentsOf(t).empty());
    t.Set<float>(0, values);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    outputs.push_back(OutputBytes(t.get())[0]);
  }
  EXPECT_EQ(outputs[0], outputs[1]);
}

TEST_F(BatchSegments, the_last_dense_layer_is_outside) {
  const std::vector<uint8_t> model = ModelWriterOfImages(1).Write(6);
  TestInterpreter t(model);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_TRUE(SegmentsOf(t).empty());
  PrepareBatch(&t, 4);
  ASSERT_EQ(SegmentsOf(t).size(), 1u);
  const int nodes = t.get()->impl->primary().graph().node_count();
  EXPECT_EQ(SegmentsOf(t)[0].range().first, 0);
  EXPECT_LT(SegmentsOf(t)[0].range().last, nodes - 1);
  // Clients see the whole batch.
  for (int tensor : SegmentsOf(t)[0].external()) {
    EXPECT_EQ(TestInterpreter::Shape(t.Tensor(tensor))[0], 4);
  }
}

TEST_F(BatchSegments, there_are_none_without_fusion) {
  const ScopedFusion off(false);
  const std::vector<uint8_t> model = ModelWriterOfImages(1).Write(6);
  TestInterpreter t(model);
  PrepareBatch(&t, 4);
  EXPECT_TRUE(SegmentsOf(t).empty());
}

// A constant that differs between the images, and a sum of a vector whose extent is that of the
// batch by chance.
TEST_F(BatchSegments, nodes_that_mix_images_are_outside) {
  constexpr int kImages = 4;
  const Shape shape = {kImages, kHeight, kWidth, kImages};
  for (const bool is_constant : {true, false}) {
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteFloat32, shape, "x");
    std::vector<int32_t> inputs = {x};
    int other = -1;
    if (is_constant) {
      other = m.AddConstant<float>(kTfLiteFloat32, {kImages, 1, 1, 1}, {1, 2, 3, 4});
    } else {
      other = m.AddTensor(kTfLiteFloat32, {kImages}, "v");
      inputs.push_back(other);
    }
    int value = x;
    for (int n = 0; n < 3; ++n) {
      const int y = m.AddTensor(kTfLiteFloat32, shape);
      m.AddOp(n == 1 ? kTfLiteBuiltinAdd : kTfLiteBuiltinTanh,
              n == 1 ? std::vector<int32_t>{value, other} : std::vector<int32_t>{value}, {y});
      value = y;
    }
    m.SetInputs(inputs);
    m.SetOutputs({value});
    const std::vector<uint8_t> model = m.Finish();
    Outputs outputs;
    for (const bool fuses : {true, false}) {
      const ScopedFusion fusion(fuses);
      TestInterpreter t(model);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      std::vector<float> values(size_t{kImages} * kHeight * kWidth * kImages);
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) / 7;
      t.Set<float>(0, values);
      if (!is_constant) t.Set<float>(1, {1, 2, 3, 4});
      ASSERT_EQ(t.Invoke(), kTfLiteOk);
      outputs.push_back(OutputBytes(t.get())[0]);
    }
    EXPECT_EQ(outputs[0], outputs[1]) << is_constant;
  }
}

}  // namespace
}  // namespace deputy::batch_segments_test
