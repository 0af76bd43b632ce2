// SPDX-License-Identifier: Apache-2.0
//
// Cost of operations as a graph grows: each is measured at n and at 10 n, and the second line has
// the ratio of the two, `times_n`. A ratio of 10 is linear, 100 would be quadratic. Times are
// processor time, which depends least on the machine's load. n is the number of nodes, inputs,
// subgraphs or signatures.
#include <benchmark/benchmark.h>
#include <time.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "c_api/include/deputy.h"
#include "tests/support/large_models.h"

namespace deputy {
namespace {

constexpr int64_t kNodes = 10000;

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A model with its interpreter, not yet allocated.
struct Made {
  using Configure = std::function<void(TfLiteInterpreterOptions*)>;

  explicit Made(const std::vector<uint8_t>& file, const Configure& configure = {}) : bytes(file) {
    options = TfLiteInterpreterOptionsCreate();
    if (configure) configure(options);
    model = TfLiteModelCreate(bytes.data(), bytes.size());
  }
  ~Made() {
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  void Create() { interpreter = TfLiteInterpreterCreate(model, options); }
  void Allocate() { Check(TfLiteInterpreterAllocateTensors(interpreter)); }
  void Delegate() { Check(TfLiteInterpreterModifyGraphWithDelegate(interpreter, half.get())); }
  void Check(TfLiteStatus status) { ok = ok && status == kTfLiteOk; }

  const std::vector<uint8_t> bytes;
  Halving half;
  TfLiteInterpreterOptions* options = nullptr;
  TfLiteModel* model = nullptr;
  TfLiteInterpreter* interpreter = nullptr;
  bool ok = true;
};

// A benchmark of two functions: `work` is timed, `make` is not.
struct Case {
  const char* name;
  std::function<std::unique_ptr<Made>(int n)> make;
  std::function<void(Made*, int n)> work;
};

void Run(benchmark::State& state, const Case& row) {
  static std::map<std::string, double> at_n;
  const int n = static_cast<int>(state.range(0));
  double total = 0;
  for (auto _ : state) {
    const std::unique_ptr<Made> made = row.make(n);
    const double begin = ProcessorSeconds();
    row.work(made.get(), n);
    const double taken = ProcessorSeconds() - begin;
    state.SetIterationTime(taken);
    total += taken;
    if (!made->ok) state.SkipWithError("the work failed");
  }
  const double each = total / static_cast<double>(state.iterations());
  if (n == kNodes) {
    at_n[row.name] = each;
  } else {
    state.counters["times_n"] = each / at_n[row.name];
  }
}

std::unique_ptr<Made> Allocated(std::vector<uint8_t> file) {
  auto made = std::make_unique<Made>(file, AddIdleOperator);
  made->Create();
  made->Allocate();
  return made;
}

void QueryEveryNode(Made* made, int) {
  const int nodes = DeputyInterpreterGetNodeCount(made->interpreter, 0);
  for (int node = 0; node < nodes; ++node) {
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    made->Check(DeputyInterpreterGetNodeRun(made->interpreter, 0, node, &run));
    DeputyNodeInfo info{};
    info.struct_size = sizeof info;
    made->Check(DeputyInterpreterGetNodeInfo(made->interpreter, 0, node, &info));
  }
  DeputyMemoryMap map{};
  map.struct_size = sizeof map;
  made->Check(DeputyInterpreterGetMemoryMap(made->interpreter, 0, &map));
  for (size_t i = 0; i < map.tensor_count; ++i) {
    DeputyTensorMemory memory{};
    memory.struct_size = sizeof memory;
    made->Check(DeputyInterpreterGetTensorMemory(made->interpreter, 0, i, &memory));
  }
}

const Case kCases[] = {
    {"create_nodes", [](int n) { return std::make_unique<Made>(IdleChain(n), AddIdleOperator); },
     [](Made* made, int) { made->Create(); }},
    {"delegate_every_second_node", [](int n) { return Allocated(IdleChain(n)); },
     [](Made* made, int) { made->Delegate(); }},
    {"delegate_every_second_node_under_hot",
     [](int n) {
       auto made = std::make_unique<Made>(IdleChain(n), [](TfLiteInterpreterOptions* options) {
         AddIdleOperator(options);
         DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
       });
       made->Create();
       made->Allocate();
       return made;
     },
     [](Made* made, int) { made->Delegate(); }},
    {"resize_under_that_delegate",
     [](int n) {
       auto made = Allocated(IdleChain(n));
       made->Delegate();
       return made;
     },
     [](Made* made, int) {
       const int dims[] = {2};
       made->Check(TfLiteInterpreterResizeInputTensor(made->interpreter, 0, dims, 1));
       made->Allocate();
     }},
    {"delegate_half_of_nodes_over_200_inputs",
     [](int n) { return Allocated(NodesOverSharedInputs(n, 200)); },
     [](Made* made, int) { made->Delegate(); }},
    {"allocate_inputs",
     [](int n) {
       auto made = std::make_unique<Made>(ManyInputs(n));
       made->Create();
       return made;
     },
     [](Made* made, int) { made->Allocate(); }},
    {"delegate_subgraphs_under_hot",
     [](int n) {
       auto made = std::make_unique<Made>(OneSubgraphOften(n), [](auto* options) {
         DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
       });
       made->Create();
       return made;
     },
     [](Made* made, int) { made->Delegate(); }},
    {"runners_of_signatures",
     [](int n) {
       auto made = std::make_unique<Made>(SignaturesOfOneName(n, 1000000));
       made->Create();
       return made;
     },
     [](Made* made, int n) {
       for (int i = 0; i < n; ++i) {
         TfLiteSignatureRunner* runner = TfLiteInterpreterGetSignatureRunner(
             made->interpreter, ("k" + std::to_string(i)).c_str());
         if (runner == nullptr) made->Check(kTfLiteError);
         TfLiteSignatureRunnerDelete(runner);
       }
     }},
    {"ask_about_every_node_and_tensor",
     [](int n) {
       auto made = Allocated(IdleChain(n));
       made->Delegate();
       return made;
     },
     &QueryEveryNode},
};

const bool registered = [] {
  for (const Case& row : kCases) {
    benchmark::RegisterBenchmark((std::string("graph/") + row.name).c_str(),
                                 [&row](benchmark::State& state) { Run(state, row); })
        ->Arg(kNodes)
        ->Arg(10 * kNodes)
        ->UseManualTime()
        ->Iterations(3)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace deputy
