// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/fault.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "bridges/layers/values.h"
#include "core/support/option_list.h"

namespace deputy::layers {
namespace {

enum class Action { kFail, kDelay, kCorrupt, kHang, kCrash };

constexpr int64_t kEveryCall = 0;

std::optional<Action> ActionOf(const std::string& name) {
  if (name == "fail") return Action::kFail;
  if (name == "delay") return Action::kDelay;
  if (name == "corrupt") return Action::kCorrupt;
  if (name == "hang") return Action::kHang;
  if (name == "crash") return Action::kCrash;
  return std::nullopt;
}

void Invert(TfLiteTensor* tensor) {
  if (tensor->data.raw == nullptr || tensor->allocation_type == kTfLiteMmapRo) return;
  for (size_t i = 0; i < tensor->bytes; ++i) {
    tensor->data.raw[i] = static_cast<char>(~tensor->data.raw[i]);
  }
}

// Inverts the bits of the tensors that the call has written.
void Corrupt(const LayerCall& call) {
  if (call.kind == CallKind::kCopyFrom) Invert(call.tensor);
  if (call.kind != CallKind::kInvoke) return;
  for (int i = 0; i < call.node->outputs->size; ++i) {
    const int tensor = call.node->outputs->data[i];
    if (tensor >= 0) Invert(&call.context->tensors[tensor]);
  }
}

class FaultLayer final : public Layer {
 public:
  FaultLayer(CallKind kind, int64_t number, Action action, std::chrono::milliseconds time)
      : kind_(kind), number_(number), action_(action), time_(time) {}

  TfLiteStatus Around(const LayerCall& call, const Rest& rest) override {
    if (call.kind != kind_ || !IsDue()) return rest();
    switch (action_) {
      case Action::kFail:
        call.context->ReportError(call.context, "layer fault: %s fails", NameOf(call.kind));
        return kTfLiteError;
      case Action::kDelay:
        std::this_thread::sleep_for(time_);
        return rest();
      case Action::kCorrupt: {
        const TfLiteStatus status = rest();
        Corrupt(call);
        return status;
      }
      case Action::kHang:
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
      case Action::kCrash:
        (void)raise(SIGSEGV);
    }
    return kTfLiteError;
  }

 private:
  bool IsDue() {
    const std::lock_guard lock(mutex_);
    return ++calls_ == number_ || number_ == kEveryCall;
  }

  const CallKind kind_;
  const int64_t number_;
  const Action action_;
  const std::chrono::milliseconds time_;
  std::mutex mutex_;  // guards calls_
  int64_t calls_ = 0;
};

std::optional<int64_t> ParseNumber(const std::string& text) {
  if (text == "*") return kEveryCall;
  int64_t number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || at != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

// Returns the layer for the parts of its text; null if they are invalid.
std::unique_ptr<Layer> Make(const std::vector<std::string>& parts) {
  if (parts.size() != 3 && parts.size() != 4) return nullptr;
  const auto kind = ParseCallKind(parts[0]);
  const auto number = ParseNumber(parts[1]);
  const auto action = ActionOf(parts[2]);
  if (!kind || !number || !action) return nullptr;
  const bool has_outputs = *kind == CallKind::kInvoke || *kind == CallKind::kCopyFrom;
  if (*action == Action::kCorrupt && !has_outputs) return nullptr;
  if ((*action == Action::kDelay) != (parts.size() == 4)) return nullptr;
  std::chrono::milliseconds time(0);
  if (*action == Action::kDelay) {
    const auto given = ParseMilliseconds(parts[3]);
    if (!given) return nullptr;
    time = *given;
  }
  return std::make_unique<FaultLayer>(*kind, *number, *action, time);
}

}  // namespace

std::unique_ptr<Layer> MakeFault(const std::string& text, std::string* error) {
  std::unique_ptr<Layer> layer = Make(SplitOptions(text, ':'));
  if (layer == nullptr) {
    *error =
        "layer 'fault': expected CALL:NUMBER:fail, hang or crash, CALL:NUMBER:delay:TIME, or "
        "corrupt for invoke or copy_from, found '" +
        text + "'";
  }
  return layer;
}

}  // namespace deputy::layers
