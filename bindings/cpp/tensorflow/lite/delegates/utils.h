// SPDX-License-Identifier: Apache-2.0
//
// Selection of the nodes that a delegate replaces. Inside a delegate's Prepare only: the functions
// use the callbacks of the context that are for delegates.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensorflow/lite/array.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/context_util.h"
#include "tensorflow/lite/core/c/c_api_opaque.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/kernel_util.h"
#include "tensorflow/lite/util.h"

// Weak references: null in runtimes that do not export the functions, which can load the plug-in
// nevertheless. The dynamic linker resolves them in the global scope and in the plug-in's own
// dependencies: a process with several runtimes must load them with RTLD_LOCAL, so that no function
// of another runtime is called.
extern "C" TfLiteStatus TfLiteOpaqueContextAcquireSubgraphContext(
    TfLiteOpaqueContext* opaque_context, int subgraph_index,
    TfLiteOpaqueContext** acquired_opaque_context) __attribute__((weak));
extern "C" TfLiteStatus TfLiteOpaqueContextReleaseSubgraphContext(
    TfLiteOpaqueContext* opaque_context, int subgraph_index) __attribute__((weak));
extern "C" TfLiteStatus TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(
    TfLiteOpaqueContext* opaque_context, int subgraph_index) __attribute__((weak));

namespace tflite {
namespace delegates {

// Adds a tensor of another type with the shape of an existing one. Stores its address, which is
// valid until tensors are added, and its index.
inline TfLiteStatus CreateNewTensorWithDifferentType(TfLiteContext* context,
                                                     const int original_tensor_index,
                                                     TfLiteType new_type, TfLiteTensor** new_tensor,
                                                     int* new_tensor_index) {
  TF_LITE_ENSURE_STATUS(context->AddTensors(context, 1, new_tensor_index));
  TfLiteTensor* tensor = &context->tensors[*new_tensor_index];
  tensor->type = new_type;
  tensor->allocation_type = kTfLiteArenaRw;
  *new_tensor = tensor;
  IntArrayUniquePtr dims = BuildTfLiteArray(*context->tensors[original_tensor_index].dims);
  if (dims == nullptr || context->ResizeTensor(context, tensor, dims.release()) != kTfLiteOk) {
    TF_LITE_KERNEL_LOG(context, "Could not resize new delegate tensor");
    return kTfLiteError;
  }
  return kTfLiteOk;
}

// Makes another subgraph available for delegation until ReleaseSubgraphContext, which must follow
// each successful call. Without the C functions, the callbacks of the context are used, which exist
// since TensorFlow 2.14 and work inside Prepare only.
inline TfLiteStatus AcquireSubgraphContext(const TfLiteContext* context, int subgraph_index,
                                           TfLiteContext** acquired_context) {
  auto* owner = const_cast<TfLiteContext*>(context);
  if (&TfLiteOpaqueContextAcquireSubgraphContext == nullptr) {
    return owner->AcquireSubgraphContext(owner, subgraph_index, acquired_context);
  }
  return TfLiteOpaqueContextAcquireSubgraphContext(
      reinterpret_cast<TfLiteOpaqueContext*>(owner), subgraph_index,
      reinterpret_cast<TfLiteOpaqueContext**>(acquired_context));
}
inline TfLiteStatus ReleaseSubgraphContext(const TfLiteContext* context, int subgraph_index) {
  auto* owner = const_cast<TfLiteContext*>(context);
  if (&TfLiteOpaqueContextReleaseSubgraphContext == nullptr) {
    return owner->ReleaseSubgraphContext(owner, subgraph_index);
  }
  return TfLiteOpaqueContextReleaseSubgraphContext(reinterpret_cast<TfLiteOpaqueContext*>(owner),
                                                   subgraph_index);
}

// Excludes another subgraph from the application of further delegates. kTfLiteError unless the
// index is at least 1 and in range, and after a report if the runtime does not export the C
// function.
inline TfLiteStatus MarkSubgraphAsDelegationSkippable(const TfLiteContext* context,
                                                      int subgraph_index) {
  auto* owner = const_cast<TfLiteContext*>(context);
  if (&TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable == nullptr) {
    TF_LITE_KERNEL_LOG(owner, "TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable is missing.");
    return kTfLiteError;
  }
  return TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(
      reinterpret_cast<TfLiteOpaqueContext*>(owner), subgraph_index);
}

// True if a delegate supports the node. May store the reason in `unsupported_details` if not.
using IsNodeSupportedFn = std::function<bool(TfLiteContext*, TfLiteNode*, TfLiteRegistration*,
                                             std::string* unsupported_details)>;

// Finds the supported nodes of a graph, and the partitions that replacing them would create.
class GraphPartitionHelper {
 public:
  // The context must outlive the helper.
  GraphPartitionHelper(TfLiteContext* context, IsNodeSupportedFn is_node_supported_fn)
      : context_(context), is_node_supported_fn_(std::move(is_node_supported_fn)) {}

  // Uses the listed nodes instead of a function.
  GraphPartitionHelper(TfLiteContext* context, const std::vector<int>& supported_node_indices)
      : context_(context),
        num_total_nodes_(static_cast<int>(supported_node_indices.size())),
        num_supported_nodes_(num_total_nodes_),
        supported_nodes_(supported_node_indices) {}

  GraphPartitionHelper(const GraphPartitionHelper&) = delete;
  GraphPartitionHelper& operator=(const GraphPartitionHelper&) = delete;

  virtual ~GraphPartitionHelper() { inline_c::FreeIntArray(original_execution_plan_); }

  // Computes the partitions of the supported nodes whose indices are in the given range, both ends
  // included; listed nodes are not limited to the range. `unsupported_nodes_info`, which may be
  // null, receives "<operator>: <reason>" for each unsupported node before the first supported one
  // after the range.
  TfLiteStatus Partition(std::set<std::string>* unsupported_nodes_info, int start_node_index = 0,
                         int end_node_index = std::numeric_limits<int>::max()) {
    return PartitionImpl(unsupported_nodes_info, start_node_index, end_node_index);
  }

  // The `n` largest partitions with at least the given number of nodes, in descending order. The
  // runtime owns them; they are valid until the next preview or replacement.
  std::vector<TfLiteDelegateParams*> GetFirstNLargestPartitions(
      int n = std::numeric_limits<int>::max(), int min_nodes_per_partition = 0) const {
    std::vector<TfLiteDelegateParams*> largest(partitions_);
    std::stable_sort(largest.begin(), largest.end(),
                     [](const TfLiteDelegateParams* a, const TfLiteDelegateParams* b) {
                       return a->nodes_to_replace->size > b->nodes_to_replace->size;
                     });
    if (largest.size() > static_cast<std::size_t>(std::max(n, 0))) {
      largest.resize(static_cast<std::size_t>(std::max(n, 0)));
    }
    while (!largest.empty() && largest.back()->nodes_to_replace->size < min_nodes_per_partition) {
      largest.pop_back();
    }
    return largest;
  }

  // The nodes of these partitions.
  std::vector<int> GetNodesOfFirstNLargestPartitions(int n = std::numeric_limits<int>::max(),
                                                     int min_nodes_per_partition = 0) {
    return GetNodesOfFirstNLargestPartitionsImpl(n, min_nodes_per_partition);
  }

  int num_total_nodes() const { return num_total_nodes_; }
  int num_supported_nodes() const { return num_supported_nodes_; }
  int num_partitions() const { return static_cast<int>(partitions_.size()); }

 protected:
  virtual bool IsNodeSupported(TfLiteContext* context, TfLiteNode* node,
                               TfLiteRegistration* registration, int /*node_id*/,
                               std::string* unsupported_details) {
    return is_node_supported_fn_(context, node, registration, unsupported_details);
  }

  virtual std::vector<int> GetNodesOfFirstNLargestPartitionsImpl(int n,
                                                                 int min_nodes_per_partition) {
    std::vector<int> nodes;
    for (const TfLiteDelegateParams* partition :
         GetFirstNLargestPartitions(n, min_nodes_per_partition)) {
      const TfLiteIntArrayView partition_nodes(partition->nodes_to_replace);
      nodes.insert(nodes.end(), partition_nodes.begin(), partition_nodes.end());
    }
    return nodes;
  }

  virtual TfLiteStatus PartitionImpl(std::set<std::string>* unsupported_nodes_info,
                                     int start_node_index, int end_node_index) {
    TF_LITE_ENSURE_STATUS(
        FindSupportedNodes(unsupported_nodes_info, start_node_index, end_node_index));
    TfLiteDelegateParams* partitions = nullptr;
    int count = 0;
    const IntArrayUniquePtr nodes = BuildTfLiteArray(supported_nodes_);
    if (nodes == nullptr || context_->PreviewDelegatePartitioning(
                                context_, nodes.get(), &partitions, &count) != kTfLiteOk) {
      TF_LITE_KERNEL_LOG(context_, "Unable to preview delegate partition.\n");
      return kTfLiteError;
    }
    partitions_.clear();
    for (int i = 0; i < count; ++i) partitions_.push_back(partitions + i);
    return kTfLiteOk;
  }

  TfLiteContext* const context_ = nullptr;
  // Partitions of the newest preview; borrowed.
  std::vector<TfLiteDelegateParams*> partitions_;
  // Copy of the execution plan; owned. Null before Partition, and if the nodes were listed.
  TfLiteIntArray* original_execution_plan_ = nullptr;

 private:
  // Fills supported_nodes_ by means of IsNodeSupported.
  TfLiteStatus FindSupportedNodes(std::set<std::string>* unsupported_nodes_info,
                                  int start_node_index, int end_node_index) {
    if (!is_node_supported_fn_) return kTfLiteOk;
    supported_nodes_.clear();
    num_supported_nodes_ = 0;
    TF_LITE_ENSURE_STATUS(CopyExecutionPlan());
    std::vector<int> supported;
    for (const int node_id : TfLiteIntArrayView(original_execution_plan_)) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      const TfLiteStatus status =
          context_->GetNodeAndRegistration(context_, node_id, &node, &registration);
      if (status != kTfLiteOk) {
        TF_LITE_KERNEL_LOG(context_, "Couldn't get node and registration info for op: %d\n",
                           node_id);
        return status;
      }
      std::string details;
      if (!IsNodeSupported(context_, node, registration, node_id, &details)) {
        if (unsupported_nodes_info != nullptr) {
          unsupported_nodes_info->insert(GetOpNameByRegistration(*registration) + ": " + details);
        }
        continue;
      }
      if (node_id > end_node_index) break;
      if (node_id >= start_node_index) supported.push_back(node_id);
    }
    supported_nodes_ = std::move(supported);
    num_supported_nodes_ = static_cast<int>(supported_nodes_.size());
    return kTfLiteOk;
  }

  TfLiteStatus CopyExecutionPlan() {
    TfLiteIntArray* plan = nullptr;
    const TfLiteStatus status = context_->GetExecutionPlan(context_, &plan);
    if (status != kTfLiteOk) {
      TF_LITE_KERNEL_LOG(context_, "Unable to get graph execution plan.\n");
      return status;
    }
    inline_c::FreeIntArray(original_execution_plan_);
    original_execution_plan_ = inline_c::CopyIntArray(plan);
    if (original_execution_plan_ == nullptr) return kTfLiteError;
    num_total_nodes_ = plan->size;
    return kTfLiteOk;
  }

  int num_total_nodes_ = 0;
  int num_supported_nodes_ = 0;
  const IsNodeSupportedFn is_node_supported_fn_;
  std::vector<int> supported_nodes_;
};

// Partitions models whose float16 weights pass through DEQUANTIZE. The predicate and the delegate's
// kernels receive the float16 constants as inputs of the nodes, so the delegate need not support
// these DEQUANTIZE nodes.
class FP16GraphPartitionHelper : public GraphPartitionHelper {
 public:
  FP16GraphPartitionHelper(TfLiteContext* context, IsNodeSupportedFn is_node_supported_fn)
      : GraphPartitionHelper(context, std::move(is_node_supported_fn)) {}

 protected:
  bool IsNodeSupported(TfLiteContext* context, TfLiteNode* node, TfLiteRegistration* registration,
                       int node_id, std::string* unsupported_details) override {
    if (registration->builtin_code == kTfLiteBuiltinDequantize && node->inputs->size > 0) {
      const TfLiteTensor& input = context_->tensors[node->inputs->data[0]];
      if (input.type == kTfLiteFloat16 && IsConstantTensor(&input)) {
        constant_of_dequantized_[node->outputs->data[0]] = node->inputs->data[0];
        return false;
      }
    }
    const TfLiteIntArrayView view(node->inputs);
    const std::vector<int> original_inputs(view.begin(), view.end());
    ReplaceInputs(node);
    const bool is_supported = GraphPartitionHelper::IsNodeSupported(context, node, registration,
                                                                    node_id, unsupported_details);
    if (node->inputs->size == static_cast<int>(original_inputs.size())) {
      std::copy(original_inputs.begin(), original_inputs.end(), node->inputs->data);
    }
    return is_supported;
  }

  // Returns all nodes of the plan if only the DEQUANTIZE nodes of constants are unsupported,
  // otherwise the nodes that the base class selects. Sets the float16 constants as inputs of the
  // returned nodes.
  std::vector<int> GetNodesOfFirstNLargestPartitionsImpl(int n,
                                                         int min_nodes_per_partition) override {
    std::vector<int> nodes;
    const int constants = static_cast<int>(constant_of_dequantized_.size());
    if (num_supported_nodes() + constants == num_total_nodes()) {
      const TfLiteIntArrayView plan(original_execution_plan_);
      nodes.assign(plan.begin(), plan.end());
    } else {
      nodes =
          GraphPartitionHelper::GetNodesOfFirstNLargestPartitionsImpl(n, min_nodes_per_partition);
    }
    for (const int node_id : nodes) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      if (context_->GetNodeAndRegistration(context_, node_id, &node, &registration) != kTfLiteOk) {
        TF_LITE_KERNEL_LOG(context_, "Couldn't get node and registration info for op: %d\n",
                           node_id);
        continue;
      }
      ReplaceInputs(node);
    }
    return nodes;
  }

 private:
  // Replaces inputs that DEQUANTIZE computes from constants by these constants.
  void ReplaceInputs(TfLiteNode* node) const {
    for (int i = 0; i < node->inputs->size; ++i) {
      const auto found = constant_of_dequantized_.find(node->inputs->data[i]);
      if (found != constant_of_dequantized_.end()) node->inputs->data[i] = found->second;
    }
  }

  // Maps the output of each DEQUANTIZE of a float16 constant to the constant.
  std::unordered_map<int, int> constant_of_dequantized_;
};

}  // namespace delegates
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_H_
