// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/delegate_report.h"

#include <algorithm>

#include "core/base/foreign_call.h"
#include "core/base/guard.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_delegate.h"

namespace deputy {
namespace {

OptionUse* Find(std::vector<OptionUse>* uses, const std::string& name) {
  const auto found =
      std::find_if(uses->begin(), uses->end(), [&](const auto& use) { return use.name == name; });
  return found == uses->end() ? nullptr : &*found;
}

// Callback for a plug-in's note about an option: the value used instead of the given one, or the
// reason why it has no effect.
void Note(void* user_data, const DeputyOptionUse* remark) {
  if (remark == nullptr || remark->name == nullptr) return;
  Guard(Ignore, [&] {
    OptionUse* use = Find(static_cast<std::vector<OptionUse>*>(user_data), remark->name);
    if (use == nullptr) return;
    if (remark->value != nullptr) use->value = remark->value;
    if (remark->state != kDeputyOptionIgnored || use->state == kDeputyOptionDefault) return;
    use->state = kDeputyOptionIgnored;
    use->text = remark->text == nullptr ? "" : remark->text;
  });
}

}  // namespace

std::vector<OptionUse> OptionUses(const DeputyDelegatePlugin* plugin, const GivenOptions& given) {
  std::vector<OptionUse> uses;
  for (size_t i = 0; plugin != nullptr && i < plugin->option_count; ++i) {
    const DeputyPluginOption& option = plugin->options[i];
    uses.push_back({option.name, option.default_value == nullptr ? "" : option.default_value,
                    kDeputyOptionDefault, ""});
  }
  for (const auto& [name, value] : given) {
    OptionUse* use = Find(&uses, name);
    if (use == nullptr) use = &uses.emplace_back(OptionUse{name, "", kDeputyOptionDefault, ""});
    use->value = value;
    use->state = kDeputyOptionGiven;
  }
  return uses;
}

TfLiteStatus ReportPluginDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                                  std::vector<OptionUse>* uses, ErrorReporter* reporter) {
  *report = {sizeof *report, "", "", -1, -1, -1, -1};
  const PluginDelegate parts = Unwrap(delegate);
  if (parts.library == nullptr) {
    return Fail(reporter, kTfLiteError, "expected a delegate that was created by a plug-in");
  }
  const DeputyDelegatePlugin* plugin = parts.library->plugin();
  *uses = OptionUses(plugin, parts.options == nullptr ? GivenOptions() : *parts.options);
  const auto fill = plugin == nullptr ? nullptr : plugin->report;
  if (fill == nullptr) return kTfLiteOk;
  const CallResult result =
      CallForeign(nullptr, {.callback = Callback::kDescribe, .delegate = parts.inner},
                  [&](CallResult* out) { out->status = fill(parts.inner, report, &Note, uses); });
  report->struct_size = sizeof *report;
  if (report->device == nullptr) report->device = "";
  if (report->precision == nullptr) report->precision = "";
  if (result.exception == nullptr && result.status == kTfLiteOk) return kTfLiteOk;
  return Fail(reporter, kTfLiteError, "%s: cannot report on its delegate%s",
              parts.library->path().c_str(),
              result.exception == nullptr ? "" : ": the plug-in threw an exception");
}

}  // namespace deputy
