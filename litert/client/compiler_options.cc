// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_compiler_options.h"

#include "litert/client/settings.h"

using namespace deputy::litert_client;

struct LrtCompilerOptions {
  std::optional<LiteRtCompilerOptionsPartitionStrategy> strategy;
  std::optional<bool> dummy;
  std::optional<size_t> max_partitions;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("partition_strategy", self.strategy);
    visitor.Add("dummy_option", self.dummy);
    visitor.Add("max_partitions", self.max_partitions);
  }
};

LiteRtStatus LrtCreateCompilerOptions(LrtCompilerOptions** options) { return Create(options); }
void LrtDestroyCompilerOptions(LrtCompilerOptions* options) { delete options; }
const char* LrtGetCompilerOptionsIdentifier() { return "compiler_options_string"; }

LiteRtStatus LrtGetOpaqueCompilerOptionsData(const LrtCompilerOptions* options,
                                             const char** identifier, void** payload,
                                             void (**payload_deleter)(void*)) {
  return Deliver(options, LrtGetCompilerOptionsIdentifier(), identifier, payload, payload_deleter);
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
