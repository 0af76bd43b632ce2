// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/support_query.h"

#include "core/delegation/applied_delegates.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_delegate.h"

namespace deputy {
namespace {

// The arrays behind a query.
struct SupportQuery {
  explicit SupportQuery(const std::vector<int>& plan)
      : nodes(plan.begin(), plan.end()),
        supported(plan.size(), 0),
        reasons(plan.size(), kDeputyReasonNone),
        texts(plan.size(), nullptr),
        groups(plan.size(), -1),
        costs(plan.size(), -1) {}

  DeputySupportAnswer answer() {
    DeputySupportAnswer answer{};
    answer.struct_size = sizeof answer;
    answer.node_count = nodes.size();
    answer.nodes = nodes.data();
    answer.supported = supported.data();
    answer.reason_of_node = reasons.data();
    answer.text_of_node = texts.data();
    answer.group_of_node = groups.data();
    answer.cost_ns_of_node = costs.data();
    return answer;
  }

  std::vector<int32_t> nodes;
  std::vector<uint8_t> supported;
  std::vector<int32_t> reasons;
  std::vector<const char*> texts;
  std::vector<int32_t> groups;
  std::vector<double> costs;
};

// Copies the plug-in's answer about one node.
void NoteAnswer(const SupportQuery& query, size_t i, NodeAnswer* node) {
  node->looked_at = true;
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

}  // namespace

bool AnswersSupport(const AppliedDelegate& delegate) {
  const DeputyDelegatePlugin* plugin =
      delegate.library == nullptr ? nullptr : delegate.library->plugin();
  return plugin != nullptr && plugin->get_support != nullptr;
}

bool QuerySupport(CallObserver* observer, TfLiteContext* context, const std::vector<int>& plan,
                  AppliedDelegate* delegate) {
  if (!AnswersSupport(*delegate)) return false;
  const DeputyDelegatePlugin* plugin = delegate->library->plugin();
  SupportQuery query(plan);
  DeputySupportAnswer answer = query.answer();
  const ForeignCall call = {
      .callback = Callback::kSupport, .context = context, .delegate = delegate->handle};
  // The plug-in's texts are valid until its next call, which may come from another thread.
  const auto lock = LockSupport(delegate->handle);
  const CallResult result = CallForeign(observer, call, [&](CallResult* out) {
    out->status = plugin->get_support(delegate->inner, context, &answer);
  });
  if (result.status != kTfLiteOk) return false;
  for (size_t i = 0; i < query.nodes.size(); ++i) {
    NoteAnswer(query, i, &delegate->record.nodes[static_cast<size_t>(query.nodes[i])]);
  }
  return true;
}

}  // namespace deputy
