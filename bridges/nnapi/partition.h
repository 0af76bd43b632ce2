// SPDX-License-Identifier: Apache-2.0
//
// A node of the delegate: the nodes that it replaces, as one compiled NNAPI model.
//
// A partition is used by one thread at a time, like its interpreter.
#ifndef DEPUTY_BRIDGES_NNAPI_PARTITION_H_
#define DEPUTY_BRIDGES_NNAPI_PARTITION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bridges/nnapi/definition.h"
#include "bridges/nnapi/library.h"
#include "bridges/nnapi/options.h"
#include "bridges/nnapi/shared_block.h"
#include "deputy/common.h"

namespace deputy::nnapi {

// Options, library and devices of a delegate, shared by all of its partitions.
struct Engine {
  Options options;
  std::shared_ptr<const Library> library;
  Devices devices;
  mutable std::atomic<int64_t> compile_ns = 0;  // sum over all partitions
};

class Partition {
 public:
  Partition(const Engine& engine, const TfLiteDelegateParams& params);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  // Builds and compiles the model once, while the delegate is applied; shapes do not change during
  // the lifetime of the node. Failures are reported to the context.
  TfLiteStatus Prepare(TfLiteContext* context);
  // Executes the model and waits until the outputs are written.
  TfLiteStatus Invoke(TfLiteContext* context);

 private:
  // The functions that return a text return "" or a description of the failure.
  std::string Build(TfLiteContext* context);
  std::string ShareConstants(const TfLiteContext& context);
  std::string Compile();
  std::string Configure();
  std::string SetCaching();
  std::string ShareArguments(const TfLiteContext& context);
  std::string Execute(TfLiteContext* context);
  std::string SetArguments(const TfLiteContext& context, ANeuralNetworksExecution* execution);
  std::string Compute(ANeuralNetworksExecution* execution);
  void Clear();

  const Functions& functions() const { return engine_.library->functions; }

  const Engine& engine_;
  std::vector<int> nodes_, partition_inputs_;
  std::vector<int> inputs_;  // inputs of the model: tensors of the host
  std::vector<int> outputs_;
  SharedBlock constants_block_, arguments_block_;
  SharedConstants constants_;
  std::vector<size_t> input_offsets_, output_offsets_;  // offsets in the block of arguments
  // Definition of the model. It owns values that the model borrows.
  std::unique_ptr<Definition> definition_;
  ANeuralNetworksModel* model_ = nullptr;
  ANeuralNetworksCompilation* compilation_ = nullptr;
  ANeuralNetworksBurst* burst_ = nullptr;
};

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_PARTITION_H_
