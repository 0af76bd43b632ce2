// SPDX-License-Identifier: Apache-2.0
//
// Builder for an XNNPACK subgraph from kernels of the model. Shapes, sizes, types and quantisation
// are checked before they are passed to XNNPACK. XNNPACK reads up to 16 bytes beyond the end of a
// tensor; therefore constants are copied to padded memory.
#ifndef DEPUTY_BRIDGES_XNNPACK_DEFINITION_H_
#define DEPUTY_BRIDGES_XNNPACK_DEFINITION_H_

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bridges/xnnpack/packed_weights.h"
#include "core/support/refusal.h"
#include "deputy/delegate_serialization.h"
#include "mindspore/delegate.h"

namespace deputy::xnnpack {

using mindspore::MSTensor;
using Shape = std::vector<size_t>;

// Memory with XNN_EXTRA_BYTES of padding at the end, which XNNPACK may read.
class PaddedBytes {
 public:
  explicit PaddedBytes(size_t size);
  uint8_t* data() { return bytes_.data(); }
  const uint8_t* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size() - XNN_EXTRA_BYTES; }

 private:
  std::vector<uint8_t> bytes_;
};

struct DeleteSubgraph {
  void operator()(xnn_subgraph* subgraph) const { xnn_delete_subgraph(subgraph); }
};
struct DeleteRuntime {
  void operator()(xnn_runtime* runtime) const { xnn_delete_runtime(runtime); }
};
using Subgraph = std::unique_ptr<xnn_subgraph, DeleteSubgraph>;

// A runtime and the memory that it reads, which is destroyed after it.
struct Runtime {
  std::vector<PaddedBytes> constants;
  std::unique_ptr<PackedWeights> weights;
  std::unique_ptr<xnn_runtime, DeleteRuntime> runtime;
};

// Use of a tensor.
enum class Role {
  kData,         // data that kernels compute
  kFilter,       // a constant whose channels are in dimension 0
  kDepthFilter,  // a constant whose channels are in dimension 3
  kBias,         // one number per channel
};

class Definition {
 public:
  // Creates an empty definition. `inputs` and `outputs` become the external values 0, 1, ... in
  // this order. With `checking` the definition is only used for checks: contents of constants are
  // not copied.
  Definition(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs,
             bool checking);

  // Returns the first refusal, after which the definition cannot be used.
  const Refusal& refusal() const { return refusal_; }

  // Creates the runtime with the weights. Returns null and a reason if XNNPACK rejects the
  // subgraph.
  std::unique_ptr<Runtime> Finish(std::unique_ptr<PackedWeights> weights, pthreadpool_t threads,
                                  Refusal* refusal);

  // Returns the size of the constants in bytes.
  size_t constant_bytes() const { return constant_bytes_; }
  // Returns a hash of everything in the subgraph on which packed weights depend.
  DeputyFingerprint Fingerprint() const;

  // ---- Used by the operators (operators.h) ------------------------------------------------------

  xnn_subgraph_t subgraph() const { return subgraph_.get(); }
  // Returns the value of a tensor, which the first call defines. Returns false and refuses if
  // XNNPACK does not support the tensor.
  bool ValueOf(const MSTensor& tensor, Role role, uint32_t* out_id);
  // Defines an intermediate value with the type and quantisation of `like`.
  bool NewValue(const MSTensor& like, const Shape& shape, uint32_t* out_id);
  bool Refuse(DeputyReason reason, const char* format, ...) __attribute__((format(printf, 3, 4)));
  // Converts a status of XNNPACK: refuses unless it is success.
  bool Accept(xnn_status status);
  // Adds parameters of an operator to the fingerprint.
  template <typename T>
  void AddToFingerprint(const std::vector<T>& numbers) {
    DeputyFingerprintAdd(&structure_, numbers.data(), numbers.size() * sizeof(T));
  }

 private:
  bool Define(const MSTensor& tensor, Role role, const Shape& shape, const void* data,
              uint32_t external_id, uint32_t flags, uint32_t* out_id);
  bool DefineByChannel(const std::vector<mindspore::QuantParam>& params, Role role,
                       const MSTensor& tensor, const Shape& shape, const void* data,
                       uint32_t* out_id);
  const void* CopyOf(const MSTensor& tensor, Role role);

  Subgraph subgraph_;
  const bool checking_;
  Refusal refusal_;
  struct External {
    uint32_t id, flags;
  };
  std::map<MSTensorHandle, External> externals_;
  std::map<std::pair<MSTensorHandle, Role>, uint32_t> values_;
  // Copies of constants. XNNPACK packs filters when it creates the runtime, but reads other
  // constants during execution; since 2024 also the slopes of PRELU.
  std::vector<PaddedBytes> weights_, constants_;
  std::vector<std::vector<float>> scales_;  // needed until the runtime is created
  size_t constant_bytes_ = 0;
  DeputyFingerprint structure_ = {};  // of operators and tensors, without contents of constants
};

// Returns the dimensions of a tensor. Returns false and refuses unless there are at most
// XNN_MAX_TENSOR_DIMS, each is at least 1, and the tensor has at most 2^30 elements.
bool ShapeOf(Definition* definition, const MSTensor& tensor, Shape* out_shape);

// Returns the product of the dimensions, which does not overflow after ShapeOf.
size_t CountOf(const Shape& shape);

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_DEFINITION_H_
