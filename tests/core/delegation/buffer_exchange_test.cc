// SPDX-License-Identifier: Apache-2.0
//
// Tests buffers outside of host memory in which delegates and the client pass tensors. The
// delegates (tests/plugins/exchanging.cc) log where they read and write tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "core/plugin/plugin_delegate.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::buffer_exchange_test {
namespace {

using testing::HasSubstr;
using testing::Not;

using Values = std::vector<float>;

// Tensors of the model: x, y = x + x, z = y + y, u = z + z; with `forks` also w = y + y.
constexpr int kX = 0, kY = 1, kZ = 2, kU = 3;

std::vector<uint8_t> Chain(bool forks) {
  ModelBuilder m;
  std::vector<int> tensors;
  for (const char* name : {"x", "y", "z", "u", "w"}) {
    tensors.push_back(m.AddTensor(kTfLiteFloat32, {4}, name));
  }
  const auto twice = [&](int from, int to) {
    m.AddOp(kTfLiteBuiltinAdd, {from, from}, {to}, schema::CreateAddOptions(m.fbb()));
  };
  twice(kX, kY), twice(kY, kZ), twice(kZ, kU);
  if (forks) twice(kY, 4);
  m.SetInputs({kX});
  m.SetOutputs(forks ? std::vector<int32_t>{kU, 4} : std::vector<int32_t>{kU});
  return m.Finish();
}

class BufferExchange : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    Start();
  }
  void TearDown() override {
    t_.reset();
    delegates_.clear();
    QuietTest::TearDown();
  }

  // Creates an interpreter without delegates.
  void Start(DeputyDelegatePolicy policy = kDeputyPolicyTfLite, bool forks = false) {
    t_.reset();
    delegates_.clear();
    std::remove(log_.c_str());
    t_ = std::make_unique<TestInterpreter>(Chain(forks), [&](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
    });
  }
  // Applies a delegate that claims the node.
  TfLiteDelegate* Add(int node, const std::string& types, Options more = {}) {
    more.insert(more.end(), {{"node", std::to_string(node)}, {"types", types}, {"log", log_}});
    delegates_.push_back(External("exchanging", more));
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), delegates_.back().get()),
              kTfLiteOk)
        << t_->log();
    return delegates_.back().get();
  }
  void Allocate() {
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    Log();
  }
  // Runs the model and expects u = 8 x.
  void Run(float x = 1) {
    t_->Set<float>(0, {x, -2, 3, -4});
    ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
    EXPECT_EQ(t_->Get<float>(0), (Values{8 * x, -16, 24, -32}));
  }
  // Returns the log since the last call.
  std::string Log() {
    const std::string all = ReadText(log_);
    std::remove(log_.c_str());
    return all;
  }
  DeputyBufferEdge Edge(size_t index) {
    DeputyBufferEdge edge{};
    edge.struct_size = sizeof edge;
    EXPECT_EQ(DeputyInterpreterGetBufferEdge(t_->get(), 0, index, &edge), kTfLiteOk) << index;
    return edge;
  }
  static TfLiteStatus SetFault(TfLiteDelegate* delegate, const char* fault) {
    const char* const key = "fault";
    return DeputyPluginSetDelegateOptions(delegate, &key, &fault, 1);
  }
  size_t Edges() { return DeputyInterpreterGetBufferEdgeCount(t_->get(), 0); }

  const std::string log_ = ScratchFile("buffer_exchange.log");
  std::vector<Handle> delegates_;
  std::unique_ptr<TestInterpreter> t_;
};

// ---- Between delegates --------------------------------------------------------------------------

TEST_F(BufferExchange, delegates_with_a_common_type_share_the_buffer) {
  const std::vector<std::pair<const char*, int>> kinds = {{"shared", kDeputyMemoryShared},
                                                          {"dma_buf", kDeputyMemoryDmaBuf},
                                                          {"opaque:7", kDeputyMemoryOpaque}};
  for (const auto& [types, type] : kinds) {
    Start();
    Add(0, types), Add(1, types);
    Allocate();
    ASSERT_EQ(Edges(), 1u);
    EXPECT_EQ(Edge(0).tensor_index, kY);
    EXPECT_EQ(Edge(0).memory_type, type);
    EXPECT_EQ(Edge(0).bytes, 16u);
    Run(1);
    EXPECT_EQ(Log(),
              "invoke; read host; write buffer; export; import; invoke; read buffer; write host; ");
    Run(5);
    EXPECT_EQ(Log(), "invoke; read host; write buffer; invoke; read buffer; write host; ");
    EXPECT_EQ(Edge(0).shared_runs, 2);
    EXPECT_EQ(Edge(0).copied_runs, 0);
    EXPECT_STREQ(Edge(0).reason, "");
    // The client reads the tensor, which is copied to the host.
    EXPECT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t_->get(), kY), kTfLiteOk);
    EXPECT_EQ(TestInterpreter::Values<float>(t_->Tensor(kY)), (Values{10, -4, 6, -8}));
    EXPECT_EQ(Log(), "copy_from; ");
  }
}

TEST_F(BufferExchange, delegates_without_a_common_type_use_host_memory) {
  const std::vector<std::pair<const char*, const char*>> kinds = {
      {"shared", "dma_buf"}, {"opaque:1", "opaque:2"}, {"", "shared"},
      {"shared", ""},        {"host", "host"},         {"unknown", "unknown"}};
  for (const auto& [first, second] : kinds) {
    Start();
    Add(0, first), Add(1, second);
    Allocate();
    ASSERT_EQ(Edges(), 1u);
    EXPECT_EQ(Edge(0).memory_type, kDeputyMemoryHost) << first << " " << second;
    EXPECT_STREQ(Edge(0).reason, "the delegates have no type of memory in common");
    Run(1), Run(2);
    EXPECT_THAT(Log(), Not(HasSubstr("buffer")));
    EXPECT_EQ(Edge(0).shared_runs, 0);
    EXPECT_EQ(Edge(0).copied_runs, 2);
  }
}

TEST_F(BufferExchange, the_producers_preference_decides) {
  Add(0, "opaque:1,dma_buf,shared"), Add(1, "shared,dma_buf");
  Allocate();
  EXPECT_EQ(Edge(0).memory_type, kDeputyMemoryDmaBuf);
  Run();
}

TEST_F(BufferExchange, requirements_of_the_consumer_hold_for_the_producer) {
  // The producer's offset is 16; its buffers have the padding of the merged requirements.
  const std::vector<std::pair<Options, bool>> consumers = {{{{"alignment", "16"}}, true},
                                                           {{{"alignment", "32"}}, false},
                                                           {{{"padding", "100"}}, true},
                                                           {{{"alignment", "3"}}, false}};
  for (const auto& [options, shares] : consumers) {
    Start();
    Add(0, "shared", {{"offset", "16"}}), Add(1, "shared", options);
    Allocate();
    Run();
    EXPECT_EQ(Edge(0).shared_runs, shares ? 1 : 0) << options[0].second;
    EXPECT_EQ(Edge(0).copied_runs, shares ? 0 : 1);
    if (options[0].second == "32") {
      EXPECT_STREQ(Edge(0).reason, "expected an offset aligned to 32, found 16");
      EXPECT_THAT(t_->log(), HasSubstr("tensor 1 'y' passes through host memory: expected an "
                                       "offset aligned to 32, found 16"));
    }
  }
}

TEST_F(BufferExchange, three_delegates_share_two_buffers) {
  Add(2, "shared"), Add(0, "shared"), Add(1, "shared");
  Allocate();
  ASSERT_EQ(Edges(), 2u);
  Run(1), Run(2), Run(3);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Edge(i).shared_runs, 3);
    EXPECT_EQ(Edge(i).copied_runs, 0);
  }
  EXPECT_THAT(Log(), Not(HasSubstr("copy_from")));
}

// The node on the CPU runs before the second delegate, which then reads the host's copy.
TEST_F(BufferExchange, a_node_on_the_cpu_reads_the_host_copy) {
  Start(kDeputyPolicyTfLite, true);
  Add(0, "shared"), Add(1, "shared");
  Allocate();
  Run();
  EXPECT_EQ(t_->Get<float>(1), (Values{4, -8, 12, -16}));
  EXPECT_EQ(Edge(0).copied_runs, 1);
  EXPECT_EQ(Log(), "invoke; read host; write buffer; copy_from; invoke; read host; write host; ");
}

TEST_F(BufferExchange, each_consumer_of_a_tensor_imports_it) {
  Start(kDeputyPolicyTfLite, true);
  Add(0, "shared"), Add(1, "shared"), Add(3, "opaque:1");
  Allocate();
  ASSERT_EQ(Edges(), 2u);
  Run();
  EXPECT_EQ(t_->Get<float>(1), (Values{4, -8, 12, -16}));
  EXPECT_EQ(Edge(0).shared_runs, 1);
  EXPECT_EQ(Edge(1).copied_runs, 1);
  EXPECT_EQ(Edge(1).memory_type, kDeputyMemoryHost);
}

TEST_F(BufferExchange, a_delegate_with_layers_uses_host_memory) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  Add(0, "shared");
  const ScopedEnvironment layers("DEPUTY_LAYERS", "deadline=60s");
  Add(1, "shared");
  EXPECT_NE(Unwrap(delegates_[0].get()).library->plugin()->memory_types, nullptr);
  EXPECT_EQ(Unwrap(delegates_[1].get()).library->plugin()->memory_types, nullptr);
  Allocate();
  Run();
  EXPECT_EQ(Edge(0).copied_runs, 1);
}

TEST_F(BufferExchange, imported_handles_are_freed) {
  Add(0, "shared"), Add(1, "shared");
  Allocate();
  Run();
  Log();
  ASSERT_EQ(t_->Resize(0, {8}), kTfLiteOk);
  ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
  EXPECT_THAT(Log(), HasSubstr("free; "));
  t_->Set<float>(0, {1, 2, 3, 4, 5, 6, 7, 8});
  ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
  EXPECT_EQ(t_->Get<float>(0), (Values{8, 16, 24, 32, 40, 48, 56, 64}));
  EXPECT_EQ(Edge(0).shared_runs, 1);
  Log();
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t_->get()), kTfLiteOk);
  EXPECT_THAT(Log(), HasSubstr("free; "));
  EXPECT_EQ(Edges(), 0u);
  ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
}

// ---- Delegates that fail ------------------------------------------------------------------------

struct Fault {
  int node;
  const char* fault;
  const char* types;
  const char* reason;  // part of the edge's reason
};

const Fault kFaults[] = {
    {0, "export", "shared", "the export failed"},
    {0, "!export", "shared", "the export failed"},
    {0, "wrong_type", "shared", "expected memory of type 3 in domain 0, found type 1 in domain 0"},
    {0, "wrong_domain", "opaque:4", "type 4 in domain 4, found type 4 in domain 5"},
    {0, "wrong_bytes", "shared", "expected a buffer for 16 bytes, found one for 12"},
    {0, "wrong_size", "shared",
     "expected at least 16 bytes and 0 of padding from offset 0 on, found "
     "a buffer of 15"},
    {0, "wrong_offset", "shared", "from offset 18446744073709551615 on"},
    {0, "small_file", "shared", "expected a file of 4112 bytes, found one of 16"},
    {0, "no_file", "shared", "expected the descriptor of a file, found -1"},
    {0, "closed_file", "dma_buf", "expected the descriptor of a file, found 1000000"},
    {0, "no_object", "opaque:1", "expected an object, found NULL"},
    {0, "share", "shared", "no type of memory in common"},
    {0, "!share", "shared", "no type of memory in common"},
    {0, "types", "shared", "no type of memory in common"},
    {1, "types", "shared", "no type of memory in common"},
    {1, "!types", "shared", "no type of memory in common"},
    {1, "small_struct", "shared", "no type of memory in common"},
    {1, "import", "shared", "the import failed"},
    {1, "!import", "shared", "the import failed"},
    {1, "null_handle", "shared", "the import failed"},
};

TEST_F(BufferExchange, a_failed_exchange_uses_host_memory) {
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.fault);
    Start();
    for (const int node : {0, 1}) {
      Add(node, fault.types, node == fault.node ? Options{{"fault", fault.fault}} : Options{});
    }
    Allocate();
    Run(1), Run(2);
    EXPECT_EQ(Edge(0).shared_runs, 0);
    EXPECT_EQ(Edge(0).copied_runs, 2);
    EXPECT_THAT(Edge(0).reason, HasSubstr(fault.reason));
    EXPECT_EQ(Edge(0).memory_type, kDeputyMemoryHost);
    if (fault.fault[0] == '!') {
      EXPECT_THAT(t_->log(), HasSubstr(std::string(fault.fault).substr(1)));
      EXPECT_THAT(t_->log(), HasSubstr("as requested"));
    }
  }
}

TEST_F(BufferExchange, an_invalid_handle_fails_the_run_or_restarts_it) {
  for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    Start(policy);
    Add(0, "shared", {{"fault", "stale"}}), Add(1, "shared");
    Allocate();
    if (policy == kDeputyPolicyHot) {
      Run();
      EXPECT_THAT(t_->log(), HasSubstr("export_buffer failed"));
    } else {
      t_->Set<float>(0, {1, -2, 3, -4});
      EXPECT_EQ(t_->Invoke(), kTfLiteError);
      EXPECT_THAT(t_->log(), HasSubstr("the delegate could not copy buffer handle"));
    }
  }
}

TEST_F(BufferExchange, the_cpu_computes_nodes_that_fail) {
  for (const int failing : {0, 1}) {
    Start(kDeputyPolicyHot);
    TfLiteDelegate* pair[2] = {Add(0, "shared"), Add(1, "shared")};
    Allocate();
    Run(1);
    ASSERT_EQ(SetFault(pair[failing], "invoke"), kTfLiteOk);
    Run(2);
    DeputyDelegationStatus status{};
    status.struct_size = sizeof status;
    ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t_->get(), &status), kTfLiteOk);
    EXPECT_EQ(status.recomputed_nodes, 1);
    ASSERT_EQ(SetFault(pair[failing], ""), kTfLiteOk);
    Run(3);
    EXPECT_EQ(Edge(0).shared_runs, failing == 0 ? 2 : 3);
    EXPECT_EQ(Edge(0).copied_runs, failing == 0 ? 1 : 0);
  }
}

// ---- Buffers of the client ----------------------------------------------------------------------

// Shared memory with `count` values from `offset` on.
class ClientMemory {
 public:
  explicit ClientMemory(size_t count, size_t offset = 0) : offset_(offset) {
    size_ = offset + count * sizeof(float);
    file_ = memfd_create("client", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(size_)), 0);
    map_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
  }
  ~ClientMemory() {
    munmap(map_, size_);
    close(file_);
  }
  ClientMemory(const ClientMemory&) = delete;
  ClientMemory& operator=(const ClientMemory&) = delete;

  DeputyBuffer Describe() const {
    DeputyBuffer buffer{};
    buffer.struct_size = sizeof buffer;
    buffer.type = kDeputyMemoryShared;
    buffer.file = file_;
    buffer.offset = offset_;
    buffer.size = size_;
    return buffer;
  }
  void Write(const Values& values) {
    memcpy(map_ + offset_, values.data(), values.size() * sizeof(float));
  }
  Values Read(size_t count) const {
    Values values(count);
    memcpy(values.data(), map_ + offset_, count * sizeof(float));
    return values;
  }

 private:
  size_t offset_, size_ = 0;
  int file_ = -1;
  char* map_ = nullptr;
};

class BoundBuffer : public BufferExchange {
 protected:
  TfLiteStatus Bind(int tensor, const DeputyBuffer* buffer) {
    return DeputyInterpreterBindBuffer(t_->get(), 0, tensor, buffer);
  }
  TfLiteStatus Bind(int tensor, const ClientMemory& memory) {
    const DeputyBuffer buffer = memory.Describe();
    return Bind(tensor, &buffer);
  }
};

TEST_F(BoundBuffer, inputs_and_outputs_are_not_copied) {
  Add(0, "shared"), Add(1, "shared"), Add(2, "shared");
  Allocate();
  ClientMemory in(4, 12), out(4, 8);
  ASSERT_EQ(Bind(kX, in), kTfLiteOk) << t_->log();
  ASSERT_EQ(Bind(kU, out), kTfLiteOk) << t_->log();
  Log();
  for (const float x : {1.0f, 2.0f, 3.0f}) {
    in.Write({x, -2, 3, -4});
    ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
    EXPECT_EQ(out.Read(4), (Values{8 * x, -16, 24, -32}));
    const std::string log = Log();
    EXPECT_THAT(log, Not(HasSubstr("host")));
    EXPECT_THAT(log, Not(HasSubstr("copy_from")));
  }
  ASSERT_EQ(Edges(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Edge(i).shared_runs, 3) << i;
    EXPECT_EQ(Edge(i).copied_runs, 0) << i;
  }
  EXPECT_EQ(Edge(2).producer, -1);
  EXPECT_EQ(Edge(3).consumer, -1);
  EXPECT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t_->get(), kU), kTfLiteOk);
  EXPECT_EQ(t_->Get<float>(0), (Values{24, -16, 24, -32}));
  // Unbound tensors are in host memory again.
  ASSERT_EQ(Bind(kX, nullptr), kTfLiteOk);
  ASSERT_EQ(Bind(kU, nullptr), kTfLiteOk);
  Run(7);
  EXPECT_EQ(out.Read(1), Values{24});
}

TEST_F(BoundBuffer, another_buffer_replaces_it) {
  Add(0, "shared");
  Allocate();
  ClientMemory first(4), second(4);
  first.Write({1, 1, 1, 1}), second.Write({2, 2, 2, 2});
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(Bind(kX, first), kTfLiteOk);
    ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
    EXPECT_EQ(t_->Get<float>(0), (Values{8, 8, 8, 8}));
    ASSERT_EQ(Bind(kX, second), kTfLiteOk);
    ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
    EXPECT_EQ(t_->Get<float>(0), (Values{16, 16, 16, 16}));
  }
  EXPECT_EQ(Edges(), 1u);
  EXPECT_EQ(Edge(0).shared_runs, 6);
}

TEST_F(BoundBuffer, stays_when_another_one_is_refused) {
  Add(0, "shared");
  Allocate();
  ClientMemory first(4), small(3);
  first.Write({1, 1, 1, 1});
  ASSERT_EQ(Bind(kX, first), kTfLiteOk);
  EXPECT_EQ(Bind(kX, small), kTfLiteError);
  ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
  EXPECT_EQ(t_->Get<float>(0), (Values{8, 8, 8, 8}));
  EXPECT_EQ(Edge(0).shared_runs, 1);
}

TEST_F(BoundBuffer, stays_when_tensors_are_allocated_again) {
  Add(0, "shared");
  Allocate();
  ClientMemory in(8);
  in.Write({1, 2, 3, 4, 5, 6, 7, 8});
  ASSERT_EQ(Bind(kX, in), kTfLiteOk);
  ASSERT_EQ(t_->Resize(0, {8}), kTfLiteOk);
  ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
  ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
  EXPECT_EQ(t_->Get<float>(0), (Values{8, 16, 24, 32, 40, 48, 56, 64}));
  // A buffer that is too small fails runs until it is unbound.
  ASSERT_EQ(t_->Resize(0, {9}), kTfLiteOk);
  ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
  EXPECT_EQ(t_->Invoke(), kTfLiteError);
  EXPECT_THAT(t_->log(), HasSubstr("tensor 0 'x': the client's buffer cannot be used: expected at "
                                   "least 36 bytes and 0 of padding from offset 0 on, found a "
                                   "buffer of 32"));
  ASSERT_EQ(Bind(kX, nullptr), kTfLiteOk);
  EXPECT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
}

TEST_F(BoundBuffer, fails_runs_after_the_delegate_was_removed) {
  Add(0, "shared");
  Allocate();
  ClientMemory in(4);
  ASSERT_EQ(Bind(kX, in), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t_->get()), kTfLiteOk);
  EXPECT_EQ(t_->Invoke(), kTfLiteError);
  EXPECT_THAT(t_->log(), HasSubstr("no node of a delegate uses it"));
  ASSERT_EQ(Bind(kX, nullptr), kTfLiteOk);
  Run();
}

TEST_F(BoundBuffer, receives_what_the_cpu_computes_after_a_failure) {
  Start(kDeputyPolicyHot);
  Add(2, "shared", {{"fault", "invoke"}});
  Allocate();
  ClientMemory out(4);
  ASSERT_EQ(Bind(kU, out), kTfLiteOk);
  t_->Set<float>(0, {1, -2, 3, -4});
  ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
  EXPECT_EQ(out.Read(4), (Values{8, -16, 24, -32}));
  EXPECT_THAT(Log(), HasSubstr("copy_to; "));
  EXPECT_EQ(Edge(0).copied_runs, 1);
}

TEST_F(BoundBuffer, wrong_buffers_are_refused) {
  Add(0, "shared", {{"alignment", "64"}});
  ClientMemory in(4), small(3), odd(4, 4);
  EXPECT_EQ(Bind(kX, in), kTfLiteOk) << "static delegates allocate tensors";
  ASSERT_EQ(Bind(kX, nullptr), kTfLiteOk);
  Allocate();
  DeputyBuffer buffer = in.Describe();
  const auto expect_refusal = [&](int tensor, const DeputyBuffer& refused, const char* text) {
    t_->ClearLog();
    EXPECT_EQ(Bind(tensor, &refused), kTfLiteError);
    EXPECT_THAT(t_->log(), HasSubstr(text));
  };
  expect_refusal(kX, small.Describe(), "found a buffer of 12");
  expect_refusal(kX, odd.Describe(), "expected an offset aligned to 64, found 4");
  expect_refusal(kU, buffer, "no node of a delegate uses it");
  expect_refusal(kY, buffer, "expected the index of an input or output");
  expect_refusal(-1, buffer, "expected the index of an input or output");
  expect_refusal(99, buffer, "expected the index of an input or output");
  buffer.type = kDeputyMemoryDmaBuf;
  expect_refusal(kX, buffer, "expected memory of type 3 in domain 0, found type 1 in domain 0");
  buffer = in.Describe();
  buffer.file = -1;
  expect_refusal(kX, buffer, "expected the descriptor of a file, found -1");
  buffer.struct_size = 8;
  expect_refusal(kX, buffer, "expected a buffer with its struct_size");
  EXPECT_EQ(DeputyInterpreterBindBuffer(nullptr, 0, kX, &buffer), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterBindBuffer(t_->get(), 1, kX, &buffer), kTfLiteError);
  Run();
}

TEST_F(BoundBuffer, types_are_those_that_all_nodes_accept) {
  using Types = std::vector<std::pair<int, uint64_t>>;
  const auto types_of = [&](int tensor) {
    Types types;
    const auto add = [](void* data, const DeputyMemoryRequirements* type) {
      static_cast<Types*>(data)->emplace_back(type->type, type->domain);
    };
    EXPECT_EQ(DeputyInterpreterListMemoryTypes(t_->get(), 0, tensor, add, &types), kTfLiteOk);
    return types;
  };
  Add(0, "opaque:9,shared"), Add(2, "dma_buf");
  Allocate();
  EXPECT_EQ(types_of(kX), (Types{{kDeputyMemoryOpaque, 9}, {kDeputyMemoryShared, 0}}));
  EXPECT_EQ(types_of(kU), (Types{{kDeputyMemoryDmaBuf, 0}}));
  EXPECT_EQ(DeputyInterpreterListMemoryTypes(t_->get(), 0, kX, nullptr, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetBufferEdgeCount(t_->get(), 5), 0u);
  DeputyBufferEdge edge{};
  edge.struct_size = sizeof edge;
  EXPECT_EQ(DeputyInterpreterGetBufferEdge(t_->get(), 0, 99, &edge), kTfLiteError);
}

}  // namespace
}  // namespace deputy::buffer_exchange_test
