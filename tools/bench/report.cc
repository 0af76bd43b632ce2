// SPDX-License-Identifier: Apache-2.0
//
// Prints the results of `deputy bench`. The summary at the end of the text is for users; the line
// after it has the format of benchmark_model's times, for programs that parse that output. Only the
// lines of --report_peak_memory_footprint follow.
#include "tools/bench/report.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>

#include "deputy/deputy.h"
#include "tools/bench/state.h"
#include "tools/delegate_facts.h"
#include "tools/json.h"
#include "tools/measured_placement.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

double Mean(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

void WriteCsvFile(const BenchReport& report) {
  const std::string& path = report.options.profile_file;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "w"), &std::fclose);
  if (file == nullptr) FailUsage("%s: %s", path.c_str(), std::strerror(errno));
  report.profile->WriteCsv(report.profiled, file.get());
  if (std::fflush(file.get()) != 0) FailWork("%s: %s", path.c_str(), std::strerror(errno));
}

void PrintProfile(const BenchReport& report) {
  if (report.profile == nullptr) return;
  if (!report.options.profile_file.empty()) {
    WriteCsvFile(report);
    std::printf("profile    written to %s\n", OneLine(report.options.profile_file).c_str());
    return;
  }
  std::printf("\n");
  if (report.options.profile_mode == "csv") {
    report.profile->WriteCsv(report.profiled, stdout);
    return;
  }
  if (report.options.whole_profile) {
    report.profile->PrintInOrder(report.profiled);
    std::printf("\n");
  }
  report.profile->PrintByOperator(report.profiled);
  if (report.options.nodes > 0) {
    std::printf("\n");
    report.profile->PrintByNode(report.profiled, static_cast<size_t>(report.options.nodes));
  }
  if (report.device_work.empty()) return;
  std::printf("\n");
  PrintDeviceWork(report.device_work, report.profiled, static_cast<size_t>(report.options.nodes));
}

Json FactsOf(const BenchReport& report, size_t index) {
  return DelegateFacts(report.delegates.handles()[index],
                       report.delegates.reports()[index].undeclared);
}

void PrintDelegates(const BenchReport& report) {
  for (size_t i = 0; i < report.delegates.reports().size(); ++i) {
    const DelegateReport& delegate = report.delegates.reports()[i];
    std::printf("delegate   %s: ", OneLine(delegate.name).c_str());
    if (!delegate.available) {
      std::printf("not available\n");
      continue;
    }
    std::printf("%zu of %s, %s\n", delegate.nodes,
                PluralText(report.delegates.node_count(), "node", "nodes").c_str(),
                PluralText(delegate.partitions, "partition", "partitions").c_str());
    PrintDelegateFacts(FactsOf(report, i));
  }
  if (!report.options.show_cpu_nodes) return;
  for (const CpuNode& node : report.delegates.cpu_nodes()) {
    std::printf("on the CPU %d.%d %s\n", node.subgraph, node.node,
                OneLine(node.operator_name).c_str());
  }
}

// Returns true if the run includes the cost of a possible fallback: policy Hot with delegates.
bool CanFallBack(const BenchReport& report) {
  return report.session.delegation_status().policy == kDeputyPolicyHot &&
         !report.delegates.reports().empty();
}

void PrintFallback(const BenchReport& report) {
  if (!CanFallBack(report)) return;
  const DeputyDelegationStatus status = report.session.delegation_status();
  std::printf("fallback   ready for failing delegates: %s reserved, %.3f ms spent so far\n",
              BytesText(status.reserved_bytes).c_str(),
              static_cast<double>(status.saving_ns) / 1e6);
}

void PrintInputs(const BenchReport& report) {
  for (const InputReport& input : report.inputs) {
    if (input.source == "random") continue;
    std::printf("input      '%s' %s %s from %s\n", OneLine(input.name).c_str(), input.type.c_str(),
                ShapeText(input.shape).c_str(), OneLine(input.source).c_str());
  }
}

Json InputsJson(const BenchReport& report) {
  Json inputs = Json::array();
  for (const InputReport& input : report.inputs) {
    Json row = {{"name", input.name},
                {"type", input.type},
                {"shape", input.shape},
                {"source", input.source}};
    if (input.numeric) row.update({{"min", input.smallest}, {"max", input.largest}});
    inputs.push_back(row);
  }
  return inputs;
}

Json DelegatesJson(const BenchReport& report) {
  Json delegates = Json::array();
  for (size_t i = 0; i < report.delegates.reports().size(); ++i) {
    const DelegateReport& delegate = report.delegates.reports()[i];
    Json row = {
        {"name", delegate.name}, {"flag", delegate.flag}, {"available", delegate.available}};
    if (!delegate.available) row["problem"] = delegate.problem;
    row.update({{"nodes", delegate.nodes},
                {"partitions", delegate.partitions},
                {"facts", FactsOf(report, i)}});
    delegates.push_back(row);
  }
  return delegates;
}

Json CpuNodesJson(const BenchReport& report) {
  Json nodes = Json::array();
  for (const CpuNode& node : report.delegates.cpu_nodes()) {
    nodes.push_back(
        {{"subgraph", node.subgraph}, {"node", node.node}, {"operator", node.operator_name}});
  }
  return nodes;
}

// Prints times; those of inferences in microseconds if the median is below a millisecond.
void PrintTimes(const BenchReport& report) {
  const BenchTimes& times = report.times;
  std::printf("start-up   load %.3f ms, prepare %.3f ms", report.session.load_ms(),
              report.session.prepare_ms());
  if (times.runs == 0) {
    std::printf("\ninference  none (--dry_run)\n");
    return;
  }
  const double largest = times.median;
  const double scale = largest < 1 ? 1e3 : 1;
  const char* const unit = largest < 1 ? "us" : "ms";
  std::printf(", first inference %.3f ms\n", times.first);
  std::printf("inference  min %.3f, median %.3f, p90 %.3f, p95 %.3f, p99 %.3f %s\n",
              scale * times.min, scale * times.median, scale * times.p90, scale * times.p95,
              scale * times.p99, unit);
  std::printf("           max %.3f, mean %.3f %s (%zu runs)\n", scale * times.max,
              scale * times.mean, unit, times.runs);
}

void PrintValues(const BenchReport& report) {
  for (const auto& [name, value] : report.options.values) {
    std::printf("option     %s=%s\n", name.c_str(), OneLine(value).c_str());
  }
}

// Prints the peak memory in benchmark_model's format. The kernel tracks the peak, so no sampling
// thread is needed.
void PrintPeakMemory(const BenchMemory& memory) {
  const auto megabytes = [](size_t bytes) { return static_cast<double>(bytes) / 1048576; };
  std::printf("Memory footprint delta from the start of the tool (MB): init=%.6g overall=%.6g\n",
              megabytes(memory.resident_ready - memory.resident_at_start),
              megabytes(memory.resident_peak - memory.resident_at_start));
  std::printf("Overall peak memory footprint (MB) via periodic monitoring: %.6g\n",
              megabytes(memory.resident_peak));
}

}  // namespace

BenchTimes SummariseTimes(double init, const std::vector<double>& warmup,
                          std::vector<double> times) {
  BenchTimes summary = {};
  summary.init = init;
  if (times.empty()) return summary;
  summary.first = warmup.front();
  summary.warmup = Mean(warmup);
  summary.runs = times.size();
  summary.median = Percentile(&times, 0.5);
  summary.p90 = Percentile(&times, 0.9);
  summary.p95 = Percentile(&times, 0.95);
  summary.p99 = Percentile(&times, 0.99);
  summary.min = times.front();
  summary.max = times.back();
  summary.mean = Mean(times);
  return summary;
}

size_t PeakResidentBytes() {
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<size_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

BenchMemory MeasureMemory(const Session& session, size_t resident_at_start, size_t resident_ready) {
  BenchMemory memory;
  memory.resident_ready = resident_ready;
  TfLiteInterpreter* interpreter = session.interpreter();
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    DeputyMemoryMap map = {};
    map.struct_size = sizeof(map);
    if (DeputyInterpreterGetMemoryMap(interpreter, s, &map) != kTfLiteOk) continue;
    memory.arena += map.arena_bytes;
    memory.persistent += map.persistent_bytes;
    // Scratch, packed and resource bytes are equal for all subgraphs.
    memory.scratch = map.scratch_bytes;
    memory.packed = map.packed_bytes;
    memory.resource = map.resource_bytes;
  }
  memory.resident_at_start = resident_at_start;
  memory.resident_peak = PeakResidentBytes();
  return memory;
}

void PrintText(const BenchReport& report) {
  const BenchTimes& times = report.times;
  const BenchMemory& memory = report.memory;
  std::printf("model      %s\n", OneLine(report.options.session.model).c_str());
  PrintValues(report);
  std::printf("threads    %d, kernels %s\n", report.options.session.threads, DeputyCpuTable());
  const std::string precision = report.session.PrecisionText();
  if (!precision.empty()) std::printf("precision  %s\n", precision.c_str());
  const std::string weights = report.session.WeightCacheText();
  if (!weights.empty()) std::printf("weights    %s\n", weights.c_str());
  PrintDelegates(report);
  PrintPlacement(report.session.placement());
  PrintInputs(report);
  PrintTimes(report);
  std::printf("memory     arena %s, persistent %s, scratch %s, packed constants %s, resources %s\n",
              BytesText(memory.arena).c_str(), BytesText(memory.persistent).c_str(),
              BytesText(memory.scratch).c_str(), BytesText(memory.packed).c_str(),
              BytesText(memory.resource).c_str());
  std::printf("           peak resident %s (%s at start)\n",
              BytesText(memory.resident_peak).c_str(), BytesText(memory.resident_at_start).c_str());
  PrintFallback(report);
  if (report.options.list_signatures) PrintSignatures(report.session);
  PrintProfile(report);
  std::printf("\nsummary    %s\n", OneLine(report.delegates.Summary()).c_str());
  std::printf(
      "Inference timings in us: Init: %.0f, First inference: %.0f, Warmup (avg): %.6g, "
      "Inference (avg): %.6g\n",
      1e3 * times.init, 1e3 * times.first, 1e3 * times.warmup, 1e3 * times.mean);
  if (report.options.peak_memory) PrintPeakMemory(memory);
}

void PrintJson(const BenchReport& report) {
  const BenchTimes& times = report.times;
  const BenchMemory& memory = report.memory;
  Json json = {{"model", report.options.session.model},
               {"threads", report.options.session.threads},
               {"kernels", DeputyCpuTable()},
               {"precision", report.session.PrecisionText()},
               {"weight_cache", report.session.WeightCacheText()},
               {"load_ms", report.session.load_ms()},
               {"prepare_ms", report.session.prepare_ms()},
               {"delegates_ms", report.delegates.apply_ms()},
               {"init_ms", times.init},
               {"first_ms", times.first},
               {"warmup_ms", times.warmup},
               {"runs", times.runs},
               {"min_ms", times.min},
               {"median_ms", times.median},
               {"p90_ms", times.p90},
               {"p95_ms", times.p95},
               {"p99_ms", times.p99},
               {"max_ms", times.max},
               {"mean_ms", times.mean},
               {"memory",
                {{"arena_bytes", memory.arena},
                 {"persistent_bytes", memory.persistent},
                 {"scratch_bytes", memory.scratch},
                 {"packed_bytes", memory.packed},
                 {"resource_bytes", memory.resource},
                 {"resident_ready_bytes", memory.resident_ready},
                 {"resident_at_start_bytes", memory.resident_at_start},
                 {"resident_peak_bytes", memory.resident_peak}}},
               {"inputs", InputsJson(report)},
               {"delegates", DelegatesJson(report)},
               {"node_count", report.delegates.node_count()},
               {"cpu_nodes", CpuNodesJson(report)},
               {"summary", report.delegates.Summary()}};
  const Json& choice = report.options.session.device_choice;
  if (!choice.is_null()) json["device_choice"] = choice;
  if (!report.session.placement().is_null()) json["placement"] = report.session.placement();
  if (CanFallBack(report)) {
    const DeputyDelegationStatus status = report.session.delegation_status();
    json["fallback"] = {{"reserved_bytes", status.reserved_bytes},
                        {"saving_ns", status.saving_ns},
                        {"degraded", status.degraded != 0},
                        {"recomputed_nodes", status.recomputed_nodes}};
  }
  if (report.profile != nullptr) {
    json["profiled_runs"] = report.profiled;
    json.update(report.profile->ToJson(report.profiled));
    if (!report.device_work.empty()) {
      json["device"] = DeviceWorkJson(report.device_work, report.profiled);
    }
    if (!report.options.profile_file.empty()) WriteCsvFile(report);
  }
  std::printf("%s\n", JsonText(json, 2).c_str());
}

}  // namespace deputy::tools
