// SPDX-License-Identifier: Apache-2.0
//
// NON_MAX_SUPPRESSION_V4 and NON_MAX_SUPPRESSION_V5: select the box with the best score among
// overlapping boxes. A sixth input (sigma) adds an output for the scores; if it is positive,
// overlapping boxes have their scores reduced instead of being suppressed at once. As in upstream,
// only the number of inputs distinguishes the two operators. Boxes with equal scores have the order
// of a binary heap, as in upstream.
#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>

#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

// Indices of the inputs of both operators; kSigma may be missing.
constexpr int kBoxes = 0, kScores = 1, kMaxBoxes = 2, kOverlap = 3, kMinScore = 4, kSigma = 5;

bool IsSoft(const TfLiteNode* node) { return node->inputs->size == 6; }

float ScalarAt(TfLiteContext* context, const TfLiteNode* node, int index) {
  return *Data<float>(Input(context, node, index));
}

// ---- Prepare ----------------------------------------------------------------------------------

TfLiteStatus ResizeSelected(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* max_boxes = Input(context, node, kMaxBoxes);
  const int32_t count = *Data<int32_t>(max_boxes);
  if (count < 0)
    return TensorError(context, max_boxes, "expected 0 boxes or more, found %d", count);
  for (int i = 0; i + 1 < node->outputs->size; ++i) {
    DEPUTY_TRY(ResizeTo(context, Output(context, node, i), {&count, 1}));
  }
  return kTfLiteOk;
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 5, 6, IsSoft(node) ? 3 : 2));
  const TfLiteTensor* boxes = Input(context, node, kBoxes);
  const int outputs = node->outputs->size;
  for (int i = 0; i < node->inputs->size; ++i) {
    const TfLiteTensor* input = Input(context, node, i);
    if (input == nullptr) return KernelError(context, "input %d: expected a tensor, found none", i);
    DEPUTY_TRY(CheckType(context, input, i == kMaxBoxes ? kInt32Bit : kFloat32Bit));
    DEPUTY_TRY(CheckRank(context, input, i == kBoxes ? 2 : i == kScores ? 1 : 0));
  }
  DEPUTY_TRY(CheckDim(context, boxes, 1, 4));
  DEPUTY_TRY(CheckDim(context, Input(context, node, kScores), 0, Dim(boxes, 0)));
  for (int i = 0; i < outputs; ++i) {
    Output(context, node, i)->type = outputs == 3 && i == 1 ? kTfLiteFloat32 : kTfLiteInt32;
  }
  DEPUTY_TRY(ResizeTo(context, Output(context, node, outputs - 1), {}));
  if (IsKnown(Input(context, node, kMaxBoxes))) return ResizeSelected(context, node);
  for (int i = 0; i + 1 < outputs; ++i) MakeDynamic(Output(context, node, i));
  return kTfLiteOk;
}

// ---- Invoke -----------------------------------------------------------------------------------

// A box given by two corners in any order.
struct Box {
  explicit Box(const float* corners)
      : low_y(std::min(corners[0], corners[2])),
        low_x(std::min(corners[1], corners[3])),
        high_y(std::max(corners[0], corners[2])),
        high_x(std::max(corners[1], corners[3])) {}
  float Area() const { return (high_y - low_y) * (high_x - low_x); }

  float low_y, low_x, high_y, high_x;
};

// Intersection over union of two boxes.
float Overlap(const Box& a, const Box& b) {
  const float area_a = a.Area(), area_b = b.Area();
  if (area_a <= 0 || area_b <= 0) return 0.0f;
  const float height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  const float both = std::max(height, 0.0f) * std::max(width, 0.0f);
  return both / (area_a + area_b - both);
}

struct Candidate {
  int box;
  float score;
  int compared;  // number of selected boxes with which this candidate has been compared
};

// Selects the boxes of one invoke.
class Suppression {
 public:
  Suppression(const float* boxes, float overlap, float min_score, float sigma)
      : boxes_(boxes),
        overlap_(overlap),
        min_score_(min_score),
        scale_(sigma > 0.0f ? -0.5f / sigma : 0.0f),
        is_soft_(sigma > 0.0f) {}

  // Writes at most `max_boxes` boxes and, unless `out_scores` is null, their scores. Returns the
  // number of selected boxes.
  int Select(const float* scores, int count, int max_boxes, int32_t* out_boxes, float* out_scores) {
    const auto is_worse = [](const Candidate& a, const Candidate& b) { return a.score < b.score; };
    std::priority_queue<Candidate, std::deque<Candidate>, decltype(is_worse)> queue(is_worse);
    for (int i = 0; i < count; ++i) {
      if (scores[i] > min_score_) queue.push({i, scores[i], 0});
    }
    max_boxes = std::min(max_boxes, static_cast<int>(queue.size()));
    int selected = 0;
    while (selected < max_boxes && !queue.empty()) {
      Candidate candidate = queue.top();
      const float before = candidate.score;
      queue.pop();
      const bool suppressed = IsSuppressed(out_boxes, selected, &candidate);
      candidate.compared = selected;
      if (suppressed) continue;
      if (candidate.score == before) {
        out_boxes[selected] = candidate.box;
        if (out_scores != nullptr) out_scores[selected] = candidate.score;
        ++selected;
      }
      // A candidate that has just been selected is pushed again, too, as in upstream; unless its
      // area is empty, it is then suppressed by itself.
      if (candidate.score > min_score_) queue.push(candidate);
    }
    return selected;
  }

 private:
  // Compares a candidate with the boxes selected since its last comparison, the newest first.
  // Returns true if one of them suppresses it.
  bool IsSuppressed(const int32_t* selected, int count, Candidate* candidate) const {
    const Box box(boxes_ + int64_t{4} * candidate->box);
    for (int i = count - 1; i >= candidate->compared; --i) {
      const float overlap = Overlap(box, Box(boxes_ + int64_t{4} * selected[i]));
      if (overlap >= overlap_) return true;
      if (is_soft_) candidate->score *= std::exp(scale_ * overlap * overlap);
      if (candidate->score <= min_score_) break;
    }
    return false;
  }

  const float* boxes_;
  float overlap_, min_score_, scale_;
  bool is_soft_;
};

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* scores = Input(context, node, kScores);
  const bool soft = IsSoft(node);
  const float sigma = soft ? ScalarAt(context, node, kSigma) : 0.0f;
  if (sigma < 0.0f) {
    return TensorError(context, Input(context, node, kSigma), "expected 0 or more, found %g",
                       static_cast<double>(sigma));
  }
  if (IsDynamic(Output(context, node, 0))) DEPUTY_TRY(ResizeSelected(context, node));
  DEPUTY_TRY(CheckContainerSize(context, scores, Dim(scores, 0), sizeof(Candidate), "candidates"));
  const int max_boxes = Dim(Output(context, node, 0), 0);
  int32_t* boxes = Data<int32_t>(Output(context, node, 0));
  float* selected_scores = soft ? Data<float>(Output(context, node, 1)) : nullptr;
  Suppression suppression(Data<float>(Input(context, node, kBoxes)),
                          ScalarAt(context, node, kOverlap), ScalarAt(context, node, kMinScore),
                          sigma);
  const int count =
      suppression.Select(Data<float>(scores), Dim(scores, 0), max_boxes, boxes, selected_scores);
  std::fill_n(boxes + count, max_boxes - count, 0);
  if (soft) std::fill_n(selected_scores + count, max_boxes - count, 0.0f);
  *Data<int32_t>(Output(context, node, node->outputs->size - 1)) = count;
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    KernelRow<void>("NON_MAX_SUPPRESSION_V4", kTfLiteBuiltinNonMaxSuppressionV4, 1, kFloat32Bit,
                    &Guarded<&Prepare>, &Guarded<&Eval>),
    KernelRow<void>("NON_MAX_SUPPRESSION_V5", kTfLiteBuiltinNonMaxSuppressionV5, 1, kFloat32Bit,
                    &Guarded<&Prepare>, &Guarded<&Eval>),
};

}  // namespace

constexpr std::span<const OpDef> kDetectionOps = kTable;

}  // namespace deputy
