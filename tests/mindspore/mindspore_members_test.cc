// SPDX-License-Identifier: Apache-2.0
//
// Tests the members of Model that MindSpore Lite 2.x has besides Build, Predict and Resize.
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mindspore/include/api/model_group.h"
#include "mindspore/include/api/serialization.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/mindspore/ms/ms_writer.h"

namespace deputy::mindspore_members_test {
namespace {

using mindspore::Graph;
using mindspore::GraphCell;
using mindspore::kMindIR;
using mindspore::Model;
using mindspore::Serialization;
using mindspore::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<float> kX = {1, 2, -3, 0.5F};

Status Build(Model* model, const std::vector<uint8_t>& bytes) {
  return model->Build(bytes.data(), bytes.size(), kMindIR, CpuContext());
}

TEST(MindSporeMembers, predict_without_arguments_uses_the_models_inputs) {
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(3)), mindspore::kSuccess);
  std::copy(kX.begin(), kX.end(), static_cast<float*>(model.GetInputs()[0].MutableData()));
  int calls = 0;
  const auto count = [&calls](const auto&, const auto&, const mindspore::MSCallBackParam&) {
    return ++calls > 0;
  };
  ASSERT_EQ(model.Predict(count, count), mindspore::kSuccess);
  EXPECT_EQ(calls, 6);
  MSTensor output = model.GetOutputs()[0];
  const auto* values = static_cast<const float*>(output.Data().get());
  EXPECT_EQ(std::vector<float>(values, values + 4), ChainResult(3, kX));
}

TEST(MindSporeMembers, keys_and_second_buffers_are_refused_in_words) {
  const std::vector<uint8_t> bytes = ChainModel(1);
  Model model;
  const mindspore::Key key("0123456789abcdef", 16);
  Status status =
      model.Build(bytes.data(), bytes.size(), kMindIR, CpuContext(), key, "AES-GCM", "");
  EXPECT_EQ(static_cast<int>(status), -7);
  EXPECT_THAT(status.GetErrDescription(), HasSubstr("decryption (AES-GCM) is not supported"));
  status = model.Build("model.ms", kMindIR, CpuContext(), key, mindspore::kDecModeAesGcm);
  EXPECT_EQ(static_cast<int>(status), -7);
  const std::vector<uint8_t> weights = {1};
  status = model.Build(bytes.data(), bytes.size(), weights.data(), weights.size(), kMindIR,
                       CpuContext());
  EXPECT_EQ(static_cast<int>(status), -7);
  EXPECT_THAT(status.GetErrDescription(), HasSubstr("second buffer"));
  // An empty key counts as no key, and an empty second buffer as no buffer.
  EXPECT_EQ(model.Build(bytes.data(), bytes.size(), kMindIR, CpuContext(), {}, "AES-GCM", ""),
            mindspore::kSuccess);
  Model other;
  EXPECT_EQ(other.Build(bytes.data(), bytes.size(), nullptr, 0, kMindIR, CpuContext()),
            mindspore::kSuccess);
}

TEST(MindSporeMembers, graphs_are_loaded_and_built) {
  const std::vector<uint8_t> bytes = ChainModel(2);
  const std::string path = testing::TempDir() + "/mindspore_members_test.tflite";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  Graph from_bytes, from_file;
  EXPECT_TRUE(from_bytes == nullptr);
  ASSERT_EQ(Serialization::Load(bytes.data(), bytes.size(), kMindIR, &from_bytes),
            mindspore::kSuccess);
  ASSERT_EQ(Serialization::Load(path, kMindIR, &from_file), mindspore::kSuccess);
  EXPECT_EQ(from_bytes.ModelType(), kMindIR);
  for (const Graph& graph : {from_bytes, from_file}) {
    Model model;
    ASSERT_EQ(model.Build(GraphCell(graph), CpuContext()), mindspore::kSuccess);
    EXPECT_EQ(Predict(&model, kX), ChainResult(2, kX));
  }
  Model model;
  EXPECT_EQ(static_cast<int>(model.Build(GraphCell(), CpuContext())), -2);
  EXPECT_EQ(static_cast<int>(model.Build(GraphCell(from_bytes), CpuContext(),
                                         std::make_shared<mindspore::TrainCfg>())),
            -7);
  std::vector<Graph> graphs;
  EXPECT_EQ(static_cast<int>(
                Serialization::Load(std::vector<std::string>{path, "/none"}, kMindIR, &graphs)),
            -10);
  EXPECT_THAT(graphs, IsEmpty());
  ASSERT_EQ(Serialization::Load(std::vector<std::string>{path, path}, kMindIR, &graphs),
            mindspore::kSuccess);
  EXPECT_EQ(graphs.size(), 2u);
  std::filesystem::remove(path);
}

TEST(MindSporeMembers, outputs_are_found_by_the_name_of_their_node) {
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2)), mindspore::kSuccess);
  EXPECT_THAT(model.GetOutputsByNodeName("MulFusion-op1"), ElementsAre(model.GetOutputs()[0]));
  EXPECT_THAT(model.GetOutputsByNodeName("AddFusion-op0"), IsEmpty());  // not an output
  EXPECT_THAT(model.GetOutputsByNodeName("none"), IsEmpty());

  ms::MsWriter writer;
  const uint32_t x = writer.Input({1, 4}), inner = writer.Tensor({1, 4});
  const uint32_t a = writer.Output({1, 4}), b = writer.Output({1, 4});
  writer.Node(ms::file::PrimitiveType_Abs, {x}, {inner});
  writer.Node(ms::file::PrimitiveType_Square, {inner}, {b});
  writer.Node(ms::file::PrimitiveType_Abs, {inner}, {a});
  Model from_ms;
  ASSERT_EQ(Build(&from_ms, writer.Finish()), mindspore::kSuccess);
  EXPECT_THAT(from_ms.GetOutputsByNodeName("n2"), ElementsAre(from_ms.GetOutputs()[0]));
  EXPECT_THAT(from_ms.GetOutputsByNodeName("n1"), ElementsAre(from_ms.GetOutputs()[1]));
  EXPECT_THAT(from_ms.GetOutputsByNodeName("n0"), IsEmpty());
}

TEST(MindSporeMembers, copies_refer_to_the_same_model_and_finalize_frees_it) {
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2)), mindspore::kSuccess);
  Model copy = model;
  EXPECT_TRUE(copy.GetInputs()[0] == model.GetInputs()[0]);
  ASSERT_EQ(model.Finalize(), mindspore::kSuccess);
  EXPECT_EQ(static_cast<int>(model.Predict()), -9);
  EXPECT_EQ(Predict(&copy, kX), ChainResult(2, kX));
  ASSERT_EQ(Build(&model, ChainModel(1)), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, kX), ChainResult(1, kX));
}

TEST(MindSporeMembers, training_and_changes_of_constants_are_refused_by_name) {
  Model model;
  std::map<std::string, unsigned int> textures;
  const std::pair<const char*, Status> rows[] = {
      {"SetTrainMode(true)", model.SetTrainMode(true)},
      {"ApplyGradients", model.ApplyGradients({})},
      {"UpdateFeatureMaps", model.UpdateFeatureMaps({})},
      {"SetOptimizerParams", model.SetOptimizerParams({})},
      {"SetupVirtualBatch", model.SetupVirtualBatch(2)},
      {"SetLearningRate", model.SetLearningRate(0.1F)},
      {"InitMetrics", model.InitMetrics({})},
      {"Train", model.Train(1, nullptr, {})},
      {"Evaluate", model.Evaluate(nullptr, {})},
      {"BuildTransferLearning", model.BuildTransferLearning({}, {}, nullptr)},
      {"UpdateWeights", model.UpdateWeights(std::vector<MSTensor>())},
      {"BindGLTexture2DMemory", model.BindGLTexture2DMemory({}, &textures)},
      {"Preprocess", model.Preprocess({}, nullptr)},
      {"PredictWithPreprocess", model.PredictWithPreprocess({}, nullptr)},
      {"ExportModel", Serialization::ExportModel(model, kMindIR, "model.ms")},
      {"SetParameters", Serialization::SetParameters({}, &model)},
      {"ExportWeightsCollaborateWithMicro",
       Serialization::ExportWeightsCollaborateWithMicro(model, kMindIR, "weights")},
  };
  for (const auto& [name, status] : rows) {
    EXPECT_EQ(static_cast<int>(status), -7) << name;
    EXPECT_THAT(status.GetErrDescription(), HasSubstr(name));
  }
  EXPECT_EQ(model.SetTrainMode(false), mindspore::kSuccess);
  EXPECT_FALSE(model.GetTrainMode());
  EXPECT_FALSE(model.HasPreprocess());
}

TEST(MindSporeMembers, queries_of_training_return_nothing_and_log_their_names) {
  std::string log;
  const auto append = [](void* text, DeputyMSLogLevel level, const char* message) {
    EXPECT_EQ(level, kDeputyMSLogError);
    *static_cast<std::string*>(text) += std::string(message) + "\n";
  };
  DeputyMSSetLogSink(append, &log);
  Model model;
  EXPECT_THAT(model.GetTrainableParams(), IsEmpty());
  EXPECT_THAT(model.GetFeatureMaps(), IsEmpty());
  EXPECT_THAT(model.GetGradients(), IsEmpty());
  EXPECT_THAT(model.GetOptimizerParams(), IsEmpty());
  EXPECT_EQ(model.GetLearningRate(), 0);
  EXPECT_THAT(model.GetMetrics(), IsEmpty());
  DeputyMSSetLogSink(nullptr, nullptr);
  EXPECT_EQ(log,
            "GetTrainableParams: training is not supported\n"
            "GetFeatureMaps: training is not supported\n"
            "GetGradients: training is not supported\n"
            "GetOptimizerParams: training is not supported\n"
            "GetLearningRate: training is not supported\n"
            "GetMetrics: training is not supported\n");
}

TEST(MindSporeMembers, a_step_without_training_is_an_inference) {
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2)), mindspore::kSuccess);
  std::copy(kX.begin(), kX.end(), static_cast<float*>(model.GetInputs()[0].MutableData()));
  int calls = 0;
  const auto count = [&calls](const auto&, const auto&, const mindspore::MSCallBackParam&) {
    return ++calls > 0;
  };
  ASSERT_EQ(model.RunStep(count, count), mindspore::kSuccess);
  EXPECT_EQ(calls, 4);
  const auto data = model.GetOutputs()[0].Data();
  const auto* values = static_cast<const float*>(data.get());
  EXPECT_EQ(std::vector<float>(values, values + 4), ChainResult(2, kX));
}

TEST(MindSporeMembers, impl_is_the_same_tensor) {
  const MSTensor none(nullptr);
  EXPECT_EQ(none.impl(), nullptr);
  EXPECT_EQ(MSTensor(none.impl()), nullptr);
  std::shared_ptr<MSTensor::Impl> impl;
  {
    const int value = 7;
    const MSTensor tensor("t", mindspore::DataType::kNumberTypeInt32, {1}, &value, sizeof value);
    impl = tensor.impl();
    ASSERT_NE(impl, nullptr);
    EXPECT_EQ(MSTensor(impl), tensor);
  }
  EXPECT_EQ(*static_cast<const int*>(MSTensor(impl).Data().get()), 7);
}

TEST(MindSporeMembers, groups_build_their_models_and_share_nothing) {
  const std::vector<uint8_t> bytes = ChainModel(1);
  mindspore::ModelGroup group;
  EXPECT_EQ(static_cast<int>(group.CalMaxSizeOfWorkspace(kMindIR, CpuContext())), -3);
  EXPECT_EQ(static_cast<int>(group.AddModel(std::vector<std::string>())), -3);
  ASSERT_EQ(group.AddModel({std::pair<const void*, size_t>(bytes.data(), bytes.size())}),
            mindspore::kSuccess);
  std::string log;
  DeputyMSSetLogSink([](void* text, DeputyMSLogLevel,
                        const char* line) { *static_cast<std::string*>(text) += line; },
                     &log);
  EXPECT_EQ(group.CalMaxSizeOfWorkspace(kMindIR, CpuContext()), mindspore::kSuccess);
  DeputyMSSetLogSink(nullptr, nullptr);
  EXPECT_THAT(log, HasSubstr("sharing a workspace has no effect"));
  ASSERT_EQ(group.AddModel({std::string("/none.ms"), std::string("/none.ms")}),
            mindspore::kSuccess);
  EXPECT_EQ(static_cast<int>(group.CalMaxSizeOfWorkspace(kMindIR, CpuContext())), -10);
  mindspore::ModelGroup weights(mindspore::ModelGroupFlag::kShareWeight);
  const Status status = weights.AddModel({std::string("a.ms"), std::string("b.ms")});
  EXPECT_EQ(static_cast<int>(status), -7);
  EXPECT_THAT(status.GetErrDescription(), HasSubstr("do not share constants"));
  EXPECT_EQ(static_cast<int>(weights.AddModel(std::vector<Model>(2))), -7);
}

TEST(MindSporeMembers, rates_of_schedulers_change_by_their_functions) {
  float rate = 8, factor = 0.5F;
  EXPECT_EQ(mindspore::MultiplicativeLRLambda(&rate, 0, &factor), mindspore::UPDATE_LR);
  EXPECT_EQ(rate, 4);
  struct mindspore::StepLRLambda step(2, 0.25F);
  EXPECT_EQ(mindspore::StepLRLambda(&rate, 0, &step), mindspore::DONT_UPDATE_LR);
  EXPECT_EQ(mindspore::StepLRLambda(&rate, 1, &step), mindspore::UPDATE_LR);
  EXPECT_EQ(rate, 1);
  EXPECT_EQ(mindspore::AccuracyMetrics().Eval(), 0);
}

}  // namespace
}  // namespace deputy::mindspore_members_test
