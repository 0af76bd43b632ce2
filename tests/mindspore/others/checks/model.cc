// SPDX-License-Identifier: Apache-2.0
//
// Functions of examples and blocks of documents that load, resize and run a model.
#include <algorithm>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/allocator.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "src/common/file_utils.h"

namespace {

using mindspore::lite::ReadFile;

#include "example_cpu.inc"
#include "example_data.inc"
#include "example_inputs.inc"
#include "example_inputs_by_name.inc"
#include "example_outputs.inc"
#include "example_outputs_by_name.inc"
#include "example_outputs_by_node.inc"
#include "example_resize.inc"
#include "example_shared_pool.inc"
#include "mindir_resize.inc"

std::shared_ptr<mindspore::Model> BuildFrom(const std::string& model_path,
                                            const std::string& config_file) {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
#include "mindir_build.inc"
  return model;
}

mindspore::Status DocumentedResize(mindspore::Model* model) {
#include "infer_resize.inc"
}

// Returns what a function prints.
template <class Function>
std::string Printed(Function function) {
  testing::internal::CaptureStdout();
  function();
  return testing::internal::GetCapturedStdout();
}

TEST(ModelCheck, functions_of_the_example) {
  const auto model = BuildFrom("mobilenetv2.ms", "");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(GetInputsAndSetData(model.get()), mindspore::kSuccess);
  EXPECT_EQ(GetInputsByTensorNameAndSetData(model.get()), mindspore::kSuccess);
  {
#include "infer_predict.inc"
    EXPECT_EQ(predict_ret, mindspore::kSuccess);
  }
  const char* const size = "tensor size is:4004 tensor elements num is:1001\noutput data is:";
  using testing::internal::RE;
  EXPECT_EQ(Printed([&] { GetOutputsByNodeName(model.get()); }).rfind(size, 0), 0u);
  EXPECT_EQ(Printed([&] { GetOutputByTensorName(model.get()); }).rfind(size, 0), 0u);
  EXPECT_EQ(Printed([&] { GetOutputs(model.get()); }).rfind("tensor name is:Softmax-65 ", 0), 0u);
}

TEST(ModelCheck, resize) {
  const auto model = BuildFrom("mobilenetv2.ms", "");
  ASSERT_NE(model, nullptr);
  const std::vector<int64_t> small = {1, 128, 128, 3}, batch = {4, 128, 128, 3};
  EXPECT_EQ(ResizeInputsTensorShape(model.get()), mindspore::kSuccess);
  EXPECT_EQ(model->GetInputs()[0].Shape(), small);
  EXPECT_EQ(ResizeModel(model, 4), 0);
  EXPECT_EQ(model->GetInputs()[0].Shape(), batch);
  EXPECT_EQ(DocumentedResize(model.get()), mindspore::kSuccess);
  EXPECT_EQ(model->GetInputs()[0].Shape(), small);
}

TEST(ModelCheck, outputs_of_the_document) {
  const auto model = BuildFrom("mobilenetv2.ms", "");
  ASSERT_NE(model, nullptr);
  {
#include "infer_output_by_node.inc"
    EXPECT_EQ(out_tensor.Name(), "Softmax-65");
    EXPECT_EQ(out_tensor.ElementNum(), 1001);
  }
  {
#include "infer_output_by_name.inc"
    EXPECT_EQ(tensor_names, std::vector<std::string>{"Softmax-65"});
  }
}

TEST(ModelCheck, failures_are_reported) {
  EXPECT_EQ(BuildFrom("absent.ms", ""), nullptr);
  EXPECT_EQ(BuildFrom("mobilenetv2.ms", "absent.ini"), nullptr);
}

TEST(ModelCheck, models_with_one_allocator) {
  EXPECT_EQ(RunWithSharedMemoryPool("mobilenetv2.ms"), 0);
  EXPECT_EQ(RunWithSharedMemoryPool("absent.ms"), -1);
}

}  // namespace
