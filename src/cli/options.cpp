#include "cli/options.h"

#include <algorithm>
#include <charconv>

#include "base/parse.h"

namespace tarsier::cli {
namespace {

constexpr Option kHelp = {.name = "help", .letter = 'h', .help = "show this text"};

Error usage(std::string what) {
  return Error{Errc::kUsage, std::move(what)};
}

const Option* find_option(const CommandSpec& spec, auto matches) {
  if (matches(kHelp)) return &kHelp;
  const auto found = std::find_if(spec.options.begin(), spec.options.end(), matches);
  return found == spec.options.end() ? nullptr : &*found;
}

Error unknown_option(const CommandSpec& spec, std::string_view name) {
  std::vector<std::string_view> known = {kHelp.name};
  for (const Option& option : spec.options) known.push_back(option.name);
  const std::string_view meant = nearest(name, known);
  return usage("there is no option --" + std::string(name) +
               (meant.empty() ? std::string() : "; did you mean --" + std::string(meant) + "?"));
}

Status check_word(const Option& option, std::string_view word) {
  const auto allowed = split(option.allowed);
  if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) return {};
  const std::string_view meant = nearest(word, allowed);
  return usage("'" + std::string(word) + "' is not known; allowed: " + listed(option.allowed, ", ") +
               (meant.empty() ? std::string() : "; did you mean " + std::string(meant) + "?"));
}

Result<int64_t> parse_number(const Option& option, std::string_view text) {
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || number < option.min || number > option.max) {
    return usage("'" + std::string(text) + "' is not a whole number from " + std::to_string(option.min) + " to " +
                 std::to_string(option.max));
  }
  return number;
}

template <class T>
Status outcome(const Result<T>& parsed) {
  return parsed ? Status() : Status(parsed.error());
}

using Range = std::pair<Nanos, Nanos>;
Result<Range> parse_range(std::string_view text) {
  const auto bounds = split(text);
  if (bounds.size() > 2) return usage("'" + std::string(text) + "' is too much: write 100us or 100us,1s");
  Range range;
  const auto first = parse_duration(bounds[0]);
  if (!first) return first.error();
  range.first = *first;
  if (bounds.size() == 1) return range;
  const auto second = parse_duration(bounds[1]);
  if (!second) return second.error();
  range.second = *second;
  if (range.second < range.first)
    return usage("'" + std::string(text) + "': the second time is shorter than the first");
  return range;
}

Status check_value(const Option& option, std::string_view value) {
  switch (option.kind) {
    case Kind::kSwitch:
    case Kind::kText:
    case Kind::kFile:
      return value.empty() && option.kind != Kind::kSwitch ? Status(usage("its value is empty")) : Status();
    case Kind::kWord:
      return check_word(option, value);
    case Kind::kWords:
      for (const std::string_view word : split(value)) {
        if (auto checked = check_word(option, word); !checked) return checked;
      }
      return {};
    case Kind::kDuration: {
      const auto parsed = parse_duration(value);
      if (parsed && parsed->count < option.min) {
        return usage("'" + std::string(value) + "' is too short; the least is " + format_duration(Nanos(option.min)));
      }
      if (parsed && option.max != 0 && parsed->count > option.max) {
        return usage("'" + std::string(value) + "' is too long; the most is " + format_duration(Nanos(option.max)));
      }
      return outcome(parsed);
    }
    case Kind::kRange: {
      const auto parsed = parse_range(value);
      if (parsed && parsed->first.count < option.min) {
        return usage("'" + std::string(value) + "' is too short; the least is " + format_duration(Nanos(option.min)));
      }
      return outcome(parsed);
    }
    case Kind::kSize: {
      const auto parsed = parse_size(value);
      if (parsed && parsed->count < option.min) {
        return usage("'" + std::string(value) + "' is too small; the least is " + format_size(Bytes(option.min)));
      }
      if (parsed && option.max != 0 && parsed->count > option.max) {
        return usage("'" + std::string(value) + "' is too much; the most is " + format_size(Bytes(option.max)));
      }
      return outcome(parsed);
    }
    case Kind::kNumber:
      return outcome(parse_number(option, value));
    case Kind::kShare:
      return outcome(parse_share(value));
  }
  return {};
}

}  // namespace

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t comma = list.find(',');
    words.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

std::string listed(std::string_view list, std::string_view separator) {
  std::string text;
  for (const std::string_view word : split(list)) text.append(text.empty() ? "" : separator).append(word);
  return text;
}

Result<Arguments> parse_arguments(const CommandSpec& spec, std::span<const std::string> words) {
  Arguments arguments;
  arguments.spec_ = &spec;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      const auto rest = words.subspan(i + 1);
      (spec.takes_program ? arguments.program : arguments.operands)
          .insert((spec.takes_program ? arguments.program : arguments.operands).end(), rest.begin(), rest.end());
      if (spec.takes_program && rest.empty()) return usage("-- must be followed by the program to run");
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      arguments.operands.emplace_back(word);
      continue;
    }

    // --name, --name=value, --name value, -n, -nvalue, -n value
    const bool is_long = word[1] == '-';
    const size_t name_end = is_long ? std::min(word.find('='), word.size()) : 2;
    const std::string_view name = word.substr(is_long ? 2 : 1, name_end - (is_long ? 2 : 1));
    const Option* option = find_option(
        spec, [&](const Option& candidate) { return is_long ? candidate.name == name : candidate.letter == name[0]; });
    if (option == nullptr) {
      return is_long ? unknown_option(spec, name) : usage("there is no option -" + std::string(name));
    }
    const std::string shown = "--" + std::string(option->name);
    std::string_view value;
    if (name_end < word.size()) {
      if (option->kind == Kind::kSwitch) {
        return usage(shown + " takes no value, but got '" + std::string(word.substr(name_end + (is_long ? 1 : 0))) +
                     "'");
      }
      value = word.substr(name_end + (is_long ? 1 : 0));
    } else if (option->kind != Kind::kSwitch && !option->bare) {
      if (i + 1 == words.size()) {
        return usage(shown + " needs a value, " + std::string(option->value));
      }
      value = words[++i];
    }
    const bool left_out = option->bare && name_end == word.size();
    if (auto checked = left_out ? Status() : check_value(*option, value); !checked)
      return std::move(checked).error().in(shown);
    arguments.given_.insert_or_assign(std::string(option->name), std::string(left_out ? option->fallback : value));
  }
  if (arguments.operands.size() > spec.max_operands && !arguments.has("help")) {
    return usage("one word too many: '" + arguments.operands[spec.max_operands] + "'; usage: tarsier " +
                 std::string(spec.name) + " [OPTIONS] " + std::string(spec.operands));
  }
  return arguments;
}

std::string Arguments::text(std::string_view option) const {
  if (const auto found = given_.find(option); found != given_.end()) return found->second;
  const Option* known = find_option(*spec_, [&](const Option& candidate) { return candidate.name == option; });
  return known == nullptr ? std::string() : std::string(known->fallback);
}

std::vector<std::string> Arguments::words(std::string_view option) const {
  const std::string list = text(option);
  if (list.empty()) return {};
  const auto words = split(list);
  return {words.begin(), words.end()};
}

Nanos Arguments::duration(std::string_view option) const {
  const auto parsed = parse_duration(text(option));
  return parsed ? *parsed : Nanos(0);
}

std::pair<Nanos, Nanos> Arguments::range(std::string_view option) const {
  const auto parsed = parse_range(text(option));
  return parsed ? *parsed : Range();
}

Bytes Arguments::size(std::string_view option) const {
  const auto parsed = parse_size(text(option));
  return parsed ? *parsed : Bytes(0);
}

int64_t Arguments::number(std::string_view option) const {
  const std::string value = text(option);
  int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

double Arguments::share(std::string_view option) const {
  const auto parsed = parse_share(text(option));
  return parsed ? *parsed : 0;
}

std::vector<Option> all_options(const CommandSpec& spec) {
  std::vector<Option> options(spec.options.begin(), spec.options.end());
  options.push_back(kHelp);
  return options;
}

std::string value_shown(const Option& option) {
  if (option.value.empty()) return "";
  return option.bare ? "[=" + std::string(option.value) + "]" : " " + std::string(option.value);
}

std::string explained(const Option& option) {
  std::string text(option.help);
  if (!option.allowed.empty()) text.append(": ").append(listed(option.allowed, ", "));
  // With spaces, since lines can't be broken elsewhere.
  const std::string without = option.fallback.empty() ? std::string(option.otherwise) : listed(option.fallback, ", ");
  // What is left out with a bare option is its value, which is not what happens without the option.
  const std::string left_out = option.bare ? "without =" + std::string(option.value) : "default";
  if (!without.empty()) text.append(" (").append(left_out).append(": ").append(without).append(")");
  return text;
}

std::string help_text(const CommandSpec& spec) {
  std::string text = "tarsier " + std::string(spec.name) + ": " + std::string(spec.summary) + "\n\nusage: tarsier " +
                     std::string(spec.name) + " [OPTIONS]" + (spec.operands.empty() ? "" : " ") +
                     std::string(spec.operands) + "\n\n";
  constexpr size_t kColumn = 26;
  const auto add = [&text](const Option& option) {
    std::string left = option.letter != 0 ? std::string("  -") + option.letter + ", " : "      ";
    left.append("--").append(option.name);
    left += value_shown(option);
    text += left;
    text.append(left.size() + 2 <= kColumn ? kColumn - left.size() : 2, ' ');
    text += explained(option) + '\n';
  };
  for (const Option& option : all_options(spec)) add(option);
  if (!spec.notes.empty()) text.append("\n").append(spec.notes).append("\n");
  return text;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  size_t best_distance = word.size() < 4 ? 2 : 3;  // must be less than that
  for (const std::string_view candidate : known) {
    if (word.size() >= 2 && candidate.starts_with(word)) return candidate;
    // Edit distance: insert, delete, replace. Words are short, so the plain table does.
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t replaced = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace tarsier::cli
