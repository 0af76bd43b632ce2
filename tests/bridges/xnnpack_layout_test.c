// SPDX-License-Identifier: Apache-2.0
//
// TfLiteXNNPackDelegateOptionsDefault returns a struct whose size differs between releases, into
// memory of callers that were compiled with each of them. This file therefore does not include
// xnnpack_delegate.h and calls the function as those callers do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka.h requires setjmp.h, stdarg.h, stddef.h and stdint.h to be included before it.
#include <cmocka.h>

#include "deputy/common.h"

// Declares the options struct of one release by its size; only the first field is the same in all
// releases.
#define LAYOUT(size)              \
  typedef struct {                \
    int32_t num_threads;          \
    unsigned char rest[(size)-4]; \
  } Options##size

LAYOUT(24);  // TensorFlow 2.12 to 2.16
LAYOUT(32);  // TensorFlow 2.17, LiteRT 1.1 and 1.2
LAYOUT(48);  // LiteRT 1.3
LAYOUT(56);  // LiteRT 1.4
LAYOUT(64);  // LiteRT 2.1.5

// Declared without its parameters and result, because every caller casts it to the type in its
// headers. Volatile, so that the compiler cannot use the definition.
void TfLiteXNNPackDelegateOptionsDefault(void);
typedef void (*AnyFunction)(void);
static volatile AnyFunction options_default = TfLiteXNNPackDelegateOptionsDefault;

TfLiteDelegate* TfLiteXNNPackDelegateCreate(const void* options);
const int32_t* TfLiteXNNPackDelegateGetOptions(TfLiteDelegate* delegate);
void TfLiteXNNPackDelegateDelete(TfLiteDelegate* delegate);

// Returns num_threads of a delegate that is created with `options`.
static int32_t threads_of_delegate(const void* options) {
  TfLiteDelegate* delegate = TfLiteXNNPackDelegateCreate(options);
  assert_non_null(delegate);
  const int32_t threads = *TfLiteXNNPackDelegateGetOptions(delegate);
  TfLiteXNNPackDelegateDelete(delegate);
  return threads;
}

#define CHECK_CALLER(size)                                               \
  do {                                                                   \
    Options##size options = ((Options##size(*)(void))options_default)(); \
    assert_int_equal(options.num_threads, 0);                            \
    for (int i = 0; i < 20; ++i) assert_int_equal(options.rest[i], 0);   \
    options.num_threads = (size);                                        \
    assert_int_equal(threads_of_delegate(&options), (size));             \
  } while (0)

static void callers_since_release_2_12_receive_defaults(void** state) {
  (void)state;
  CHECK_CALLER(24);
  CHECK_CALLER(32);
  CHECK_CALLER(48);
  CHECK_CALLER(56);
  CHECK_CALLER(64);
}

// On x86-64 a struct in memory is returned through a first argument, so that a caller can check
// every byte after its struct. (AArch64 has a dedicated register for it, which C cannot set.)
static void no_byte_past_the_smallest_struct_is_written(void** state) {
  (void)state;
#if defined(__x86_64__)
  unsigned char memory[128];
  memset(memory, 0x5a, sizeof memory);
  ((void (*)(void*))options_default)(memory);
  for (size_t i = 0; i < sizeof memory; ++i) assert_int_equal(memory[i], i < 24 ? 0 : 0x5a);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(callers_since_release_2_12_receive_defaults),
      cmocka_unit_test(no_byte_past_the_smallest_struct_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
