// SPDX-License-Identifier: Apache-2.0
#include "core/exec/op_listener.h"

#include <cstddef>
#include <utility>

#include "core/exec/subgraph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Its address in the interpreter says that the data beside it is a listener.
void Deliver(void* listener, const OpEvent& event) {
  static_cast<OpListener*>(listener)->EndOp(event);
}

}  // namespace

void SetOpListener(Interpreter* interpreter, OpListener* listener) {
  interpreter->SetProfiler(listener == nullptr ? nullptr : &Deliver, listener);
}

void NoteBeginOfOp(const TfLiteContext* context, const TfLiteNode* node) {
  Subgraph* subgraph = Subgraph::Of(context);
  if (subgraph == nullptr || subgraph->interpreter()->profiler() != &Deliver) return;
  // Kernels get pointers, listeners indices: the table is one array.
  using Entry = std::pair<TfLiteNode, TfLiteRegistration>;
  constexpr auto kEntryBytes = static_cast<ptrdiff_t>(sizeof(Entry));
  const ptrdiff_t offset =
      reinterpret_cast<const char*>(node) - reinterpret_cast<const char*>(subgraph->node(0));
  const int index = static_cast<int>(offset / kEntryBytes);
  static_cast<OpListener*>(subgraph->interpreter()->profiler_data())
      ->BeginOp(subgraph->index(), index, OperatorName(subgraph->registration(index)));
}

}  // namespace deputy
