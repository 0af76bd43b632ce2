// SPDX-License-Identifier: Apache-2.0
//
// Options that are not part of an environment do not exist in the C API: those of the test belong
// to one.
#ifndef DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_CORE_ENVIRONMENT_OPTIONS_H_
#define DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_CORE_ENVIRONMENT_OPTIONS_H_

#include "litert/c/litert_environment.h"
#include "litert/c/litert_environment_options.h"

class LiteRtEnvironmentOptionsT {
 public:
  LiteRtEnvironmentOptionsT() { LiteRtCreateEnvironment(0, nullptr, &environment_); }
  ~LiteRtEnvironmentOptionsT() { LiteRtDestroyEnvironment(environment_); }

  void SetOption(const LiteRtEnvOption& option) {
    LiteRtAddEnvironmentOptions(environment_, 1, &option, true);
  }
  LiteRtEnvironmentOptions operator&() const {
    LiteRtEnvironmentOptions options = nullptr;
    LiteRtGetEnvironmentOptions(environment_, &options);
    return options;
  }

 private:
  LiteRtEnvironment environment_ = nullptr;
};

#endif  // DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_CORE_ENVIRONMENT_OPTIONS_H_
