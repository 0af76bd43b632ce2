// SPDX-License-Identifier: Apache-2.0
//
// The inferences of `deputy run` with several inputs: one per image of --image or row of --rows, by
// several interpreters over one model, with results in the order of the inputs.
#ifndef DEPUTY_TOOLS_RUN_ITEMS_H_
#define DEPUTY_TOOLS_RUN_ITEMS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "image.h"
#include "input_rows.h"
#include "output_files.h"
#include "session.h"

namespace deputy::tools {

// The inputs that --image or --rows selects.
class Items {
 public:
  // Ends the command with kExitUsage if there are none; the list is empty without either option.
  explicit Items(const RunOptions& options);

  size_t count() const { return images_.empty() ? rows_.size() : images_.size(); }
  bool are_rows() const { return !rows_.empty(); }
  // Returns the name of the file, or "rows.csv:3".
  std::string NameOf(size_t item) const;
  // Returns the prefix of the names of files with the outputs.
  std::string StemOf(size_t item) const;
  // Ends the command with kExitUsage if the item does not match the input.
  void Write(size_t item, TfLiteTensor* input) const;

 private:
  PixelScaling scaling_;
  std::vector<std::string> images_;
  std::vector<InputRow> rows_;
};

// Runs the items, which are at least one. `first` is an open session whose other inputs have
// values, and `input` the index of the input for the items. `fill` fills the other inputs of
// further sessions. Returns the durations of this run's inferences in milliseconds.
std::vector<double> RunItems(const RunOptions& options, const Items& items, Session* first,
                             int input, const std::function<void(Session*)>& fill);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_RUN_ITEMS_H_
