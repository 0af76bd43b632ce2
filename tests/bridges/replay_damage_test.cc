// SPDX-License-Identifier: Apache-2.0
//
// Replays damaged records with the delegate `replay`. DEPUTY_ALL_ROWS=1 replays 100 000 of them.
// Sanitizers report a fault.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "bridges/layers/record/record_chunks.h"
#include "bridges/layers/record/record_file.h"
#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/bridges/record_damage.h"
#include "tests/support/add_mul_add.h"
#include "tests/support/delegate_support.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::replay_damage_test {
namespace {

using record::Record;

// Number of damaged records that one test replays. Records that the reader refuses do not count.
// The records are split into kSeeds tests, which can run in parallel.
constexpr int kSeeds = 10;
int Replays() { return (std::getenv("DEPUTY_ALL_ROWS") == nullptr ? 2000 : 100000) / kSeeds; }

// Runs a host program's calls, whatever their status: two inferences, a resize and an inference.
// Returns the outputs of the first inference that succeeds, nothing if there is none.
std::vector<float> RunHost(TfLiteDelegate* delegate, DeputyDelegatePolicy policy) {
  TestInterpreter t(AddMulDouble(), [policy](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
  });
  std::vector<float> outputs;
  if (TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate) != kTfLiteOk) return outputs;
  for (const std::vector<int>& shape : {std::vector<int>{2}, {2}, {1, 2}}) {
    if (t.Resize(0, shape) != kTfLiteOk || t.Allocate() != kTfLiteOk) continue;
    t.Set<float>(0, {1, 2});
    if (t.Invoke() == kTfLiteOk && outputs.empty()) outputs = t.Get<float>(0);
  }
  return outputs;
}

// A scratch file, which the destructor removes. Each has another path, since the layer `record`
// appends a number to a path that the process has recorded to before.
class File {
 public:
  File()
      : path_(ScratchFile(std::to_string(getpid()) + "_" + std::to_string(count_++) +
                          "damage.rec")) {}
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  const std::string path_;
};

// A file in memory. A file system may write a file that was truncated and rewritten to the disk at
// once, which would slow down each replay.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("record", MFD_CLOEXEC)) {}
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }
  void Set(const std::string& bytes) const {
    ASSERT_EQ(ftruncate(file_, 0), 0);
    ASSERT_EQ(pwrite(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

 private:
  const int file_;
};

std::string Encode(const Record& record) {
  std::string bytes = record::Header();
  const auto append = [&](record::ChunkKind kind, const std::string& payload) {
    bytes += record::ChunkHead(kind, payload) + payload;
  };
  if (record.session) append(record::ChunkKind::kSession, record::Encode(*record.session));
  for (const record::Call& call : record.calls) {
    append(record::ChunkKind::kCallBegin, record::Encode(call.begin));
    if (call.end) append(record::ChunkKind::kCallEnd, record::Encode(*call.end));
  }
  return bytes;
}

Record Read(const File& file) {
  Record record;
  EXPECT_EQ(record::ReadRecordFile(file.path(), &record), "");
  return record;
}

// Records the calls of RunHost to a plug-in of the tests.
Record RecordOf(const std::string& plugin, const std::string& options) {
  const File file;
  const Handle delegate(
      CreateExternal(BuildPath("libdeputy_layers.so"), {{"library", Library(plugin)},
                                                        {"options", options},
                                                        {"layers", "record=" + file.path()}}),
      &DeputyPluginDeleteDelegate);
  (void)RunHost(delegate.get(), kDeputyPolicyTfLite);
  return Read(file);
}

// Likewise, to a delegate whose outputs are in buffer handles.
Record RecordOfHandles() {
  const File file;
  Scripted script({0, 2});
  script->outputs_on_device = true;
  const Handle layered = WithLayers(script.get(), "record=" + file.path());
  EXPECT_EQ(RunHost(layered.get(), kDeputyPolicyTfLite), (std::vector<float>{12, 24}));
  return Read(file);
}

class ReplayDamage : public QuietTest, public testing::WithParamInterface<int> {
 protected:
  ReplayDamage() {
    records_ = {RecordOf("elementwise", "ops=0"), RecordOf("opaque", ""), RecordOfHandles(),
                RecordOf("faulty", "fault=status;in=invoke")};
    for (const Record& record : records_) EXPECT_GE(record.calls.size(), 10u);
  }

  // Returns true if the reader has accepted the record.
  bool Replay(const std::string& bytes, DeputyDelegatePolicy policy, std::vector<float>* outputs) {
    file_.Set(bytes);
    const Handle delegate(
        CreateExternal(BuildPath("libdeputy_replay.so"), {{"record", file_.path()}}),
        &DeputyPluginDeleteDelegate);
    if (delegate == nullptr) return false;
    *outputs = RunHost(delegate.get(), policy);
    return true;
  }

  std::vector<Record> records_;
  const MemoryFile file_;
};

TEST_P(ReplayDamage, an_undamaged_record_is_replayed) {
  for (const Record& record : records_) {
    std::vector<float> outputs;
    EXPECT_TRUE(Replay(Encode(record), kDeputyPolicyTfLite, &outputs));
    EXPECT_EQ(outputs, (std::vector<float>{12, 24}));
  }
}

TEST_P(ReplayDamage, damaged_records_are_survived) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  int replays = 0, complete = 0;
  const int count = Replays();
  for (unsigned i = 0; replays < count; ++i) {
    Record record = records_[random() % records_.size()];
    RecordMutator mutator(static_cast<unsigned>(random()));
    for (unsigned changes = random() % 3; changes > 0; --changes) mutator.Change(&record);
    for (unsigned changes = random() % 4; changes > 0; --changes) mutator.ChangeStructure(&record);
    std::string bytes = Encode(record);
    if (i % 2 == 0) bytes = DamagedRecord(SplitRecord(bytes), &random);
    const auto policy = random() % 2 == 0 ? kDeputyPolicyTfLite : kDeputyPolicyHot;
    std::vector<float> outputs;
    if (!Replay(bytes, policy, &outputs)) continue;
    ++replays;
    complete += outputs.empty() ? 0 : 1;
  }
  // Under the policy Hot the CPU computes the partitions that cannot be replayed.
  EXPECT_GT(complete, count / 3);
  EXPECT_LT(complete, count * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(, ReplayDamage, testing::Range(0, kSeeds));

}  // namespace
}  // namespace deputy::replay_damage_test
