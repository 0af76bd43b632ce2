// SPDX-License-Identifier: Apache-2.0
//
// Opaque options of the library, whose data is a text with a line `key = value` for each setting.
#ifndef DEPUTY_LITERT_SRC_PAYLOAD_H_
#define DEPUTY_LITERT_SRC_PAYLOAD_H_

#include <string>
#include <vector>

#include "litert/c/litert_common.h"
#include "litert/c/options/litert_cpu_options.h"
#include "litert/src/options.h"

namespace deputy::litert {

// Settings of the CPU accelerator.
struct CpuSettings {
  int threads = 1;
  // Mode of the kernels. All modes compute with Deputy's kernels; with kLiteRtCpuKernelModeDelegate
  // the nodes count as accelerated.
  int64_t kernels = kLiteRtCpuKernelModeDelegate;
  std::string weight_cache;  // file of the weight cache; "": none
};

// Settings of the runtime.
struct RuntimeSettings {
  bool profiles = false;
  LiteRtErrorReporterMode reporter = kLiteRtErrorReporterModeNone;
  std::vector<std::string> signatures;  // the only signatures that can run; empty: all
};

// Settings of the partitions that compiler plug-ins get.
struct CompilerSettings {
  bool connects = false;      // connected operators form a partition, also across others
  size_t max_partitions = 0;  // of a subgraph; 0: no limit
};

// Store the settings in compilation options. Unknown keys have no effect and are logged as
// warnings. Wrong values are an error with the CPU's identifier "xnnpack"; otherwise they have no
// effect, as in LiteRT.
LiteRtStatus ReadCpuSettings(const LiteRtOptionsT& options, CpuSettings* out_settings);
RuntimeSettings ReadRuntimeSettings(const LiteRtOptionsT& options);
CompilerSettings ReadCompilerSettings(const LiteRtOptionsT& options);

// Logs a warning for each identifier of opaque options that the library does not read.
void ReportUnknownOptions(const LiteRtOptionsT& options);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_PAYLOAD_H_
