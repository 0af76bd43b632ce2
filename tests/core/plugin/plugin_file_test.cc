// SPDX-License-Identifier: Apache-2.0
//
// Tests files that provide no delegate: each is refused with its own message, and none of them
// crashes the process. Damaged files are made from a valid one.
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "core/plugin/elf.h"
#include "tests/support/emulator.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"

namespace deputy::plugin_file_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class PluginFiles : public QuietTest {};
class PluginElf : public QuietTest {};

// ---- Files that cannot be loaded ----------------------------------------------------------------

TEST_F(PluginFiles, each_problem_has_its_own_message) {
  EXPECT_EQ(CreationError("/none/at/all.so"), "cannot be read: No such file or directory)");
  EXPECT_EQ(CreationError(testing::TempDir()), "is a directory, expected a shared object)");
  EXPECT_EQ(CreationError("/dev/null"), "is not a regular file, expected a shared object)");
  EXPECT_EQ(CreationError(""), "no path given, expected the path of a shared object)");

  const std::string file = ScratchFile("file.so");
  WriteBytes(file, {});
  EXPECT_EQ(CreationError(file), "is empty, expected a shared object)");
  WriteBytes(file, {'#', '!', '/', 'b', 'i', 'n'});
  EXPECT_EQ(CreationError(file),
            "is not an ELF file: expected it to begin with 7f 45 4c 46, found 23 21 2f 62)");
  EXPECT_THAT(
      CreationError(BuildPath("tests/plugin_test")),
      AllOf(StartsWith("is not a shared object: expected ELF type 3 (shared object), found")));
  const std::string loop = ScratchFile("loop.so");
  std::filesystem::remove(loop);
  std::filesystem::create_symlink(loop, loop);
  EXPECT_EQ(CreationError(loop), "cannot be read: Too many levels of symbolic links)");
  const std::string pipe = ScratchFile("pipe.so");
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(CreationError(pipe), "is not a regular file, expected a shared object)");
}

TEST_F(PluginFiles, unreadable_files_are_reported) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string file = ScratchFile("secret.so");
  WriteBytes(file, {1});
  ASSERT_EQ(chmod(file.c_str(), 0), 0);
  EXPECT_EQ(CreationError(file), "cannot be read: Permission denied)");
}

TEST_F(PluginFiles, missing_symbols_are_named) {
  EXPECT_EQ(CreationError(Library("no_create")),
            "does not export 'tflite_plugin_create_delegate')");
  EXPECT_EQ(CreationError(Library("no_destroy")),
            "does not export 'tflite_plugin_destroy_delegate')");
  EXPECT_EQ(CreationError(Library("stable_1.0.0")),
            "does not export 'tflite_plugin_create_delegate', but 'TFL_TheStableDelegate': a "
            "stable delegate)");
}

TEST_F(PluginFiles, missing_dependencies_have_the_text_of_dlopen) {
  EXPECT_EQ(CreationError(Library("needs_absent")),
            "libabsent.so: cannot open shared object file: No such file or directory)");
}

TEST_F(PluginFiles, names_without_a_slash_are_searched) {
  EXPECT_EQ(CreationError("libelementwise.so"),
            "libelementwise.so: cannot open shared object file: No such file or directory)");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(PluginFolder());
  EXPECT_THAT(CreationError("libelementwise.so"),
              EndsWith("; to load the file in this directory, use ./libelementwise.so)"));
  EXPECT_EQ(CreationError("./libelementwise.so"), "");
  std::filesystem::current_path(before);
}

TEST_F(PluginFiles, functions_that_are_not_called_may_be_missing) {
  EXPECT_EQ(CreationError(Library("undefined_function")),
            "the plug-in returned NULL and gave no reason)");
}

// A sanitized library would end a process without the sanitizer; a process with it may load the
// library.
TEST_F(PluginFiles, sanitized_libraries_need_a_sanitized_process) {
  const std::pair<const char*, const char*> kCases[] = {
      {"__asan_init", "AddressSanitizer"},
      {"__tsan_init", "ThreadSanitizer"},
      {"__msan_init", "MemorySanitizer"},
      {"__ubsan_handle_add_overflow", "UndefinedBehaviorSanitizer"},
  };
  for (const auto& [symbol, name] : kCases) {
    const std::string text = CreationError(Library(std::string("undefined") + symbol));
    if (dlsym(RTLD_DEFAULT, symbol) != nullptr) {
      EXPECT_EQ(text, "the plug-in returned NULL and gave no reason)");
      continue;
    }
    // In a build with another sanitizer, the symbols of that sanitizer exist, too.
    EXPECT_EQ(text, std::string("is built with ") + name + ": it needs '" + symbol +
                        "', expected a library without it, since this process is)");
  }
}

// The runtime of UndefinedBehaviorSanitizer need not be in the process from the start.
TEST_F(PluginFiles, sanitized_libraries_may_depend_on_the_runtime) {
  EXPECT_EQ(CreationError(Library("needs_ubsan")), "the plug-in returned NULL and gave no reason)");
}

TEST_F(PluginFiles, null_results_include_the_plug_ins_report) {
  EXPECT_EQ(CreationError(Library("null_result")), "the plug-in returned NULL and gave no reason)");
  EXPECT_EQ(CreationError(Library("elementwise"), {{"colour", "red"}}),
            "the plug-in returned NULL: elementwise knows the options 'ops' and 'log' only; "
            "colour)");
}

// ---- Damaged files ------------------------------------------------------------------------------

std::string Damage(const std::vector<uint8_t>& bytes) {
  return ReadSharedObject(bytes, [](const ElfSymbol&) {});
}

TEST_F(PluginElf, wrong_machine_class_or_byte_order_is_reported) {
#if defined(__x86_64__)
  const std::vector<uint8_t> good = ReadBytes(Library("elementwise"));
  const auto with = [&](size_t at, uint8_t value, size_t also_at, uint8_t also) {
    std::vector<uint8_t> bytes = good;
    bytes[at] = value;
    bytes[also_at] = also;
    return Damage(bytes);
  };
  const std::string expected =
      "is built for another machine: expected x86-64 (64-bit, little-endian), found ";
  EXPECT_EQ(with(18, 183, 4, 2), expected + "AArch64 (64-bit, little-endian)");
  EXPECT_EQ(with(18, 3, 4, 1), expected + "x86 (32-bit, little-endian)");
  EXPECT_EQ(with(18, 40, 4, 1), expected + "ARM (32-bit, little-endian)");
  EXPECT_EQ(with(18, 0, 5, 2), expected + "machine 0 (64-bit, big-endian)");
  std::vector<uint8_t> mips = good;
  mips[4] = 1;
  mips[5] = 2;
  mips[18] = 0;
  mips[19] = 8;
  EXPECT_EQ(Damage(mips), expected + "MIPS (32-bit, big-endian)");
  EXPECT_EQ(with(4, 0, 4, 0), "is damaged: expected ELF class 1 or 2, found 0");
  EXPECT_EQ(with(5, 9, 5, 9), "is damaged: expected ELF data encoding 1 or 2, found 9");
  EXPECT_EQ(with(16, 1, 16, 1),
            "is not a shared object: expected ELF type 3 (shared object), found object file");
  EXPECT_EQ(with(16, 2, 16, 2),
            "is not a shared object: expected ELF type 3 (shared object), found executable");
  EXPECT_EQ(with(20, 7, 20, 7), "is damaged: expected ELF version 1, found 7");
#endif
}

// Loads and unloads a library in a child process: dlopen receives files that pass the checks, and
// must not crash either. Returns true if the child ended normally.
bool SurvivesLoading(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(path.c_str());
    TfLiteExternalDelegateDelete(TfLiteExternalDelegateCreate(&options));
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(PluginElf, truncated_files_are_refused) {
  const std::vector<uint8_t> good = ReadBytes(Library("elementwise"));
  ASSERT_EQ(Damage(good), "");
  const std::string file = ScratchFile("cut.so");
  std::vector<uint8_t> cut = good;
  for (size_t length = 0; length < good.size(); ++length) {
    const bool wanted = length <= 4096 || good.size() - length < 300 || length % 97 == 0;
    if (!wanted) continue;
    cut.assign(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_NE(Damage(cut), "") << length;
    if (length % 64 != 0) continue;
    WriteBytes(file, cut);
    EXPECT_NE(CreationError(file), "") << length;
  }
  EXPECT_THAT(Damage({good.begin(), good.begin() + 63}),
              "is truncated: the ELF header needs 64 bytes from byte 0 on, the file has 63");
  EXPECT_THAT(Damage({good.begin(), good.end() - 1}),
              StartsWith("is truncated: the table of sections needs"));
}

// With the address sanitizer, forks would take most of this file's time: there, the files that the
// reader accepts are loaded for one kind of damage only. The reader is tested with all kinds.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kLoadAll = false;
#else
constexpr bool kLoadAll = true;
#endif

// Changes every byte of the ELF header and of the segments' headers by each of four bit patterns.
TEST_F(PluginElf, flipped_header_bytes_do_not_crash) {
  if (IsEmulated()) GTEST_SKIP() << "the emulator ends when it maps segments of terabytes";
  const std::vector<uint8_t> good = ReadBytes(Library("elementwise"));
  const size_t header_bytes = 64 + 56 * size_t{good[56]};
  const std::string file = ScratchFile("flipped.so");
  int refused = 0, loaded = 0;
  for (size_t at = 0; at < header_bytes; ++at) {
    for (const uint8_t flip : {0x01, 0x10, 0x80, 0xff}) {
      std::vector<uint8_t> bytes = good;
      bytes[at] ^= flip;
      if (!Damage(bytes).empty()) {
        ++refused;
        continue;
      }
      if (!kLoadAll && flip != 0xff) continue;
      WriteBytes(file, bytes);
      EXPECT_TRUE(SurvivesLoading(file)) << "byte " << at << " flipped by " << int{flip};
      ++loaded;
    }
  }
  EXPECT_GT(refused, static_cast<int>(header_bytes * 3 / 2));  // each byte is changed four times
  EXPECT_GT(loaded, 0);  // changes of padding are accepted, for example
}

// No damage may make the reader access memory outside of the file, which the address sanitizer
// would detect.
TEST_F(PluginElf, random_damage_does_not_crash) {
  const std::vector<uint8_t> good = ReadBytes(Library("described0"));
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = good;
    // On average at least two thirds of the changes are in the first 2048 bytes, which hold tables.
    const size_t flips = 1 + random() % 8;
    for (size_t i = 0; i < flips; ++i) {
      const size_t reach = random() % 3 == 0 ? bytes.size() : std::min<size_t>(bytes.size(), 2048);
      bytes[random() % reach] = static_cast<uint8_t>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    refused += !Damage(bytes).empty();
  }
  EXPECT_GT(refused, 10000);
}

// Without section headers the number of symbols is taken from the hash table.
TEST_F(PluginElf, libraries_without_section_headers_are_read) {
  for (const char* name : {"elementwise", "described0"}) {
    std::vector<uint8_t> bytes = ReadBytes(Library(name));
    std::vector<std::string> with, without;
    ASSERT_EQ(ReadSharedObject(bytes, [&](const ElfSymbol& s) { with.emplace_back(s.name); }), "");
    for (size_t at : {40, 41, 42, 43, 44, 45, 46, 47, 60, 61}) bytes[at] = 0;
    ASSERT_EQ(ReadSharedObject(bytes, [&](const ElfSymbol& s) { without.emplace_back(s.name); }),
              "");
    EXPECT_EQ(with, without);
    EXPECT_GT(with.size(), 3u);
  }
}

// The libraries of this system that have at most 256 KiB must be accepted as undamaged.
TEST_F(PluginElf, system_libraries_are_accepted) {
  // Libraries for other machines may be installed, too.
#if defined(__x86_64__)
  const char* const folder = "/usr/lib/x86_64-linux-gnu";
#else
  const char* const folder = "/usr/lib/aarch64-linux-gnu";
#endif
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  int read = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (path.find(".so") == std::string::npos || !entry.is_regular_file()) continue;
    if (entry.file_size() > (1u << 18)) continue;
    const std::vector<uint8_t> bytes = ReadBytes(path);
    if (bytes.size() < 4 || bytes[0] != 0x7f) continue;
    const std::string damage = Damage(bytes);
    EXPECT_THAT(damage, testing::AnyOf("", HasSubstr("position-independent executable"))) << path;
    ++read;
  }
  EXPECT_GT(read, 10);
}

}  // namespace
}  // namespace deputy::plugin_file_test
