// Every word of the tables must be found in the help, the man page and the completion of every shell.
#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/parse.h"
#include "cli/man_page.h"
#include "control/options.h"

namespace tarsier::cli {
namespace {

using testing::HasSubstr;

std::string roff(std::string text) {
  for (size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) text.replace(at, 1, "\\-");
  return text;
}

// The part of a script that speaks about one command.
std::string section(const std::string& script, const std::string& from, const std::string& to) {
  const size_t begin = script.find(from);
  if (begin == std::string::npos) return "";
  return script.substr(begin, script.find(to, begin + from.size()) - begin);
}

// The agent has the same default, for those who load it without the command.
TEST(Tables, TheBudgetForWaitsIsThatOfTheAgent) {
  const auto options = all_options(find_command("record")->spec);
  const auto budget =
      std::find_if(options.begin(), options.end(), [](const Option& o) { return o.name == "waits-budget"; });
  ASSERT_NE(budget, options.end());
  EXPECT_EQ(*parse_share(budget->fallback), control::kDefaultWaitsBudget);
}

TEST(Tables, EveryOptionIsInHelpManAndEveryShell) {
  const std::string bash = bash_completion(commands()), zsh = zsh_completion(commands()),
                    fish = fish_completion(commands());
  for (const Command* command : commands()) {
    const std::string name(command->spec.name);
    const std::string help = help_text(command->spec), man = man_page(command->spec);
    const std::string in_bash = section(bash, "      " + name + ") _tarsier_words ", ";;");
    const std::string in_zsh = section(zsh, "_tarsier_" + name + "() {", "\n}\n");
    const std::string in_fish = section(fish, "-a " + name + " ", "__fish_use_subcommand");
    for (const Option& option : all_options(command->spec)) {
      const std::string dashed = "--" + std::string(option.name);
      SCOPED_TRACE(name + " " + dashed);
      EXPECT_THAT(help, HasSubstr(dashed));
      EXPECT_THAT(man, HasSubstr(roff(dashed)));
      EXPECT_THAT(in_bash, HasSubstr(dashed));
      EXPECT_THAT(in_zsh, HasSubstr("'" + dashed));
      EXPECT_THAT(in_fish, HasSubstr(" -l " + std::string(option.name) + " "));
      for (const std::string_view word : split(option.allowed)) {
        if (word.empty()) continue;
        EXPECT_THAT(help, HasSubstr(std::string(word)));
        EXPECT_THAT(man, HasSubstr(roff(std::string(word))));
        EXPECT_THAT(in_zsh, HasSubstr(std::string(word)));
        if (option.bare) continue;  // the others do not offer what may be left out
        EXPECT_THAT(section(bash, name + ":" + dashed, ";;"), HasSubstr(std::string(word)));
        EXPECT_THAT(in_fish, HasSubstr(std::string(word)));
      }
      if (option.letter == 0) continue;
      EXPECT_THAT(help, HasSubstr(std::string("-") + option.letter + ","));
      EXPECT_THAT(man, HasSubstr(std::string("\\-") + option.letter + "\\fR,"));
      EXPECT_THAT(in_zsh, HasSubstr(std::string("'-") + option.letter));
      EXPECT_THAT(in_fish, HasSubstr(std::string(" -s ") + option.letter));
    }
  }
}

TEST(Tables, EveryCommandIsInTheManPageAndEveryShell) {
  for (const Command* command : commands()) {
    const std::string name(command->spec.name);
    EXPECT_THAT(man_page(), HasSubstr(".B " + roff(name)));
    EXPECT_THAT(section(bash_completion(commands()), "COMP_CWORD == 1", "return"), HasSubstr(name));
    EXPECT_THAT(zsh_completion(commands()), HasSubstr("'" + name + ":"));
    EXPECT_THAT(fish_completion(commands()), HasSubstr("__fish_use_subcommand -a " + name));
    EXPECT_EQ(find_command(name), command);
  }
  for (const Shell& shell : shells()) {
    EXPECT_THAT(operand_words(kCompletion.spec, commands()), HasSubstr(std::string(shell.name)));
  }
}

TEST(Tables, HostileWordsStayWords) {
  static constexpr Option kOptions[] = {{.name = "odd", .help = "it's [a] `b` $c: \\d \"e\"\n.SH evil"}};
  static constexpr CommandSpec kSpec = {
      .name = "odd", .summary = "isn't it: [x]", .options = kOptions, .notes = ".SH evil\n'br\nplain"};
  const Command odd = {kSpec, nullptr};
  const Command* const all[] = {&odd};
  EXPECT_THAT(zsh_completion(all), HasSubstr("'--odd[it'\\''s \\[a\\]"));
  EXPECT_THAT(fish_completion(all), HasSubstr("'it\\'s [a]"));
  EXPECT_EQ(man_page(kSpec).find("\n.SH evil"), std::string::npos);
  EXPECT_EQ(man_page(kSpec).find("\n'br"), std::string::npos);
  EXPECT_THAT(man_page(kSpec), HasSubstr("\\ed"));
}

}  // namespace
}  // namespace tarsier::cli
