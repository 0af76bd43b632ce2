// SPDX-License-Identifier: Apache-2.0
//
// Implements check.h. Deputy must refuse the golden rows that TensorFlow Lite refuses, at the same
// stage or an earlier one. If TensorFlow Lite's behaviour is undefined (a signal, uninitialised
// memory), Deputy may compute a result or refuse; the test is that the run ends.
#include "tests/conformance/check.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>

#include "tests/conformance/exact_rows.h"

namespace deputy::conformance {
namespace {

using golden::Row;

constexpr int kCasePasses = 2;

Verdict Differs(const std::string& message) {
  Verdict verdict;
  verdict.kind = Kind::kDiffers;
  verdict.message = message;
  return verdict;
}

Verdict DiffersAt(const Result& found, size_t output, const Difference& difference) {
  Verdict verdict;
  verdict.kind = Kind::kDiffers;
  verdict.output = "output " + std::to_string(output) + " '" + found.output_names[output] + "'";
  verdict.difference = difference;
  verdict.message = verdict.output + " " + difference.text;
  return verdict;
}

// Returns the verdict for a run whose results agree: kLeft if the delegate ran no node.
Verdict Agrees(const Result& found, const Target& target) {
  Verdict verdict;
  if (!target.has_delegate() || found.delegated > 0) return verdict;
  verdict.kind = Kind::kLeft;
  verdict.message = found.left.empty() ? "there is no node" : found.left.front();
  return verdict;
}

Verdict Refused() {
  Verdict verdict;
  verdict.kind = Kind::kRefused;
  return verdict;
}

// Applies the target's known differences to a verdict and prefixes the names of case and target.
Verdict Finish(Verdict verdict, const std::string& name, const Target& target,
               DeputyArithmetic arithmetic) {
  const auto known = target.known_differences.find(name);
  if (known != target.known_differences.end()) {
    if (verdict.kind != Kind::kDiffers) {
      verdict = Differs("agrees, but is listed to differ: " + known->second);
    } else {
      verdict.kind = Kind::kKnown;
      verdict.message += "; known: " + known->second;
    }
  }
  if (verdict.message.empty()) return verdict;
  verdict.message = name + " on " + target.name +
                    (arithmetic == kDeputyArithmeticReference ? ", reference arithmetic" : "") +
                    ": " + verdict.message;
  return verdict;
}

std::string BytesDifference(const TensorValue& expected, const TensorValue& found) {
  if (found.type != expected.type || found.dims != expected.dims) {
    return "is " + Describe(found.type, found.dims) + ", expected " +
           Describe(expected.type, expected.dims);
  }
  if (found.data == expected.data) return "";
  const auto at = std::mismatch(expected.data.begin(), expected.data.end(), found.data.begin(),
                                found.data.end());
  return "has other bits, first in byte " + std::to_string(at.first - expected.data.begin());
}

// ---- Operator cases -----------------------------------------------------------------------------

std::vector<uint8_t> RandomBytes(const TfLiteTensor* tensor, uint32_t seed) {
  std::vector<uint8_t> bytes(TfLiteTensorByteSize(tensor));
  if (TfLiteTensorType(tensor) == kTfLiteFloat32) {
    const std::vector<float> values = RandomFloats(bytes.size() / sizeof(float), seed);
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  } else {
    const std::vector<int8_t> values = RandomInt8(bytes.size(), seed);
    std::copy(values.begin(), values.end(), bytes.begin());
  }
  return bytes;
}

// Fills every input with the case's values, or with random ones if it specifies none.
TfLiteStatus Feed(const OpCase& op_case, uint32_t seed, TfLiteInterpreter* interpreter) {
  const int32_t count = TfLiteInterpreterGetInputTensorCount(interpreter);
  for (int32_t i = 0; i < count; ++i) {
    const auto n = static_cast<size_t>(i);
    TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(interpreter, i);
    const bool is_given = n < op_case.feeds.size() && !op_case.feeds[n].empty();
    const std::vector<uint8_t> bytes =
        is_given ? op_case.feeds[n] : RandomBytes(tensor, seed + static_cast<uint32_t>(i));
    if (TfLiteTensorCopyFromBuffer(tensor, bytes.data(), bytes.size()) != kTfLiteOk) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

// Returns the rule for outputs of the type. The CPU rounds and sums integers and float16 in one
// defined manner, so only its float32 outputs may differ.
Agreement AgreementOf(const OpCase& op_case, TfLiteType type, const Target& target) {
  if (op_case.rule == Rule::kEqual) return {};
  switch (type) {
    case kTfLiteFloat32:
      return {op_case.rule};
    case kTfLiteFloat16:
      return {target.has_delegate() ? Rule::kHalf : Rule::kEqual};
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteInt16:
      return {Rule::kSteps, 1, static_cast<double>(target.steps)};
    default:
      return {};
  }
}

Verdict CompareCase(const OpCase& op_case, const Result& expected, const Result& found,
                    const Target& target) {
  for (size_t pass = 0; pass < found.passes.size(); ++pass) {
    for (size_t i = 0; i < found.passes[pass].size(); ++i) {
      const TensorValue& value = found.passes[pass][i];
      const auto difference =
          Compare({&expected.passes[pass][i], 1}, value, AgreementOf(op_case, value.type, target));
      if (difference) return DiffersAt(found, i, *difference);
    }
  }
  return Agrees(found, target);
}

// Checks that a case is refused no later than expected, and that the message contains the reason
// and, on targets without a delegate, the operator. A delegate's kernel may replace the operator.
Verdict JudgeRefusal(const OpCase& op_case, const Result& found, const Target& target) {
  const bool may_be_late = op_case.late || !op_case.feeds.empty();
  const Outcome latest = may_be_late ? Outcome::kRefusedInvoke : Outcome::kRefusedAllocate;
  if (found.outcome == Outcome::kInvoked || found.outcome > latest) {
    return Differs(std::string(Name(found.outcome)) + ", expected " + Name(latest));
  }
  const std::string op_name = op_case.name.substr(0, op_case.name.find(' '));
  for (const std::string& part : {target.has_delegate() ? "" : op_name, op_case.refusal}) {
    if (found.log.find(part) == std::string::npos) {
      return Differs("expected '" + part + "' in: " + found.log);
    }
  }
  return Refused();
}

Verdict JudgeCase(const OpCase& op_case, const Result& expected, const Result& found,
                  const Target& target) {
  if (!found.complaint.empty()) return Differs(found.complaint);
  if (!op_case.refusal.empty()) return JudgeRefusal(op_case, found, target);
  if (found.outcome != Outcome::kInvoked) {
    return Differs(std::string(Name(found.outcome)) + ": " + found.log);
  }
  if (expected.outcome != Outcome::kInvoked)
    return Differs("the expected result cannot be computed: " + expected.log);
  if (target.same_bits_as.empty()) return CompareCase(op_case, expected, found, target);
  const std::string difference = CompareBytes(expected, found);
  return difference.empty() ? Agrees(found, target)
                            : Differs(difference + ", compared with " + target.same_bits_as);
}

// ---- Golden rows --------------------------------------------------------------------------------

TfLiteStatus Shape(const Row& row, TfLiteInterpreter* interpreter) {
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const golden::Input& input = row.inputs[i];
    if (!input.resize) continue;
    TF_LITE_ENSURE_STATUS(
        TfLiteInterpreterResizeInputTensor(interpreter, static_cast<int32_t>(i), input.dims.data(),
                                           static_cast<int32_t>(input.dims.size())));
  }
  return kTfLiteOk;
}

TfLiteStatus Feed(const Row& row, TfLiteInterpreter* interpreter) {
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    TF_LITE_ENSURE_STATUS(SetInput(
        TfLiteInterpreterGetInputTensor(interpreter, static_cast<int32_t>(i)), row.inputs[i].data));
  }
  return kTfLiteOk;
}

std::optional<Difference> CompareHashes(const golden::Output& expected, const TensorValue& found) {
  for (size_t block = 0; block < expected.hashes.size(); ++block) {
    const size_t start = block * golden::kHashBlock;
    const size_t end = std::min(start + golden::kHashBlock, found.data.size());
    if (start < end &&
        golden::Fnv1a(found.data.data() + start, end - start) == expected.hashes[block]) {
      continue;
    }
    Difference difference;
    difference.index = start;
    difference.text = "bytes " + std::to_string(start) + " to " + std::to_string(end) +
                      " are not the reference kernel's (`tests/golden show` prints the right ones)";
    return difference;
  }
  return std::nullopt;
}

std::optional<Difference> CompareOutput(const Row& row, const golden::Output& expected,
                                        const TensorValue& found, bool reference_mode) {
  if (expected.hashed) {
    if (found.type != expected.type || found.dims != expected.dims) {
      return Compare(std::vector<TensorValue>{{expected.type, expected.dims, {}}}, found, {});
    }
    return CompareHashes(expected, found);
  }
  // In the reference arithmetic, quantised results must equal those of the reference resolver
  // alone.
  const bool by_reference =
      expected.rule == Rule::kSteps && reference_mode && row.reference == Outcome::kInvoked;
  std::vector<TensorValue> results;
  if (row.reference == Outcome::kInvoked) {
    results.push_back({expected.type, expected.dims, expected.reference});
  }
  if (row.optimised == Outcome::kInvoked && !by_reference) {
    results.push_back({expected.type, expected.dims, expected.optimised});
  }
  const Rule rule = by_reference ? Rule::kEqual : expected.rule;
  return Compare(results, found,
                 {rule, static_cast<double>(row.factor), static_cast<double>(row.steps)});
}

// Returns true if a refusal of the row is valid, too: TensorFlow Lite's behaviour is undefined for
// it, or it is marked as lenient.
bool MayRefuse(const Row& row) {
  return row.lenient || row.reference == Outcome::kUndefined ||
         row.optimised == Outcome::kUndefined;
}

Verdict JudgeRefusal(const Row& row, const Result& found) {
  if (MayRefuse(row)) return Refused();
  const Outcome latest = std::max(row.reference, row.optimised);
  const std::string ours = Name(found.outcome);
  if (!row.outputs.empty()) return Differs(ours + " (" + found.log + "), TFLite computes it");
  if (found.outcome <= latest) return Refused();
  return Differs(ours + ", TFLite " + Name(latest) + ": " + row.message);
}

// Returns true if only a hash of the expected output is stored and the rule has a tolerance in the
// default arithmetic, with which a hash cannot be compared.
bool CannotBeCompared(const Row& row, DeputyArithmetic arithmetic) {
  return arithmetic == kDeputyArithmeticDefault && !row.outputs.empty() && row.outputs[0].hashed &&
         row.outputs[0].rule == Rule::kSteps;
}

}  // namespace

// ---- Operator cases -----------------------------------------------------------------------------

Result RunCase(const OpCase& op_case, const Target& target, DeputyArithmetic arithmetic,
               const Job* job) {
  Job whole = job == nullptr ? Job() : *job;
  whole.model = op_case.model;
  whole.arithmetic = arithmetic;
  whole.passes = kCasePasses;
  whole.feed = [&](TfLiteInterpreter* interpreter, int pass) {
    const TfLiteStatus status = Feed(op_case, static_cast<uint32_t>(10 * pass), interpreter);
    const bool goes_on = status == kTfLiteOk && job != nullptr && job->feed != nullptr;
    return goes_on ? job->feed(interpreter, pass) : status;
  };
  return Run(whole, target);
}

const Result& CaseChecker::Measure(size_t number, const std::string& target,
                                   DeputyArithmetic arithmetic) {
  const auto [found, is_new] = results_.try_emplace({number, target, arithmetic});
  if (is_new) found->second = RunCase(cases_[number], measures_.at(target), arithmetic);
  return found->second;
}

Verdict CaseChecker::Check(size_t number, const Target& target, DeputyArithmetic arithmetic) {
  const OpCase& op_case = cases_[number];
  static const Result kNone;
  const Result& expected =
      op_case.refusal.empty()
          ? Measure(number, target.same_bits_as.empty() ? kReferenceTarget : target.same_bits_as,
                    arithmetic)
          : kNone;
  const Result found = RunCase(op_case, target, arithmetic);
  return Finish(JudgeCase(op_case, expected, found, target), op_case.name, target, arithmetic);
}

std::string CompareBytes(const Result& expected, const Result& found) {
  if (expected.outcome != found.outcome) {
    return std::string(Name(found.outcome)) + ", expected " + Name(expected.outcome);
  }
  for (size_t pass = 0; pass < found.passes.size(); ++pass) {
    for (size_t i = 0; i < found.passes[pass].size(); ++i) {
      const std::string difference =
          BytesDifference(expected.passes[pass][i], found.passes[pass][i]);
      if (!difference.empty()) return "output " + std::to_string(i) + " " + difference;
    }
  }
  return "";
}

// ---- Golden rows --------------------------------------------------------------------------------

Result RunRow(const Row& row, const Target& target, DeputyArithmetic arithmetic) {
  Job job;
  job.model = row.model;
  job.arithmetic = arithmetic;
  job.shape = [&](TfLiteInterpreter* interpreter) { return Shape(row, interpreter); };
  job.feed = [&](TfLiteInterpreter* interpreter, int) { return Feed(row, interpreter); };
  return Run(job, target);
}

Verdict JudgeRow(const Row& row, const Result& found, const Target& target,
                 DeputyArithmetic arithmetic) {
  if (!found.complaint.empty()) return Differs(found.complaint);
  if (found.outcome != Outcome::kInvoked) return JudgeRefusal(row, found);
  if (row.outputs.empty()) {
    if (MayRefuse(row)) return Agrees(found, target);
    return Differs(std::string("computed, TFLite ") + Name(row.reference) + ": " + row.message);
  }
  const std::vector<TensorValue>& outputs = found.passes.back();
  if (outputs.size() != row.outputs.size()) return Differs("wrong number of outputs");
  const bool reference_mode = arithmetic == kDeputyArithmeticReference && !target.has_delegate();
  for (size_t i = 0; i < row.outputs.size(); ++i) {
    const auto difference = CompareOutput(row, row.outputs[i], outputs[i], reference_mode);
    if (difference) return DiffersAt(found, i, *difference);
  }
  return Agrees(found, target);
}

std::string NameOf(const Row& row) {
  return row.op + " v" + std::to_string(row.version) + " " + TfLiteTypeGetName(row.type) + " " +
         row.name;
}

Verdict CheckRow(const Row& row, const Target& target, DeputyArithmetic arithmetic,
                 const Target* measure) {
  const Result found = RunRow(row, target, arithmetic);
  Verdict verdict;
  if (CannotBeCompared(row, arithmetic)) {
    verdict.kind = Kind::kSkipped;
    verdict.message = "only hashes of exact results are known";
  } else {
    verdict = JudgeRow(row, found, target, arithmetic);
  }
  const std::string reason = arithmetic == kDeputyArithmeticDefault ? ExactReason(row) : "";
  if (verdict.kind == Kind::kDiffers && !reason.empty()) {
    verdict.kind = Kind::kKnown;
    verdict.message += "; known: " + reason;
  }
  if (measure != nullptr && verdict.kind != Kind::kDiffers) {
    const std::string difference = CompareBytes(RunRow(row, *measure, arithmetic), found);
    if (!difference.empty()) verdict = Differs(difference + ", compared with " + measure->name);
  }
  return Finish(std::move(verdict), NameOf(row), target, arithmetic);
}

}  // namespace deputy::conformance
