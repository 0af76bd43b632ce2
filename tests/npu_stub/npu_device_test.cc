// SPDX-License-Identifier: Apache-2.0
//
// Tests the NPU stub's device alone: its results in NCHW, refusals, counters, and untrusted blobs.
// The conformance cases test its operators, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "npu_stub/blob.h"
#include "npu_stub/device_check.h"
#include "tests/npu_stub/npu_support.h"

namespace deputy::npu_device_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Adds the operations of y = relu(x + 1) over [1, 4].
void MakeSmall(NpuGraphBuilder* graph) {
  const int32_t x = graph->Input({1, 4});
  const int32_t one = graph->Constant({1}, std::vector<float>{1});
  const int32_t sum = graph->Op(kNpuBinary, kNpuAdd, {x, one}, {1, 4});
  graph->Output(graph->Op(kNpuUnary, kNpuRelu, {sum}, {1, 4}));
}

std::vector<uint8_t> SmallBlob(NpuDeviceUser* user) {
  NpuGraphBuilder graph;
  MakeSmall(&graph);
  return user->Compile(graph.graph());
}

TEST(NpuDevice, computes_a_loaded_model) {
  NpuDeviceUser user;
  ASSERT_EQ(user.status(), kNpuOk);
  ASSERT_EQ(user.Load("m", SmallBlob(&user)), kNpuOk) << user.error();
  EXPECT_EQ(user.Write<float>("m", 0, {-3, -1, 0, 2}), kNpuOk);
  EXPECT_EQ(user.Run("m"), kNpuOk);
  EXPECT_THAT(user.Read<float>("m", 0, 4), ElementsAre(0, 0, 1, 3));
}

TEST(NpuDevice, convolves_in_nchw) {
  NpuDeviceUser user;
  NpuGraphBuilder graph;
  const int32_t x = graph.Input({1, 2, 2, 3});  // two channels of two rows
  const int32_t w = graph.Constant({1, 2, 1, 2}, std::vector<float>{1, 2, 10, 20});
  const int32_t b = graph.Constant({1}, std::vector<float>{0.5});
  graph.Output(graph.Op(kNpuConv, 0, {x, w, b}, {1, 1, 2, 2}, {1, 1, 0, 0, 1, 1, 1}));
  const auto out = user.Compute(graph.graph(), {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
  // The first result is 1*1 + 2*2 + 7*10 + 8*20 + 0.5.
  EXPECT_THAT(out[0], ElementsAre(235.5f, 268.5f, 334.5f, 367.5f));
}

TEST(NpuDevice, groups_read_only_their_channels) {
  NpuDeviceUser user;
  NpuGraphBuilder graph;
  const int32_t x = graph.Input({1, 2, 1, 2});
  const int32_t w = graph.Constant({2, 1, 1, 1}, std::vector<float>{2, 3});
  graph.Output(graph.Op(kNpuConv, 0, {x, w}, {1, 2, 1, 2}, {1, 1, 0, 0, 1, 1, 2}));
  EXPECT_THAT(user.Compute(graph.graph(), {{1, 2, 10, 20}})[0], ElementsAre(2, 4, 30, 60));
}

TEST(NpuDevice, padding_does_not_count_in_averages) {
  NpuDeviceUser user;
  NpuGraphBuilder graph;
  const int32_t x = graph.Input({1, 1, 1, 3});
  graph.Output(graph.Op(kNpuPool, kNpuPoolAverage, {x}, {1, 1, 1, 3}, {1, 1, 0, 1, 1, 3}));
  EXPECT_THAT(user.Compute(graph.graph(), {{1, 2, 6}})[0], ElementsAre(1.5, 3, 4));
}

// ---- Limits and counters ------------------------------------------------------------------------

TEST(NpuDevice, a_client_can_load_twenty_models) {
  NpuDeviceUser user;
  const std::vector<uint8_t> blob = SmallBlob(&user);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(user.Load(std::to_string(i), blob), kNpuOk);
  EXPECT_EQ(user.Load("20", blob), kNpuLimit);
  EXPECT_THAT(user.error(), HasSubstr("at most 20 models"));
  EXPECT_EQ(user.counters().models, 20u);
  EXPECT_EQ(user.api().unload(user.client(), "7"), kNpuOk);
  EXPECT_EQ(user.Load("20", blob), kNpuOk);
}

TEST(NpuDevice, loads_all_models_or_none) {
  NpuDeviceUser user;
  const std::vector<uint8_t> blob = SmallBlob(&user);
  const std::vector<uint8_t> cut(blob.begin(), blob.end() - 1);
  const NpuModelDescription models[] = {{"a", blob.data(), blob.size(), 3},
                                        {"b", cut.data(), cut.size(), 3}};
  EXPECT_EQ(user.api().load(user.client(), models, 2, nullptr, 0), kNpuBadBlob);
  EXPECT_EQ(user.counters().models, 0u);
  EXPECT_EQ(user.counters().bytes, 0u);
}

TEST(NpuDevice, frequencies_are_one_to_four) {
  NpuDeviceUser user;
  const std::vector<uint8_t> blob = SmallBlob(&user);
  EXPECT_EQ(user.Load("low", blob, 0), kNpuBadArgument);
  EXPECT_EQ(user.Load("high", blob, 5), kNpuBadArgument);
  EXPECT_EQ(user.Load("extreme", blob, 4), kNpuOk);
  EXPECT_EQ(user.counters().frequency, 4);
}

TEST(NpuDevice, names_are_unique) {
  NpuDeviceUser user;
  const std::vector<uint8_t> blob = SmallBlob(&user);
  EXPECT_EQ(user.Load("m", blob), kNpuOk);
  EXPECT_EQ(user.Load("m", blob), kNpuBadArgument);
  EXPECT_EQ(user.api().unload(user.client(), "other"), kNpuBadArgument);
}

TEST(NpuDevice, counts_and_releases_all_objects) {
  NpuDeviceUser user;
  ASSERT_EQ(user.Load("m", SmallBlob(&user)), kNpuOk);
  NpuCounters counters = user.counters();
  EXPECT_EQ(counters.bytes, 16u + 4 + 16 + 16);  // input, constant, sum, output
  EXPECT_EQ(counters.compiles, 1u);
  EXPECT_EQ(counters.clients, 1u);
  EXPECT_EQ(user.Write<float>("m", 0, {1, 2, 3, 4}), kNpuOk);
  EXPECT_EQ(user.Run("m"), kNpuOk);
  user.Read<float>("m", 0, 4);
  counters = user.counters();
  EXPECT_EQ(counters.bytes_in, 16u);
  EXPECT_EQ(counters.bytes_out, 16u);
  EXPECT_EQ(counters.runs, 1u);
  EXPECT_EQ(user.api().unload(user.client(), "m"), kNpuOk);
  EXPECT_EQ(user.counters().bytes, 0u);
  EXPECT_EQ(user.counters().models, 0u);
}

TEST(NpuDevice, describes_inputs_and_outputs_and_checks_sizes) {
  NpuDeviceUser user;
  ASSERT_EQ(user.Load("m", SmallBlob(&user)), kNpuOk);
  NpuTensor tensor = {};
  EXPECT_EQ(user.api().get_input(user.client(), "m", 0, &tensor), kNpuOk);
  EXPECT_EQ(tensor.rank, 2);
  EXPECT_EQ(tensor.dims[1], 4);
  EXPECT_EQ(user.api().get_input(user.client(), "m", 1, &tensor), kNpuBadArgument);
  EXPECT_EQ(user.api().get_output(user.client(), "m", -1, &tensor), kNpuBadArgument);
  EXPECT_EQ(user.api().get_output(user.client(), "n", 0, &tensor), kNpuBadArgument);
  EXPECT_EQ(user.Write<float>("m", 0, {1, 2, 3}), kNpuBadArgument);
  EXPECT_EQ(user.Write<float>("m", 1, {1, 2, 3, 4}), kNpuBadArgument);
  EXPECT_EQ(user.Run("n"), kNpuBadArgument);
}

// ---- Simulated failures -------------------------------------------------------------------------

TEST(NpuDevice, simulates_failures) {
  EXPECT_EQ(NpuDeviceUser("absent").status(), kNpuAbsent);
  EXPECT_EQ(NpuDeviceUser("nonsense").status(), kNpuBadArgument);
  NpuDeviceUser compile("compile");
  EXPECT_TRUE(SmallBlob(&compile).empty());
  NpuDeviceUser load("load");
  EXPECT_EQ(load.Load("m", SmallBlob(&load)), kNpuError);
  NpuDeviceUser run("run+wrong");
  ASSERT_EQ(run.Load("m", SmallBlob(&run)), kNpuOk);
  EXPECT_EQ(run.Run("m"), kNpuError);
  NpuDeviceUser slow("slow");
  ASSERT_EQ(slow.Load("m", SmallBlob(&slow)), kNpuOk);
  EXPECT_EQ(slow.Run("m", 5), kNpuTimeout);
  NpuDeviceUser wrong("wrong");
  ASSERT_EQ(wrong.Load("m", SmallBlob(&wrong)), kNpuOk);
  wrong.Write<float>("m", 0, {-3, -1, 0, 2});
  EXPECT_EQ(wrong.Run("m"), kNpuOk);
  EXPECT_THAT(wrong.Read<float>("m", 0, 4), ElementsAre(1, 0, 1, 3));
}

TEST(NpuDevice, can_be_hidden_by_the_environment) {
  setenv("DEPUTY_NPU", "absent", 1);
  EXPECT_EQ(NpuDeviceUser().status(), kNpuAbsent);
  unsetenv("DEPUTY_NPU");
  setenv("DEPUTY_NPU_FAULTS", "load", 1);
  NpuDeviceUser user;
  unsetenv("DEPUTY_NPU_FAULTS");
  EXPECT_EQ(user.Load("m", SmallBlob(&user)), kNpuError);
}

TEST(NpuDevice, indices_out_of_range_fail_the_run) {
  NpuDeviceUser user;
  NpuGraphBuilder graph;
  const int32_t x = graph.Input({3});
  const int32_t indices = graph.Input({2}, kNpuInt32);
  graph.Output(graph.Op(kNpuGather, 0, {x, indices}, {2}, {0}));
  ASSERT_EQ(user.Load("m", user.Compile(graph.graph())), kNpuOk) << user.error();
  user.Write<float>("m", 0, {5, 6, 7});
  user.Write<int32_t>("m", 1, {2, 0});
  EXPECT_EQ(user.Run("m"), kNpuOk);
  EXPECT_THAT(user.Read<float>("m", 0, 2), ElementsAre(7, 5));
  user.Write<int32_t>("m", 1, {0, 3});
  EXPECT_EQ(user.Run("m"), kNpuBadArgument);
  EXPECT_EQ(user.error(), "expected indices from 0 to 2, found 3");
}

// ---- Invalid graphs -----------------------------------------------------------------------------

std::string FaultOf(const NpuGraphBuilder& maker) {
  char error[128] = "";
  return NpuCheckGraph(&maker.graph(), error, sizeof error) ? "" : error;
}

TEST(NpuCheck, reports_faults) {
  NpuGraphBuilder good;
  MakeSmall(&good);
  EXPECT_EQ(FaultOf(good), "");
  NpuOp* op = NpuOpAt(good.builder(), 0);
  op->inputs[0] = 99;
  EXPECT_EQ(FaultOf(good), "operation 0: input out of range");
  op->inputs[0] = op->output;
  EXPECT_EQ(FaultOf(good), "operation 0: an input is not computed by an earlier operation");
  op->inputs[0] = 0;
  op->function = kNpuBinaryEnd;
  EXPECT_EQ(FaultOf(good), "operation 0: unknown function");
  op->function = kNpuAdd;
  op->kind = 77;
  EXPECT_EQ(FaultOf(good), "operation 0: unknown kind");
  op->kind = kNpuBinary;
  NpuTensorAt(good.builder(), 0)->dims[1] = 5;
  EXPECT_EQ(FaultOf(good), "operation 0: shapes do not broadcast");
  NpuTensorAt(good.builder(), 0)->dims[1] = 1 << 30;
  EXPECT_EQ(FaultOf(good), "tensor 0: dimension out of range");
  NpuTensorAt(good.builder(), 0)->rank = 5;
  EXPECT_EQ(FaultOf(good), "tensor 0: rank out of range");
}

TEST(NpuCheck, windows_slices_and_axes_are_in_bounds) {
  const struct {
    NpuKind kind;
    std::vector<int32_t> from, to, attributes;
    const char* fault;
  } kCases[] = {
      {kNpuSlice, {4}, {2}, {0, 0, 0, 0, 3}, ""},
      {kNpuSlice, {4}, {2}, {1, 0, 0, 0, 3}, "operation 0: slice out of range"},
      {kNpuSlice, {4}, {2}, {3, 0, 0, 0, -3}, ""},
      {kNpuSlice, {4}, {2}, {2, 0, 0, 0, -3}, "operation 0: slice out of range"},
      {kNpuSlice, {4}, {1}, {0, 0, 0, 0, 0}, "operation 0: slice out of range"},
      {kNpuTranspose, {2, 3}, {3, 2}, {1, 0}, ""},
      {kNpuTranspose, {2, 3}, {3, 2}, {1, 1}, "operation 0: invalid permutation"},
      {kNpuTranspose, {2, 3}, {2, 3}, {1, 0}, "operation 0: wrong shape"},
      {kNpuPad, {2}, {4}, {2}, ""},
      {kNpuPad, {2}, {4}, {3}, "operation 0: padding out of range"},
      {kNpuSoftmax, {2}, {2}, {1}, "operation 0: axis out of range"},
      {kNpuReshape, {6}, {2, 3}, {}, ""},
      {kNpuReshape, {6}, {2, 4}, {}, "operation 0: wrong shape"},
      {kNpuTile, {2}, {6}, {}, ""},
      {kNpuTile, {2}, {5}, {}, "operation 0: wrong shape"},
      {kNpuConcat, {2}, {3}, {0}, "operation 0: wrong length of output"},
  };
  for (const auto& row : kCases) {
    NpuGraphBuilder graph;
    const int32_t x = graph.Input(row.from);
    graph.Output(graph.Op(row.kind, 0, {x}, row.to, row.attributes));
    EXPECT_EQ(FaultOf(graph), row.fault) << NpuKindName(row.kind);
  }
}

// ---- Blobs --------------------------------------------------------------------------------------

NpuStatus ReadStatus(const std::vector<uint8_t>& bytes) {
  NpuBuilder builder;
  NpuBuilderInit(&builder);
  const NpuStatus status =
      NpuReadBlob(bytes.data(), bytes.size(), "stub-1.0", &builder, nullptr, 0);
  NpuBuilderFree(&builder);
  return status;
}

// Adds 13 of the 19 kinds of operations to a graph.
void BuildMixedGraph(NpuGraphBuilder* graph) {
  const int32_t x = graph->Input({1, 2, 4, 4});
  const int32_t w = graph->Constant({2, 2, 3, 3}, std::vector<float>(36, 0.5));
  const int32_t conv = graph->Op(kNpuConv, 0, {x, w}, {1, 2, 4, 4}, {1, 1, 1, 1, 1, 1, 1});
  const int32_t pool = graph->Op(kNpuPool, kNpuPoolMax, {conv}, {1, 2, 2, 2}, {2, 2, 0, 0, 2, 2});
  const int32_t resized = graph->Op(kNpuResize, kNpuResizeBilinear, {pool}, {1, 2, 4, 4});
  const int32_t joined = graph->Op(kNpuConcat, 0, {conv, resized}, {1, 4, 4, 4}, {1});
  const int32_t turned = graph->Op(kNpuTranspose, 0, {joined}, {1, 4, 4, 4}, {0, 2, 3, 1});
  const int32_t sum = graph->Op(kNpuReduce, kNpuReduceSum, {turned}, {1, 1, 1, 4}, {6});
  const int32_t rows = graph->Op(kNpuReshape, 0, {sum}, {1, 4});
  const int32_t square = graph->Op(kNpuMatMul, 0, {rows, rows}, {4, 4}, {1, 0});
  const int32_t padded = graph->Op(kNpuPad, 0, {square}, {6, 6}, {1, 1});
  const int32_t part = graph->Op(kNpuSlice, 0, {padded}, {3, 6}, {0, 0, 0, 0, 2, 1});
  const int32_t indices = graph->Constant<int32_t>({2}, {1, 2}, kNpuInt32);
  const int32_t taken = graph->Op(kNpuGather, 0, {part, indices}, {2, 6}, {0});
  const int32_t tiled = graph->Op(kNpuTile, 0, {taken}, {4, 6});
  graph->Output(graph->Op(kNpuSoftmax, 0, {tiled}, {4, 6}, {1}, 1));
}

TEST(NpuBlob, round_trips) {
  NpuDeviceUser user;
  NpuGraphBuilder graph;
  BuildMixedGraph(&graph);
  const std::vector<uint8_t> blob = user.Compile(graph.graph());
  ASSERT_EQ(user.status(), kNpuOk) << user.error();
  NpuBuilder builder;
  NpuBuilderInit(&builder);
  ASSERT_EQ(NpuReadBlob(blob.data(), blob.size(), "stub-1.0", &builder, nullptr, 0), kNpuOk);
  EXPECT_EQ(user.Compile(builder.graph), blob);
  NpuBuilderFree(&builder);
}

TEST(NpuBlob, is_refused_when_cut_damaged_or_of_another_version) {
  NpuDeviceUser user;
  const std::vector<uint8_t> blob = SmallBlob(&user);
  ASSERT_EQ(ReadStatus(blob), kNpuOk);
  for (size_t length = 0; length < blob.size(); ++length) {
    EXPECT_EQ(ReadStatus({blob.begin(), blob.begin() + static_cast<ptrdiff_t>(length)}),
              kNpuBadBlob);
  }
  for (size_t bit = 0; bit < 8 * blob.size(); ++bit) {
    std::vector<uint8_t> damaged = blob;
    damaged[bit / 8] = static_cast<uint8_t>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(ReadStatus(damaged), kNpuBadBlob) << bit;
  }
  std::vector<uint8_t> newer = blob;
  std::memcpy(newer.data() + 8, "stub-2.0", 8);
  EXPECT_EQ(ReadStatus(newer), kNpuBadBlob);
}

// The blob's checksum is valid, so that its contents are checked.
TEST(NpuBlob, hostile_contents_are_refused_or_computed) {
  constexpr size_t kHeader = 56;
  NpuDeviceUser user;
  NpuGraphBuilder graph;
  BuildMixedGraph(&graph);
  const std::vector<uint8_t> blob = user.Compile(graph.graph());
  std::mt19937 random(7);
  int loaded = 0;
  for (int life = 0; life < 4000; ++life) {
    std::vector<uint8_t> hostile = blob;
    for (int change = 0; change < 1 + life % 3; ++change) {
      // A change replaces a whole word, because the payload consists of words of four bytes.
      const size_t word = kHeader / 4 + random() % ((blob.size() - kHeader) / 4);
      const int32_t values[] = {-1, 0,         1,         2,
                                5,  INT32_MAX, INT32_MIN, static_cast<int32_t>(random())};
      std::memcpy(&hostile[4 * word], &values[random() % 8], 4);
    }
    const uint64_t checksum =
        NpuHash(NPU_HASH_START, hostile.data() + kHeader, hostile.size() - kHeader);
    std::memcpy(hostile.data() + kHeader - 8, &checksum, 8);
    if (user.Load("hostile", hostile) != kNpuOk) continue;
    ++loaded;
    const uint64_t bytes = user.counters().bytes;
    if (bytes < 1 << 20) user.Run("hostile");
    user.api().unload(user.client(), "hostile");
  }
  EXPECT_GT(loaded, 100);
  EXPECT_EQ(user.counters().bytes, 0u);
}

}  // namespace
}  // namespace deputy::npu_device_test
