// SPDX-License-Identifier: Apache-2.0
//
// Tests the loading of plug-ins in a child process first, because a plug-in may crash the process
// that loads it; the program must survive everything that the child does.
#include "core/plugin/plugin_probe.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"

namespace deputy::plugin_probe_test {
namespace {

class PluginProbe : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    setenv("DEPUTY_PLUGIN_PROBE", "1", 1);
  }
  void TearDown() override {
    unsetenv("DEPUTY_PLUGIN_PROBE");
    QuietTest::TearDown();
  }
};

constexpr int kPatientMs = 60000;

TEST_F(PluginProbe, a_library_that_crashes_while_it_is_loaded_is_refused) {
  EXPECT_EQ(CreationError(Library("crashing")),
            "ended a child process that loaded it first, with signal 11)");
  EXPECT_EQ(CreationError(Library("exiting")),
            "ended a child process that loaded it first, with exit code 3)");
  EXPECT_FALSE(IsLoaded(Library("crashing")));
}

TEST_F(PluginProbe, libraries_with_layers_are_probed) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const ScopedEnvironment layers("DEPUTY_LAYERS", "deadline=60s");
  EXPECT_EQ(CreationError(Library("crashing")),
            "ended a child process that loaded it first, with signal 11)");
  EXPECT_EQ(CreationError(Library("elementwise")), "");
}

TEST_F(PluginProbe, valid_libraries_are_loaded_as_without_it) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(CreationError(Library("elementwise")), "");
  EXPECT_TRUE(IsLoaded(Library("elementwise")));
  EXPECT_EQ(CreationError(Library("no_create")),
            "does not export 'tflite_plugin_create_delegate')");
  DeputyPlugin* stable = DeputyPluginLoad(Library("stable_1.0.0").c_str());
  EXPECT_NE(stable, nullptr) << DeputyLastError();
  DeputyPluginRelease(stable);
}

TEST_F(PluginProbe, is_enabled_by_1_only) {
  EXPECT_TRUE(IsPluginProbeEnabled());
  for (const char* value : {"", "0", "yes"}) {
    setenv("DEPUTY_PLUGIN_PROBE", value, 1);
    EXPECT_FALSE(IsPluginProbeEnabled()) << value;
  }
  unsetenv("DEPUTY_PLUGIN_PROBE");
  EXPECT_FALSE(IsPluginProbeEnabled());
}

TEST_F(PluginProbe, the_child_does_not_change_the_parent) {
  int changed = 0;
  EXPECT_EQ(ProbeInChild([&] { changed = 1; }, kPatientMs), "");
  EXPECT_EQ(changed, 0);
}

TEST_F(PluginProbe, exceptions_are_no_crash) {
  EXPECT_EQ(ProbeInChild([] { throw std::runtime_error("a library's"); }, kPatientMs), "");
}

TEST_F(PluginProbe, blocked_children_are_killed) {
  EXPECT_EQ(ProbeInChild([] { pause(); }, 50),
            "did not finish loading within 50 ms in a child process");
}

TEST_F(PluginProbe, children_that_close_all_files_are_not_waited_for) {
  const auto close_all = [] {
    for (int file = 0; file < 1024; ++file) close(file);
    pause();
  };
  EXPECT_EQ(ProbeInChild(close_all, kPatientMs),
            "ended a child process that loaded it first, with signal 9");
}

TEST_F(PluginProbe, crash_handlers_of_the_program_do_not_run_in_the_child) {
  const auto before = signal(SIGSEGV, [](int) { _exit(77); });
  EXPECT_EQ(ProbeInChild([] { raise(SIGSEGV); }, kPatientMs),
            "ended a child process that loaded it first, with signal 11");
  signal(SIGSEGV, before);
}

// If SIGCHLD is ignored, the system discards the exit status of the child.
TEST_F(PluginProbe, works_in_programs_that_ignore_their_children) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(ProbeInChild([] {}, kPatientMs), "");
  EXPECT_EQ(ProbeInChild([] { raise(SIGSEGV); }, kPatientMs),
            "ended a child process that loaded it first");
  signal(SIGCHLD, before);
}

}  // namespace
}  // namespace deputy::plugin_probe_test
