// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_cl/gpu_spy.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace deputy::gpu_cl {
namespace {

// A sub-buffer that exists.
struct Part {
  cl_mem memory = nullptr, parent = nullptr;
  cl_buffer_region region = {};

  bool Overlaps(const Part& other) const {
    return parent == other.parent && region.origin < other.region.origin + other.region.size &&
           other.region.origin < region.origin + region.size;
  }
};

struct State {
  std::mutex mutex;
  ClApi real;
  std::map<std::string, int64_t> calls;
  std::map<std::string, int64_t> objects;
  std::vector<Part> parts;  // existing sub-buffers, the oldest first
  // Message of Unbalanced about calls that are not allowed.
  std::string misuse;
  std::string failing;
  int64_t calls_until_failure = -1;
  cl_int code = CL_SUCCESS;
  bool failed = false;
  bool logs = false;
  std::vector<SpiedCommand> commands;
  std::map<cl_event, size_t> commands_of_events;  // position of the newest command of an event
};

State& Spied() {
  static auto* state = new State;
  return *state;
}

// Returns 1 if the call creates or retains an object, -1 if it releases one; `out_kind` is the kind
// of object.
int ChangeOf(std::string_view function, std::string* out_kind) {
  int change = 1;
  if (function.starts_with("Create") || function.starts_with("Retain")) {
    function.remove_prefix(6);
  } else if (function.starts_with("Release")) {
    function.remove_prefix(7);
    change = -1;
  } else {
    return 0;
  }
  if (function == "Buffer" || function == "SubBuffer" || function == "Image") {
    function = "MemObject";
  }
  *out_kind = function.substr(0, function.find("With"));
  return change;
}

// True while a callback of an event runs on the thread.
thread_local bool in_callback = false;

// A callback of an event that the delegate has set.
struct EventCallback {
  void(CL_CALLBACK* function)(cl_event, cl_int, void*);
  void* data;
};

void CL_CALLBACK CallBack(cl_event event, cl_int status, void* data) {
  const std::unique_ptr<EventCallback> callback(static_cast<EventCallback*>(data));
  in_callback = true;
  callback->function(event, status, callback->data);
  in_callback = false;
}

cl_int SetSpiedCallback(cl_event event, cl_int type,
                        void(CL_CALLBACK* function)(cl_event, cl_int, void*), void* data) {
  auto* const callback = new EventCallback{function, data};
  const cl_int code = Spied().real.SetEventCallback(event, type, &CallBack, callback);
  if (code != CL_SUCCESS) delete callback;
  return code;
}

// Counts a call. Returns the code with which it must fail, or CL_SUCCESS.
cl_int Before(const char* function) {
  State& state = Spied();
  const std::lock_guard lock(state.mutex);
  if (in_callback) {
    state.misuse += std::string("a callback of an event called cl") + function + "; ";
  }
  ++state.calls[function];
  if (state.failing != function || state.calls_until_failure-- != 0) return CL_SUCCESS;
  state.failed = true;
  return state.code;
}

void After(const char* function, int events) {
  State& state = Spied();
  const std::lock_guard lock(state.mutex);
  std::string kind;
  const int change = ChangeOf(function, &kind);
  if (change != 0) state.objects[kind] += change;
  if (events != 0) state.objects["Event"] += events;
}

// Checks the order in which sub-buffers are released: NVIDIA's driver crashes if one is released
// before a newer one that overlaps it.
void BeforeRelease(cl_mem memory) {
  State& state = Spied();
  const std::lock_guard lock(state.mutex);
  const auto part = std::find_if(state.parts.begin(), state.parts.end(),
                                 [&](const Part& one) { return one.memory == memory; });
  if (part == state.parts.end()) return;
  if (std::any_of(part + 1, state.parts.end(),
                  [&](const Part& younger) { return younger.Overlaps(*part); })) {
    state.misuse = "a sub-buffer was released before a younger one that overlaps it; ";
  }
  state.parts.erase(part);
}

void AfterCreation(cl_mem memory, cl_mem parent, const void* region) {
  State& state = Spied();
  const std::lock_guard lock(state.mutex);
  state.parts.push_back({memory, parent, *static_cast<const cl_buffer_region*>(region)});
}

// Returns the number of events that an argument receives from a call: one if it is a non-null
// pointer to a non-const event.
template <typename T>
int MadeEvents(T argument) {
  if constexpr (std::is_same_v<T, cl_event*>) return argument == nullptr ? 0 : 1;
  return 0;
}

// Adds a command to the log. The wait list follows its length among the arguments.
template <typename... A>
void Log(std::string_view function, A... arguments) {
  State& state = Spied();
  const std::lock_guard lock(state.mutex);
  if (!state.logs || !function.starts_with("Enqueue")) return;
  SpiedCommand command;
  command.function = function.substr(7);
  cl_uint count = 0;
  const auto read = [&](auto argument) {
    using T = decltype(argument);
    if constexpr (std::is_same_v<T, cl_command_queue>) command.queue = argument;
    if constexpr (std::is_same_v<T, cl_uint>) count = argument;
    if constexpr (std::is_same_v<T, const cl_event*>) {
      for (cl_uint i = 0; argument != nullptr && i < count; ++i) {
        const auto found = state.commands_of_events.find(argument[i]);
        if (found != state.commands_of_events.end()) command.waits.push_back(found->second);
      }
    }
    if constexpr (std::is_same_v<T, cl_event*>) {
      if (argument != nullptr) state.commands_of_events[*argument] = state.commands.size();
    }
  };
  (read(arguments), ...);
  state.commands.push_back(std::move(command));
}

template <typename... A>
constexpr bool IsSubBuffer() {
  using Given = cl_mem(CL_API_CALL*)(A...);
  return std::is_same_v<Given, decltype(ClApi::CreateSubBuffer)>;
}

template <auto kMember, const char* const* kName>
struct Hook;

template <typename R, typename... A, R (*ClApi::*kMember)(A...), const char* const* kName>
struct Hook<kMember, kName> {
  static R Forward(A... arguments) {
    if constexpr (std::is_same_v<decltype(kMember), decltype(&ClApi::SetEventCallback)>) {
      return SetSpiedCallback(arguments...);
    } else {
      return (Spied().real.*kMember)(arguments...);
    }
  }
  static R Call(A... arguments) {
    const cl_int code = Before(*kName);
    if constexpr (std::is_same_v<R, cl_int>) {
      if constexpr (std::is_same_v<std::tuple<A...>, std::tuple<cl_mem>>) {
        if (code == CL_SUCCESS && kMember == &ClApi::ReleaseMemObject) BeforeRelease(arguments...);
      }
      const cl_int result = code != CL_SUCCESS ? code : Forward(arguments...);
      if (result == CL_SUCCESS) {
        After(*kName, (0 + ... + MadeEvents(arguments)));
        Log(*kName, arguments...);
      }
      return result;
    } else {
      const auto last = std::get<sizeof...(A) - 1>(std::tuple<A...>(arguments...));
      if (code != CL_SUCCESS) {
        if constexpr (std::is_same_v<std::remove_const_t<decltype(last)>, cl_int*>) {
          if (last != nullptr) *last = code;
        }
        return nullptr;
      }
      R result = (Spied().real.*kMember)(arguments...);
      if (result != nullptr) After(*kName, (0 + ... + MadeEvents(arguments)));
      if constexpr (IsSubBuffer<A...>()) {
        const auto& given = std::tie(arguments...);
        if (result != nullptr) AfterCreation(result, std::get<0>(given), std::get<3>(given));
      }
      return result;
    }
  }
};

#define DEPUTY_SPY_NAME(name) constexpr const char* k##name = #name;
DEPUTY_CL_REQUIRED(DEPUTY_SPY_NAME)
DEPUTY_CL_OPTIONAL(DEPUTY_SPY_NAME)
#undef DEPUTY_SPY_NAME

}  // namespace

ClSpy::ClSpy(const ClApi& api) {
  State& state = Spied();
  const std::lock_guard lock(state.mutex);
  state.real = api;
  state.logs = false;
  state.calls.clear();
  state.objects.clear();
  state.parts.clear();
  state.misuse.clear();
  ClApi spy;
#define DEPUTY_SPY_HOOK(name) \
  if (api.name != nullptr) spy.name = &Hook<&ClApi::name, &k##name>::Call;
  DEPUTY_CL_REQUIRED(DEPUTY_SPY_HOOK)
  DEPUTY_CL_OPTIONAL(DEPUTY_SPY_HOOK)
#undef DEPUTY_SPY_HOOK
  api_ = std::make_shared<const ClApi>(spy);
}

ClSpy::~ClSpy() { Fail("", -1, CL_SUCCESS); }

void ClSpy::Fail(const std::string& function, int64_t index, cl_int code) {
  State& state = Spied();
  const std::lock_guard lock(state.mutex);
  state.failing = function;
  state.calls_until_failure = index;
  state.code = code;
  state.failed = false;
}

bool ClSpy::failed() const {
  const std::lock_guard lock(Spied().mutex);
  return Spied().failed;
}

std::map<std::string, int64_t> ClSpy::calls() const {
  const std::lock_guard lock(Spied().mutex);
  return Spied().calls;
}

std::map<std::string, int64_t> ClSpy::objects() const {
  const std::lock_guard lock(Spied().mutex);
  return Spied().objects;
}

void ClSpy::LogCommands() {
  const std::lock_guard lock(Spied().mutex);
  Spied().logs = true;
  Spied().commands.clear();
  Spied().commands_of_events.clear();
}

std::vector<SpiedCommand> ClSpy::Commands() {
  const std::lock_guard lock(Spied().mutex);
  Spied().logs = false;
  return std::exchange(Spied().commands, {});
}

bool Follows(const std::vector<SpiedCommand>& commands, size_t later, size_t earlier) {
  std::vector<bool> is_before(commands.size(), false);
  is_before[later] = true;
  for (size_t i = later; i > earlier; --i) {
    if (!is_before[i]) continue;
    for (const size_t wait : commands[i].waits) is_before[wait] = true;
    for (size_t k = i; k-- > 0;) {
      if (commands[k].queue != commands[i].queue) continue;
      is_before[k] = true;
      break;
    }
  }
  return later != earlier && is_before[earlier];
}

std::string ClSpy::Unbalanced() const {
  std::string text;
  for (const auto& [kind, count] : objects()) {
    if (count != 0) text += kind + ": " + std::to_string(count) + "; ";
  }
  const std::lock_guard lock(Spied().mutex);
  return text + Spied().misuse;
}

const LoadedCl& RealCl() {
  static const auto* loaded = new LoadedCl(LoadCl());
  return *loaded;
}

std::string NoDeviceReason() {
  if (RealCl().api == nullptr) return "no OpenCL library: " + RealCl().tried;
  const ClApi& api = *RealCl().api;
  cl_uint count = 0;
  if (api.GetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    return "OpenCL has no platform here";
  }
  std::vector<cl_platform_id> platforms(count);
  api.GetPlatformIDs(count, platforms.data(), nullptr);
  for (cl_platform_id platform : platforms) {
    if (api.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) == CL_SUCCESS) return "";
  }
  return "no platform of OpenCL has a device here";
}

}  // namespace deputy::gpu_cl
