// SPDX-License-Identifier: Apache-2.0
//
// The dynamic loader of POSIX under portable names.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SHARED_LIBRARY_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SHARED_LIBRARY_H_

#include <dlfcn.h>

namespace tflite {

class SharedLibrary {
 public:
  // Loads a library with local symbols that are bound lazily. Null on failure, see GetError.
  static void* LoadLibrary(const char* lib) { return dlopen(lib, RTLD_LAZY | RTLD_LOCAL); }

  // Null if there is no such symbol.
  static void* GetLibrarySymbol(void* handle, const char* symbol) { return dlsym(handle, symbol); }

  // Searches the executable and every library with global symbols.
  static void* GetSymbol(const char* symbol) { return dlsym(RTLD_DEFAULT, symbol); }

  // 0 on success.
  static int UnLoadLibrary(void* handle) { return dlclose(handle); }

  // Text of the newest failure on this thread; null if there was none since the previous call.
  static const char* GetError() { return dlerror(); }
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SHARED_LIBRARY_H_
