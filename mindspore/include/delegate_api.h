// SPDX-License-Identifier: Apache-2.0
//
// Interface of delegates over an arbitrary kind of graph. Deputy runs those whose graph is
// LiteDelegateGraph: classes that derive from Delegate (delegate.h).
#ifndef DEPUTY_MINDSPORE_INCLUDE_DELEGATE_API_H_
#define DEPUTY_MINDSPORE_INCLUDE_DELEGATE_API_H_

#include <memory>
#include <utility>
#include <vector>

#include "status.h"
#include "types.h"

namespace mindspore {

class Delegate;

// A delegate with the inputs and outputs that its constructor received.
class AbstractDelegate {
 public:
  AbstractDelegate() = default;
  AbstractDelegate(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  AbstractDelegate(const AbstractDelegate&) = delete;
  AbstractDelegate& operator=(const AbstractDelegate&) = delete;
  virtual ~AbstractDelegate() = default;

  const std::vector<MSTensor>& inputs() { return inputs_; }
  const std::vector<MSTensor>& outputs() { return outputs_; }

  // Deputy extension: returns this object if it is a Delegate, otherwise null.
  virtual Delegate* AsDelegate() { return nullptr; }

 protected:
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
};

template <typename Graph, typename Node, typename Kernel>
class IDelegate : public AbstractDelegate {
 public:
  IDelegate() = default;
  IDelegate(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs)
      : AbstractDelegate(inputs, outputs) {}

  // Replaces nodes of the graph by nodes of the delegate.
  virtual void ReplaceNodes(const std::shared_ptr<Graph>& graph) = 0;
  // Returns true if the delegate runs the node.
  virtual bool IsDelegateNode(const std::shared_ptr<Node>& node) = 0;
  // Returns the kernel that runs a node of the delegate; null if there is none.
  virtual std::shared_ptr<Kernel> CreateKernel(const std::shared_ptr<Node>& node) = 0;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_DELEGATE_API_H_
