// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_SUPPORT_SCOPED_ENVIRONMENT_H_
#define DEPUTY_TESTS_SUPPORT_SCOPED_ENVIRONMENT_H_

#include <cstdlib>
#include <optional>
#include <string>

namespace deputy {

// RAII guard: sets an environment variable, or removes it if the value is null, and restores its
// former state. Guards may nest.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* const former = std::getenv(name)) former_ = former;
    Set(value);
  }
  ~ScopedEnvironment() { Set(former_ ? former_->c_str() : nullptr); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  void Set(const char* value) const {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }

  const char* const name_;
  std::optional<std::string> former_;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_SCOPED_ENVIRONMENT_H_
