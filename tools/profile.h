// SPDX-License-Identifier: Apache-2.0
//
// Measures the time of each node, with its operator and its owner (the CPU or a delegate).
#ifndef DEPUTY_TOOLS_PROFILE_H_
#define DEPUTY_TOOLS_PROFILE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "json.h"
#include "session.h"

namespace deputy::tools {

// Observes an interpreter from construction to destruction. The graph must not change meanwhile.
class Profile {
 public:
  // Starts to observe a session. `keep_events` also records the interval of each node and of each
  // thread's part of it, at most the first million of each kind.
  explicit Profile(const Session& session, bool keep_events = false);
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Prints operator, owner, nodes, time per inference and share, most expensive first.
  void PrintByOperator(size_t inferences) const;
  // Prints a table like PrintByOperator with one row per node, at most `limit` rows.
  void PrintByNode(size_t inferences, size_t limit) const;
  // Prints all nodes that have run, in execution order.
  void PrintInOrder(size_t inferences) const;
  // Writes the rows of PrintInOrder as comma separated values with a heading line; times are per
  // inference.
  void WriteCsv(size_t inferences, FILE* file) const;
  Json ToJson(size_t inferences) const;

  // One execution of a node, on the clock of DeputyOpEvent.
  struct Event {
    int subgraph = 0, node = 0;
    int64_t begin_ns = 0, duration_ns = 0;
  };
  // Returns the executions of nodes, in the order of completion.
  const std::vector<Event>& events() const { return events_; }
  // Returns the events that delegates reported for operators in their partitions, with the
  // operation's name.
  const std::vector<std::pair<Event, std::string>>& reported() const { return reported_; }
  // One thread's part of a node's execution (DeputyWorkerEvent).
  struct WorkerEvent {
    Event part;
    int worker = 0, tiles = 0;
  };
  const std::vector<WorkerEvent>& worker_events() const { return worker_events_; }
  const std::string& NameOf(const Event& event) const { return RowOf(event).operator_name; }
  const std::string& OwnerOf(const Event& event) const { return RowOf(event).owner; }
  // Returns the delegate as given to the interpreter; null for the CPU.
  const TfLiteDelegate* DelegateOf(const Event& event) const { return RowOf(event).delegate; }

 private:
  struct Row {
    int subgraph = 0, node = 0, position = 0;
    std::string operator_name, owner;
    const TfLiteDelegate* delegate = nullptr;  // the delegate that owns the node
    std::vector<int> followers;  // nodes fused into this one; their time is part of its time
    int head = -1;               // the node into which this one is fused; -1: none
    int nodes = 1;
    int64_t calls = 0, nanoseconds = 0;
    int64_t last_begin_ns =
        -1;  // begin of the newest run, for a delegate's node with reported operators
  };

  static void OnEvent(void* profile, const DeputyOpEvent* event);
  void Add(const Event& event);
  void AddReported(const DeputyOpEvent& event);
  static void OnWorkerEvent(void* profile, const DeputyWorkerEvent* event);
  Row MakeRow(const DeputyNodeInfo& info) const;
  // Returns the row of a node; null if there is no such node.
  const Row* FindRow(int subgraph, int node) const;
  const Row& RowOf(const Event& event) const { return *FindRow(event.subgraph, event.node); }
  std::vector<Row> Nodes() const;
  std::vector<Row> InOrder() const;
  std::string Where(const Row& row) const;
  std::vector<Row> Operators() const;
  double TotalNanoseconds() const;
  // Returns the node's operator and those of the nodes fused with it.
  std::string OperatorsOf(const Row& row) const;

  TfLiteInterpreter* interpreter_;
  // Rows by subgraph and node; names are filled in by the constructor.
  std::vector<std::vector<Row>> rows_;
  bool keep_events_;
  std::vector<Event> events_;
  std::vector<std::pair<Event, std::string>> reported_;
  std::vector<WorkerEvent> worker_events_;
  int followers_ = 0;  // number of fused followers, over all nodes
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PROFILE_H_
