// SPDX-License-Identifier: Apache-2.0
//
// The interface library, which is loaded at run time, and the connection to the DSP, which is
// initialised for the first delegate and torn down after the last one.
#ifndef DEPUTY_BRIDGES_HEXAGON_LIBRARY_H_
#define DEPUTY_BRIDGES_HEXAGON_LIBRARY_H_

#include <memory>
#include <string>

#include "bridges/hexagon/hexagon_nn.h"

namespace deputy::hexagon {

// A reference to the connection; all references to one library share it, and the last one tears it
// down in its destructor. The library stays loaded, because threads of a driver may run its code.
class Library {
 public:
  // Loads `path` or, if it is "", libhexagon_interface.so with the loader's search path. Returns
  // null and an error message unless the library has all twenty functions, the versions match, the
  // device is supported, and the operations have the expected codes. `skel_folder`, if not "", is
  // the folder of libhexagon_nn_skel*.so, passed through the variable ADSP_LIBRARY_PATH; it has an
  // effect only if there is no connection yet. May be called on any thread.
  static std::shared_ptr<const Library> Connect(const std::string& path,
                                                const std::string& skel_folder,
                                                std::string* out_problem);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const NnFunctions& nn() const { return functions_; }

 private:
  Library(void* handle, const NnFunctions& functions) : handle_(handle), functions_(functions) {}

  void* const handle_;
  const NnFunctions functions_;
};

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_LIBRARY_H_
