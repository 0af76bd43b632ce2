// SPDX-License-Identifier: Apache-2.0
//
// The interface library, opened at run time, and the connection to the DSP: it is initialised for
// the first delegate, and torn down behind the last one.
#ifndef DEPUTY_BRIDGES_HEXAGON_LIBRARY_H_
#define DEPUTY_BRIDGES_HEXAGON_LIBRARY_H_

#include <memory>
#include <string>

#include "bridges/hexagon/hexagon_nn.h"

namespace deputy::hexagon {

// A use of the connection, of which there is one per library. Destroying the last use tears it
// down. The library itself stays open: threads of a driver may run its code.
class Library {
 public:
  // Opens `path` or, if it is "", libhexagon_interface.so as the loader finds it; has all twenty
  // functions, versions that fit, a device that is supported, and the operations under the numbers
  // that we know, or returns null with the reason. `skel_folder`, if not "", is where the DSP looks
  // for libhexagon_nn_skel*.so, by the variable ADSP_LIBRARY_PATH; it counts where the connection
  // is made anew. Any thread.
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
