// SPDX-License-Identifier: Apache-2.0
//
// Tests the messages between the sandbox delegate and its process: every field survives encoding,
// and damaged messages are refused or decoded without a fault.
#include "bridges/sandbox/messages.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <string>

#include "bridges/sandbox/wire.h"
#include "tests/bridges/damage.h"

namespace deputy::sandbox_messages_test {
namespace {

using sandbox::Claims;
using sandbox::Clock;
using sandbox::Decode;
using sandbox::Encode;
using sandbox::Mapping;
using sandbox::Ready;
using sandbox::Receipt;
using sandbox::Resize;
using sandbox::Sizes;
using SetupMessage = sandbox::Setup;

SetupMessage SampleSetup() {
  SetupMessage setup;
  setup.library = "/lib/x.so";
  setup.options = {{"a", "1"}, {"b", ""}};
  setup.threads = 3;
  setup.profile = sandbox::Profile::kStrict;
  setup.memory_bytes = int64_t{5} << 40;
  setup.writable = {"/tmp", "/var"};
  setup.tensors = {{true, {1, 2}, 5}, {false, {}, 0x8000000000000000u}, {true, {}, 0, true}};
  setup.has_dynamic_sizes = true;
  setup.available = {3, 5};
  setup.outline = 0x9000000000000001u;
  return setup;
}

Claims SampleClaims() {
  Claims claims;
  claims.problem = "p";
  claims.confinement = "c";
  claims.dropped = {"?d", ""};
  claims.has_node_events = true;
  claims.support = {{7, 99, 5, "text"}, {-1, -2, -3, ""}};
  claims.claims = {{{1, 2}, {3}, {4, 5}, "kernel", 0xfedcba9876543210u}, {}};
  return claims;
}

Ready SampleReady() { return {"no", {{true, {{false, {1, 2}}, {true, {}}}}, {false, {}}}}; }

Resize SampleResize() { return {{{true, {1, 2}, 5}}, {{9, 4096, 12}}}; }

TEST(SandboxMessages, keep_every_field) {
  SetupMessage setup;
  ASSERT_TRUE(Decode(Encode(SampleSetup()), &setup));
  EXPECT_EQ(setup.library, "/lib/x.so");
  EXPECT_EQ(setup.options, SampleSetup().options);
  EXPECT_EQ(setup.threads, 3);
  EXPECT_EQ(setup.profile, sandbox::Profile::kStrict);
  EXPECT_EQ(setup.memory_bytes, int64_t{5} << 40);
  EXPECT_EQ(setup.writable, SampleSetup().writable);
  ASSERT_EQ(setup.tensors.size(), 3u);
  EXPECT_EQ(setup.tensors[0].dims, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(setup.tensors[0].identity, 5u);
  EXPECT_FALSE(setup.tensors[1].has_dims);
  EXPECT_EQ(setup.tensors[1].identity, 0x8000000000000000u);
  EXPECT_TRUE(setup.tensors[2].has_dims);
  EXPECT_FALSE(setup.tensors[0].is_dynamic);
  EXPECT_TRUE(setup.tensors[2].is_dynamic);
  EXPECT_TRUE(setup.has_dynamic_sizes);
  EXPECT_EQ(setup.available, (std::vector<int32_t>{3, 5}));
  EXPECT_EQ(setup.outline, 0x9000000000000001u);

  Claims claims;
  ASSERT_TRUE(Decode(Encode(SampleClaims()), &claims));
  EXPECT_EQ(claims.problem, "p");
  EXPECT_EQ(claims.confinement, "c");
  EXPECT_EQ(claims.dropped, (std::vector<std::string>{"?d", ""}));
  ASSERT_EQ(claims.claims.size(), 2u);
  EXPECT_EQ(claims.claims[0].nodes, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(claims.claims[0].inputs, (std::vector<int32_t>{3}));
  EXPECT_EQ(claims.claims[0].outputs, (std::vector<int32_t>{4, 5}));
  EXPECT_EQ(claims.claims[0].name, "kernel");
  EXPECT_EQ(claims.claims[0].digest, 0xfedcba9876543210u);

  EXPECT_TRUE(claims.has_node_events);
  ASSERT_EQ(claims.support.size(), 2u);
  EXPECT_EQ(claims.support[0].node, 7);
  EXPECT_EQ(claims.support[0].reason, 99);
  EXPECT_EQ(claims.support[0].group, 5);
  EXPECT_EQ(claims.support[0].text, "text");
  EXPECT_EQ(claims.support[1].node, -1);
  EXPECT_EQ(claims.support[1].reason, -2);

  Mapping mapping;
  ASSERT_TRUE(Decode(Encode(Mapping{8192, {{9, 4096, 12}}}), &mapping));
  EXPECT_EQ(mapping.size, 8192);
  ASSERT_EQ(mapping.slots.size(), 1u);
  EXPECT_EQ(mapping.slots[0].tensor, 9);
  EXPECT_EQ(mapping.slots[0].offset, 4096);
  EXPECT_EQ(mapping.slots[0].bytes, 12);

  sandbox::Records records;
  ASSERT_TRUE(Decode(Encode(sandbox::Records{{{1, 2, "name", "text", 3, 4, 5}}}), &records));
  ASSERT_EQ(records.records.size(), 1u);
  EXPECT_EQ(records.records[0].first_node, 1);
  EXPECT_EQ(records.records[0].node, 2);
  EXPECT_EQ(records.records[0].name, "name");
  EXPECT_EQ(records.records[0].text, "text");
  EXPECT_EQ(records.records[0].queued_ns, 3);
  EXPECT_EQ(records.records[0].begin_ns, 4);
  EXPECT_EQ(records.records[0].duration_ns, 5);
  const std::string name(1000, 'n'), text(70000, 't');
  ASSERT_TRUE(Decode(Encode(sandbox::Records{{{1, 2, name, text, 3, 4, 5}}}), &records));
  EXPECT_EQ(records.records[0].name, name.substr(0, 500));
  EXPECT_EQ(records.records[0].text, text.substr(0, 65536));

  Ready ready;
  ASSERT_TRUE(Decode(Encode(SampleReady()), &ready));
  EXPECT_EQ(ready.problem, "no");
  ASSERT_EQ(ready.partitions.size(), 2u);
  EXPECT_TRUE(ready.partitions[0].is_prepared);
  ASSERT_EQ(ready.partitions[0].outputs.size(), 2u);
  EXPECT_EQ(ready.partitions[0].outputs[0].dims, (std::vector<int32_t>{1, 2}));
  EXPECT_TRUE(ready.partitions[0].outputs[1].is_dynamic);
  EXPECT_FALSE(ready.partitions[1].is_prepared);

  Resize resize;
  ASSERT_TRUE(Decode(Encode(SampleResize()), &resize));
  ASSERT_EQ(resize.tensors.size(), 1u);
  EXPECT_EQ(resize.tensors[0].dims, (std::vector<int32_t>{1, 2}));
  ASSERT_EQ(resize.slots.size(), 1u);
  EXPECT_EQ(resize.slots[0].offset, 4096);

  Sizes sizes;
  ASSERT_TRUE(Decode(Encode(Sizes{{{7}, {}, {1, 2}}}), &sizes));
  EXPECT_EQ(sizes.dims, (std::vector<std::vector<int32_t>>{{7}, {}, {1, 2}}));
}

TEST(SandboxMessages, refuse_other_types_versions_and_lengths) {
  Mapping mapping;
  Ready ready;
  const std::string bytes = Encode(Ready{"x"});
  EXPECT_FALSE(Decode(bytes, &mapping));
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_FALSE(Decode(bytes.substr(0, i), &ready)) << i;
  EXPECT_FALSE(Decode(bytes + "y", &ready));
  std::string other_version = bytes;
  other_version[0] = 9;
  EXPECT_FALSE(Decode(other_version, &ready));
}

// Changes, removes and inserts bytes of a message, and decodes the result as each type. Sanitizers
// report a fault.
TEST(SandboxMessages, survive_damage) {
  std::mt19937 random(43);
  const std::string originals[] = {Encode(SampleSetup()),
                                   Encode(SampleClaims()),
                                   Encode(Mapping{8192, {{9, 4096, 12}, {1, 2, 3}}}),
                                   Encode(SampleReady()),
                                   Encode(sandbox::Records{{{1, 2, "name", "text", 3, 4, 5}}}),
                                   Encode(SampleResize()),
                                   Encode(Sizes{{{7}, {}, {1, 2}}})};
  constexpr int kMessages = 100000;
  int accepted = 0;
  for (int i = 0; i < kMessages; ++i) {
    const std::string bytes = Damaged(originals[random() % 7], &random);
    SetupMessage setup;
    Claims claims;
    Mapping mapping;
    Ready ready;
    sandbox::Records records;
    Resize resize;
    Sizes sizes;
    accepted += Decode(bytes, &setup) || Decode(bytes, &claims) || Decode(bytes, &mapping) ||
                Decode(bytes, &ready) || Decode(bytes, &records) || Decode(bytes, &resize) ||
                Decode(bytes, &sizes);
  }
  // A changed letter or number is not noticed; most other changes are.
  EXPECT_LT(accepted, kMessages / 2);
  EXPECT_GT(accepted, 0);
}

class SandboxWire : public testing::Test {
 protected:
  SandboxWire() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_), 0); }
  ~SandboxWire() override {
    close(sockets_[0]);
    if (sockets_[1] >= 0) close(sockets_[1]);
  }
  static Clock::time_point Soon() { return Clock::now() + std::chrono::milliseconds(20); }
  Receipt Receive(std::string* out) {
    return sandbox::ReceiveMessage(sockets_[0], -1, Soon(), out);
  }
  void CloseOther() {
    close(sockets_[1]);
    sockets_[1] = -1;
  }
  int sockets_[2] = {-1, -1};
};

TEST_F(SandboxWire, transports_messages_in_order) {
  EXPECT_EQ(sandbox::SendMessage(sockets_[1], "one", -1, Soon()), Receipt::kMessage);
  EXPECT_EQ(sandbox::SendMessage(sockets_[1], "", -1, Soon()), Receipt::kMessage);
  CloseOther();
  std::string message;
  EXPECT_EQ(Receive(&message), Receipt::kMessage);
  EXPECT_EQ(message, "one");
  EXPECT_EQ(Receive(&message), Receipt::kMessage);
  EXPECT_EQ(message, "");
  EXPECT_EQ(Receive(&message), Receipt::kClosed);
}

TEST_F(SandboxWire, observes_the_deadline_and_the_size) {
  std::string message;
  EXPECT_EQ(Receive(&message), Receipt::kDeadline);
  const uint64_t size = sandbox::kMaxMessage + 1;
  ASSERT_EQ(write(sockets_[1], &size, sizeof size), ssize_t{sizeof size});
  EXPECT_EQ(Receive(&message), Receipt::kInvalid);
}

TEST_F(SandboxWire, notices_an_end_within_a_message) {
  const uint64_t size = 100;
  ASSERT_EQ(write(sockets_[1], &size, sizeof size), ssize_t{sizeof size});
  ASSERT_EQ(write(sockets_[1], "abc", 3), 3);
  CloseOther();
  std::string message;
  EXPECT_EQ(Receive(&message), Receipt::kClosed);
}

}  // namespace
}  // namespace deputy::sandbox_messages_test
