// SPDX-License-Identifier: Apache-2.0
//
// Tests profilers: events of an interpreter, and the classes of profiling/.
#include "tensorflow/lite/core/api/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/profiling/buffered_profiler.h"
#include "tensorflow/lite/profiling/root_profiler.h"
#include "tensorflow/lite/profiling/telemetry/profiler.h"
#include "tests/bindings/cpp/support/sum_model.h"

namespace deputy::cpp_test {
namespace {

using testing::ElementsAre;
using tflite::Profiler;
using tflite::profiling::BufferedProfiler;

// Writes a line per call. The numbers of events begin at 100.
class LogProfiler : public Profiler {
 public:
  explicit LogProfiler(std::vector<std::string>* log) : log_(log) {}

  uint32_t BeginEvent(const char* tag, EventType type, int64_t first, int64_t second) override {
    log_->push_back("begin " + std::string(tag) + " " + std::to_string(static_cast<int>(type)) +
                    " " + std::to_string(first) + " " + std::to_string(second));
    return next_++;
  }
  void EndEvent(uint32_t event) override { log_->push_back("end " + std::to_string(event)); }
  void EndEvent(uint32_t event, int64_t first, int64_t second) override {
    log_->push_back("end " + std::to_string(event) + " " + std::to_string(first) + " " +
                    std::to_string(second));
  }

 private:
  std::vector<std::string>* log_;
  uint32_t next_ = 100;
};

class ProfilerTest : public testing::Test {
 protected:
  void SetUp() override {
    model_ = tflite::FlatBufferModel::BuildFromBuffer(bytes_.data(), bytes_.size());
    ASSERT_EQ(tflite::InterpreterBuilder(*model_,
                                         tflite::ops::builtin::BuiltinOpResolver{})(&interpreter_),
              kTfLiteOk);
    ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  }

  const std::string bytes_ = SumModel();
  std::unique_ptr<tflite::FlatBufferModel> model_;
  std::unique_ptr<tflite::Interpreter> interpreter_;
  std::vector<std::string> log_;
};

TEST_F(ProfilerTest, receives_operators_and_calls) {
  LogProfiler profiler(&log_);
  interpreter_->SetProfiler(&profiler);
  EXPECT_NE(interpreter_->GetProfiler(), nullptr);
  EXPECT_EQ(interpreter_->subgraph(1)->context()->profiler,
            interpreter_->subgraph(1)->GetProfiler());
  ASSERT_EQ(interpreter_->Invoke(), kTfLiteOk);
  EXPECT_THAT(log_,
              ElementsAre("begin invoke 16 -1 0", "begin ADD 2 0 0", "end 101", "end 100 0 0"));
}

TEST_F(ProfilerTest, is_replaced_and_removed) {
  std::vector<std::string> second;
  LogProfiler profiler(&log_);
  interpreter_->SetProfiler(&profiler);
  interpreter_->SetProfiler(std::make_unique<LogProfiler>(&second));
  ASSERT_EQ(interpreter_->Invoke(), kTfLiteOk);
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(second.size(), 4u);
  interpreter_->SetProfiler(static_cast<Profiler*>(nullptr));
  EXPECT_EQ(interpreter_->GetProfiler(), nullptr);
  EXPECT_EQ(interpreter_->subgraph(0)->context()->profiler, nullptr);
  ASSERT_EQ(interpreter_->Invoke(), kTfLiteOk);
  EXPECT_EQ(second.size(), 4u);
}

TEST_F(ProfilerTest, shares_events_with_a_second_one) {
  std::vector<std::string> second;
  LogProfiler profiler(&log_);
  interpreter_->AddProfiler(&profiler);
  interpreter_->AddProfiler(std::make_unique<LogProfiler>(&second));
  ASSERT_EQ(interpreter_->Invoke(), kTfLiteOk);
  EXPECT_EQ(log_, second);
  EXPECT_EQ(log_.size(), 4u);
}

// A delegate adds events to the profiler of its context.
TEST_F(ProfilerTest, numbers_the_events_of_a_context) {
  LogProfiler profiler(&log_);
  interpreter_->SetProfiler(&profiler);
  auto* const of_context = static_cast<Profiler*>(interpreter_->subgraph(1)->context()->profiler);
  of_context->EndEvent(of_context->BeginEvent("work", Profiler::EventType::DEFAULT, 7));
  EXPECT_THAT(log_, ElementsAre("begin work 1 7 1", "end 100"));
}

class LogTelemetry : public tflite::telemetry::TelemetryProfiler {
 public:
  explicit LogTelemetry(std::vector<std::string>* log) : log_(log) {}
  void ReportTelemetryEvent(const char* name,
                            tflite::telemetry::TelemetryStatusCode status) override {
    log_->push_back("event " + std::string(name) + " " + std::to_string(status.status_code));
  }
  void ReportTelemetryOpEvent(const char* name, int64_t node, int64_t,
                              tflite::telemetry::TelemetryStatusCode) override {
    log_->push_back("operator " + std::string(name) + " " + std::to_string(node));
  }
  void ReportSettings(const char*, const TfLiteTelemetrySettings*) override {}
  uint32_t ReportBeginOpInvokeEvent(const char* name, int64_t node, int64_t subgraph) override {
    log_->push_back("begin " + std::string(name) + " " + std::to_string(node) + " " +
                    std::to_string(subgraph));
    return 7;
  }
  void ReportEndOpInvokeEvent(uint32_t event) override {
    log_->push_back("end " + std::to_string(event));
  }
  void ReportOpInvokeEvent(const char*, uint64_t, int64_t, int64_t) override {}

 private:
  std::vector<std::string>* log_;
};

TEST_F(ProfilerTest, is_given_to_the_builder) {
  const tflite::ops::builtin::BuiltinOpResolver resolver;
  tflite::InterpreterBuilder builder(*model_, resolver);
  builder.SetTelemetryProfiler(std::make_unique<LogTelemetry>(&log_));
  ASSERT_EQ(builder(&interpreter_), kTfLiteOk);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  ASSERT_EQ(interpreter_->Invoke(), kTfLiteOk);
  EXPECT_THAT(log_, ElementsAre("begin ADD 0 0", "end 7", "event Invoke 0"));
}

TEST(BufferedProfilerTest, records_while_it_is_started) {
  BufferedProfiler profiler(2);
  profiler.EndEvent(profiler.BeginEvent("before", Profiler::EventType::DEFAULT, 0, 0));
  profiler.StartProfiling();
  profiler.EndEvent(profiler.BeginEvent("node", Profiler::EventType::OPERATOR_INVOKE_EVENT, 3, 1));
  profiler.BeginEvent("status", Profiler::EventType::GENERAL_RUNTIME_INSTRUMENTATION_EVENT, 0, 0);
  profiler.AddEvent("added", Profiler::EventType::DELEGATE_OPERATOR_INVOKE_EVENT, 50, 4, 2);
  profiler.AddEvent("too many", Profiler::EventType::DEFAULT, 1, 0, 0);
  profiler.StopProfiling();
  const auto events = profiler.GetProfileEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]->tag, "node");
  EXPECT_EQ(events[0]->event_metadata, 3);
  EXPECT_EQ(events[0]->extra_event_metadata, 1);
  EXPECT_GT(events[0]->begin_timestamp_us, 0u);
  EXPECT_EQ(events[1]->elapsed_time, 50u);
  profiler.Reset();
  EXPECT_TRUE(profiler.GetProfileEvents().empty());
}

TEST(ScopedProfileTest, lasts_as_long_as_its_scope) {
  std::vector<std::string> log;
  LogProfiler profiler(&log);
  {
    TFLITE_SCOPED_TAGGED_OPERATOR_PROFILE(&profiler, "scope", 5);
    TFLITE_ADD_RUNTIME_INSTRUMENTATION_EVENT(&profiler, "point", 1, 2);
  }
  EXPECT_THAT(log, ElementsAre("begin scope 2 5 0", "begin point 16 1 2", "end 101", "end 100"));
  const tflite::ScopedProfile none(nullptr, "none");
}

}  // namespace
}  // namespace deputy::cpp_test
