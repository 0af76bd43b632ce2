// SPDX-License-Identifier: Apache-2.0
// The names that fragments in C++ use; programs_test.py includes it before a fragment.
#ifndef DEPUTY_TESTS_DOCS_PRELUDE_CPP_H_
#define DEPUTY_TESTS_DOCS_PRELUDE_CPP_H_
#include <memory>
#include <vector>

#include "include/api/model_parallel_runner.h"
#include "mindspore/delegate.h"

inline void SetUp() {}

#endif  // DEPUTY_TESTS_DOCS_PRELUDE_CPP_H_
