// SPDX-License-Identifier: Apache-2.0
//
// A test double of Triton's server: defines the TRITON* functions that the back end calls. They
// check that objects are used and deleted as the ABI prescribes, and can be made to fail.
#ifndef DEPUTY_TESTS_DOUBLES_TRITON_SERVER_H_
#define DEPUTY_TESTS_DOUBLES_TRITON_SERVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bridges/triton/triton_api.h"

struct TRITONSERVER_Error {
  int code = 0;
  std::string text;
};
struct TRITONSERVER_Message {
  std::string json;
};
struct TRITONSERVER_Parameter {
  std::string name, value;
};
struct TRITONSERVER_MetricFamily {
  int kind = 0;
  std::string name;
  int metrics = 0;
};
struct TRITONSERVER_Metric {
  TRITONSERVER_MetricFamily* family = nullptr;
  std::string key;  // name{label=value,...}
};
struct TRITONBACKEND_Backend {
  void* state = nullptr;
};
struct TRITONBACKEND_BackendAttribute {
  std::vector<std::pair<int, uint64_t>> groups;  // kind and count
};
struct TRITONBACKEND_Model {
  TRITONBACKEND_Backend* backend = nullptr;
  std::string name = "m", folder, config;
  uint64_t version = 1;
  bool completes = true;
  int artifact_type = 0;
  int set_configs = 0;  // number of calls that set the configuration
  void* state = nullptr;
};
struct TRITONBACKEND_ModelInstance {
  TRITONBACKEND_Model* model = nullptr;
  void* state = nullptr;
};
struct TRITONBACKEND_Input {
  std::string name;
  int type = 0;
  std::vector<int64_t> shape;
  std::vector<std::string> buffers;
  int memory = 0;
};
struct TRITONBACKEND_Output {
  std::string name;
  int type = 0;
  std::vector<int64_t> shape;
  std::string bytes;
};
struct TRITONBACKEND_Request {
  std::vector<TRITONBACKEND_Input> inputs;
  std::vector<std::string> outputs;
  uint32_t flags = 0;
  // Set by the functions.
  int responses = 0, releases = 0;
  int code = -1;  // code of the response's error; -1: no error
  std::string error;
  std::vector<TRITONBACKEND_Output> results;
  int reports = 0;
  bool success = false;
  uint64_t times[4] = {};
};
struct TRITONBACKEND_Response {
  TRITONBACKEND_Request* request = nullptr;
  // Pointers to the elements must stay valid.
  std::vector<std::unique_ptr<TRITONBACKEND_Output>> outputs;
};

namespace deputy::triton_double {

struct BatchReport {
  uint64_t images = 0;
  uint64_t times[4] = {};
};

// The state of the server; the functions use the only instance.
struct Server {
  static Server& Get();

  // Restores the initial state. Objects that are not deleted are counted by `alive` again.
  void Reset();
  // Counts a call that can fail. Returns an error if it is call number `fail_at`.
  TRITONSERVER_Error* Call(const char* function);
  // Adds the number of objects of the back end that are not deleted.
  void AddAlive(int count);
  int alive() const { return alive_; }

  int calls = 0;
  int fail_at = 0;     // 0: no call fails
  std::string failed;  // name of the function that failed
  uint32_t server_major = 1, backend_major = 1;
  bool has_metrics = true;
  std::map<std::string, double> metrics;
  std::vector<BatchReport> batches;
  std::vector<std::pair<int, std::string>> log;  // level and text
  std::mutex mutex;

 private:
  int alive_ = 0;
};

}  // namespace deputy::triton_double

#endif  // DEPUTY_TESTS_DOUBLES_TRITON_SERVER_H_
