#include "cli/completion.h"

namespace tarsier::cli {
namespace {

constexpr std::string_view kHead = R"sh(# fish completion for tarsier, made by: tarsier completion fish
function __tarsier_jvms
    set -l program (commandline -opc)[1]
    $program ps 2>/dev/null | while read -l pid user java uptime attach main
        test "$pid" = PID; and continue
        printf '%s\t%s\n' $pid $main
        printf '%s\t%s\n' (string replace -r '.*[. /]' '' -- $main) $pid
    end
end

# One or several of the words, separated by commas.
function __tarsier_list
    set -l done (string match -r '^.*,' -- (string replace -r '^--[^=]*=' '' -- (commandline -ct)))
    for word in $argv
        echo $done$word
    end
end

function __tarsier_at_program
    contains -- -- (commandline -opc)
end

complete -c tarsier -f
)sh";

// In fish ' ' knows \' and \\ only.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string value(const Option& option) {
  if (option.bare) return "";  // fish has no word for a value that may be left out, but takes one behind =
  switch (option.kind) {
    case Kind::kSwitch:
      return "";
    case Kind::kWord:
      return " -x -a " + fish_quoted(listed(option.allowed, " "));
    case Kind::kWords:
      return " -x -a " + fish_quoted("(__tarsier_list " + listed(option.allowed, " ") + ")");
    case Kind::kFile:
      return " -r -F";
    default:
      return " -x";
  }
}

std::string operand(const CommandSpec& spec, std::span<const Command* const> commands) {
  switch (spec.operand) {
    case Operand::kNone:
      return "";
    case Operand::kRecording:
      return " -F";
    case Operand::kJvm:
      return " -a '(__tarsier_jvms)'";
    case Operand::kCommand:
    case Operand::kShell:
      return " -a " + fish_quoted(operand_words(spec, commands));
  }
  return "";
}

}  // namespace

std::string fish_completion(std::span<const Command* const> commands) {
  std::string text(kHead);
  for (const Command* command : commands) {
    const CommandSpec& spec = command->spec;
    const std::string name(spec.name);
    text += "\ncomplete -c tarsier -n __fish_use_subcommand -a " + name + " -d " + fish_quoted(spec.summary) + "\n";
    const std::string guard = "complete -c tarsier -n '__fish_seen_subcommand_from " + name +
                              (spec.takes_program ? "; and not __tarsier_at_program'" : "'");
    for (const Option& option : all_options(spec)) {
      text += guard;
      if (option.letter != 0) text += std::string(" -s ") + option.letter;
      text += " -l " + std::string(option.name) + value(option) + " -d " + fish_quoted(explained(option)) + "\n";
    }
    if (const std::string one = operand(spec, commands); !one.empty()) text += guard + one + "\n";
    if (spec.takes_program) {
      text += "complete -c tarsier -n '__fish_seen_subcommand_from " + name +
              "; and __tarsier_at_program' -a '(__fish_complete_subcommand)'\n";
    }
  }
  return text;
}

}  // namespace tarsier::cli
