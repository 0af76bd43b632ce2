// SPDX-License-Identifier: Apache-2.0
//
// Tests MindSpore delegates: their view of the model, Replace, the order of calls, and the handling
// of failures. Results are compared with plain loops, literals, or a model without a delegate.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "deputy/builtin_ops.h"
#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "gtest/gtest.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/support/interpreter_queries.h"

namespace deputy::mindspore_delegate_test {
namespace {

using mindspore::KernelIter;
using mindspore::kMindIR;
using mindspore::Model;
using mindspore::Status;

const std::vector<float> kX = {1, 2, -3, 0.5F};

Status Build(Model* model, const std::vector<uint8_t>& bytes,
             const std::shared_ptr<mindspore::Delegate>& delegate) {
  return model->Build(bytes.data(), bytes.size(), kMindIR, CpuContext(delegate));
}

int PartitionCount(const Model& model) {
  return DeputyInterpreterGetPartitionCount(model.interpreter(), 0);
}

// ---- Runs ---------------------------------------------------------------------------------------

TEST(MindSporeRuns, every_mask_of_a_chain_gives_a_kernel_per_run) {
  constexpr int kNodes = 8;
  const std::vector<uint8_t> bytes = ChainModel(kNodes);
  for (int mask = 0; mask < 1 << kNodes; ++mask) {
    const auto delegate = std::make_shared<RunDelegate>(
        [mask](Kernel*, const ms_schema::Primitive&, int at) { return (mask >> at & 1) != 0; });
    Model model;
    ASSERT_EQ(Build(&model, bytes, delegate), mindspore::kSuccess) << mask;
    int runs = 0;
    for (int i = 0; i < kNodes; ++i) {
      runs += (mask >> i & 1) != 0 && (i == 0 || (mask >> (i - 1) & 1) == 0) ? 1 : 0;
    }
    EXPECT_EQ(PartitionCount(model), runs) << mask;
    EXPECT_EQ(Predict(&model, kX), ChainResult(kNodes, kX)) << mask;
    EXPECT_EQ(Count(*delegate->records, "execute"), static_cast<size_t>(runs)) << mask;
  }
}

// A random graph with several consumers per tensor.
std::vector<uint8_t> RandomModel(std::mt19937* random, int nodes) {
  ModelBuilder m;
  std::vector<int> made = {m.AddTensor(kTfLiteFloat32, {1, kColumns}, "x")};
  std::vector<int> unread;
  m.SetInputs({made[0]});
  for (int i = 0; i < nodes; ++i) {
    const int a = made[(*random)() % made.size()], b = made[(*random)() % made.size()];
    const int y = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "y" + std::to_string(i));
    m.AddOp(kTfLiteBuiltinAdd, {a, b}, {y}, schema::CreateAddOptions(m.fbb()));
    for (int read : {a, b})
      unread.erase(std::remove(unread.begin(), unread.end(), read), unread.end());
    unread.push_back(y);
    made.push_back(y);
  }
  m.SetOutputs({unread.begin(), unread.end()});
  return m.Finish();
}

TEST(MindSporeRuns, random_graphs_agree_with_the_cpu) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::vector<uint8_t> bytes = RandomModel(&random, 12);
    const unsigned mask = random();
    const auto delegate = std::make_shared<RunDelegate>(
        [mask](Kernel*, const ms_schema::Primitive&, int at) { return (mask >> at & 1) != 0; });
    Model plain, delegated;
    ASSERT_EQ(Build(&plain, bytes, nullptr), mindspore::kSuccess);
    ASSERT_EQ(Build(&delegated, bytes, delegate), mindspore::kSuccess);
    int runs = 0;
    for (int i = 0; i < 12; ++i) {
      runs += (mask >> i & 1) != 0 && (i == 0 || (mask >> (i - 1) & 1) == 0) ? 1 : 0;
    }
    EXPECT_EQ(PartitionCount(delegated), runs) << round;
    EXPECT_EQ(Predict(&delegated, kX), Predict(&plain, kX)) << round;
  }
}

TEST(MindSporeRuns, boundary_matches_the_definition) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    const std::vector<uint8_t> bytes = RandomModel(&random, 10);
    const auto delegate = std::make_shared<RunDelegate>(nullptr);
    delegate->on_build = [&random](DelegateModel* model) -> Status {
      const auto first = static_cast<ptrdiff_t>(random() % 10);
      const auto last =
          first + static_cast<ptrdiff_t>(random() % (10 - static_cast<unsigned>(first)));
      const auto begin = model->BeginKernelIterator();
      const mindspore::Boundary boundary =
          mindspore::FindBoundary(model, begin + first, begin + last + 1);
      std::set<std::string> made, read, read_outside;
      for (const MSTensor& tensor : model->outputs()) read_outside.insert(tensor.Name());
      for (ptrdiff_t i = 0; i < 10; ++i) {
        const bool inside = i >= first && i <= last;
        for (const MSTensor& tensor : (*(begin + i))->inputs()) {
          (inside ? read : read_outside).insert(tensor.Name());
        }
        if (inside) made.insert((*(begin + i))->outputs()[0].Name());
      }
      std::set<std::string> inputs, outputs;
      for (const std::string& name : read) {
        if (made.count(name) == 0) inputs.insert(name);
      }
      for (const std::string& name : made) {
        if (read_outside.count(name) > 0) outputs.insert(name);
      }
      std::set<std::string> found_inputs, found_outputs;
      for (const MSTensor& tensor : boundary.inputs) found_inputs.insert(tensor.Name());
      for (const MSTensor& tensor : boundary.outputs) found_outputs.insert(tensor.Name());
      EXPECT_EQ(found_inputs, inputs);
      EXPECT_EQ(found_outputs, outputs);
      EXPECT_EQ(boundary.inputs.size(), inputs.size());
      return mindspore::kSuccess;
    };
    Model model;
    ASSERT_EQ(Build(&model, bytes, delegate), mindspore::kSuccess);
  }
}

// ---- Replace ------------------------------------------------------------------------------------

TEST(MindSporeReplace, returns_the_position_after_every_range) {
  constexpr int kNodes = 6;
  const std::vector<uint8_t> bytes = ChainModel(kNodes);
  for (int from = 0; from < kNodes; ++from) {
    for (int end = from + 1; end <= kNodes; ++end) {
      const auto delegate = std::make_shared<RunDelegate>(nullptr);
      delegate->on_build = [&, raw = delegate.get()](DelegateModel* model) -> Status {
        const KernelIter begin = model->BeginKernelIterator();
        const std::vector<Kernel*> before(begin, model->EndKernelIterator());
        std::vector<RunKernel::Step> steps;
        for (auto iter = begin + from; iter != begin + end; ++iter) {
          steps.push_back(RunDelegate::StepOf(*iter, *model->GetPrimitive(*iter)));
        }
        Kernel* const kernel = raw->NewKernel(model, begin + from, begin + end, std::move(steps));
        const KernelIter next = model->Replace(begin + from, begin + end, kernel);
        EXPECT_EQ(next - model->BeginKernelIterator(), from + 1);
        std::vector<Kernel*> expected(before.begin(), before.begin() + from);
        expected.push_back(kernel);
        expected.insert(expected.end(), before.begin() + end, before.end());
        EXPECT_EQ(std::vector<Kernel*>(model->BeginKernelIterator(), model->EndKernelIterator()),
                  expected);
        EXPECT_EQ(model->GetPrimitive(kernel), nullptr);
        EXPECT_EQ(kernel->type(), ms_schema::PrimitiveType_NONE);
        return mindspore::kSuccess;
      };
      Model model;
      ASSERT_EQ(Build(&model, bytes, delegate), mindspore::kSuccess);
      EXPECT_EQ(PartitionCount(model), 1);
      EXPECT_EQ(Predict(&model, kX), ChainResult(kNodes, kX));
    }
  }
}

TEST(MindSporeReplace, wrong_range_changes_nothing_frees_the_kernel_and_fails_the_build) {
  const std::vector<uint8_t> bytes = ChainModel(3);
  for (const auto& [from, end] : std::vector<std::pair<int, int>>{{3, 3}, {1, 1}, {2, 1}}) {
    const auto delegate = std::make_shared<RunDelegate>(nullptr);
    delegate->on_build = [&, raw = delegate.get()](DelegateModel* model) -> Status {
      const KernelIter begin = model->BeginKernelIterator();
      auto* kernel = new RunKernel({}, {}, raw->records);
      EXPECT_EQ(model->Replace(begin + from, begin + end, kernel), model->EndKernelIterator());
      EXPECT_EQ(model->EndKernelIterator() - model->BeginKernelIterator(), 3);
      EXPECT_EQ(Count(*raw->records, "free"), 1U);
      return mindspore::kSuccess;
    };
    Model model;
    EXPECT_EQ(Build(&model, bytes, delegate), mindspore::kLiteParamInvalid);
    EXPECT_EQ(Build(&model, bytes, nullptr), mindspore::kSuccess);
  }
}

TEST(MindSporeReplace, null_kernel_fails_the_build) {
  const std::vector<uint8_t> bytes = ChainModel(3);
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [](DelegateModel* model) -> Status {
    model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(), nullptr);
    return mindspore::kSuccess;
  };
  Model model;
  EXPECT_EQ(Build(&model, bytes, delegate), mindspore::kLiteParamInvalid);
}

TEST(MindSporeReplace, kernel_that_replaces_a_kernel_gets_its_nodes) {
  const std::vector<uint8_t> bytes = ChainModel(4);
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [raw = delegate.get()](DelegateModel* model) -> Status {
    std::vector<RunKernel::Step> steps;
    for (Kernel* kernel : *model->nodes()) {
      steps.push_back(RunDelegate::StepOf(kernel, *model->GetPrimitive(kernel)));
    }
    auto begin = model->BeginKernelIterator();
    auto* whole = raw->NewKernel(model, begin, model->EndKernelIterator(), steps);
    model->Replace(begin, begin + 2, new RunKernel({}, {}, raw->records));
    model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(), whole);
    return mindspore::kSuccess;
  };
  Model model;
  ASSERT_EQ(Build(&model, bytes, delegate), mindspore::kSuccess);
  EXPECT_EQ(Count(*delegate->records, "free"), 1U);
  EXPECT_EQ(PartitionCount(model), 1);
  EXPECT_EQ(Predict(&model, kX), ChainResult(4, kX));
}

// ---- Rewriting the list of kernels --------------------------------------------------------------

// A model of x -> a = x + x -> b = a + a, c = a * a -> y = b + c.
std::vector<uint8_t> Diamond() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "x");
  const int a = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "a");
  const int b = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "b");
  const int c = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "c");
  const int y = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {a}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {a, a}, {b}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {a, a}, {c}, schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {b, c}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Builds a model with a delegate that passes its list of kernels to `rewrite`, which may replace
// some of them.
Status BuildRewritten(
    Model* model, const std::shared_ptr<RunDelegate>& delegate,
    const std::function<void(std::vector<Kernel*>* list,
                             const std::function<Kernel*(std::vector<int>)>& kernel_of)>& rewrite) {
  delegate->on_build = [delegate = delegate.get(), rewrite](DelegateModel* graph) -> Status {
    const std::vector<Kernel*> all = *graph->nodes();
    const auto kernel_of = [&](const std::vector<int>& chosen) -> Kernel* {
      std::vector<RunKernel::Step> steps;
      mindspore::Boundary boundary;
      for (int i : chosen) {
        Kernel* kernel = all[static_cast<size_t>(i)];
        steps.push_back(RunDelegate::StepOf(kernel, *graph->GetPrimitive(kernel)));
      }
      boundary.inputs = steps.front().inputs;
      boundary.outputs = steps.back().outputs;
      auto* kernel = new RunKernel(std::move(steps), std::move(boundary), delegate->records);
      kernel->set_name("fresh");
      return kernel;
    };
    rewrite(graph->nodes(), kernel_of);
    return mindspore::kSuccess;
  };
  const std::vector<uint8_t> bytes = Diamond();
  return Build(model, bytes, delegate);
}

std::vector<float> DiamondResult() {
  std::vector<float> y;
  for (const float x : kX) y.push_back(4 * x + 4 * x * x);
  return y;
}

TEST(MindSporeNodes, fresh_lists_are_accepted) {
  const auto whole = std::make_shared<RunDelegate>(nullptr);
  Model model;
  ASSERT_EQ(BuildRewritten(&model, whole,
                           [](auto* list, const auto& kernel_of) {
                             *list = {kernel_of({0, 1, 2, 3})};
                           }),
            mindspore::kSuccess);
  EXPECT_EQ(PartitionCount(model), 1);
  EXPECT_EQ(Predict(&model, kX), DiamondResult());

  // Exchanges kernels 1 and 2, and replaces kernel 2 by the delegate's.
  const auto turned = std::make_shared<RunDelegate>(nullptr);
  Model other;
  ASSERT_EQ(BuildRewritten(&other, turned,
                           [](auto* list, const auto& kernel_of) {
                             *list = {(*list)[0], kernel_of({2}), (*list)[1], (*list)[3]};
                           }),
            mindspore::kSuccess);
  EXPECT_EQ(PartitionCount(other), 1);
  EXPECT_EQ(Predict(&other, kX), DiamondResult());
}

TEST(MindSporeNodes, invalid_lists_are_refused_with_a_text) {
  using List = std::vector<Kernel*>;
  using KernelOf = std::function<Kernel*(std::vector<int>)>;
  const std::map<std::string, std::function<void(List*, const KernelOf&)>> cases = {
      {"is missing from the list", [](List* list, const KernelOf&) { list->pop_back(); }},
      {"is in the list twice", [](List* list, const KernelOf&) { list->push_back((*list)[0]); }},
      {"precedes", [](List* list, const KernelOf&) { std::swap((*list)[0], (*list)[1]); }},
      // Kernel 1 stays, but runs before the new kernel, which replaces its producer.
      {"the tensor is not among its inputs",
       [](List* list, const KernelOf& kernel_of) {
         *list = {(*list)[1], kernel_of({0, 2, 3})};
       }},
      {"also remains in the list",
       [](List* list, const KernelOf& kernel_of) {
         *list = {kernel_of({0}), kernel_of({0}), (*list)[1], (*list)[2], (*list)[3]};
       }},
  };
  for (const auto& [text, rewrite] : cases) {
    const auto delegate = std::make_shared<RunDelegate>(nullptr);
    Model model;
    const Status status = BuildRewritten(&model, delegate, rewrite);
    EXPECT_EQ(status, mindspore::kLiteParamInvalid) << text;
    EXPECT_NE(status.ToString().find(text), std::string::npos) << status.ToString();
  }
}

using Edit = std::function<void(DeputyMSGraph*)>;

// Builds a model of three nodes with a delegate of the C API whose function `build` is `edit`.
MSStatus BuildInC(Edit edit) {
  DeputyMSDelegate c = {};
  c.struct_size = sizeof c;
  c.abi_version = DEPUTY_MS_DELEGATE_ABI_VERSION;
  c.user_data = &edit;
  c.build = [](void* user_data, DeputyMSGraph* graph) {
    (*static_cast<Edit*>(user_data))(graph);
    return 0;
  };
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  EXPECT_EQ(DeputyMSContextSetDelegate(context, &c), kMSStatusSuccess);
  const std::vector<uint8_t> bytes = ChainModel(3);
  MSModelHandle model = MSModelCreate();
  const MSStatus status =
      MSModelBuild(model, bytes.data(), bytes.size(), kMSModelTypeMindIR, context);
  MSModelDestroy(&model);
  return status;
}

// Functions of a kernel that counts the calls of `release`.
const DeputyMSKernelFunctions kCounting = [] {
  DeputyMSKernelFunctions functions = {};
  functions.struct_size = sizeof functions;
  functions.execute = [](void*) { return 0; };
  functions.release = [](void* count) { ++*static_cast<int*>(count); };
  return functions;
}();

// Calls SetKernels with three new kernels, where the second entry has the given size and functions.
// Returns the number of releases of each kernel.
std::vector<int> ReleasesOfList(size_t entry_size, const DeputyMSKernelFunctions* functions) {
  std::vector<int> releases(3);
  const MSStatus built = BuildInC([&](DeputyMSGraph* graph) {
    DeputyMSKernelEntry entries[3] = {};
    const DeputyMSKernel* replaced[3];
    for (size_t i = 0; i < 3; ++i) {
      replaced[i] = DeputyMSGraphKernelAt(graph, i);
      entries[i].struct_size = i == 1 ? entry_size : sizeof entries[i];
      entries[i].functions = i == 1 ? functions : &kCounting;
      entries[i].user_data = &releases[i];
      entries[i].replaced = &replaced[i];
      entries[i].replaced_count = 1;
    }
    EXPECT_EQ(DeputyMSGraphSetKernels(graph, entries, 3), kMSStatusLiteParamInvalid);
    EXPECT_STREQ(DeputyMSLastError(),
                 "entry 1 of the list has no functions, or an invalid struct_size");
    EXPECT_EQ(DeputyMSGraphKernelCount(graph), 3u);
    EXPECT_EQ(DeputyMSGraphKernelAt(graph, 1), replaced[1]);
  });
  EXPECT_EQ(built, kMSStatusLiteParamInvalid);
  return releases;
}

TEST(MindSporeNodes, kernels_of_a_list_with_an_invalid_entry_are_released) {
  constexpr size_t kWhole = sizeof(DeputyMSKernelEntry);
  DeputyMSKernelFunctions without_execute = kCounting, without_size = kCounting;
  without_execute.execute = nullptr;
  without_size.struct_size = 0;
  EXPECT_EQ(ReleasesOfList(kWhole, nullptr), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(ReleasesOfList(kWhole, &without_size), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(ReleasesOfList(kWhole, &without_execute), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(ReleasesOfList(0, &kCounting), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(ReleasesOfList(offsetof(DeputyMSKernelEntry, name), &kCounting),
            (std::vector<int>{1, 1, 1}));
}

// The size of the first entry is the distance between entries, so that clients with a longer struct
// of a later header work.
TEST(MindSporeNodes, a_list_of_longer_entries_is_read_with_their_size) {
  struct Longer {
    DeputyMSKernelEntry known = {};
    void* later[2] = {};
  };
  for (const size_t last_size : {sizeof(Longer), sizeof(Longer) + 8}) {
    const bool valid = last_size == sizeof(Longer);
    std::vector<int> releases(3);
    const MSStatus built = BuildInC([&](DeputyMSGraph* graph) {
      Longer entries[3];
      const DeputyMSKernel* replaced[3];
      for (size_t i = 0; i < 3; ++i) {
        replaced[i] = DeputyMSGraphKernelAt(graph, i);
        entries[i].known.struct_size = i == 2 ? last_size : sizeof(Longer);
        entries[i].known.functions = &kCounting;
        entries[i].known.user_data = &releases[i];
        entries[i].known.replaced = &replaced[i];
        entries[i].known.replaced_count = 1;
      }
      EXPECT_EQ(DeputyMSGraphSetKernels(graph, &entries[0].known, 3),
                valid ? kMSStatusSuccess : kMSStatusLiteParamInvalid);
    });
    EXPECT_EQ(built, valid ? kMSStatusSuccess : kMSStatusLiteParamInvalid);
    EXPECT_EQ(releases, (std::vector<int>{1, 1, 1}));
  }
}

TEST(MindSporeNodes, replaced_kernels_that_are_null_or_not_of_the_model_are_refused) {
  for (const int row : {0, 1, 2}) {
    int releases = 0;
    const MSStatus built = BuildInC([&](DeputyMSGraph* graph) {
      if (row == 2) {
        ASSERT_EQ(DeputyMSGraphReplace(graph, 0, 1, &kCounting, &releases, "new", nullptr),
                  kMSStatusSuccess);
      }
      const DeputyMSKernel* replaced[] = {DeputyMSGraphKernelAt(graph, 1), nullptr};
      if (row == 2) replaced[1] = DeputyMSGraphKernelAt(graph, 0);
      DeputyMSKernelEntry entry = {};
      entry.struct_size = sizeof entry;
      entry.functions = &kCounting;
      entry.user_data = &releases;
      entry.replaced = row == 1 ? nullptr : replaced;
      entry.replaced_count = 2;
      EXPECT_EQ(DeputyMSGraphSetKernels(graph, &entry, 1), kMSStatusLiteParamInvalid);
      EXPECT_THAT(DeputyMSLastError(), testing::HasSubstr("entry 0 of the list: replaced kernel"));
      EXPECT_THAT(DeputyMSLastError(), testing::HasSubstr("is not a kernel of the model"));
    });
    EXPECT_EQ(built, kMSStatusLiteParamInvalid);
    EXPECT_EQ(releases, row == 2 ? 2 : 1);
  }
}

TEST(MindSporeReplace, kernel_without_execute_is_released) {
  DeputyMSKernelFunctions without_execute = kCounting, without_release = kCounting;
  without_execute.execute = nullptr;
  without_release.execute = nullptr;
  without_release.struct_size = offsetof(DeputyMSKernelFunctions, release);
  const std::pair<const DeputyMSKernelFunctions*, int> rows[] = {
      {&without_execute, 1}, {&without_release, 0}, {nullptr, 0}};
  for (const auto& [functions, expected] : rows) {
    int releases = 0;
    const MSStatus built = BuildInC([&, table = functions](DeputyMSGraph* graph) {
      EXPECT_EQ(DeputyMSGraphReplace(graph, 0, 1, table, &releases, "new", nullptr),
                kMSStatusLiteParamInvalid);
      EXPECT_EQ(DeputyMSGraphKernelCount(graph), 3u);
    });
    EXPECT_EQ(built, kMSStatusLiteParamInvalid);
    EXPECT_EQ(releases, expected);
  }
}

// ---- Init and Build -----------------------------------------------------------------------------

TEST(MindSporeInit, status_is_returned) {
  const std::vector<uint8_t> bytes = ChainModel(3);
  for (const auto code : {mindspore::kSuccess, mindspore::kLiteNotSupport, mindspore::kLiteError,
                          mindspore::kLiteNullptr}) {
    const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
    delegate->init_code = code;
    const bool declined = code == mindspore::kLiteNotSupport;
    Model model;
    const Status status = Build(&model, bytes, delegate);
    EXPECT_EQ(Count(*delegate->records, "init"), 1U);
    if (code == mindspore::kSuccess || declined) {
      ASSERT_EQ(status, mindspore::kSuccess);
      EXPECT_EQ(PartitionCount(model), declined ? 0 : 1);
      EXPECT_EQ(Count(*delegate->records, "build"), declined ? 0U : 1U);
    } else {
      EXPECT_EQ(status, code);
      EXPECT_EQ(Count(*delegate->records, "build"), 0U);
      ASSERT_EQ(Build(&model, bytes, nullptr), mindspore::kSuccess) << "not usable again";
    }
    EXPECT_EQ(Predict(&model, kX), ChainResult(3, kX));
  }
}

TEST(MindSporeInit, is_called_once_per_model_before_it_is_read) {
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  const auto context = CpuContext(delegate);
  const std::vector<uint8_t> bytes = ChainModel(2);
  Model first, second, third;
  ASSERT_EQ(first.Build(bytes.data(), bytes.size(), kMindIR, context), mindspore::kSuccess);
  ASSERT_EQ(second.Build(bytes.data(), bytes.size(), kMindIR, context), mindspore::kSuccess);
  EXPECT_EQ(*delegate->records,
            (Records{"init", "build", "prepare NpuGraph0", "init", "build", "prepare NpuGraph1"}));
  const char wrong[] = "no model at all";
  EXPECT_EQ(third.Build(wrong, sizeof wrong, kMindIR, context), mindspore::kLiteGraphFileError);
  EXPECT_EQ(delegate->records->back(), "init");
}

TEST(MindSporeBuild, failure_is_returned_by_the_model_and_leaks_nothing) {
  const std::vector<uint8_t> bytes = ChainModel(3);
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [raw = delegate.get()](DelegateModel* model) -> Status {
    model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(),
                   new RunKernel({}, {}, raw->records));
    return mindspore::kLiteNullptr;
  };
  Model model;
  EXPECT_EQ(Build(&model, bytes, delegate), mindspore::kLiteNullptr);
  EXPECT_EQ(*delegate->records, (Records{"init", "build", "free "}));
  ASSERT_EQ(Build(&model, bytes, nullptr), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, kX), ChainResult(3, kX));
}

// A delegate that records how many threads are in its functions at the same time.
class ExclusiveDelegate : public mindspore::Delegate {
 public:
  Status Init() override { return Enter(), mindspore::kSuccess; }
  Status Build(DelegateModel* /*model*/) override { return Enter(), mindspore::kSuccess; }
  int most = 0;
  int calls = 0;

 private:
  void Enter() {
    const int now = ++inside_;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::scoped_lock lock(mutex_);
    most = std::max(most, now);
    ++calls;
    --inside_;
  }
  std::atomic<int> inside_ = 0;
  std::mutex mutex_;
};

TEST(MindSporeBuild, calls_of_one_delegate_are_serialised_for_models_of_all_threads) {
  const std::vector<uint8_t> bytes = ChainModel(1);
  const auto delegate = std::make_shared<ExclusiveDelegate>();
  const auto other = std::make_shared<ExclusiveDelegate>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Model model, second;
      EXPECT_EQ(Build(&model, bytes, delegate), mindspore::kSuccess);
      EXPECT_EQ(Build(&second, bytes, other), mindspore::kSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(delegate->most, 1);
  EXPECT_EQ(delegate->calls, 8);
  EXPECT_EQ(other->most, 1);
}

TEST(MindSporeBuild, delegate_may_build_a_model_with_itself) {
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  bool nested = false;
  delegate->on_build = [&](DelegateModel*) {
    Model model;
    return std::exchange(nested, true) ? Status(mindspore::kSuccess)
                                       : Build(&model, ChainModel(1), delegate);
  };
  Model model;
  EXPECT_EQ(Build(&model, ChainModel(2), delegate), mindspore::kSuccess);
  EXPECT_EQ(Count(*delegate->records, "build"), 2u);
}

// Each of two threads is in the build of one delegate and builds a model with the other's.
TEST(MindSporeBuild, nested_builds_that_wait_for_each_other_fail) {
  std::shared_ptr<RunDelegate> delegates[2];
  Status nested[2];
  std::atomic<int> outer_calls = 0;
  for (int i = 0; i < 2; ++i) delegates[i] = std::make_shared<RunDelegate>(nullptr);
  for (int i = 0; i < 2; ++i) {
    delegates[i]->on_build = [&, i, depth = std::make_shared<std::atomic<int>>(0)](DelegateModel*) {
      if (depth->fetch_add(1) > 0) return Status(mindspore::kSuccess);
      ++outer_calls;
      while (outer_calls < 2) std::this_thread::yield();
      Model model;
      nested[i] = Build(&model, ChainModel(1), delegates[1 - i]);
      return Status(mindspore::kSuccess);
    };
  }
  std::vector<std::thread> threads;
  for (const auto& delegate : delegates) {
    threads.emplace_back([&delegate] {
      Model model;
      EXPECT_EQ(Build(&model, ChainModel(1), delegate), mindspore::kSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int failed = nested[0] == mindspore::kSuccess ? 1 : 0;
  EXPECT_EQ(static_cast<int>(nested[failed]), -1);
  EXPECT_THAT(nested[failed].GetErrDescription(),
              testing::HasSubstr("the delegate is in a call of another thread"));
  EXPECT_EQ(nested[1 - failed], mindspore::kSuccess);
}

TEST(MindSporeBuild, exception_fails_the_build) {
  const std::vector<uint8_t> bytes = ChainModel(3);
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [](DelegateModel*) -> Status { throw std::bad_alloc(); };
  Model model;
  EXPECT_EQ(Build(&model, bytes, delegate), mindspore::kLiteMemoryFailed);
}

TEST(MindSporeBuild, list_is_sorted_and_complete) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const auto delegate = std::make_shared<RunDelegate>(nullptr);
    delegate->on_build = [](DelegateModel* model) -> Status {
      EXPECT_EQ(model->EndKernelIterator() - model->BeginKernelIterator(), 10);
      EXPECT_EQ(model->GetVersion(), mindspore::SCHEMA_CUR);
      std::vector<MSTensor> made = model->inputs();
      for (auto iter = model->BeginKernelIterator(); iter < model->EndKernelIterator(); iter += 1) {
        for (const MSTensor& tensor : (*iter)->inputs()) {
          EXPECT_NE(std::find(made.begin(), made.end(), tensor), made.end());
        }
        for (const MSTensor& tensor : (*iter)->outputs()) made.push_back(tensor);
      }
      for (const MSTensor& tensor : model->outputs()) {
        EXPECT_NE(std::find(made.begin(), made.end(), tensor), made.end());
      }
      return mindspore::kSuccess;
    };
    Model model;
    ASSERT_EQ(Build(&model, RandomModel(&random, 10), delegate), mindspore::kSuccess);
    EXPECT_EQ(Count(*delegate->records, "build"), 1U);
  }
}

TEST(MindSporeBuild, empty_graph_has_no_kernels) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "x");
  m.SetInputs({x});
  m.SetOutputs({x});
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [](DelegateModel* model) -> Status {
    EXPECT_EQ(model->BeginKernelIterator(), model->EndKernelIterator());
    return mindspore::kSuccess;
  };
  Model model;
  ASSERT_EQ(Build(&model, m.Finish(), delegate), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, kX), kX);
}

TEST(MindSporeBuild, shared_tensors_are_the_same_object) {
  const std::vector<uint8_t> bytes = Diamond();
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [](DelegateModel* model) -> Status {
    const std::vector<Kernel*> k = *model->nodes();
    EXPECT_TRUE(k[0]->outputs()[0] == k[1]->inputs()[0]);
    EXPECT_TRUE(k[1]->inputs()[0] == k[2]->inputs()[1]);
    EXPECT_TRUE(k[1]->outputs()[0] != k[2]->outputs()[0]) << "equal shapes, other tensors";
    EXPECT_TRUE(k[0]->inputs()[0] == model->inputs()[0]);
    EXPECT_TRUE(k[3]->outputs()[0] == model->outputs()[0]);
    EXPECT_EQ(k[0]->outputs()[0].Data(), nullptr) << "no constant";
    EXPECT_EQ(k[0]->outputs()[0].Shape(), (std::vector<int64_t>{1, kColumns}));
    EXPECT_TRUE(MSTensor() == nullptr && MSTensor(nullptr) == MSTensor());
    return mindspore::kSuccess;
  };
  Model model;
  ASSERT_EQ(Build(&model, bytes, delegate), mindspore::kSuccess);
}

// ---- Attributes ---------------------------------------------------------------------------------

// A model of x[1, 6, 6, 2] -> CONV_2D with stride 1 and with stride 3, a pool, a softmax.
std::vector<uint8_t> ConvModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 6, 6, 2}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {2, 3, 3, 2}, std::vector<float>(36, 0.5F));
  const int b = m.AddConstant<float>(kTfLiteFloat32, {2}, {1, -1});
  const int a = m.AddTensor(kTfLiteFloat32, {1, 6, 6, 2}, "a");
  const int c = m.AddTensor(kTfLiteFloat32, {1, 2, 2, 2}, "c");
  const int d = m.AddTensor(kTfLiteFloat32, {1, 1, 1, 2}, "d");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 1, 1, 2}, "y");
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {a},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1,
                                      schema::ActivationFunctionType::RELU6));
  m.AddOp(kTfLiteBuiltinConv2d, {a, w, b}, {c},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::VALID, 3, 3));
  m.AddOp(kTfLiteBuiltinMaxPool2d, {c}, {d},
          schema::CreatePool2DOptions(m.fbb(), schema::Padding::VALID, 2, 2, 2, 2));
  m.AddOp(kTfLiteBuiltinSoftmax, {d}, {y}, schema::CreateSoftmaxOptions(m.fbb(), 2));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST(MindSporePrimitive, attributes_equal_the_files) {
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [](DelegateModel* model) -> Status {
    using Ints = std::vector<int64_t>;
    std::vector<mindspore::Attributes> p;
    for (Kernel* kernel : *model->nodes()) p.push_back(model->attributes(kernel));
    EXPECT_EQ(p[0].type(), 35);
    EXPECT_EQ(p[0].type_name(), "Conv2DFusion");
    EXPECT_EQ(p[0].GetInts("stride"), (Ints{1, 1}));
    EXPECT_EQ(p[0].GetInts("kernel_size"), (Ints{3, 3}));
    EXPECT_EQ(p[0].GetInts("pad_list"), (Ints{1, 1, 1, 1}));
    EXPECT_EQ(p[0].GetInt("pad_mode"), 1);
    EXPECT_EQ(p[0].GetInt("group"), 1);
    EXPECT_EQ(p[0].GetInt("activation_type"), 3);
    EXPECT_EQ(p[1].GetInts("stride"), (Ints{3, 3}));
    EXPECT_EQ(p[1].GetInt("pad_mode"), 2);
    EXPECT_EQ(p[1].GetInts("pad_list"), (Ints{0, 0, 0, 0}));
    EXPECT_EQ(p[2].type(), 92);
    EXPECT_EQ(p[2].GetInts("strides"), (Ints{2, 2}));
    EXPECT_FALSE(p[2].GetBool("global", true));
    EXPECT_EQ(p[3].type(), 138);
    EXPECT_EQ(p[3].GetFloat("beta"), 2);
    EXPECT_EQ(p[3].GetInt("nothing", 17), 17) << "no such attribute";
    EXPECT_EQ(p[3].GetInt("beta", 17), 17) << "of another kind";
    return mindspore::kSuccess;
  };
  Model model;
  ASSERT_EQ(Build(&model, ConvModel(), delegate), mindspore::kSuccess);
}

TEST(MindSporePrimitive, attributes_determine_claims) {
  int taken = 0;
  const auto delegate = std::make_shared<RunDelegate>(
      [&taken](Kernel* kernel, const ms_schema::Primitive& primitive, int) {
        const bool takes = primitive.value_type() == ms_schema::PrimitiveType_Conv2DFusion &&
                           primitive.value_as_Conv2DFusion()->stride()->Get(0) == 3 &&
                           kernel->inputs()[0].Shape()[1] == 6;
        taken += takes ? 1 : 0;
        return takes;
      });
  Model model;
  ASSERT_EQ(Build(&model, ConvModel(), delegate), mindspore::kSuccess);
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(PartitionCount(model), 1);
}

// ---- Life cycle of a kernel ---------------------------------------------------------------------

TEST(MindSporeKernel, prepared_once_executed_once_per_predict) {
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  Model model;
  {
    std::vector<uint8_t> bytes = ChainModel(3);
    ASSERT_EQ(Build(&model, bytes, delegate), mindspore::kSuccess);
    std::fill(bytes.begin(), bytes.end(), uint8_t{0xAB});  // the library has its own copy
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Predict(&model, kX), ChainResult(3, kX));
  EXPECT_EQ(Count(*delegate->records, "build"), 1U);
  EXPECT_EQ(Count(*delegate->records, "prepare"), 1U);
  EXPECT_EQ(Count(*delegate->records, "execute"), 100U);
  EXPECT_EQ(Count(*delegate->records, "wrong data"), 0U);
}

TEST(MindSporeKernel, failing_prepare_fails_the_build_with_its_code) {
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  delegate->on_kernel = [](RunKernel* kernel) { kernel->prepare_code = -100; };
  Model model;
  EXPECT_EQ(Build(&model, ChainModel(2), delegate), mindspore::kLiteOutOfTensorRange);
  EXPECT_EQ(Count(*delegate->records, "free"), 1U);
}

TEST(MindSporeKernel, predict_returns_the_status_of_a_failing_execute) {
  const auto delegate = std::make_shared<RunDelegate>(
      [](Kernel*, const ms_schema::Primitive&, int at) { return at != 1; });
  delegate->on_kernel = [](RunKernel* kernel) {
    if (kernel->name() == "NpuGraph0") kernel->execute_code = -303;
  };
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(3), delegate), mindspore::kSuccess);
  Status status;
  EXPECT_TRUE(Predict(&model, kX, &status).empty());
  EXPECT_EQ(status, mindspore::kLiteOpExecuteFailure);
  EXPECT_NE(status.ToString().find("NpuGraph0"), std::string::npos) << status.ToString();
  EXPECT_EQ(Count(*delegate->records, "execute NpuGraph1"), 0U);
}

TEST(MindSporeKernel, resize_to_a_new_shape_and_back) {
  for (const bool static_shapes : {false, true}) {
    const auto delegate = std::make_shared<RunDelegate>(
        [](Kernel*, const ms_schema::Primitive&, int at) { return at != 2; });
    delegate->static_shapes = static_shapes;
    Model model;
    ASSERT_EQ(Build(&model, ChainModel(5), delegate), mindspore::kSuccess);
    for (const int64_t batch : {4, 1, 3}) {
      ASSERT_EQ(model.Resize(model.GetInputs(), {{batch, kColumns}}), mindspore::kSuccess);
      std::vector<float> x;
      for (int64_t i = 0; i < batch * kColumns; ++i) x.push_back(static_cast<float>(i));
      EXPECT_EQ(Predict(&model, x), ChainResult(5, x));
      EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{batch, kColumns}));
      EXPECT_EQ(PartitionCount(model), 2);
    }
    EXPECT_EQ(Count(*delegate->records, "resize"), static_shapes ? 0U : 6U);
    EXPECT_EQ(Count(*delegate->records, "build"), static_shapes ? 4U : 1U);
    EXPECT_EQ(Count(*delegate->records, "prepare"), static_shapes ? 8U : 2U);
    EXPECT_EQ(Count(*delegate->records, "init"), 1U);
  }
}

TEST(MindSporeKernel, failing_resize_keeps_the_former_shapes) {
  for (const bool always : {true, false}) {
    const auto delegate = std::make_shared<RunDelegate>(
        [](Kernel*, const ms_schema::Primitive&, int at) { return at != 1; });
    RunKernel* second = nullptr;
    delegate->on_kernel = [&second](RunKernel* kernel) { second = kernel; };
    Model model;
    ASSERT_EQ(Build(&model, ChainModel(3), delegate), mindspore::kSuccess);
    second->resize_code = -500;
    EXPECT_EQ(model.Resize(model.GetInputs(), {{2, kColumns}}), mindspore::kLiteInferError);
    EXPECT_EQ(model.GetInputs()[0].Shape(), (std::vector<int64_t>{1, kColumns}));
    EXPECT_EQ(Predict(&model, kX), ChainResult(3, kX));
    if (always) continue;
    second->resize_code = RET_OK;
    ASSERT_EQ(model.Resize(model.GetInputs(), {{2, kColumns}}), mindspore::kSuccess);
    const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(Predict(&model, x), ChainResult(3, x));
  }
}

TEST(MindSporeKernel, static_delegate_that_refuses_a_shape_keeps_the_former_one) {
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  delegate->static_shapes = true;
  delegate->on_build = [](DelegateModel* model) -> Status {
    return model->inputs()[0].Shape()[0] == 1 ? mindspore::kSuccess : mindspore::kLiteNotSupport;
  };
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(3), delegate), mindspore::kSuccess);
  EXPECT_EQ(model.Resize(model.GetInputs(), {{2, kColumns}}), mindspore::kLiteNotSupport);
  EXPECT_EQ(PartitionCount(model), 1);
  EXPECT_EQ(Predict(&model, kX), ChainResult(3, kX));
}

// A kernel whose output has a shape only after the kernel has run.
class LateKernel : public Kernel {
 public:
  using Kernel::Kernel;
  int Prepare() override { return RET_OK; }
  int ReSize() override { return mindspore::lite::RET_INFER_INVALID; }
  int Execute() override {
    outputs_[0].SetShape(inputs_[0].Shape());
    const auto* in = static_cast<const float*>(inputs_[0].Data().get());
    auto* out = static_cast<float*>(outputs_[0].MutableData());
    for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) out[i] = -in[i];
    return RET_OK;
  }
};

TEST(MindSporeKernel, shape_inference_may_be_postponed) {
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [](DelegateModel* model) -> Status {
    const auto begin = model->BeginKernelIterator();
    auto* kernel = new LateKernel((*begin)->inputs(), (*begin)->outputs(), nullptr, nullptr);
    model->Replace(begin, begin + 1, kernel);
    return mindspore::kSuccess;
  };
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), delegate), mindspore::kSuccess);
  ASSERT_EQ(model.Resize(model.GetInputs(), {{2, kColumns}}), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, {1, 2, 3, 4, 5, 6, 7, 8}),
            (std::vector<float>{-1, 2, -6, -4, -5, 6, -14, -8}));
}

TEST(MindSporeKernel, names_tensors_and_attributes_are_stored) {
  const MSTensor a("a", mindspore::DataType::kNumberTypeFloat32, {2}, nullptr, 0);
  const MSTensor b("b", mindspore::DataType::kNumberTypeFloat32, {2}, nullptr, 0);
  LateKernel kernel({a}, {b}, nullptr, nullptr);
  kernel.set_name("NpuGraph7");
  kernel.SetAttr("key", "value");
  EXPECT_EQ(kernel.name(), "NpuGraph7");
  EXPECT_EQ(kernel.GetAttr("key"), "value");
  EXPECT_TRUE(kernel.inputs()[0] == a && kernel.outputs()[0] == b);
  kernel.set_input(b, 0);
  kernel.set_outputs({a, b});
  EXPECT_TRUE(kernel.inputs()[0] == b && kernel.outputs().size() == 2);
  EXPECT_EQ(kernel.primitive(), nullptr);
  EXPECT_EQ(kernel.context(), nullptr);
  EXPECT_EQ(kernel.InferShape(), -7);
}

// ---- Ownership ----------------------------------------------------------------------------------

TEST(MindSporeOwnership, delegate_outlives_its_kernels) {
  auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  const std::shared_ptr<Records> records = delegate->records;
  delegate->on_kernel = [raw = delegate.get()](RunKernel* kernel) {
    kernel->on_free = [raw] { raw->records->push_back("kernel used the delegate"); };
  };
  auto context = CpuContext(delegate);
  delegate.reset();
  const std::vector<uint8_t> bytes = ChainModel(2);
  auto first = std::make_unique<Model>(), second = std::make_unique<Model>();
  ASSERT_EQ(first->Build(bytes.data(), bytes.size(), kMindIR, context), mindspore::kSuccess);
  ASSERT_EQ(second->Build(bytes.data(), bytes.size(), kMindIR, context), mindspore::kSuccess);
  context.reset();
  first.reset();
  EXPECT_EQ(Count(*records, "delegate gone"), 0U);
  EXPECT_EQ(Predict(second.get(), kX), ChainResult(2, kX));
  second.reset();
  EXPECT_EQ(records->back(), "delegate gone");
  EXPECT_EQ(Count(*records, "kernel used"), 2U);
}

TEST(MindSporeOwnership, tensors_may_outlive_their_model) {
  std::vector<MSTensor> tensors, seen;
  {
    const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
    delegate->on_build = [&seen](DelegateModel* model) -> Status {
      seen = model->inputs();
      return mindspore::kSuccess;
    };
    Model model;
    ASSERT_EQ(Build(&model, ChainModel(2), delegate), mindspore::kSuccess);
    tensors = model.GetInputs();
    tensors.push_back(seen[0]);
  }
  for (const MSTensor& tensor : tensors) {
    EXPECT_EQ(tensor.Name(), "x");
    EXPECT_EQ(tensor.Data(), nullptr);
    EXPECT_TRUE(tensor.Shape().empty());
  }
}

TEST(MindSporeOwnership, context_has_one_delegate) {
  const auto first = std::make_shared<RunDelegate>(ClaimsAll);
  const auto second = std::make_shared<RunDelegate>(ClaimsAll);
  const auto context = CpuContext(first);
  context->SetDelegate(second);
  const std::vector<uint8_t> bytes = ChainModel(2);
  Model model;
  ASSERT_EQ(model.Build(bytes.data(), bytes.size(), kMindIR, context), mindspore::kSuccess);
  EXPECT_TRUE(first->records->empty());
  EXPECT_EQ(Count(*second->records, "build"), 1U);
  context->SetDelegate(nullptr);
  Model plain;
  ASSERT_EQ(plain.Build(bytes.data(), bytes.size(), kMindIR, context), mindspore::kSuccess);
  EXPECT_EQ(PartitionCount(plain), 0);
  EXPECT_EQ(Predict(&plain, kX), Predict(&model, kX));
}

// ---- Callbacks ----------------------------------------------------------------------------------

TEST(MindSporeCallbacks, once_per_kernel_with_names) {
  const auto delegate = std::make_shared<RunDelegate>(
      [](Kernel*, const ms_schema::Primitive&, int at) { return at >= 1 && at <= 2; });
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(4), delegate), mindspore::kSuccess);
  std::vector<MSTensor> inputs = model.GetInputs(), outputs;
  std::copy(kX.begin(), kX.end(), static_cast<float*>(inputs[0].MutableData()));
  Records calls;
  const auto before = [&calls](const auto& in, const auto& out, const auto& info) {
    calls.push_back("before " + info.node_name + " " + info.node_type + " " + in[0].Name() + " " +
                    out[0].Name());
    return false;  // logged; the inference continues
  };
  std::vector<float> last;
  const auto after = [&](const auto&, const auto& out, const auto& info) {
    calls.push_back("after " + info.node_name);
    const auto* values = static_cast<const float*>(out[0].Data().get());
    last.assign(values, values + out[0].ElementNum());
    return true;
  };
  ASSERT_EQ(model.Predict(inputs, &outputs, before, after), mindspore::kSuccess);
  EXPECT_EQ(calls, (Records{"before AddFusion-op0 AddFusion x y0", "after AddFusion-op0",
                            "before NpuGraph0 NONE y0 y2", "after NpuGraph0",
                            "before MulFusion-op3 MulFusion y2 y3", "after MulFusion-op3"}));
  EXPECT_EQ(last, ChainResult(4, kX));
  ASSERT_EQ(model.Predict(inputs, &outputs), mindspore::kSuccess);
  EXPECT_EQ(calls.size(), 6U) << "callbacks of an earlier inference";
}

TEST(MindSporeCallbacks, predict_inside_a_callback_is_refused) {
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(1), nullptr), mindspore::kSuccess);
  Status inner;
  const auto before = [&](const auto&, const auto&, const auto&) {
    inner = model.Predict(model.GetInputs(), nullptr);
    return true;
  };
  EXPECT_EQ(model.Predict(model.GetInputs(), nullptr, before), mindspore::kSuccess);
  EXPECT_EQ(inner, mindspore::kLiteReentrantError);
}

// ---- Extensions of MindSpore's API --------------------------------------------------------------

TEST(MindSporeBeyond, operator_without_a_kernel_may_be_claimed) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "y");
  m.AddCustomOp("Mystery", {x}, {y}, {1, 2, 3});
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> bytes = m.Finish();
  Model plain;
  const Status refused = Build(&plain, bytes, nullptr);
  EXPECT_EQ(refused, mindspore::kLiteNotFindOp);
  EXPECT_NE(refused.ToString().find("Mystery"), std::string::npos) << refused.ToString();

  const auto delegate =
      std::make_shared<RunDelegate>([](Kernel*, const ms_schema::Primitive& primitive, int) {
        const ms_schema::Custom* custom = primitive.value_as_Custom();
        EXPECT_EQ(custom->attr()->size(), 1);
        EXPECT_EQ(custom->attr()->Get(0)->name()->str(), "custom_options");
        EXPECT_THAT(*custom->attr()->Get(0)->data(), testing::ElementsAre(1, 2, 3));
        return custom->type()->str() == "Mystery";
      });
  Model model;
  ASSERT_EQ(Build(&model, bytes, delegate), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, kX), (std::vector<float>{2, 4, -6, 1}));
}

// The kernel of a TensorFlow Lite delegate that claims MUL by a constant.
TfLiteRegistration MulNode() {
  TfLiteRegistration registration = {};
  registration.builtin_code = kTfLiteBuiltinDelegate;
  registration.custom_name = "PlainMul";
  registration.init = [](TfLiteContext*, const char* buffer, size_t) -> void* {
    const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    return new int(params->nodes_to_replace->size);
  };
  registration.free = [](TfLiteContext*, void* user_data) { delete static_cast<int*>(user_data); };
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    int in = node->inputs->data[0];
    if (context->tensors[in].allocation_type == kTfLiteMmapRo) in = node->inputs->data[1];
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]],
                                 TfLiteIntArrayCopy(context->tensors[in].dims));
  };
  registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor* a = &context->tensors[node->inputs->data[0]];
    const TfLiteTensor* b = &context->tensors[node->inputs->data[1]];
    const TfLiteTensor& out = context->tensors[node->outputs->data[0]];
    if (a->allocation_type == kTfLiteMmapRo) std::swap(a, b);
    for (size_t i = 0; i < out.bytes / sizeof(float); ++i) {
      out.data.f[i] = a->data.f[i] * b->data.f[i % kColumns];
    }
    return kTfLiteOk;
  };
  return registration;
}

TfLiteStatus PrepareMul(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan = nullptr;
  TF_LITE_ENSURE_STATUS(context->GetExecutionPlan(context, &plan));
  TfLiteIntArray* nodes = TfLiteIntArrayCopy(plan);
  nodes->size = 0;
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    context->GetNodeAndRegistration(context, plan->data[i], &node, &registration);
    if (registration->builtin_code == kTfLiteBuiltinMul) nodes->data[nodes->size++] = plan->data[i];
  }
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, MulNode(), nodes, delegate);
  TfLiteIntArrayFree(nodes);
  return status;
}

TfLiteDelegate PlainMulDelegate() {
  TfLiteDelegate delegate = {};
  delegate.Prepare = PrepareMul;
  delegate.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  return delegate;
}

// Returns which delegate or the CPU runs each node of the plan.
Records Owners(const TfLiteInterpreter* interpreter) {
  Records owners;
  std::map<int, std::string> by_position;
  for (int i = 0; i < DeputyInterpreterGetNodeCount(interpreter, 0); ++i) {
    const DeputyNodeInfo info = NodeInfoOf(interpreter, i);
    if (info.plan_position >= 0) by_position[info.plan_position] = info.owner;
  }
  for (const auto& [position, owner] : by_position) owners.push_back(owner);
  return owners;
}

RunDelegate::Predicate ClaimsAddsExcept(int left) {
  return [left](Kernel*, const ms_schema::Primitive& primitive, int at) {
    return primitive.value_type() == ms_schema::PrimitiveType_AddFusion && at != left;
  };
}

TEST(MindSporeBeyond, shares_a_plan_with_a_delegate_of_tensorflow_lites) {
  TfLiteDelegate plain = PlainMulDelegate();
  const auto context = CpuContext(std::make_shared<RunDelegate>(ClaimsAddsExcept(2)));
  context->AddTfLiteDelegate(&plain);
  const std::vector<uint8_t> bytes = ChainModel(5);
  Model model;
  ASSERT_EQ(model.Build(bytes.data(), bytes.size(), kMindIR, context), mindspore::kSuccess);
  EXPECT_EQ(Owners(model.interpreter()),
            (Records{"NpuGraph0", "PlainMul", "CPU", "PlainMul", "NpuGraph1"}));
  EXPECT_EQ(Predict(&model, kX), ChainResult(5, kX));
  ASSERT_EQ(DeputyInterpreterGetDelegateCount(model.interpreter()), 2);
  for (int i = 0; i < 2; ++i) {
    const DeputyDelegateInfo info = DelegateInfoOf(model.interpreter(), i);
    EXPECT_EQ(info.partition_count, 2);
    EXPECT_EQ(std::string(info.name), i == 0 ? "NpuGraph0" : "PlainMul");
  }
}

TEST(MindSporeBeyond, is_a_delegate_for_libdeputys_interpreters) {
  TfLiteDelegate plain = PlainMulDelegate();
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAddsExcept(-1));
  const std::vector<uint8_t> bytes = ChainModel(5);
  for (const bool mul_first : {false, true}) {
    TfLiteDelegate* adapted = mindspore::ToTfLiteDelegate(delegate);
    ASSERT_NE(adapted, nullptr);
    TfLiteModel* model = TfLiteModelCreate(bytes.data(), bytes.size());
    TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsAddDelegate(options, mul_first ? &plain : adapted);
    TfLiteInterpreterOptionsAddDelegate(options, mul_first ? adapted : &plain);
    TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
    ASSERT_NE(interpreter, nullptr);
    const int shape[] = {2, kColumns};
    ASSERT_EQ(TfLiteInterpreterResizeInputTensor(interpreter, 0, shape, 2), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    EXPECT_EQ(Count(Owners(interpreter), "NpuGraph"), 3U);
    EXPECT_EQ(Count(Owners(interpreter), "PlainMul"), 2U);
    const std::vector<float> x = {1, 2, 3, 4, -1, -2, -3, -4};
    std::copy(x.begin(), x.end(), TfLiteInterpreterGetInputTensor(interpreter, 0)->data.f);
    ASSERT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    const TfLiteTensor* y = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    EXPECT_EQ(std::vector<float>(y->data.f, y->data.f + 8), ChainResult(5, x));
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    DeputyMSDelegateDeleteTfLite(adapted);
  }
}

TEST(MindSporeBeyond, nodes_of_an_earlier_delegate_are_listed_and_kept) {
  TfLiteDelegate plain = PlainMulDelegate();
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [raw = delegate.get()](DelegateModel* model) -> Status {
    EXPECT_EQ(model->EndKernelIterator() - model->BeginKernelIterator(), 3);
    EXPECT_EQ(model->GetPrimitive((*model->nodes())[1]), nullptr);
    EXPECT_EQ((*model->nodes())[1]->name(), "PlainMul");
    model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(),
                   new RunKernel({}, {}, raw->records));
    return mindspore::kSuccess;
  };
  TfLiteDelegate* adapted = mindspore::ToTfLiteDelegate(delegate);
  const std::vector<uint8_t> bytes = ChainModel(3);
  TfLiteModel* model = TfLiteModelCreate(bytes.data(), bytes.size());
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, nullptr);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter, &plain), kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter, adapted), kTfLiteDelegateError);
  EXPECT_NE(std::string(DeputyMSLastError()).find("belongs to another delegate"), std::string::npos)
      << DeputyMSLastError();
  EXPECT_EQ(Count(*delegate->records, "free"), 1U);
  TfLiteInterpreterDelete(interpreter);
  TfLiteModelDelete(model);
  int64_t compiled = -1;
  EXPECT_EQ(DeputyMSDelegateGetCompileTime(adapted, &compiled), kMSStatusSuccess);
  EXPECT_GT(compiled, 0);
  EXPECT_EQ(DeputyMSDelegateGetCompileTime(adapted, nullptr), kMSStatusLiteParamInvalid);
  EXPECT_EQ(DeputyMSDelegateGetCompileTime(nullptr, &compiled), kMSStatusLiteParamInvalid);
  DeputyMSDelegateDeleteTfLite(adapted);
}

}  // namespace
}  // namespace deputy::mindspore_delegate_test
