// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_spy.h"

#include <mutex>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace deputy::gpu_cl {
namespace {

struct State {
  std::mutex mutex;
  ClApi real;
  std::map<std::string, int64_t> calls;
  std::map<std::string, int64_t> objects;
  std::string failing;
  int64_t calls_until_failure = -1;
  cl_int code = CL_SUCCESS;
  bool failed = false;
};

State& Spied() {
  static auto* state = new State;
  return *state;
}

// The kind of object that a call creates or retains (1), or releases (-1).
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

// The code with which the call has to fail, or success.
cl_int Before(const char* function) {
  State& state = Spied();
  const std::lock_guard lock(state.mutex);
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

// How many events the call made: a pointer to one that is not constant is for a new one.
template <typename T>
int MadeEvents(T argument) {
  if constexpr (std::is_same_v<T, cl_event*>) return argument == nullptr ? 0 : 1;
  return 0;
}

template <auto kMember, const char* const* kName>
struct Hook;

template <typename R, typename... A, R (*ClApi::*kMember)(A...), const char* const* kName>
struct Hook<kMember, kName> {
  static R Call(A... arguments) {
    const cl_int code = Before(*kName);
    if constexpr (std::is_same_v<R, cl_int>) {
      const cl_int result = code != CL_SUCCESS ? code : (Spied().real.*kMember)(arguments...);
      if (result == CL_SUCCESS) After(*kName, (0 + ... + MadeEvents(arguments)));
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
  state.calls.clear();
  state.objects.clear();
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

std::string ClSpy::Unbalanced() const {
  std::string text;
  for (const auto& [kind, count] : objects()) {
    if (count != 0) text += kind + ": " + std::to_string(count) + "; ";
  }
  return text;
}

const LoadedCl& RealCl() {
  static const auto* loaded = new LoadedCl(LoadCl());
  return *loaded;
}

std::string WhyNoDevice() {
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
