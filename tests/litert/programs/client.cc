// SPDX-License-Identifier: Apache-2.0
//
// A program that links libLiteRt_client.a: prints the results of its functions.
//
//     client MODEL
#include <cstdio>
#include <string>

#include "litert/c/internal/litert_logging.h"
#include "litert/c/internal/litert_logging_helper.h"
#include "litert/c/internal/litert_logging_helper_with_runtime_context.h"
#include "litert/c/internal/litert_runtime_builtin.h"
#include "litert/c/internal/litert_runtime_context.h"
#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_layout.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_opaque_options.h"
#include "litert/c/litert_options.h"
#include "litert/c/options/litert_compiler_options.h"
#include "litert/c/options/litert_cpu_options.h"
#include "litert/c/options/litert_runtime_options.h"

namespace {

void Print(const char* name, LiteRtStatus status) {
  std::printf("%s: %s\n", name, LiteRtGetStatusString(status));
}

// Prints the value that a call has stored.
template <typename Value>
void PrintValue(const char* name, LiteRtStatus status, const Value* value) {
  if (status != kLiteRtStatusOk) return Print(name, status);
  std::printf("%s: %s\n", name, std::to_string(*value).c_str());
}

// Prints the text of options; adds it to `to` unless null.
template <typename Options, typename GetData>
void PrintText(Options* options, const GetData& get_data, LiteRtOptions to = nullptr) {
  const char* identifier = nullptr;
  void* text = nullptr;
  void (*deleter)(void*) = nullptr;
  Print("text", get_data(options, &identifier, &text, &deleter));
  std::printf("[%s]\n%s", identifier, static_cast<const char*>(text));
  if (to == nullptr) return deleter(text);
  LiteRtOpaqueOptions opaque = nullptr;
  Print("create", LiteRtCreateOpaqueOptions(identifier, text, deleter, &opaque));
  Print("add", LiteRtAddOpaqueOptions(to, opaque));
}

void PrintCpu(LiteRtOptions to) {
  LrtCpuOptions* options = nullptr;
  Print("create NULL", LrtCreateCpuOptions(nullptr));
  Print("create", LrtCreateCpuOptions(&options));
  int threads = -1;
  const char* path = nullptr;
  LiteRtCpuKernelMode mode = kLiteRtCpuKernelModeDelegate;
  PrintText(options, &LrtGetOpaqueCpuOptionsData);
  Print("no threads", LrtGetCpuOptionsNumThread(options, &threads));
  Print("threads", LrtSetCpuOptionsNumThread(options, 2));
  PrintValue("threads", LrtGetCpuOptionsNumThread(options, &threads), &threads);
  Print("threads NULL", LrtGetCpuOptionsNumThread(options, nullptr));
  Print("options NULL", LrtSetCpuOptionsNumThread(nullptr, 2));
  Print("mode 3", LrtSetCpuOptionsKernelMode(options, static_cast<LiteRtCpuKernelMode>(3)));
  Print("mode", LrtSetCpuOptionsKernelMode(options, kLiteRtCpuKernelModeBuiltin));
  PrintValue("mode", LrtGetCpuOptionsKernelMode(options, &mode), &mode);
  Print("ynnpack", LrtSetCpuOptionsEnableYNNPack(options, true));
  Print("flags", LrtSetCpuOptionsXNNPackFlags(options, 4294967295u));
  Print("hint", LrtSetCpuOptionsHintFullyDelegatedToSingleDelegate(options, false));
  Print("path NULL", LrtSetCpuOptionsXnnPackWeightCachePath(options, nullptr));
  Print("fd", LrtSetCpuOptionsXnnPackWeightCacheFileDescriptor(options, 7));
  Print("path and fd", LrtSetCpuOptionsXnnPackWeightCachePath(options, "/weights"));
  PrintText(options, &LrtGetOpaqueCpuOptionsData);
  LrtDestroyCpuOptions(options);

  Print("create", LrtCreateCpuOptions(&options));
  Print("threads", LrtSetCpuOptionsNumThread(options, 2));
  Print("path", LrtSetCpuOptionsXnnPackWeightCachePath(options, "/nonexistent/weights"));
  Print("fd and path", LrtSetCpuOptionsXnnPackWeightCacheFileDescriptor(options, 7));
  Print("path", LrtGetCpuOptionsXnnPackWeightCachePath(options, &path));
  std::printf("%s\n", path);
  Print("mode", LrtSetCpuOptionsKernelMode(options, kLiteRtCpuKernelModeReference));
  Print("ynnpack", LrtSetCpuOptionsEnableYNNPack(options, false));
  Print("hint", LrtSetCpuOptionsHintFullyDelegatedToSingleDelegate(options, true));
  PrintText(options, &LrtGetOpaqueCpuOptionsData, to);
  LrtDestroyCpuOptions(options);
}

void PrintRuntime(LiteRtOptions to) {
  LrtRuntimeOptions* options = nullptr;
  Print("create", LrtCreateRuntimeOptions(&options));
  bool profiles = false;
  Print("no profiles", LrtGetRuntimeOptionsEnableProfiling(options, &profiles));
  Print("profiles", LrtSetRuntimeOptionsEnableProfiling(options, true));
  PrintValue("profiles", LrtGetRuntimeOptionsEnableProfiling(options, &profiles), &profiles);
  Print("reporter", LrtSetRuntimeOptionsErrorReporterMode(options, kLiteRtErrorReporterModeBuffer));
  Print("zero points", LrtSetRuntimeOptionsCompressQuantizationZeroPoints(options, false));
  Print("clustering", LrtSetRuntimeOptionsDisableDelegateClustering(options, true));
  Print("no signature", LrtSetRuntimeOptionsSelectedSignatures(options, {}));
  Print("empty signature", LrtSetRuntimeOptionsSelectedSignatures(options, {"a", ""}));
  Print("repeated signature", LrtSetRuntimeOptionsSelectedSignatures(options, {"a", "a"}));
  Print("signatures",
        LrtSetRuntimeOptionsSelectedSignatures(options, {"<placeholder signature>", "other one"}));
  PrintText(options, &LrtGetOpaqueRuntimeOptionsData);
  Print("signature", LrtSetRuntimeOptionsSelectedSignatures(options, {"<placeholder signature>"}));
  PrintText(options, &LrtGetOpaqueRuntimeOptionsData, to);
  LrtDestroyRuntimeOptions(options);
}

void PrintCompiler() {
  LrtCompilerOptions* options = nullptr;
  size_t partitions = 0;
  Print("create", LrtCreateCompilerOptions(&options));
  Print("no partitions", LrtGetCompilerOptionsMaxPartitions(options, &partitions));
  Print("strategy", LrtSetCompilerOptionsPartitionStrategy(
                        options, kLiteRtCompilerOptionsPartitionStrategyWeaklyConnected));
  Print("dummy", LrtSetCompilerOptionsDummyOption(options, true));
  Print("partitions", LrtSetCompilerOptionsMaxPartitions(options, 5000000000u));
  PrintValue("partitions", LrtGetCompilerOptionsMaxPartitions(options, &partitions), &partitions);
  PrintText(options, &LrtGetOpaqueCompilerOptionsData);
  LrtDestroyCompilerOptions(options);
}

void PrintMessage(LiteRtLogger logger, size_t index) {
  const char* message = "none";
  const LiteRtStatus status = LiteRtGetSinkLoggerMessage(logger, index, &message);
  if (status != kLiteRtStatusOk) return Print("message", status);
  std::printf("%s\n", message);
}

void PrintSeverity(const char* name, LiteRtLogger logger) {
  LiteRtLogSeverity severity = 0;
  PrintValue(name, LiteRtGetMinLoggerSeverity(logger, &severity), &severity);
}

void PrintLoggers(LiteRtEnvironment environment) {
  LiteRtLogger sink = nullptr, printer = nullptr;
  const char* name = nullptr;
  size_t size = 0;
  Print("sink", LiteRtCreateSinkLogger(&sink));
  Print("printer", LiteRtCreateLogger(&printer));
  for (LiteRtLogger each : {sink, printer}) {
    Print("identifier", LiteRtGetLoggerIdentifier(each, &name));
    std::printf("%s\n", name);
    PrintSeverity("severity", each);
  }
  Print("log", LiteRtLoggerLog(sink, kLiteRtLogSeverityDebug, "%s %d", "count", 42));
  Print("log", LiteRtLoggerLog(sink, kLiteRtLogSeverityError, "plain"));
  Print("format NULL", LiteRtLoggerLog(sink, kLiteRtLogSeverityError, nullptr));
  PrintValue("size", LiteRtGetSinkLoggerSize(sink, &size), &size);
  for (size_t i = 0; i < 3; ++i) PrintMessage(sink, i);
  Print("clear", LiteRtClearSinkLogger(sink));
  PrintValue("size", LiteRtGetSinkLoggerSize(sink, &size), &size);
  Print("size of a printer", LiteRtGetSinkLoggerSize(printer, &size));

  Print("severity", LiteRtSetMinLoggerSeverity(printer, kLiteRtLogSeverityError));
  PrintSeverity("severity of another printer", LiteRtGetDefaultLogger());
  PrintSeverity("severity of the sink", sink);
  LiteRtLoggerLog(printer, kLiteRtLogSeverityWarning, "not printed");
  LiteRtDefaultLoggerLog(kLiteRtLogSeverityError, "printed %d", 1);

  LiteRtEnvironmentOptions options = nullptr;
  Print("options", LiteRtGetEnvironmentOptions(environment, &options));
  Print("propagate", LiteRtPropagateMinLoggerSeverity(options));
  PrintSeverity("severity", printer);
  const LiteRtRuntimeContext* none = nullptr;
  Print("context NULL", LiteRtPropagateMinLoggerSeverityWithRuntimeContext(none, options));
  LiteRtRuntimeContext context = {};
  context.get_environment_options_value = &LiteRtGetEnvironmentOptionsValue;
  LiteRtSetMinLoggerSeverity(printer, kLiteRtLogSeverityError);
  Print("with a context", LiteRtPropagateMinLoggerSeverityWithRuntimeContext(&context, options));
  PrintSeverity("severity", printer);

  Print("default NULL", LiteRtSetDefaultLogger(nullptr));
  Print("default sink", LiteRtUseSinkLogger());
  LITERT_LOG(LITERT_INFO, "of a macro: %d", 3)
  PrintValue("size", LiteRtGetSinkLoggerSize(LiteRtGetDefaultLogger(), &size), &size);
  Print("default printer", LiteRtUseStandardLogger());
  std::printf("default is a printer: %d\n",
              LiteRtGetSinkLoggerSize(LiteRtGetDefaultLogger(), &size) != kLiteRtStatusOk);
  LiteRtDestroyLogger(sink), LiteRtDestroyLogger(printer);
}

}  // namespace

int main(int, char** arguments) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  const LiteRtEnvOption severity = {
      .tag = kLiteRtEnvOptionTagMinLoggerSeverity,
      .value = {.type = kLiteRtAnyTypeInt, .int_value = kLiteRtLogSeverityWarning}};
  LiteRtEnvironment environment = nullptr;
  LiteRtModel model = nullptr;
  LiteRtOptions options = nullptr;
  LiteRtCompiledModel compiled = nullptr;
  LiteRtCreateEnvironment(1, &severity, &environment);
  Print("model", LiteRtCreateModelFromFile(environment, arguments[1], &model));
  LiteRtCreateOptions(&options);
  LiteRtSetOptionsHardwareAccelerators(options, kLiteRtHwAcceleratorCpu);
  PrintCpu(options);
  PrintRuntime(options);
  PrintCompiler();
  Print("compiled", LiteRtCreateCompiledModel(environment, model, options, &compiled));
  LiteRtProfiler profiler = nullptr;
  Print("profiler", LiteRtCompiledModelGetProfiler(compiled, &profiler));
  bool is_accelerated = true;
  PrintValue("accelerated", LiteRtCompiledModelIsFullyAccelerated(compiled, &is_accelerated),
             &is_accelerated);
  PrintLoggers(environment);
  LiteRtLayout layout = {};
  layout.rank = 2, layout.dimensions[0] = 3, layout.dimensions[1] = 5;
  size_t count = 0;
  PrintValue("elements", LiteRtGetNumLayoutElements(&layout, &count), &count);
  std::printf("version: %d\n", LiteRtCompareApiVersion({0, 1, 0}, {0, 0, 9}));
  std::printf("table: %d\n",
              GetLiteRtRuntimeBuiltin()->litert_create_environment == &LiteRtCreateEnvironment);
  LiteRtDestroyCompiledModel(compiled), LiteRtDestroyOptions(options);
  LiteRtDestroyModel(model), LiteRtDestroyEnvironment(environment);
}
