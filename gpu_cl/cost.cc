// SPDX-License-Identifier: Apache-2.0
//
// Rates of the cost model by class of device. Those of CPUs are fitted to the models of docs/gpu.md
// on an AVX-512 machine; those of other devices are a third of the peak rates in data sheets.
#include "gpu_cl/cost.h"

#include <algorithm>

#include "compiler/passes.h"
#include "compiler/work.h"

namespace deputy::gpu_cl {
namespace {

CostModel ForCpu(double units, double width) {
  return {{}, {units * width * 2.5, units * width / 2, units * 8, 2'000}, 10, 20'000};
}

// Returns the model of a discrete GPU, whose compute units have about 128 lanes each.
CostModel ForDiscreteGpu(double units) {
  return {{}, {units * 60, units * 60, 400, 4'000}, 12, 30'000};
}

// Returns the model of an integrated GPU, whose compute units have about eight lanes each. The
// model is also used for unknown devices.
CostModel ForIntegratedGpu(double units) {
  return {{}, {units * 3, units * 3, 20, 6'000}, 8, 60'000};
}

CostModel ForMobileGpu(double units) {
  return {{}, {units * 20, units * 20, 15, 10'000}, 5, 100'000};
}

CostModel ForDevice(const DeviceProfile& profile, DeviceClass device_class) {
  const double units = std::max(profile.compute_units, 1u);
  if (profile.kind == DeviceKind::kCpu || device_class == DeviceClass::kCpu) {
    return ForCpu(units, std::max(profile.float_width, 1u));
  }
  if (device_class == DeviceClass::kMobile) return ForMobileGpu(units);
  return profile.kind == DeviceKind::kDiscreteGpu ? ForDiscreteGpu(units) : ForIntegratedGpu(units);
}

}  // namespace

CostModel CostModelOf(const DeviceProfile& profile, DeviceClass device_class, int threads) {
  CostModel model = ForDevice(profile, device_class);
  // A CPU device is most likely the CPU that the runtime computes on.
  const bool same = profile.kind == DeviceKind::kCpu && profile.float_width > 0;
  model.cpu = CpuRates(threads, same ? profile.float_width : 0);
  return model;
}

double GainNs(const CostModel& model, const compiler::Graph& imported) {
  double gain = -model.submit_ns - compiler::BorderBytes(imported) / model.border_bytes;
  for (const Work& work : compiler::WorkOfNodes(imported)) {
    gain += TimeNs(model.cpu, work);
  }
  compiler::Graph optimised = imported;
  compiler::RunPasses(&optimised, {});
  for (const Work& work : compiler::WorkOfOperations(optimised)) {
    gain -= TimeNs(model.device, work);
  }
  return gain;
}

}  // namespace deputy::gpu_cl
