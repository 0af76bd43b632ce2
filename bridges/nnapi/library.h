// SPDX-License-Identifier: Apache-2.0
//
// NNAPI's library, which is loaded when a delegate is created and never linked, and its devices.
//
// A Library is immutable once it is loaded, so that all threads may use it. It is never unloaded,
// because drivers run threads in it.
#ifndef DEPUTY_BRIDGES_NNAPI_LIBRARY_H_
#define DEPUTY_BRIDGES_NNAPI_LIBRARY_H_

#include <memory>
#include <string>
#include <vector>

#include "bridges/nnapi/nnapi.h"
#include "deputy/deputy_plugin.h"

namespace deputy::nnapi {

struct Library {
  Functions functions;
  std::string path;
  // Feature level of the library, 27 to 31, as reported by the library or derived from its
  // functions.
  int feature_level = kFeatureLevel1;
};

// Loads `path` or, if it is "", the library in the environment variable DEPUTY_NNAPI_LIBRARY, or
// libneuralnetworks.so. Returns null if it cannot be loaded or lacks a required function;
// `out_error` then has the library's name, the origin of the name, and the loader's message or the
// functions.
std::shared_ptr<const Library> OpenLibrary(const std::string& path, std::string* out_error);

struct Devices {
  // Devices to compile for; if empty, NNAPI chooses.
  std::vector<ANeuralNetworksDevice*> chosen;
  // The lowest feature level of the library and the chosen devices.
  int feature_level = kFeatureLevel1;
};

// Chooses the device named `accelerator` or, if it is "" and `disable_cpu` is set, all devices
// except CPUs; in the latter case a library without device functions uses its own choice. Returns
// "" or an error message if there is no such device.
std::string ChooseDevices(const Library& library, const std::string& accelerator, bool disable_cpu,
                          Devices* out_devices);

// Calls `callback`, which may be null, for each device of the library. Returns "" or the reason why
// there is none.
std::string ListDevices(const Library& library, DeputyDeviceCallback callback, void* user_data);

// Returns "" if `code` means success, otherwise a message such as "ANeuralNetworksModel_finish:
// ANEURALNETWORKS_BAD_DATA (4)". `function` is the name without the prefix "ANeuralNetworks".
std::string ErrorText(const char* function, int code);

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_LIBRARY_H_
