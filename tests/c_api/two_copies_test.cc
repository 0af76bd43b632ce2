// SPDX-License-Identifier: Apache-2.0
//
// Loads both libraries, and two files of one of them, into one process with RTLD_GLOBAL: each must
// call its own functions. Without -Bsymbolic the second copy's calls would reach the first.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/paths.h"

namespace deputy::two_copies_test {
namespace {

// One loaded copy of the library, with the functions that a model's life cycle needs.
class Copy {
 public:
  explicit Copy(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }

  template <typename Function>
  Function* Find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

  // Returns true if the address is in this copy's file.
  bool Owns(const void* address) const {
    Dl_info mine, theirs;
    return dladdr(Find<void()>("TfLiteVersion") == nullptr
                      ? nullptr
                      : reinterpret_cast<void*>(Find<void()>("TfLiteVersion")),
                  &mine) != 0 &&
           dladdr(address, &theirs) != 0 && mine.dli_fbase == theirs.dli_fbase;
  }

  // Runs a model's whole life cycle; returns true if the output has ten scores.
  bool Classifies(const char* path) const {
    TfLiteModel* model =
        Find<decltype(TfLiteModelCreateFromFile)>("TfLiteModelCreateFromFile")(path);
    TfLiteInterpreter* interpreter =
        Find<decltype(TfLiteInterpreterCreate)>("TfLiteInterpreterCreate")(model, nullptr);
    bool ok = Find<decltype(TfLiteInterpreterAllocateTensors)>("TfLiteInterpreterAllocateTensors")(
                  interpreter) == kTfLiteOk;
    ok = ok && Find<decltype(TfLiteInterpreterInvoke)>("TfLiteInterpreterInvoke")(interpreter) ==
                   kTfLiteOk;
    const TfLiteTensor* output = Find<decltype(TfLiteInterpreterGetOutputTensor)>(
        "TfLiteInterpreterGetOutputTensor")(interpreter, 0);
    ok = ok && Find<decltype(TfLiteTensorByteSize)>("TfLiteTensorByteSize")(output) == 10 * 4;
    Find<decltype(TfLiteInterpreterDelete)>("TfLiteInterpreterDelete")(interpreter);
    Find<decltype(TfLiteModelDelete)>("TfLiteModelDelete")(model);
    return ok;
  }

 private:
  void* handle_;
};

TEST(TwoCopies, work_independently_in_one_process) {
  const std::string second_file = BuildPath("tests/libtensorflowlite_c_second.so");
  std::filesystem::copy_file(DropInPath(), second_file,
                             std::filesystem::copy_options::overwrite_existing);
  const Copy ours(LibraryPath()), drop_in(DropInPath()), second(second_file);
  const std::string digits = SourcePath("examples/digits/digits_float.tflite");
  for (const Copy* copy : {&ours, &drop_in, &second}) {
    EXPECT_TRUE(copy->Classifies(digits.c_str()));
    // A string that the copy returns is in its own file, not in that of the copy loaded first.
    EXPECT_TRUE(copy->Owns(copy->Find<decltype(TfLiteVersion)>("TfLiteVersion")()));
  }
  // A reporter that is set in one copy receives no reports of the other one.
  static int reports;
  reports = 0;
  ours.Find<decltype(DeputySetDefaultReporter)>("DeputySetDefaultReporter")(
      [](void*, const char*, va_list) { ++reports; }, nullptr);
  EXPECT_EQ(ours.Find<decltype(TfLiteModelCreateFromFile)>("TfLiteModelCreateFromFile")("/none"),
            nullptr);
  EXPECT_EQ(reports, 1);
  EXPECT_EQ(drop_in.Find<decltype(TfLiteModelCreateFromFile)>("TfLiteModelCreateFromFile")("/none"),
            nullptr);
  EXPECT_EQ(reports, 1);
  std::filesystem::remove(second_file);
}

}  // namespace
}  // namespace deputy::two_copies_test
