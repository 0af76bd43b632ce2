// SPDX-License-Identifier: Apache-2.0
//
// See golden_compare.h. Refusals: ours must refuse what TensorFlow Lite refuses, no later than at
// the step where it did. Where TensorFlow Lite's own behaviour is undefined (a signal, memory that
// nobody wrote) ours may answer or refuse; reaching the end of the test is the proof.
#include "tests/golden_compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <sstream>

#include "c_api/include/common.h"

namespace deputy::golden {
namespace {

struct ModelDeleter {
  void operator()(TfLiteModel* model) const { TfLiteModelDelete(model); }
};
struct InterpreterDeleter {
  void operator()(TfLiteInterpreter* interpreter) const { TfLiteInterpreterDelete(interpreter); }
};

Result Refused(Outcome outcome, const std::string& error) {
  Result result;
  result.outcome = outcome;
  result.error = error;
  return result;
}

Tensor CopyOut(const TfLiteTensor* tensor) {
  Tensor copy;
  copy.type = TfLiteTensorType(tensor);
  for (int i = 0; i < TfLiteTensorNumDims(tensor); ++i) {
    copy.dims.push_back(TfLiteTensorDim(tensor, i));
  }
  copy.data.resize(TfLiteTensorByteSize(tensor));
  if (!copy.data.empty()) TfLiteTensorCopyToBuffer(tensor, copy.data.data(), copy.data.size());
  return copy;
}

// Strings need as many bytes as they have characters: clients give their tensors memory of its own.
TfLiteStatus SetInput(TfLiteTensor* tensor, const std::vector<uint8_t>& data) {
  if (TfLiteTensorType(tensor) != kTfLiteString) {
    return TfLiteTensorCopyFromBuffer(tensor, data.data(), data.size());
  }
  if (tensor->allocation_type != kTfLiteDynamic) {
    TfLiteTensorDataFree(tensor);
    tensor->allocation_type = kTfLiteDynamic;
  }
  if (TfLiteTensorRealloc(data.size(), tensor) != kTfLiteOk) return kTfLiteError;
  std::memcpy(tensor->data.raw, data.data(), data.size());
  return kTfLiteOk;
}

double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const double fraction = bits & 0x3ff;
  double value;
  if (exponent == 31) {
    value = fraction != 0 ? std::nan("") : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename T>
T Load(const uint8_t* data, size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

bool IsFloat(TfLiteType type) {
  return type == kTfLiteFloat32 || type == kTfLiteFloat16 || type == kTfLiteFloat64;
}

// Element `index` as a number; 64-bit integers lose precision and are compared as bytes instead.
double Value(TfLiteType type, const uint8_t* data, size_t index) {
  switch (type) {
    case kTfLiteFloat32:
      return static_cast<double>(Load<float>(data, index));
    case kTfLiteFloat64:
      return Load<double>(data, index);
    case kTfLiteFloat16:
      return HalfToDouble(Load<uint16_t>(data, index));
    case kTfLiteInt8:
      return Load<int8_t>(data, index);
    case kTfLiteUInt8:
    case kTfLiteBool:
      return Load<uint8_t>(data, index);
    case kTfLiteInt16:
      return Load<int16_t>(data, index);
    case kTfLiteUInt16:
      return Load<uint16_t>(data, index);
    case kTfLiteInt32:
      return Load<int32_t>(data, index);
    case kTfLiteUInt32:
      return Load<uint32_t>(data, index);
    default:
      return static_cast<double>(Load<int64_t>(data, index));
  }
}

double GreatestMagnitude(TfLiteType type, const std::vector<uint8_t>& data, size_t count) {
  double greatest = 0;
  for (size_t i = 0; i < count; ++i) {
    const double size = std::abs(Value(type, data.data(), i));
    if (std::isfinite(size)) greatest = std::max(greatest, size);
  }
  return greatest;
}

// One of TensorFlow Lite's two answers, and how far from it an element may lie.
class Bound {
 public:
  Bound(const Row& row, const Output& output, const std::vector<uint8_t>& golden, bool exact)
      : output_(output),
        golden_(golden),
        exact_(exact),
        steps_(row.steps),
        factor_(static_cast<double>(row.factor)) {
    size_t count = 1;
    for (int dim : output.dims) count *= static_cast<size_t>(dim);
    size_ = count == 0 ? 0 : golden.size() / count;
    if (output.rule == Rule::kSum || output.rule == Rule::kHalf) {
      greatest_ = GreatestMagnitude(output.type, golden, count);
    }
  }

  bool Accepts(const uint8_t* ours, size_t index) const {
    if (std::memcmp(ours + index * size_, golden_.data() + index * size_, size_) == 0) return true;
    const double a = Value(output_.type, golden_.data(), index);
    const double b = Value(output_.type, ours, index);
    if (IsFloat(output_.type)) {
      if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
      if (a == b) return true;  // infinities, and zeros of either sign
      if (!std::isfinite(a) || !std::isfinite(b)) return false;
    }
    return !exact_ && std::abs(a - b) <= Width(a);
  }

 private:
  double Width(double golden) const {
    switch (output_.rule) {
      case Rule::kEqual:
        return 0;
      case Rule::kElement:
        return factor_ * (1e-5 * std::abs(golden) + 1e-6);
      case Rule::kSum:
        return factor_ * (1e-5 * greatest_ + 1e-6);
      case Rule::kHalf:
        return factor_ * (1e-3 * std::abs(golden) + 1e-3 * greatest_);
      case Rule::kSteps:
        return steps_;
    }
    return 0;
  }

  const Output& output_;
  const std::vector<uint8_t>& golden_;
  bool exact_;
  double steps_, factor_;
  double greatest_ = 0;
  size_t size_ = 0;
};

std::string CompareHashes(const Output& golden, const Tensor& ours) {
  for (size_t block = 0; block < golden.hashes.size(); ++block) {
    const size_t start = block * kHashBlock;
    const size_t size = std::min(kHashBlock, ours.data.size() - start);
    if (Fnv1a(ours.data.data() + start, size) != golden.hashes[block]) {
      std::ostringstream text;
      text << "bytes " << start << " to " << start + size << " are not the reference kernel's ("
           << "`tests/golden show` prints the right ones)";
      return text.str();
    }
  }
  return "";
}

// Whether TensorFlow Lite left open what happens.
bool MayRefuse(const Row& row) {
  return row.lenient || row.reference == Outcome::kUndefined ||
         row.optimised == Outcome::kUndefined;
}

}  // namespace

std::string Describe(TfLiteType type, const std::vector<int>& dims) {
  std::ostringstream text;
  text << TfLiteTypeGetName(type) << "[";
  for (size_t i = 0; i < dims.size(); ++i) text << (i == 0 ? "" : ",") << dims[i];
  text << "]";
  return text.str();
}

const char* Name(Outcome outcome) {
  static const char* const kNames[] = {"answered",          "refused at create",
                                       "refused at resize", "refused at allocate",
                                       "refused at invoke", "undefined"};
  return kNames[static_cast<int>(outcome)];
}

Result RunRow(const Row& row, DeputyArithmetic arithmetic, int threads) {
  std::unique_ptr<TfLiteModel, ModelDeleter> model(
      TfLiteModelCreate(row.model.data(), row.model.size()));
  if (model == nullptr) return Refused(Outcome::kRefusedCreate, DeputyLastError());
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetNumThreads(options, threads);
  DeputyInterpreterOptionsSetArithmetic(options, arithmetic);
  std::unique_ptr<TfLiteInterpreter, InterpreterDeleter> owner(
      TfLiteInterpreterCreate(model.get(), options));
  TfLiteInterpreterOptionsDelete(options);
  TfLiteInterpreter* interpreter = owner.get();
  if (interpreter == nullptr) return Refused(Outcome::kRefusedCreate, DeputyLastError());

  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const Input& input = row.inputs[i];
    if (input.resize &&
        TfLiteInterpreterResizeInputTensor(interpreter, static_cast<int32_t>(i), input.dims.data(),
                                           static_cast<int32_t>(input.dims.size())) != kTfLiteOk) {
      return Refused(Outcome::kRefusedResize, DeputyInterpreterLastError(interpreter));
    }
  }
  if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) {
    return Refused(Outcome::kRefusedAllocate, DeputyInterpreterLastError(interpreter));
  }
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const Input& input = row.inputs[i];
    TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(interpreter, static_cast<int32_t>(i));
    // Strings bring their own size.
    if (TfLiteTensorType(tensor) == kTfLiteString) TfLiteTensorRealloc(input.data.size(), tensor);
    if (SetInput(tensor, input.data) != kTfLiteOk) {
      return Refused(Outcome::kRefusedInvoke, "an input has another size");
    }
  }
  if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) {
    return Refused(Outcome::kRefusedInvoke, DeputyInterpreterLastError(interpreter));
  }
  Result result;
  for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    result.outputs.push_back(CopyOut(TfLiteInterpreterGetOutputTensor(interpreter, i)));
  }
  return result;
}

std::string Compare(const Row& row, const Output& golden, const Tensor& ours,
                    DeputyArithmetic arithmetic) {
  if (ours.type != golden.type || ours.dims != golden.dims) {
    return "is " + Describe(ours.type, ours.dims) + ", expected " +
           Describe(golden.type, golden.dims);
  }
  const bool reference_mode = arithmetic == kDeputyArithmeticReference;
  if (golden.hashed) {
    return reference_mode || golden.rule == Rule::kEqual ? CompareHashes(golden, ours) : "";
  }
  if (golden.type == kTfLiteString) {
    return ours.data == golden.reference || ours.data == golden.optimised ? ""
                                                                          : "holds other strings";
  }
  const bool exact = golden.rule == Rule::kEqual ||
                     (golden.rule == Rule::kSteps && reference_mode && !golden.reference.empty());
  std::vector<Bound> bounds;
  if (row.reference == Outcome::kAnswered)
    bounds.emplace_back(row, golden, golden.reference, exact);
  if (row.optimised == Outcome::kAnswered &&
      !(golden.rule == Rule::kSteps && reference_mode && !bounds.empty())) {
    bounds.emplace_back(row, golden, golden.optimised, exact);
  }
  size_t count = 1, wrong = 0;
  for (int dim : golden.dims) count *= static_cast<size_t>(dim);
  std::ostringstream text;
  for (size_t i = 0; i < count; ++i) {
    const bool fine = std::any_of(bounds.begin(), bounds.end(), [&](const Bound& bound) {
      return bound.Accepts(ours.data.data(), i);
    });
    if (fine || wrong++ > 0) continue;
    text << "element " << i << " is " << Value(ours.type, ours.data.data(), i) << ", expected";
    if (!golden.reference.empty()) {
      text << " " << Value(golden.type, golden.reference.data(), i) << " (reference)";
    }
    if (!golden.optimised.empty()) {
      text << " " << Value(golden.type, golden.optimised.data(), i) << " (optimised)";
    }
  }
  if (wrong == 0) return "";
  text << "; " << wrong << " of " << count << " differ";
  return text.str();
}

std::string Judge(const Row& row, const Result& ours, DeputyArithmetic arithmetic) {
  const bool answered = !row.outputs.empty();
  if (ours.outcome != Outcome::kAnswered) {
    if (MayRefuse(row)) return "";
    if (answered) return std::string(Name(ours.outcome)) + " (" + ours.error + "), TFLite answers";
    const Outcome latest = std::max(row.reference, row.optimised);
    if (ours.outcome <= latest) return "";
    return std::string(Name(ours.outcome)) + ", TFLite " + Name(latest) + ": " + row.message;
  }
  if (!answered) {
    return MayRefuse(row)
               ? ""
               : std::string("answered, TFLite ") + Name(row.reference) + ": " + row.message;
  }
  if (ours.outputs.size() != row.outputs.size()) return "wrong number of outputs";
  for (size_t i = 0; i < row.outputs.size(); ++i) {
    const std::string difference = Compare(row, row.outputs[i], ours.outputs[i], arithmetic);
    if (!difference.empty()) return "output " + std::to_string(i) + " " + difference;
  }
  return "";
}

}  // namespace deputy::golden
