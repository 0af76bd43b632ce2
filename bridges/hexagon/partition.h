// SPDX-License-Identifier: Apache-2.0
//
// A partition as a graph of the DSP: built in init, prepared once, executed, and torn down in free.
#ifndef DEPUTY_BRIDGES_HEXAGON_PARTITION_H_
#define DEPUTY_BRIDGES_HEXAGON_PARTITION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bridges/hexagon/graph.h"
#include "bridges/hexagon/library.h"
#include "bridges/hexagon/operators.h"
#include "bridges/hexagon/options.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::hexagon {

class Partition {
 public:
  // Creates the graph of a partition. Returns null and reports an error on failure. Throws
  // std::bad_alloc if out of memory.
  static std::unique_ptr<Partition> Create(TfLiteContext* context,
                                           const TfLiteDelegateParams& params,
                                           std::shared_ptr<const Library> library,
                                           const Options& options);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  // Checks that the shapes are those for which the graph was built, and prepares the graph on the
  // first call.
  TfLiteStatus Prepare(TfLiteContext* context);
  TfLiteStatus Invoke(TfLiteContext* context);

  // Returns the lowest index of the replaced nodes.
  int32_t first_node() const { return first_node_; }
  // Returns the DSP library's description of the graph; "" unless it was enabled and the graph is
  // prepared.
  const std::string& text() const { return text_; }

 private:
  // An input or output of the partition.
  struct Boundary {
    int tensor;
    Dims dims;
    bool is_signed;              // int8: converted by flipping the highest bit
    std::vector<uint8_t> bytes;  // converted bytes of an int8 tensor
  };

  Partition(std::shared_ptr<const Library> library, const Options& options)
      : library_(std::move(library)), options_(options) {}

  TfLiteStatus Open(TfLiteContext* context);
  TfLiteStatus Translate(TfLiteContext* context, const TfLiteDelegateParams& params);
  TfLiteStatus Fail(TfLiteContext* context, const std::string& what, int status) const;
  TfLiteStatus CheckShapes(TfLiteContext* context, const std::vector<Boundary>& tensors) const;
  NnTensor DeviceTensor(TfLiteContext* context, Boundary* boundary) const;
  void PrintCycles() const;
  const NnFunctions& nn() const { return library_->nn(); }

  const std::shared_ptr<const Library> library_;
  const Options options_;
  NnGraph graph_ = 0;
  bool is_open_ = false, is_prepared_ = false;
  int32_t first_node_ = 0;
  std::vector<Boundary> inputs_, outputs_;
  std::string text_;
};

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_PARTITION_H_
