// SPDX-License-Identifier: Apache-2.0
#include "tests/support/large_models.h"

#include "tests/support/model_builder.h"

namespace deputy {
namespace {

TfLiteStatus Nothing(TfLiteContext*, TfLiteNode*) { return kTfLiteOk; }

void* CountInit(TfLiteContext*, const char* buffer, size_t) {
  const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  auto* halving = static_cast<Halving*>(params->delegate->data_);
  ++halving->inits;
  return halving;
}

TfLiteStatus Invoke(TfLiteContext*, TfLiteNode* node) {
  return static_cast<Halving*>(node->user_data)->invoke_status;
}

TfLiteStatus ClaimEverySecond(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  const std::vector<int> nodes(plan->data, plan->data + plan->size);
  TfLiteIntArray* claimed = TfLiteIntArrayCreate(static_cast<int>((nodes.size() + 1) / 2));
  for (size_t i = 0; i < nodes.size(); ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    context->GetNodeAndRegistration(context, nodes[i], &node, &registration);
    if (i % 2 == 0) claimed->data[i / 2] = nodes[i];
  }
  TfLiteRegistration kernel{};
  kernel.custom_name = "Half";
  kernel.init = &CountInit;
  kernel.prepare = &Nothing;
  kernel.invoke = &Invoke;
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, claimed, delegate);
  TfLiteIntArrayFree(claimed);
  return status;
}

uint32_t IdleCode(ModelBuilder* m) { return m->AddOperatorCode(kTfLiteBuiltinCustom, "Idle", 1); }

}  // namespace

void AddIdleOperator(TfLiteInterpreterOptions* options) {
  TfLiteRegistration idle{};
  idle.prepare = idle.invoke = &Nothing;
  TfLiteInterpreterOptionsAddCustomOp(options, "Idle", &idle, 1, 1);
}

Halving::Halving() {
  delegate_.data_ = this;
  delegate_.Prepare = &ClaimEverySecond;
}

std::vector<uint8_t> IdleNodes(int count) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const std::vector<int32_t> inputs = {x}, outputs = {};
  const auto node = schema::CreateOperatorDirect(m.fbb(), IdleCode(&m), &inputs, &outputs);
  for (int i = 0; i < count; ++i) m.AddRawOperator(node);
  m.SetInputs({x});
  m.SetOutputs({x});
  return m.Finish();
}

std::vector<uint8_t> IdleChain(int count) {
  ModelBuilder m;
  const uint32_t idle = IdleCode(&m);
  m.SetInputs({m.AddTensor(kTfLiteFloat32, {1})});
  for (int i = 0; i < count; ++i) {
    const std::vector<int32_t> inputs = {i}, outputs = {m.AddTensor(kTfLiteFloat32, {1})};
    m.AddRawOperator(schema::CreateOperatorDirect(m.fbb(), idle, &inputs, &outputs));
  }
  m.SetOutputs({count});
  return m.Finish();
}

std::vector<uint8_t> NodesOverSharedInputs(int nodes, int inputs) {
  ModelBuilder m;
  const uint32_t idle = IdleCode(&m);
  std::vector<int32_t> shared;
  for (int i = 0; i < inputs; ++i) shared.push_back(m.AddTensor(kTfLiteFloat32, {1}));
  const auto list = m.fbb().CreateVector(shared);
  for (int i = 0; i < nodes; ++i) {
    const std::vector<int32_t> outputs = {m.AddTensor(kTfLiteFloat32, {1})};
    m.AddRawOperator(schema::CreateOperator(m.fbb(), idle, list, m.fbb().CreateVector(outputs)));
  }
  m.SetInputs(shared);
  m.SetOutputs({inputs});
  return m.Finish();
}

std::vector<uint8_t> ManyInputs(int count) {
  ModelBuilder m;
  std::vector<int32_t> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(m.AddTensor(kTfLiteFloat32, {1}));
  m.SetInputs(inputs);
  m.SetOutputs({0});
  return m.Finish();
}

std::vector<uint8_t> OneSubgraphOften(int count) {
  flatbuffers::FlatBufferBuilder fbb;
  const std::vector<int32_t> shape = {1}, x = {0}, y = {1};
  const std::vector<flatbuffers::Offset<schema::Tensor>> tensors = {
      schema::CreateTensorDirect(fbb, &shape), schema::CreateTensorDirect(fbb, &shape)};
  const std::vector<flatbuffers::Offset<schema::Operator>> nodes = {
      schema::CreateOperatorDirect(fbb, 0, &x, &y)};
  const auto subgraph = schema::CreateSubGraphDirect(fbb, &tensors, &x, &y, &nodes, "");
  const std::vector<flatbuffers::Offset<schema::SubGraph>> subgraphs(static_cast<size_t>(count),
                                                                     subgraph);
  const std::vector<flatbuffers::Offset<schema::OperatorCode>> codes = {
      schema::CreateOperatorCodeDirect(fbb, static_cast<int8_t>(schema::BuiltinOperator::RELU),
                                       nullptr, 1, schema::BuiltinOperator::RELU)};
  const std::vector<flatbuffers::Offset<schema::Buffer>> buffers = {schema::CreateBuffer(fbb)};
  schema::FinishModelBuffer(
      fbb, schema::CreateModelDirect(fbb, 3, &codes, &subgraphs, nullptr, &buffers));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

std::vector<uint8_t> SignaturesOfOneName(int count, int name_bytes) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  m.SetInputs({x});
  m.SetOutputs({x});
  const auto name = m.fbb().CreateString(std::string(static_cast<size_t>(name_bytes), 'n'));
  const auto maps = m.fbb().CreateVector(std::vector<flatbuffers::Offset<schema::TensorMap>>{
      schema::CreateTensorMap(m.fbb(), name, static_cast<uint32_t>(x))});
  for (int i = 0; i < count; ++i) {
    const auto key = m.fbb().CreateString("k" + std::to_string(i));
    m.AddRawSignature(schema::CreateSignatureDef(m.fbb(), maps, maps, key, 0));
  }
  return m.Finish();
}

}  // namespace deputy
