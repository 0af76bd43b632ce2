// SPDX-License-Identifier: Apache-2.0
//
// Tests the checks of memory around a call of foreign code, on a graph and arenas built by hand:
// constant contents are compared, writes outside of tensors are detected, and unwritten contents
// are restored.
#include "core/validation/validation_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/base/arena.h"
#include "tests/support/hand_graph.h"

namespace deputy::validation_contents_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kBytes = 40;

class Contents : public testing::Test {
 protected:
  // Builds a graph with three tensors next to each other at position 0; the fourth tensor uses part
  // of their memory at position 1.
  Contents() {
    arena_.SetGuard(kGuardBytes);
    std::vector<Arena::Slot> slots(4);
    for (int i = 0; i < 4; ++i) {
      slots[static_cast<size_t>(i)].bytes = kBytes;
      slots[static_cast<size_t>(i)].lifetime.Include(i == 3 ? 1 : 0);
    }
    EXPECT_TRUE(arena_.Plan(slots, Limits(), nullptr));
    for (int i = 0; i < 4; ++i) {
      TfLiteTensor* tensor = graph_->tensor(i);
      tensor->bytes = kBytes;
      tensor->data.raw = arena_.Address(i);
      memset(tensor->data.raw, 'a' + i, kBytes);
    }
  }
  char* Bytes(int tensor) { return graph_->tensor(tensor)->data.raw; }

  // Returns each damage as "2 before 5+1": tensor, kind, offset and number of bytes.
  static std::vector<std::string> Damages(const GuardedContents& contents) {
    std::vector<std::string> damages;
    contents.FindDamage([&](const GuardedContents::Damage& damage) {
      const char* kinds[] = {"before", "after", "inside"};
      damages.push_back(std::to_string(damage.tensor) + " " +
                        kinds[static_cast<size_t>(damage.kind)] + " " +
                        std::to_string(damage.offset) + "+" + std::to_string(damage.bytes));
    });
    return damages;
  }

  const std::vector<Role> roles_ = {Role::kInput, Role::kOther, Role::kOutput, Role::kOther};
  HandGraph graph_{4};
  Arena arena_, persistent_;
  GuardedContents contents_{&*graph_, &arena_, &persistent_};
};

TEST_F(Contents, of_other_tensors_must_not_change) {
  contents_.Take(roles_, nullptr, 0, -1);
  EXPECT_THAT(Damages(contents_), IsEmpty());
  Bytes(0)[3] = 'x';
  Bytes(1)[7] = Bytes(1)[9] = 'x';
  memset(Bytes(2), 'x', kBytes);  // tensor 2 is the node's output
  EXPECT_THAT(Damages(contents_), ElementsAre("0 inside 3+1", "1 inside 7+2"));
}

TEST_F(Contents, around_tensors_must_not_change) {
  contents_.Take(roles_, nullptr, 0, -1);
  Bytes(2)[-5] = 'x';
  Bytes(2)[kBytes + 2] = 'x';
  EXPECT_THAT(Damages(contents_), ElementsAre("2 before 5+1", "2 after 2+1"));
}

TEST_F(Contents, that_are_stale_on_the_delegate_itself_are_undefined) {
  TfLiteDelegate self = TfLiteDelegateCreate(), other = TfLiteDelegateCreate();
  for (const int index : {0, 1}) graph_->tensor(index)->data_is_stale = true;
  graph_->tensor(0)->delegate = &self;
  graph_->tensor(1)->delegate = &other;
  contents_.Take(roles_, &self, 0, -1);
  Bytes(0)[0] = Bytes(1)[0] = 'x';
  EXPECT_THAT(Damages(contents_), ElementsAre("1 inside 0+1"));
}

TEST_F(Contents, between_nodes_matter_if_they_persist_or_are_read_next) {
  contents_.Take(roles_, nullptr, -1, 1);
  Bytes(0)[0] = Bytes(1)[0] = 'x';
  EXPECT_THAT(Damages(contents_), ElementsAre("1 inside 0+1"));
}

TEST_F(Contents, that_are_not_written_are_detected_and_restored) {
  contents_.Take(roles_, nullptr, 0, -1);
  contents_.Fill(2);
  EXPECT_NE(Bytes(2)[0], 'c');
  EXPECT_THAT(contents_.TakeUntouched(), ElementsAre(2));
  EXPECT_EQ(std::string(Bytes(2), kBytes), std::string(kBytes, 'c'));
}

TEST_F(Contents, that_are_partly_written_count_as_written) {
  contents_.Take(roles_, nullptr, 0, -1);
  contents_.Fill(2);
  Bytes(2)[kBytes - 1] = 'x';
  EXPECT_THAT(contents_.TakeUntouched(), IsEmpty());
}

TEST_F(Contents, of_constants_have_checksums) {
  static char constant[19] = "eighteen bytes and";
  graph_->tensor(1)->allocation_type = kTfLiteMmapRo;
  graph_->tensor(1)->data.raw = constant;
  graph_->tensor(1)->bytes = sizeof constant;
  ConstantSums sums;
  EXPECT_THAT(sums.Update(*graph_), IsEmpty());
  EXPECT_THAT(sums.Update(*graph_), IsEmpty());
  constant[17] = 'x';
  Bytes(0)[0] = 'x';
  EXPECT_THAT(sums.Update(*graph_), ElementsAre(1));
  EXPECT_THAT(sums.Update(*graph_), IsEmpty());
  // A tensor that gets another constant is not compared with its old contents.
  static char another[19] = "other bytes";
  graph_->tensor(1)->data.raw = another;
  EXPECT_THAT(sums.Update(*graph_), IsEmpty());
}

}  // namespace
}  // namespace deputy::validation_contents_test
