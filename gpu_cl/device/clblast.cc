// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/clblast.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace deputy::gpu_cl {
namespace {

constexpr int kRowMajor = 101, kNotTransposed = 111, kTransposed = 112;

// Highest compute capability in CLBlast's database.
constexpr uint32_t kMaxNvidiaCapability = 89;

bool NameContains(const DeviceProfile& profile, const char* part) {
  std::string text = profile.vendor + " " + profile.name;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.find(part) != std::string::npos;
}

}  // namespace

std::shared_ptr<const ClblastApi> LoadClblast(std::string* out_tried) {
  const char* chosen = std::getenv("DEPUTY_CLBLAST_LIBRARY");
  const std::string name =
      chosen == nullptr || *chosen == '\0' ? "libclblast.so.1" : std::string(chosen);
  if (name == "none") {
    *out_tried = "disabled by DEPUTY_CLBLAST_LIBRARY=none";
    return nullptr;
  }
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    *out_tried = name + ": " + (reason == nullptr ? "cannot be opened" : reason);
    return nullptr;
  }
  ClblastApi api;
  api.sgemm = reinterpret_cast<ClblastSgemm>(dlsym(library, "CLBlastSgemm"));
  if (api.sgemm == nullptr) {
    *out_tried = name + ": missing function CLBlastSgemm";
    return nullptr;
  }
  return std::make_shared<const ClblastApi>(api);
}

bool IsInClblastDatabase(const DeviceProfile& profile) {
  if (profile.kind != DeviceKind::kDiscreteGpu && profile.kind != DeviceKind::kIntegratedGpu) {
    return false;
  }
  if (NameContains(profile, "nvidia")) {
    return profile.nvidia_capability > 0 && profile.nvidia_capability <= kMaxNvidiaCapability;
  }
  for (const char* vendor : {"advanced micro devices", "amd", "intel", "mali", "qualcomm"}) {
    if (NameContains(profile, vendor)) return true;
  }
  return false;
}

ClStatus EnqueueClblast(const ClblastApi& api, const ClblastProduct& product, cl_mem a, cl_mem b,
                        cl_mem c, cl_command_queue queue, cl_event* event) {
  const auto m = static_cast<size_t>(product.m), n = static_cast<size_t>(product.n),
             k = static_cast<size_t>(product.k);
  const int code = api.sgemm(kRowMajor, product.transpose_a ? kTransposed : kNotTransposed,
                             product.transpose_b ? kTransposed : kNotTransposed, m, n, k, 1.0f, a,
                             0, product.transpose_a ? m : k, b, 0, product.transpose_b ? k : n,
                             0.0f, c, 0, n, &queue, event);
  return ClCall("CLBlastSgemm", code);
}

}  // namespace deputy::gpu_cl
