// SPDX-License-Identifier: Apache-2.0
#include "bridges/cpu/mirror_graph.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "c_api/include/builtin_op_data.h"
#include "c_api/src/resolver.h"
#include "core/base/type_size.h"
#include "core/delegation/make_delegation.h"
#include "core/exec/context.h"
#include "kernels/registry.h"

namespace deputy::cpu {
namespace {

// The version of STRIDED_SLICE that added the parameter `offset`.
constexpr int kFirstVersionWithOffset = 8;

// Returns the registration of a kernel, as an interpreter resolves it.
TfLiteRegistration KernelOf(const OpDef& def, int version) {
  static const OperatorSet kNoClientOperators;
  ClientResolver resolver(kNoClientOperators, true);
  return def.code == kTfLiteBuiltinCustom ? *resolver.FindCustom(def.name, version)
                                          : *resolver.FindBuiltin(def.code, version);
}

// Returns a copy of a node's builtin data, since each node owns its data; null if the operator has
// none. In hosts before TensorFlow 2.14 the struct of STRIDED_SLICE has no `offset` (docs/abi.md
// 2).
void* CopyBuiltinData(const OpDef& def, int version, const void* host_data) {
  if (def.params_size == 0) return nullptr;
  void* copy = malloc(def.params_size);
  if (copy == nullptr) throw std::bad_alloc();
  memcpy(copy, host_data, def.params_size);
  if (def.code == kTfLiteBuiltinStridedSlice && version < kFirstVersionWithOffset) {
    static_cast<TfLiteStridedSliceParams*>(copy)->offset = false;
  }
  return copy;
}

}  // namespace

const OpDef* FindKernel(const TfLiteRegistration& registration) {
  const auto code = static_cast<TfLiteBuiltinOperator>(registration.builtin_code);
  const OpDef* def = nullptr;
  if (code != kTfLiteBuiltinCustom) {
    def = FindBuiltin(code, registration.version);
  } else if (registration.custom_name != nullptr) {
    def = FindCustomOp(registration.custom_name, registration.version);
  }
  return def == nullptr || def->invoke == nullptr ? nullptr : def;
}

MirrorGraph::MirrorGraph(TfLiteContext* host, const InterpreterConfig& config)
    : InterpreterState(Model::Empty(), config), host_(host) {
  graph_ = std::make_unique<Subgraph>(this, 0, &desc_, &MakeDelegation);
  InitContext(graph_.get());
}

MirrorGraph::~MirrorGraph() = default;

int MirrorGraph::Mirror(int host_tensor) {
  if (host_tensor < 0) return kTfLiteOptionalTensor;
  const auto known = mirrors_.find(host_tensor);
  if (known != mirrors_.end()) return known->second;
  int index = 0;
  if (graph_->AddTensors(1, &index) != kTfLiteOk) throw std::bad_alloc();
  // The mirror is recorded before the recursive calls below, which may refer to this tensor.
  mirrors_[host_tensor] = index;

  const TfLiteTensor& from = host_->tensors[host_tensor];
  TfLiteTensor source{};
  source.type = from.type;
  source.params = from.params;
  source.name = from.name;
  source.dims = from.dims;
  source.quantization = from.quantization;
  source.sparsity = from.sparsity;
  source.allocation_type = kTfLiteArenaRw;
  source.buffer_handle = kTfLiteNullBufferHandle;
  TfLiteTensor& mirror = *graph_->graph().tensor(index);
  mirror = TfLiteTensorClone(source);
  if (from.dims != nullptr && mirror.dims == nullptr) throw std::bad_alloc();
  if (from.allocation_type == kTfLiteMmapRo && from.data.raw != nullptr) {
    mirror.data.raw = const_cast<char*>(AlignedConstant(from));
    mirror.bytes = from.bytes;
    mirror.allocation_type = kTfLiteMmapRo;
    constants_[mirror.data.raw] = mirror.bytes;
  } else if (size_t bytes = 0; TensorBytes(mirror.type, IndicesOf(mirror.dims), &bytes)) {
    mirror.bytes = bytes;
  }
  if (mirror.quantization.type == kTfLiteBlockwiseQuantization) {
    // The recursive calls may relocate the tensor structs, but not the memory that they own.
    auto* blocks = static_cast<TfLiteBlockwiseQuantization*>(mirror.quantization.params);
    blocks->scale = Mirror(blocks->scale);
    blocks->zero_point = Mirror(blocks->zero_point);
  }
  return index;
}

// Returns the contents of a constant, copied if they are not aligned to their elements, which
// TensorFlow Lite accepts in files.
const char* MirrorGraph::AlignedConstant(const TfLiteTensor& constant) {
  const size_t alignment = std::max<size_t>(TypeBytes(constant.type), 1);
  if (reinterpret_cast<uintptr_t>(constant.data.raw) % alignment == 0) return constant.data.raw;
  Block& copy = copies_.emplace_back();
  if (!copy.Reserve(constant.bytes, 0, limits())) throw std::bad_alloc();
  memcpy(copy.data(), constant.data.raw, constant.bytes);
  return copy.data();
}

void MirrorGraph::Reset(int host_tensor) {
  TfLiteTensor& tensor = *graph_->graph().tensor(Find(host_tensor));
  if (tensor.allocation_type == kTfLiteMmapRo) return;
  TfLiteTensorDataFree(&tensor);
  tensor.allocation_type = kTfLiteArenaRw;
  const TfLiteIntArray* dims = host_->tensors[host_tensor].dims;
  if (dims != nullptr) graph_->ResizeTensor(&tensor, TfLiteIntArrayCopy(dims));
}

std::vector<int> MirrorGraph::MirrorAll(const TfLiteIntArray* host_tensors) {
  std::vector<int> mirrors;
  for (const int tensor : IndicesOf(host_tensors)) mirrors.push_back(Mirror(tensor));
  return mirrors;
}

TfLiteStatus MirrorGraph::AddNode(const TfLiteNode& node, const TfLiteRegistration& registration) {
  const OpDef& def = *FindKernel(registration);
  const std::vector<int> inputs = MirrorAll(node.inputs), outputs = MirrorAll(node.outputs),
                         intermediates = MirrorAll(node.intermediates);
  Subgraph::NewNode added;
  added.inputs = inputs;
  added.outputs = outputs;
  added.intermediates = intermediates;
  added.registration = KernelOf(def, registration.version);
  if (def.code == kTfLiteBuiltinCustom) {
    // The custom options need no copy, because only the kernel's init reads them.
    added.custom_options = {static_cast<const uint8_t*>(node.custom_initial_data),
                            static_cast<size_t>(node.custom_initial_data_size)};
  } else {
    added.builtin_data = CopyBuiltinData(def, registration.version, node.builtin_data);
  }
  return graph_->AddNode(added);
}

TfLiteStatus MirrorGraph::Invoke(Subgraph* subgraph, bool allow_stale_outputs) {
  CountInference();
  return subgraph->Invoke(allow_stale_outputs);
}

PackedConstants* MirrorGraph::PackedConstantsOf(const void* data) {
  const auto* const at = static_cast<const char*>(data);
  auto after = constants_.upper_bound(at);
  if (after == constants_.begin()) return nullptr;
  const auto& [first, bytes] = *std::prev(after);
  return at < first + bytes ? &packed_ : nullptr;
}

}  // namespace deputy::cpu
