// SPDX-License-Identifier: Apache-2.0
#include "bridges/triton/config.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "core/support/option_list.h"

namespace deputy::triton {
namespace {

Error BadParameter(const std::string& name, const std::string& expected, const std::string& found) {
  return Invalid("parameter '" + name + "': expected " + expected + ", found '" + found + "'");
}

Error ReadThreads(const std::string& text, Settings* settings) {
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, settings->threads);
  const bool is_number = problem == std::errc() && stop == end;
  if (!is_number || settings->threads < 1 || settings->threads > 1024) {
    return BadParameter("threads", "a number from 1 to 1024", text);
  }
  return nullptr;
}

// Reads "lib.so,log=x,ops=0,18": a piece without '=' continues the value before it.
Error ReadDelegate(const std::string& text, DelegateChoice* choice) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    if (c == ',') {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  choice->library = pieces[0];
  for (size_t i = 1; i < pieces.size(); ++i) {
    const size_t equals = pieces[i].find('=');
    if (equals != std::string::npos && equals > 0) {
      choice->options.push_back(SplitOption(pieces[i]));
    } else if (!choice->options.empty()) {
      choice->options.back().second += "," + pieces[i];
    } else {
      return BadParameter("delegate", "KEY=VALUE after the library", pieces[i]);
    }
  }
  if (choice->library.empty()) return BadParameter("delegate", "a name or path", text);
  return nullptr;
}

Error ReadDelegates(const std::string& text, Settings* settings) {
  for (const std::string& each : SplitOptions(text)) {
    DEPUTY_TRY(ReadDelegate(each, &settings->delegates.emplace_back()));
  }
  return nullptr;
}

Error ReadPrecision(const std::string& text, Settings* settings) {
  if (text == "float32") {
    settings->precision = kDeputyPrecisionFloat32;
  } else if (text == "bf16") {
    settings->precision = kDeputyPrecisionBfloat16;
  } else if (text == "fp16") {
    settings->precision = kDeputyPrecisionFloat16;
  } else {
    return BadParameter("precision", "float32, bf16 or fp16", text);
  }
  return nullptr;
}

Error ReadPolicy(const std::string& text, Settings* settings) {
  if (text == "hot") {
    settings->policy = kDeputyPolicyHot;
  } else if (text == "tflite") {
    settings->policy = kDeputyPolicyTfLite;
  } else {
    return BadParameter("policy", "hot or tflite", text);
  }
  return nullptr;
}

Error ReadIsolate(const std::string& text, Settings* settings) {
  for (const std::string_view profile : {"device", "strict", "none"}) {
    if (text == profile || text == std::string(profile) + "+dynamic") {
      settings->isolate = text;
      return nullptr;
    }
  }
  return BadParameter("isolate", "device, strict or none, also with +dynamic", text);
}

struct Parameter {
  const char* name;
  Error (*read)(const std::string& text, Settings* settings);
};

constexpr Parameter kParameters[] = {{"delegate", ReadDelegates},
                                     {"isolate", ReadIsolate},
                                     {"policy", ReadPolicy},
                                     {"precision", ReadPrecision},
                                     {"threads", ReadThreads}};

Error ReadParameter(const std::string& name, const std::string& text, Settings* settings) {
  std::string names;
  for (const Parameter& parameter : kParameters) {
    if (name == parameter.name) return parameter.read(text, settings);
    names += (names.empty() ? "" : ", ") + std::string(parameter.name);
  }
  return Invalid("unknown parameter '" + name + "'; there are " + names);
}

// Returns a member, or null if the value is not an object or has no such member.
const Json* Find(const Json& value, const char* key) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(key);
  return found == value.end() ? nullptr : &*found;
}

std::string TextOf(const Json& value, const char* key) {
  const Json* const found = Find(value, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

// Returns a number, which protocol buffers may write as a JSON string; 0 for other values.
int64_t NumberOf(const Json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  int64_t number = 0;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

const Json& ArrayOf(const Json& value, const char* key) {
  static const Json kNone = Json::array();
  const Json* const found = Find(value, key);
  return found != nullptr && found->is_array() ? *found : kNone;
}

Shape NumbersOf(const Json& value, const char* key) {
  Shape numbers;
  for (const Json& each : ArrayOf(value, key)) numbers.push_back(NumberOf(each));
  return numbers;
}

// Returns true if tensors of both shapes can exist: each dimension is equal, or open in one of
// them.
bool Match(const Shape& one, const Shape& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](int64_t a, int64_t b) { return a == b || a == -1 || b == -1; });
}

Error CheckTensor(const TensorInfo& info, const Json& entry) {
  const std::string type = TextOf(entry, "data_type");
  if (type != info.type->ConfigName()) {
    return Invalid(info.Label() + ": the configuration has data_type " + type + ", the model " +
                   info.type->ConfigName());
  }
  const Json* const reshape = Find(entry, "reshape");
  const Shape dims = reshape != nullptr ? NumbersOf(*reshape, "shape") : NumbersOf(entry, "dims");
  if (!Match(dims, info.ConfigShape())) {
    return Invalid(info.Label() + ": the configuration has the shape " + ShapeText(dims) +
                   ", the model " + ShapeText(info.ConfigShape()));
  }
  return nullptr;
}

std::string NamesOf(const std::vector<TensorInfo>& infos) {
  std::string names;
  for (const TensorInfo& info : infos) names += (names.empty() ? "'" : ", '") + info.name + "'";
  return names;
}

}  // namespace

Error ReadSettings(const Json& config, Settings* settings) {
  if (const Json* const parameters = Find(config, "parameters"); parameters != nullptr) {
    for (const auto& [name, value] : parameters->items()) {
      DEPUTY_TRY(ReadParameter(name, TextOf(value, "string_value"), settings));
    }
  }
  if (!settings->isolate.empty() && settings->delegates.empty()) {
    return Invalid("parameter 'isolate': expected a parameter 'delegate', found none");
  }
  const std::string file = TextOf(config, "default_model_filename");
  if (!file.empty()) settings->model_file = file;
  const Json* const batch = Find(config, "max_batch_size");
  settings->max_batch_size = batch == nullptr ? 0 : NumberOf(*batch);
  if (const Json* const sequences = Find(config, "sequence_batching"); sequences != nullptr) {
    settings->has_sequences = true;
    if (Find(*sequences, "oldest") != nullptr) {
      return Invalid("sequence_batching: expected the strategy direct, found oldest");
    }
    if (settings->max_batch_size > 1) {
      return Invalid("sequence_batching: expected a max_batch_size of 0 or 1, found " +
                     std::to_string(settings->max_batch_size));
    }
  }
  return nullptr;
}

bool CompleteTensors(const std::vector<TensorInfo>& infos, const char* key, Json* config) {
  if (!ArrayOf(*config, key).empty()) return false;
  Json entries = Json::array();
  for (const TensorInfo& info : infos) {
    entries.push_back({{"name", info.name},
                       {"data_type", info.type->ConfigName()},
                       {"dims", info.ConfigShape()}});
  }
  (*config)[key] = std::move(entries);
  return true;
}

Error CheckTensors(const std::vector<TensorInfo>& infos, const char* key, const Json& config) {
  std::vector<std::string> named;
  for (const Json& entry : ArrayOf(config, key)) {
    const std::string name = TextOf(entry, "name");
    const auto info = std::find_if(infos.begin(), infos.end(),
                                   [&](const TensorInfo& each) { return each.name == name; });
    if (info == infos.end()) {
      return Invalid(std::string("the model has no ") + key + " '" + name + "'; it has " +
                     NamesOf(infos));
    }
    DEPUTY_TRY(CheckTensor(*info, entry));
    named.push_back(name);
  }
  if (std::string_view(key) == "output") return nullptr;
  for (const TensorInfo& info : infos) {
    if (std::find(named.begin(), named.end(), info.name) == named.end()) {
      return Invalid("the configuration has no " + info.Label() + ", which the model needs");
    }
  }
  return nullptr;
}

}  // namespace deputy::triton
