// SPDX-License-Identifier: Apache-2.0
//
// Queries of deputy.h about the operators that have kernels, and about those of a model.
#include <algorithm>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/src/objects.h"
#include "c_api/src/struct_io.h"
#include "core/model/op_names.h"
#include "kernels/registry.h"

using deputy::Guard;
using deputy::OpDef;
using deputy::WriteStruct;

namespace {

// Returns all operators that have a kernel, in the order of the families.
const std::vector<const OpDef*>& Kernels() {
  static const std::vector<const OpDef*> kKernels = [] {
    std::vector<const OpDef*> kernels;
    for (const std::span<const OpDef> family : deputy::AllFamilies()) {
      for (const OpDef& op : family) {
        if (op.invoke != nullptr) kernels.push_back(&op);
      }
    }
    return kernels;
  }();
  return kKernels;
}

bool HasKernel(const deputy::OperatorCodeDesc& code) {
  const OpDef* op = code.custom_name != nullptr
                        ? deputy::FindCustomOp(code.custom_name, code.version)
                        : deputy::FindBuiltin(code.code, code.version);
  return op != nullptr && op->invoke != nullptr;
}

int32_t CountNodes(const deputy::ModelDesc& model, size_t code) {
  int32_t nodes = 0;
  for (const deputy::SubgraphDesc& subgraph : model.subgraphs) {
    nodes += static_cast<int32_t>(std::ranges::count_if(
        subgraph.operators,
        [code](const deputy::OperatorDesc& op) { return op.code_index == code; }));
  }
  return nodes;
}

}  // namespace

size_t DeputyGetOperatorCount() {
  return Guard(size_t{0}, [] { return Kernels().size(); });
}

TfLiteStatus DeputyGetOperator(size_t index, DeputyOperator* op) {
  return Guard(kTfLiteError, [&] {
    if (index >= Kernels().size()) return kTfLiteError;
    const OpDef& def = *Kernels()[index];
    DeputyOperator full{};
    full.name = def.name;
    full.builtin_code = def.code;
    full.min_version = def.min_version;
    full.max_version = def.max_version;
    full.types = def.types;
    return WriteStruct(full, op);
  });
}

size_t DeputyModelGetOperatorCount(const TfLiteModel* model) {
  return model == nullptr ? 0 : model->impl->desc().operator_codes.size();
}

TfLiteStatus DeputyModelGetOperator(const TfLiteModel* model, size_t index,
                                    DeputyModelOperator* op) {
  if (index >= DeputyModelGetOperatorCount(model)) return kTfLiteError;
  const deputy::ModelDesc& desc = model->impl->desc();
  const deputy::OperatorCodeDesc& code = desc.operator_codes[index];
  DeputyModelOperator full{};
  full.name = deputy::OperatorName(code);
  full.builtin_code = code.code;
  full.version = code.version;
  full.node_count = CountNodes(desc, index);
  full.has_kernel = HasKernel(code) ? 1 : 0;
  return WriteStruct(full, op);
}
