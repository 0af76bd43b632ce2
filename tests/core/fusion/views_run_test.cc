// SPDX-License-Identifier: Apache-2.0
//
// Tests tensors that are parts of another tensor's memory (core/fusion/in_place.h): random graphs
// of operators that concatenate, split and modify tensors in place compute the same bits as with
// copies everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>

#include "c_api/include/deputy.h"
#include "tests/core/fusion/run_support.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::views_run_test {
namespace {

// Number of columns of the values, which are [1, rows, 16] of float32: the size of a row equals the
// alignment of tensors.
constexpr int kColumns = 16;

class GraphWriter {
 public:
  explicit GraphWriter(uint32_t seed) : random_(seed) {}

  std::vector<uint8_t> Write(int nodes) {
    Add(4);
    Add(4);
    m_.SetInputs({0, 1});
    std::vector<int32_t> outputs;
    for (int n = 0; n < nodes; ++n) {
      AddNode();
      if (Pick(0, 9) == 0) outputs.push_back(values_.back().tensor);
    }
    outputs.push_back(values_.back().tensor);
    std::sort(outputs.begin(), outputs.end());
    outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
    m_.SetOutputs(outputs);
    return m_.Finish();
  }

  // Returns the nodes that the scripted delegate can compute.
  const std::set<int>& sums() const { return sums_; }

 private:
  struct Value {
    int tensor, rows;
  };

  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  int Add(int rows) {
    values_.push_back({m_.AddTensor(kTfLiteFloat32, {1, rows, kColumns}), rows});
    return values_.back().tensor;
  }
  Value Source() {
    const int last = static_cast<int>(values_.size()) - 1;
    return values_[static_cast<size_t>(Pick(0, 2) > 0 ? last - Pick(0, std::min(last, 2))
                                                      : Pick(0, last))];
  }
  int Constant(const std::vector<int32_t>& values) {
    return m_.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(values.size())}, values);
  }

  void AddNode() {
    switch (Pick(0, 8)) {
      case 8:
        return AddSumOfParts();
      case 0:
        return AddChange();
      case 1:
        return AddSum();
      case 2:
      case 3:
        return AddConcatenation();
      case 4:
        return AddSlice();
      case 5:
        return AddPack();
      case 6:
        return AddSplitV();
      default:
        return AddSplit();
    }
  }
  void AddChange() {
    const Value from = Source();
    m_.AddOp(Pick(0, 1) == 0 ? kTfLiteBuiltinAbs : kTfLiteBuiltinNeg, {from.tensor},
             {Add(from.rows)});
  }
  void AddSum() {
    const Value a = Source(), b = Source();
    if (a.rows != b.rows) return AddChange();
    sums_.insert(m_.AddOp(kTfLiteBuiltinAdd, {a.tensor, b.tensor}, {Add(a.rows)},
                          schema::CreateAddOptions(m_.fbb())));
  }
  // Adds a sum of rows of the newest value. The two operands may overlap, and the second one may be
  // a single row, which is broadcast.
  void AddSumOfParts() {
    const Value from = values_.back();
    const int rows = Pick(1, from.rows);
    const auto part = [&](int of_rows) {
      const std::vector<int32_t> begin = {0, Pick(0, from.rows - of_rows), 0};
      const int inputs[] = {from.tensor, Constant(begin), Constant({1, of_rows, kColumns})};
      const int to = Add(of_rows);
      m_.AddOp(kTfLiteBuiltinSlice, {inputs[0], inputs[1], inputs[2]}, {to},
               schema::CreateSliceOptions(m_.fbb()));
      return to;
    };
    const int a = part(rows), b = part(Pick(0, 2) == 0 ? 1 : rows);
    m_.AddOp(kTfLiteBuiltinAdd, {a, b}, {Add(rows)}, schema::CreateAddOptions(m_.fbb()));
  }
  void AddConcatenation() {
    std::vector<int32_t> parts;
    int rows = 0;
    for (int i = Pick(2, 3); i > 0; --i) {
      const Value part = Source();
      if (rows + part.rows > 40) break;
      parts.push_back(part.tensor);
      rows += part.rows;
    }
    if (parts.empty()) return AddSlice();
    m_.AddOp(kTfLiteBuiltinConcatenation, parts, {Add(rows)},
             schema::CreateConcatenationOptions(m_.fbb(), 1));
  }
  void AddSlice() {
    const Value from = Source();
    const int begin = Pick(0, from.rows - 1), rows = Pick(1, from.rows - begin);
    const int inputs[] = {from.tensor, Constant({0, begin, 0}), Constant({1, rows, kColumns})};
    m_.AddOp(kTfLiteBuiltinSlice, {inputs[0], inputs[1], inputs[2]}, {Add(rows)},
             schema::CreateSliceOptions(m_.fbb()));
  }
  void AddSplit() {
    const Value from = Source();
    if (from.rows % 2 != 0) return AddSlice();
    const int axis = m_.AddConstant<int32_t>(kTfLiteInt32, {}, {1});
    const int first = Add(from.rows / 2), second = Add(from.rows / 2);
    m_.AddOp(kTfLiteBuiltinSplit, {axis, from.tensor}, {first, second},
             schema::CreateSplitOptions(m_.fbb(), 2));
  }

  void AddSplitV() {
    const Value from = Source();
    if (from.rows < 2) return AddSlice();
    const int rows = Pick(1, from.rows - 1);
    const int sizes = Constant({rows, from.rows - rows});
    const int axis = m_.AddConstant<int32_t>(kTfLiteInt32, {}, {1});
    const int first = Add(rows), second = Add(from.rows - rows);
    m_.AddOp(kTfLiteBuiltinSplitV, {from.tensor, sizes, axis}, {first, second},
             schema::CreateSplitVOptions(m_.fbb(), 2));
  }
  // Adds a PACK of two values, and an UNPACK of the result.
  void AddPack() {
    const Value a = Source(), b = Source();
    if (a.rows != b.rows) return AddConcatenation();
    const int packed = m_.AddTensor(kTfLiteFloat32, {2, 1, a.rows, kColumns});
    m_.AddOp(kTfLiteBuiltinPack, {a.tensor, b.tensor}, {packed},
             schema::CreatePackOptions(m_.fbb(), 2, 0));
    const int first = Add(a.rows), second = Add(a.rows);
    m_.AddOp(kTfLiteBuiltinUnpack, {packed}, {first, second},
             schema::CreateUnpackOptions(m_.fbb(), 2, 0));
  }

  std::mt19937 random_;
  ModelBuilder m_;
  std::vector<Value> values_;
  std::set<int> sums_;
};

struct Found {
  std::vector<std::string> outputs;  // outputs of all inferences
  int views = 0;
  int moved = 0;     // number of tensors in the client's memory
  int computed = 0;  // number of partitions that the delegate has run
};

// Returns the number of tensors that are part of another tensor's memory.
int ViewsOf(const TfLiteInterpreter* interpreter) {
  const DeputyMemoryMap map = MemoryMapOf(interpreter);
  std::map<int, DeputyTensorMemory> places;
  for (size_t i = 0; i < map.tensor_count; ++i) {
    DeputyTensorMemory memory = {};
    memory.struct_size = sizeof memory;
    EXPECT_EQ(DeputyInterpreterGetTensorMemory(interpreter, 0, i, &memory), kTfLiteOk);
    places[memory.tensor_index] = memory;
  }
  int views = 0;
  for (const auto& [tensor, memory] : places) {
    const DeputyTensorMemory& owner = places.at(memory.owner);
    EXPECT_LE(owner.offset, memory.offset);
    EXPECT_LE(memory.offset + memory.bytes, owner.offset + owner.bytes);
    if (memory.bytes < owner.bytes) ++views;
  }
  return views;
}

Found RunGraph(const std::vector<uint8_t>& model, bool views, int threads,
               const LateChanges& changes = {}) {
  const ScopedFusion guard(views);
  Scripted delegate(changes.claims);
  Found found;
  TestInterpreter t(model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << t.log();
    return found;
  }
  struct alignas(64) Row {
    float values[kColumns];
  };
  std::vector<Row> own(64);
  for (int inference = 0; inference < 2; ++inference) {
    if (inference == 1) {
      found.moved += ApplyLateChanges(&t, changes, &delegate, own.data(), own.size() * sizeof(Row));
    }
    std::mt19937 random(static_cast<uint32_t>(inference));
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(t.get()); ++i) {
      TfLiteTensor* const input = TfLiteInterpreterGetInputTensor(t.get(), i);
      for (size_t k = 0; k < input->bytes / sizeof(float); ++k) {
        input->data.f[k] = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
      }
    }
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    for (std::string& bytes : OutputBytes(t.get())) found.outputs.push_back(std::move(bytes));
  }
  found.views = ViewsOf(t.get());
  found.computed = delegate->calls[kScriptedInvoke];
  return found;
}

TEST(Views, graphs_have_the_bits_of_copies) {
  const uint32_t graphs = RandomGraphCount(300);
  int views = 0;
  for (uint32_t seed = 0; seed < graphs; ++seed) {
    const std::vector<uint8_t> model = GraphWriter(seed).Write(4 + static_cast<int>(seed % 24));
    const Found expected = RunGraph(model, false, 1);
    EXPECT_EQ(expected.views, 0);
    for (const int threads : {1, 3}) {
      const Found found = RunGraph(model, true, threads);
      ASSERT_EQ(found.outputs, expected.outputs) << "seed " << seed << ", threads " << threads;
      views += found.views;
    }
  }
  EXPECT_GE(views, static_cast<int>(graphs));
}

// A TRANSPOSE is a view if it keeps the order of the dimensions larger than one.
TEST(Views, a_transpose_that_moves_nothing_is_a_view) {
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteInt32}) {
    for (const bool moves : {false, true}) {
      ModelBuilder m;
      const std::vector<int32_t> from = {6, 1, 8, 1};
      const std::vector<int32_t> order =
          moves ? std::vector<int32_t>{2, 1, 0, 3} : std::vector<int32_t>{1, 0, 3, 2};
      std::vector<int32_t> to;
      for (int axis : order) to.push_back(from[static_cast<size_t>(axis)]);
      const int x = m.AddTensor(type, from), a = m.AddTensor(type, from);
      const int b = m.AddTensor(type, to), out = m.AddTensor(type, to);
      const int axes = m.AddConstant<int32_t>(kTfLiteInt32, {4}, order);
      m.AddOp(kTfLiteBuiltinNeg, {x}, {a});
      m.AddOp(kTfLiteBuiltinTranspose, {a, axes}, {b});
      m.AddOp(kTfLiteBuiltinNeg, {b}, {out});
      m.SetInputs({x});
      m.SetOutputs({out});
      const std::vector<uint8_t> model = m.Finish();
      const Found found = RunGraph(model, true, 1);
      EXPECT_EQ(found.outputs, RunGraph(model, false, 1).outputs);
      TestInterpreter t(model);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      const auto place = [&t](int tensor) {
        return TfLiteTensorData(TfLiteInterpreterGetTensor(t.get(), tensor));
      };
      EXPECT_EQ(place(a) == place(b), !moves) << type;
    }
  }
}

TEST(Views, clients_may_provide_memory) {
  int moved = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const std::vector<uint8_t> model = GraphWriter(seed).Write(4 + static_cast<int>(seed % 24));
    const Found expected = RunGraph(model, false, 1);
    for (int tensor = 0; tensor < 40; tensor += 3) {
      const Found found = RunGraph(model, true, 1, {.custom = tensor + static_cast<int>(seed % 3)});
      ASSERT_EQ(found.outputs, expected.outputs) << "seed " << seed << ", tensor " << tensor;
      moved += found.moved;
    }
  }
  EXPECT_GE(moved, 500);
}

// The first part of a SPLIT is in the client's memory when the arena is planned: the second part
// must not use its position in the whole.
TEST(Views, a_part_in_client_memory_keeps_the_whole_intact) {
  ModelBuilder m;
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {}, {0});
  const auto tensor = [&m](int rows) { return m.AddTensor(kTfLiteFloat32, {rows, 16}); };
  const int x = tensor(2), a = tensor(2), first = tensor(1), second = tensor(1), out = tensor(2);
  const int sum = tensor(1);
  m.AddOp(kTfLiteBuiltinNeg, {x}, {a});
  m.AddOp(kTfLiteBuiltinSplit, {axis, a}, {first, second}, schema::CreateSplitOptions(m.fbb(), 2));
  m.AddOp(kTfLiteBuiltinAdd, {first, second}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinNeg, {a}, {out});
  m.SetInputs({x});
  m.SetOutputs({out, sum});
  TestInterpreter t(m.Finish());
  alignas(64) static float memory[16];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), first, &allocation, 0),
            kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  std::vector<float> values(32), sums(16);
  for (size_t i = 0; i < 32; ++i) values[i] = static_cast<float>(i);
  for (size_t i = 0; i < 16; ++i) sums[i] = -values[i] - values[i + 16];
  t.Set(0, values);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), values);
  EXPECT_EQ(t.Get<float>(1), sums);
}

// ---- A kernel that changes its output's shape while it runs -----------------------------------

int rows_now = 1;

TfLiteStatus SetRows(TfLiteContext* context, TfLiteNode* node) {
  TfLiteIntArray* const dims = TfLiteIntArrayCreate(2);
  dims->data[0] = rows_now;
  dims->data[1] = 16;
  return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], dims);
}

TfLiteStatus MakeRows(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* const output = &context->tensors[node->outputs->data[0]];
  if (output->dims->data[0] != rows_now) return SetRows(context, node);
  for (size_t i = 0; i < output->bytes / sizeof(float); ++i) output->data.f[i] = 3;
  return kTfLiteOk;
}

// Upstream lets a kernel change the shape of an arena tensor while it runs. In Deputy that
// inference fails, and the next one prepares the following nodes again, so that parts get new
// positions.
TEST(Views, resized_parts_get_new_offsets) {
  ModelBuilder m;
  const auto tensor = [&m](int rows) { return m.AddTensor(kTfLiteFloat32, {rows, 16}); };
  const int x = tensor(1), made = tensor(1), a = tensor(1), b = tensor(1), whole = tensor(2);
  const int out = tensor(2);
  m.AddCustomOp("Rows", {x}, {made});
  m.AddOp(kTfLiteBuiltinNeg, {x}, {b});
  m.AddOp(kTfLiteBuiltinNeg, {made}, {a});
  m.AddOp(kTfLiteBuiltinConcatenation, {a, b}, {whole},
          schema::CreateConcatenationOptions(m.fbb(), 0));
  m.AddOp(kTfLiteBuiltinNeg, {whole}, {out});
  m.SetInputs({x});
  m.SetOutputs({out});
  rows_now = 1;
  TestInterpreter t(m.Finish(), [](TfLiteInterpreterOptions* options) {
    static const TfLiteRegistration kRows = [] {
      TfLiteRegistration registration{};
      registration.prepare = &SetRows;
      registration.invoke = &MakeRows;
      return registration;
    }();
    TfLiteInterpreterOptionsAddCustomOp(options, "Rows", &kRows, 1, 1);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set(0, std::vector<float>(16, 5));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  rows_now = 4;
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  std::vector<float> expected(64, 3);
  expected.resize(80, 5);
  EXPECT_EQ(t.Get<float>(0), expected);
}

TEST(Views, delegates_may_be_applied_later) {
  int computed = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    GraphWriter writer(seed);
    const std::vector<uint8_t> model = writer.Write(4 + static_cast<int>(seed % 24));
    const Found expected = RunGraph(model, false, 1);
    const Found found = RunGraph(model, true, 1, {.claims = writer.sums()});
    ASSERT_EQ(found.outputs, expected.outputs) << "seed " << seed;
    computed += found.computed;
  }
  EXPECT_GE(computed, 200);
}

}  // namespace
}  // namespace deputy::views_run_test
