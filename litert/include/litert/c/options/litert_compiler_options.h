// SPDX-License-Identifier: Apache-2.0
//
// Options of the partitioning that precedes compiler plug-ins. Getters return
// kLiteRtStatusErrorNotFound if an option is not set.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_COMPILER_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_COMPILER_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
typedef struct LrtCompilerOptions LrtCompilerOptions;

// Strategy that groups selected operators into partitions.
typedef enum LiteRtCompilerOptionsPartitionStrategy {
  // Partitions that can run one after another.
  kLiteRtCompilerOptionsPartitionStrategyDefault = 0,
  // Weakly connected components of the selected operators. Experimental: wrong if a path between
  // two selected operators contains one that is not selected.
  kLiteRtCompilerOptionsPartitionStrategyWeaklyConnected = 1,
} LiteRtCompilerOptionsPartitionStrategy;

// Creates options with default values.
LiteRtStatus LrtCreateCompilerOptions(LrtCompilerOptions** options);

// Destroys options; NULL is allowed.
void LrtDestroyCompilerOptions(LrtCompilerOptions* options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueCompilerOptionsData(const LrtCompilerOptions* options,
                                             const char** identifier, void** payload,
                                             void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtGetCompilerOptionsIdentifier(void);

// Strategy that groups operators.
LiteRtStatus LrtSetCompilerOptionsPartitionStrategy(
    LrtCompilerOptions* options, LiteRtCompilerOptionsPartitionStrategy partition_strategy);
LiteRtStatus LrtGetCompilerOptionsPartitionStrategy(
    const LrtCompilerOptions* options, LiteRtCompilerOptionsPartitionStrategy* partition_strategy);

// Largest number of partitions; 0: no limit.
LiteRtStatus LrtSetCompilerOptionsMaxPartitions(LrtCompilerOptions* options, size_t max_partitions);
LiteRtStatus LrtGetCompilerOptionsMaxPartitions(const LrtCompilerOptions* options,
                                                size_t* max_partitions);

// Option without an effect, for tests.
LiteRtStatus LrtSetCompilerOptionsDummyOption(LrtCompilerOptions* options, bool dummy_option);
LiteRtStatus LrtGetCompilerOptionsDummyOption(const LrtCompilerOptions* options,
                                              bool* dummy_option);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_COMPILER_OPTIONS_H_
