// SPDX-License-Identifier: Apache-2.0
//
// Requests to Triton's back end: types, shapes, batches, sequences, statistics and failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/bridges/triton/models.h"
#include "tests/doubles/triton/host.h"

namespace deputy {
namespace triton_requests_test {

using testing::ElementsAre;
using testing::HasSubstr;
using triton_double::Floats;
using triton_double::Host;
using triton_double::HostedModel;
using triton_double::Server;
using triton_double::ValuesOf;
using triton_models::AccumulatorModel;
using triton_models::AddModel;
using triton_models::ReshapeModel;
using triton_models::TwoInputsModel;

class TritonRequests : public testing::Test {
 protected:
  TritonRequests() { Server::Get().Reset(); }
  Host host_;
};

std::vector<float> FloatsOf(const TRITONBACKEND_Request& request, size_t output = 0) {
  EXPECT_EQ(request.error, "");
  EXPECT_EQ(request.responses, 1);
  EXPECT_EQ(request.releases, 1);
  return output < request.results.size() ? ValuesOf<float>(request.results[output].bytes)
                                         : std::vector<float>();
}

void ExpectInvalid(const TRITONBACKEND_Request& request, const std::string& text) {
  EXPECT_EQ(request.code, triton::kErrorInvalidArgument);
  EXPECT_EQ(request.error, text);
  EXPECT_TRUE(request.results.empty());
  EXPECT_EQ(request.responses, 1);
  EXPECT_EQ(request.releases, 1);
  EXPECT_FALSE(request.success);
}

// ---- Outputs ------------------------------------------------------------------------------------

TEST_F(TritonRequests, requested_outputs_are_returned_in_their_order) {
  HostedModel model(&host_, TwoInputsModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  const std::vector<TRITONBACKEND_Input> inputs = {Floats("b", {1, 2}, {5, 7}),
                                                   Floats("a", {1, 2}, {2, 3})};
  const TRITONBACKEND_Request both = model.Infer(inputs, {"product", "sum"});
  EXPECT_THAT(FloatsOf(both, 0), ElementsAre(10, 21));
  EXPECT_THAT(FloatsOf(both, 1), ElementsAre(7, 10));
  EXPECT_EQ(both.results[0].name, "product");
  EXPECT_EQ(both.results[0].type, triton::kTritonFloat32);
  EXPECT_THAT(both.results[0].shape, ElementsAre(1, 2));
  const TRITONBACKEND_Request one = model.Infer(inputs, {"sum"});
  EXPECT_EQ(one.results.size(), 1u);
  EXPECT_THAT(FloatsOf(one), ElementsAre(7, 10));
  ExpectInvalid(model.Infer(inputs, {"quotient"}), "the model has no output 'quotient'");
}

TEST_F(TritonRequests, instances_are_independent) {
  HostedModel model(&host_, AccumulatorModel(), R"({"sequence_batching":{"direct":{}}})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  ASSERT_EQ(model.AddInstance(), "");
  EXPECT_THAT(FloatsOf(model.Infer({Floats("x", {1, 1}, {1})}, {"y"}, 1, 0)), ElementsAre(1));
  EXPECT_THAT(FloatsOf(model.Infer({Floats("x", {1, 1}, {10})}, {"y"}, 1, 1)), ElementsAre(10));
  EXPECT_THAT(FloatsOf(model.Infer({Floats("x", {1, 1}, {2})}, {"y"}, 0, 0)), ElementsAre(3));
}

TEST_F(TritonRequests, instances_run_at_the_same_time) {
  HostedModel model(&host_, AddModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  ASSERT_EQ(model.AddInstance(), "");
  const auto run = [&](size_t instance) {
    for (int i = 0; i < 200; ++i) {
      const auto value = static_cast<float>(i);
      const TRITONBACKEND_Request request =
          model.Infer({Floats("x", {1, 4}, {value, value, value, value})}, {"y"}, 0, instance);
      ASSERT_THAT(FloatsOf(request), ElementsAre(value + 1, value + 2, value + 3, value + 4));
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

// ---- Types --------------------------------------------------------------------------------------

TEST_F(TritonRequests, every_type_is_passed) {
  struct Case {
    TfLiteType type;
    int server_type;
    const char* name;
    size_t size;
  };
  const Case cases[] = {{kTfLiteBool, 1, "BOOL", 1},     {kTfLiteUInt8, 2, "UINT8", 1},
                        {kTfLiteUInt16, 3, "UINT16", 2}, {kTfLiteUInt32, 4, "UINT32", 4},
                        {kTfLiteUInt64, 5, "UINT64", 8}, {kTfLiteInt8, 6, "INT8", 1},
                        {kTfLiteInt16, 7, "INT16", 2},   {kTfLiteInt32, 8, "INT32", 4},
                        {kTfLiteInt64, 9, "INT64", 8},   {kTfLiteFloat16, 10, "FP16", 2},
                        {kTfLiteFloat32, 11, "FP32", 4}, {kTfLiteFloat64, 12, "FP64", 8},
                        {kTfLiteBFloat16, 14, "BF16", 2}};
  for (const Case& c : cases) {
    HostedModel model(&host_, ReshapeModel(c.type, {2, 3}, 6));
    ASSERT_EQ(model.LoadWithInstance(), "") << c.name;
    EXPECT_THAT(model.model().config,
                HasSubstr(std::string(R"("data_type":"TYPE_)") + c.name + '"'));
    std::string bytes;
    for (size_t i = 0; i < 6 * c.size; ++i) bytes += static_cast<char>(c.size == 1 ? i % 2 : i + 1);
    const TRITONBACKEND_Request request =
        model.Infer({{"x", c.server_type, {2, 3}, {bytes}, 0}}, {"y"});
    ASSERT_EQ(request.error, "") << c.name;
    EXPECT_EQ(request.results.at(0).bytes, bytes) << c.name;
    EXPECT_EQ(request.results[0].type, c.server_type);
    EXPECT_THAT(request.results[0].shape, ElementsAre(6));
    const int other = c.server_type == 11 ? 6 : 11;
    ExpectInvalid(
        model.Infer({{"x", other, {2, 3}, {bytes}, 0}}, {"y"}),
        std::string("input 'x': expected ") + c.name + ", found " + (other == 6 ? "INT8" : "FP32"));
  }
}

// The server's encoding.
std::string Encoded(const std::vector<std::string>& strings) {
  std::string bytes;
  for (const std::string& text : strings) {
    const auto size = static_cast<uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&size), 4);
    bytes += text;
  }
  return bytes;
}

TEST_F(TritonRequests, strings_are_passed) {
  HostedModel model(&host_, ReshapeModel(kTfLiteString, {1, 3}, 3));
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_THAT(model.model().config, HasSubstr(R"("data_type":"TYPE_STRING")"));
  const std::string with_zero("a\0b", 3);
  for (const std::vector<std::string>& strings : {std::vector<std::string>{"one", "", with_zero},
                                                  {std::string(100000, 'x'), "y", "z"},
                                                  {"", "", ""}}) {
    const TRITONBACKEND_Request request =
        model.Infer({{"x", triton::kTritonBytes, {1, 3}, {Encoded(strings)}, 0}}, {"y"});
    ASSERT_EQ(request.error, "");
    EXPECT_EQ(request.results.at(0).bytes, Encoded(strings));
    EXPECT_EQ(request.results[0].type, triton::kTritonBytes);
  }
}

TEST_F(TritonRequests, damaged_strings_are_refused) {
  HostedModel model(&host_, ReshapeModel(kTfLiteString, {1, 3}, 3));
  ASSERT_EQ(model.LoadWithInstance(), "");
  const auto infer = [&](const std::string& bytes) {
    return model.Infer({{"x", triton::kTritonBytes, {1, 3}, {bytes}, 0}}, {"y"});
  };
  ExpectInvalid(infer(Encoded({"a", "b"})), "input 'x': expected 3 strings, found 2");
  ExpectInvalid(infer(Encoded({"a", "b", "c", "d"})), "input 'x': expected 3 strings, found 4");
  ExpectInvalid(infer(Encoded({"a"}) + "xy"),
                "input 'x': expected the length of string 1 in 4 bytes, found 2 bytes");
  ExpectInvalid(infer(Encoded({"a"}) + std::string("\x05\0\0\0hi", 6)),
                "input 'x': expected 5 bytes of string 1, found 2");
  ExpectInvalid(infer(std::string("\xff\xff\xff\xff", 4)),
                "input 'x': expected 4294967295 bytes of string 0, found 0");
  EXPECT_EQ(infer(Encoded({"a", "b", "c"})).error, "");
}

// ---- Shapes -------------------------------------------------------------------------------------

TEST_F(TritonRequests, other_shapes_resize_the_model) {
  HostedModel model(&host_, AddModel({1, 4}, {-1, 4}));
  ASSERT_EQ(model.LoadWithInstance(), "");
  const TRITONBACKEND_Request two =
      model.Infer({Floats("x", {2, 4}, {0, 0, 0, 0, 10, 10, 10, 10})}, {"y"});
  EXPECT_THAT(FloatsOf(two), ElementsAre(1, 2, 3, 4, 11, 12, 13, 14));
  EXPECT_THAT(two.results[0].shape, ElementsAre(2, 4));
  const TRITONBACKEND_Request one = model.Infer({Floats("x", {1, 4}, {0, 0, 0, 0})}, {"y"});
  EXPECT_THAT(FloatsOf(one), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(one.results[0].shape, ElementsAre(1, 4));
}

TEST_F(TritonRequests, shapes_that_the_model_refuses_leave_the_instance_usable) {
  HostedModel model(&host_, AddModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  for (int i = 0; i < 2; ++i) {
    const TRITONBACKEND_Request wrong = model.Infer({Floats("x", {1, 5}, {0, 0, 0, 0, 0})}, {"y"});
    EXPECT_EQ(wrong.code, triton::kErrorInvalidArgument);
    EXPECT_THAT(wrong.error, HasSubstr("input 'x': expected [1,4], found [1,5], which the model "
                                       "does not accept: "));
    EXPECT_THAT(wrong.error, HasSubstr("ADD"));
  }
  ExpectInvalid(model.Infer({Floats("x", {4}, {0, 0, 0, 0})}, {"y"}),
                "input 'x': expected [1,4], found [4]");
  ExpectInvalid(model.Infer({Floats("x", {1, -4}, {})}, {"y"}),
                "input 'x': expected [1,4], found [1,-4]");
  ExpectInvalid(model.Infer({Floats("x", {1, int64_t{1} << 32}, {})}, {"y"}),
                "input 'x': expected [1,4], found [1,4294967296]");
  // Too large to be allocated.
  const TRITONBACKEND_Request large = model.Infer({Floats("x", {2000000000, 4}, {})}, {"y"});
  EXPECT_EQ(large.code, triton::kErrorInvalidArgument);
  EXPECT_THAT(large.error, HasSubstr("input 'x': expected "));
  EXPECT_THAT(FloatsOf(model.Infer({Floats("x", {1, 4}, {0, 0, 0, 0})}, {"y"})),
              ElementsAre(1, 2, 3, 4));
}

TEST_F(TritonRequests, contents_must_have_the_size_of_the_shape) {
  HostedModel model(&host_, AddModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  ExpectInvalid(model.Infer({Floats("x", {1, 4}, {1, 2, 3})}, {"y"}),
                "input 'x': expected 16 bytes, found 12");
  ExpectInvalid(model.Infer({Floats("x", {1, 4}, {1, 2, 3, 4, 5})}, {"y"}),
                "input 'x': expected 16 bytes, found 20");
  ExpectInvalid(model.Infer({{"x", triton::kTritonFloat32, {1, 4}, {}, 0}}, {"y"}),
                "input 'x': expected 16 bytes, found 0");
}

TEST_F(TritonRequests, inputs_may_be_in_several_buffers) {
  HostedModel model(&host_, AddModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  TRITONBACKEND_Input input = Floats("x", {1, 4}, {0, 10, 20, 30});
  const std::string bytes = input.buffers[0];
  input.buffers = {bytes.substr(0, 3), "", bytes.substr(3, 9), bytes.substr(12)};
  EXPECT_THAT(FloatsOf(model.Infer({input}, {"y"})), ElementsAre(1, 12, 23, 34));
}

TEST_F(TritonRequests, memory_of_gpus_is_refused) {
  HostedModel model(&host_, TwoInputsModel("on_gpu"));
  ASSERT_EQ(model.LoadWithInstance(), "");
  TRITONBACKEND_Input a = Floats("a", {1, 2}, {1, 2});
  const TRITONBACKEND_Input b = Floats("b", {1, 2}, {1, 2});
  const TRITONBACKEND_Request output = model.Infer({a, b}, {"on_gpu"});
  EXPECT_EQ(output.code, triton::kErrorUnsupported);
  EXPECT_EQ(output.error, "output 'on_gpu' is requested in the memory of a GPU");
  a.memory = triton::kMemoryGpu;
  const TRITONBACKEND_Request input = model.Infer({a, b}, {"product"});
  EXPECT_EQ(input.error, "input 'a' is in the memory of a GPU");
  a.memory = triton::kMemoryCpuPinned;
  EXPECT_EQ(model.Infer({a, b}, {"product"}).error, "");
}

// ---- Batches ------------------------------------------------------------------------------------

TEST_F(TritonRequests, images_of_a_batch_run_one_by_one) {
  HostedModel model(&host_, AddModel(), R"({"max_batch_size":8})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  const TRITONBACKEND_Request request =
      model.Infer({Floats("x", {3, 4}, {0, 0, 0, 0, 10, 10, 10, 10, 20, 20, 20, 20})}, {"y"});
  EXPECT_THAT(FloatsOf(request), ElementsAre(1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24));
  EXPECT_THAT(request.results[0].shape, ElementsAre(3, 4));
  EXPECT_EQ(Server::Get().metrics["deputy_runs_total{model=m,version=1}"], 3);
  EXPECT_EQ(Server::Get().batches.at(0).images, 3u);
  ExpectInvalid(model.Infer({Floats("x", {0, 4}, {})}, {"y"}),
                "input 'x': expected [4] for each image, found [0,4]");
  ExpectInvalid(model.Infer({Floats("x", {4}, {0, 0, 0, 0})}, {"y"}),
                "input 'x': expected [4] for each image, found [4]");
}

TEST_F(TritonRequests, all_inputs_must_have_the_same_number_of_images) {
  HostedModel model(&host_, TwoInputsModel(), R"({"max_batch_size":8})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  ExpectInvalid(
      model.Infer({Floats("a", {2, 2}, {1, 2, 3, 4}), Floats("b", {1, 2}, {1, 2})}, {"sum"}),
      "input 'b': expected 2 images, found 1");
}

TEST_F(TritonRequests, strings_of_a_batch_are_split) {
  HostedModel model(&host_, ReshapeModel(kTfLiteString, {1}, 1), R"({"max_batch_size":4})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  const std::string bytes = Encoded({"first", "", "third"});
  const TRITONBACKEND_Request request =
      model.Infer({{"x", triton::kTritonBytes, {3, 1}, {bytes}, 0}}, {"y"});
  EXPECT_EQ(request.error, "");
  EXPECT_EQ(request.results.at(0).bytes, bytes);
  EXPECT_THAT(request.results[0].shape, ElementsAre(3, 1));
}

TEST_F(TritonRequests, images_of_a_batch_do_not_share_state) {
  HostedModel model(&host_, AccumulatorModel(), R"({"max_batch_size":4})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  EXPECT_THAT(FloatsOf(model.Infer({Floats("x", {3, 1}, {1, 2, 3})}, {"y"})), ElementsAre(1, 2, 3));
}

TEST_F(TritonRequests, requests_of_one_call_are_independent) {
  HostedModel model(&host_, AddModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  std::vector<TRITONBACKEND_Request> requests(3);
  for (TRITONBACKEND_Request& request : requests) request.outputs = {"y"};
  requests[0].inputs = {Floats("x", {1, 4}, {0, 0, 0, 0})};
  requests[1].inputs = {Floats("x", {1, 4}, {0, 0, 0})};
  requests[2].inputs = {Floats("x", {1, 4}, {5, 5, 5, 5})};
  ASSERT_EQ(model.Execute(&requests), "");
  EXPECT_THAT(FloatsOf(requests[0]), ElementsAre(1, 2, 3, 4));
  ExpectInvalid(requests[1], "input 'x': expected 16 bytes, found 12");
  EXPECT_THAT(FloatsOf(requests[2]), ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(Server::Get().batches.at(0).images, 3u);
}

// ---- Statistics ---------------------------------------------------------------------------------

TEST_F(TritonRequests, times_of_requests_and_batches_are_in_order) {
  HostedModel model(&host_, AddModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  std::vector<TRITONBACKEND_Request> requests(2);
  for (TRITONBACKEND_Request& request : requests) {
    request.outputs = {"y"};
    request.inputs = {Floats("x", {1, 4}, {0, 0, 0, 0})};
  }
  ASSERT_EQ(model.Execute(&requests), "");
  for (const TRITONBACKEND_Request& request : requests) {
    EXPECT_EQ(request.reports, 1);
    EXPECT_TRUE(request.success);
    EXPECT_GT(request.times[0], 0u);
    EXPECT_LT(request.times[1], request.times[2]);
    EXPECT_TRUE(std::is_sorted(request.times, request.times + 4));
  }
  EXPECT_GE(requests[1].times[0], requests[0].times[3]);
  const triton_double::BatchReport& batch = Server::Get().batches.at(0);
  EXPECT_EQ(batch.times[0], requests[0].times[0]);
  EXPECT_EQ(batch.times[1], requests[0].times[1]);
  EXPECT_EQ(batch.times[2], requests[1].times[2]);
  EXPECT_EQ(batch.times[3], requests[1].times[3]);
}

// ---- State --------------------------------------------------------------------------------------

TEST_F(TritonRequests, state_lasts_for_a_sequence) {
  HostedModel model(&host_, AccumulatorModel(), R"({"sequence_batching":{}})");
  ASSERT_EQ(model.LoadWithInstance(), "");
  const auto infer = [&](float x, uint32_t flags) {
    return FloatsOf(model.Infer({Floats("x", {1, 1}, {x})}, {"y"}, flags));
  };
  EXPECT_THAT(infer(1, triton::kSequenceStart), ElementsAre(1));
  EXPECT_THAT(infer(2, 0), ElementsAre(3));
  EXPECT_THAT(infer(4, triton::kSequenceEnd), ElementsAre(7));
  EXPECT_THAT(infer(10, triton::kSequenceStart), ElementsAre(10));
  EXPECT_THAT(infer(5, triton::kSequenceEnd), ElementsAre(15));
  EXPECT_THAT(infer(3, triton::kSequenceStart | triton::kSequenceEnd), ElementsAre(3));
}

TEST_F(TritonRequests, requests_without_sequences_begin_without_state) {
  HostedModel model(&host_, AccumulatorModel());
  ASSERT_EQ(model.LoadWithInstance(), "");
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(FloatsOf(model.Infer({Floats("x", {1, 1}, {2})}, {"y"})), ElementsAre(2));
  }
}

// ---- Failures of the server ---------------------------------------------------------------------

// The life of a back end with a model and two requests. Returns the requests.
std::vector<TRITONBACKEND_Request> Live(std::string* error) {
  Host host;
  *error = host.error();
  std::vector<TRITONBACKEND_Request> requests(2);
  if (!error->empty()) return {};
  HostedModel model(&host, AddModel(), R"({"sequence_batching":{}})");
  *error = model.LoadWithInstance();
  if (!error->empty()) return {};
  for (TRITONBACKEND_Request& request : requests) {
    request.outputs = {"y"};
    request.inputs = {Floats("x", {1, 4}, {0, 0, 0, 0})};
  }
  *error = model.Execute(&requests);
  return requests;
}

TEST(TritonFailures, every_call_of_the_server_may_fail) {
  std::string error;
  Server::Get().Reset();
  Live(&error);
  ASSERT_EQ(error, "");
  const int calls = Server::Get().calls;
  ASSERT_GT(calls, 50);
  int refused = 0, failed_requests = 0;
  for (int n = 1; n <= calls; ++n) {
    Server::Get().Reset();
    const int alive = Server::Get().alive();
    Server::Get().fail_at = n;
    const std::vector<TRITONBACKEND_Request> requests = Live(&error);
    const std::string function = Server::Get().failed;
    EXPECT_NE(function, "") << n;
    refused += error.empty() ? 0 : 1;
    if (!error.empty()) {
      EXPECT_THAT(error, HasSubstr(function + " failed")) << n;
    }
    for (const TRITONBACKEND_Request& request : requests) {
      if (!error.empty()) {
        EXPECT_EQ(request.releases, 0) << function;  // the server keeps the requests
        continue;
      }
      const bool keeps = function == "TRITONBACKEND_ResponseNew";
      EXPECT_LE(request.responses, 1) << function;
      if (!keeps) {
        EXPECT_EQ(request.responses, 1) << function;
      }
      if (function != "TRITONBACKEND_RequestRelease") {
        EXPECT_EQ(request.releases, 1) << function;
      }
      failed_requests += request.code >= 0 ? 1 : 0;
      if (request.code < 0 && request.responses == 1) {
        EXPECT_EQ(request.results.size(), 1u) << function;
      }
    }
    EXPECT_EQ(Server::Get().alive(), alive) << function << " " << n;
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(failed_requests, 5);
}

TEST(TritonFailures, server_without_metrics_serves) {
  Server::Get().Reset();
  Server::Get().has_metrics = false;
  std::string error;
  const std::vector<TRITONBACKEND_Request> requests = Live(&error);
  EXPECT_EQ(error, "");
  EXPECT_THAT(FloatsOf(requests.at(1)), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(Server::Get().metrics.empty());
}

TEST(TritonFailures, loading_and_unloading_leaves_nothing) {
  Server::Get().Reset();
  const int alive = Server::Get().alive();
  std::string error;
  for (int i = 0; i < 50; ++i) {
    Live(&error);
    ASSERT_EQ(error, "");
  }
  EXPECT_EQ(Server::Get().alive(), alive);
}

}  // namespace triton_requests_test
}  // namespace deputy
