#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "attach/java_command.h"
#include "attach/jvm.h"
#include "attach/load.h"
#include "attach/private_directory.h"
#include "attach/process.h"
#include "attach/target_root.h"
#include "attach/text_file.h"

namespace tarsier::attach {
namespace {

constexpr const char* kStatus =
    "Name:\tjava :) Uid:\t7\nState:\tS (sleeping)\nPid:\t812\nUid:\t1000\t1001\t1000\t1000\n"
    "Gid:\t100\t101\t100\t100\nNSpid:\t812\t45\t7\nSigIgn:\t0000000000000006\nSigCgt:\t2000000181005ccf\n";

TEST(Status, TakesEffectiveIdsAndTheInnermostPid) {
  const auto status = parse_status(kStatus, 812);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->uid, 1001u);
  EXPECT_EQ(status->gid, 101u);
  EXPECT_EQ(status->namespace_pid, 7);
  EXPECT_EQ(status->state, 'S');
  EXPECT_TRUE(catches_sigquit(*status));
}

TEST(Status, OfAnOldKernelWithoutNSpidKeepsThePid) {
  const auto status = parse_status("Uid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nSigCgt:\t0000000000000002\n", 99);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->namespace_pid, 99);
  EXPECT_FALSE(catches_sigquit(*status)) << "that bit is SIGINT";
}

TEST(Status, ThatLacksWhatDecidesAboutSignalsIsRefused) {
  EXPECT_FALSE(parse_status("Uid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\n", 1).ok());
  EXPECT_FALSE(parse_status("", 1).ok());
  EXPECT_FALSE(parse_status("Uid\nUid:\nGid:\t\nSigCgt:\tzz\n", 1).ok());
}

TEST(StartTicks, AreFoundBehindANameWithBracketsAndBlanks) {
  const auto ticks = parse_start_ticks("7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 31 0 123456 99 1\n");
  ASSERT_TRUE(ticks.ok());
  EXPECT_EQ(*ticks, 123456u);
  EXPECT_FALSE(parse_start_ticks("7 (a").ok());
  EXPECT_FALSE(parse_start_ticks("7 (a) S 1 2").ok());
}

TEST(FindVm, TellsHotSpotFromOpenJ9AndFromNoJvm) {
  const auto hotspot = find_vm(
      "aaaa-bbbb r--p 00000000 08:01 1 /usr/bin/java\n"
      "ffff-fff0 r-xp 00000000 08:01 2                          /opt/a b/lib/server/libjvm.so (deleted)\n");
  EXPECT_EQ(hotspot.kind, VmKind::kHotSpot);
  EXPECT_EQ(hotspot.libjvm, "/opt/a b/lib/server/libjvm.so");
  EXPECT_FALSE(hotspot.musl);
  EXPECT_TRUE(find_vm("1-2 r-xp 0 0:0 1 /lib/ld-musl-x86_64.so.1\n3-4 r-xp 0 0:0 1 /j/lib/server/libjvm.so\n").musl);
  EXPECT_TRUE(find_vm("1-2 r-xp 0 0:0 1 /j/lib/server/libjvm.so\n3-4 r-xp 0 0:0 1 /lib/libc.musl-aarch64.so.1\n").musl);
  EXPECT_FALSE(find_vm("1-2 r-xp 0 0:0 1 /j/lib/server/libjvm.so\n3-4 r--p 0 0:0 1 /ld-musl-docs/x\n").musl);
  EXPECT_EQ(find_vm("1-2 r-xp 0 0:0 1 /j/lib/j9vm/libjvm.so\n3-4 r-xp 0 0:0 1 /j/lib/default/libj9vm29.so\n").kind,
            VmKind::kOpenJ9);
  EXPECT_EQ(find_vm("1-2 r-xp 0 0:0 1 /usr/lib/libjvm.so.1\n3-4 rw-p 0 0:0 0 [heap]\n").kind, VmKind::kNone);
}

TEST(ReadProcess, DescribesOurselvesAndRefusesZombies) {
  const auto self = read_process(::getpid());
  ASSERT_TRUE(self.ok());
  EXPECT_EQ(self->status.uid, ::geteuid());
  EXPECT_GE(self->uptime, Nanos(0));
  EXPECT_LT(self->uptime, seconds(3600));
  EXPECT_FALSE(self->command_line.empty());

  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  const auto zombie = read_process(child);
  ASSERT_FALSE(zombie.ok());
  EXPECT_EQ(zombie.error().code, Errc::kNotFound);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(read_process(child).ok());
  EXPECT_FALSE(read_process(-1).ok());
}

std::vector<std::string> words(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

TEST(MainOfCommandLine, SkipsOptionsAndTheirValues) {
  EXPECT_EQ(main_of_command_line(words(
                {"java", "-Xmx1g", "-cp", "a.jar:b", "--add-opens", "java.base/x=ALL", "com.example.Main", "-jar"})),
            "com.example.Main");
  EXPECT_EQ(main_of_command_line(words({"java", "-jar", "/opt/a b/app.jar", "x"})), "/opt/a b/app.jar");
  EXPECT_EQ(main_of_command_line(words({"java", "-m", "mod/pkg.Main"})), "mod/pkg.Main");
  EXPECT_EQ(main_of_command_line(words({"java", "--module=mod/pkg.Main"})), "mod/pkg.Main");
  EXPECT_EQ(main_of_command_line(words({"java", "@args"})), "");
  EXPECT_EQ(main_of_command_line(words({"java", "-jar"})), "");
  EXPECT_EQ(main_of_command_line({}), "");
}

TEST(ShortName, DropsTheFolderOfAJarOnly) {
  EXPECT_EQ(short_name("/opt/app/server.jar"), "server.jar");
  EXPECT_EQ(short_name("mod/pkg.Main"), "mod/pkg.Main");
  EXPECT_EQ(short_name(""), "");
}

TEST(Flags, OfWhichTheLastCountsAreTakenFromVariablesAndWordsInTheOrderOfTheJvm) {
  using namespace std::string_literals;
  AttachFlags flags;
  apply_arguments("-XX:+DisableAttachMechanism -Xrs -XX:-DisableAttachMechanism -XX:-EnableDynamicAgentLoading", flags);
  EXPECT_FALSE(flags.attach_disabled);
  EXPECT_TRUE(flags.agent_loading_disabled);
  EXPECT_TRUE(flags.reduced_signals);

  const auto line = words({"java", "-XX:+DisableAttachMechanism", "Main", "-Xrs"});
  flags = {};
  apply_arguments(jvm_arguments(line, "A=1\0JAVA_TOOL_OPTIONS=-XX:-DisableAttachMechanism\0"s), flags);
  EXPECT_TRUE(flags.attach_disabled);
  EXPECT_FALSE(flags.reduced_signals) << "a word of the program itself";
  flags = {};
  apply_arguments(jvm_arguments(line, "_JAVA_OPTIONS=-XX:-DisableAttachMechanism\0X=-Xrs"s), flags);
  EXPECT_FALSE(flags.attach_disabled);
}

TEST(LoadReply, OfEveryVersionThatLoadedTheAgentIsFine) {
  EXPECT_TRUE(parse_load_reply("0\n0\n").ok()) << "8";
  EXPECT_TRUE(parse_load_reply("0\nreturn code: 0\n").ok()) << "9 and later";
}

TEST(LoadReply, ThatSaysNoIsAnErrorWithTheJvmsOwnWords) {
  const auto says = [](std::string_view reply) {
    const Status status = parse_load_reply(reply);
    EXPECT_FALSE(status.ok()) << reply;
    if (status.ok()) return std::string();
    EXPECT_EQ(Status(status).error().code, Errc::kNotPermitted);
    return Status(status).error().what;
  };
  EXPECT_NE(says("-1\n/x.so was not loaded.\n/x.so: cannot open shared object file\n").find("cannot open"),
            std::string::npos);
  EXPECT_NE(says("0\n/x.so was not loaded.\nno such file\n").find("no such file"), std::string::npos) << "21";
  EXPECT_NE(says("0\nreturn code: 17\n").find("17"), std::string::npos);
  EXPECT_NE(says("0\n-5\n").find("-5"), std::string::npos) << "8";
  EXPECT_NE(says("0\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch target VM.")
                .find("-XX:-EnableDynamicAgentLoading"),
            std::string::npos);
  EXPECT_NE(says("101\n").find("version"), std::string::npos);
  says("");
  says("0\n");
  says("0");
  says("\n");
  says("99999999999999999999\n");
  says(std::string_view("\0\0\n", 3));
}

TEST(FindJvm, RefusesWhatIsNoJvmWithItsName) {
  const auto jvm = find_jvm(::getpid());
  ASSERT_FALSE(jvm.ok());
  EXPECT_EQ(jvm.error().code, Errc::kNotFound);
  EXPECT_NE(jvm.error().what.find(program_invocation_short_name), std::string::npos) << jvm.error().what;
}

TEST(RequestLoad, NeverSignalsAProcessThatIsNoJvm) {
  const pid_t child = ::fork();  // SIGQUIT would end it
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  Jvm pretended;
  pretended.pid = pretended.namespace_pid = child;
  pretended.uid = ::geteuid();
  pretended.gid = ::getegid();
  const auto pending =
      request_load(pretended, {.library = "/x.so", .options = "", .patience = {.timeout = millis(100)}});
  EXPECT_FALSE(pending.ok());
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it has been killed";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(RequestLoad, RefusesArgumentsLongerThanAJvmTakes) {
  const auto pending = request_load(Jvm{}, {.library = std::string(2000, 'x'), .options = ""});
  ASSERT_FALSE(pending.ok());
  EXPECT_EQ(pending.error().code, Errc::kUsage);
}

Jvm ourselves() {
  Jvm jvm;
  jvm.pid = jvm.namespace_pid = ::getpid();
  jvm.uid = ::geteuid();
  jvm.gid = ::getegid();
  return jvm;
}

TEST(ProcessTest, MapsUsersOfNamespaces) {
  EXPECT_EQ(map_user("         0          0 4294967295\n", 7), 7u);
  EXPECT_EQ(map_user("0 100000 1000\n1000 1000 1\n", 0), 100000u);
  EXPECT_EQ(map_user("0 100000 1000\n1000 1000 1\n", 1000), 1000u);
  EXPECT_EQ(map_user("0 100000 1000\n", 1000), std::nullopt);
  EXPECT_EQ(map_user("nonsense\n", 0), std::nullopt);
}

TEST(PrivateDirectoryTest, IsPrivateAndGoesAwayWithItsFiles) {
  std::string path;
  {
    auto directory = PrivateDirectory::create(ourselves());
    ASSERT_TRUE(directory.ok()) << directory.error().what;
    std::ofstream(directory->path_for_us("file")) << "x";
    path = directory->path_for_target("file");
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    ASSERT_EQ(::stat(path.substr(0, path.rfind('/')).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
  }
  EXPECT_NE(::access(path.substr(0, path.rfind('/')).c_str(), F_OK), 0);
}

TEST(PrivateDirectoryTest, AvoidsANameThatIsALinkOrThatOthersMayLookInto) {
  const std::string name = "tarsier-test-" + std::to_string(::getpid());
  const std::string path = "/tmp/" + name;
  const auto made_at = [&name] {
    auto directory = PrivateDirectory::create_for_library(ourselves(), name);
    EXPECT_TRUE(directory.ok());
    return directory.ok() ? directory->path_for_target("x") : "";
  };
  ASSERT_EQ(::symlink("/tmp", path.c_str()), 0);
  EXPECT_NE(made_at(), path + "/x");
  ::unlink(path.c_str());
  ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
  EXPECT_NE(made_at(), path + "/x");
  ::rmdir(path.c_str());
  EXPECT_EQ(made_at().substr(made_at().rfind("tarsier")), name + "/x");
}

TEST(TargetRootTest, OfOurOwnProcessIsOursAndFollowsLinksInsideIt) {
  const auto root = TargetRoot::open(::getpid(), ::getpid());
  ASSERT_TRUE(root.ok());
  EXPECT_TRUE(root->is_ours());
  EXPECT_TRUE(root->open_file("/tmp", O_PATH | O_DIRECTORY).ok());
  const auto missing = root->open_file("/no/such/file", O_RDONLY);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Errc::kNotFound);
}

TEST(TextFile, IsNoPipe) {
  const std::string path = "/tmp/tarsier-fifo-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(read_text_file(path, 100).ok());
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace tarsier::attach
