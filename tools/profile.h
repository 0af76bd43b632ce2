// SPDX-License-Identifier: Apache-2.0
//
// Who ran which operator and how long it took.
#ifndef DEPUTY_TOOLS_PROFILE_H_
#define DEPUTY_TOOLS_PROFILE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "json.h"
#include "session.h"

namespace deputy::tools {

// Listens to an interpreter from construction to destruction. The graph must not change meanwhile.
class Profile {
 public:
  // With `keep_events` it keeps when each node ran, and which thread had which part of it; the
  // first million of both.
  explicit Profile(const Session& session, bool keep_events = false);
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Operator, owner, nodes, time per inference, share; the most expensive first.
  void PrintByOperator(size_t inferences) const;
  // The same for single nodes, at most `limit` of them.
  void PrintByNode(size_t inferences, size_t limit) const;
  // All nodes that have run, in the order of execution.
  void PrintInOrder(size_t inferences) const;
  // The same as comma separated values with a line of headings; times per inference.
  void WriteCsv(size_t inferences, FILE* file) const;
  Json ToJson(size_t inferences) const;

  // One run of a node, on the clock of DeputyOpEvent.
  struct Event {
    int subgraph = 0, node = 0;
    int64_t begin_ns = 0, duration_ns = 0;
  };
  // In the order in which they ended.
  const std::vector<Event>& events() const { return events_; }
  // What one thread did of a node; see DeputyWorkerEvent.
  struct WorkerEvent {
    Event part;
    int worker = 0, tiles = 0;
  };
  const std::vector<WorkerEvent>& worker_events() const { return worker_events_; }
  const std::string& NameOf(const Event& event) const { return RowOf(event).operator_name; }
  const std::string& OwnerOf(const Event& event) const { return RowOf(event).owner; }
  // As it was handed to the interpreter; null: the CPU.
  const TfLiteDelegate* DelegateOf(const Event& event) const { return RowOf(event).delegate; }

 private:
  struct Row {
    int subgraph = 0, node = 0, position = 0;
    std::string operator_name, owner;
    const TfLiteDelegate* delegate = nullptr;  // whose node it is
    std::vector<int> followers;                // nodes that run with it in a step, and in its time
    int head = -1;                             // the node in whose step and time it runs; -1: none
    int nodes = 1;
    int64_t calls = 0, nanoseconds = 0;
  };

  static void OnEvent(void* profile, const DeputyOpEvent* event);
  static void OnWorkerEvent(void* profile, const DeputyWorkerEvent* event);
  Row MakeRow(const DeputyNodeInfo& info) const;
  // Null where there is no such node.
  const Row* FindRow(int subgraph, int node) const;
  const Row& RowOf(const Event& event) const { return *FindRow(event.subgraph, event.node); }
  std::vector<Row> Nodes() const;
  std::vector<Row> InOrder() const;
  std::string Where(const Row& row) const;
  std::vector<Row> Operators() const;
  double TotalNanoseconds() const;
  // The node's operator, and those of its step.
  std::string OperatorsOf(const Row& row) const;

  TfLiteInterpreter* interpreter_;
  std::vector<std::vector<Row>> rows_;  // by subgraph and node, names filled in beforehand
  bool keep_events_;
  std::vector<Event> events_;
  std::vector<WorkerEvent> worker_events_;
  int followers_ = 0;  // of all nodes
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PROFILE_H_
