// SPDX-License-Identifier: Apache-2.0
//
// Reports of plug-ins' delegates: the device, the costs so far, and how each option was used. What
// the client gave and what the plug-in declares is known here; the plug-in adds which options have
// no effect.
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

// The options that `plugin`, which may be null, declares, in its order, then others that were
// given. Of a key that was given twice the last value counts.
std::vector<OptionUse> OptionUses(const DeputyDelegatePlugin* plugin, const GivenOptions& given);

// Fills `report` and `uses` for a delegate that was made by a plug-in; what the plug-in does not
// know is unknown there (deputy_plugin.h). kTfLiteError, reported, for other delegates and where
// the plug-in fails.
TfLiteStatus ReportPluginDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                                  std::vector<OptionUse>* uses, ErrorReporter* reporter);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_DELEGATE_REPORT_H_
