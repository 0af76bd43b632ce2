// SPDX-License-Identifier: Apache-2.0
//
// Files of placement plans and learned rates. They are not trusted: a damaged file counts as
// absent.
#ifndef DEPUTY_C_API_SRC_PLACEMENT_FILE_H_
#define DEPUTY_C_API_SRC_PLACEMENT_FILE_H_

#include <span>
#include <string>
#include <vector>

#include "c_api/include/delegate_serialization.h"
#include "c_api/include/deputy_placement.h"
#include "c_api/src/objects.h"
#include "c_api/src/placement_rates.h"

namespace deputy {

// Returns the contents of a plan's file.
std::string WritePlan(const DeputyPlacementPlan& plan);
// Reads a plan with `nodes` nodes and the delegates of `*plan`; returns false, with an unchanged
// plan, if the bytes are invalid.
bool ReadPlan(std::span<const char> bytes, size_t nodes, DeputyPlacementPlan* plan);

class PlacementFile {
 public:
  // Determines the file of a plan by everything that the plan depends on. There is no file if the
  // settings name no directory or have a `prepare`, or if a delegate has no plug-in with a
  // description.
  PlacementFile(const TfLiteModel* model, const TfLiteInterpreterOptions& options,
                const DeputyPlacementSettings& settings);

  // Returns false, with an unchanged plan, if there is no valid file.
  bool Read(DeputyPlacementPlan* plan) const;
  void Write(const DeputyPlacementPlan& plan) const;

  // Return and store the learned rates of a delegate, which is an index of the options' list.
  // RatesOf returns no rates if there is no valid file.
  DelegateRates RatesOf(size_t delegate) const;
  void WriteRatesOf(size_t delegate, const DelegateRates& rates) const;

 private:
  static bool AddDelegate(TfLiteDelegate* delegate, DeputyFingerprint* fingerprint);
  // Returns the contents of a file; "" if there is no valid one.
  std::string ReadEntry(const char* token, const DeputyFingerprint& fingerprint) const;
  void WriteEntry(const char* token, const DeputyFingerprint& fingerprint,
                  const std::string& bytes) const;

  std::string directory_;                     // "" if there is no file
  size_t nodes_ = 0;                          // of subgraph 0
  DeputyFingerprint plan_ = {};               // identifies the plan
  std::vector<DeputyFingerprint> delegates_;  // identify the rates of each delegate
};

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_PLACEMENT_FILE_H_
