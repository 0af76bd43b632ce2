// SPDX-License-Identifier: Apache-2.0
//
// A subgraph as presented to a delegate during build: a list of kernels that the delegate edits.
// The edits do not change the interpreter's graph; the adapter applies them after the delegate has
// returned.
#ifndef DEPUTY_MINDSPORE_SRC_GRAPH_H_
#define DEPUTY_MINDSPORE_SRC_GRAPH_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "deputy/common.h"
#include "mindspore/include/delegate_c.h"
#include "mindspore/ms/node_list.h"
#include "mindspore/src/primitive.h"
#include "mindspore/src/tensor.h"

namespace deputy::ms_api {

// Owns a kernel of a delegate, and calls its release in the destructor.
class DelegateKernel {
 public:
  DelegateKernel(const DeputyMSKernelFunctions& functions, void* user_data, std::string name)
      : functions_(functions), user_data_(user_data), name_(std::move(name)) {}
  DelegateKernel(const DelegateKernel&) = delete;
  DelegateKernel& operator=(const DelegateKernel&) = delete;
  ~DelegateKernel();

  // Call the kernel's functions. Each returns the delegate's status; 0 if the delegate does not
  // have the function.
  int Prepare() { return Call(functions_.prepare); }
  int Execute() { return Call(functions_.execute); }
  int Resize() {
    return Call(functions_.resize != nullptr ? functions_.resize : functions_.infer_shape);
  }

  const std::string& name() const { return name_; }
  // Returns true if the kernel has the required function.
  bool IsValid() const { return functions_.execute != nullptr; }

  // Indices of the nodes that the kernel replaces, in execution order.
  std::vector<int> nodes;

 private:
  int Call(int (*function)(void* user_data)) const;

  DeputyMSKernelFunctions functions_;
  void* user_data_;
  const std::string name_;
};

// Phases, which determine what a view of the graph permits.
enum class Phase {
  kBuild,    // constants have data
  kPrepare,  // constants have data, and shapes of the kernel's outputs may be set
  kExecute,  // all tensors have data, and shapes of dynamic outputs may be set
  kIdle,     // shapes are fixed
};

// The tensors of a TfLiteContext. They outlive the kernels of the delegate.
class GraphTensors : public TensorSource {
 public:
  GraphTensors(TfLiteContext* context, std::shared_ptr<DeviceAddresses> addresses)
      : context_(context), addresses_(std::move(addresses)), table_(this) {}

  TensorTable& table() { return table_; }
  TfLiteContext* context() const { return context_; }

  // Sets the phase and the node that runs in it.
  void Enter(Phase phase, const TfLiteNode* node) {
    phase_ = phase;
    node_ = node;
  }
  // Declares tensors that are internal to a kernel: they get no memory from the runtime.
  void AddInner(const std::vector<int>& inner) { inner_.insert(inner.begin(), inner.end()); }

  TfLiteTensor* At(int index) override;
  bool HasMemory(int index) override;
  bool IsInner(int index) override { return inner_.count(index) > 0; }
  bool SetShape(int index, std::span<const int64_t> shape) override;
  bool AcceptsData(int /*index*/) override { return false; }
  DeviceAddresses* addresses() override { return addresses_.get(); }

 private:
  TfLiteContext* context_;
  const std::shared_ptr<DeviceAddresses> addresses_;
  Phase phase_ = Phase::kIdle;
  const TfLiteNode* node_ = nullptr;
  std::set<int> inner_;
  TensorTable table_;  // last, because its tensors use the other members
};

}  // namespace deputy::ms_api

// A kernel of the list that a delegate edits.
struct DeputyMSKernel {
  // Node of a kernel of the model or of another delegate; -1 for a kernel of this delegate. Only a
  // kernel of the model has an operator, which has the two forms `derived` and `stated`.
  int node = -1;
  std::unique_ptr<DeputyMSPrimitive> derived;  // from TensorFlow Lite's operator
  std::unique_ptr<DeputyMSPrimitive> stated;   // from a .ms file; null if the file has none
  // The delegate's kernel; null for a kernel of the model, and once the adapter has taken the
  // kernel.
  std::unique_ptr<deputy::ms_api::DelegateKernel> kernel;
  std::string name;
  bool foreign = false;  // a node of another delegate, which must stay
  // Reason why the delegate does not support the kernel, a DeputyReason; 0 if none was reported.
  int32_t refusal = 0;
  std::string refusal_text;
  // Returns the operator as delegates see it.
  const DeputyMSPrimitive* primitive() const {
    return stated != nullptr ? stated.get() : derived.get();
  }
  // Inputs and outputs of the kernel without absent ones, as indices and as views. A kernel of this
  // delegate has only the indices of the tensors that its DeputyMSKernelEntry lists.
  std::vector<int> input_indices, output_indices;
  std::vector<MSTensorHandle> inputs, outputs;
};

struct DeputyMSGraph {
  explicit DeputyMSGraph(std::shared_ptr<deputy::ms_api::GraphTensors> graph_tensors)
      : tensors(std::move(graph_tensors)) {}

  // Reads the execution plan. The context must be in delegate mode.
  TfLiteStatus Load();

  // Edits of the list, which take ownership of the new kernels in every case. The first error is
  // kept in `failure`.
  MSStatus Replace(size_t from, size_t end, std::unique_ptr<deputy::ms_api::DelegateKernel> kernel,
                   size_t* next);
  MSStatus SetList(const DeputyMSKernelEntry* entries, size_t count);
  MSStatus Refuse(const char* format, ...) __attribute__((format(printf, 2, 3)));

  std::shared_ptr<deputy::ms_api::GraphTensors> tensors;
  std::vector<std::unique_ptr<DeputyMSKernel>> originals;  // in execution order
  std::vector<std::unique_ptr<DeputyMSKernel>> added;      // kernels of the delegate
  std::vector<DeputyMSKernel*> list;  // the current list: originals and new kernels
  std::vector<MSTensorHandle> inputs, outputs;
  std::string failure;  // message of the first edit that failed; "" if none

 private:
  TfLiteStatus AddNode(int node_index);
  // Reads the primitives that the file of a converted model states.
  void ReadStated();
  void SetStated(const std::vector<deputy::ms::ListedNode>& nodes, size_t budget);
  void FindInputsAndOutputs();
  void FindOutputs();
  DeputyMSKernel* Wrap(std::unique_ptr<deputy::ms_api::DelegateKernel> kernel);
  MSStatus ReadEntries(std::span<const DeputyMSKernelEntry> entries,
                       std::vector<DeputyMSKernel*>* out_list);
  MSStatus CheckCoverage(const std::vector<DeputyMSKernel*>& new_list);
  MSStatus FindNodesOf(DeputyMSKernel* entry, const std::set<const DeputyMSKernel*>& removed);
  MSStatus CheckOrder(const std::vector<DeputyMSKernel*>& new_list);
  DeputyMSKernel* OriginalOf(int node) const;
  const char* NameOfTensor(int index);

  std::vector<int> output_indices_;
  std::map<int, DeputyMSKernel*> producers_;  // producer of each tensor, by index of the tensor
};

#endif  // DEPUTY_MINDSPORE_SRC_GRAPH_H_
