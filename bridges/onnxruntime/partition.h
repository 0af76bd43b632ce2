// SPDX-License-Identifier: Apache-2.0
//
// A node of the delegate: the nodes that it replaces, as one session of ONNX Runtime.
//
// A partition is used by one thread at a time, like its interpreter.
#ifndef DEPUTY_BRIDGES_ONNXRUNTIME_PARTITION_H_
#define DEPUTY_BRIDGES_ONNXRUNTIME_PARTITION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bridges/onnxruntime/library.h"
#include "bridges/onnxruntime/options.h"
#include "deputy/common.h"

namespace deputy::onnxruntime {

// Options and library of a delegate, shared by all of its partitions.
struct Engine {
  Options options;
  std::shared_ptr<const Library> library;       // null: see `problem`
  std::string problem;                          // reason why there is no library
  mutable std::atomic<int64_t> compile_ns = 0;  // sum over all partitions
};

class Partition {
 public:
  Partition(const Engine& engine, const TfLiteDelegateParams& params);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  // Creates the session once, while the delegate is applied; shapes do not change during the
  // lifetime of the node. Failures are reported to the context.
  TfLiteStatus Prepare(TfLiteContext* context);
  // Executes the model and waits until the outputs are written.
  TfLiteStatus Invoke(TfLiteContext* context);

 private:
  // The functions that return a text return "" or a description of the failure.
  std::string Build(TfLiteContext* context, std::string* out_model);
  std::string CreateSession(const std::string& model);
  std::string Configure(OrtSessionOptions* options);
  std::string Execute(const TfLiteContext& context);
  std::string Wrap(const TfLiteTensor& tensor, std::vector<OrtValue*>* out_values) const;
  std::string Run(const std::vector<OrtValue*>& inputs, std::vector<OrtValue*>* outputs);

  const Functions& functions() const { return engine_.library->functions; }

  const Engine& engine_;
  std::vector<int> nodes_, partition_inputs_;
  std::vector<int> inputs_, outputs_;  // tensors of the host that are arguments of the model
  std::vector<std::string> input_names_, output_names_;
  OrtSession* session_ = nullptr;
};

}  // namespace deputy::onnxruntime

#endif  // DEPUTY_BRIDGES_ONNXRUNTIME_PARTITION_H_
