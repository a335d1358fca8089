// The words that a command understands: one table per command, which feeds the parser, the help text, the man page and
// the shells' completion alike.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace tarsier::cli {

enum class Kind {
  kSwitch,    // takes no value
  kText,      // anything
  kFile,      // a file's name
  kWord,      // one of `allowed`
  kWords,     // one or several of `allowed`, separated by commas
  kDuration,  // 10us, 1ms, 30s, 2m
  kRange,     // one duration, or two of which the second is not shorter: 100us,1s
  kSize,      // 512k, 64m, 1g
  kNumber,    // a whole number within [min, max]
  kShare,     // 0..1, or 5%
};

struct Option {
  std::string_view name;  // without the dashes
  char letter = 0;        // 0: has none
  Kind kind = Kind::kSwitch;
  std::string_view value = {};     // how the help calls it: FILE, TIME
  std::string_view fallback = {};  // the default, as the user would write it
  std::string_view help = {};
  std::string_view otherwise = {};  // what happens without it, where no value is the default
  std::string_view allowed = {};    // words separated by commas
  int64_t min = 0, max = 0;         // of kNumber; of kRange `min` only; of kDuration and kSize `max` 0 means none
  bool bare = false;                // its value may be left out; if not, it must be joined with =
};

// What a command's operand names: shells complete it.
enum class Operand { kNone, kRecording, kJvm, kCommand, kShell };

struct CommandSpec {
  std::string_view name;
  std::string_view summary;
  std::string_view operands = {};  // as the usage line shows them; empty: takes none
  size_t max_operands = 0;
  Operand operand = Operand::kNone;
  bool takes_program = false;  // everything after -- is a program to run
  std::span<const Option> options = {};
  std::string_view notes = {};  // shown below the options
};

class Arguments {
 public:
  std::vector<std::string> operands;
  std::vector<std::string> program;  // after --

  // Given by the user, not by default.
  [[nodiscard]] bool has(std::string_view option) const { return given_.find(option) != given_.end(); }
  // The value as given, or the default. The parser has checked them, so the typed ones below can't fail.
  [[nodiscard]] std::string text(std::string_view option) const;
  [[nodiscard]] std::vector<std::string> words(std::string_view option) const;
  [[nodiscard]] Nanos duration(std::string_view option) const;  // 0 if neither given nor defaulted, as below
  [[nodiscard]] std::pair<Nanos, Nanos> range(std::string_view option) const;  // 0 as the second: there is none
  [[nodiscard]] Bytes size(std::string_view option) const;
  [[nodiscard]] int64_t number(std::string_view option) const;
  [[nodiscard]] double share(std::string_view option) const;

 private:
  friend Result<Arguments> parse_arguments(const CommandSpec&, std::span<const std::string>);
  const CommandSpec* spec_ = nullptr;
  std::map<std::string, std::string, std::less<>> given_;
};

// Errors are kUsage: they name the option, what is wrong and what is allowed. Of an option given twice the last counts.
Result<Arguments> parse_arguments(const CommandSpec& spec, std::span<const std::string> words);

// The words of an Option::allowed, as a sentence wants them.
std::string listed(std::string_view list, std::string_view separator);

// Those of the table, and --help, which every command has.
std::vector<Option> all_options(const CommandSpec& spec);
std::vector<std::string_view> split(std::string_view list);  // at commas
// " TIME" or "[=BYTES]", as it follows the option's name; empty for switches
std::string value_shown(const Option& option);
// "how stacks are walked: fragment, agct, .. (default: the best that works)"
std::string explained(const Option& option);

std::string help_text(const CommandSpec& spec);

// The one of `known` that `word` most likely was meant to be, or nothing.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace tarsier::cli
