#include "cli/completion.h"

namespace tarsier::cli {
namespace {

constexpr std::string_view kHead = R"sh(#compdef tarsier
# zsh completion for tarsier, made by: tarsier completion zsh

_tarsier_jvms() {
  local -a jvms
  local pid user java uptime attach main
  ${(Q)words_of_tarsier[1]:-tarsier} ps 2>/dev/null | while read -r pid user java uptime attach main; do
    [[ $pid == PID ]] || jvms+=("$pid:$main" "${main##*[. /]}:$pid")
  done
  _describe -V 'JVM' jvms
}

)sh";

constexpr std::string_view kTail = R"sh(
if [[ $funcstack[1] == _tarsier ]]; then
  _tarsier "$@"
else
  compdef _tarsier tarsier
fi
)sh";

// In [ ] and between colons of an argument of _arguments.
std::string guarded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string action(const Option& option) {
  switch (option.kind) {
    case Kind::kWord:
      return "(" + listed(option.allowed, " ") + ")";
    case Kind::kWords:
      return "_values -s , " + std::string(option.name) + " " + listed(option.allowed, " ");
    case Kind::kFile:
      return "_files";
    default:
      return "";
  }
}

std::string argument(const Option& option) {
  const bool takes_value = option.kind != Kind::kSwitch;
  const std::string explanation = "[" + guarded(explained(option)) + "]";
  const std::string joint = !takes_value ? "" : option.bare ? "=-" : "=";
  const std::string value =
      takes_value ? std::string(option.bare ? "::" : ":") + guarded(option.value) + ":" + action(option) : "";
  const std::string name(option.name);
  std::string text = "    " + quoted("--" + name + joint + explanation + value);
  if (option.letter != 0) {
    text += " \\\n    " + quoted(std::string("-") + option.letter + (takes_value ? "+" : "") + explanation + value);
  }
  return text;
}

std::string operand(const CommandSpec& spec, std::span<const Command* const> commands) {
  switch (spec.operand) {
    case Operand::kNone:
      return "";
    case Operand::kRecording:
      return quoted(spec.max_operands > 1 ? "*:FILE:_files" : "1:FILE:_files");
    case Operand::kJvm:
      return quoted("1:JVM:_tarsier_jvms");
    case Operand::kCommand:
    case Operand::kShell:
      return quoted("1:word:(" + operand_words(spec, commands) + ")");
  }
  return "";
}

}  // namespace

std::string zsh_completion(std::span<const Command* const> commands) {
  std::string text(kHead), described;
  for (const Command* command : commands) {
    const CommandSpec& spec = command->spec;
    const std::string name(spec.name);
    described += "    " + quoted(name + ":" + std::string(spec.summary)) + "\n";
    text += "_tarsier_" + name + "() {\n";
    if (spec.takes_program) {
      // Behind -- stands a program with its own words.
      text +=
          "  local at=${words[(i)--]}\n"
          "  if ((at < CURRENT)); then\n"
          "    words=(\"${(@)words[at + 1,-1]}\") CURRENT=$((CURRENT - at))\n"
          "    _normal\n    return\n  fi\n";
    }
    text += "  _arguments -s";
    for (const Option& option : all_options(spec)) text += " \\\n" + argument(option);
    if (const std::string one = operand(spec, commands); !one.empty()) text += " \\\n    " + one;
    text += "\n}\n\n";
  }
  text += "_tarsier() {\n  local -a commands=(\n" + described +
          "  )\n"
          "  local -a words_of_tarsier=(\"${words[@]}\")\n"
          "  if ((CURRENT == 2)); then\n    _describe -V 'command' commands\n    return\n  fi\n"
          "  local command=${words[2]}\n"
          "  (($+functions[_tarsier_$command])) || return\n"
          "  shift words\n  ((CURRENT--))\n"
          "  _tarsier_$command\n}\n";
  return text + std::string(kTail);
}

}  // namespace tarsier::cli
