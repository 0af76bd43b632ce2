// SPDX-License-Identifier: Apache-2.0
//
// Progress output while the cases run. Standard output gets the rows of interest as they finish.
// Standard error gets one line for each finished case or, on a terminal, a single line that is
// redrawn: "12/203 life/CONV_2D float32/resize: resize 7 of 12".
#ifndef DEPUTY_TOOLS_CERTIFY_WATCH_H_
#define DEPUTY_TOOLS_CERTIFY_WATCH_H_

#include <cstddef>
#include <string>

#include "tools/certify/rows.h"

namespace deputy::certify {

struct Shown {
  bool rows = false;      // print rows on standard output
  bool all_rows = false;  // also print rows that passed or were skipped
  bool lines = false;     // print one line on standard error for each finished case
};

class Watch {
 public:
  explicit Watch(const Shown& shown);
  ~Watch() { Wipe(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void Expect(size_t total) { total_ = total; }
  void Doing(const std::string& name, const std::string& note);
  void Done(const Row& row);  // does nothing for a row that did not run
  void Wipe();                // erases the status line of the terminal; the next Doing redraws it

 private:
  const Shown shown_;
  const bool draws_;
  bool is_drawn_ = false;
  size_t total_ = 0, done_ = 0, bad_ = 0;
};

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_WATCH_H_
