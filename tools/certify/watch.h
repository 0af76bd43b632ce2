// SPDX-License-Identifier: Apache-2.0
//
// What is seen while the cases run: on standard output the rows that a user is to know, as they are
// found; on standard error a line for each case that is done, or, on a terminal, one line that is
// written anew: "12/203 life/CONV_2D float32/resize: resize 7 of 12".
#ifndef DEPUTY_TOOLS_CERTIFY_WATCH_H_
#define DEPUTY_TOOLS_CERTIFY_WATCH_H_

#include <cstddef>
#include <string>

#include "tools/certify/rows.h"

namespace deputy::certify {

struct Shown {
  bool rows = false;      // on standard output
  bool all_rows = false;  // those that are right or skipped, too
  bool lines = false;     // on standard error, a line for each case that is done
};

class Watch {
 public:
  explicit Watch(const Shown& shown);
  ~Watch() { Wipe(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void Expect(size_t total) { total_ = total; }
  void Doing(const std::string& name, const std::string& note);
  void Done(const Row& row);  // does nothing for one that was not run
  void Wipe();                // the line on a terminal; the next Doing writes it again

 private:
  const Shown shown_;
  const bool draws_;
  bool is_drawn_ = false;
  size_t total_ = 0, done_ = 0, bad_ = 0;
};

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_WATCH_H_
