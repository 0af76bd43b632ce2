// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/applied_delegates.h"

#include <algorithm>
#include <utility>

#include "c_api/include/deputy_plugin_layout.h"
#include "core/base/delegate_call.h"
#include "core/base/guard.h"
#include "core/graph/graph.h"
#include "core/plugin/noop_delegate.h"
#include "core/plugin/plugin_delegate.h"

namespace deputy {

AppliedDelegate::AppliedDelegate(TfLiteDelegate* delegate) : handle(delegate) {
  PluginDelegate parts = Unwrap(delegate);
  inner = parts.inner;
  library = std::move(parts.library);
  builder = BuilderOf(inner);
  const TfLiteOpaqueDelegateBuilder* own = BuilderOf(handle);
  flags = own != nullptr ? own->flags : handle->flags;
  if (library != nullptr) name = library->name();
  if (const NoOpDelegate* noop = AsNoOp(handle)) name = noop->name;
  const DeputyDelegatePlugin* const plugin = library == nullptr ? nullptr : library->plugin();
  computes_in_nchw = plugin != nullptr && (plugin->flags & kDeputyPluginNchw) != 0;
  reports_events = Has(kTfLiteDelegateFlagsPerOperatorProfiling) && plugin != nullptr &&
                   plugin->node_events != nullptr;
}

const AppliedDelegate* AppliedDelegates::Find(const TfLiteDelegate* delegate) const {
  if (current_ != nullptr && current_->Is(delegate)) return current_;
  const auto found = std::find_if(all_.rbegin(), all_.rend(),
                                  [&](const auto& known) { return known.Is(delegate); });
  return found == all_.rend() ? nullptr : &*found;
}

std::vector<TfLiteDelegate*> AppliedDelegates::applied_handles() const {
  std::vector<TfLiteDelegate*> handles;
  for (const AppliedDelegate* delegate : applied_) handles.push_back(delegate->handle);
  return handles;
}

bool AppliedDelegates::IsApplied(const AppliedDelegate& delegate) const {
  return std::find(applied_.begin(), applied_.end(), &delegate) != applied_.end();
}

// ---- While a delegate is applied ----------------------------------------------------------------

AppliedDelegate* AppliedDelegates::Offer(TfLiteDelegate* handle) {
  applied_.reserve(applied_.size() + 1);
  AppliedDelegate offered(handle);
  offered.record.nodes.resize(static_cast<size_t>(graph_->node_count()));
  DropOldRecords(offered);
  const auto known = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& other) { return other.handle == handle; });
  if (known == all_.end()) return &all_.emplace_back(std::move(offered));
  *known = std::move(offered);
  return &*known;
}

bool AppliedDelegates::CanDrop(const AppliedDelegate& delegate) const {
  return !delegate.record.applied && &delegate != current_ && !IsApplied(delegate);
}

// Drops delegates that can no longer be distinguished from the offered one, because they were
// deleted and their address was reused, and the oldest of those beyond kMaxOthers.
void AppliedDelegates::DropOldRecords(const AppliedDelegate& offered) {
  std::erase_if(all_, [&](const AppliedDelegate& other) {
    const bool same_address = other.Is(offered.handle) || other.Is(offered.inner);
    return same_address && other.handle != offered.handle && CanDrop(other);
  });
  const auto can_drop = [&](const AppliedDelegate& other) { return CanDrop(other); };
  auto others = std::count_if(all_.begin(), all_.end(), can_drop);
  for (; others >= kMaxOthers; --others) {
    all_.erase(std::find_if(all_.begin(), all_.end(), can_drop));
  }
}

void AppliedDelegates::ConcludeCurrent(const char* failure) {
  DelegateRecord& record = current_->record;
  record.applied = IsApplied(*current_);
  if (!record.applied) record.failure = failure;
  Conclude(*graph_, current_->inner, &record);
}

NodeSupport* AppliedDelegates::SupportOf(int node_index) {
  if (current_ == nullptr || node_index < 0) return nullptr;
  std::vector<NodeSupport>& support = current_->record.nodes;
  const size_t index = static_cast<size_t>(node_index);
  return index < support.size() ? &support[index] : nullptr;
}

// ---- After delegate nodes were added or removed -------------------------------------------------

void AppliedDelegates::Revise(const char* why) noexcept {
  Guard(Ignore, [&] {
    for (AppliedDelegate& delegate : all_) {
      DelegateRecord& record = delegate.record;
      ReviseNodes(*graph_, delegate.inner, why, &record);
      if (!record.applied || IsApplied(delegate)) continue;
      record.applied = false;
      record.failure = why;
    }
  });
}

}  // namespace deputy
