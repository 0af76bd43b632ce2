// SPDX-License-Identifier: Apache-2.0
//
// Classifies images and measures the accuracy. A file name "..._<label>.png" contains the expected
// label.
#ifndef DEPUTY_TOOLS_ACCURACY_H_
#define DEPUTY_TOOLS_ACCURACY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "image.h"
#include "session.h"

namespace deputy::tools {

// A class and its score.
struct Guess {
  size_t index = 0;
  double score = 0;
};

// Returns the `count` highest scores of the first output; equal scores are sorted by index. Ends
// the command with kExitFailed if the output is empty.
std::vector<Guess> BestGuesses(const Session& session, size_t count);

// Returns the lines of a file; empty if `path` is empty.
std::vector<std::string> ReadLabels(const std::string& path);

// Ends the command with kExitUsage if the file `path` has labels, but fewer than output 0 has
// values. Call it after the first inference, because the output's shape may be unknown before.
void CheckLabels(const std::vector<std::string>& labels, const std::string& path,
                 const Session& session);

// Returns the label of a class, or its index if there is none.
std::string LabelText(const std::vector<std::string>& labels, size_t index);

// Returns the label in an image's name ("0123_7.png": "7"), which must be one of `labels` unless
// these are empty. Ends the command with kExitUsage if the name contains no label.
std::string ExpectedLabel(const std::string& path, const std::vector<std::string>& labels,
                          const std::string& labels_path);

// Returns the file name without its directory.
std::string FileNameOf(const std::string& path);

// Options of a comparison over labelled images.
struct AccuracyTask {
  std::vector<std::string> images;
  PixelScaling scaling;
  std::vector<std::string> labels;
  std::string labels_path;
  std::string input;  // name of the input that receives the image; "": the first
  bool shows_progress = false;
};

// Classifies the images on the CPU, then through each of `delegates` (in the syntax of --delegate),
// and prints one table of accuracy, agreement with the CPU, times, and the delegates that ran
// nodes. A delegate that is not available gets a row with the reason.
void CompareAccuracy(const SessionOptions& session, const std::vector<std::string>& delegates,
                     const AccuracyTask& task);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_ACCURACY_H_
