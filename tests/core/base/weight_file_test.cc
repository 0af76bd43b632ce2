// SPDX-License-Identifier: Apache-2.0
//
// Tests the file of packed constants: a second store reads the values of the first one. A file that
// is damaged, or was written for another model or build, is a miss and is replaced.
#include "core/base/weight_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/base/packed_constants.h"

namespace deputy::weight_file_test {
namespace {

const char kForms[3] = {};
constexpr int kValues = 12;

size_t BytesOf(int value) { return static_cast<size_t>(1 + value * 777); }

// A store with a file, whose values are functions of their index.
class Store {
 public:
  Store(const std::string& path, const std::vector<uint8_t>& model, const std::string& code = "x") {
    EXPECT_TRUE(constants_.UseFile(path, {model, -1, code}));
    model_ = model.data();
  }

  static std::string Expected(int value) {
    std::string bytes(BytesOf(value), '\0');
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(i * 31 + i / 256 + value);
    return bytes;
  }

  // Returns true if the value is as expected.
  bool Check(int value, const std::string& parameters = "") {
    const PackedKey key = {model_ + value, &kForms[value % 3], {value, 7}};
    const std::string expected = Expected(value);
    const char* const data = constants_.FindOrMake(
        key, expected.size(), Limits(), nullptr,
        [&](char* out) { std::memcpy(out, expected.data(), expected.size()); }, parameters);
    return data != nullptr && std::string(data, expected.size()) == expected;
  }
  bool CheckAll() {
    bool good = true;
    for (int value = 0; value < kValues; ++value) good = Check(value) && good;
    return good;
  }
  PackedConstants& constants() { return constants_; }
  WeightFileUse use() const { return constants_.file_use(); }

 private:
  PackedConstants constants_;
  const uint8_t* model_ = nullptr;
};

class WeightFileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/deputy_weights.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/weights";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void WriteAll() {
    Store store(path_, model_);
    ASSERT_TRUE(store.CheckAll());
    ASSERT_TRUE(store.constants().SaveFile());
  }
  std::string ReadFile() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void WriteFile(const std::string& bytes) const {
    std::filesystem::remove(path_);  // rewriting a file in place is synchronised
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  size_t FileCount() const {
    const std::filesystem::directory_iterator files(folder_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  std::vector<uint8_t> model_ = std::vector<uint8_t>(100, 5);
  std::string folder_, path_;
};

TEST_F(WeightFileTest, a_second_store_computes_nothing) {
  {
    Store store(path_, model_);
    ASSERT_TRUE(store.CheckAll());
    EXPECT_EQ(store.use().state, WeightFileState::kAbsent);
    EXPECT_EQ(store.use().packed, kValues);
    EXPECT_EQ(store.use().mapped_bytes, 0u);
    ASSERT_TRUE(store.constants().SaveFile());
    // The values are now in pages of the file, at their former addresses.
    EXPECT_EQ(store.use().mapped_bytes, store.constants().bytes());
    EXPECT_TRUE(store.CheckAll());
    EXPECT_EQ(store.use().packed, kValues);
  }
  Store store(path_, model_);
  ASSERT_TRUE(store.CheckAll());
  EXPECT_EQ(store.use().state, WeightFileState::kUsable);
  EXPECT_EQ(store.use().reused, kValues);
  EXPECT_EQ(store.use().packed, 0);
  EXPECT_EQ(store.use().mapped_bytes, store.constants().bytes());
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(WeightFileTest, values_of_other_memory_than_the_model_can_be_read_again) {
  static const char kOther = 1;
  Store store(path_, model_);
  const auto find = [&store] {
    const PackedKey key = {&kOther, &kForms[0], {}};
    return store.constants().FindOrMake(key, 100, Limits(), nullptr,
                                        [](char* out) { std::memset(out, 7, 100); });
  };
  store.constants().BeginUse();
  ASSERT_TRUE(store.Check(3));
  ASSERT_EQ(std::string(find(), 100), std::string(100, 7));
  ASSERT_TRUE(store.constants().SaveFile());
  // Values that no interpreter uses are discarded.
  store.constants().EndUse();
  store.constants().BeginUse();
  EXPECT_TRUE(store.Check(3));
  EXPECT_EQ(std::string(find(), 100), std::string(100, 7));
  EXPECT_EQ(store.use().packed, 1);
}

TEST_F(WeightFileTest, files_of_other_kinds_are_not_replaced) {
  std::filesystem::create_symlink("nowhere", path_ + "1");
  ASSERT_EQ(mkfifo((path_ + "2").c_str(), 0600), 0);
  for (const std::string& path : {path_ + "1", path_ + "2"}) {
    Store store(path, model_);
    EXPECT_TRUE(store.CheckAll());
    EXPECT_FALSE(store.constants().SaveFile());
    EXPECT_FALSE(std::filesystem::is_regular_file(path));
    EXPECT_TRUE(store.CheckAll());
  }
  EXPECT_EQ(FileCount(), 2u);
}

TEST_F(WeightFileTest, values_are_added) {
  WriteAll();
  {
    Store store(path_, model_);
    EXPECT_TRUE(store.Check(0));
    EXPECT_TRUE(store.Check(1, "other parameters"));
    EXPECT_EQ(store.use().reused, 1);
    EXPECT_EQ(store.use().packed, 1);
    EXPECT_TRUE(store.constants().SaveFile());
    EXPECT_TRUE(store.Check(2, "more parameters"));
    EXPECT_TRUE(store.constants().SaveFile());
    EXPECT_TRUE(store.Check(1, "other parameters"));
  }
  Store store(path_, model_);
  EXPECT_TRUE(store.CheckAll());
  EXPECT_TRUE(store.Check(1, "other parameters"));
  EXPECT_TRUE(store.Check(2, "more parameters"));
  EXPECT_EQ(store.use().reused, kValues + 2);
  EXPECT_EQ(store.use().packed, 0);
}

TEST_F(WeightFileTest, values_computed_from_values_are_stored) {
  for (const int64_t reused : {0, 2}) {
    Store store(path_, model_);
    ASSERT_TRUE(store.Check(3));
    const PackedKey first = {model_.data() + 3, &kForms[0], {3, 7}};
    const char* const source =
        store.constants().FindOrMake(first, 1, Limits(), nullptr, [](char*) {});
    const PackedKey second = {source, &kForms[1], {}};
    const char* const data = store.constants().FindOrMake(
        second, 3, Limits(), nullptr, [](char* out) { std::memcpy(out, "abc", 3); });
    EXPECT_EQ(std::string(data, 3), "abc");
    EXPECT_TRUE(store.constants().Contains(data));
    EXPECT_EQ(store.use().reused, reused);
    ASSERT_TRUE(store.constants().SaveFile());
  }
}

TEST_F(WeightFileTest, discarded_values_are_read_again) {
  PackedConstants::OverwriteDiscarded(true);
  for (const bool is_first : {true, false}) {
    Store store(path_, model_);
    store.constants().BeginUse();
    EXPECT_TRUE(store.CheckAll());
    const size_t bytes = store.constants().bytes();
    EXPECT_TRUE(store.constants().SaveFile());
    store.constants().EndUse();
    EXPECT_EQ(store.constants().bytes(), 0u);
    store.constants().BeginUse();
    EXPECT_TRUE(store.CheckAll());
    EXPECT_TRUE(store.Check(kValues));  // a new value, after the mapped ones
    EXPECT_EQ(store.use().packed, is_first ? kValues + 1 : 1);
    EXPECT_EQ(store.constants().bytes(), bytes + BytesOf(kValues));
    store.constants().EndUse();
  }
  PackedConstants::OverwriteDiscarded(false);
}

TEST_F(WeightFileTest, files_of_other_models_and_builds_are_replaced) {
  WriteAll();
  const std::vector<uint8_t> changed = [&] {
    std::vector<uint8_t> model = model_;
    model[99] ^= 1;
    return model;
  }();
  Store other(path_, changed);
  EXPECT_TRUE(other.CheckAll());
  EXPECT_EQ(other.use().state, WeightFileState::kOtherModel);
  EXPECT_EQ(other.use().reused, 0);
  EXPECT_TRUE(other.constants().SaveFile());

  Store processor(path_, changed, "y");
  EXPECT_TRUE(processor.CheckAll());
  EXPECT_EQ(processor.use().state, WeightFileState::kOtherCode);
  EXPECT_EQ(processor.use().reused, 0);
}

TEST_F(WeightFileTest, a_value_of_another_size_is_a_miss) {
  WriteAll();
  Store store(path_, model_);
  const PackedKey key = {model_.data(), &kForms[0], {0, 7}};
  const char* const data = store.constants().FindOrMake(
      key, 64, Limits(), nullptr, [](char* out) { std::memset(out, 'z', 64); });
  EXPECT_EQ(std::string(data, 64), std::string(64, 'z'));
}

TEST_F(WeightFileTest, damaged_values_are_computed_and_replaced) {
  WriteAll();
  std::string bytes = ReadFile();
  const std::string value = Store::Expected(5);
  const size_t at = bytes.find(value);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 100] ^= 4;
  WriteFile(bytes);
  {
    // A damaged value that is not used is not stored as a valid one.
    Store store(path_, model_);
    EXPECT_TRUE(store.Check(kValues));
    EXPECT_TRUE(store.constants().SaveFile());
  }
  Store store(path_, model_);
  EXPECT_TRUE(store.CheckAll());
  EXPECT_EQ(store.use().state, WeightFileState::kUsable);
  EXPECT_EQ(store.use().reused, kValues - 1);
  EXPECT_EQ(store.use().packed, 1);
  EXPECT_TRUE(store.constants().SaveFile());
  Store repaired(path_, model_);
  EXPECT_TRUE(repaired.CheckAll());
  EXPECT_EQ(repaired.use().packed, 0);
}

// The header contains the modification time that the writer has set. While the file has this time,
// checksums of values are not computed.
TEST_F(WeightFileTest, checksums_are_computed_if_the_file_was_changed) {
  WriteAll();
  const auto time = std::filesystem::last_write_time(path_);
  std::string bytes = ReadFile();
  bytes[bytes.find(Store::Expected(5))] ^= 1;
  WriteFile(bytes);
  std::filesystem::last_write_time(path_, time);
  EXPECT_FALSE(Store(path_, model_).Check(5));
  WriteFile(bytes);
  EXPECT_TRUE(Store(path_, model_).Check(5));
}

// The hash of the model is not computed again while the model's file is unchanged.
TEST_F(WeightFileTest, a_changed_model_file_is_noticed) {
  const std::string model_path = folder_ + "/model";
  std::ofstream(model_path) << "model";
  const int file = open(model_path.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  EXPECT_EQ(StampOf(file), FileStamp());  // too new
  EXPECT_EQ(StampOf(-1), FileStamp());
  while (StampOf(file) == FileStamp()) usleep(50'000);
  const FileStamp stamp = StampOf(file);
  EXPECT_EQ(StampOf(file), stamp);
  EXPECT_EQ(stamp.size, 5u);

  const auto state_for = [&](const std::vector<uint8_t>& model) {
    PackedConstants constants;
    EXPECT_TRUE(constants.UseFile(path_, {model, file, "x"}));
    const PackedKey key = {model.data(), kForms, {}};
    constants.FindOrMake(key, 64, Limits(), nullptr, [](char* out) { std::memset(out, 1, 64); });
    EXPECT_TRUE(constants.SaveFile());
    return constants.file_use().state;
  };
  std::vector<uint8_t> other = model_;
  other[5] ^= 1;
  EXPECT_EQ(state_for(model_), WeightFileState::kAbsent);
  EXPECT_EQ(state_for(other), WeightFileState::kUsable);  // bytes that are not those of the file
  ASSERT_EQ(pwrite(file, "MODEL", 5, 0), 5);
  EXPECT_NE(StampOf(file), stamp);
  EXPECT_EQ(state_for(other), WeightFileState::kOtherModel);
  close(file);
}

TEST_F(WeightFileTest, files_in_memory_are_used) {
  WriteAll();
  const std::string bytes = ReadFile();
  std::vector<uint8_t> memory(bytes.size() + 2 * kTensorAlignment);
  uint8_t* const aligned = memory.data() + kTensorAlignment -
                           reinterpret_cast<uintptr_t>(memory.data()) % kTensorAlignment;
  for (const size_t shift : {size_t{0}, size_t{16}}) {
    std::memcpy(aligned + shift, bytes.data(), bytes.size());
    PackedConstants constants;
    ASSERT_TRUE(constants.UseFile("", {model_, -1, "x"}, {aligned + shift, bytes.size()}));
    const std::string expected = Store::Expected(5);
    const char* const data = constants.FindOrMake(
        PackedKey{model_.data() + 5, &kForms[2], {5, 7}}, expected.size(), Limits(), nullptr,
        [&](char* out) { std::memcpy(out, expected.data(), expected.size()); });
    EXPECT_EQ(std::string(data, expected.size()), expected);
    // Values would not be aligned in shifted memory.
    EXPECT_EQ(constants.file_use().reused, shift == 0 ? 1 : 0);
    EXPECT_EQ(constants.Contains(aligned + shift), shift == 0);
    EXPECT_TRUE(constants.SaveFile());
  }
}

TEST_F(WeightFileTest, a_file_that_cannot_be_written_has_no_effect) {
  for (const std::string& path : {folder_ + "/absent/weights", folder_}) {
    Store store(path, model_);
    EXPECT_TRUE(store.CheckAll());
    EXPECT_EQ(store.use().state, WeightFileState::kAbsent);
    EXPECT_FALSE(store.constants().SaveFile());
    EXPECT_TRUE(store.constants().SaveFile());  // nothing new to write
    EXPECT_TRUE(store.CheckAll());
  }
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(WeightFileTest, concurrent_writers_succeed) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool good = true;
      for (int round = 0; round < 20; ++round) {
        Store store(path_, model_);
        good = good && store.CheckAll() && store.Check(kValues + i) &&
               store.constants().SaveFile() && store.CheckAll();
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  Store store(path_, model_);
  EXPECT_TRUE(store.CheckAll());
  EXPECT_EQ(store.use().reused, kValues);
  EXPECT_EQ(FileCount(), 1u);  // no temporary file is left
}

// Changes the bytes in one of several ways.
void Mutate(std::string* bytes, std::mt19937* random) {
  const auto below = [&](size_t limit) { return limit == 0 ? 0 : (*random)() % limit; };
  const size_t at = below(below(2) == 0 ? std::min<size_t>(bytes->size(), 700) : bytes->size());
  switch (below(6)) {
    case 0:
      bytes->resize(at);
      break;
    case 1:
      bytes->append(below(300), 'x');
      break;
    case 2: {
      const uint64_t words[] = {0, 1, UINT64_MAX, bytes->size(), uint64_t{1} << 63, 4096};
      const size_t word = at / 8 * 8;
      if (word + 8 <= bytes->size()) std::memcpy(bytes->data() + word, &words[below(6)], 8);
      break;
    }
    case 3:
      std::fill_n(bytes->begin() + static_cast<long>(at), below(bytes->size() - at), '\0');
      break;
    default:
      (*bytes)[at] ^= static_cast<char>(1 << below(8));
  }
}

// Repairs the checksum of header and index, so that mutations reach the later checks.
void Repair(std::string* bytes) {
  constexpr size_t kSum = 104, kHeader = kSum + sizeof(DeputyFingerprint);
  if (bytes->size() < kHeader) return;
  uint64_t entries;
  std::memcpy(&entries, bytes->data() + 48, sizeof entries);
  if (entries > (bytes->size() - kHeader) / sizeof(WeightFileEntry)) return;
  DeputyFingerprint sum;
  std::memset(bytes->data() + kSum, 0, sizeof sum);
  DeputyFingerprintInit(&sum);
  DeputyFingerprintAdd(&sum, bytes->data(), kHeader);
  DeputyFingerprintAdd(&sum, bytes->data() + kHeader, entries * sizeof(WeightFileEntry));
  std::memcpy(bytes->data() + kSum, &sum, sizeof sum);
}

TEST_F(WeightFileTest, mutated_files_yield_no_wrong_value) {
  WriteAll();
  const std::string original = ReadFile();
  std::string repaired = original;
  Repair(&repaired);
  ASSERT_EQ(repaired, original);
  const int count = std::getenv("DEPUTY_ALL_ROWS") == nullptr ? 3000 : 100'000;
  std::mt19937 random(1);
  std::set<WeightFileState> states;
  int64_t reused = 0, packed = 0;
  for (int i = 0; i < count; ++i) {
    std::string bytes = original;
    for (unsigned n = 1 + random() % 3; n > 0 && !bytes.empty(); --n) Mutate(&bytes, &random);
    if (random() % 2 == 0) Repair(&bytes);
    WriteFile(bytes);
    Store store(path_, model_);
    ASSERT_TRUE(store.CheckAll()) << "mutation " << i;
    states.insert(store.use().state);
    reused += store.use().reused;
    packed += store.use().packed;
    if (i % 64 != 0) continue;
    ASSERT_TRUE(store.constants().SaveFile());
    Store second(path_, model_);
    ASSERT_TRUE(second.CheckAll()) << "mutation " << i;
    ASSERT_EQ(second.use().packed, 0) << "mutation " << i;
  }
  EXPECT_EQ(states.size(), 5u);
  EXPECT_GT(reused, count);
  EXPECT_GT(packed, count);
}

TEST(ThisModule, contains_this_test_and_has_a_build_id) {
  const LoadedModule& module = ThisModule();
  const auto here = reinterpret_cast<uintptr_t>(&kForms);
  EXPECT_LT(module.begin, here);
  EXPECT_GT(module.end, here);
  EXPECT_GE(module.build_id.size(), 16u);
}

TEST(FingerprintOf, differs_for_every_changed_byte_and_size) {
  std::string bytes(300, 'a');
  std::set<std::pair<uint64_t, uint64_t>> seen;
  const auto add = [&](size_t size) {
    const DeputyFingerprint sum = FingerprintOf(bytes.data(), size);
    return seen.insert({sum.words[0], sum.words[1]}).second;
  };
  for (size_t size = 0; size <= bytes.size(); ++size) EXPECT_TRUE(add(size)) << size;
  for (char& byte : bytes) {
    byte ^= 1;
    EXPECT_TRUE(add(bytes.size()));
    byte ^= 1;
  }
}

}  // namespace
}  // namespace deputy::weight_file_test
