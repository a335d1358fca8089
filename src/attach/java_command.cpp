#include "attach/java_command.h"

#include <algorithm>
#include <array>

namespace tarsier::attach {
namespace {

// Options of the launcher whose value is the next word.
constexpr std::array<std::string_view, 14> kTakesValue = {"-cp",
                                                          "-classpath",
                                                          "--class-path",
                                                          "-p",
                                                          "--module-path",
                                                          "--upgrade-module-path",
                                                          "--add-modules",
                                                          "--add-exports",
                                                          "--add-opens",
                                                          "--add-reads",
                                                          "--patch-module",
                                                          "--limit-modules",
                                                          "--describe-module",
                                                          "-d"};

struct Launch {
  std::string main;
  size_t main_at = 0;  // where the program's own words start; words.size() if there is none
};

Launch parse_launch(std::span<const std::string> words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-jar" || word == "-m" || word == "--module") {
      if (i + 1 < words.size()) return {words[i + 1], i};
      break;
    }
    if (word.starts_with("--module=")) return {word.substr(9), i};
    if (std::find(kTakesValue.begin(), kTakesValue.end(), word) != kTakesValue.end()) {
      ++i;
    } else if (!word.starts_with('-') && !word.starts_with('@')) {
      return {word, i};
    }
  }
  return {"", words.size()};
}

std::string_view variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const size_t end = std::min(environment.find('\0'), environment.size());
    const std::string_view entry = environment.substr(0, end);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
    environment.remove_prefix(std::min(end + 1, environment.size()));
  }
  return {};
}

struct FlagRule {
  std::string_view argument;
  bool AttachFlags::*flag;
  bool value;
};
constexpr std::array<FlagRule, 7> kRules = {{
    {"-XX:+DisableAttachMechanism", &AttachFlags::attach_disabled, true},
    {"-XX:-DisableAttachMechanism", &AttachFlags::attach_disabled, false},
    {"-XX:-EnableDynamicAgentLoading", &AttachFlags::agent_loading_disabled, true},
    {"-XX:+EnableDynamicAgentLoading", &AttachFlags::agent_loading_disabled, false},
    {"-Xrs", &AttachFlags::reduced_signals, true},
    {"-XX:+ReduceSignalUsage", &AttachFlags::reduced_signals, true},
    {"-XX:-ReduceSignalUsage", &AttachFlags::reduced_signals, false},
}};

}  // namespace

std::string main_of_command_line(std::span<const std::string> words) {
  return parse_launch(words).main;
}

std::string main_of_java_command(std::string_view java_command) {
  return std::string(java_command.substr(0, java_command.find(' ')));
}

std::string short_name(std::string_view main) {
  if (!main.ends_with(".jar")) return std::string(main);
  const size_t slash = main.rfind('/');
  return std::string(slash == std::string_view::npos ? main : main.substr(slash + 1));
}

void apply_arguments(std::string_view arguments, AttachFlags& flags) {
  constexpr std::string_view kBlanks = " \t\n";
  while (!arguments.empty()) {
    const size_t start = std::min(arguments.find_first_not_of(kBlanks), arguments.size());
    const size_t end = std::min(arguments.find_first_of(kBlanks, start), arguments.size());
    const std::string_view word = arguments.substr(start, end - start);
    for (const FlagRule& rule : kRules) {
      if (word == rule.argument) flags.*rule.flag = rule.value;
    }
    arguments.remove_prefix(end);
  }
}

std::string jvm_arguments(std::span<const std::string> words, std::string_view environment) {
  // JAVA_TOOL_OPTIONS first, then the launcher's own words (JDK_JAVA_OPTIONS are put before them), _JAVA_OPTIONS last.
  std::string arguments;
  const auto add = [&arguments](std::string_view text) { arguments.append(text).append(" "); };
  add(variable(environment, "JAVA_TOOL_OPTIONS"));
  add(variable(environment, "JDK_JAVA_OPTIONS"));
  const size_t end = parse_launch(words).main_at;
  for (size_t i = 1; i < end; ++i) add(words[i]);
  add(variable(environment, "_JAVA_OPTIONS"));
  return arguments;
}

}  // namespace tarsier::attach
