// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of calls for records (record/record_file.h), and their comparison.
#ifndef DEPUTY_BRIDGES_LAYERS_RECORD_CALLS_H_
#define DEPUTY_BRIDGES_LAYERS_RECORD_CALLS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "bridges/layers/layer.h"
#include "bridges/layers/record/record_file.h"

namespace deputy::layers {

// Describes the calls of a delegate. Descriptions refer to the memory of tensors.
class Describer {
 public:
  // With `has_data` false, descriptions have digests of the data only.
  explicit Describer(bool has_data) : has_data_(has_data) {}

  // Describes a call before it is made, except for its number. Thread-safe.
  record::CallBegin Begin(const LayerCall& call);
  // Describes the results of a call, except for number, duration and errors.
  record::CallEnd End(const LayerCall& call, TfLiteStatus status) const;

 private:
  // Tensors whose contents are read. kCopied: a tensor that the delegate has copied from its
  // device, which the runtime marks as stale until the call returns.
  enum class Read { kNothing, kConstants, kOthers, kCopied };

  int32_t NumberOf(const TfLiteContext* context);
  record::TensorValue Describe(const TfLiteContext& context, int index, Read read) const;
  void Describe(const TfLiteContext& context, const TfLiteIntArray* indices, Read read,
                std::vector<record::TensorValue>* out) const;

  const bool has_data_;
  std::mutex mutex_;  // guards `contexts_`
  std::map<const TfLiteContext*, int32_t> contexts_;
};

// Returns the text "call 3 (invoke of kernel 0)".
std::string NameOf(const record::CallBegin& begin);

// Compare a call with the recorded one, and return the first difference, or "" if there is none.
// Numbers of calls, durations and texts of errors are not compared; data are compared by digest.
std::string Compare(const record::CallBegin& recorded, const record::CallBegin& found);
std::string Compare(const record::CallEnd& recorded, const record::CallEnd& found);
// Compares all fields, and the data by digest. It is a difference if only one of them has contents.
std::string Compare(const record::TensorValue& recorded, const record::TensorValue& found);

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_RECORD_CALLS_H_
