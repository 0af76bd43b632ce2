// SPDX-License-Identifier: Apache-2.0
//
// Tests the layer `record`, the delegate `replay`, and `deputy replay`, which repeats a record with
// a delegate: each changed argument of a record is noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bridges/layers/record/record_file.h"
#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "core/kernel_api/runtime.h"
#include "tests/bridges/record_damage.h"
#include "tests/support/add_mul_add.h"
#include "tests/support/delegate_support.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::record_replay_test {
namespace {

using record::Call;
using record::Contents;
using record::Function;
using record::Record;
using record::TensorValue;
using Ints = std::vector<int32_t>;

const std::vector<float> kInput = {1, 2};
const std::vector<float> kOutput = {12, 24};

// An interpreter with a delegate of a plug-in under the policy TfLite.
class Applied {
 public:
  Applied(const std::string& library, const Options& options,
          std::vector<uint8_t> model = AddMulDouble())
      : delegate_(CreateExternal(library, options), &DeputyPluginDeleteDelegate) {
    t.emplace(std::move(model), [](TfLiteInterpreterOptions* settings) {
      DeputyInterpreterOptionsSetDelegatePolicy(settings, kDeputyPolicyTfLite);
    });
    if (delegate_ == nullptr) return;
    applied = TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate_.get());
    if (applied == kTfLiteOk) applied = t->Allocate();
  }
  ~Applied() { t.reset(); }
  Applied(const Applied&) = delete;
  Applied& operator=(const Applied&) = delete;

  TfLiteStatus Invoke(const std::vector<float>& input) {
    t->Set<float>(0, input);
    return t->Invoke();
  }
  std::vector<float> Output() { return t->Get<float>(0); }
  int Partitions() const { return DeputyInterpreterGetPartitionCount(t->get(), 0); }

 private:
  const Handle delegate_;

 public:
  std::optional<TestInterpreter> t;
  TfLiteStatus applied = kTfLiteError;
};

class RecordReplay : public QuietTest {
 protected:
  ~RecordReplay() override {
    for (const std::string& file : files_) std::filesystem::remove(file);
  }

  // Returns the path of a new file that is removed at the end of the test.
  std::string File(const std::string& name) {
    static int count = 0;
    files_.push_back(ScratchFile(std::to_string(count++) + name));
    return files_.back();
  }
  // Records two inferences of a plug-in of the tests; returns the path of the record.
  std::string RecordPlugin(const std::string& name, const std::string& flags = "") {
    std::string path = File(name + ".rec");
    Applied run(BuildPath("libdeputy_layers.so"),
                {{"library", Library(name)},
                 {"options", name == "elementwise" ? "ops=0" : ""},
                 {"layers", "record=" + path + flags}});
    EXPECT_EQ(run.applied, kTfLiteOk) << run.t->log();
    EXPECT_EQ(run.Invoke(kInput), kTfLiteOk) << run.t->log();
    EXPECT_EQ(run.Output(), kOutput);
    EXPECT_EQ(run.Invoke({5, -3}), kTfLiteOk);
    return path;
  }

 private:
  std::vector<std::string> files_;
};

Record Read(const std::string& path) {
  Record record;
  EXPECT_EQ(record::ReadRecordFile(path, &record), "");
  return record;
}

void Write(const Record& record, const std::string& path) {
  std::string problem;
  const auto writer = record::Writer::Open(path, uint64_t{1} << 30, &problem);
  ASSERT_NE(writer, nullptr) << problem;
  if (record.session) writer->Write(*record.session);
  if (record.model) writer->Write(*record.model);
  for (const Call& call : record.calls) {
    writer->Write(call.begin);
    if (call.end) writer->Write(*call.end);
  }
}

Options Replayed(const std::string& path) { return {{"record", path}}; }

TEST_F(RecordReplay, records_each_call_with_its_arguments) {
  const Record record = Read(RecordPlugin("elementwise"));
  ASSERT_TRUE(record.session && record.model);
  EXPECT_EQ(record.session->library, Library("elementwise"));
  EXPECT_EQ(record.session->options[0], std::pair(std::string("ops"), std::string("0")));
  EXPECT_EQ(record.model->bytes, AddMulDouble().size());
  EXPECT_FALSE(record.model->has_data);
  std::vector<Function> functions;
  for (const Call& call : record.calls) {
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->status, kTfLiteOk);
    functions.push_back(call.begin.function);
  }
  using enum Function;
  ASSERT_EQ(functions,
            (std::vector<Function>{kDelegatePrepare, kReplace, kInit, kInit, kPrepare, kPrepare,
                                   kInvoke, kInvoke, kInvoke, kInvoke, kFree, kFree}));
  EXPECT_EQ(record.calls[0].begin.nodes, (Ints{0, 1, 2}));
  EXPECT_EQ(record.calls[1].begin.nodes, (Ints{0, 2}));
  EXPECT_EQ(record.calls[2].begin.nodes, (Ints{0}));
  EXPECT_EQ(record.calls[3].begin.nodes, (Ints{2}));
  EXPECT_EQ(record.calls[3].begin.kernel, 1);
  EXPECT_EQ(record.calls[3].begin.inputs, (Ints{3}));
  EXPECT_EQ(record.calls[3].begin.outputs, (Ints{4}));
  const Call& last = record.calls[9];
  ASSERT_EQ(last.begin.tensors.size(), 1u);
  EXPECT_EQ(last.begin.tensors[0].name, "product");
  EXPECT_EQ(last.begin.tensors[0].dims, (Ints{2}));
  const float product[] = {30, -18}, z[] = {60, -36};
  EXPECT_EQ(last.begin.tensors[0].data,
            std::string_view(reinterpret_cast<const char*>(product), sizeof product));
  EXPECT_EQ(last.end->tensors.at(0).data,
            std::string_view(reinterpret_cast<const char*>(z), sizeof z));
}

TEST_F(RecordReplay, the_options_of_the_layer_have_effects) {
  Record record = Read(RecordPlugin("elementwise", ",digests"));
  EXPECT_EQ(record.calls[9].begin.tensors[0].contents, Contents::kDigest);
  record = Read(RecordPlugin("elementwise", ",model"));
  const std::vector<uint8_t> model = AddMulDouble();
  EXPECT_EQ(record.model->data,
            std::string_view(reinterpret_cast<const char*>(model.data()), model.size()));
  const Options options = {{"library", Library("elementwise")}, {"layers", "record=/nowhere/x"}};
  EXPECT_EQ(
      CreationError(BuildPath("libdeputy_layers.so"), options),
      "the plug-in returned NULL: layer 'record': cannot open '/nowhere/x' for writing: No such "
      "file or directory)");
  for (const char* const wrong : {"", "x,data", "x,max_mb=0", "x,max_mb=1k"}) {
    const Options wrong_options = {{"library", Library("elementwise")},
                                   {"layers", std::string("record=") + wrong}};
    EXPECT_NE(CreationError(BuildPath("libdeputy_layers.so"), wrong_options), "") << wrong;
  }
}

TEST_F(RecordReplay, a_replayed_record_gives_the_recorded_results) {
  for (const char* const name : {"elementwise", "opaque", "faulty"}) {
    SCOPED_TRACE(name);
    Applied run(BuildPath("libdeputy_replay.so"), Replayed(RecordPlugin(name)));
    ASSERT_EQ(run.applied, kTfLiteOk) << run.t->log();
    EXPECT_EQ(run.Partitions(), 2);
    EXPECT_EQ(run.Invoke(kInput), kTfLiteOk) << run.t->log();
    EXPECT_EQ(run.Output(), kOutput);
    EXPECT_EQ(run.Invoke({5, -3}), kTfLiteOk) << run.t->log();
    EXPECT_EQ(run.Output(), (std::vector<float>{60, -36}));
    EXPECT_NE(run.Invoke(kInput), kTfLiteOk);
    EXPECT_NE(run.t->log().find("invoke of kernel 0 is not in the record: the record ends"),
              std::string::npos)
        << run.t->log();
  }
}

TEST_F(RecordReplay, a_replayed_record_refuses_other_inputs) {
  Applied run(BuildPath("libdeputy_replay.so"), Replayed(RecordPlugin("elementwise")));
  EXPECT_NE(run.Invoke({1, 3}), kTfLiteOk);
  EXPECT_NE(run.t->log().find("replay: call 7 (invoke of kernel 0): tensor 0 'x': its data differ "
                              "from the record"),
            std::string::npos)
      << run.t->log();
}

TEST_F(RecordReplay, a_replayed_record_writes_only_outputs_of_its_nodes) {
  Record record = Read(RecordPlugin("elementwise"));
  ASSERT_EQ(record.calls[6].begin.function, Function::kInvoke);
  record.calls[6].end->tensors.at(0).index = 1;  // 'c', a constant
  const std::string changed = File("index.rec");
  Write(record, changed);
  Applied run(BuildPath("libdeputy_replay.so"), Replayed(changed));
  EXPECT_NE(run.Invoke(kInput), kTfLiteOk);
  EXPECT_NE(run.t->log().find("replay: tensor 1 'two_x': it is no output of the node"),
            std::string::npos)
      << run.t->log();
}

TEST_F(RecordReplay, a_replayed_record_repeats_failures_and_their_texts) {
  const std::string path = File("failed.rec");
  {
    Applied run(BuildPath("libdeputy_layers.so"), {{"library", Library("faulty")},
                                                   {"options", "fault=status;in=invoke"},
                                                   {"layers", "record=" + path}});
    EXPECT_NE(run.Invoke(kInput), kTfLiteOk);
  }
  Applied run(BuildPath("libdeputy_replay.so"), Replayed(path));
  EXPECT_NE(run.Invoke(kInput), kTfLiteOk);
  EXPECT_NE(run.t->log().find("no device\n7\n"), std::string::npos) << run.t->log();
}

// The sanitizers report the signal and exit with a status of their own.
#if defined(__SANITIZE_THREAD__)
const testing::ExitedWithCode kCrash(66);
constexpr int kCommandRuns = 10;
#elif defined(__SANITIZE_ADDRESS__)
const testing::ExitedWithCode kCrash(1);
constexpr int kCommandRuns = 10;  // each takes a second
#else
const testing::KilledBySignal kCrash(SIGSEGV);
constexpr int kCommandRuns = 100;
#endif

TEST_F(RecordReplay, a_call_that_has_not_returned_is_an_error_or_a_crash) {
  const std::string path = RecordPlugin("elementwise");
  Record record = Read(path);
  record.calls.resize(8);
  record.calls[7].end.reset();
  const std::string cut = File("cut.rec");
  Write(record, cut);
  Applied run(BuildPath("libdeputy_replay.so"), Replayed(cut));
  EXPECT_NE(run.Invoke(kInput), kTfLiteOk);
  EXPECT_NE(run.t->log().find("call 8 (invoke of kernel 1) has not returned in the record"),
            std::string::npos)
      << run.t->log();
  EXPECT_EXIT(
      {
        Applied crash(BuildPath("libdeputy_replay.so"), {{"record", cut}, {"crash", "1"}});
        (void)crash.Invoke(kInput);
      },
      kCrash, "");
}

TEST_F(RecordReplay, errors_of_a_delegates_threads_are_recorded) {
  const std::string path = File("threads.rec");
  {
    Programmed reporting([](TfLiteContext* context, TfLiteDelegate*) {
      std::thread([context] { context->ReportError(context, "slow %s", "device"); }).join();
      return kTfLiteOk;
    });
    const Handle layered = WithLayers(&reporting.base, "record=" + path);
    TestInterpreter t(AddMulDouble());
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), layered.get()), kTfLiteOk);
    EXPECT_EQ(t.log(), "slow device\n");
  }
  EXPECT_EQ(Read(path).calls.at(0).end->errors, "slow device");
}

TEST_F(RecordReplay, builtin_kernels_of_a_recorded_delegate_have_the_interpreters_arithmetic) {
  Arithmetic arithmetic = Arithmetic::kDefault;
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    arithmetic = ArithmeticOf(context);
    return kTfLiteOk;
  });
  const Handle layered = WithLayers(&delegate.base, "record=" + File("arithmetic.rec"));
  TestInterpreter t(AddMulDouble(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
  });
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), layered.get()), kTfLiteOk);
  EXPECT_EQ(arithmetic, Arithmetic::kReference);
}

TEST_F(RecordReplay, changes_of_the_tensors_of_a_graph_are_recorded) {
  const std::string path = File("tensors.rec");
  {
    Programmed adding([](TfLiteContext* context, TfLiteDelegate*) {
      int first = -1;
      EXPECT_EQ(context->AddTensors(context, 2, &first), kTfLiteOk);
      context->tensors[first + 1].type = kTfLiteFloat32;
      context->tensors[first + 1].allocation_type = kTfLiteArenaRw;
      TfLiteIntArray* const dims = TfLiteIntArrayCreate(1);
      dims->data[0] = 3;
      EXPECT_EQ(context->ResizeTensor(context, &context->tensors[first + 1], dims), kTfLiteOk);
      return kTfLiteOk;
    });
    const Handle layered = WithLayers(&adding.base, "fault=add_tensors:2:fail;record=" + path);
    const Handle twice = WithLayers(layered.get(), "deadline=60s");
    TestInterpreter t(AddMulDouble());
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), twice.get()), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterGetTensorCount(t.get(), 0), 7);
  }
  const Record record = Read(path);
  ASSERT_EQ(record.calls.size(), 3u);
  EXPECT_EQ(record.calls[1].begin.function, Function::kAddTensors);
  EXPECT_EQ(record.calls[1].begin.inputs, (Ints{2}));
  EXPECT_EQ(record.calls[1].end->tensors.at(0).index, 5);
  EXPECT_EQ(record.calls[2].begin.function, Function::kResizeTensor);
  EXPECT_EQ(record.calls[2].begin.tensor, 6);
  EXPECT_EQ(record.calls[2].begin.tensors.at(0).dims, (Ints{3}));
}

TEST_F(RecordReplay, a_layer_may_refuse_changes_of_the_tensors) {
  Programmed adding([](TfLiteContext* context, TfLiteDelegate*) {
    int first = -1;
    EXPECT_EQ(context->AddTensors(context, 1, &first), kTfLiteError);
    EXPECT_EQ(context->ResizeTensor(context, &context->tensors[0], TfLiteIntArrayCreate(1)),
              kTfLiteError);
    return kTfLiteOk;
  });
  const Handle layered =
      WithLayers(&adding.base, "fault=add_tensors:1:fail;fault=resize_tensor:*:fail");
  TestInterpreter t(AddMulDouble());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), layered.get()), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetTensorCount(t.get(), 0), 5);
}

// Records the inference of a delegate whose outputs stay on its device.
void RecordOnDevice(const std::string& path) {
  Scripted script({0, 2});
  script->outputs_on_device = true;
  script->next_handle = 10;
  const Handle layered = WithLayers(script.get(), "record=" + path);
  ASSERT_NE(layered, nullptr);
  {
    TestInterpreter t(AddMulDouble());
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), layered.get()), kTfLiteOk);
    EXPECT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, kInput);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), kOutput);
  }
  EXPECT_EQ(script->copies_from_handle, 2);
}

TEST_F(RecordReplay, buffer_handles_are_recorded_and_replayed) {
  const std::string path = File("handles.rec");
  RecordOnDevice(path);
  const Record record = Read(path);
  std::vector<std::pair<int32_t, int32_t>> copies;  // tensor and handle
  for (const Call& call : record.calls) {
    if (call.begin.function != Function::kCopyFrom) continue;
    copies.emplace_back(call.begin.tensor, call.begin.buffer_handle);
  }
  EXPECT_EQ(copies, (std::vector<std::pair<int32_t, int32_t>>{{2, 10}, {4, 11}}));
  Applied run(BuildPath("libdeputy_replay.so"), Replayed(path));
  EXPECT_EQ(run.Invoke(kInput), kTfLiteOk) << run.t->log();
  EXPECT_EQ(run.Output(), kOutput);
}

// ---- Changed records ----------------------------------------------------------------------------

// Runs the command and returns its exit status and output.
std::pair<int, std::string> Command(const std::string& arguments) {
  FILE* const pipe = popen((BuildPath("deputy") + " " + arguments + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

// Returns the number of changed records, which DEPUTY_TEST_CHANGES sets: thousands take minutes.
int Changes(int by_default) {
  const char* const number = std::getenv("DEPUTY_TEST_CHANGES");
  return number == nullptr ? by_default : std::atoi(number);
}

TEST_F(RecordReplay, the_command_notices_an_input_that_is_not_the_output_of_another_kernel) {
  if (!std::filesystem::exists(BuildPath("deputy"))) GTEST_SKIP() << "there is no command";
  const std::string path = File("two.rec"), changed = File("changed.rec");
  const std::string tail = " --delegate " + Library("elementwise") + ",ops=0";
  {
    Applied run(BuildPath("libdeputy_layers.so"),
                {{"library", Library("elementwise")},
                 {"options", "ops=0"},
                 {"layers", "record=" + path + ",model"}},
                AddMulAdd());
    EXPECT_EQ(run.Invoke(kInput), kTfLiteOk) << run.t->log();
  }
  EXPECT_EQ(Command("replay " + path + tail).first, 0);
  // The least bit of two_x does not change the sum of 8.
  Record record = Read(path);
  TensorValue& two_x = record.calls[7].begin.tensors.at(0);
  ASSERT_EQ(two_x.name, "two_x");
  std::string data(two_x.data);
  data[0] = static_cast<char>(data[0] ^ 1);
  two_x.data = data;
  two_x.digest = record::DigestOf(data);
  Write(record, changed);
  const auto [status, text] = Command("replay " + changed + tail);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(
      text,
      "call 8 (invoke of kernel 1): tensor 2 'two_x': its data differ from the output of call "
      "7 (invoke of kernel 0)\n10 calls made, 1 difference\n"
      "deputy: calls differ from the record\n");
}

// The plug-in resizes the output of each kernel when the kernel is prepared.
TEST_F(RecordReplay, the_command_notices_other_changes_of_the_tensors) {
  if (!std::filesystem::exists(BuildPath("deputy"))) GTEST_SKIP() << "there is no command";
  const std::string path = RecordPlugin("wrong_nothing", ",model"), changed = File("changed.rec");
  const std::string tail = " --delegate " + Library("wrong_nothing");
  EXPECT_EQ(Command("replay " + path + tail).first, 0);
  const Record original = Read(path);
  size_t resize = 0;
  while (original.calls.at(resize).begin.function != Function::kResizeTensor) ++resize;
  const auto differences = [&](const Record& record) {
    Write(record, changed);
    return Command("replay " + changed + tail);
  };
  Record record = original;
  record.calls[resize].begin.tensors.at(0).dims = {3};
  EXPECT_THAT(differences(record),
              testing::Pair(1, testing::HasSubstr("(resize tensor of kernel 0): tensor 2 'two_x': "
                                                  "shape: expected [3] of the record, found [2]")));
  record = original;
  record.calls.erase(record.calls.begin() + static_cast<ptrdiff_t>(resize));
  EXPECT_THAT(
      differences(record),
      testing::Pair(1, testing::HasSubstr("resize tensor of kernel 0 is not in the record")));
  record = original;
  record.calls[resize].begin.tensor = 4;
  EXPECT_THAT(differences(record),
              testing::Pair(1, testing::HasSubstr("(resize tensor of kernel 0) was not made")));
}

TEST_F(RecordReplay, the_command_repeats_resizes) {
  if (!std::filesystem::exists(BuildPath("deputy"))) GTEST_SKIP() << "there is no command";
  const std::string path = File("resized.rec"), changed = File("changed.rec");
  const std::string tail = " --delegate " + Library("elementwise") + ",ops=0";
  {
    Applied run(BuildPath("libdeputy_layers.so"), {{"library", Library("elementwise")},
                                                   {"options", "ops=0"},
                                                   {"layers", "record=" + path + ",model"}});
    for (const Ints& shape : {Ints{2}, Ints{1, 2}, Ints{1, 1, 2}}) {
      ASSERT_EQ(run.t->Resize(0, shape), kTfLiteOk);
      ASSERT_EQ(run.t->Allocate(), kTfLiteOk);
      EXPECT_EQ(run.Invoke(kInput), kTfLiteOk) << run.t->log();
    }
  }
  Record record = Read(path);
  const auto is_apply = [](const Call& call) {
    return call.begin.function == Function::kDelegatePrepare;
  };
  EXPECT_EQ(std::count_if(record.calls.begin(), record.calls.end(), is_apply), 3);
  const auto [status, text] = Command("replay " + path + tail);
  EXPECT_EQ(status, 0) << text;
  EXPECT_NE(text.find(std::to_string(record.calls.size()) + " calls made, 0 differences"),
            std::string::npos)
      << text;
  // The second application gets the shape of the first one.
  for (Call& call : record.calls) {
    for (TensorValue& tensor : call.begin.tensors) {
      if (tensor.name == "x" && tensor.dims.size() == 2) tensor.dims = {2};
    }
  }
  Write(record, changed);
  EXPECT_THAT(Command("replay " + changed + tail),
              testing::Pair(1, testing::HasSubstr(
                                   "the delegate was applied again without a resize, which is not "
                                   "repeated\n")));
}

TEST_F(RecordReplay, the_command_notices_each_changed_argument) {
  if (!std::filesystem::exists(BuildPath("deputy"))) GTEST_SKIP() << "there is no command";
  const std::string path = RecordPlugin("elementwise", ",model"), changed = File("changed.rec");
  const std::string tail = " --delegate " + Library("elementwise") + ",ops=0";
  const auto [status, text] = Command("replay " + path + tail);
  EXPECT_EQ(status, 0) << text;
  EXPECT_NE(text.find("12 calls made, 0 differences"), std::string::npos) << text;
  const int changes = Changes(kCommandRuns);
  RecordMutator mutator(43);
  const Record original = Read(path);
  for (int i = 0; i < changes; ++i) {
    Record record = original;
    const std::string what = mutator.Change(&record);
    Write(record, changed);
    const auto [changed_status, changed_text] = Command("replay " + changed + tail);
    ASSERT_EQ(changed_status, 1) << "change " << i << ", " << what << "\n" << changed_text;
  }
}

}  // namespace
}  // namespace deputy::record_replay_test
