// SPDX-License-Identifier: Apache-2.0
//
// Compares Deputy's partitions of real models with those of the real TensorFlow Lite
// (tests/data/partitions.jsonl, and shared/golden/partitions.jsonl if present), for delegates that
// claim given nodes. The tests compare the plan before and after, the nodes of each kernel and
// their tensors, with the order of all lists.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "tests/support/paths.h"

namespace deputy::partitions_golden_test {
namespace {

using nlohmann::json;

std::string SharedFolder() {
  const char* folder = std::getenv("DEPUTY_SHARED");
  return folder != nullptr ? folder : SourcePath("../shared");
}

// A delegate that claims a list of nodes in the given order, and records the parameters of each of
// its nodes.
struct MaskDelegate {
  TfLiteDelegate base{};
  std::vector<int> claimed;
  std::vector<int> plan_before, plan_after;
  std::vector<json> partitions;
};

std::vector<int> Values(const TfLiteIntArray* array) {
  return {array->data, array->data + array->size};
}

void* Init(TfLiteContext*, const char* buffer, size_t) {
  const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  auto* mask = static_cast<MaskDelegate*>(params->delegate->data_);
  mask->partitions.push_back({{"nodes", Values(params->nodes_to_replace)},
                              {"inputs", Values(params->input_tensors)},
                              {"outputs", Values(params->output_tensors)}});
  return mask;
}

TfLiteStatus Nothing(TfLiteContext*, TfLiteNode*) { return kTfLiteOk; }

TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  auto* mask = static_cast<MaskDelegate*>(delegate->data_);
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  mask->plan_before = Values(plan);
  TfLiteIntArray* nodes = TfLiteIntArrayCreate(static_cast<int>(mask->claimed.size()));
  std::copy(mask->claimed.begin(), mask->claimed.end(), nodes->data);
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.prepare = &Nothing;
  registration.invoke = &Nothing;
  registration.custom_name = "Mask";
  registration.version = 1;
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes, delegate);
  TfLiteIntArrayFree(nodes);
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  mask->plan_after = Values(plan);
  return status;
}

// Applies the delegate through the options or with ModifyGraphWithDelegate; returns false if the
// model has operators that this build does not support.
bool Apply(TfLiteModel* model, MaskDelegate* mask, bool by_options) {
  mask->base.data_ = mask;
  mask->base.Prepare = &Prepare;
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  if (by_options) TfLiteInterpreterOptionsAddDelegate(options, &mask->base);
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
  TfLiteInterpreterOptionsDelete(options);
  const bool created = interpreter != nullptr;
  if (created && !by_options) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter, &mask->base), kTfLiteOk);
  }
  TfLiteInterpreterDelete(interpreter);
  return created;
}

// Compares the partitions of every line of `cases`, each for a model below `folder`, with both
// methods of applying a delegate.
void CompareAll(std::ifstream cases, const std::string& folder, int* out_compared) {
  std::map<std::string, TfLiteModel*> models;
  for (std::string line; std::getline(cases, line);) {
    const json expected = json::parse(line);
    const std::string name = expected["model"];
    if (!models.contains(name)) {
      models[name] = TfLiteModelCreateFromFile((folder + "/" + name).c_str());
      ASSERT_NE(models[name], nullptr) << name;
    }
    for (bool by_options : {true, false}) {
      MaskDelegate mask;
      mask.claimed = expected["claimed"].get<std::vector<int>>();
      ASSERT_TRUE(Apply(models[name], &mask, by_options)) << name;
      std::vector<int> plan_before(expected["plan_before"].is_number()
                                       ? expected["plan_before"].get<size_t>()
                                       : expected["plan_before"].size());
      for (size_t i = 0; i < plan_before.size(); ++i) {
        plan_before[i] = expected["plan_before"].is_number()
                             ? static_cast<int>(i)
                             : expected["plan_before"][i].get<int>();
      }
      ASSERT_EQ(mask.plan_before, plan_before) << line.substr(0, 100);
      ASSERT_EQ(mask.partitions, expected["partitions"].get<std::vector<json>>())
          << line.substr(0, 100);
      ASSERT_EQ(mask.plan_after, expected["plan_after"].get<std::vector<int>>())
          << line.substr(0, 100);
      ++*out_compared;
    }
  }
  for (auto& [name, model] : models) TfLiteModelDelete(model);
}

// The expected partitions in this repository were written by tests/golden/partitions.py.
TEST(PartitionsGolden, of_shipped_models_equal_those_of_tflite) {
  int compared = 0;
  CompareAll(std::ifstream(TestDataPath("partitions.jsonl")), SourcePath(""), &compared);
  EXPECT_EQ(compared, 240);
}

TEST(PartitionsGolden, equal_those_of_tflite_in_every_list_and_order) {
  const std::string shared = SharedFolder();
  std::ifstream cases(shared + "/golden/partitions.jsonl");
  if (!cases) GTEST_SKIP() << shared << " is not here";
  int compared = 0;
  CompareAll(std::move(cases), shared + "/models", &compared);
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace deputy::partitions_golden_test
