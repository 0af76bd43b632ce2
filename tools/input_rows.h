// SPDX-License-Identifier: Apache-2.0
//
// --rows: one inference per row of a table, or per file of a folder.
#ifndef DEPUTY_TOOLS_INPUT_ROWS_H_
#define DEPUTY_TOOLS_INPUT_ROWS_H_

#include <string>
#include <vector>

#include "deputy/c_api.h"

namespace deputy::tools {

struct InputRow {
  std::string name;           // "rows.csv:3", or the file's
  std::string file;           // .npy or raw bytes; "": the values
  std::vector<float> values;  // real ones
};

// A folder's .npy, .raw and .bin files by name, or the rows of comma separated numbers of a file,
// or of standard input, which is "-". A first row with words is a heading. Ends the command with
// kExitUsage where there is nothing, or something else.
std::vector<InputRow> ReadRows(const std::string& path);

// Fills the tensor; ends the command with kExitUsage if the row does not suit it.
void WriteRow(const InputRow& row, TfLiteTensor* tensor);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_INPUT_ROWS_H_
