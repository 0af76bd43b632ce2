// SPDX-License-Identifier: Apache-2.0
//
// Answers to pictures, and whether they are right: pictures named "..._<label>.png" say what they
// show.
#ifndef DEPUTY_TOOLS_JUDGE_H_
#define DEPUTY_TOOLS_JUDGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "image.h"
#include "session.h"

namespace deputy::tools {

// A class and how sure the model is of it.
struct Guess {
  size_t index = 0;
  double score = 0;
};

// The best `count` entries of the first output; the lower index first among equals.
std::vector<Guess> BestGuesses(const Session& session, size_t count);

// The lines of a file; none if `path` is empty.
std::vector<std::string> ReadLabels(const std::string& path);

// Ends the command with kExitUsage if there are labels, from the file `path`, but fewer than output
// 0 has values. Once the model has run, for its shape to be known.
void CheckLabels(const std::vector<std::string>& labels, const std::string& path,
                 const Session& session);

// The label of a class, or its number.
std::string LabelText(const std::vector<std::string>& labels, size_t index);

// What a picture's name says, which must be one of `labels` if there are any: "0123_7.png" shows
// "7". Ends the command with kExitUsage if it says nothing.
std::string ExpectedLabel(const std::string& path, const std::vector<std::string>& labels,
                          const std::string& labels_path);

// The name of the file without its folder.
std::string FileNameOf(const std::string& path);

// Pictures that are to be judged.
struct Exam {
  std::vector<std::string> pictures;
  PixelScaling scaling;
  std::vector<std::string> labels;
  std::string labels_path;
  std::string input;  // that takes the picture; "": the first
  bool shows_progress = false;
};

// Judges the pictures on the CPU, and then through each of `delegates` (as --delegate has them);
// one table shows accuracy, answers that are the CPU's, times, and who ran what. A delegate that is
// not here has a row with the reason.
void CompareOnPictures(const SessionOptions& session, const std::vector<std::string>& delegates,
                       const Exam& exam);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_JUDGE_H_
