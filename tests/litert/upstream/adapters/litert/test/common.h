// SPDX-License-Identifier: Apache-2.0
//
// Files of the tests are in the folder that the environment variable MODELS names.
#ifndef DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_TEST_COMMON_H_
#define DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_TEST_COMMON_H_

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace litert::testing {

inline std::string GetTestFilePath(std::string_view name) {
  return std::string(std::getenv("MODELS")) + "/" + std::string(name);
}

// The bytes of a model file, by the names that the tests use.
class TflRuntime {
 public:
  explicit TflRuntime(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}
  const TflRuntime& Flatbuffer() const { return *this; }
  const TflRuntime& Buf() const { return *this; }
  const uint8_t* Data() const { return bytes_.data(); }
  size_t Size() const { return bytes_.size(); }

 private:
  std::vector<uint8_t> bytes_;
};

inline std::optional<std::unique_ptr<TflRuntime>> MakeRuntimeFromTestFile(std::string_view name) {
  std::ifstream file(GetTestFilePath(name), std::ios::binary);
  if (!file) return std::nullopt;
  return std::make_unique<TflRuntime>(
      std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace litert::testing

#endif  // DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_TEST_COMMON_H_
