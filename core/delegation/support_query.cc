// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/support_query.h"

#include "core/delegation/applied_delegates.h"
#include "core/plugin/noop_delegate.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_delegate.h"

namespace deputy {
namespace {

// The arrays of a DeputySupportResult.
struct SupportQuery {
  explicit SupportQuery(const std::vector<int>& plan)
      : nodes(plan.begin(), plan.end()),
        supported(plan.size(), 0),
        reasons(plan.size(), kDeputyReasonNone),
        texts(plan.size(), nullptr),
        groups(plan.size(), -1),
        costs(plan.size(), -1) {}

  DeputySupportResult result() {
    DeputySupportResult result{};
    result.struct_size = sizeof result;
    result.node_count = nodes.size();
    result.nodes = nodes.data();
    result.supported = supported.data();
    result.reason_of_node = reasons.data();
    result.text_of_node = texts.data();
    result.group_of_node = groups.data();
    result.cost_ns_of_node = costs.data();
    return result;
  }

  std::vector<int32_t> nodes;
  std::vector<uint8_t> supported;
  std::vector<int32_t> reasons;
  std::vector<const char*> texts;
  std::vector<int32_t> groups;
  std::vector<double> costs;
};

// Copies the plug-in's result for one node.
void RecordSupport(const SupportQuery& query, size_t i, NodeSupport* node) {
  node->inspected = true;
  node->group = query.groups[i];
  node->cost_ns = query.costs[i];
  if (query.supported[i] != 0) {
    node->reason = kDeputyReasonNone;
    return;
  }
  const int32_t reason = query.reasons[i];
  const bool known = reason > kDeputyReasonNone && reason < kDeputyReasonNotClaimed;
  node->reason = known ? static_cast<DeputyReason>(reason) : kDeputyReasonOther;
  if (query.texts[i] != nullptr) node->text = query.texts[i];
}

void RecordNoSupport(const std::vector<int>& plan, const char* reason, AppliedDelegate* delegate) {
  for (const int index : plan) {
    NodeSupport& node = delegate->record.nodes[static_cast<size_t>(index)];
    node.inspected = true;
    node.reason = kDeputyReasonOther;
    node.text = reason;
  }
}

}  // namespace

bool CanQuerySupport(const AppliedDelegate& delegate) {
  const DeputyDelegatePlugin* plugin =
      delegate.library == nullptr ? nullptr : delegate.library->plugin();
  return plugin != nullptr && plugin->get_support != nullptr;
}

bool QuerySupport(CallObserver* observer, TfLiteContext* context, const std::vector<int>& plan,
                  AppliedDelegate* delegate) {
  if (const NoOpDelegate* noop = AsNoOp(delegate->handle)) {
    RecordNoSupport(plan, noop->reason, delegate);
    return true;
  }
  if (!CanQuerySupport(*delegate)) return false;
  const DeputyDelegatePlugin* plugin = delegate->library->plugin();
  SupportQuery query(plan);
  DeputySupportResult support = query.result();
  const ForeignCall call = {
      .callback = Callback::kSupport, .context = context, .delegate = delegate->handle};
  // The plug-in's texts are valid until its next call, which may be made by another thread.
  const auto lock = LockSupport(delegate->handle);
  const CallResult result = CallForeign(observer, call, [&](CallResult* out) {
    out->status = plugin->get_support(delegate->inner, context, &support);
  });
  if (result.status != kTfLiteOk) return false;
  for (size_t i = 0; i < query.nodes.size(); ++i) {
    RecordSupport(query, i, &delegate->record.nodes[static_cast<size_t>(query.nodes[i])]);
  }
  return true;
}

}  // namespace deputy
