// SPDX-License-Identifier: Apache-2.0
//
// The external context of a compiled model, by which delegates and the runtime exchange buffers,
// and delegates state their requirements.
#ifndef DEPUTY_LITERT_SRC_BUFFER_CONTEXT_H_
#define DEPUTY_LITERT_SRC_BUFFER_CONTEXT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "deputy/c_api.h"
#include "deputy/common.h"
#include "litert/c/internal/litert_external_litert_buffer_context.h"
#include "litert/c/internal/litert_scheduling_info.h"
#include "litert/src/requirements.h"
#include "litert/src/tensor_buffer.h"

namespace deputy::litert {

using TensorId = std::pair<int32_t, int32_t>;  // subgraph and tensor
using RequirementsPtr = std::unique_ptr<LiteRtTensorBufferRequirementsT>;

// Stores the type of a tensor. Fails if its rank is too large.
LiteRtStatus TypeOf(const TfLiteTensor& tensor, LiteRtRankedTensorType* out_type);

// Returns true if a consumer or producer with these requirements can use a buffer.
bool Accepts(const LiteRtTensorBufferRequirementsT& requirements,
             const LiteRtTensorBufferT& buffer);

}  // namespace deputy::litert

// The base is that of all external contexts of TensorFlow Lite.
class LiteRtExternalLiteRtBufferContextT : public TfLiteExternalContext {
 public:
  explicit LiteRtExternalLiteRtBufferContextT(LiteRtEnvironment environment);

  // Forgets all tensors. `interpreter` may be null.
  void Reset(const TfLiteInterpreter* interpreter);

  // Returns false if the tensor is not the interpreter's.
  bool Find(const TfLiteTensor* tensor, deputy::litert::TensorId* out_id) const;

  // Sets the requirements of one of the users of a tensor, which replace its earlier ones. Those of
  // the user null, which stands for all delegates of clients, are joined.
  LiteRtStatus SetRequirements(deputy::litert::TensorId id, const void* user,
                               const LiteRtTensorBufferRequirementsT& requirements);
  void RemoveRequirements(const void* user);
  // Returns the joined requirements of all users. Null if there are none, or if they conflict.
  const LiteRtTensorBufferRequirementsT* Requirements(deputy::litert::TensorId id) const;
  bool has_requirements() const { return !requirements_.empty(); }
  size_t registrations() const { return registrations_; }  // calls of SetRequirements

  void SetBuffer(deputy::litert::TensorId id, deputy::litert::TensorBufferPtr buffer);
  bool RemoveBuffer(deputy::litert::TensorId id) { return buffers_.erase(id) > 0; }
  // Returns the buffer of a tensor, or null.
  LiteRtTensorBufferT* Buffer(deputy::litert::TensorId id) const;

  // Forgets buffers and properties of a run.
  void EndRun();

  const LiteRtEnvironment environment;
  // Properties of the current run.
  bool is_async = false;
  LiteRtOptions run_options = nullptr;
  const LiteRtSchedulingInfo* scheduling = nullptr;

 private:
  struct Entry {
    std::map<const void*, LiteRtTensorBufferRequirementsT> by_user;
    deputy::litert::RequirementsPtr joined;  // null: they conflict
  };

  const TfLiteInterpreter* interpreter_ = nullptr;
  std::map<deputy::litert::TensorId, Entry> requirements_;
  std::map<deputy::litert::TensorId, deputy::litert::TensorBufferPtr> buffers_;
  size_t registrations_ = 0;
};

#endif  // DEPUTY_LITERT_SRC_BUFFER_CONTEXT_H_
