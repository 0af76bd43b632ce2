// SPDX-License-Identifier: Apache-2.0
//
// Options of an Interpreter. docs/cpp.md lists those that have an effect.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERPRETER_OPTIONS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERPRETER_OPTIONS_H_

namespace tflite {

class InterpreterOptions {
 public:
  // Keeps the contents of all tensors of subgraph 0 after Invoke.
  void SetPreserveAllTensors(bool value = true) { preserve_all_tensors_ = value; }
  bool GetPreserveAllTensors() { return preserve_all_tensors_; }
  bool GetPreserveAllTensors() const { return preserve_all_tensors_; }

  // Frees, after Invoke, dynamic tensors that are neither inputs, outputs nor variables.
  void SetEnsureDynamicTensorsAreReleased(bool value = true) { release_dynamic_tensors_ = value; }
  bool GetEnsureDynamicTensorsAreReleased() { return release_dynamic_tensors_; }
  bool GetEnsureDynamicTensorsAreReleased() const { return release_dynamic_tensors_; }

  // Also frees dynamic tensors after Invoke, as SetEnsureDynamicTensorsAreReleased does. `value`,
  // in bytes, has no other effect: the library's memory planner shares memory between tensors of
  // any size. Ignored unless positive.
  void OptimizeMemoryForLargeTensors(int value = 1 << 20) {
    if (value <= 0) return;
    large_tensor_bytes_ = value;
    release_dynamic_tensors_ = true;
  }
  int GetDynamicAllocationForLargeTensors() { return large_tensor_bytes_; }
  int GetDynamicAllocationForLargeTensors() const { return large_tensor_bytes_; }

  // Hints without effect: the library decides about reordering for delegates, cached results of
  // CAST, inlining of composites, storage of zero points, the size of partitions and the profiling
  // of delegates.
  void SetDisableDelegateClustering(bool value = true) { disable_clustering_ = value; }
  bool GetDisableDelegateClustering() { return disable_clustering_; }
  bool GetDisableDelegateClustering() const { return disable_clustering_; }
  void SetCacheConstantCastOp(bool value) { cache_constant_cast_ = value; }
  bool GetCacheConstantCastOp() const { return cache_constant_cast_; }
  void SetShloCompositeInlining(bool value) { inline_composites_ = value; }
  bool GetShloCompositeInlining() const { return inline_composites_; }
  void SetCompressQuantizationZeroPoints(bool value) { compress_zero_points_ = value; }
  bool GetCompressQuantizationZeroPoints() const { return compress_zero_points_; }
  void SetDisableDelegateNodeFusion(bool value) { disable_node_fusion_ = value; }
  bool GetDisableDelegateNodeFusion() const { return disable_node_fusion_; }
  void SetForceDelegateNodeProfiling(bool value) { force_node_profiling_ = value; }
  bool GetForceDelegateNodeProfiling() const { return force_node_profiling_; }

  // Names the tensors of signatures like the signatures' inputs and outputs.
  void SetUseSignatureTensorNames(bool value) { use_signature_names_ = value; }
  bool GetUseSignatureTensorNames() const { return use_signature_names_; }

 private:
  bool preserve_all_tensors_ = false;
  bool release_dynamic_tensors_ = false;
  int large_tensor_bytes_ = 0;
  bool disable_clustering_ = false;
  bool cache_constant_cast_ = false;
  bool inline_composites_ = false;
  bool use_signature_names_ = false;
  bool compress_zero_points_ = false;
  bool disable_node_fusion_ = false;
  bool force_node_profiling_ = false;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERPRETER_OPTIONS_H_
