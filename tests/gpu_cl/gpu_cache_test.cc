// SPDX-License-Identifier: Apache-2.0
//
// Tests the cache of programs on disk: names and checksums of files, damage, permissions, the size
// of the folder, and processes that crashed while loading. No OpenCL is needed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpu_cl/device/program_cache.h"
#include "gpu_cl/device/sha256.h"

namespace deputy::gpu_cl::gpu_cache_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The vectors are from FIPS 180-4 and the NIST examples for SHA-256.
TEST(Sha256Test, test_vectors_of_the_standard) {
  EXPECT_EQ(Hex(Sha256Of("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(Sha256Of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(Sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Hex(Sha256Of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopj"
                         "klmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(Hex(Sha256Of(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, incremental_updates_give_the_same_digest) {
  const std::string text(300, 'x');
  for (size_t piece = 1; piece <= 130; ++piece) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece) {
      hash.Update(text.data() + at, std::min(piece, text.size() - at));
    }
    ASSERT_EQ(hash.Finish(), Sha256Of(text)) << piece;
  }
}

TEST(ProgramKeyTest, depends_on_every_property_of_a_program) {
  std::vector<ProgramIdentity> identities(1);
  const auto add = [&](auto change) {
    ProgramIdentity identity;
    change(identity);
    identities.push_back(identity);
  };
  add([](ProgramIdentity& i) { i.library_version = "a"; });
  add([](ProgramIdentity& i) { i.source = "a"; });
  add([](ProgramIdentity& i) { i.build_options = "a"; });
  add([](ProgramIdentity& i) { i.platform_name = "a"; });
  add([](ProgramIdentity& i) { i.platform_version = "a"; });
  add([](ProgramIdentity& i) { i.device_name = "a"; });
  add([](ProgramIdentity& i) { i.driver_version = "a"; });
  add([](ProgramIdentity& i) { i.device_version = "a"; });
  add([](ProgramIdentity& i) { i.token = "a"; });
  add([](ProgramIdentity& i) { i.vendor_id = 1; });
  add([](ProgramIdentity& i) { i.pointer_bits = 1; });
  // Both identities have the same characters, divided differently between source and options.
  add([](ProgramIdentity& i) { i.source = "ab", i.build_options = "c"; });
  add([](ProgramIdentity& i) { i.source = "a", i.build_options = "bc"; });
  std::set<Digest> keys;
  for (const ProgramIdentity& identity : identities) {
    EXPECT_EQ(ProgramKey(identity), ProgramKey(identity));
    keys.insert(ProgramKey(identity));
  }
  EXPECT_EQ(keys.size(), identities.size());
}

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/deputy_cache_test.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    folder_ = root_ + "/a/programs";
    cache_ = Open(folder_);
    ASSERT_NE(cache_, nullptr) << problem_;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::unique_ptr<ProgramCache> Open(const std::string& folder, uint64_t max_bytes = 1 << 20) {
    problem_.clear();
    return ProgramCache::Open(folder, max_bytes, &problem_);
  }

  std::optional<CachedProgram> Load(const Digest& key) { return cache_->Load(key, &problem_); }

  std::string PathOf(const Digest& key) const { return folder_ + "/" + Hex(key) + ".glcl"; }
  std::string MarkerOf(const Digest& key) const { return folder_ + "/" + Hex(key) + ".loading"; }

  std::string ReadFile(const std::string& path) const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void WriteFile(const std::string& path, const std::string& bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  // Ends a child process between loading an entry and finishing its use.
  void CrashLoading(const Digest& key) const {
    const pid_t child = fork();
    if (child == 0) {
      std::string ignored;
      const auto program = cache_->Load(key, &ignored);
      _exit(program ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }

  void SetAge(const std::string& path, int seconds) const {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }

  const Digest key_ = Sha256Of("one");
  std::string root_;
  std::string folder_;
  std::string problem_;
  std::unique_ptr<ProgramCache> cache_;
};

TEST_F(CacheTest, entry_round_trips) {
  const std::string binary(
      "\0\x7f"
      "ELF\xff",
      6);
  EXPECT_EQ(cache_->Store(key_, binary, "tuned"), "");
  const auto program = Load(key_);
  ASSERT_TRUE(program) << problem_;
  EXPECT_EQ(program->binary, binary);
  EXPECT_EQ(program->tuning, "tuned");
  EXPECT_EQ(problem_, "");
}

TEST_F(CacheTest, missing_entry_is_a_miss) {
  EXPECT_FALSE(Load(key_));
  EXPECT_EQ(problem_, "");
}

TEST_F(CacheTest, entry_is_replaced) {
  EXPECT_EQ(cache_->Store(key_, "old", ""), "");
  EXPECT_EQ(cache_->Store(key_, "new", "records"), "");
  EXPECT_EQ(Load(key_)->binary, "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no temporary file is left";
}

// The bytes of a file must not change, so that future versions can read it.
TEST_F(CacheTest, file_has_the_documented_format) {
  ASSERT_EQ(cache_->Store(key_, "binary", "tune"), "");
  const std::string payload = std::string("\4\0\0\0\0\0\0\0", 8) + "tune" + "binary";
  const auto raw = [](const Digest& digest) { return std::string(digest.begin(), digest.end()); };
  EXPECT_EQ(ReadFile(PathOf(key_)), "GLCL" + std::string("\1\0\0\0\x54\0\0\0", 8) + raw(key_) +
                                        std::string("\x12\0\0\0\0\0\0\0", 8) +
                                        raw(Sha256Of(payload)) + payload);
}

class DamageTest : public CacheTest {
 protected:
  void SetUp() override {
    CacheTest::SetUp();
    std::string binary;
    for (int i = 0; i < 5000; ++i) binary.push_back(static_cast<char>(i * 37 + i / 256));
    ASSERT_EQ(cache_->Store(key_, binary, "some tuning records"), "");
    whole_ = ReadFile(PathOf(key_));
    ASSERT_GT(whole_.size(), binary.size());
  }

  void ExpectMiss(const std::string& bytes, const std::string& what) {
    WriteFile(PathOf(key_), bytes);
    EXPECT_FALSE(Load(key_)) << what;
    EXPECT_THAT(problem_, HasSubstr(Hex(key_) + ".glcl: ")) << what;
    EXPECT_FALSE(fs::exists(PathOf(key_))) << what << ": the file stays";
    EXPECT_FALSE(fs::exists(MarkerOf(key_))) << what;
  }

  std::string whole_;
};

TEST_F(DamageTest, complete_file_is_a_hit) {
  WriteFile(PathOf(key_), whole_);
  EXPECT_TRUE(Load(key_)) << problem_;
}

TEST_F(DamageTest, truncated_file_is_a_miss) {
  for (size_t size = 0; size < whole_.size(); size += 64) {
    ExpectMiss(whole_.substr(0, size), "cut off at " + std::to_string(size));
  }
  ExpectMiss(whole_.substr(0, whole_.size() - 1), "without its last byte");
}

TEST_F(DamageTest, flipped_byte_is_a_miss) {
  for (size_t at = 0; at < whole_.size(); at += at < 128 ? 1 : 61) {
    for (const int bits : {0x01, 0x80, 0xff}) {
      std::string bytes = whole_;
      bytes[at] = static_cast<char>(bytes[at] ^ bits);
      ExpectMiss(bytes, "byte " + std::to_string(at) + " flipped");
    }
  }
}

TEST_F(DamageTest, longer_file_is_a_miss) {
  ExpectMiss(whole_ + '\0', "one byte more");
  ExpectMiss(whole_ + whole_, "twice");
}

TEST_F(DamageTest, entry_of_another_key_is_a_miss) {
  const Digest other = Sha256Of("two");
  WriteFile(PathOf(other), whole_);
  EXPECT_FALSE(Load(other));
  EXPECT_THAT(problem_, HasSubstr("the key belongs to another program"));
}

// A file with a valid digest may still have invalid records.
TEST_F(DamageTest, length_of_records_beyond_the_file_is_a_miss) {
  for (const std::string& length : {std::string(8, '\xff'), std::string("\2\0\0\0\0\0\0\0", 8)}) {
    const std::string payload = length + "ab";
    const Digest digest = Sha256Of(payload);
    std::string bytes = whole_.substr(0, 44) + std::string("\xa\0\0\0\0\0\0\0", 8);
    bytes.append(digest.begin(), digest.end()).append(payload);
    ExpectMiss(bytes, "records");
    EXPECT_THAT(problem_, HasSubstr("no binary in the file"));
  }
}

TEST_F(CacheTest, other_than_regular_files_are_misses) {
  ASSERT_TRUE(fs::create_directory(PathOf(key_)));
  EXPECT_FALSE(Load(key_));
  EXPECT_NE(problem_, "");
  EXPECT_NE(cache_->Store(key_, "binary", ""), "");
  const Digest link = Sha256Of("link");
  ASSERT_EQ(cache_->Store(link, "binary", ""), "");
  fs::rename(PathOf(link), root_ + "/elsewhere");
  fs::create_symlink(root_ + "/elsewhere", PathOf(link));
  EXPECT_FALSE(Load(link));
  EXPECT_NE(problem_, "");
  const Digest pipe = Sha256Of("pipe");
  ASSERT_EQ(mkfifo(PathOf(pipe).c_str(), 0600), 0);
  EXPECT_FALSE(Load(pipe));
  EXPECT_NE(problem_, "");
}

TEST_F(CacheTest, folder_is_created_for_the_user_only) {
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms::owner_all);
  ASSERT_EQ(cache_->Store(key_, "binary", ""), "");
  EXPECT_EQ(fs::status(PathOf(key_)).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(CacheTest, folder_that_others_can_write_to_is_refused) {
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder_, fs::perms::owner_all | others);
    EXPECT_EQ(Open(folder_), nullptr);
    EXPECT_THAT(problem_,
                HasSubstr("program cache '" + folder_ + "': the directory is writable by others"));
  }
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
  EXPECT_NE(Open(folder_), nullptr) << problem_;
}

TEST_F(CacheTest, folder_of_another_user_is_refused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give a folder away";
  ASSERT_EQ(chown(folder_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(Open(folder_), nullptr);
  EXPECT_THAT(problem_, HasSubstr("the directory belongs to another user"));
}

TEST_F(CacheTest, failure_to_create_the_folder_is_reported) {
  WriteFile(root_ + "/file", "");
  EXPECT_EQ(Open(root_ + "/file"), nullptr);
  EXPECT_THAT(problem_, HasSubstr("Not a directory"));
  EXPECT_EQ(Open(root_ + "/file/below"), nullptr);
  EXPECT_EQ(Open(""), nullptr);
}

TEST_F(CacheTest, missing_folder_is_reported) {
  fs::remove_all(folder_);
  EXPECT_THAT(cache_->Store(key_, "binary", ""), HasSubstr("No such file or directory"));
  EXPECT_FALSE(Load(key_));
}

TEST_F(CacheTest, least_recently_used_entry_is_evicted_first) {
  cache_ = Open(folder_, 3500);
  const std::string binary(1000, 'x');
  const std::vector<Digest> keys = {Sha256Of("a"), Sha256Of("b"), Sha256Of("c"), Sha256Of("d")};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(cache_->Store(keys[i], binary, ""), "");
    SetAge(PathOf(keys[i]), 300 - 100 * i);
  }
  EXPECT_TRUE(Load(keys[0]));  // keys[1] is now the least recently used one
  EXPECT_EQ(cache_->Store(keys[3], binary, ""), "");
  EXPECT_TRUE(fs::exists(PathOf(keys[0])));
  EXPECT_FALSE(fs::exists(PathOf(keys[1])));
  EXPECT_TRUE(fs::exists(PathOf(keys[2])));
  EXPECT_TRUE(fs::exists(PathOf(keys[3])));
}

TEST_F(CacheTest, eviction_keeps_foreign_files_and_removes_old_temporary_ones) {
  cache_ = Open(folder_, 1200);
  WriteFile(folder_ + "/notes.txt", std::string(5000, 'x'));
  WriteFile(folder_ + "/dead.glcl.1.2.tmp", "half");
  WriteFile(folder_ + "/busy.glcl.1.2.tmp", "half");
  SetAge(folder_ + "/dead.glcl.1.2.tmp", 7200);
  ASSERT_EQ(cache_->Store(key_, std::string(1000, 'x'), ""), "");
  EXPECT_TRUE(fs::exists(folder_ + "/notes.txt"));
  EXPECT_FALSE(fs::exists(folder_ + "/dead.glcl.1.2.tmp"));
  EXPECT_TRUE(fs::exists(folder_ + "/busy.glcl.1.2.tmp"));
  EXPECT_TRUE(Load(key_));
}

TEST_F(CacheTest, too_large_or_empty_programs_are_not_stored) {
  cache_ = Open(folder_, 1000);
  EXPECT_THAT(cache_->Store(key_, std::string(1000, 'x'), ""),
              HasSubstr("exceeds the cache limit of"));
  EXPECT_NE(cache_->Store(key_, "", "tuning"), "");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(CacheTest, file_larger_than_the_cache_is_not_read) {
  WriteFile(PathOf(key_), std::string((1 << 20) + 1000, 'x'));
  EXPECT_FALSE(Load(key_));
  EXPECT_THAT(problem_, HasSubstr("is not a file of at most"));
}

TEST_F(CacheTest, discarded_entry_is_removed) {
  ASSERT_EQ(cache_->Store(key_, "binary", ""), "");
  cache_->Discard(key_);
  EXPECT_FALSE(Load(key_));
  EXPECT_EQ(problem_, "");
}

TEST_F(CacheTest, marker_exists_while_an_entry_is_loaded) {
  ASSERT_EQ(cache_->Store(key_, "binary", ""), "");
  {
    auto program = Load(key_);
    ASSERT_TRUE(program);
    EXPECT_TRUE(fs::exists(MarkerOf(key_)));
    const auto moved = std::move(*program);
    program.reset();
    EXPECT_TRUE(fs::exists(MarkerOf(key_)));
  }
  EXPECT_FALSE(fs::exists(MarkerOf(key_)));
}

TEST_F(CacheTest, marker_of_a_running_process_blocks_no_other) {
  ASSERT_EQ(cache_->Store(key_, "binary", ""), "");
  {
    const auto first = Load(key_);
    {
      const auto second = Load(key_);
      EXPECT_TRUE(second) << problem_;
    }
    EXPECT_TRUE(fs::exists(MarkerOf(key_))) << "the second one's end is not the first one's";
  }
  EXPECT_FALSE(fs::exists(MarkerOf(key_)));
}

// Two processes store and load the same entry, and both evict other entries: a loaded entry must
// always be complete, from one process or the other.
TEST_F(CacheTest, two_processes_find_complete_entries) {
  cache_ = Open(folder_, 6000);
  const auto live = [&](char letter) {
    const std::string binary(2000, letter);
    int wrong = 0;
    for (int round = 0; round < 60; ++round) {
      std::string problem;
      wrong += cache_->Store(key_, binary, "").empty() ? 0 : 1;
      wrong += cache_->Store(Sha256Of(letter + std::to_string(round)), binary, "").empty() ? 0 : 1;
      const auto program = cache_->Load(key_, &problem);
      if (!problem.empty()) ++wrong;
      if (program && program->binary != std::string(2000, program->binary[0])) ++wrong;
    }
    return wrong;
  };
  const pid_t child = fork();
  if (child == 0) _exit(std::min(live('a'), 100));
  EXPECT_EQ(live('b'), 0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(MarkerOf(key_)));
}

TEST_F(CacheTest, entry_that_crashed_a_process_is_skipped_for_a_day) {
  ASSERT_EQ(cache_->Store(key_, "binary", ""), "");
  CrashLoading(key_);
  ASSERT_TRUE(fs::exists(MarkerOf(key_)));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(Load(key_));
    EXPECT_THAT(problem_, HasSubstr("skipped because a process ended while loading it"));
  }
  EXPECT_TRUE(fs::exists(PathOf(key_)));
  SetAge(MarkerOf(key_), 25 * 3600);
  EXPECT_FALSE(Load(key_));
  EXPECT_THAT(problem_, HasSubstr("deleted because a process ended"));
  EXPECT_FALSE(fs::exists(PathOf(key_)));
  EXPECT_FALSE(fs::exists(MarkerOf(key_)));
  ASSERT_EQ(cache_->Store(key_, "binary", ""), "");
  EXPECT_TRUE(Load(key_)) << problem_;
}

// Root may write to read-only folders, so the test runs as user 65534 if it is root.
TEST_F(CacheTest, read_only_folder_can_be_loaded_from) {
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(chown(root_.c_str(), 65534, 65534), 0);
    ASSERT_EQ(seteuid(65534), 0);
  }
  const std::string folder = root_ + "/mine";
  cache_ = Open(folder);
  ASSERT_NE(cache_, nullptr) << problem_;
  EXPECT_EQ(cache_->Store(key_, "binary", ""), "");
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(Load(key_)) << problem_;
  EXPECT_THAT(cache_->Store(key_, "other", ""), HasSubstr("Permission denied"));
  fs::permissions(folder, fs::perms::owner_all);
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_cache_test
