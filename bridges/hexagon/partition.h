// SPDX-License-Identifier: Apache-2.0
//
// A partition as a graph on the DSP: built in init, prepared once, run, and torn down in free.
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
  // Null on failure, which is reported. Throws if memory is short.
  static std::unique_ptr<Partition> Create(TfLiteContext* context,
                                           const TfLiteDelegateParams& params,
                                           std::shared_ptr<const Library> library,
                                           const Options& options);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  // Compares shapes with those that the graph was built for; prepares it the first time.
  TfLiteStatus Prepare(TfLiteContext* context);
  TfLiteStatus Invoke(TfLiteContext* context);

  // The first of the nodes that it replaces.
  int32_t first_node() const { return first_node_; }
  // The graph as the DSP's library writes it, if it was asked for and is prepared.
  const std::string& text() const { return text_; }

 private:
  // A tensor that crosses the boundary.
  struct Boundary {
    int tensor;
    Dims dims;
    bool is_signed;              // int8: its bytes are flipped
    std::vector<uint8_t> bytes;  // of a signed one, as the DSP sees it
  };

  Partition(std::shared_ptr<const Library> library, const Options& options)
      : library_(std::move(library)), options_(options) {}

  TfLiteStatus Open(TfLiteContext* context);
  TfLiteStatus Translate(TfLiteContext* context, const TfLiteDelegateParams& params);
  TfLiteStatus Fail(TfLiteContext* context, const std::string& what, int status) const;
  TfLiteStatus CheckShapes(TfLiteContext* context, const std::vector<Boundary>& tensors) const;
  NnTensor Lend(TfLiteContext* context, Boundary* boundary) const;
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
