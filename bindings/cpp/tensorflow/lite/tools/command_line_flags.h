// SPDX-License-Identifier: Apache-2.0
//
// Flags of command lines: --name=value, and positional arguments before them.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_COMMAND_LINE_FLAGS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_COMMAND_LINE_FLAGS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tensorflow/lite/tools/logging_wrapper.h"

namespace tflite {

// A flag of type int32_t, int64_t, float, bool or std::string. A value in the command line is
// passed to the hook, with its index in argv if the hook has a second parameter.
class Flag {
 public:
  enum FlagType {
    // Found by its position instead of its name. Required.
    kPositional = 0,
    kRequired,
    kOptional,
  };

  // A flag that stores its value in *val, whose present value is the default.
  template <typename T>
  static Flag CreateFlag(const char* name, T* val, const char* usage,
                         FlagType flag_type = kOptional) {
    return Flag(
        name, [val](const T& value) { *val = value; }, *val, usage, flag_type);
  }

#define DEPUTY_FLAG_CONSTRUCTORS(type, default_type)                                               \
  Flag(const char* name, const std::function<void(const type&, int)>& hook,                        \
       default_type default_value, const std::string& usage_text, FlagType flag_type)              \
      : name_(name),                                                                               \
        type_name_(NameOf(static_cast<const type*>(nullptr))),                                     \
        default_text_(TextOf(default_value)),                                                      \
        usage_text_(usage_text),                                                                   \
        flag_type_(flag_type),                                                                     \
        parse_([hook](const std::string& text, int position) {                                     \
          type value{};                                                                            \
          if (!Read(text, &value)) return false;                                                   \
          hook(value, position);                                                                   \
          return true;                                                                             \
        }) {}                                                                                      \
  Flag(const char* name, const std::function<void(const type&)>& hook, default_type default_value, \
       const std::string& usage_text, FlagType flag_type)                                          \
      : Flag(                                                                                      \
            name, [hook](const type& value, int /*position*/) { hook(value); }, default_value,     \
            usage_text, flag_type) {}
  DEPUTY_FLAG_CONSTRUCTORS(std::int32_t, std::int32_t)
  DEPUTY_FLAG_CONSTRUCTORS(std::int64_t, std::int64_t)
  DEPUTY_FLAG_CONSTRUCTORS(float, float)
  DEPUTY_FLAG_CONSTRUCTORS(bool, bool)
  DEPUTY_FLAG_CONSTRUCTORS(std::string, const std::string&)
#undef DEPUTY_FLAG_CONSTRUCTORS

  FlagType GetFlagType() const { return flag_type_; }
  std::string GetFlagName() const { return name_; }

 private:
  friend class Flags;

  static const char* NameOf(const std::int32_t* /*type*/) { return "int32"; }
  static const char* NameOf(const std::int64_t* /*type*/) { return "int64"; }
  static const char* NameOf(const float* /*type*/) { return "float"; }
  static const char* NameOf(const bool* /*type*/) { return "bool"; }
  static const char* NameOf(const std::string* /*type*/) { return "string"; }

  template <class T>
  static std::string TextOf(const T& value) {
    std::ostringstream stream;
    stream << std::boolalpha << value;
    return stream.str();
  }

  template <class T>
  static bool Read(const std::string& text, T* value) {
    std::istringstream stream(text);
    stream >> *value;
    return stream.eof() || stream.good();
  }
  static bool Read(const std::string& text, bool* value) {
    *value = text == "true" || text == "1";
    return *value || text == "false" || text == "0";
  }
  static bool Read(const std::string& text, std::string* value) {
    *value = text;
    return true;
  }

  // Text of the flag's argument in a help text.
  std::string Label() const {
    return flag_type_ == kPositional ? name_ : "--" + name_ + "=" + default_text_;
  }

  std::string name_;
  const char* type_name_;
  std::string default_text_;
  std::string usage_text_;
  FlagType flag_type_;
  // Passes the value to the hook; false if the text of a number does not begin with one, or that of
  // a bool is none of true, false, 1 and 0. An empty text and a sign alone are the number 0, as
  // upstream; a number out of range is the nearest limit.
  std::function<bool(const std::string& text, int position)> parse_;
};

class Flags {
 public:
  // Passes values to the hooks of the flags and removes them from argv; argc is the number of those
  // that remain, with argv[0]. Failures are printed. False after a failure, and if the first
  // remaining argument is --help.
  static bool Parse(int* argc, const char** argv, const std::vector<Flag>& flag_list) {
    std::vector<bool> is_used(static_cast<std::size_t>(*argc), false);
    bool is_good = true;
    int next_positional = 1;
    // Position in argv of each flag's argument, -1 if it is absent. Flags of one name share the
    // argument.
    std::map<std::string, int> positions;
    for (const Flag* flag : InOrder(flag_list)) {
      const auto known = positions.find(flag->name_);
      int position = -1;
      if (known != positions.end()) {
        position = known->second;
      } else if (flag->flag_type_ == Flag::kPositional) {
        if (next_positional >= *argc) return Fail("Too few command line arguments.");
        position = next_positional++;
      } else {
        position = Find(*flag, next_positional, *argc, argv, is_used);
      }
      positions[flag->name_] = position;
      if (position < 0) {
        if (flag->flag_type_ != Flag::kRequired) continue;
        is_good = Fail("Required flag not provided: " + flag->name_);
        break;
      }
      is_used[static_cast<std::size_t>(position)] = true;
      const std::string text = argv[position];
      if (flag->flag_type_ == Flag::kPositional) {
        if (!flag->parse_(text, position)) {
          return Fail("Failed to parse positional flag: " + flag->name_);
        }
      } else if (!flag->parse_(text.substr(flag->name_.size() + 3), position)) {
        is_good = Fail("Failed to parse flag '" + flag->name_ + "' against argv '" + text + "'");
      }
    }
    RemoveUsed(argc, argv, is_used);
    return is_good && (*argc < 2 || std::string(argv[1]) != "--help");
  }

  // Text that explains the flags.
  static std::string Usage(const std::string& cmdline, const std::vector<Flag>& flag_list) {
    const std::vector<const Flag*> flags = InOrder(flag_list);
    std::ostringstream text;
    text << "usage: " << cmdline;
    std::size_t width = 0;
    std::size_t positional = 0;
    for (const Flag* flag : flags) {
      width = std::max(width, flag->Label().size());
      if (flag->flag_type_ != Flag::kPositional) continue;
      ++positional;
      text << " <" << flag->name_ << ">";
    }
    text << (positional < flags.size() ? " <flags>\n" : "\n");
    if (positional > 0) text << "Where:\n";
    for (std::size_t i = 0; i < flags.size(); ++i) {
      if (i == positional) text << "Flags:\n";
      text << "\t" << std::left << std::setw(static_cast<int>(width)) << flags[i]->Label() << "\t"
           << flags[i]->type_name_ << "\t"
           << (flags[i]->flag_type_ == Flag::kOptional ? "optional" : "required") << "\t"
           << flags[i]->usage_text_ << "\n";
    }
    return text.str();
  }

  // The arguments after argv[0], separated by spaces.
  static std::string ArgsToString(int argc, const char** argv) {
    std::string text;
    for (int i = 1; i < argc; ++i) text.append(i > 1 ? " " : "").append(argv[i]);
    return text;
  }

 private:
  static bool Fail(const std::string& message) {
    using logging::LoggingWrapper;
    LoggingWrapper(LoggingWrapper::LogSeverity::ERROR).Stream() << message;
    return false;
  }

  // Returns positional flags first, then required ones, then optional ones; keeps the order within
  // each group.
  static std::vector<const Flag*> InOrder(const std::vector<Flag>& flag_list) {
    std::vector<const Flag*> flags;
    for (const Flag& flag : flag_list) flags.push_back(&flag);
    std::stable_sort(flags.begin(), flags.end(),
                     [](const Flag* a, const Flag* b) { return a->flag_type_ < b->flag_type_; });
    return flags;
  }

  // Position of the first unused argument --name=..., -1 if there is none.
  static int Find(const Flag& flag, int first, int argc, const char** argv,
                  const std::vector<bool>& is_used) {
    const std::string prefix = "--" + flag.name_ + "=";
    for (int i = first; i < argc; ++i) {
      if (is_used[static_cast<std::size_t>(i)]) continue;
      if (std::string(argv[i]).compare(0, prefix.size(), prefix) == 0) return i;
    }
    return -1;
  }

  static void RemoveUsed(int* argc, const char** argv, const std::vector<bool>& is_used) {
    int count = std::min(*argc, 1);
    for (int i = 1; i < *argc; ++i) {
      if (!is_used[static_cast<std::size_t>(i)]) argv[count++] = argv[i];
    }
    *argc = count;
  }
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_COMMAND_LINE_FLAGS_H_
