// SPDX-License-Identifier: Apache-2.0
#include "compile_litert.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "litert/c/deputy_compiler.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_options.h"
#include "text.h"
#include "user_file.h"

namespace deputy::tools {
namespace {

template <typename Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, void (*)(Handle)>;

void Expect(LiteRtStatus status, const char* what) {
  if (status != kLiteRtStatusOk) FailWork("%s: %s", what, LiteRtGetStatusString(status));
}

// An environment with a folder of plug-ins, and options for all hardware.
class Host {
 public:
  explicit Host(const std::string& folder) {
    const LiteRtEnvOption option = {
        .tag = kLiteRtEnvOptionTagCompilerPluginLibraryDir,
        .value = {.type = kLiteRtAnyTypeString, .str_value = folder.c_str()}};
    LiteRtEnvironment environment = nullptr;
    Expect(LiteRtCreateEnvironment(1, &option, &environment), "LiteRtCreateEnvironment");
    environment_.reset(environment);
    LiteRtOptions options = nullptr;
    Expect(LiteRtCreateOptions(&options), "LiteRtCreateOptions");
    options_.reset(options);
    constexpr LiteRtHwAcceleratorSet kAll =
        kLiteRtHwAcceleratorCpu | kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorNpu;
    Expect(LiteRtSetOptionsHardwareAccelerators(options, kAll), "LiteRtSetOptions...");
  }

  LiteRtEnvironment environment() { return environment_.get(); }
  LiteRtOptions options() { return options_.get(); }

 private:
  Owned<LiteRtEnvironment> environment_{nullptr, &LiteRtDestroyEnvironment};
  Owned<LiteRtOptions> options_{nullptr, &LiteRtDestroyOptions};
};

void AddTarget(void* targets, const char* path, const char* manufacturer, const char* sdk_version,
               const char* soc_models) {
  static_cast<std::vector<CompiledTarget>*>(targets)->push_back(
      {.owner = OwnerOfLibrary(path),
       .version = std::string(manufacturer) + " " + sdk_version,
       .device = soc_models});
}

}  // namespace

void ContinueInChild(const std::string& folder, double seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) FailWork("pipe: %s", std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) FailWork("fork: %s", std::strerror(errno));
  close(ends[child == 0 ? 0 : 1]);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return;  // the pipe has its end with the process
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int found = 0;
  do {
    const std::chrono::duration<double, std::milli> left = end - std::chrono::steady_clock::now();
    pollfd request = {.fd = ends[0], .events = POLLIN, .revents = 0};
    found = poll(&request, 1, static_cast<int>(std::clamp(left.count(), 0.0, 1e9)));
  } while (found < 0 && errno == EINTR);
  if (found == 0) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (found == 0) {
    FailWork("the compiler plug-ins below %s have not ended after %g seconds", folder.c_str(),
             seconds);
  }
  if (WIFSIGNALED(status)) {
    FailWork("a compiler plug-in below %s has ended its process: %s", folder.c_str(),
             strsignal(WTERMSIG(status)));
  }
  std::exit(WEXITSTATUS(status));
}

std::vector<CompiledTarget> ListCompilerPlugins(const std::string& folder) {
  Host host(folder);
  std::vector<CompiledTarget> targets;
  Expect(DeputyLiteRtListCompilerPlugins(host.environment(), host.options(), &AddTarget, &targets),
         folder.c_str());
  if (targets.empty()) FailUsage("--plugin: no compiler plug-in below %s fits", folder.c_str());
  return targets;
}

std::string CompileWithPlugins(const std::string& folder, const std::string& soc,
                               const std::string& model) {
  Host host(folder);
  LiteRtModel loaded = nullptr, compiled = nullptr;
  Expect(LiteRtCreateModelFromFile(host.environment(), model.c_str(), &loaded), model.c_str());
  const Owned<LiteRtModel> owned(loaded, &LiteRtDestroyModel);
  const LiteRtStatus status = DeputyLiteRtCompileModel(
      host.environment(), host.options(), loaded, soc.empty() ? nullptr : soc.c_str(), &compiled);
  if (status != kLiteRtStatusOk) {
    FailWork("%s: it cannot be compiled by the plug-ins below %s: %s", model.c_str(),
             folder.c_str(), LiteRtGetStatusString(status));
  }
  const Owned<LiteRtModel> result(compiled, &LiteRtDestroyModel);
  constexpr LiteRtModelSerializationOptions kOptions = {.bytecode_alignment = 64};
  uint8_t* block = nullptr;
  size_t size = 0, offset = 0;
  Expect(LiteRtSerializeModel(compiled, &block, &size, &offset, false, kOptions),
         "LiteRtSerializeModel");
  const std::unique_ptr<uint8_t, void (*)(void*)> freed(block, &std::free);
  return {reinterpret_cast<const char*>(block) + offset, size};
}

}  // namespace deputy::tools
