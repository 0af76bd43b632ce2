// SPDX-License-Identifier: Apache-2.0
//
// The one list of delegates that the command knows by name: the seven providers of TFLite's
// benchmark_model, and ours. A row is all that a new one needs; `run`, `bench`, `compare`,
// `explain`, `ops` and `certify` walk the list (provider_options.h, provide.h).
#ifndef DEPUTY_TOOLS_PROVIDERS_H_
#define DEPUTY_TOOLS_PROVIDERS_H_

#include <span>
#include <string>

namespace deputy::tools {

// A flag of benchmark_model that is an option of a delegate's.
struct ProviderFlag {
  const char* name;  // as there: "--gpu_backend"; with dashes it is taken as well
  const char* type;  // of its value in the help; null for a flag
  const char* help;
  const char* key;       // the delegate's option; null: checked here and passed to nobody
  const char* if_true;   // what a flag stands for
  const char* if_false;  // likewise; null: the option is not passed
};

// Who makes the delegate.
enum class ProviderKind {
  kNone,      // nobody: "default" has flags only
  kOwn,       // a library of ours, libdeputy_<key>.so
  kBridge,    // the same, over a library of the system's
  kForeign,   // nobody here: another system has it
  kExternal,  // the library that the option names, through TensorFlow Lite's loader
  kLibrary,   // the same, through ours
  kStable,    // the library that the option's file of settings names
};

struct Provider {
  const char* key;   // --use_<key>
  const char* name;  // for reports
  const char* help;
  ProviderKind kind;
  const char* path_flag;  // what asks for it instead of --use_<key>, and names a library
  std::span<const ProviderFlag> flags;
  // Why it may be absent: what our library was built without; of a bridge and a foreign one, what
  // it would be and need.
  const char* needs;
  // Of a bridge: the libraries of the system that may be there, one of them, and a function of it.
  std::span<const char* const> system_libraries;
  const char* system_function;
};

// In the order of the help.
std::span<const Provider> Providers();

// Null if there is none. By the key.
const Provider* FindProvider(const std::string& key);

// "--use_gpu" or the option that names a library.
std::string FlagOf(const Provider& provider);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PROVIDERS_H_
