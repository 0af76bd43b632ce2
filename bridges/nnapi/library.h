// SPDX-License-Identifier: Apache-2.0
//
// NNAPI's library, which is opened when a delegate is made and never linked; and its devices.
//
// Threads: a Library does not change once it is open. It is never closed: drivers have threads.
#ifndef DEPUTY_BRIDGES_NNAPI_LIBRARY_H_
#define DEPUTY_BRIDGES_NNAPI_LIBRARY_H_

#include <memory>
#include <string>
#include <vector>

#include "bridges/nnapi/nnapi.h"

namespace deputy::nnapi {

struct Library {
  Functions functions;
  std::string path;
  // What the library has, as its functions tell: 27 to 31.
  int feature_level = kFeatureLevel1;
};

// Opens `path`; if it is "", what DEPUTY_NNAPI_LIBRARY names, else libneuralnetworks.so. Null if
// it cannot be opened or lacks a function that every NNAPI has; `out_error` then names the library,
// where it was looked for, and the functions.
std::shared_ptr<const Library> OpenLibrary(const std::string& path, std::string* out_error);

struct Devices {
  // Those to compile for; empty: NNAPI may choose.
  std::vector<ANeuralNetworksDevice*> chosen;
  // What the library and all chosen devices have.
  int feature_level = kFeatureLevel1;
};

// Chooses the device named `accelerator`, or, if it is "" and `disable_cpu`, all devices but
// processors; a library without the functions for devices may then take what it has. Returns "" or
// why there is no such device.
std::string ChooseDevices(const Library& library, const std::string& accelerator, bool disable_cpu,
                          Devices* out_devices);

// "" if `code` is that of success, else "ANeuralNetworksModel_finish: ANEURALNETWORKS_BAD_DATA (4)"
// with `function` as what follows "ANeuralNetworks".
std::string ErrorText(const char* function, int code);

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_LIBRARY_H_
