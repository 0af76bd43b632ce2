// SPDX-License-Identifier: Apache-2.0
//
// A model file, as bytes or as a path: the result of Serialization::Load, which Model::Build
// builds.
#ifndef DEPUTY_MINDSPORE_INCLUDE_GRAPH_H_
#define DEPUTY_MINDSPORE_INCLUDE_GRAPH_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "status.h"
#include "types.h"

namespace mindspore {

class Graph {
 public:
  // The file: its bytes, or its path if `bytes` is empty.
  struct GraphData {
    Buffer bytes;
    std::string path;
    enum ModelType type = kUnknownType;
  };

  Graph() = default;
  explicit Graph(std::shared_ptr<GraphData> data) : data_(std::move(data)) {}
  explicit Graph(std::nullptr_t) {}

  enum ModelType ModelType() const { return data_ == nullptr ? kUnknownType : data_->type; }
  bool operator==(std::nullptr_t) const { return data_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return data_ != nullptr; }

  // Deputy extension: returns the file; null for an empty graph.
  const std::shared_ptr<GraphData>& data() const { return data_; }

 private:
  std::shared_ptr<GraphData> data_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_GRAPH_H_
