// SPDX-License-Identifier: Apache-2.0
//
// The file of `deputy run --output`: one line of JSON per input, in the order of the inputs.
//
//     {"input":"0001.png","outputs":{"probabilities":[0.1,0.9]}}
//     {"input":"0002.png","error":"0002.png: cannot be read as a PNG or JPEG image"}
//
// Lines are written as soon as they are complete, so that after an interruption, also by SIGKILL,
// the file has the lines of the first inputs and at most one incomplete line. FILE.job has the
// settings of the run that has not ended yet; a run that resumes must have the same ones. The
// settings of a file without FILE.job, which has the lines of all inputs, are unknown.
#ifndef DEPUTY_TOOLS_ITEM_FILE_H_
#define DEPUTY_TOOLS_ITEM_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace deputy::tools {

class ItemFile {
 public:
  // Opens the file for `count` inputs, which name_of(index) names. `settings` describes everything
  // that the lines depend on. Without `resumes` the file must not exist. With it, lines of a run
  // with the same settings are kept and counted. Ends the command with kExitUsage if the file
  // cannot be opened, another process writes it, it has other lines than those of the first inputs,
  // or FILE.job is not that of such a run; files that exist are unchanged then.
  ItemFile(const std::string& path, bool resumes, const std::string& settings, size_t count,
           const std::function<std::string(size_t)>& name_of);
  ~ItemFile();
  ItemFile(const ItemFile&) = delete;
  ItemFile& operator=(const ItemFile&) = delete;

  // Number of inputs whose lines the file has.
  size_t done() const { return done_; }
  // Number of lines with an error that the file had when it was opened.
  size_t failed_before() const { return failed_before_; }

  // Return the line of an input: `members` has the members after the name.
  static std::string LineOf(const std::string& name, const std::string& members);
  static std::string ErrorLineOf(const std::string& name, const std::string& error);

  // Appends the next line, to which a newline is added. Ends the command with kExitFailed if the
  // file cannot be written.
  void Append(const std::string& line);

  // Writes the file to the disk, and removes FILE.job. Call it after the last line. Ends the
  // command with kExitFailed if the file has been removed or replaced.
  void Finish();

 private:
  void CheckSettings(const std::string& settings, size_t count) const;
  off_t CountLines(size_t count, const std::function<std::string(size_t)>& name_of);
  [[noreturn]] void FailWriting() const;

  const std::string path_;
  int descriptor_ = -1;
  size_t done_ = 0, failed_before_ = 0;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_ITEM_FILE_H_
