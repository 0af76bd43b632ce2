// SPDX-License-Identifier: Apache-2.0
//
// The single list of delegates that the command offers by name: the providers of TFLite's
// benchmark_model, and Deputy's own. A new one needs only a row; `run`, `bench`, `compare`,
// `inspect`, `explain` and `ops` iterate over the list, and `certify` searches it
// (provider_options.h, provide.h).
#ifndef DEPUTY_TOOLS_PROVIDERS_H_
#define DEPUTY_TOOLS_PROVIDERS_H_

#include <span>
#include <string>

namespace deputy::tools {

// A flag of benchmark_model that sets an option of a delegate.
struct ProviderFlag {
  const char* name;  // benchmark_model's spelling, "--gpu_backend"; dashes are accepted as well
  const char* type;  // type of its value in the help; null for a flag
  const char* help;
  const char* key;  // the delegate's option; null for --gpu_backend and --external_delegate_options
  const char* if_true;   // option value for a flag that is true
  const char* if_false;  // option value for a flag that is false; null: the option is not passed
};

// Kind of provider; determines how the delegate is created.
enum class ProviderKind {
  kNone,      // no delegate: the provider "default"
  kOwn,       // a Deputy library, libdeputy_<key>.so
  kBridge,    // a Deputy library that wraps a library of the system
  kForeign,   // of benchmark_model, not available in Deputy
  kExternal,  // the library named by the option, loaded as TensorFlow Lite does
  kLibrary,   // the library named by the option, loaded as a Deputy plug-in
  kStable,    // the library named by the option's settings file
};

struct Provider {
  const char* key;   // part of the option --use_<key>
  const char* name;  // display name in reports
  const char* help;
  ProviderKind kind;
  const char* path_flag;  // option that requests it instead of --use_<key> and names a file
  std::span<const ProviderFlag> flags;
  // Text for the case that the provider is absent: the dependency without which our library was
  // built or, for a bridge or a foreign provider, a description of it and its requirement.
  const char* needs;
  // Alternative names of a bridge's system library, one of which must exist, and a function that it
  // must export.
  std::span<const char* const> system_libraries;
  const char* system_function;
};

// Returns all providers in the order of the help.
std::span<const Provider> Providers();

// Finds a provider by key; null if there is none.
const Provider* FindProvider(const std::string& key);

// Returns the option that requests a provider: "--use_gpu" or the option that names a library.
std::string FlagOf(const Provider& provider);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PROVIDERS_H_
