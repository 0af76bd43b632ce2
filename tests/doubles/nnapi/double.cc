// SPDX-License-Identifier: Apache-2.0
//
// NNAPI's functions in the test double: objects, checks of the order of calls, recording.
#include "tests/doubles/nnapi/double.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

using namespace deputy::nnapi;  // NOLINT: for the constants of the ABI
using nnapi_double::Operand;
using nnapi_double::Operation;
using nnapi_double::Value;

struct ANeuralNetworksMemory {
  void* data;
  size_t bytes;
};

struct ANeuralNetworksModel {
  std::vector<Operand> operands;
  std::vector<Operation> operations;
  std::vector<uint32_t> inputs, outputs;
  bool is_identified = false, is_finished = false, is_relaxed = false;
};

struct ANeuralNetworksDevice {
  const char* name;
  int32_t type;
};

struct ANeuralNetworksCompilation {
  ANeuralNetworksModel* model;
  std::string settings;
  bool is_finished = false;
  size_t devices = 0;
};

struct ANeuralNetworksBurst {
  ANeuralNetworksCompilation* compilation;
};

struct ANeuralNetworksExecution {
  ANeuralNetworksCompilation* compilation;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  bool is_started = false;
};

struct ANeuralNetworksEvent {
  std::thread thread;
  int code = kNoError;
};

namespace {

struct State {
  std::mutex mutex;  // protects the members below
  std::map<std::string, int> failures, counts;
  std::string dump, first_error;
  std::atomic<int> level{kFeatureLevel5};

  State() {
    if (const char* text = std::getenv("NNAPI_DOUBLE_LEVEL")) level = std::atoi(text);
    const char* const failure = std::getenv("NNAPI_DOUBLE_FAIL");
    const char* const equals = failure == nullptr ? nullptr : std::strchr(failure, '=');
    if (equals != nullptr) failures[std::string(failure, equals)] = std::atoi(equals + 1);
  }
};

State& TheState() {
  static State state;
  return state;
}

// Counts a call. Returns kNoError or the error code that the call must return.
int Called(const char* function) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  ++state.counts[function];
  const auto failure = state.failures.find(function);
  return failure == state.failures.end() ? kNoError : failure->second;
}

void Count(const char* what, int by) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.counts[what] += by;
}

int ReportError(int code, const std::string& text) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  if (state.first_error.empty()) state.first_error = text;
  return code;
}

void Dump(const std::string& text) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.dump += text;
}

const char* TypeName(int32_t type) {
  switch (type) {
    case kFloat32:
      return "FLOAT32";
    case kInt32:
      return "INT32";
    case kBool:
      return "BOOL";
    case kTensorFloat32:
      return "TENSOR_FLOAT32";
    case kTensorInt32:
      return "TENSOR_INT32";
    case kTensorQuant8Asymm:
      return "TENSOR_QUANT8_ASYMM";
    case kTensorQuant8AsymmSigned:
      return "TENSOR_QUANT8_ASYMM_SIGNED";
    case kTensorQuant8SymmPerChannel:
      return "TENSOR_QUANT8_SYMM_PER_CHANNEL";
    case kTensorBool8:
      return "TENSOR_BOOL8";
    default:
      return "?";
  }
}

template <typename Number>
std::string List(const std::vector<Number>& numbers) {
  std::ostringstream text;
  text.precision(9);
  for (size_t i = 0; i < numbers.size(); ++i) text << (i == 0 ? "" : ",") << numbers[i];
  return text.str();
}

// Returns an operand as a line of text: "operand 3 TENSOR_INT32[2] = 1,2".
std::string Describe(const Operand& operand, size_t number) {
  std::ostringstream text;
  text.precision(9);
  text << "operand " << number << " " << TypeName(operand.type);
  if (!operand.is_scalar()) text << "[" << List(operand.dims) << "]";
  if (operand.scale != 0) text << " scale " << operand.scale << " zero " << operand.zero_point;
  if (!operand.channel_scales.empty()) {
    text << " channel " << operand.channel << " scales " << List(operand.channel_scales);
  }
  if (!operand.has_value) return text.str() + "\n";
  if (operand.count() > 8) {
    text << " = " << operand.bytes << " bytes";
  } else {
    Operand stored = operand;  // without scale and zero point: decodes to integers
    stored.scale = stored.scale == 0 ? 0 : 1;
    stored.zero_point = 0;
    std::fill(stored.channel_scales.begin(), stored.channel_scales.end(), 1.0F);
    text << " = " << List(Decode(stored, operand.value()).data);
  }
  return text.str() + "\n";
}

std::string Describe(const ANeuralNetworksModel& model) {
  std::string text = "model\n";
  for (size_t i = 0; i < model.operands.size(); ++i) text += Describe(model.operands[i], i);
  for (const Operation& operation : model.operations) {
    text += std::string(nnapi_double::OperationName(operation.code)) + " " +
            List(operation.inputs) + " -> " + List(operation.outputs) + "\n";
  }
  text += "inputs " + List(model.inputs) + "\noutputs " + List(model.outputs) + "\n";
  return model.is_relaxed ? text + "relaxed\n" : text;
}

bool IsQuantised(int32_t type) {
  return type == kTensorQuant8Asymm || type == kTensorQuant8AsymmSigned;
}

std::string CheckOperand(const ANeuralNetworksOperandType& type) {
  if (std::string(TypeName(type.type)) == "?") return "an unknown type";
  if (IsQuantised(type.type)) {
    const int least = type.type == kTensorQuant8Asymm ? 0 : -128;
    const bool is_fine = type.scale > 0 && type.zeroPoint >= least && type.zeroPoint <= least + 255;
    if (!is_fine) return "a quantised tensor's scale or zero point";
  } else if (type.zeroPoint != 0 || (type.scale != 0 && type.type != kTensorInt32)) {
    return "a scale or zero point of a type that has none";
  }
  const bool is_scalar = type.type == kFloat32 || type.type == kInt32 || type.type == kBool;
  if (is_scalar != (type.dimensionCount == 0)) return "the number of dimensions";
  for (uint32_t i = 0; i < type.dimensionCount; ++i) {
    if (type.dimensions[i] == 0) return "an unknown dimension";
  }
  return "";
}

// Finds the operand and prepares it for a value. Fails if it already has one.
int PrepareValue(ANeuralNetworksModel* model, int32_t index, size_t length, Operand** out) {
  if (model->is_finished) return ReportError(kBadState, "a value for a finished model");
  if (index < 0 || static_cast<size_t>(index) >= model->operands.size()) {
    return ReportError(kBadData, "a value for no operand");
  }
  Operand& operand = model->operands[static_cast<size_t>(index)];
  if (operand.has_value) return ReportError(kBadData, "a second value for an operand");
  if (length != operand.count() * operand.element_bytes()) {
    return ReportError(kBadData, "a value of another size than its operand");
  }
  operand.has_value = true;
  operand.bytes = length;
  *out = &operand;
  return kNoError;
}

// Returns "" if each operand is an input, has a value, or is written once before it is read;
// otherwise the problem.
std::string CheckFlow(const ANeuralNetworksModel& model) {
  std::vector<bool> is_known(model.operands.size());
  for (size_t i = 0; i < model.operands.size(); ++i) is_known[i] = model.operands[i].has_value;
  for (const uint32_t input : model.inputs) {
    if (is_known[input]) return "an input that has a value";
    is_known[input] = true;
  }
  for (const Operation& operation : model.operations) {
    for (const uint32_t input : operation.inputs) {
      if (!is_known[input]) return "an operand that is read before it is written";
    }
    for (const uint32_t output : operation.outputs) {
      if (is_known[output]) return "an operand that is written twice";
      is_known[output] = true;
    }
  }
  const bool is_whole = std::all_of(is_known.begin(), is_known.end(), [](bool b) { return b; });
  return is_whole ? "" : "an operand that is never written";
}

// Scales the values of a bias whose weights have one scale per channel; in NNAPI such a bias has no
// scales itself.
void ScaleBias(const Operation& operation, const std::vector<Operand>& operands,
               std::vector<Value>* values) {
  const bool has_bias = operation.code == kConv2d || operation.code == kDepthwiseConv2d ||
                        operation.code == kTransposeConv;
  if (!has_bias) return;
  const Operand& weights = operands[operation.inputs[1]];
  for (size_t i = 0; i < weights.channel_scales.size(); ++i) {
    (*values)[2].data[i] *=
        static_cast<double>(operands[operation.inputs[0]].scale) * weights.channel_scales[i];
  }
}

std::string RunOperation(const Operation& operation, const std::vector<Operand>& operands,
                         std::vector<std::vector<uint8_t>>* contents) {
  std::vector<Value> in, out;
  std::vector<const Operand*> types;
  for (const uint32_t input : operation.inputs) {
    const Operand& operand = operands[input];
    const void* data = operand.has_value ? operand.value() : (*contents)[input].data();
    in.push_back(Decode(operand, data));
    types.push_back(&operand);
  }
  ScaleBias(operation, operands, &in);
  for (const uint32_t output : operation.outputs) {
    Value& value = out.emplace_back();
    value.dims.assign(operands[output].dims.begin(), operands[output].dims.end());
    value.data.resize(operands[output].count());
  }
  const std::string problem = nnapi_double::Compute(operation.code, in, types, &out);
  for (size_t i = 0; i < out.size(); ++i) {
    const Operand& operand = operands[operation.outputs[i]];
    (*contents)[operation.outputs[i]].resize(operand.count() * operand.element_bytes());
    Encode(out[i], operand, (*contents)[operation.outputs[i]].data());
  }
  Count("operations", 1);
  return problem;
}

int Run(const ANeuralNetworksExecution& execution) {
  const ANeuralNetworksModel& model = *execution.compilation->model;
  std::vector<std::vector<uint8_t>> contents(model.operands.size());
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const Operand& operand = model.operands[model.inputs[i]];
    const auto* data = static_cast<const uint8_t*>(execution.inputs[i]);
    contents[model.inputs[i]].assign(data, data + operand.count() * operand.element_bytes());
  }
  for (const Operation& operation : model.operations) {
    if (!RunOperation(operation, model.operands, &contents).empty()) return kOpFailed;
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const std::vector<uint8_t>& content = contents[model.outputs[i]];
    memcpy(execution.outputs[i], content.data(), content.size());
  }
  return kNoError;
}

// Checks, before an execution starts, that it has not run yet and that all arguments are set.
int Start(ANeuralNetworksExecution* execution) {
  if (execution->is_started) return ReportError(kBadState, "an execution that is started twice");
  execution->is_started = true;
  for (const void* input : execution->inputs) {
    if (input == nullptr) return ReportError(kBadData, "an execution without an input");
  }
  for (const void* output : execution->outputs) {
    if (output == nullptr) return ReportError(kBadData, "an execution without an output");
  }
  return kNoError;
}

// Returns the variable that stores an argument of an execution; null if the argument is invalid.
template <typename Pointer>
Pointer* FindArgument(ANeuralNetworksExecution* execution, const std::vector<uint32_t>& operands,
                      std::vector<Pointer>* places, int32_t index, size_t length) {
  if (index < 0 || static_cast<size_t>(index) >= places->size() || execution->is_started) {
    ReportError(kBadData, "an argument that there is not");
    return nullptr;
  }
  const auto i = static_cast<size_t>(index);
  const Operand& operand = execution->compilation->model->operands[operands[i]];
  if (operand.count() * operand.element_bytes() != length) {
    ReportError(kBadData, "an argument of another size");
    return nullptr;
  }
  return &(*places)[i];
}

void* InMemory(const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  if (offset > memory->bytes || length > memory->bytes - offset) {
    ReportError(kBadData, "a place outside of a memory");
    return nullptr;
  }
  return static_cast<char*>(memory->data) + offset;
}

ANeuralNetworksDevice kDevices[] = {{"double-npu", 4}, {"double-cpu", kDeviceCpu}};

}  // namespace

#define DOUBLE_ENTER(name) \
  if (const int entered = Called(name); entered != kNoError) return entered

extern "C" {

void NnapiDoubleFail(const char* function, int code) {
  const std::lock_guard lock(TheState().mutex);
  TheState().failures[function] = code;
}
void NnapiDoubleSetLevel(int level) { TheState().level = level; }
int NnapiDoubleCount(const char* what) {
  const std::lock_guard lock(TheState().mutex);
  return TheState().counts[what];
}
const char* NnapiDoubleDump() {
  static std::string text;
  const std::lock_guard lock(TheState().mutex);
  text = TheState().dump;
  return text.c_str();
}
const char* NnapiDoubleFirstError() {
  static std::string text;
  const std::lock_guard lock(TheState().mutex);
  text = TheState().first_error;
  return text.c_str();
}
void NnapiDoubleReset() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  const int alive = state.counts["alive"];
  state.counts.clear();
  state.counts["alive"] = alive;
  state.failures.clear();
  state.dump.clear();
  state.first_error.clear();
  state.level = kFeatureLevel5;
}

// ---- Memory, models -----------------------------------------------------------------------------

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                       ANeuralNetworksMemory** memory) {
  DOUBLE_ENTER("Memory_createFromFd");
  void* data = mmap(nullptr, size, protect, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED) return kUnmappable;
  *memory = new ANeuralNetworksMemory{data, size};
  Count("alive", 1);
  return kNoError;
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory) {
  Called("Memory_free");
  munmap(memory->data, memory->bytes);
  delete memory;
  Count("alive", -1);
}

int ANeuralNetworksModel_create(ANeuralNetworksModel** model) {
  DOUBLE_ENTER("Model_create");
  *model = new ANeuralNetworksModel();
  Count("alive", 1);
  return kNoError;
}

void ANeuralNetworksModel_free(ANeuralNetworksModel* model) {
  Called("Model_free");
  delete model;
  Count("alive", -1);
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model,
                                    const ANeuralNetworksOperandType* type) {
  DOUBLE_ENTER("Model_addOperand");
  const std::string problem = CheckOperand(*type);
  if (!problem.empty()) return ReportError(kBadData, problem);
  if (model->is_finished) return ReportError(kBadState, "an operand for a finished model");
  Operand& operand = model->operands.emplace_back();
  operand.type = type->type;
  operand.dims.assign(type->dimensions, type->dimensions + type->dimensionCount);
  operand.scale = type->scale;
  operand.zero_point = type->zeroPoint;
  return kNoError;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index,
                                         const void* buffer, size_t length) {
  DOUBLE_ENTER("Model_setOperandValue");
  Operand* operand = nullptr;
  const int code = PrepareValue(model, index, length, &operand);
  if (code != kNoError) return code;
  const auto* bytes = static_cast<const uint8_t*>(buffer);
  if (length <= kCopiedValueBytes) {
    operand->copied.assign(bytes, bytes + length);
  } else {
    operand->borrowed = buffer;
  }
  return kNoError;
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                   const ANeuralNetworksMemory* memory,
                                                   size_t offset, size_t length) {
  DOUBLE_ENTER("Model_setOperandValueFromMemory");
  Operand* operand = nullptr;
  const int code = PrepareValue(model, index, length, &operand);
  if (code != kNoError) return code;
  operand->borrowed = InMemory(memory, offset, length);
  return operand->borrowed == nullptr ? kBadData : kNoError;
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel* model, int32_t index,
    const ANeuralNetworksSymmPerChannelQuantParams* params) {
  DOUBLE_ENTER("Model_setOperandSymmPerChannelQuantParams");
  Operand& operand = model->operands.at(static_cast<size_t>(index));
  if (operand.type != kTensorQuant8SymmPerChannel || params->channelDim >= operand.dims.size() ||
      operand.dims[params->channelDim] != params->scaleCount) {
    return ReportError(kBadData, "scales per channel");
  }
  operand.channel = params->channelDim;
  operand.channel_scales.assign(params->scales, params->scales + params->scaleCount);
  return kNoError;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t type,
                                      uint32_t input_count, const uint32_t* inputs,
                                      uint32_t output_count, const uint32_t* outputs) {
  DOUBLE_ENTER("Model_addOperation");
  Operation operation = {type, {inputs, inputs + input_count}, {outputs, outputs + output_count}};
  std::vector<const Operand*> in, out;
  for (const auto& [indices, operands] :
       {std::pair(&operation.inputs, &in), std::pair(&operation.outputs, &out)}) {
    for (const uint32_t index : *indices) {
      if (index >= model->operands.size())
        return ReportError(kBadData, "an operand that there is not");
      operands->push_back(&model->operands[index]);
    }
  }
  const std::string problem = nnapi_double::CheckOperation(TheState().level, type, in, out);
  if (!problem.empty()) return ReportError(kBadData, problem);
  model->operations.push_back(std::move(operation));
  return kNoError;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t input_count,
                                                  const uint32_t* inputs, uint32_t output_count,
                                                  const uint32_t* outputs) {
  DOUBLE_ENTER("Model_identifyInputsAndOutputs");
  model->inputs.assign(inputs, inputs + input_count);
  model->outputs.assign(outputs, outputs + output_count);
  model->is_identified = true;
  return kNoError;
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel* model, bool allow) {
  DOUBLE_ENTER("Model_relaxComputationFloat32toFloat16");
  model->is_relaxed = allow;
  return kNoError;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel* model) {
  DOUBLE_ENTER("Model_finish");
  if (!model->is_identified) return ReportError(kBadState, "a model without inputs and outputs");
  const std::string problem = CheckFlow(*model);
  if (!problem.empty()) return ReportError(kBadData, problem);
  model->is_finished = true;
  Dump(Describe(*model));
  return kNoError;
}

// ---- Devices, compilations ----------------------------------------------------------------------

int64_t ANeuralNetworks_getRuntimeFeatureLevel() {
  Called("_getRuntimeFeatureLevel");
  return TheState().level;
}

int ANeuralNetworks_getDeviceCount(uint32_t* count) {
  DOUBLE_ENTER("_getDeviceCount");
  *count = 2;
  return kNoError;
}

int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device) {
  DOUBLE_ENTER("_getDevice");
  *device = &kDevices[index];
  return kNoError;
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name) {
  DOUBLE_ENTER("Device_getName");
  *name = device->name;
  return kNoError;
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type) {
  DOUBLE_ENTER("Device_getType");
  *type = device->type;
  return kNoError;
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice*, int64_t* level) {
  DOUBLE_ENTER("Device_getFeatureLevel");
  *level = TheState().level;
  return kNoError;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                          const ANeuralNetworksDevice* const*,
                                                          uint32_t, bool* supported) {
  DOUBLE_ENTER("Model_getSupportedOperationsForDevices");
  std::fill(supported, supported + model->operations.size(), true);
  return kNoError;
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model,
                                      ANeuralNetworksCompilation** compilation) {
  DOUBLE_ENTER("Compilation_create");
  if (!model->is_finished) return ReportError(kBadState, "a compilation of an unfinished model");
  *compilation = new ANeuralNetworksCompilation{model, "", false, 0};
  Count("alive", 1);
  return kNoError;
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model,
                                                const ANeuralNetworksDevice* const* devices,
                                                uint32_t count,
                                                ANeuralNetworksCompilation** compilation) {
  DOUBLE_ENTER("Compilation_createForDevices");
  if (!model->is_finished) return ReportError(kBadState, "a compilation of an unfinished model");
  std::string settings;
  for (uint32_t i = 0; i < count; ++i) settings += std::string(" device ") + devices[i]->name;
  *compilation = new ANeuralNetworksCompilation{model, settings, false, count};
  Count("alive", 1);
  return kNoError;
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation) {
  Called("Compilation_free");
  delete compilation;
  Count("alive", -1);
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation* compilation,
                                             int32_t preference) {
  DOUBLE_ENTER("Compilation_setPreference");
  compilation->settings += " preference " + std::to_string(preference);
  return kNoError;
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation* compilation, int priority) {
  DOUBLE_ENTER("Compilation_setPriority");
  compilation->settings += " priority " + std::to_string(priority);
  return kNoError;
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation* compilation,
                                          uint64_t nanoseconds) {
  DOUBLE_ENTER("Compilation_setTimeout");
  if (compilation->devices != 1) return ReportError(kBadData, "a time-out without one device");
  compilation->settings += " timeout " + std::to_string(nanoseconds);
  return kNoError;
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation* compilation,
                                          const char* folder, const uint8_t* token) {
  DOUBLE_ENTER("Compilation_setCaching");
  std::ostringstream text;
  for (size_t i = 0; i < kCacheTokenBytes; ++i)
    text << std::hex << (token[i] >> 4) << (token[i] & 15);
  compilation->settings += std::string(" cache ") + folder + " token " + text.str();
  return kNoError;
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation) {
  DOUBLE_ENTER("Compilation_finish");
  if (compilation->is_finished)
    return ReportError(kBadState, "a compilation that is finished twice");
  compilation->is_finished = true;
  Dump("compilation" + compilation->settings + "\n");
  return kNoError;
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation* compilation,
                                ANeuralNetworksBurst** burst) {
  DOUBLE_ENTER("Burst_create");
  *burst = new ANeuralNetworksBurst{compilation};
  Count("alive", 1);
  return kNoError;
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst* burst) {
  Called("Burst_free");
  delete burst;
  Count("alive", -1);
}

// ---- Executions ---------------------------------------------------------------------------------

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation,
                                    ANeuralNetworksExecution** execution) {
  DOUBLE_ENTER("Execution_create");
  if (!compilation->is_finished) return ReportError(kBadState, "an unfinished compilation");
  *execution = new ANeuralNetworksExecution{
      compilation, std::vector<const void*>(compilation->model->inputs.size()),
      std::vector<void*>(compilation->model->outputs.size()), false};
  Count("alive", 1);
  return kNoError;
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution) {
  Called("Execution_free");
  delete execution;
  Count("alive", -1);
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                      const ANeuralNetworksOperandType*, const void* buffer,
                                      size_t length) {
  DOUBLE_ENTER("Execution_setInput");
  const void** place = FindArgument(execution, execution->compilation->model->inputs,
                                    &execution->inputs, index, length);
  if (place == nullptr) return kBadData;
  *place = buffer;
  return kNoError;
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                const ANeuralNetworksOperandType*,
                                                const ANeuralNetworksMemory* memory, size_t offset,
                                                size_t length) {
  DOUBLE_ENTER("Execution_setInputFromMemory");
  const void** place = FindArgument(execution, execution->compilation->model->inputs,
                                    &execution->inputs, index, length);
  if (place == nullptr) return kBadData;
  *place = InMemory(memory, offset, length);
  return *place == nullptr ? kBadData : kNoError;
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                       const ANeuralNetworksOperandType*, void* buffer,
                                       size_t length) {
  DOUBLE_ENTER("Execution_setOutput");
  void** place = FindArgument(execution, execution->compilation->model->outputs,
                              &execution->outputs, index, length);
  if (place == nullptr) return kBadData;
  *place = buffer;
  return kNoError;
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                 const ANeuralNetworksOperandType*,
                                                 const ANeuralNetworksMemory* memory, size_t offset,
                                                 size_t length) {
  DOUBLE_ENTER("Execution_setOutputFromMemory");
  void** place = FindArgument(execution, execution->compilation->model->outputs,
                              &execution->outputs, index, length);
  if (place == nullptr) return kBadData;
  *place = InMemory(memory, offset, length);
  return *place == nullptr ? kBadData : kNoError;
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution* execution, uint64_t) {
  DOUBLE_ENTER("Execution_setTimeout");
  return execution->compilation->devices == 1
             ? kNoError
             : ReportError(kBadData, "a time-out without one device");
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution) {
  DOUBLE_ENTER("Execution_compute");
  const int code = Start(execution);
  return code == kNoError ? Run(*execution) : code;
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution,
                                          ANeuralNetworksBurst* burst) {
  DOUBLE_ENTER("Execution_burstCompute");
  if (burst->compilation != execution->compilation) return ReportError(kBadData, "another's burst");
  const int code = Start(execution);
  return code == kNoError ? Run(*execution) : code;
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution,
                                          ANeuralNetworksEvent** event) {
  DOUBLE_ENTER("Execution_startCompute");
  const int code = Start(execution);
  if (code != kNoError) return code;
  auto* started = new ANeuralNetworksEvent();
  started->thread = std::thread([started, execution] { started->code = Run(*execution); });
  *event = started;
  Count("alive", 1);
  return kNoError;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event) {
  const int failure = Called("Event_wait");
  if (event->thread.joinable()) event->thread.join();
  return failure != kNoError ? failure : event->code;
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event) {
  Called("Event_free");
  if (event->thread.joinable()) event->thread.join();
  delete event;
  Count("alive", -1);
}

}  // extern "C"
