// SPDX-License-Identifier: Apache-2.0
//
// Tests that the interpreters of one model share constants that are computed when memory is
// planned, and packed constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "kernels/cpu/cpu.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/programmed.h"

namespace deputy::shared_constants_test {
namespace {

using testing::Each;

const float* DataOf(const TfLiteInterpreter* interpreter, int tensor) {
  return static_cast<const float*>(
      TfLiteTensorData(TfLiteInterpreterGetTensor(interpreter, tensor)));
}

// Another interpreter of a model, which is deleted with this object.
class SecondInterpreter {
 public:
  explicit SecondInterpreter(const TfLiteModel* model)
      : interpreter_(TfLiteInterpreterCreate(model, nullptr)) {}
  ~SecondInterpreter() { TfLiteInterpreterDelete(interpreter_); }
  SecondInterpreter(const SecondInterpreter&) = delete;
  SecondInterpreter& operator=(const SecondInterpreter&) = delete;
  TfLiteInterpreter* get() const { return interpreter_; }

 private:
  TfLiteInterpreter* interpreter_;
};

// Adds the layer y = x w^T.
void AddLayer(ModelBuilder* m, int x, int weights, int y) {
  m->AddOp(kTfLiteBuiltinFullyConnected, {x, weights, -1}, {y},
           schema::CreateFullyConnectedOptions(m->fbb()));
}

// A constant that a node computes: a function that adds the node, and the value of each element.
struct Computed {
  const char* name;
  void (*add)(ModelBuilder* m, int weights);
  float value;
};

void AddHalf(ModelBuilder* m, int weights) {
  const int half =
      m->AddConstant<uint16_t>(kTfLiteFloat16, {8, 8}, std::vector<uint16_t>(64, 0x4000));
  m->AddOp(kTfLiteBuiltinDequantize, {half}, {weights}, 3);
}

void AddInt8(ModelBuilder* m, int weights) {
  TensorExtras extras;
  extras.scale = std::vector<float>(8, 0.5f);
  extras.zero_point = std::vector<int64_t>(8, 0);
  const int steps =
      m->AddConstant<int8_t>(kTfLiteInt8, {8, 8}, std::vector<int8_t>(64, 6), "steps", extras);
  m->AddOp(kTfLiteBuiltinDequantize, {steps}, {weights}, 5);
}

flatbuffers::Offset<schema::SparsityParameters> AllDense(ModelBuilder* m) {
  auto& fbb = m->fbb();
  const std::vector<int32_t> order = {0, 1};
  const std::vector<flatbuffers::Offset<schema::DimensionMetadata>> levels(
      2, schema::CreateDimensionMetadata(fbb, schema::DimensionType::DENSE, 8));
  return schema::CreateSparsityParametersDirect(fbb, &order, nullptr, &levels);
}

void AddSparse(ModelBuilder* m, int weights) {
  TensorExtras extras;
  extras.sparsity = AllDense(m);
  const int sparse =
      m->AddConstant<float>(kTfLiteFloat32, {8, 8}, std::vector<float>(64, 4), "sparse", extras);
  m->AddOp(kTfLiteBuiltinDensify, {sparse}, {weights});
}

constexpr Computed kComputed[] = {
    {"float16", &AddHalf, 2}, {"int8", &AddInt8, 3}, {"sparse", &AddSparse, 4}};

// Indices of the tensors of the model that LayerOf builds.
enum { kWeights, kX, kY };

std::vector<uint8_t> LayerOf(const Computed& computed) {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {8, 8}, "w");
  m.AddTensor(kTfLiteFloat32, {1, 8}, "x");
  m.AddTensor(kTfLiteFloat32, {1, 8}, "y");
  computed.add(&m, kWeights);
  AddLayer(&m, kX, kWeights, kY);
  m.SetInputs({kX});
  m.SetOutputs({kY});
  return m.Finish();
}

std::vector<float> Infer(TfLiteInterpreter* interpreter, size_t outputs = 8) {
  const std::vector<float> ones(8, 1.0f);
  std::vector<float> result(outputs);
  const size_t bytes = ones.size() * sizeof(float);
  EXPECT_EQ(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), ones.data(),
                                       bytes),
            kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
  EXPECT_EQ(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0),
                                     result.data(), outputs * sizeof(float)),
            kTfLiteOk);
  return result;
}

class SharedConstants : public testing::TestWithParam<Computed> {};

TEST_P(SharedConstants, are_stored_once_for_all_interpreters) {
  const Computed& computed = GetParam();
  TestInterpreter t(LayerOf(computed));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const DeputyMemoryMap map = MemoryMapOf(t.get());
  // Both the computed constant and its packed form are stored.
  EXPECT_GE(map.packed_bytes, 2 * 8 * 8 * sizeof(float));
  const std::vector<float> values(DataOf(t.get(), kWeights), DataOf(t.get(), kWeights) + 64);
  EXPECT_THAT(values, Each(computed.value));
  EXPECT_THAT(Infer(t.get()), Each(8 * computed.value));

  const SecondInterpreter second(t.model());
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(second.get()), kTfLiteOk);
  EXPECT_EQ(DataOf(second.get(), kWeights), DataOf(t.get(), kWeights));
  EXPECT_EQ(MemoryMapOf(second.get()).packed_bytes, map.packed_bytes);
  EXPECT_THAT(Infer(second.get()), Each(8 * computed.value));
  EXPECT_EQ(MemoryMapOf(second.get()).packed_bytes, map.packed_bytes);
}

TEST_P(SharedConstants, outlive_the_handle_of_the_model_and_other_interpreters) {
  const Computed& computed = GetParam();
  const std::vector<uint8_t> bytes = LayerOf(computed);
  TfLiteModel* const model = TfLiteModelCreate(bytes.data(), bytes.size());
  const SecondInterpreter last(model);
  {
    const SecondInterpreter first(model);
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(first.get()), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(last.get()), kTfLiteOk);
    TfLiteModelDelete(model);
  }
  EXPECT_THAT(Infer(last.get()), Each(8 * computed.value));
}

TEST_P(SharedConstants, are_released_with_the_last_interpreter) {
  const std::vector<uint8_t> bytes = LayerOf(GetParam());
  TfLiteModel* const model = TfLiteModelCreate(bytes.data(), bytes.size());
  for (int round = 0; round < 2; ++round) {
    const SecondInterpreter first(model);
    EXPECT_EQ(MemoryMapOf(first.get()).packed_bytes, 0u);
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(first.get()), kTfLiteOk);
    const SecondInterpreter second(model);
    EXPECT_GT(MemoryMapOf(second.get()).packed_bytes, 0u);
  }
  TfLiteModelDelete(model);
}

// A client may write to a constant; the change is visible to its own interpreter only.
TEST_P(SharedConstants, are_copied_before_a_client_writes) {
  const Computed& computed = GetParam();
  TestInterpreter t(LayerOf(computed));
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  const SecondInterpreter second(t.model());
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(second.get()), kTfLiteOk);
  const std::vector<float> other(64, 7.0f);
  ASSERT_EQ(TfLiteTensorCopyFromBuffer(t.Tensor(kWeights), other.data(), 64 * sizeof(float)),
            kTfLiteOk);
  EXPECT_EQ(*DataOf(t.get(), kWeights), 7.0f);
  EXPECT_EQ(*DataOf(second.get(), kWeights), computed.value);
  const TfLiteTensor* const from = t.Tensor(kWeights);
  TfLiteTensor* const to = TfLiteInterpreterGetTensor(second.get(), kWeights);
  const SecondInterpreter third(t.model());
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(third.get()), kTfLiteOk);
  ASSERT_EQ(TfLiteTensorCopy(from, to), kTfLiteOk);
  EXPECT_EQ(*DataOf(second.get(), kWeights), 7.0f);
  EXPECT_EQ(*DataOf(third.get(), kWeights), computed.value);
}

// Functions of common.h do not free the shared data of a tensor.
TEST_P(SharedConstants, are_not_freed_by_functions_on_tensors) {
  const Computed& computed = GetParam();
  TestInterpreter t(LayerOf(computed));
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  const SecondInterpreter second(t.model()), third(t.model());
  for (TfLiteInterpreter* each : {second.get(), third.get()}) {
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(each), kTfLiteOk);
  }
  TfLiteTensor* const grown = TfLiteInterpreterGetTensor(second.get(), kWeights);
  ASSERT_EQ(TfLiteTensorRealloc(512, grown), kTfLiteOk);
  EXPECT_EQ(static_cast<float*>(grown->data.data)[63], computed.value);
  TfLiteTensor clone = TfLiteTensorClone(*t.Tensor(kWeights));
  EXPECT_NE(clone.data.data, t.Tensor(kWeights)->data.data);
  TfLiteTensorFree(&clone);
  TfLiteTensorDataFree(TfLiteInterpreterGetTensor(third.get(), kWeights));
  EXPECT_EQ(DataOf(third.get(), kWeights), nullptr);
  EXPECT_THAT(Infer(t.get()), Each(8 * computed.value));
}

INSTANTIATE_TEST_SUITE_P(, SharedConstants, testing::ValuesIn(kComputed),
                         [](const auto& each) { return std::string(each.param.name); });

// Tensors with one buffer but different scales do not share a constant.
TEST(SharedConstant, depends_on_scales) {
  ModelBuilder m;
  const uint32_t buffer = m.AddBuffer(std::vector<uint8_t>(64, 6));
  const int x = m.AddTensor(kTfLiteFloat32, {1, 8}, "x");
  std::vector<int> wide, outputs;
  for (const float scale : {0.5f, 0.25f, 0.5f}) {
    TensorExtras extras;
    extras.scale = {scale};
    const int steps = m.AddTensorOfBuffer(kTfLiteInt8, {8, 8}, buffer, "steps", extras);
    wide.push_back(m.AddTensor(kTfLiteFloat32, {8, 8}, "wide"));
    outputs.push_back(m.AddTensor(kTfLiteFloat32, {1, 8}, "y"));
    m.AddOp(kTfLiteBuiltinDequantize, {steps}, {wide.back()}, 2);
    AddLayer(&m, x, wide.back(), outputs.back());
  }
  m.SetInputs({x});
  m.SetOutputs(outputs);
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, std::vector<float>(8, 1.0f));
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Get<float>(0), Each(24.0f));
  EXPECT_THAT(t.Get<float>(1), Each(12.0f));
  EXPECT_THAT(t.Get<float>(2), Each(24.0f));
  EXPECT_NE(DataOf(t.get(), wide[0]), DataOf(t.get(), wide[1]));
  EXPECT_EQ(DataOf(t.get(), wide[0]), DataOf(t.get(), wide[2]));
}

// Two sparse tensors store the values of one buffer at different positions: as inputs of DENSIFY
// and as weights.
TEST(SharedConstant, depends_on_sparsity) {
  ModelBuilder m;
  auto& fbb = m.fbb();
  const std::vector<float> values = {5, 7};
  std::vector<uint8_t> bytes(sizeof(float) * values.size());
  memcpy(bytes.data(), values.data(), bytes.size());
  const uint32_t buffer = m.AddBuffer(bytes);
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  std::vector<int> outputs;
  for (const std::vector<int32_t>& columns : {std::vector<int32_t>{0, 1}, {1, 0}}) {
    const std::vector<int32_t> segments = {0, 1, 2};
    const std::vector<flatbuffers::Offset<schema::DimensionMetadata>> levels = {
        schema::CreateDimensionMetadata(fbb, schema::DimensionType::DENSE, 2),
        schema::CreateDimensionMetadata(fbb, schema::DimensionType::SPARSE_CSR, 0,
                                        schema::SparseIndexVector::Int32Vector,
                                        schema::CreateInt32VectorDirect(fbb, &segments).Union(),
                                        schema::SparseIndexVector::Int32Vector,
                                        schema::CreateInt32VectorDirect(fbb, &columns).Union())};
    const std::vector<int32_t> order = {0, 1};
    TensorExtras extras;
    extras.sparsity = schema::CreateSparsityParametersDirect(fbb, &order, nullptr, &levels);
    const int sparse = m.AddTensorOfBuffer(kTfLiteFloat32, {2, 2}, buffer, "sparse", extras);
    const int dense = m.AddTensor(kTfLiteFloat32, {2, 2}, "dense");
    m.AddOp(kTfLiteBuiltinDensify, {sparse}, {dense});
    for (const int weights : {dense, sparse}) {
      outputs.push_back(m.AddTensor(kTfLiteFloat32, {1, 2}, "y"));
      AddLayer(&m, x, weights, outputs.back());
    }
  }
  m.SetInputs({x});
  m.SetOutputs(outputs);
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const size_t bytes_of_one = MemoryMapOf(t.get()).packed_bytes;
  const SecondInterpreter second(t.model());
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(second.get()), kTfLiteOk);
  EXPECT_EQ(MemoryMapOf(second.get()).packed_bytes, bytes_of_one);
  t.Set<float>(0, {1, 10});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  for (const int output : {0, 1}) {
    EXPECT_THAT(t.Get<float>(output), testing::ElementsAre(5, 70));
    EXPECT_THAT(t.Get<float>(output + 2), testing::ElementsAre(50, 7));
  }
}

// Kernel tables pack the same weights in different orders.
TEST(SharedConstant, is_packed_for_each_table_of_kernels) {
  const CpuKernels *const generic = FindCpu("generic"), *const avx2 = FindCpu("avx2");
  if (avx2 == nullptr) GTEST_SKIP() << "needs AVX2";
  OverrideCpu(generic);
  TestInterpreter t(LayerOf(kComputed[0]));
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  const size_t before = MemoryMapOf(t.get()).packed_bytes;
  OverrideCpu(avx2);
  const SecondInterpreter second(t.model());
  EXPECT_EQ(TfLiteInterpreterAllocateTensors(second.get()), kTfLiteOk);
  OverrideCpu(nullptr);
  EXPECT_GE(MemoryMapOf(second.get()).packed_bytes, before + 8 * 8 * sizeof(float));
  EXPECT_EQ(DataOf(second.get(), kWeights), DataOf(t.get(), kWeights));
  EXPECT_THAT(Infer(second.get()), Each(16.0f));
  EXPECT_THAT(Infer(t.get()), Each(16.0f));
}

// A delegate that claims the node computes the constant itself, into memory of its interpreter.
TEST(SharedConstant, is_not_written_by_a_delegate_that_claims_its_node) {
  TestInterpreter t(LayerOf(kComputed[0]));
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ProgrammedDelegate delegate(ClaimingBody({0}));
  delegate.invoke = [](TfLiteContext* context, TfLiteNode*) {
    float* const values = context->tensors[kWeights].data.f;
    for (int i = 0; i < 64; ++i) values[i] = 100;
    return kTfLiteOk;
  };
  {
    const SecondInterpreter both(t.model());
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(both.get()), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(
                  both.get(), reinterpret_cast<TfLiteOpaqueDelegate*>(&delegate.base)),
              kTfLiteOk);
    Infer(both.get());
    EXPECT_EQ(*DataOf(both.get(), kWeights), 100.0f);
  }
  EXPECT_EQ(*DataOf(t.get(), kWeights), 2.0f);
  EXPECT_THAT(Infer(t.get()), Each(16.0f));
}

// Shared constants stay usable while delegates are applied, undone by a resize, and redone.
TEST(SharedConstant, survives_delegates_of_other_nodes) {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {8, 8}, "w");
  m.AddTensor(kTfLiteFloat32, {1, 8}, "x");
  m.AddTensor(kTfLiteFloat32, {1, 8}, "y");
  m.AddTensor(kTfLiteFloat32, {1, 8}, "z");
  AddHalf(&m, kWeights);
  AddLayer(&m, kX, kWeights, kY);
  m.AddOp(kTfLiteBuiltinNeg, {kY}, {kY + 1}, schema::CreateNegOptions(m.fbb()));
  m.SetInputs({kX});
  m.SetOutputs({kY + 1});
  const std::vector<uint8_t> bytes = m.Finish();
  for (const bool allocate_first : {false, true}) {
    ProgrammedDelegate delegate(ClaimingBody({2}));
    delegate.invoke = [](TfLiteContext* context, TfLiteNode*) {
      TfLiteTensor& z = context->tensors[kY + 1];
      for (size_t i = 0; i < z.bytes / sizeof(float); ++i) {
        z.data.f[i] = 3 * context->tensors[kY].data.f[i];
      }
      return kTfLiteOk;
    };
    TestInterpreter t(bytes);
    const SecondInterpreter second(t.model());
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(second.get()), kTfLiteOk);
    if (allocate_first) {
      ASSERT_EQ(t.Allocate(), kTfLiteOk);
    }
    ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_THAT(Infer(t.get()), Each(48.0f));
    for (const int batch : {2, 1}) {
      ASSERT_EQ(t.Resize(0, {batch, 8}), kTfLiteOk);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      t.Set<float>(0, std::vector<float>(static_cast<size_t>(batch) * 8, 1.0f));
      ASSERT_EQ(t.Invoke(), kTfLiteOk);
      EXPECT_THAT(t.Get<float>(0), Each(48.0f));
      EXPECT_EQ(DataOf(t.get(), kWeights), DataOf(second.get(), kWeights));
    }
    EXPECT_THAT(Infer(second.get()), Each(-16.0f));
  }
}

}  // namespace
}  // namespace deputy::shared_constants_test
