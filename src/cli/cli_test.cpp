// The command's parts that need no JVM. What it does with one is tested in tests/cli.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/child.h"
#include "cli/console.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/target.h"

namespace tarsier::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---- progress

control::Progress some_progress() {
  control::Progress progress;
  progress.elapsed = seconds(18);
  progress.taken = 11834;
  progress.overhead_app = millis(60);
  progress.overhead_background = millis(12);
  progress.hottest = "com.example.deep.package.Main.work";
  progress.hottest_share = 0.342;
  return progress;
}

TEST(ProgressLine, ShowsTimeLeftSamplesDropsCostAndTheHottestMethod) {
  EXPECT_EQ(progress_line(some_progress(), seconds(30), 200),
            "12 s left · 11,834 samples · 0 dropped · cost 0.4 % · hottest com.example.deep.package.Main.work 34 %");
}

TEST(ProgressLine, WithoutADurationShowsTheTimeSoFarAndFailuresOnlyIfThereAreAny) {
  auto progress = some_progress();
  progress.failed = 1200;
  progress.hottest.clear();
  EXPECT_EQ(progress_line(progress, Nanos(0), 200), "18 s · 11,834 samples · 0 dropped · 1,200 failed · cost 0.4 %");
}

TEST(ProgressLine, NeverIsWiderThanTheTerminal) {
  auto progress = some_progress();
  progress.hottest = "a.ÄÖÜ.日本語日本語日本語.Mäin.wörk";
  for (size_t width = 0; width < 120; ++width) {
    const std::string line = progress_line(progress, seconds(30), width);
    size_t characters = 0;
    for (const char c : line) characters += (c & 0xc0) != 0x80 ? 1 : 0;
    EXPECT_LE(characters, width) << line;
  }
}

TEST(ProgressLine, KeepsTheEndOfALongNameAndDisarmsItsControlCharacters) {
  auto progress = some_progress();
  EXPECT_THAT(progress_line(progress, seconds(30), 80), HasSubstr("Main.work 34 %"));
  progress.hottest = "evil\x1b[2J\r\nMethod";
  const std::string line = progress_line(progress, seconds(30), 200);
  EXPECT_EQ(line.find_first_of("\x1b\r\n"), std::string::npos);
}

TEST(ProgressLine, OfAnAgentThatRunsLateShowsNoNegativeTime) {
  auto progress = some_progress();
  progress.elapsed = seconds(31);
  EXPECT_THAT(progress_line(progress, seconds(30), 200), testing::StartsWith("0 s left"));
}

TEST(Grouped, SetsCommasBetweenThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

// ---- target

attach::Jvm jvm(pid_t pid, const char* main) {
  attach::Jvm result;
  result.pid = pid;
  result.main = main;
  return result;
}

TEST(ChooseByName, TakesTheOnlyJvmIfNoneIsNamed) {
  const std::vector one = {jvm(1, "A")};
  EXPECT_EQ(choose_by_name("", one)->pid, 1);
  EXPECT_EQ(choose_by_name("", {}).error().code, Errc::kNotFound);
}

TEST(ChooseByName, OfSeveralAsksAndListsThem) {
  const std::vector two = {jvm(11, "com.a.Main"), jvm(22, "com.b.Main")};
  for (const char* word : {"", "Main", "com"}) {
    const auto chosen = choose_by_name(word, two);
    ASSERT_FALSE(chosen.ok());
    EXPECT_EQ(chosen.error().code, Errc::kUsage);
    EXPECT_THAT(chosen.error().what, HasSubstr("11"));
    EXPECT_THAT(chosen.error().what, HasSubstr("com.b.Main"));
  }
}

TEST(ChooseByName, ReadsANameExactlyThenAsAPartThenWithoutCase) {
  const std::vector jvms = {jvm(1, "com.example.Server"), jvm(2, "com.example.ServerAdmin"),
                            jvm(3, "/opt/app/shop-1.2.jar"), jvm(4, "")};
  EXPECT_EQ(choose_by_name("Server", jvms)->pid, 1);
  EXPECT_EQ(choose_by_name("com.example.ServerAdmin", jvms)->pid, 2);
  EXPECT_EQ(choose_by_name("Admin", jvms)->pid, 2);
  EXPECT_EQ(choose_by_name("SHOP", jvms)->pid, 3);
  EXPECT_EQ(choose_by_name("shop-1.2", jvms)->pid, 3);
  EXPECT_EQ(choose_by_name("opt", jvms).error().code, Errc::kNotFound) << "a folder is no part of the name";
}

TEST(ChooseByName, ThatFitsNoneListsWhatRuns) {
  const std::vector one = {jvm(7, "com.a.Main\x1b[2J")};
  const auto chosen = choose_by_name("nothing", one);
  EXPECT_EQ(chosen.error().code, Errc::kNotFound);
  EXPECT_THAT(chosen.error().what, HasSubstr("com.a.Main"));
  EXPECT_THAT(chosen.error().what, Not(HasSubstr("\x1b")));
}

// ---- output file

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/tarsier-output-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string in_folder(const char* name) const { return folder_ + "/" + name; }
  size_t entries() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  std::string folder_;
};

TEST_F(OutputFileTest, LeavesNothingBehindIfItIsNotPublished) {
  {
    auto output = OutputFile::create(in_folder("x.jfr"));
    ASSERT_TRUE(output.ok()) << output.error().what;
    ASSERT_EQ(::write(output->fd(), "x", 1), 1);
    auto moved = std::move(*output);
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(OutputFileTest, ReplacesAnOlderFileOnlyWhenPublished) {
  std::ofstream(in_folder("x.jfr")) << "old";
  auto output = OutputFile::create(in_folder("x.jfr"));
  ASSERT_TRUE(output.ok());
  ASSERT_EQ(::write(output->fd(), "newer", 5), 5);
  EXPECT_EQ(std::filesystem::file_size(in_folder("x.jfr")), 3u);
  ASSERT_TRUE(output->publish().ok());
  EXPECT_EQ(std::filesystem::file_size(in_folder("x.jfr")), 5u);
  EXPECT_EQ(entries(), 1u);
  struct stat info {};
  ::stat(in_folder("x.jfr").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(OutputFileTest, NeverFollowsALink) {
  std::ofstream(in_folder("victim")) << "precious";
  ASSERT_EQ(::symlink(in_folder("victim").c_str(), in_folder("x.jfr").c_str()), 0);
  const auto refused = OutputFile::create(in_folder("x.jfr"));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().what, HasSubstr("symbolic link"));

  // Not even one that is planted between the check and the moment of publishing.
  ::unlink(in_folder("x.jfr").c_str());
  auto output = OutputFile::create(in_folder("x.jfr"));
  ASSERT_EQ(::symlink(in_folder("victim").c_str(), in_folder("x.jfr").c_str()), 0);
  ASSERT_TRUE(output->publish().ok());
  EXPECT_EQ(std::filesystem::file_size(in_folder("victim")), 8u);
  EXPECT_FALSE(std::filesystem::is_symlink(in_folder("x.jfr")));
}

TEST_F(OutputFileTest, RefusesFoldersAndPipesAndMissingFolders) {
  ASSERT_EQ(::mkfifo(in_folder("pipe").c_str(), 0600), 0);
  EXPECT_EQ(OutputFile::create(in_folder("pipe")).error().code, Errc::kUsage);
  EXPECT_EQ(OutputFile::create(folder_).error().code, Errc::kUsage);
  EXPECT_EQ(OutputFile::create(folder_ + "/").error().code, Errc::kUsage);
  EXPECT_EQ(OutputFile::create(in_folder("missing/x.jfr")).error().code, Errc::kFailed);
}

// ---- child

std::vector<std::string> words(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

TEST(WithAgent, PutsTheAgentFirstForJavaAndIntoTheVariableForTheRest) {
  const auto java = with_agent(words({"/usr/bin/java", "-cp", "x", "Main"}), "/lib/t.so", "connect=/s", "-Xmx1g");
  ASSERT_TRUE(java.ok());
  EXPECT_THAT(java->words,
              testing::ElementsAre("/usr/bin/java", "-agentpath:/lib/t.so=connect=/s", "-cp", "x", "Main"));
  EXPECT_EQ(java->java_tool_options, "");

  const auto script = with_agent(words({"./run.sh"}), "/my lib/t.so", "connect=/s", "-Xmx1g");
  ASSERT_TRUE(script.ok());
  EXPECT_THAT(script->words, testing::ElementsAre("./run.sh"));
  EXPECT_EQ(script->java_tool_options, "-Xmx1g \"-agentpath:/my lib/t.so=connect=/s\"");
  EXPECT_EQ(with_agent(words({"mvn"}), "/t.so", "o", "")->java_tool_options, "-agentpath:/t.so=o");
}

TEST(WithAgent, RefusesALibraryThatAJvmCouldNotBeTold) {
  EXPECT_EQ(with_agent(words({"java"}), "/a=b/t.so", "o", "").error().code, Errc::kUsage);
}

Result<int> exit_of(std::initializer_list<const char*> program) {
  sigset_t none;
  ::sigemptyset(&none);
  auto child = Child::start({words(program), ""}, none);
  if (!child) return child.error();
  for (;;) {
    if (const auto code = child->poll_exit()) return *code;
    ::usleep(1000);
  }
}

TEST(ChildTest, ReportsItsExitCodeAndDeathBySignal) {
  EXPECT_EQ(*exit_of({"true"}), 0);
  EXPECT_EQ(*exit_of({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(*exit_of({"sh", "-c", "kill -TERM $$"}), 128 + 15);
}

TEST(ChildTest, ThatCanNotBeRunIsAnErrorWithItsName) {
  const auto code = exit_of({"no-such-program-anywhere"});
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.error().code, Errc::kUsage);
  EXPECT_THAT(code.error().what, HasSubstr("no-such-program-anywhere"));
}

TEST(ExitCode, SaysWhoMustAct) {
  EXPECT_EQ(exit_code(Errc::kUsage), 2);
  EXPECT_EQ(exit_code(Errc::kNotFound), 3);
  EXPECT_EQ(exit_code(Errc::kNotPermitted), 4);
  EXPECT_EQ(exit_code(Errc::kBusy), 4);
  EXPECT_EQ(exit_code(Errc::kIncomplete), 5);
  EXPECT_EQ(exit_code(Errc::kCorrupt), 1);
}

}  // namespace
}  // namespace tarsier::cli
