// SPDX-License-Identifier: Apache-2.0
//
// Sizes of the structs of deputy.h and of the other headers named deputy_*.h in their
// first release, the smallest that a client can have.
//
// A struct may grow at its end; these sizes do not change. New fields must come after the size of
// the first release, not in its padding, where an old client has undefined bytes: therefore a check
// requires that the last field of the first release ends where the struct did.
#ifndef DEPUTY_C_API_SRC_STRUCT_SIZES_H_
#define DEPUTY_C_API_SRC_STRUCT_SIZES_H_

#include <cstddef>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_async.h"
#include "c_api/include/deputy_compiled.h"
#include "c_api/include/deputy_devices.h"
#include "c_api/include/deputy_graph.h"
#include "c_api/include/deputy_placement.h"
#include "c_api/include/deputy_state.h"

namespace deputy {

// Minimum size of a client's struct in bytes: its size in the first release. A smaller struct_size
// is invalid.
template <typename Struct>
inline constexpr size_t kFirstSize = 0;

// Declares a struct's size in the first release in bytes if pointers have eight bytes, and its last
// field in that release. With smaller pointers the size is the end of that field.
#define DEPUTY_FIRST_RELEASE(Struct, size, last_field)                                       \
  template <>                                                                                \
  inline constexpr size_t kFirstSize<Struct> =                                               \
      offsetof(Struct, last_field) + sizeof(Struct::last_field);                             \
  static_assert(offsetof(Struct, struct_size) == 0 && sizeof(Struct) >= kFirstSize<Struct>); \
  static_assert(sizeof(void*) != 8 || kFirstSize<Struct> == (size));

// If the last field is a pointer, the size of the pointer is intended.
// NOLINTBEGIN(bugprone-sizeof-expression)
DEPUTY_FIRST_RELEASE(DeputyOperator, 40, types)
DEPUTY_FIRST_RELEASE(DeputyModelOperator, 32, has_kernel)
DEPUTY_FIRST_RELEASE(DeputyLimits, 32, max_subgraphs)
DEPUTY_FIRST_RELEASE(DeputyDelegationStatus, 56, saving_ns)
DEPUTY_FIRST_RELEASE(DeputyVerification, 40, reserved)
DEPUTY_FIRST_RELEASE(DeputyVerificationStatus, 80, found)
DEPUTY_FIRST_RELEASE(DeputyBackgroundOptions, 16, time_limit_ms)
DEPUTY_FIRST_RELEASE(DeputyBackgroundStatus, 64, failure)
DEPUTY_FIRST_RELEASE(DeputyNodeInfo, 72, outputs)
DEPUTY_FIRST_RELEASE(DeputyDelegateInfo, 48, failure)
DEPUTY_FIRST_RELEASE(DeputyNodeSupport, 48, cost_ns)
DEPUTY_FIRST_RELEASE(DeputyNodeRun, 40, recomputed)
DEPUTY_FIRST_RELEASE(DeputyPartition, 64, constant_bytes)
DEPUTY_FIRST_RELEASE(DeputyPlacement, 40, delegate)
DEPUTY_FIRST_RELEASE(DeputyFinding, 64, delegate_name)
DEPUTY_FIRST_RELEASE(DeputyValidationOptions, 40, user_data)
DEPUTY_FIRST_RELEASE(DeputyMemoryMap, 32, tensor_count)
DEPUTY_FIRST_RELEASE(DeputyBuffer, 56, size)
DEPUTY_FIRST_RELEASE(DeputyBufferEdge, 56, reason)
DEPUTY_FIRST_RELEASE(DeputyTensorMemory, 40, last_use)
DEPUTY_FIRST_RELEASE(DeputyOpEvent, 48, reserved)
DEPUTY_FIRST_RELEASE(DeputyWorkerEvent, 40, duration_ns)
DEPUTY_FIRST_RELEASE(DeputyPluginInfo, 64, option_count)
DEPUTY_FIRST_RELEASE(DeputyDeviceEntry, 40, problem)
DEPUTY_FIRST_RELEASE(DeputyDelegateReport, 56, cache_misses)
DEPUTY_FIRST_RELEASE(DeputyTensorParameters, 104, is_variable)
DEPUTY_FIRST_RELEASE(DeputyNodeParameters, 88, registration)
DEPUTY_FIRST_RELEASE(DeputySignature, 64, output_tensors)
DEPUTY_FIRST_RELEASE(DeputyRunRequest, 64, done)
DEPUTY_FIRST_RELEASE(DeputySharedState, 56, in_place)
DEPUTY_FIRST_RELEASE(DeputyPlacementSettings, 48, clock)
DEPUTY_FIRST_RELEASE(DeputyPlacementAlternative, 48, measured_ns)
DEPUTY_FIRST_RELEASE(DeputyPlacementStatus, 24, spent_ns)
DEPUTY_FIRST_RELEASE(DeputyWeightCache, 40, mapped_bytes)
DEPUTY_FIRST_RELEASE(DeputyCompiledStatus, 272, reason)

// NOLINTEND(bugprone-sizeof-expression)
#undef DEPUTY_FIRST_RELEASE

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_STRUCT_SIZES_H_
