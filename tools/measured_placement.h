// SPDX-License-Identifier: Apache-2.0
//
// --place: places nodes on delegates and the CPU by measured times.
#ifndef DEPUTY_TOOLS_MEASURED_PLACEMENT_H_
#define DEPUTY_TOOLS_MEASURED_PLACEMENT_H_

#include <string>
#include <vector>

#include "delegate_option.h"
#include "deputy/c_api.h"
#include "json.h"

namespace deputy::tools {

struct PlaceOptions {
  bool requested = false;
  int budget_ms = 0;      // time for measurements; 0: the library's default
  std::string directory;  // of the stored plan; "": none
};

// Makes a plan for the delegates and adds its placements to `settings`. Returns a description, with
// one flag per delegate in "used", or null if the library makes no plan; the library has then
// reported the reason.
Json PlaceByTimes(const TfLiteModel* model, const std::vector<LoadedDelegate>& delegates,
                  const PlaceOptions& options, TfLiteInterpreterOptions* settings);

// Prints the description that PlaceByTimes returned.
void PrintPlacement(const Json& placement);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_MEASURED_PLACEMENT_H_
