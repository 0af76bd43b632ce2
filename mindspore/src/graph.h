// SPDX-License-Identifier: Apache-2.0
//
// What a delegate sees of a subgraph while it builds: a list of kernels that it edits. Nothing here
// changes the interpreter's graph; the adapter does, once the delegate has returned.
#ifndef DEPUTY_MINDSPORE_SRC_GRAPH_H_
#define DEPUTY_MINDSPORE_SRC_GRAPH_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "deputy/common.h"
#include "mindspore/include/delegate_c.h"
#include "mindspore/src/primitive.h"
#include "mindspore/src/tensor.h"

namespace deputy::ms_api {

// A kernel of a delegate, owned by whoever holds this object.
class DelegateKernel {
 public:
  DelegateKernel(const DeputyMSKernelFunctions& functions, void* user_data, std::string name)
      : functions_(functions), user_data_(user_data), name_(std::move(name)) {}
  DelegateKernel(const DelegateKernel&) = delete;
  DelegateKernel& operator=(const DelegateKernel&) = delete;
  ~DelegateKernel();

  // Each returns the delegate's code; 0 where the delegate has no such function.
  int Prepare() { return Call(functions_.prepare); }
  int Execute() { return Call(functions_.execute); }
  int Resize() {
    return Call(functions_.resize != nullptr ? functions_.resize : functions_.infer_shape);
  }

  const std::string& name() const { return name_; }

  // Numbers of the nodes it stands for, in the order of execution.
  std::vector<int> nodes;

 private:
  int Call(int (*function)(void* user_data)) const;

  DeputyMSKernelFunctions functions_;
  void* user_data_;
  const std::string name_;
};

// What a view of the graph may do at the moment.
enum class Phase {
  kBuild,    // constants have data
  kPrepare,  // the same, and outputs of the kernel may be shaped
  kExecute,  // all have data
  kIdle,     // shapes are fixed
};

// The tensors of a TfLiteContext. Lives as long as a kernel of the delegate.
class GraphTensors : public TensorSource {
 public:
  explicit GraphTensors(TfLiteContext* context) : context_(context), table_(this) {}

  TensorTable& table() { return table_; }
  TfLiteContext* context() const { return context_; }

  // Until the next call: what may be done, and the node that does it.
  void Enter(Phase phase, const TfLiteNode* node) {
    phase_ = phase;
    node_ = node;
  }
  // From now on tensors `inner` have no memory of the runtime's.
  void AddInner(const std::vector<int>& inner) { inner_.insert(inner.begin(), inner.end()); }

  TfLiteTensor* At(int index) override;
  bool HasMemory(int index) override;
  bool IsInner(int index) override { return inner_.count(index) > 0; }
  bool SetShape(int index, std::span<const int64_t> shape) override;
  bool TakesData(int /*index*/) override { return false; }

 private:
  TfLiteContext* context_;
  Phase phase_ = Phase::kIdle;
  const TfLiteNode* node_ = nullptr;
  std::set<int> inner_;
  TensorTable table_;  // the last: its tensors look at the rest
};

}  // namespace deputy::ms_api

// A kernel of the list.
struct DeputyMSKernel {
  // Of the model: its node and operator. Of a delegate: -1 and null.
  int node = -1;
  std::unique_ptr<DeputyMSPrimitive> primitive;
  // Of this delegate: the kernel, until the adapter takes it.
  std::unique_ptr<deputy::ms_api::DelegateKernel> kernel;
  std::string name;
  bool foreign = false;  // a node of another delegate's, which stays
  // Why the delegate does not take it, a DeputyReason; 0: it has not said that.
  int32_t refusal = 0;
  std::string refusal_text;
  // Numbers of its tensors without absent ones, and their views. Of this delegate's kernel: what it
  // says, where it says so.
  std::vector<int> input_indices, output_indices;
  std::vector<MSTensorHandle> inputs, outputs;
};

struct DeputyMSGraph {
  explicit DeputyMSGraph(std::shared_ptr<deputy::ms_api::GraphTensors> graph_tensors)
      : tensors(std::move(graph_tensors)) {}

  // Reads the plan. The context is in delegate mode.
  TfLiteStatus Load();

  // The edits, which own the new kernels in every case. What goes wrong stays in `failure`.
  MSStatus Replace(size_t from, size_t end, std::unique_ptr<deputy::ms_api::DelegateKernel> kernel,
                   size_t* next);
  MSStatus SetList(const DeputyMSKernelEntry* entries, size_t count);
  MSStatus Refuse(const char* format, ...) __attribute__((format(printf, 2, 3)));

  std::shared_ptr<deputy::ms_api::GraphTensors> tensors;
  std::vector<std::unique_ptr<DeputyMSKernel>> originals;  // in the order of execution
  std::vector<std::unique_ptr<DeputyMSKernel>> fresh;      // the delegate's own
  std::vector<DeputyMSKernel*> list;                       // what is left, and what is new
  std::vector<MSTensorHandle> inputs, outputs;
  std::string failure;  // of the first edit that failed; "" if none did

 private:
  TfLiteStatus AddNode(int node_index);
  void FindEnds();
  void FindOutputs();
  DeputyMSKernel* Wrap(std::unique_ptr<deputy::ms_api::DelegateKernel> kernel);
  MSStatus ReadEntries(std::span<const DeputyMSKernelEntry> entries,
                       std::vector<DeputyMSKernel*>* out_list);
  MSStatus CoverGone(const std::vector<DeputyMSKernel*>& new_list);
  MSStatus FindNodesOf(DeputyMSKernel* entry, const std::set<const DeputyMSKernel*>& gone);
  MSStatus CheckOrder(const std::vector<DeputyMSKernel*>& new_list);
  DeputyMSKernel* OriginalOf(int node) const;
  const char* NameOfTensor(int index);

  std::vector<int> output_indices_;
  std::map<int, DeputyMSKernel*> producers_;  // by tensor
};

#endif  // DEPUTY_MINDSPORE_SRC_GRAPH_H_
