// SPDX-License-Identifier: Apache-2.0
//
// --rows: runs one inference per row of a table, or per file of a directory.
#ifndef DEPUTY_TOOLS_INPUT_ROWS_H_
#define DEPUTY_TOOLS_INPUT_ROWS_H_

#include <string>
#include <vector>

#include "deputy/c_api.h"

namespace deputy::tools {

struct InputRow {
  std::string name;           // "rows.csv:3", or the name of the file
  std::string file;           // .npy or raw bytes; "": use `values`
  std::vector<float> values;  // real (unquantised) values of the row
};

// Returns the .npy, .raw and .bin files of a directory sorted by name, or the rows of comma
// separated numbers of a file or of standard input ("-"). A first line without any number is a
// heading. Ends the command with kExitUsage if there are no rows or the contents are invalid.
std::vector<InputRow> ReadRows(const std::string& path);

// Fills the tensor; ends the command with kExitUsage if the row does not match it.
void WriteRow(const InputRow& row, TfLiteTensor* tensor);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_INPUT_ROWS_H_
