// SPDX-License-Identifier: Apache-2.0
//
// Receiver of events: operators, calls of the interpreter, telemetry. Delegates call the profiler
// of their context, so the order of the virtual functions and the values of EventType are part of
// the ABI of TensorFlow Lite.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_PROFILER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_PROFILER_H_

#include <cstdint>

namespace tflite {

class Profiler {
 public:
  // Kinds of events; powers of two, so that a profiler can select them with a mask.
  enum class EventType {
    DEFAULT = 1,
    // A node runs: metadata 1 is its index, metadata 2 that of the subgraph.
    OPERATOR_INVOKE_EVENT = 1 << 1,
    // An operator inside a delegate; metadata 1 is an index of the delegate's own.
    DELEGATE_OPERATOR_INVOKE_EVENT = 1 << 2,
    // An operator inside a delegate, reported with the model's operators.
    DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT = 1 << 3,
    // A call of the interpreter; the metadata are the statuses of delegate and interpreter.
    GENERAL_RUNTIME_INSTRUMENTATION_EVENT = 1 << 4,
    TELEMETRY_EVENT = 1 << 5,
    TELEMETRY_REPORT_SETTINGS = 1 << 6,
    TELEMETRY_DELEGATE_EVENT = 1 << 7,
    TELEMETRY_DELEGATE_REPORT_SETTINGS = 1 << 8,
  };

  virtual ~Profiler() {}

  // Called at the begin of an event. Returns a number that is passed to EndEvent. `tag` must stay
  // valid as long as the profiler needs it.
  virtual uint32_t BeginEvent(const char* tag, EventType event_type, int64_t event_metadata1,
                              int64_t event_metadata2) = 0;
  uint32_t BeginEvent(const char* tag, EventType event_type, int64_t event_metadata) {
    return BeginEvent(tag, event_type, event_metadata, 0);
  }

  // Ends an event and replaces its metadata; by default the metadata stay.
  virtual void EndEvent(uint32_t event_handle, int64_t /*event_metadata1*/,
                        int64_t /*event_metadata2*/) {
    EndEvent(event_handle);
  }
  virtual void EndEvent(uint32_t event_handle) = 0;

  // Adds an event that has ended. `metric` is its duration in microseconds, or a status for
  // telemetry events. Ignored by default.
  void AddEvent(const char* tag, EventType event_type, uint64_t elapsed_time,
                int64_t event_metadata) {
    AddEvent(tag, event_type, elapsed_time, event_metadata, 0);
  }
  virtual void AddEvent(const char* /*tag*/, EventType /*event_type*/, uint64_t /*metric*/,
                        int64_t /*event_metadata1*/, int64_t /*event_metadata2*/) {}

  // Adds a telemetry event with data, such as settings, that are valid during the call. Ignored by
  // default.
  virtual void AddEventWithData(const char* /*tag*/, EventType /*event_type*/,
                                const void* /*data*/) {}

 protected:
  friend class ScopedProfile;
};

// RAII guard: begins an event, and ends it on destruction. The profiler may be null.
class ScopedProfile {
 public:
  ScopedProfile(Profiler* profiler, const char* tag,
                Profiler::EventType event_type = Profiler::EventType::DEFAULT,
                int64_t event_metadata = 0)
      : profiler_(profiler) {
    if (profiler_ != nullptr)
      event_handle_ = profiler_->BeginEvent(tag, event_type, event_metadata);
  }
  ~ScopedProfile() {
    if (profiler_ != nullptr) profiler_->EndEvent(event_handle_);
  }
  ScopedProfile(const ScopedProfile&) = delete;
  ScopedProfile& operator=(const ScopedProfile&) = delete;

 protected:
  Profiler* profiler_;
  uint32_t event_handle_ = 0;
};

class ScopedOperatorProfile : public ScopedProfile {
 public:
  ScopedOperatorProfile(Profiler* profiler, const char* tag, int node_index)
      : ScopedProfile(profiler, tag, Profiler::EventType::OPERATOR_INVOKE_EVENT,
                      static_cast<uint32_t>(node_index)) {}
};

class ScopedDelegateOperatorProfile : public ScopedProfile {
 public:
  ScopedDelegateOperatorProfile(Profiler* profiler, const char* tag, int node_index)
      : ScopedProfile(profiler, tag, Profiler::EventType::DELEGATE_OPERATOR_INVOKE_EVENT,
                      static_cast<uint32_t>(node_index)) {}
};

class ScopedDelegateProfiledOperatorProfile : public ScopedProfile {
 public:
  ScopedDelegateProfiledOperatorProfile(Profiler* profiler, const char* tag, int node_index)
      : ScopedProfile(profiler, tag, Profiler::EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT,
                      static_cast<uint32_t>(node_index)) {}
};

// RAII guard: begins the event of a call, and ends it with the statuses of set_runtime_status, or
// zeros. The profiler may be null.
class ScopedRuntimeInstrumentationProfile {
 public:
  ScopedRuntimeInstrumentationProfile(Profiler* profiler, const char* tag) : profiler_(profiler) {
    if (profiler_ == nullptr) return;
    event_handle_ =
        profiler_->BeginEvent(tag, Profiler::EventType::GENERAL_RUNTIME_INSTRUMENTATION_EVENT, -1);
  }
  ~ScopedRuntimeInstrumentationProfile() {
    if (profiler_ != nullptr) {
      profiler_->EndEvent(event_handle_, delegate_status_, interpreter_status_);
    }
  }
  ScopedRuntimeInstrumentationProfile(const ScopedRuntimeInstrumentationProfile&) = delete;
  ScopedRuntimeInstrumentationProfile& operator=(const ScopedRuntimeInstrumentationProfile&) =
      delete;

  void set_runtime_status(int64_t delegate_status, int64_t interpreter_status) {
    delegate_status_ = delegate_status;
    interpreter_status_ = interpreter_status;
  }

 private:
  Profiler* profiler_;
  uint32_t event_handle_ = 0;
  int64_t delegate_status_ = 0;
  int64_t interpreter_status_ = 0;
};

}  // namespace tflite

// Names of the variables that the macros below declare.
#define TFLITE_VARNAME_UNIQ_IMPL(name, ctr) name##ctr
#define TFLITE_VARNAME_UNIQ(name, ctr) TFLITE_VARNAME_UNIQ_IMPL(name, ctr)

// Each macro begins an event that ends with the enclosing scope.
#define TFLITE_SCOPED_TAGGED_DEFAULT_PROFILE(profiler, tag) \
  tflite::ScopedProfile TFLITE_VARNAME_UNIQ(_profile_, __COUNTER__)((profiler), (tag))
#define TFLITE_SCOPED_TAGGED_OPERATOR_PROFILE(profiler, tag, node_index)                       \
  tflite::ScopedOperatorProfile TFLITE_VARNAME_UNIQ(_profile_, __COUNTER__)((profiler), (tag), \
                                                                            (node_index))
#define TFLITE_SCOPED_DELEGATE_OPERATOR_PROFILE(profiler, tag, node_index)           \
  tflite::ScopedDelegateOperatorProfile TFLITE_VARNAME_UNIQ(_profile_, __COUNTER__)( \
      (profiler), (tag), (node_index))
#define TFLITE_SCOPED_DELEGATE_PROFILED_OPERATOR_PROFILE(profiler, tag, node_index)          \
  tflite::ScopedDelegateProfiledOperatorProfile TFLITE_VARNAME_UNIQ(_profile_, __COUNTER__)( \
      (profiler), (tag), (node_index))

// Adds an event without duration.
#define TFLITE_ADD_RUNTIME_INSTRUMENTATION_EVENT(profiler, tag, event_metadata1, event_metadata2) \
  do {                                                                                            \
    if (profiler) {                                                                               \
      const auto handle = (profiler)->BeginEvent(                                                 \
          (tag), ::tflite::Profiler::EventType::GENERAL_RUNTIME_INSTRUMENTATION_EVENT,            \
          (event_metadata1), (event_metadata2));                                                  \
      (profiler)->EndEvent(handle);                                                               \
    }                                                                                             \
  } while (false);

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_PROFILER_H_
