// SPDX-License-Identifier: Apache-2.0
//
// An instance of a model: one interpreter, which runs requests one by one and, with max_batch_size
// above 0, the images of a request one by one. Larger batches would not be faster on a CPU.
#ifndef DEPUTY_BRIDGES_TRITON_INSTANCE_H_
#define DEPUTY_BRIDGES_TRITON_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bridges/triton/delegates.h"
#include "bridges/triton/error.h"
#include "bridges/triton/model.h"

namespace deputy::triton {

class Instance {
 public:
  // `model` must outlive the instance.
  static Error Create(const Model& model, std::unique_ptr<Instance>* instance);

  // Runs the requests, sends a response for each and releases it.
  void Execute(TRITONBACKEND_ModelInstance* triton, TRITONBACKEND_Request** requests,
               uint32_t count);

 private:
  // Times of the stages of a request in nanoseconds, and its number of images.
  struct Times {
    uint64_t begin = 0, compute_begin = 0, compute_end = 0, end = 0;
    uint64_t images = 1;
  };
  // An input of the present request.
  struct Input {
    Shape shape;                            // shape of one image
    std::string_view bytes;                 // contents for all images
    std::string gathered;                   // storage of `bytes` if the server has several buffers
    std::vector<std::string_view> strings;  // `bytes` split into strings
  };
  // A requested output.
  struct Output {
    int index = 0;      // index of the model's output
    Shape shape;        // shape of one image
    std::string bytes;  // contents for all images
  };

  explicit Instance(const Model& model) : model_(model) {}

  // Runs a request, sends its response and reports its times.
  void Serve(TRITONBACKEND_ModelInstance* triton, TRITONBACKEND_Request* request, Times* times);
  Error Run(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response, Times* times);

  Error ReadInputs(TRITONBACKEND_Request* request, uint64_t* images);
  Error ReadInput(TRITONBACKEND_Request* request, size_t index, uint64_t* images);
  // Converts the shape of a request to that of one image in the model, and stores the number of
  // images.
  Error ReadShape(const TensorInfo& info, Shape shape, bool is_first, Input* input,
                  uint64_t* images) const;
  // Resizes the interpreter's inputs if the request has other shapes.
  Error Prepare();
  // Returns the error for shapes that the interpreter refused.
  Error RefuseShapes() const;
  // Checks the sizes of the inputs and splits strings.
  Error CheckContents(uint64_t images);
  Error ReadOutputNames(TRITONBACKEND_Request* request);
  Error RunImage(uint64_t image, bool resets_state);
  Error FillInput(size_t index, uint64_t image, uint64_t images);
  Error TakeOutput(uint64_t image, Output* output);
  Error WriteOutputs(TRITONBACKEND_Response* response, uint64_t images) const;
  // Name of a delegate in metrics and in the log.
  std::string RunnerName(const DeputyDelegateInfo& info) const;
  void ReportNodes() const;
  void CountRun();

  const Model& model_;
  std::vector<Delegate> delegates_;  // must outlive the interpreter
  Interpreter interpreter_;
  bool is_allocated_ = true;
  bool is_degraded_ = false;
  // Inputs and outputs of the present request.
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace deputy::triton

#endif  // DEPUTY_BRIDGES_TRITON_INSTANCE_H_
