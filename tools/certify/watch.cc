// SPDX-License-Identifier: Apache-2.0
#include "tools/certify/watch.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/certify/report.h"
#include "tools/text.h"

namespace deputy::certify {
namespace {

// Columns of the terminal. A line must not reach the last one, or it could not be redrawn.
size_t Columns() {
  struct winsize size = {};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::max<size_t>(is_known ? size.ws_col : 80, 20);
}

}  // namespace

Watch::Watch(const Shown& shown)
    : shown_(shown), draws_(!shown.lines && isatty(STDERR_FILENO) != 0) {}

void Watch::Doing(const std::string& name, const std::string& note) {
  if (!draws_) return;
  std::string line = total_ == 0 ? "" : tools::Format("%zu/%zu ", done_, total_);
  if (bad_ > 0) line += tools::Format("(%zu bad) ", bad_);
  line += name + (note.empty() ? "" : ": " + note);
  std::fprintf(stderr, "\r%s\033[K", tools::Shorten(tools::OneLine(line), Columns() - 1).c_str());
  std::fflush(stderr);
  is_drawn_ = true;
}

void Watch::Done(const Row& row) {
  const Status status = row.outcome.status;
  if (status == Status::kNotRun) return;
  ++done_;
  bad_ += IsBad(status) ? 1 : 0;
  if (shown_.lines) {
    const std::string why = IsBad(status) ? ": " + tools::OneLine(row.outcome.text) : "";
    std::fprintf(stderr, "%zu/%zu %s %s, %.1f s%s\n", done_, total_, Name(status),
                 tools::OneLine(row.name).c_str(), row.outcome.seconds, why.c_str());
    std::fflush(stderr);
  }
  const bool is_plain = status == Status::kPass || status == Status::kSkipped;
  if (!shown_.rows || (is_plain && !shown_.all_rows)) return;
  Wipe();
  std::fputs(RowText(MakeRow(row)).c_str(), stdout);
  std::fflush(stdout);
}

void Watch::Wipe() {
  if (!is_drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  is_drawn_ = false;
}

}  // namespace deputy::certify
