// SPDX-License-Identifier: Apache-2.0
//
// Model configurations of Triton's back end: completion, validation, parameters and files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "c_api/include/deputy.h"
#include "tests/bridges/triton/models.h"
#include "tests/doubles/triton/host.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy {
namespace triton_config_test {

using testing::HasSubstr;
using triton_double::Floats;
using triton_double::Host;
using triton_double::HostedModel;
using triton_double::Server;
using triton_double::ValuesOf;
using triton_models::AccumulatorModel;
using triton_models::AddModel;
using triton_models::Parameter;
using triton_models::TwoInputsModel;

class TritonConfig : public testing::Test {
 protected:
  TritonConfig() { Server::Get().Reset(); }

  // Returns the error with which a model is refused.
  std::string Refusal(const std::vector<uint8_t>& file, const std::string& config) {
    HostedModel model(&host_, file, config);
    return model.LoadWithInstance();
  }

  Host host_;
};

// ---- Versions -----------------------------------------------------------------------------------

TEST(TritonVersions, other_major_version_is_refused_with_both_versions) {
  Server::Get().Reset();
  const int alive = Server::Get().alive();
  Server::Get().server_major = 2;
  {
    const Host host;
    EXPECT_EQ(host.error(),
              "the back end 'deputy' needs version 1 of the API TRITONSERVER, the "
              "server has version 2.34");
  }
  Server::Get().Reset();
  Server::Get().backend_major = 3;
  {
    const Host host;
    EXPECT_EQ(host.error(),
              "the back end 'deputy' needs version 1 of the API TRITONBACKEND, the "
              "server has version 3.19");
  }
  EXPECT_EQ(Server::Get().alive(), alive);
}

TEST_F(TritonConfig, instances_are_for_the_cpu_by_default) {
  TRITONBACKEND_BackendAttribute attributes;
  EXPECT_EQ(triton_double::Take(triton_double::CallBackend("TRITONBACKEND_GetBackendAttribute",
                                                           host_.backend(), &attributes)),
            "");
  EXPECT_THAT(attributes.groups, testing::ElementsAre(std::pair<int, uint64_t>(1, 1)));
}

// ---- Completion ---------------------------------------------------------------------------------

TEST_F(TritonConfig, empty_configuration_is_completed_from_the_model) {
  HostedModel model(&host_, TwoInputsModel(), R"({"name":"m","backend":"deputy"})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_EQ(model.model().config,
            R"({"backend":"deputy","input":[{"data_type":"TYPE_FP32","dims":[1,2],"name":"a"},)"
            R"({"data_type":"TYPE_FP32","dims":[1,2],"name":"b"}],"name":"m",)"
            R"("output":[{"data_type":"TYPE_FP32","dims":[1,2],"name":"sum"},)"
            R"({"data_type":"TYPE_FP32","dims":[1,2],"name":"product"}]})");
}

TEST_F(TritonConfig, dimensions_exclude_the_batch_if_there_is_a_batch_size) {
  HostedModel model(&host_, AddModel({1, 3, 4}), R"({"max_batch_size":8})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_EQ(model.model().config,
            R"({"input":[{"data_type":"TYPE_FP32","dims":[3,4],"name":"x"}],"max_batch_size":8,)"
            R"("output":[{"data_type":"TYPE_FP32","dims":[3,4],"name":"y"}]})");
}

TEST_F(TritonConfig, open_dimensions_are_minus_one) {
  HostedModel model(&host_, AddModel({1, 4}, {-1, 4}));
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_THAT(model.model().config, HasSubstr(R"("dims":[-1,4],"name":"x")"));
  EXPECT_THAT(model.model().config, HasSubstr(R"("dims":[-1,4],"name":"y")"));
}

TEST_F(TritonConfig, scalars_have_one_dimension) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {}, "y");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y}, schema::CreateNegOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  HostedModel model(&host_, m.Finish());
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_THAT(model.model().config, HasSubstr(R"("dims":[1],"name":"x")"));
  const TRITONBACKEND_Request request = model.Infer({Floats("x", {1}, {2.5f})}, {"y"});
  ASSERT_EQ(request.error, "");
  EXPECT_EQ(request.results[0].shape, (std::vector<int64_t>{1}));
  EXPECT_EQ(ValuesOf<float>(request.results[0].bytes), (std::vector<float>{-2.5f}));
}

TEST_F(TritonConfig, tensors_without_names_of_their_own_are_numbered) {
  HostedModel unnamed(&host_, TwoInputsModel(""));
  ASSERT_EQ(unnamed.LoadWithInstance(), "");
  EXPECT_THAT(unnamed.model().config, HasSubstr(R"("name":"output_0")"));
  HostedModel same(&host_, TwoInputsModel("product"));
  ASSERT_EQ(same.LoadWithInstance(), "");
  EXPECT_THAT(same.model().config, HasSubstr(R"("name":"output_1")"));
  const TRITONBACKEND_Request request = same.Infer(
      {Floats("a", {1, 2}, {2, 3}), Floats("b", {1, 2}, {5, 7})}, {"output_1", "product"});
  ASSERT_EQ(request.error, "");
  EXPECT_EQ(ValuesOf<float>(request.results[0].bytes), (std::vector<float>{10, 21}));
  EXPECT_EQ(ValuesOf<float>(request.results[1].bytes), (std::vector<float>{7, 10}));
}

TEST_F(TritonConfig, configuration_with_tensors_is_not_changed) {
  const std::string config = R"({"input":[{"name":"x","data_type":"TYPE_FP32","dims":["1","4"]}],)"
                             R"("output":[{"name":"y","data_type":"TYPE_FP32","dims":[-1,4]}]})";
  HostedModel model(&host_, AddModel(), config);
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_EQ(model.model().config, config);
  EXPECT_EQ(model.model().set_configs, 0);
}

TEST_F(TritonConfig, configuration_is_not_completed_unless_the_server_allows_it) {
  HostedModel model(&host_, AddModel());
  model.model().completes = false;
  EXPECT_EQ(model.Load(), "the configuration has no input 'x', which the model needs");
  EXPECT_EQ(model.model().set_configs, 0);
}

// ---- Validation ---------------------------------------------------------------------------------

std::string WithInput(const std::string& name, const std::string& type, const std::string& dims) {
  return R"({"input":[{"name":")" + name + R"(","data_type":")" + type + R"(","dims":)" + dims +
         "}]}";
}

TEST_F(TritonConfig, tensors_that_differ_from_the_model_are_refused) {
  EXPECT_EQ(Refusal(AddModel(), WithInput("z", "TYPE_FP32", "[1,4]")),
            "the model has no input 'z'; it has 'x'");
  EXPECT_EQ(Refusal(AddModel(), WithInput("x", "TYPE_INT8", "[1,4]")),
            "input 'x': the configuration has data_type TYPE_INT8, the model TYPE_FP32");
  EXPECT_EQ(Refusal(AddModel(), WithInput("x", "TYPE_FP32", "[1,5]")),
            "input 'x': the configuration has the shape [1,5], the model [1,4]");
  EXPECT_EQ(Refusal(AddModel(), WithInput("x", "TYPE_FP32", "[4]")),
            "input 'x': the configuration has the shape [4], the model [1,4]");
  EXPECT_EQ(Refusal(TwoInputsModel(), WithInput("a", "TYPE_FP32", "[1,2]")),
            "the configuration has no input 'b', which the model needs");
  EXPECT_EQ(Refusal(TwoInputsModel(),
                    R"({"output":[{"name":"difference","data_type":"TYPE_FP32","dims":[1,2]}]})"),
            "the model has no output 'difference'; it has 'sum', 'product'");
}

TEST_F(TritonConfig, open_dimensions_of_the_configuration_and_reshapes_are_accepted) {
  EXPECT_EQ(Refusal(AddModel(), WithInput("x", "TYPE_FP32", "[-1,-1]")), "");
  EXPECT_EQ(Refusal(AddModel(), R"({"input":[{"name":"x","data_type":"TYPE_FP32","dims":[4],)"
                                R"("reshape":{"shape":[1,4]}}]})"),
            "");
}

TEST_F(TritonConfig, outputs_may_be_left_out) {
  EXPECT_EQ(Refusal(TwoInputsModel(),
                    R"({"output":[{"name":"product","data_type":"TYPE_FP32","dims":[1,2]}]})"),
            "");
}

TEST_F(TritonConfig, batch_size_needs_a_first_dimension_of_one) {
  EXPECT_EQ(Refusal(AddModel({2, 4}), R"({"max_batch_size":4})"),
            "input 'x': max_batch_size needs a first dimension of 1, found [2,4]; set "
            "max_batch_size to 0");
}

TEST_F(TritonConfig, configuration_that_is_no_object_is_refused) {
  for (const char* config : {"", "[]", "{", "17", "{\"input\":"}) {
    EXPECT_EQ(Refusal(AddModel(), config), "the model configuration is not a JSON object");
  }
  // Members of unexpected types count as absent.
  EXPECT_EQ(Refusal(AddModel(), R"({"input":5,"parameters":[],"max_batch_size":{}})"), "");
  EXPECT_EQ(Refusal(AddModel(), R"({"input":[7]})"), "the model has no input ''; it has 'x'");
}

TEST_F(TritonConfig, types_that_the_server_does_not_have_are_refused) {
  EXPECT_EQ(Refusal(triton_models::ReshapeModel(kTfLiteComplex64, {2}, 2), "{}"),
            "input 'x': Triton has no type for COMPLEX64");
}

// ---- Files --------------------------------------------------------------------------------------

TEST_F(TritonConfig, model_file_can_be_named) {
  HostedModel model(&host_, AddModel(), R"({"default_model_filename":"other.tflite"})",
                    "other.tflite");
  EXPECT_EQ(model.LoadWithInstance(), "");
}

TEST_F(TritonConfig, version_selects_the_file) {
  HostedModel model(&host_, AddModel());
  std::filesystem::rename(model.model().folder + "/1", model.model().folder + "/12");
  model.model().version = 12;
  EXPECT_EQ(model.LoadWithInstance(), "");
}

TEST_F(TritonConfig, missing_and_damaged_files_are_refused) {
  HostedModel missing(&host_, AddModel(), "{}", "model.onnx");
  EXPECT_THAT(missing.Load(), HasSubstr("/1/model.tflite: "));
  EXPECT_EQ(missing.code(), triton::kErrorInvalidArgument);
  const std::vector<uint8_t> whole = AddModel();
  const int alive = Server::Get().alive();
  for (size_t size = 0; size < whole.size(); size += 7) {
    HostedModel model(&host_, {whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)});
    EXPECT_THAT(model.Load(), HasSubstr("/1/model.tflite: ")) << size;
  }
  EXPECT_EQ(Server::Get().alive(), alive);
}

TEST_F(TritonConfig, repository_must_be_in_the_file_system) {
  HostedModel model(&host_, AddModel());
  model.model().artifact_type = 1;
  EXPECT_EQ(model.Load(), "the model repository is not in the file system");
}

TEST_F(TritonConfig, file_may_be_overwritten_while_the_model_runs) {
  HostedModel model(&host_, AddModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  std::filesystem::resize_file(model.model().folder + "/1/model.tflite", 0);
  EXPECT_EQ(model.AddInstance(), "");
  const TRITONBACKEND_Request request = model.Infer({Floats("x", {1, 4}, {0, 0, 0, 0})}, {"y"});
  EXPECT_EQ(ValuesOf<float>(request.results.at(0).bytes), (std::vector<float>{1, 2, 3, 4}));
}

// ---- Parameters ---------------------------------------------------------------------------------

TEST_F(TritonConfig, unknown_parameters_are_refused_with_those_that_exist) {
  EXPECT_EQ(Refusal(AddModel(), Parameter("thread", "2")),
            "unknown parameter 'thread'; there are delegate, isolate, policy, precision, threads");
}

TEST_F(TritonConfig, wrong_values_of_parameters_are_refused) {
  for (const char* value : {"", "0", "1025", "-1", "2x", "two", "99999999999"}) {
    EXPECT_EQ(Refusal(AddModel(), Parameter("threads", value)),
              "parameter 'threads': expected a number from 1 to 1024, found '" +
                  std::string(value) + "'");
  }
  EXPECT_EQ(Refusal(AddModel(), Parameter("precision", "int4")),
            "parameter 'precision': expected float32, bf16 or fp16, found 'int4'");
  EXPECT_EQ(Refusal(AddModel(), Parameter("policy", "cold")),
            "parameter 'policy': expected hot or tflite, found 'cold'");
  EXPECT_EQ(Refusal(AddModel(), Parameter("isolate", "yes")),
            "parameter 'isolate': expected device, strict or none, also with +dynamic, found "
            "'yes'");
  EXPECT_EQ(Refusal(AddModel(), Parameter("isolate", "strict")),
            "parameter 'isolate': expected a parameter 'delegate', found none");
  EXPECT_EQ(Refusal(AddModel(), Parameter("delegate", "cpu,fast")),
            "parameter 'delegate': expected KEY=VALUE after the library, found 'fast'");
  EXPECT_EQ(Refusal(AddModel(), Parameter("delegate", ",a=b")),
            "parameter 'delegate': expected a name or path, found ',a=b'");
}

int ThreadCount() {
  const std::filesystem::directory_iterator begin("/proc/self/task"), end;
  return static_cast<int>(std::distance(begin, end));
}

// y = x * w, with factors that bfloat16 cannot represent.
std::vector<uint8_t> ProductModel() {
  ModelBuilder m;
  const std::vector<float> weights(256 * 256, 1.0f + 1.0f / 1024);
  const int x = m.AddTensor(kTfLiteFloat32, {64, 256}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {256, 256}, weights, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {64, 256}, "y");
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST_F(TritonConfig, threads_is_the_number_of_threads_of_an_instance) {
  const std::vector<float> values(64 * 256, 1);
  HostedModel one(&host_, ProductModel());
  HostedModel two(&host_, ProductModel(), Parameter("threads", "2"));
  const int before = ThreadCount();
  ASSERT_EQ(one.LoadWithInstance(), "");
  EXPECT_EQ(one.Infer({Floats("x", {64, 256}, values)}, {"y"}).error, "");
  EXPECT_EQ(ThreadCount(), before);
  ASSERT_EQ(two.LoadWithInstance(), "");
  EXPECT_EQ(two.Infer({Floats("x", {64, 256}, values)}, {"y"}).error, "");
  EXPECT_EQ(ThreadCount(), before + 1);
}

TEST_F(TritonConfig, precision_is_that_of_the_interpreter) {
  const std::vector<float> values(64 * 256, 1.0f + 1.0f / 512);
  for (const auto& [name, precision] :
       {std::pair("float32", kDeputyPrecisionFloat32), std::pair("bf16", kDeputyPrecisionBfloat16),
        std::pair("fp16", kDeputyPrecisionFloat16)}) {
    TestInterpreter expected(ProductModel(), [p = precision](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetPrecision(options, p);
    });
    ASSERT_EQ(expected.Allocate(), kTfLiteOk);
    expected.Set<float>(0, values);
    ASSERT_EQ(expected.Invoke(), kTfLiteOk);
    HostedModel model(&host_, ProductModel(), Parameter("precision", name));
    ASSERT_EQ(model.LoadWithInstance(), "");
    const TRITONBACKEND_Request request = model.Infer({Floats("x", {64, 256}, values)}, {"y"});
    EXPECT_EQ(ValuesOf<float>(request.results.at(0).bytes), expected.Get<float>(0)) << name;
  }
}

// ---- Delegates ----------------------------------------------------------------------------------

double MetricOf(const std::string& key) {
  const auto found = Server::Get().metrics.find(key);
  return found == Server::Get().metrics.end() ? -1 : found->second;
}

double Nodes(const std::string& runner) {
  return MetricOf("deputy_nodes{model=m,version=1,runner=" + runner + "}");
}

double DegradedRuns() { return MetricOf("deputy_degraded_runs_total{model=m,version=1}"); }

TEST_F(TritonConfig, cpu_runs_all_nodes_without_delegates) {
  HostedModel model(&host_, TwoInputsModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_EQ(Nodes("CPU"), 2);
}

TEST_F(TritonConfig, delegates_run_nodes_in_their_order_with_their_options) {
  // 0 and 18 are the codes of ADD and MUL.
  const std::string log = ScratchFile("triton_delegate.log");
  const std::string library = Library("elementwise");
  HostedModel add(&host_, TwoInputsModel(),
                  Parameter("delegate", library + ",log=" + log + ",ops=0"));
  ASSERT_EQ(add.LoadWithInstance(), "");
  EXPECT_EQ(Nodes("CPU"), 1);
  const TRITONBACKEND_Request request =
      add.Infer({Floats("a", {1, 2}, {2, 3}), Floats("b", {1, 2}, {5, 7})}, {"sum"});
  EXPECT_EQ(ValuesOf<float>(request.results.at(0).bytes), (std::vector<float>{7, 10}));
  EXPECT_NE(ReadText(log), "");
  add.Unload();
  Server::Get().Reset();
  HostedModel both(&host_, TwoInputsModel(), Parameter("delegate", library + ",ops=0,18"));
  ASSERT_EQ(both.LoadWithInstance(), "");
  EXPECT_EQ(Nodes("CPU"), 0);
  both.Unload();
  Server::Get().Reset();
  HostedModel two(&host_, TwoInputsModel(),
                  Parameter("delegate", library + ",ops=0;" + BuildPath("libdeputy_npu_stub.so")));
  ASSERT_EQ(two.LoadWithInstance(), "");
  EXPECT_EQ(Nodes("CPU"), 0);
  EXPECT_EQ(Nodes("npu_stub"), 1);
  std::filesystem::remove(log);
}

TEST_F(TritonConfig, nodes_of_isolated_delegates_are_counted_by_library) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const std::string library = Library("elementwise");
  HostedModel model(&host_, TwoInputsModel(),
                    R"({"parameters":{"delegate":{"string_value":")" + library +
                        R"(,ops=0;npu_stub"},"isolate":{"string_value":"none"}}})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_EQ(Nodes(library), 1);
  EXPECT_EQ(Nodes("npu_stub"), 1);
  EXPECT_EQ(Nodes("CPU"), 0);
  const TRITONBACKEND_Request request =
      model.Infer({Floats("a", {1, 2}, {2, 3}), Floats("b", {1, 2}, {5, 7})}, {"sum", "product"});
  ASSERT_EQ(request.error, "");
  EXPECT_EQ(ValuesOf<float>(request.results.at(0).bytes), (std::vector<float>{7, 10}));
  EXPECT_EQ(ValuesOf<float>(request.results.at(1).bytes), (std::vector<float>{10, 21}));
}

TEST_F(TritonConfig, nodes_of_delegates_of_one_library_are_added) {
  const std::string library = Library("elementwise");
  HostedModel model(&host_, TwoInputsModel(),
                    Parameter("delegate", library + ",ops=0;" + library + ",ops=18"));
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_EQ(Nodes("CPU"), 0);
  double delegated = 0;
  for (const auto& [key, value] : Server::Get().metrics) {
    if (key.starts_with("deputy_nodes{")) delegated += value;
  }
  EXPECT_EQ(delegated, 2);
}

TEST_F(TritonConfig, unknown_delegate_is_refused_with_the_installed_ones) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const std::string error = Refusal(AddModel(), Parameter("delegate", "gpuu"));
  EXPECT_THAT(error, HasSubstr("parameter 'delegate': 'gpuu': "));
  EXPECT_THAT(error, HasSubstr("; installed delegates: "));
  EXPECT_THAT(error, HasSubstr(" npu_stub"));
  EXPECT_THAT(Refusal(AddModel(), Parameter("delegate", "/nowhere/libx.so")),
              testing::Not(HasSubstr("installed delegates")));
}

TEST_F(TritonConfig, unknown_option_of_a_delegate_is_refused) {
  EXPECT_THAT(Refusal(AddModel(), Parameter("delegate", BuildPath("libdeputy_cpu.so") + ",z=1")),
              HasSubstr("'z'"));
}

TEST_F(TritonConfig, failing_delegate_is_replaced_by_the_cpu_unless_the_policy_is_tflite) {
  const std::string failing = Library("failing");
  HostedModel hot(&host_, AddModel(), Parameter("delegate", failing));
  ASSERT_EQ(hot.LoadWithInstance(), "");
  EXPECT_EQ(Nodes("CPU"), 0);
  for (int i = 1; i <= 2; ++i) {
    const TRITONBACKEND_Request request = hot.Infer({Floats("x", {1, 4}, {0, 0, 0, 0})}, {"y"});
    EXPECT_EQ(ValuesOf<float>(request.results.at(0).bytes), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(DegradedRuns(), i);
    EXPECT_EQ(MetricOf("deputy_runs_total{model=m,version=1}"), i);
  }
  int warnings = 0;
  for (const auto& [level, text] : Server::Get().log) {
    if (level != triton::kLogWarning) continue;
    ++warnings;
    EXPECT_THAT(text, HasSubstr("model 'm': the CPU runs nodes of a delegate that failed: "));
  }
  EXPECT_EQ(warnings, 1);
  hot.Unload();
  HostedModel tflite(&host_, AddModel(),
                     R"({"parameters":{"delegate":{"string_value":")" + failing +
                         R"("},"policy":{"string_value":"tflite"}}})");
  ASSERT_EQ(tflite.LoadWithInstance(), "");
  const TRITONBACKEND_Request request = tflite.Infer({Floats("x", {1, 4}, {0, 0, 0, 0})}, {"y"});
  EXPECT_EQ(request.code, triton::kErrorInternal);
  EXPECT_THAT(request.error, HasSubstr("Failing"));
}

TEST_F(TritonConfig, crashing_delegate_ends_only_its_own_process) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  HostedModel model(&host_, AddModel(),
                    R"({"parameters":{"delegate":{"string_value":")" + Library("faulty") +
                        R"(,fault=segv,in=invoke,call=2"},"isolate":{"string_value":"none"}}})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  for (int i = 0; i < 3; ++i) {
    const TRITONBACKEND_Request request = model.Infer({Floats("x", {1, 4}, {0, 0, 0, 0})}, {"y"});
    ASSERT_EQ(request.error, "");
    EXPECT_EQ(ValuesOf<float>(request.results.at(0).bytes), (std::vector<float>{1, 2, 3, 4}));
    if (i == 0) {
      EXPECT_EQ(DegradedRuns(), 0);
    } else if (i == 1) {
      EXPECT_EQ(DegradedRuns(), 1);
    }
  }
}

// ---- Sequences ----------------------------------------------------------------------------------

TEST_F(TritonConfig, sequences_need_the_direct_strategy_and_single_images) {
  EXPECT_EQ(Refusal(AccumulatorModel(), R"({"sequence_batching":{"oldest":{}}})"),
            "sequence_batching: expected the strategy direct, found oldest");
  EXPECT_EQ(Refusal(AccumulatorModel(), R"({"max_batch_size":2,"sequence_batching":{}})"),
            "sequence_batching: expected a max_batch_size of 0 or 1, found 2");
  EXPECT_EQ(Refusal(AccumulatorModel(), R"({"max_batch_size":1,"sequence_batching":{}})"), "");
}

}  // namespace triton_config_test
}  // namespace deputy
