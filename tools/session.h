// SPDX-License-Identifier: Apache-2.0
//
// A model opened for the `deputy` command, through the public C API only. Everything the library
// reports is collected here, so that a failure is one line on standard error.
#ifndef DEPUTY_TOOLS_SESSION_H_
#define DEPUTY_TOOLS_SESSION_H_

#include <cstdarg>
#include <memory>
#include <string>
#include <vector>

#include "c_api/c_api.h"
#include "c_api/deputy.h"
#include "tools/delegate_option.h"

namespace CLI {
class App;
}

namespace deputy::tools {

struct SessionOptions {
  std::string model;
  int threads = 1;
  bool reference = false;              // bit-exact integer arithmetic
  std::vector<std::string> shapes;     // "NAME=1,224,224,3"
  std::vector<std::string> delegates;  // "LIB.so,KEY=VALUE"
};

// Adds MODEL, --threads, --reference, --shape and --delegate to a subcommand.
void AddSessionOptions(CLI::App* command, SessionOptions* options);

class Session {
 public:
  // Loads the model, applies shapes and delegates and allocates. Ends the command with kExitUsage
  // when a file cannot be read, a shape names no input or a library gives no delegate, with
  // kExitFailed when the model is refused.
  explicit Session(const SessionOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  TfLiteInterpreter* interpreter() const { return interpreter_.get(); }
  double load_ms() const { return load_ms_; }
  double prepare_ms() const { return prepare_ms_; }

  int input_count() const;
  int output_count() const;
  TfLiteTensor* input(int index) const;
  const TfLiteTensor* output(int index) const;
  // An input by tensor name, by its name in a signature, or by number.
  int FindInput(const std::string& name) const;

  // Runs the model and returns the milliseconds it took; ends the command with kExitFailed when it
  // fails.
  double Invoke();

 private:
  static void Collect(void* session, const char* format, va_list args);
  [[noreturn]] void Refuse(const char* what) const;
  void Resize(const std::string& assignment);
  void ApplyDelegates();

  std::string path_;
  std::string report_;  // the first one since the last call: later ones are its consequences
  double load_ms_ = 0, prepare_ms_ = 0;
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_;
  std::vector<DelegateHandle> delegates_;  // in the order in which they are applied
  std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter_;
};

// Milliseconds since `start`, a value of NowMs().
double NowMs();

// `fraction` 0.5 is the median. Sorts `times`, which must not be empty.
double Percentile(std::vector<double>* times, double fraction);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_SESSION_H_
