// SPDX-License-Identifier: Apache-2.0
//
// Tests lists of observers: order of notifications, the data that observers need, and changes of
// the list while it notifies.
#include "core/exec/observer_list.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace deputy::observer_list_test {
namespace {

class Recorder final : public Observer {
 public:
  Recorder(std::string name, std::string* log, uint32_t needs = kNeedsNothing,
           size_t guard_bytes = 0)
      : name_(std::move(name)), log_(log), needs_(needs), guard_bytes_(guard_bytes) {}

  uint32_t needs() const override { return needs_; }
  size_t guard_bytes() const override { return guard_bytes_; }
  void Begin(const ForeignCall&) override {
    *log_ += name_ + "<";
    if (on_begin) on_begin();
  }
  void End(const ForeignCall&, const CallResult&) override { *log_ += ">" + name_; }
  void TilesDone(std::span<const TileWork> work) override {
    *log_ += name_ + std::to_string(work.size());
  }
  bool EnterFunction(Subgraph*, const char* function) override {
    *log_ += name_ + function;
    return valid;
  }

  std::function<void()> on_begin;
  bool valid = true;

 private:
  const std::string name_;
  std::string* const log_;
  const uint32_t needs_;
  const size_t guard_bytes_;
};

void Call(ObserverList* list) {
  list->Begin({});
  list->End({}, {});
}

TEST(ObserverList, notifies_begins_in_order_and_ends_in_reverse) {
  std::string log;
  Recorder a("a", &log), b("b", &log), c("c", &log);
  ObserverList list;
  EXPECT_EQ(list.active(), nullptr);
  for (Recorder* observer : {&a, &b, &c}) list.Add(observer);
  EXPECT_EQ(list.active(), &list);
  Call(&list);
  EXPECT_EQ(log, "a<b<c<>c>b>a");
  log.clear();
  list.Remove(&b);
  Call(&list);
  EXPECT_EQ(log, "a<c<>c>a");
  list.Remove(&a);
  list.Remove(&c);
  EXPECT_EQ(list.active(), nullptr);
}

TEST(ObserverList, combines_the_needs_of_its_observers) {
  std::string log;
  Recorder plain("p", &log), nodes("n", &log, kNeedsEveryNode, 16),
      exact("e", &log, kNeedsExactTensors, 8), tiles("t", &log, kNeedsTiles);
  ObserverList list;
  list.Add(&plain);
  EXPECT_EQ(list.needs(), kNeedsNothing);
  EXPECT_EQ(list.tile_observer(), nullptr);
  for (Recorder* observer : {&nodes, &exact, &tiles}) list.Add(observer);
  EXPECT_EQ(list.needs(), kNeedsEveryNode | kNeedsExactTensors | kNeedsTiles);
  EXPECT_EQ(list.guard_bytes(), 16u);
  ASSERT_EQ(list.tile_observer(), &list);
  const TileWork work[3] = {};
  list.tile_observer()->TilesDone(work);
  EXPECT_EQ(log, "t3");
  list.Remove(&nodes);
  EXPECT_EQ(list.needs(), kNeedsExactTensors | kNeedsTiles);
  EXPECT_EQ(list.guard_bytes(), 8u);
}

TEST(ObserverList, a_call_invalidated_by_one_observer_is_invalid_for_all) {
  std::string log;
  Recorder a("a", &log), b("b", &log);
  a.valid = false;
  ObserverList list;
  list.Add(&a);
  list.Add(&b);
  EXPECT_FALSE(list.EnterFunction(nullptr, "X"));
  EXPECT_EQ(log, "aXbX");
  a.valid = true;
  EXPECT_TRUE(list.EnterFunction(nullptr, "Y"));
}

TEST(ObserverList, may_change_while_it_notifies) {
  std::string log;
  Recorder a("a", &log), b("b", &log), c("c", &log);
  ObserverList list;
  list.Add(&a);
  list.Add(&b);
  a.on_begin = [&] {
    list.Remove(&b);
    list.Add(&c);
    a.on_begin = nullptr;
  };
  Call(&list);
  EXPECT_EQ(log, "a<c<>c>a");
}

}  // namespace
}  // namespace deputy::observer_list_test
