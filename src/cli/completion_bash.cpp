#include "cli/completion.h"

namespace tarsier::cli {
namespace {

// Works with and without the package bash-completion. COMP_WORDBREAKS cuts --clock=perf into three words.
constexpr std::string_view kHead = R"sh(# bash completion for tarsier, made by: tarsier completion bash
_tarsier_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# One or several of them, separated by commas.
_tarsier_list() {
  local done=
  [[ $cur != *,* ]] || done=${cur%,*},
  COMPREPLY=($(compgen -P "$done" -W "$1" -- "${cur##*,}"))
  compopt -o nospace 2>/dev/null
}

_tarsier_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\n'
  COMPREPLY=($(compgen -f -- "$cur"))
}

# Others name their programs as they like: such names are offered as they would have to be typed, and never reach
# compgen -W, which would run what they say.
_tarsier_jvms() {
  local pid main word
  while read -r pid _ _ _ _ main; do
    [[ $pid != PID ]] || continue
    for word in "$pid" "${main##*[. /]}"; do
      printf -v word %q "$word"
      [[ $word != "$cur"* ]] || COMPREPLY+=("$word")
    done
  done < <("${COMP_WORDS[0]/#\~/$HOME}" ps 2>/dev/null)
}

# Behind -- stands a program with its own words.
_tarsier_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    COMPREPLY=($(compgen -c -- "$cur"))
  else
    _tarsier_files
  fi
}

_tarsier() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i
  COMPREPLY=()
  if [[ $cur == '=' ]]; then
    cur=
  elif [[ $prev == '=' ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    _tarsier_words )sh";

constexpr std::string_view kTail = R"sh(}

complete -F _tarsier tarsier
)sh";

std::string names(const Option& option, std::string_view prefix) {
  std::string text = std::string(prefix) + "--" + std::string(option.name);
  if (option.letter != 0) text.append(" | ").append(prefix).append("-").append(1, option.letter);
  return text;
}

std::string action(const Option& option) {
  switch (option.kind) {
    case Kind::kSwitch:
      return "";
    case Kind::kWord:
      return "_tarsier_words " + quoted(listed(option.allowed, " "));
    case Kind::kWords:
      return "_tarsier_list " + quoted(listed(option.allowed, " "));
    case Kind::kFile:
      return "_tarsier_files";
    default:
      return ":";  // a value that only the user knows
  }
}

std::string operand_action(const CommandSpec& spec, std::span<const Command* const> commands) {
  switch (spec.operand) {
    case Operand::kNone:
      return "";
    case Operand::kRecording:
      return "_tarsier_files";
    case Operand::kJvm:
      return "_tarsier_jvms";
    case Operand::kCommand:
    case Operand::kShell:
      return "_tarsier_words " + quoted(operand_words(spec, commands));
  }
  return "";
}

}  // namespace

std::string bash_completion(std::span<const Command* const> commands) {
  std::string all, programs, values, options, operands;
  for (const Command* command : commands) {
    const CommandSpec& spec = command->spec;
    const std::string name(spec.name);
    all.append(all.empty() ? "" : " ").append(name);
    if (spec.takes_program) programs.append(programs.empty() ? "" : " | ").append(name);
    std::string flags;
    for (const Option& option : all_options(spec)) {
      flags.append(flags.empty() ? "--" : " --").append(option.name);
      // A value that may be left out is never the next word.
      if (const std::string act = action(option); !act.empty() && !option.bare) {
        values += "    " + names(option, name + ":") + ")\n      " + act + "\n      return\n      ;;\n";
      }
    }
    options += "      " + name + ") _tarsier_words " + quoted(flags) + " ;;\n";
    if (const std::string act = operand_action(spec, commands); !act.empty()) {
      operands += "    " + name + ") " + act + " ;;\n";
    }
  }
  std::string text(kHead);
  text += quoted(all) + "\n    return\n  fi\n  local command=${COMP_WORDS[1]}\n";
  text += "  case $command in\n    " + programs +
          ")\n      for ((i = 2; i < COMP_CWORD; ++i)); do\n"
          "        [[ ${COMP_WORDS[i]} != -- ]] || { _tarsier_program $((i + 1)); return; }\n"
          "      done\n      ;;\n  esac\n";
  text += "  case $command:$prev in\n" + values + "  esac\n";
  text += "  if [[ $cur == -* ]]; then\n    case $command in\n" + options + "    esac\n    return\n  fi\n";
  text += "  case $command in\n" + operands + "  esac\n";
  return text + std::string(kTail);
}

}  // namespace tarsier::cli
