// SPDX-License-Identifier: Apache-2.0
//
// The `deputy` command: parses options, runs a subcommand, returns its exit code. Every error is
// exactly one line on standard error: exit code 1 means that the model was rejected or the work
// failed, 2 an invalid option or an unreadable file.
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "command_line.h"
#include "deputy/deputy.h"
#include "text.h"

namespace {

using deputy::tools::kExitFailed;

int Fail(int code, const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "deputy: %s\n", deputy::tools::OneLine(text).c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    DeputyCheckEnvironment();
    deputy::tools::RunCommandLine(argc, argv);
  } catch (const deputy::tools::ToolError& error) {
    return Fail(error.exit_code, error.what());
  } catch (const std::bad_alloc&) {
    return Fail(kExitFailed, "out of memory");
  } catch (const std::exception& error) {
    return Fail(kExitFailed, error.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return Fail(kExitFailed, "cannot write to standard output");
  }
  return 0;
}
