// SPDX-License-Identifier: Apache-2.0
//
// An XNNPACK subgraph in the making, out of kernels of the model. Everything that a model says is
// checked before XNNPACK sees it: shapes, sizes, types, quantisation. XNNPACK reads up to 16 bytes
// beyond a tensor, so that it never gets memory that is not ours: constants are copied.
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

#include "mindspore/delegate.h"

namespace deputy::xnnpack {

using mindspore::MSTensor;
using Shape = std::vector<size_t>;

// Why a kernel stays with others: a DeputyReason and a sentence; 0 where it does not.
struct Refusal {
  int32_t reason = 0;
  std::string text;
};

// Bytes that XNNPACK may read, with room behind them.
class PaddedBytes {
 public:
  explicit PaddedBytes(size_t size);
  uint8_t* data() { return bytes_.data(); }
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

// A runtime with the constants that it reads.
struct Runtime {
  std::vector<PaddedBytes> constants;  // destroyed after the runtime
  std::unique_ptr<xnn_runtime, DeleteRuntime> runtime;
};

// What a tensor is for.
enum class Role {
  kData,         // what kernels compute
  kFilter,       // a constant whose channels are in dimension 0
  kDepthFilter,  // in dimension 3
  kBias,         // one number per channel
};

class Definition {
 public:
  // `inputs` and `outputs` cross the boundary: external values 0, 1, ... in this order. With
  // `checking` it is thrown away: contents of constants do not matter and are not copied.
  Definition(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs,
             bool checking);

  // The first refusal; it leaves the definition unusable.
  const Refusal& refusal() const { return refusal_; }

  // The runtime. Null, with the reason, where XNNPACK cannot make it.
  std::unique_ptr<Runtime> Finish(pthreadpool_t threads, Refusal* refusal);

  // Bytes of the constants.
  size_t constant_bytes() const { return constant_bytes_; }

  // ---- For the operators (operators.h) ----------------------------------------------------------

  xnn_subgraph_t subgraph() const { return subgraph_.get(); }
  // The value of a tensor, made when first asked for. False, with a refusal, for a tensor that
  // XNNPACK cannot have.
  bool ValueOf(const MSTensor& tensor, Role role, uint32_t* out_id);
  // A value between two operations, with the type and quantisation of `like`.
  bool NewValue(const MSTensor& like, const Shape& shape, uint32_t* out_id);
  bool Refuse(int32_t reason, const char* format, ...) __attribute__((format(printf, 3, 4)));
  // Turns XNNPACK's word into ours.
  bool Accept(xnn_status status);

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
  // XNNPACK packs weights when the runtime is made, and reads other constants whenever it runs.
  std::vector<PaddedBytes> weights_, constants_;
  std::vector<std::vector<float>> scales_;  // as long as the runtime is not made
  size_t constant_bytes_ = 0;
};

// Dimensions of a tensor, each at least 1, with at most 2^30 elements together. False with a
// refusal.
bool ShapeOf(Definition* definition, const MSTensor& tensor, Shape* out_shape);

// Product of the dimensions; ShapeOf has bounded it.
size_t CountOf(const Shape& shape);

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_DEFINITION_H_
