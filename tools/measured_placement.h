// SPDX-License-Identifier: Apache-2.0
//
// --place: places nodes on delegates and the CPU by measured times.
#ifndef DEPUTY_TOOLS_MEASURED_PLACEMENT_H_
#define DEPUTY_TOOLS_MEASURED_PLACEMENT_H_

#include <string>
#include <vector>

#include "deputy/c_api.h"
#include "deputy/common.h"
#include "json.h"

namespace deputy::tools {

struct PlaceOptions {
  bool requested = false;
  int budget_ms = 0;      // time for measurements; 0: the library's default
  std::string directory;  // of the stored plan; "": none
  // Delegates that the caller applies, where the session has none. Null for unavailable ones.
  std::vector<TfLiteDelegate*> delegates;
};

// Makes a plan for the delegates and adds its placements to `settings`. Null delegates get no node.
// Returns a description, with one flag per delegate in "used", or null if the library makes no
// plan; the library has then reported the reason.
Json PlaceByTimes(const TfLiteModel* model, const std::vector<TfLiteDelegate*>& delegates,
                  const PlaceOptions& options, TfLiteInterpreterOptions* settings);

// Prints the description that PlaceByTimes returned.
void PrintPlacement(const Json& placement);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_MEASURED_PLACEMENT_H_
