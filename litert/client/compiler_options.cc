// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_compiler_options.h"

#include "litert/client/settings.h"

using namespace deputy::litert_client;

struct LrtCompilerOptions {
  std::optional<LiteRtCompilerOptionsPartitionStrategy> strategy;
  std::optional<bool> dummy;
  std::optional<size_t> max_partitions;
};

LiteRtStatus LrtCreateCompilerOptions(LrtCompilerOptions** options) { return Create(options); }
void LrtDestroyCompilerOptions(LrtCompilerOptions* options) { delete options; }
const char* LrtGetCompilerOptionsIdentifier() { return "compiler_options_string"; }

LiteRtStatus LrtGetOpaqueCompilerOptionsData(const LrtCompilerOptions* options,
                                             const char** identifier, void** payload,
                                             void (**payload_deleter)(void*)) {
  const auto write = [&](SettingsText* text) {
    text->Add("partition_strategy", options->strategy);
    text->Add("dummy_option", options->dummy);
    text->Add("max_partitions", options->max_partitions);
  };
  return Deliver(options, LrtGetCompilerOptionsIdentifier(), write, identifier, payload,
                 payload_deleter);
}

LiteRtStatus LrtSetCompilerOptionsPartitionStrategy(
    LrtCompilerOptions* options, LiteRtCompilerOptionsPartitionStrategy partition_strategy) {
  return Set(options, &LrtCompilerOptions::strategy, partition_strategy);
}

LiteRtStatus LrtGetCompilerOptionsPartitionStrategy(
    const LrtCompilerOptions* options, LiteRtCompilerOptionsPartitionStrategy* partition_strategy) {
  return Get(options, &LrtCompilerOptions::strategy, partition_strategy);
}

LiteRtStatus LrtSetCompilerOptionsDummyOption(LrtCompilerOptions* options, bool dummy_option) {
  return Set(options, &LrtCompilerOptions::dummy, dummy_option);
}

LiteRtStatus LrtGetCompilerOptionsDummyOption(const LrtCompilerOptions* options,
                                              bool* dummy_option) {
  return Get(options, &LrtCompilerOptions::dummy, dummy_option);
}

LiteRtStatus LrtSetCompilerOptionsMaxPartitions(LrtCompilerOptions* options,
                                                size_t max_partitions) {
  return Set(options, &LrtCompilerOptions::max_partitions, max_partitions);
}

LiteRtStatus LrtGetCompilerOptionsMaxPartitions(const LrtCompilerOptions* options,
                                                size_t* max_partitions) {
  return Get(options, &LrtCompilerOptions::max_partitions, max_partitions);
}
