// SPDX-License-Identifier: Apache-2.0
//
// `deputy replay`: shows the record of a delegate's calls, or repeats it (fake_host.h). One JSON
// document is built from the record, and the text is written from it, so that both agree.
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bridges/layers/record/record_file.h"
#include "commands.h"
#include "deputy/common.h"
#include "fake_host.h"
#include "json.h"
#include "records.h"
#include "text.h"

namespace deputy::tools {
namespace {

std::string DigestText(uint64_t digest) {
  return Format("%016llx", static_cast<unsigned long long>(digest));
}

const char* ContentsText(record::Contents contents) {
  switch (contents) {
    case record::Contents::kDigest:
      return "digest";
    case record::Contents::kData:
      return "data";
    default:
      return "none";
  }
}

Json TensorsJson(const std::vector<record::TensorValue>& tensors) {
  Json list = Json::array();
  for (const record::TensorValue& tensor : tensors) {
    Json json = {{"index", tensor.index},
                 {"name", tensor.name},
                 {"type", TfLiteTypeGetName(static_cast<TfLiteType>(tensor.type))},
                 {"shape", tensor.dims},
                 {"bytes", tensor.bytes},
                 {"allocation", tensor.allocation},
                 {"scale", double{tensor.scale}},
                 {"zero_point", tensor.zero_point},
                 {"buffer_handle", tensor.buffer_handle},
                 {"data_is_stale", tensor.data_is_stale},
                 {"contents", ContentsText(tensor.contents)}};
    if (tensor.contents != record::Contents::kNone) json["digest"] = DigestText(tensor.digest);
    list.push_back(std::move(json));
  }
  return list;
}

Json CallJson(const record::Call& call) {
  const record::CallBegin& begin = call.begin;
  Json json = {{"call", begin.call},         {"function", record::NameOf(begin.function)},
               {"subgraph", begin.subgraph}, {"kernel", begin.kernel},
               {"tensor", begin.tensor},     {"buffer_handle", begin.buffer_handle},
               {"name", begin.name},         {"version", begin.version},
               {"nodes", begin.nodes},       {"inputs", begin.inputs},
               {"outputs", begin.outputs},   {"tensors", TensorsJson(begin.tensors)}};
  if (!call.end) {
    json["end"] = nullptr;
    return json;
  }
  json["end"] = {{"status", call.end->status},
                 {"duration_ns", call.end->duration_ns},
                 {"buffer_handle", call.end->buffer_handle},
                 {"errors", call.end->errors},
                 {"tensors", TensorsJson(call.end->tensors)}};
  return json;
}

Json SessionJson(const record::Record& record) {
  if (!record.session) return nullptr;
  Json options = Json::object();
  for (const auto& [key, value] : record.session->options) options[key] = value;
  return {{"host", record.session->host},
          {"machine", record.session->machine},
          {"library", record.session->library},
          {"options", options}};
}

Json ModelJson(const record::Record& record) {
  if (!record.model) return nullptr;
  return {{"bytes", record.model->bytes},
          {"digest", DigestText(record.model->digest)},
          {"included", record.model->has_data}};
}

Json NotesJson(const record::Record& record) {
  Json notes = Json::array();
  for (const record::Note& note : record.notes) {
    notes.push_back({{"title", note.title}, {"text", note.text}});
  }
  return notes;
}

Json Describe(const std::string& path, const record::Record& record) {
  Json calls = Json::array();
  for (const record::Call& call : record.calls) calls.push_back(CallJson(call));
  return {{"record", path},
          {"session", SessionJson(record)},
          {"model", ModelJson(record)},
          {"cut", record.cut},
          {"limit_reached", record.limit_reached},
          {"calls", calls},
          {"notes", NotesJson(record)}};
}

// ---- Text ---------------------------------------------------------------------------------------

void PrintSession(const Json& session) {
  if (session.is_null()) return;
  std::printf("host %s\nmachine %s\nlibrary %s\n", OneLine(session["host"]).c_str(),
              OneLine(session["machine"]).c_str(), OneLine(session["library"]).c_str());
  std::printf("options %s\n", OneLine(JsonText(session["options"])).c_str());
}

void PrintModel(const Json& model) {
  if (model.is_null()) return;
  std::printf("model %s bytes, digest %s, %s\n", JsonText(model["bytes"]).c_str(),
              model["digest"].get<std::string>().c_str(),
              model["included"].get<bool>() ? "included" : "not included");
}

std::string NumberText(const Json& number) {
  return number.get<int>() < 0 ? "-" : JsonText(number);
}

// Returns "5:data 6:digest" for tensors 5 and 6.
std::string ContentsText(const Json& tensors) {
  std::string text;
  for (const Json& tensor : tensors) {
    if (!text.empty()) text += ' ';
    text += JsonText(tensor["index"]);
    if (tensor.contains("digest")) text += ":" + tensor["contents"].get<std::string>();
  }
  return Shorten(text, 30);
}

void PrintCalls(const Json& calls) {
  if (calls.empty()) return;
  std::printf("\n");
  Table table("><>>><<",
              {"call", "function", "kernel", "status", "ms", "tensors before", "tensors after"});
  for (const Json& call : calls) {
    const Json& end = call["end"];
    const bool has_end = !end.is_null();
    table.Add({JsonText(call["call"]), call["function"], NumberText(call["kernel"]),
               has_end ? JsonText(end["status"]) : "none",
               has_end ? Format("%.3f", end["duration_ns"].get<double>() / 1e6) : "-",
               ContentsText(call["tensors"]), has_end ? ContentsText(end["tensors"]) : ""});
  }
  table.Print();
}

void PrintErrors(const Json& calls) {
  for (const Json& call : calls) {
    const std::string name = JsonText(call["call"]);
    if (call["end"].is_null()) {
      std::printf("call %s has not returned\n", name.c_str());
    } else if (!call["end"]["errors"].get<std::string>().empty()) {
      std::printf("call %s reported: %s\n", name.c_str(), OneLine(call["end"]["errors"]).c_str());
    }
  }
}

// Prints short notes, and the sizes of others.
void PrintNotes(const Json& notes) {
  constexpr size_t kMaxShown = 1000;
  for (const Json& note : notes) {
    const std::string title = note["title"], text = note["text"];
    std::printf("%s: %s\n", OneLine(title).c_str(),
                text.size() > kMaxShown ? (BytesText(text.size()) + ", see --json").c_str()
                                        : OneLine(text).c_str());
  }
}

void PrintText(const Json& record) {
  std::printf("record %s: %s\n", OneLine(record["record"]).c_str(),
              PluralText(record["calls"].size(), "call", "calls").c_str());
  PrintSession(record["session"]);
  PrintModel(record["model"]);
  PrintCalls(record["calls"]);
  PrintErrors(record["calls"]);
  PrintNotes(record["notes"]);
  const std::string cut = record["cut"];
  if (!cut.empty()) std::printf("the file is cut: %s\n", cut.c_str());
  if (record["limit_reached"].get<bool>()) {
    std::printf("the limit of the file's size was reached; later calls are not recorded\n");
  }
}

}  // namespace

record::Record ReadRecord(const std::string& path) {
  record::Record record;
  const std::string problem = record::ReadRecordFile(path, &record);
  if (!problem.empty()) FailUsage("record '%s': %s", path.c_str(), problem.c_str());
  return record;
}

void ReplayRecord(const ReplayOptions& options) {
  if (!options.inspect) {
    RunFakeHost(options);
    return;
  }
  const Json document = Describe(options.record, ReadRecord(options.record));
  if (options.json) {
    std::printf("%s\n", JsonText(document, 2).c_str());
  } else {
    PrintText(document);
  }
}

}  // namespace deputy::tools
