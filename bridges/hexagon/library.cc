// SPDX-License-Identifier: Apache-2.0
#include "bridges/hexagon/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace deputy::hexagon {
namespace {

constexpr char kDefaultName[] = "libhexagon_interface.so";
// Android's folders with libraries of the DSP, searched after the user's folder.
constexpr char kSystemFolders[] = ";/system/lib/rfsa/adsp;/system/vendor/lib/rfsa/adsp;/dsp";

// Number of users of the connection of each library, by handle. Delegates may be created and
// destroyed on several threads; the mutex serialises connecting and disconnecting.
struct Users {
  std::mutex mutex;
  std::map<void*, int> counts;
};

Users& AllUsers() {
  static Users users;
  return users;
}

// Loads all functions. Returns "" or an error message with the first missing function.
std::string LoadFunctions(void* library, NnFunctions* functions) {
  const char* missing = nullptr;
#define DEPUTY_HEXAGON_LOAD(name, result, parameters)                                     \
  if (missing == nullptr) {                                                               \
    functions->name =                                                                     \
        reinterpret_cast<decltype(functions->name)>(dlsym(library, "hexagon_nn_" #name)); \
    if (functions->name == nullptr) missing = "hexagon_nn_" #name;                        \
  }
  DEPUTY_HEXAGON_FUNCTIONS(DEPUTY_HEXAGON_LOAD)
#undef DEPUTY_HEXAGON_LOAD
  return missing == nullptr ? "" : std::string("it has no function ") + missing;
}

// Compares the codes of operations with those of the library. Returns "" or an error message with
// the first operation that differs: the library is then another release, which would compute wrong
// results.
std::string CheckOperations(const NnFunctions& nn) {
  for (const NnOperationName& expected : kNnOperationNames) {
    char found[64] = "";
    const int status = nn.op_id_to_name(expected.operation, found, sizeof found);
    found[sizeof found - 1] = '\0';
    if (status == 0 && std::strcmp(found, expected.name) == 0) continue;
    return "operation " + std::to_string(expected.operation) + ": expected " + expected.name +
           ", found " + (status == 0 ? "'" + std::string(found) + "'" : "none");
  }
  return "";
}

// Checks the connected device. Returns "" or an error message.
std::string CheckDevice(const NnFunctions& nn) {
  int skel = -1;
  if (const int status = nn.version(&skel); status != 0) {
    return "hexagon_nn_version failed with " + std::to_string(status) +
           ": libhexagon_nn_skel*.so is missing or does not match the interface library";
  }
  if (const int interface = nn.hexagon_interface_version(); interface != skel) {
    return "expected libhexagon_nn_skel*.so of version " + std::to_string(interface) +
           ", found version " + std::to_string(skel);
  }
  if (!nn.is_device_supported()) return "this device is not supported";
  return CheckOperations(nn);
}

}  // namespace

std::shared_ptr<const Library> Library::Connect(const std::string& path,
                                                const std::string& skel_folder,
                                                std::string* out_problem) {
  const std::string name = path.empty() ? kDefaultName : path;
  Users& users = AllUsers();
  const std::lock_guard lock(users.mutex);
  void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    *out_problem = "cannot open " + name + ": " + (why == nullptr ? "" : why);
    return nullptr;
  }
  NnFunctions functions;
  *out_problem = LoadFunctions(handle, &functions);
  int& count = users.counts[handle];
  if (out_problem->empty() && count == 0) {
    if (!skel_folder.empty()) {
      setenv("ADSP_LIBRARY_PATH", (skel_folder + kSystemFolders).c_str(), 1);
    }
    functions.global_init();
    *out_problem = CheckDevice(functions);
    if (!out_problem->empty()) functions.global_teardown();
  }
  if (!out_problem->empty()) {
    *out_problem = name + ": " + *out_problem;
    return nullptr;
  }
  std::shared_ptr<const Library> created(new Library(handle, functions));
  ++count;
  return created;
}

Library::~Library() {
  Users& users = AllUsers();
  const std::lock_guard lock(users.mutex);
  if (--users.counts[handle_] == 0) functions_.global_teardown();
}

}  // namespace deputy::hexagon
