// SPDX-License-Identifier: Apache-2.0
//
// Loads the back end into the double of the server, and runs models of a repository of its own.
#ifndef DEPUTY_TESTS_DOUBLES_TRITON_HOST_H_
#define DEPUTY_TESTS_DOUBLES_TRITON_HOST_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/doubles/triton/server.h"

namespace deputy::triton_double {

// Returns the text of an error, "" for success, and deletes it. `code` receives its code.
std::string Take(TRITONSERVER_Error* error, int* code = nullptr);

// Calls a function of the back end's library.
TRITONSERVER_Error* CallBackend(const char* name, void* argument);
TRITONSERVER_Error* CallBackend(const char* name, void* first, void* second);

// The back end, initialised.
class Host {
 public:
  Host();
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Error of the initialisation; "" for success.
  const std::string& error() const { return error_; }
  TRITONBACKEND_Backend* backend() { return &backend_; }

 private:
  TRITONBACKEND_Backend backend_;
  std::string error_;
};

// A model in a folder of its own, with instances.
class HostedModel {
 public:
  // Writes the file of version 1.
  HostedModel(Host* host, const std::vector<uint8_t>& file, const std::string& config = "{}",
              const std::string& file_name = "model.tflite");
  ~HostedModel();
  HostedModel(const HostedModel&) = delete;
  HostedModel& operator=(const HostedModel&) = delete;

  // Call ModelInitialize and ModelInstanceInitialize. Return the error, "" for success.
  std::string Load();
  std::string AddInstance();
  std::string LoadWithInstance();
  // Ends instances and model; the destructor does the same.
  void Unload();

  // Runs requests on an instance. Returns the error of the call.
  std::string Execute(std::vector<TRITONBACKEND_Request>* requests, size_t instance = 0);
  // Runs one request, for the outputs of `names`.
  TRITONBACKEND_Request Infer(std::vector<TRITONBACKEND_Input> inputs,
                              std::vector<std::string> names, uint32_t flags = 0,
                              size_t instance = 0);

  TRITONBACKEND_Model& model() { return model_; }
  int code() const { return code_; }  // code of the newest error

 private:
  TRITONBACKEND_Model model_;
  bool is_loaded_ = false;
  int code_ = 0;
  std::vector<std::unique_ptr<TRITONBACKEND_ModelInstance>> instances_;
};

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size()};
}

template <typename T>
std::vector<T> ValuesOf(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), sizeof(T) * values.size());
  return values;
}

inline TRITONBACKEND_Input Floats(const std::string& name, const std::vector<int64_t>& shape,
                                  const std::vector<float>& values) {
  return {name, triton::kTritonFloat32, shape, {BytesOf(values)}, 0};
}

}  // namespace deputy::triton_double

#endif  // DEPUTY_TESTS_DOUBLES_TRITON_HOST_H_
