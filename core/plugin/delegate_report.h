// SPDX-License-Identifier: Apache-2.0
//
// Reports about plug-ins' delegates: the device, the costs so far, and how each option was used.
// The client's options and the plug-in's declarations are known here; the plug-in only adds which
// options have no effect, and which values it uses instead of given ones.
#ifndef DEPUTY_CORE_PLUGIN_DELEGATE_REPORT_H_
#define DEPUTY_CORE_PLUGIN_DELEGATE_REPORT_H_

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/plugin_options.h"

namespace deputy {

// One option; see DeputyOptionUse.
struct OptionUse {
  std::string name, value;
  int32_t state = kDeputyOptionDefault;
  std::string text;
};

// Returns the options that `plugin` (may be null) declares, in its order, followed by undeclared
// ones that were given. If a key was given twice, the last value counts.
std::vector<OptionUse> OptionUses(const DeputyDelegatePlugin* plugin, const GivenOptions& given);

// Fills `report` and `uses` for a delegate of a plug-in. Values that the plug-in does not provide
// are "unknown" (deputy_plugin.h). Returns kTfLiteError after a report for other delegates, and if
// the plug-in fails.
TfLiteStatus ReportPluginDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                                  std::vector<OptionUse>* uses, ErrorReporter* reporter);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_DELEGATE_REPORT_H_
