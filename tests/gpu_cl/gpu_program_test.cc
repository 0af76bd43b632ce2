// SPDX-License-Identifier: Apache-2.0
//
// Tests programs on a device: built from source and from binaries, refused, shared, and with
// failures in every call.
#include "gpu_cl/device/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gpu_cl/device/device.h"
#include "gpu_cl/device/program_cache.h"
#include "tests/gpu_cl/gpu_spy.h"

namespace deputy::gpu_cl::gpu_program_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kSource = R"(
__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2.0f; }
__kernel void add(__global float* x, float y) { x[get_global_id(0)] += y; }
)";

TEST(KernelOfErrorTest, line_of_the_log_is_found_in_the_source) {
  const std::string source = "// text\n__kernel void one(\n) {\n}\nkernel void two () {\n  a\n}\n";
  EXPECT_EQ(KernelOfError(source, "1 error generated.\n/tmp/x.cl:6:3: error: no a\n"), "two");
  EXPECT_EQ(KernelOfError(source, "<kernel>:3:1: error: what"), "one");
  EXPECT_EQ(KernelOfError(source, "x.cl:6:3: warning: unused\nx.cl:4:1: error: bad"), "one");
  EXPECT_EQ(KernelOfError(source, "x.cl:1:1: error: bad"), "");
  EXPECT_EQ(KernelOfError(source, "x.cl:600:1: error: bad"), "two");
  EXPECT_EQ(KernelOfError(source, "error: no line"), "");
  EXPECT_EQ(KernelOfError(source, ""), "");
}

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = NoDeviceReason();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    spy_ = std::make_unique<ClSpy>(*RealCl().api);
    ASSERT_TRUE(ListDevices(*RealCl().api, &devices_).ok());
    context_ = NewContext();
    char name[] = "/tmp/deputy_program_test.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    std::string problem;
    cache_ = ProgramCache::Open(folder_, 1 << 24, &problem);
    ASSERT_NE(cache_, nullptr) << problem;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
    context_.reset();
    if (spy_ != nullptr) {
      EXPECT_EQ(spy_->Unbalanced(), "");
    }
  }

  std::shared_ptr<SharedContext> NewContext() {
    ClStatus status;
    auto context = SharedContext::Create(spy_->api(), devices_[0], &status);
    EXPECT_NE(context, nullptr) << status.text;
    return context;
  }

  // Returns a program for the request. Unreferenced programs are released first.
  std::shared_ptr<Program> Get(const ProgramRequest& request) {
    context_->ForgetPrograms();
    return Program::Get(context_, request, cache_, &status_);
  }
  std::shared_ptr<Program> Get() { return Get({kSource, "", {"twice", "add"}, ""}); }

  // Runs both kernels for 3 and returns the result, 3 * 2 + 1; 0 on failure.
  float Run(const Program& program) {
    const ClApi& api = *spy_->api();
    cl_int code = CL_SUCCESS;
    const ClQueue queue(
        &api, api.CreateCommandQueue(context_->context(), context_->device().id, 0, &code));
    float value = 3.0f;
    const ClMemory memory(
        &api, api.CreateBuffer(context_->context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                               sizeof(value), &value, &code));
    cl_mem handle = memory.get();
    for (const char* name : {"twice", "add"}) {
      const ClKernel kernel = program.NewKernel(name, &status_);
      if (!status_.ok()) return 0.0f;
      const float one = 1.0f;
      const size_t size = 1;
      api.SetKernelArg(kernel.get(), 0, sizeof(cl_mem), &handle);
      if (std::string(name) == "add") api.SetKernelArg(kernel.get(), 1, sizeof(one), &one);
      code = api.EnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &size, nullptr, 0,
                                      nullptr, nullptr);
      EXPECT_EQ(code, CL_SUCCESS);
    }
    code = api.EnqueueReadBuffer(queue.get(), memory.get(), CL_TRUE, 0, sizeof(value), &value, 0,
                                 nullptr, nullptr);
    return code == CL_SUCCESS ? value : 0.0f;
  }

  // Returns the path of the only entry in the cache; "" if there is none.
  std::string Entry() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".glcl") return entry.path();
    }
    return "";
  }

  void SaveOne() {
    const auto program = Get();
    ASSERT_NE(program, nullptr) << status_.text;
    EXPECT_FALSE(program->from_cache());
    EXPECT_EQ(Run(*program), 7.0f);
    EXPECT_EQ(program->Save("tuned"), "");
    ASSERT_NE(Entry(), "");
  }

  std::unique_ptr<ClSpy> spy_;
  std::vector<Device> devices_;
  std::shared_ptr<SharedContext> context_;
  std::string folder_;
  std::shared_ptr<const ProgramCache> cache_;
  ClStatus status_;
};

TEST_F(ProgramTest, source_is_built_and_runs) {
  cache_ = nullptr;
  const auto program = Get();
  ASSERT_NE(program, nullptr) << status_.text;
  EXPECT_EQ(Run(*program), 7.0f);
  EXPECT_EQ(program->Save(""), "") << "without a cache nothing is to be saved";
  const KernelLimits* limits = program->LimitsOf("twice");
  ASSERT_NE(limits, nullptr);
  EXPECT_GE(limits->max_group_size, 1u);
  EXPECT_LE(limits->max_group_size, devices_[0].profile.max_group_size);
  EXPECT_GE(limits->group_multiple, 1u);
  EXPECT_EQ(program->LimitsOf("thrice"), nullptr);
  EXPECT_FALSE(program->NewKernel("thrice", &status_));
  EXPECT_EQ(status_.text, "clCreateKernel of 'thrice': CL_INVALID_KERNEL_NAME (-46)");
}

TEST_F(ProgramTest, binary_is_loaded_from_the_cache) {
  SaveOne();
  const auto program = Get();
  ASSERT_NE(program, nullptr) << status_.text;
  EXPECT_TRUE(program->from_cache());
  EXPECT_EQ(program->cache_problem(), "");
  EXPECT_EQ(program->tuning(), "tuned");
  EXPECT_EQ(spy_->calls().at("CreateProgramWithSource"), 1);
  EXPECT_EQ(Run(*program), 7.0f);
  EXPECT_NE(program->LimitsOf("add"), nullptr);
  const auto calls = spy_->calls();
  EXPECT_EQ(program->Save("again"), "");
  EXPECT_EQ(spy_->calls(), calls) << "what came from the cache is not written again";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no marker is left";
}

TEST_F(ProgramTest, other_source_options_or_token_are_other_programs) {
  SaveOne();
  const std::vector<std::string> kernels = {"twice", "add"};
  for (const ProgramRequest& request :
       {ProgramRequest{std::string(kSource) + "\n", "", kernels, ""},
        ProgramRequest{kSource, "-DA=1", kernels, ""}, ProgramRequest{kSource, "", kernels, "x"}}) {
    const auto program = Get(request);
    ASSERT_NE(program, nullptr) << status_.text;
    EXPECT_FALSE(program->from_cache());
  }
}

TEST_F(ProgramTest, damaged_entry_never_reaches_the_driver) {
  SaveOne();
  const std::string entry = Entry();
  std::ifstream file(entry, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(entry, std::ios::binary) << bytes;
  const auto program = Get();
  ASSERT_NE(program, nullptr) << status_.text;
  EXPECT_FALSE(program->from_cache());
  EXPECT_THAT(program->cache_problem(), HasSubstr("checksum mismatch"));
  EXPECT_EQ(spy_->calls().count("CreateProgramWithBinary"), 0u);
  EXPECT_EQ(Run(*program), 7.0f);
  EXPECT_EQ(program->Save(""), "");
  EXPECT_EQ(Entry(), entry);
}

// The entry is complete, but its bytes are no binary, so that the driver refuses them.
TEST_F(ProgramTest, binary_that_the_driver_refuses_is_replaced) {
  SaveOne();
  const std::string entry = Entry();
  Digest key{};
  for (size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<uint8_t>(
        std::stoi(fs::path(entry).stem().string().substr(2 * i, 2), nullptr, 16));
  }
  ASSERT_EQ(cache_->Store(key, "this is not a program at all, and long enough to look at", ""), "");
  const auto program = Get();
  ASSERT_NE(program, nullptr) << status_.text;
  EXPECT_FALSE(program->from_cache());
  EXPECT_THAT(program->cache_problem(),
              HasSubstr("the driver rejected a cached program, which was deleted"));
  EXPECT_FALSE(fs::exists(entry));
  EXPECT_EQ(Run(*program), 7.0f);
}

TEST_F(ProgramTest, failure_in_any_step_from_a_binary_builds_the_source) {
  for (const char* step : {"CreateProgramWithBinary", "BuildProgram", "CreateKernel"}) {
    SaveOne();
    spy_->Fail(step, 0, CL_INVALID_BINARY);
    const auto program = Get();
    ASSERT_NE(program, nullptr) << status_.text;
    EXPECT_TRUE(spy_->failed());
    EXPECT_FALSE(program->from_cache());
    EXPECT_THAT(program->cache_problem(), HasSubstr("CL_INVALID_BINARY (-42)")) << step;
    EXPECT_EQ(Entry(), "") << step;
    EXPECT_EQ(Run(*program), 7.0f);
  }
}

TEST_F(ProgramTest, compile_errors_are_reported_with_kernel_and_log) {
  const std::string source =
      std::string(kSource) + "__kernel void broken() {\n  undeclared = 1;\n}\n";
  EXPECT_EQ(Get({source, "", {"twice", "broken"}, ""}), nullptr);
  EXPECT_EQ(status_.code, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_THAT(status_.text, StartsWith("OpenCL kernel 'broken' does not compile: "));
  EXPECT_THAT(status_.text, HasSubstr("undeclared"));
}

// The compiler prints at least one line per error.
TEST_F(ProgramTest, log_is_reported_up_to_twenty_lines) {
  std::string source = "__kernel void broken() {\n";
  for (int i = 0; i < 40; ++i) source += "  undeclared" + std::to_string(i) + " = 1;\n";
  EXPECT_EQ(Get({source + "}\n", "", {"broken"}, ""}), nullptr);
  EXPECT_EQ(std::count(status_.text.begin(), status_.text.end(), '\n'), 19);
  EXPECT_THAT(status_.text, HasSubstr("undeclared0"));
}

TEST_F(ProgramTest, missing_kernel_is_reported_immediately) {
  EXPECT_EQ(Get({kSource, "", {"twice", "thrice"}, ""}), nullptr);
  EXPECT_EQ(status_.text, "clCreateKernel of 'thrice': CL_INVALID_KERNEL_NAME (-46)");
}

TEST_F(ProgramTest, program_is_shared_in_its_context) {
  cache_ = nullptr;
  auto first = Get();
  auto second = Get();
  EXPECT_EQ(first, second);
  EXPECT_EQ(spy_->calls().at("BuildProgram"), 1);
  first.reset();
  second.reset();
  // The context keeps the program for the next request.
  first = Program::Get(context_, {kSource, "", {"twice", "add"}, ""}, nullptr, &status_);
  EXPECT_EQ(spy_->calls().at("BuildProgram"), 1);
  first.reset();
  context_->ForgetPrograms();
  EXPECT_EQ(spy_->objects().at("Program"), 0);
  EXPECT_NE(Get(), nullptr);
  EXPECT_EQ(spy_->calls().at("BuildProgram"), 2);
  const auto kept = Get();
  EXPECT_EQ(context_->programs().size(), 1u);
  EXPECT_NE(Get({kSource, "-DB", {"add"}, ""}), kept);
}

TEST_F(ProgramTest, threads_build_one_program) {
  cache_ = nullptr;
  std::vector<std::shared_ptr<Program>> programs(4);
  std::vector<std::thread> threads;
  for (auto& place : programs) {
    threads.emplace_back([this, &place] {
      ClStatus status;
      place = Program::Get(context_, {kSource, "", {"twice"}, ""}, nullptr, &status);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& program : programs) EXPECT_EQ(program, programs[0]);
  EXPECT_EQ(spy_->calls().at("BuildProgram"), 1);
}

TEST_F(ProgramTest, device_loss_invalidates_the_context) {
  spy_->Fail("BuildProgram", 0, CL_INVALID_CONTEXT);
  EXPECT_EQ(Get(), nullptr);
  EXPECT_TRUE(context_->lost());
}

TEST_F(ProgramTest, device_loss_keeps_the_cache_entry) {
  SaveOne();
  spy_->Fail("CreateProgramWithBinary", 0, CL_INVALID_CONTEXT);
  EXPECT_EQ(Get(), nullptr);
  EXPECT_NE(Entry(), "");
}

// Each call that gets a program, with and without a cache entry, fails with each of several codes:
// the result is a correct program, or a message; no objects may leak (TearDown).
TEST_F(ProgramTest, every_call_may_fail) {
  const std::vector<cl_int> codes = {-4, -5, -6, -11, -30, -34, -36, -42};
  for (const bool from_cache : {false, true}) {
    if (from_cache) SaveOne();
    const std::string entry = Entry();
    const auto before = spy_->calls();
    ASSERT_NE(Get(), nullptr);
    const auto after = spy_->calls();
    for (const auto& [function, count] : after) {
      const auto old = before.find(function);
      const int64_t calls = count - (old == before.end() ? 0 : old->second);
      if (function.starts_with("Release")) continue;
      for (int64_t index = 0; index < calls; ++index) {
        for (const cl_int code : codes) {
          context_ = NewContext();  // the previous context may be unusable
          spy_->Fail(function, index, code);
          auto program = Get();
          EXPECT_TRUE(spy_->failed()) << function;
          EXPECT_NE(program == nullptr, status_.ok()) << function << index << code;
          EXPECT_EQ(status_.text.empty(), status_.ok());
          if (program != nullptr) {
            EXPECT_EQ(Run(*program), 7.0f);
          }
          program.reset();
          if (from_cache && Entry().empty()) SaveOne();
        }
      }
    }
    EXPECT_EQ(Entry(), entry);
  }
}

TEST_F(ProgramTest, failure_to_fetch_the_binary_is_a_warning) {
  for (int64_t index = 0; index < 4; ++index) {
    const auto program = Get();
    ASSERT_NE(program, nullptr);
    spy_->Fail("GetProgramInfo", index, CL_OUT_OF_HOST_MEMORY);
    EXPECT_THAT(program->Save(""), HasSubstr("CL_OUT_OF_HOST_MEMORY (-6)"));
    EXPECT_EQ(Entry(), "");
    EXPECT_EQ(Run(*program), 7.0f);
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_program_test
