// SPDX-License-Identifier: Apache-2.0
//
// The packed weights of an XNNPACK runtime. With XNNPACK of 2024 or later (kCanStoreWeights) they
// are stored in a file, which later processes map instead of packing the weights again.
#ifndef DEPUTY_BRIDGES_XNNPACK_PACKED_WEIGHTS_H_
#define DEPUTY_BRIDGES_XNNPACK_PACKED_WEIGHTS_H_

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <memory>
#include <string>

#include "deputy/delegate_serialization.h"

namespace deputy::xnnpack {

#ifdef DEPUTY_XNNPACK_STORES_WEIGHTS
constexpr bool kCanStoreWeights = true;
#else
constexpr bool kCanStoreWeights = false;
#endif

// Weights that are packed into private memory when the runtime is created.
class PackedWeights {
 public:
  PackedWeights() = default;
  virtual ~PackedWeights() = default;
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  // Returns weights for a runtime that is created to check whether XNNPACK supports the subgraph,
  // and never runs. They are not packed if XNNPACK permits it.
  static std::unique_ptr<PackedWeights> ForCheck();
  // Returns the weights in the entry `key` of the directory `folder`. If there is no valid entry,
  // CreateRuntime packs the weights and writes it. `key` identifies the subgraph and its constants,
  // which have `constant_bytes` bytes. If kCanStoreWeights is false, weights are only packed.
  static std::unique_ptr<PackedWeights> InFile(const std::string& folder,
                                               const DeputyFingerprint& key, size_t constant_bytes);

  // Creates a runtime, which this object must outlive. Called at most once.
  virtual xnn_status CreateRuntime(xnn_subgraph_t subgraph, pthreadpool_t threads,
                                   xnn_runtime_t* out_runtime);
  // Returns true if a file had all weights of the runtime.
  virtual bool were_stored() const { return false; }
};

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_PACKED_WEIGHTS_H_
