#include "cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarsier::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Option kOptions[] = {
    {.name = "cpu", .help = "sample CPU"},
    {.name = "clock", .kind = Kind::kWord, .value = "NAME", .help = "which", .allowed = "perf,cputimer"},
    {.name = "view", .kind = Kind::kWords, .value = "V,..", .help = "what", .allowed = "hot,tree,threads"},
    {.name = "duration", .letter = 'd', .kind = Kind::kDuration, .value = "TIME", .help = "how long", .min = 1000},
    {.name = "often",
     .kind = Kind::kDuration,
     .value = "TIME",
     .fallback = "1s",
     .help = "how often",
     .min = 1'000'000,
     .max = 1'000'000'000},
    {.name = "memory", .kind = Kind::kSize, .value = "SIZE", .fallback = "64m", .help = "bound", .min = 1 << 20},
    {.name = "alloc",
     .kind = Kind::kSize,
     .value = "BYTES",
     .fallback = "512k",
     .help = "once in",
     .max = 1 << 30,
     .bare = true},
    {.name = "top", .kind = Kind::kNumber, .value = "N", .fallback = "20", .help = "rows", .min = 1, .max = 100},
    {.name = "min-share", .kind = Kind::kShare, .value = "X", .fallback = "1%", .help = "least"},
    {.name = "output", .letter = 'o', .kind = Kind::kText, .value = "FILE", .help = "where"},
};
constexpr CommandSpec kSpec = {.name = "try",
                               .summary = "tries",
                               .operands = "[PID]",
                               .max_operands = 1,
                               .takes_program = true,
                               .options = kOptions};

Result<Arguments> parse(std::initializer_list<const char*> words) {
  const std::vector<std::string> list(words.begin(), words.end());
  return parse_arguments(kSpec, list);
}

std::string complaint(std::initializer_list<const char*> words) {
  const auto parsed = parse(words);
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.error().code, Errc::kUsage);
  return parsed.error().what;
}

TEST(Parse, TakesValuesInEveryUsualForm) {
  for (const auto& words : {std::initializer_list<const char*>{"-d", "30s", "-o", "x"},
                            {"-d30s", "-ox"},
                            {"--duration=30s", "--output=x"},
                            {"--duration", "30s", "--output", "x"},
                            {"-d", "1s", "-o", "x", "-d", "30s"}}) {
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed.ok()) << parsed.error().what;
    EXPECT_EQ(parsed->duration("duration"), seconds(30));
    EXPECT_EQ(parsed->text("output"), "x");
  }
}

TEST(Parse, AValueThatMayBeLeftOutMustBeJoined) {
  EXPECT_EQ(parse({"--alloc", "17"})->size("alloc"), Bytes(512 << 10));
  EXPECT_EQ(parse({"--alloc", "17"})->operands, std::vector<std::string>{"17"});
  EXPECT_EQ(parse({"--alloc=4k"})->size("alloc"), Bytes(4096));
  EXPECT_TRUE(parse({"--alloc"})->has("alloc"));
  EXPECT_FALSE(parse({})->has("alloc"));
}

TEST(Parse, GivesDefaultsForWhatIsNotSaid) {
  const auto parsed = parse({});
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->has("memory"));
  EXPECT_EQ(parsed->size("memory"), Bytes(64 << 20));
  EXPECT_EQ(parsed->number("top"), 20);
  EXPECT_DOUBLE_EQ(parsed->share("min-share"), 0.01);
  EXPECT_EQ(parsed->duration("duration"), Nanos(0));
  EXPECT_TRUE(parsed->words("view").empty());
}

TEST(Parse, TakesOptionsBehindOperandsAndLeavesTheProgramAlone) {
  const auto parsed = parse({"4711", "--cpu", "--", "java", "-d", "--cpu", "--"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->operands, ElementsAre("4711"));
  EXPECT_THAT(parsed->program, ElementsAre("java", "-d", "--cpu", "--"));
  EXPECT_TRUE(parsed->has("cpu"));
  EXPECT_FALSE(parsed->has("duration"));
}

TEST(Parse, SplitsLists) {
  EXPECT_THAT(parse({"--view", "hot,tree"})->words("view"), ElementsAre("hot", "tree"));
}

TEST(Parse, ReadsSharesAsFractionsAndPercents) {
  EXPECT_DOUBLE_EQ(parse({"--min-share", "0.25"})->share("min-share"), 0.25);
  EXPECT_DOUBLE_EQ(parse({"--min-share=5%"})->share("min-share"), 0.05);
}

TEST(Complaint, NamesTheOptionWhatIsWrongAndWhatIsAllowed) {
  struct Case {
    std::initializer_list<const char*> words;
    std::vector<const char*> parts;
  };
  const Case cases[] = {
      {{"--clok", "perf"}, {"--clok", "did you mean --clock?"}},
      {{"--dur", "1s"}, {"--dur", "--duration"}},
      {{"-x"}, {"-x"}},
      {{"--clock", "prf"}, {"--clock", "'prf'", "perf, cputimer", "did you mean perf?"}},
      {{"--view", "hot,"}, {"--view", "hot, tree, threads"}},
      {{"--duration"}, {"--duration", "needs a value", "TIME"}},
      {{"-d", "30"}, {"--duration", "'30'", "30s"}},
      {{"-d", "0s"}, {"--duration", "too short"}},
      {{"--often", "2s"}, {"--often", "too long", "the most is 1s"}},
      {{"--memory", "1k"}, {"--memory", "too small"}},
      {{"--alloc=2g"}, {"--alloc", "the most is 1g"}},
      {{"--alloc="}, {"--alloc"}},
      {{"--cpu=yes"}, {"--cpu", "takes no value", "yes"}},
      {{"--top", "0"}, {"--top", "1 to 100"}},
      {{"--top", "7x"}, {"--top", "7x"}},
      {{"--min-share", "2"}, {"--min-share", "100%"}},
      {{"--min-share", "nan"}, {"--min-share"}},
      {{"--output", ""}, {"--output", "empty"}},
      {{"1", "2"}, {"'2'", "[PID]"}},
      {{"--"}, {"--", "program"}},
  };
  for (const Case& one : cases) {
    for (const char* part : one.parts) EXPECT_THAT(complaint(one.words), HasSubstr(part));
  }
}

TEST(Complaint, GuessesNothingForAWordThatIsLikeNone) {
  EXPECT_EQ(complaint({"--zzzzzzzz"}).find("mean"), std::string::npos);
}

TEST(Help, ShowsEveryOptionOfTheTableWithItsDefaultAndWords) {
  const std::string help = help_text(kSpec);
  for (const Option& option : kOptions) EXPECT_THAT(help, HasSubstr("--" + std::string(option.name)));
  EXPECT_THAT(help, HasSubstr("-d, --duration TIME"));
  EXPECT_THAT(help, HasSubstr("(default: 64m)"));
  EXPECT_THAT(help, HasSubstr("(without =BYTES: 512k)"));
  EXPECT_THAT(help, HasSubstr("perf, cputimer"));
  EXPECT_THAT(help, HasSubstr("--help"));
}

TEST(Help, IsAskedForEvenIfTheRestIsWrongInNumber) {
  EXPECT_TRUE(parse({"1", "2", "--help"})->has("help"));
  EXPECT_TRUE(parse({"-h"})->has("help"));
}

}  // namespace
}  // namespace tarsier::cli
