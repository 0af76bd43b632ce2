// SPDX-License-Identifier: Apache-2.0
//
// GraphCell, the argument of Model::Build(GraphCell). A cell does not run by itself.
#ifndef DEPUTY_MINDSPORE_INCLUDE_CELL_H_
#define DEPUTY_MINDSPORE_INCLUDE_CELL_H_

#include <memory>
#include <utility>
#include <vector>

#include "graph.h"
#include "status.h"
#include "types.h"

namespace mindspore {

// Base class of cells. Run returns kLiteNotSupport, as in MindSpore Lite, if no class overrides it.
class CellBase {
 public:
  CellBase() = default;
  CellBase(const CellBase&) = default;
  CellBase& operator=(const CellBase&) = default;
  virtual ~CellBase() = default;
  virtual std::shared_ptr<CellBase> Clone() const = 0;
  virtual Status Run(const std::vector<MSTensor>& /*inputs*/, std::vector<MSTensor>* /*outputs*/) {
    return {kLiteNotSupport, "a cell does not run: build a Model with it"};
  }
};

template <class T>
class Cell : public CellBase {
 public:
  std::shared_ptr<CellBase> Clone() const override {
    return std::make_shared<T>(static_cast<const T&>(*this));
  }
};

class GraphCell final : public Cell<GraphCell> {
 public:
  GraphCell() = default;
  explicit GraphCell(const Graph& graph) : graph_(std::make_shared<Graph>(graph)) {}
  explicit GraphCell(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}

  const std::shared_ptr<Graph>& GetGraph() const { return graph_; }

 private:
  std::shared_ptr<Graph> graph_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_CELL_H_
