// The checks over facts that a test makes up, and the facts over files that it writes.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "doctor/examine.h"
#include "doctor/mapped_libraries.h"

namespace tarsier::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A machine on which nothing is to be said.
MachineFacts good_machine() {
  MachineFacts facts;
  facts.kernel = "6.1";
  facts.architecture = "aarch64";
  facts.user_name = "root";
  facts.answers.tick = millis(4);
  facts.answers.timer_resolution = Nanos(1);
  facts.perf_paranoid = 2;
  facts.perf_mlock_kb = 516;
  facts.kernel_names = facts.btf = facts.ebpf_built_in = true;
  facts.tracefs = Tracefs::kReadable;
  facts.own.capabilities = ~uint64_t{0};
  facts.limits = {20'000, 20'000, 8 << 20};
  facts.folder = "/work";
  facts.folder_writable = true;
  facts.folder_free = Bytes(int64_t{10} << 30);
  return facts;
}

JvmFacts good_jvm() {
  JvmFacts facts;
  facts.jvm.pid = facts.jvm.namespace_pid = 4711;
  facts.jvm.user = "root";
  facts.jvm.version = "17.0.1";
  facts.major = 17;
  facts.libc = Libc::kGlibc;
  facts.library = LibraryFacts{EM_AARCH64, true, true, true, 500};
  facts.own_namespaces.emplace();
  facts.state.emplace();
  facts.state->threads = 20;
  facts.state->capabilities = ~uint64_t{0};
  facts.limits.emplace();
  facts.flags = {{"DebugNonSafepoints", true}, {"UsePerfData", true}};
  return facts;
}

Finding named(const std::vector<Finding>& findings, std::string_view name) {
  for (const Finding& finding : findings) {
    if (finding.name == name) return finding;
  }
  ADD_FAILURE() << "no finding " << name;
  return {};
}

Finding of_machine(std::string_view name, const std::function<void(MachineFacts&)>& spoil) {
  MachineFacts facts = good_machine();
  spoil(facts);
  return named(examine(facts), name);
}

Finding of_jvm(std::string_view name, const std::function<void(JvmFacts&)>& spoil,
               const MachineFacts& machine = good_machine()) {
  JvmFacts facts = good_jvm();
  spoil(facts);
  return named(examine(facts, machine), name);
}

TEST(Examine, HasNothingToSayWhereAllIsWell) {
  for (const auto& findings : {examine(good_machine()), examine(good_jvm(), good_machine())}) {
    std::set<std::string_view> names;
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.grade, Grade::kOk) << finding.name << ": " << finding.found;
      EXPECT_FALSE(finding.found.empty()) << finding.name;
      EXPECT_TRUE(finding.fix.empty()) << finding.name;
      EXPECT_TRUE(names.insert(finding.name).second) << finding.name << " is there twice";
    }
  }
}

TEST(Perf, SaysWhichClockTakesItsPlaceAndWhatWouldAllowIt) {
  const auto forbidden = [](MachineFacts& facts) {
    facts.answers.perf_user = facts.answers.perf_kernel = EACCES;
    facts.perf_paranoid = 3;
  };
  const Finding by_setting = of_machine("perf", forbidden);
  EXPECT_EQ(by_setting.grade, Grade::kNote);
  EXPECT_THAT(by_setting.found, HasSubstr("kernel.perf_event_paranoid=3"));
  EXPECT_THAT(by_setting.meaning, HasSubstr("cputimer at 4ms"));
  EXPECT_THAT(by_setting.meaning, HasSubstr("--clock timekeeper"));
  EXPECT_EQ(by_setting.fix, "sudo sysctl kernel.perf_event_paranoid=1");

  const Finding by_filter = of_machine("perf", [](MachineFacts& facts) {
    facts.answers.perf_user = facts.answers.perf_kernel = EPERM;
    facts.own.seccomp = 2;
  });
  EXPECT_THAT(by_filter.fix, HasSubstr("seccomp"));

  const Finding user_only = of_machine("perf", [](MachineFacts& facts) { facts.answers.perf_kernel = EACCES; });
  EXPECT_EQ(user_only.grade, Grade::kNote);
  EXPECT_THAT(user_only.meaning, HasSubstr("time in the kernel is not sampled"));

  EXPECT_EQ(of_machine("perf",
                       [](MachineFacts& facts) {
                         facts.answers.perf_user = facts.answers.perf_kernel = ENOSYS;
                         facts.perf_paranoid.reset();
                       })
                .fix,
            "");
}

TEST(Machine, EachLackIsNamedByItsOwnCheck) {
  struct Case {
    std::string_view check;
    std::function<void(MachineFacts&)> spoil;
    Grade grade;
    const char* word;
  };
  const Case cases[] = {
      {"kernel", [](MachineFacts& f) { f.architecture = "riscv64"; }, Grade::kProblem, "riscv64"},
      {"container", [](MachineFacts& f) { f.container = "cgroup of docker"; }, Grade::kNote, "docker"},
      {"seccomp", [](MachineFacts& f) { f.own.seccomp = 2; }, Grade::kNote, "filter"},
      {"limits", [](MachineFacts& f) { f.limits.descriptors = 256; }, Grade::kNote, "256 descriptors"},
      {"disk", [](MachineFacts& f) { f.folder_free = Bytes(100 << 20); }, Grade::kNote, "100 MB"},
      {"disk", [](MachineFacts& f) { f.folder_free = Bytes(1 << 20); }, Grade::kProblem, "1 MB"},
      {"disk", [](MachineFacts& f) { f.folder_writable = false; }, Grade::kProblem, "/work"},
      {"kernel-names", [](MachineFacts& f) { f.kernel_names = false; }, Grade::kNote, "kallsyms"},
      {"perf-memory",
       [](MachineFacts& f) {
         f.user = 1000;
         f.perf_mlock_kb = 16;
         f.limits.locked_bytes = 64 << 10;
       },
       Grade::kNote, "mlock_kb=16"},
      {"cpu-timers", [](MachineFacts& f) { f.answers.cpu_timer = EPERM; }, Grade::kProblem, "timer_create"},
      {"fine-timers", [](MachineFacts& f) { f.answers.timer_resolution = millis(4); }, Grade::kNote, "4ms"},
      {"hardware-counters", [](MachineFacts& f) { f.answers.perf_cycles = ENOENT; }, Grade::kNote, "virtual"},
      {"hardware-counters", [](MachineFacts& f) { f.answers.perf_cycles = EACCES; }, Grade::kNote, "permitted"},
      {"tracefs", [](MachineFacts& f) { f.tracefs = Tracefs::kNotMounted; }, Grade::kNote, "not mounted"},
      {"tracefs", [](MachineFacts& f) { f.tracefs = Tracefs::kNotReadable; }, Grade::kNote, "not readable"},
      {"ebpf", [](MachineFacts& f) { f.answers.bpf = EPERM; }, Grade::kNote, "can't be loaded"},
      {"ebpf", [](MachineFacts& f) { f.btf = false; }, Grade::kNote, "no types"},
      {"ebpf", [](MachineFacts& f) { f.ebpf_built_in = false; }, Grade::kNote, "built without"},
      {"counters", [](MachineFacts& f) { f.answers.perf_kernel = EACCES; }, Grade::kNote, "user mode only"},
      {"counters", [](MachineFacts& f) { f.answers.perf_user = f.answers.perf_kernel = EPERM; }, Grade::kNote,
       "nothing"},
      {"waits", [](MachineFacts& f) { f.answers.bpf = EPERM; }, Grade::kNote, "can't be loaded"},
      {"waits", [](MachineFacts& f) { f.ebpf_built_in = false; }, Grade::kNote, "built without"},
      {"waits", [](MachineFacts& f) { f.kernel = "5.15.0-91-generic"; }, Grade::kNote, "too old"},
      {"waits", [](MachineFacts& f) { f.kernel_names = false; }, Grade::kNote, "kallsyms"},
      {"waits", [](MachineFacts& f) { f.btf = false; }, Grade::kNote, "no types"},
      {"ptrace",
       [](MachineFacts& f) {
         f.ptrace_scope = 1;
         f.own.capabilities = 0;
       },
       Grade::kNote, "ptrace_scope=1"},
  };
  for (const Case& one : cases) {
    const Finding finding = of_machine(one.check, one.spoil);
    EXPECT_EQ(finding.grade, one.grade) << one.check;
    EXPECT_THAT(finding.found, HasSubstr(one.word)) << one.check;
  }
}

uint64_t with(std::initializer_list<int> signals) {
  uint64_t set = 0;
  for (const int number : signals) set |= uint64_t{1} << (number - 1);
  return set;
}

TEST(Jvm, EachLackIsNamedByItsOwnCheck) {
  struct Case {
    std::string_view check;
    std::function<void(JvmFacts&)> spoil;
    Grade grade;
    const char* word;
  };
  const Case cases[] = {
      {"jvm", [](JvmFacts& f) { f.major = 7; }, Grade::kProblem, "Java"},
      {"architecture", [](JvmFacts& f) { f.library->machine = EM_X86_64; }, Grade::kProblem, "x86_64"},
      {"architecture", [](JvmFacts& f) { f.library.reset(); }, Grade::kNote, "not known"},
      {"libc", [](JvmFacts& f) { f.libc = Libc::kMusl; }, Grade::kProblem, "musl"},
      {"namespaces", [](JvmFacts& f) { f.own_namespaces.reset(); }, Grade::kNote, "not known"},
      {"attach",
       [](JvmFacts& f) {
         f.jvm.obstacle =
             Error{Errc::kNotPermitted, "JVM 4711 is stopped and can't answer: continue it by: kill -CONT 4711"};
       },
       Grade::kProblem, "is stopped"},
      {"attach", [](JvmFacts& f) { f.flags["DisableAttachMechanism"] = true; }, Grade::kProblem, "+DisableAttach"},
      {"agent-loading", [](JvmFacts& f) { f.flags["EnableDynamicAgentLoading"] = false; }, Grade::kProblem, "-Enable"},
      {"agent-loading", [](JvmFacts& f) { f.major = 21; }, Grade::kNote, "allowed"},
      {"symbols", [](JvmFacts& f) { f.library->has_async_get_call_trace = false; }, Grade::kProblem,
       "AsyncGetCallTrace"},
      {"symbols", [](JvmFacts& f) { f.library->has_vm_structs = false; }, Grade::kNote, "no vmStructs"},
      {"usdt", [](JvmFacts& f) { f.library->usdt_probes = 0; }, Grade::kNote, "no probes"},
      {"debug-info", [](JvmFacts& f) { f.flags["DebugNonSafepoints"] = false; }, Grade::kNote, "is off"},
      {"perf-data", [](JvmFacts& f) { f.flags["UsePerfData"] = false; }, Grade::kNote, "-UsePerfData"},
      {"jvm-limits", [](JvmFacts& f) { f.limits->descriptors = 100; }, Grade::kNote, "100 descriptors"},
      {"jvm-perf", [](JvmFacts& f) { f.state->seccomp = 2; }, Grade::kNote, "seccomp"},
      {"jvm-perf", [](JvmFacts& f) { f.state->capabilities = 0; }, Grade::kNote, "CAP_PERFMON"},
      {"jvm-ebpf", [](JvmFacts& f) { f.state->capabilities = 0; }, Grade::kOk, "lends"},
      {"jvm-waits", [](JvmFacts& f) { f.state->capabilities = 0; }, Grade::kOk, "lends"},
      {"jvm-waits", [](JvmFacts& f) { f.state->seccomp = 2; }, Grade::kNote, "seccomp"},
      {"jvm-waits", [](JvmFacts& f) { f.state.reset(); }, Grade::kNote, "not known"},
      {"jvm-counters", [](JvmFacts& f) { f.state->capabilities = 0; }, Grade::kNote, "CAP_PERFMON"},
      {"jvm-counters", [](JvmFacts& f) { f.state->seccomp = 2; }, Grade::kNote, "seccomp"},
      {"jvm-counters", [](JvmFacts& f) { f.state.reset(); }, Grade::kNote, "not known"},
      {"signals", [](JvmFacts& f) { f.state->caught = with({SIGPROF}); }, Grade::kNote, "taken or blocked: SIGPROF"},
      {"signals", [](JvmFacts& f) { f.state->blocked = with({SIGSTKFLT}); }, Grade::kOk, "free: SIGVTALRM"},
      {"signals",
       [](JvmFacts& f) {
         f.state->caught = with({SIGSTKFLT, SIGVTALRM, SIGPROF, SIGXCPU});
       },
       Grade::kProblem, "SIGSTKFLT"},
      {"agents", [](JvmFacts& f) { f.libraries = {"/opt/libasyncProfiler.so"}; }, Grade::kNote, "async-profiler"},
      {"agents", [](JvmFacts& f) { f.libraries = {"/jdk/lib/libjdwp.so"}; }, Grade::kNote, "debugger"},
      {"jfr", [](JvmFacts& f) { f.thread_names = {"JFR Recorder Th"}; }, Grade::kNote, "JFR"},
      {"recording",
       [](JvmFacts& f) {
         f.thread_names = {"main", "tarsier"};
       },
       Grade::kProblem, "right now"},
      {"recording", [](JvmFacts& f) { f.libraries = {"/x/libtarsier.so"}; }, Grade::kOk, "/x/libtarsier.so"},
  };
  for (const Case& one : cases) {
    const Finding finding = of_jvm(one.check, one.spoil);
    EXPECT_EQ(finding.grade, one.grade) << one.check << ": " << finding.found;
    EXPECT_THAT(finding.found, HasSubstr(one.word)) << one.check;
  }
}

// Somebody without any right shall learn what there is without, and what brings the rest.
TEST(WithoutRights, WhatIsThereAndWhatBringsTheRestIsSaid) {
  MachineFacts stranger = good_machine();
  stranger.user = 1000;
  stranger.own.capabilities = 0;
  stranger.answers.bpf = EPERM;
  stranger.answers.perf_user = stranger.answers.perf_kernel = EACCES;
  stranger.perf_paranoid = 3;
  const auto findings = examine(stranger);
  EXPECT_THAT(named(findings, "waits").meaning, HasSubstr("--waits works without"));
  EXPECT_THAT(named(findings, "waits").fix, HasSubstr("sudo tarsier record --waits --waits-by ebpf"));
  EXPECT_THAT(named(findings, "counters").meaning, HasSubstr("in every recording without"));
  EXPECT_EQ(named(findings, "counters").fix, "sudo sysctl kernel.perf_event_paranoid=1");
  const auto powerless = [](JvmFacts& f) { f.state->capabilities = 0; };
  EXPECT_EQ(of_jvm("jvm-waits", powerless, stranger).grade, Grade::kNote);
  EXPECT_EQ(of_jvm("jvm-waits", powerless, stranger).fix, "sudo tarsier record --waits --waits-by ebpf 4711");
  EXPECT_THAT(of_jvm("jvm-counters", powerless, stranger).meaning, HasSubstr("not available, whoever records"));
  stranger.perf_paranoid = 2;
  EXPECT_THAT(of_jvm("jvm-counters", powerless, stranger).meaning, HasSubstr("leaves out context-switches"));
  stranger.perf_paranoid = 1;
  EXPECT_EQ(of_jvm("jvm-counters", powerless, stranger).grade, Grade::kOk);
  stranger.perf_paranoid.reset();
  EXPECT_THAT(of_jvm("jvm-counters", powerless, stranger).found, HasSubstr("no perf events"));
  stranger.kernel = "5.10";
  EXPECT_THAT(of_jvm("jvm-waits", powerless, stranger).found, HasSubstr("not available here"));
}

TEST(Jvm, FixesAreCommandsForThatJvm) {
  MachineFacts stranger = good_machine();
  stranger.answers.bpf = EPERM;
  EXPECT_THAT(of_jvm(
                  "jvm-ebpf", [](JvmFacts& f) { f.state->capabilities = 0; }, stranger)
                  .fix,
              HasSubstr("as root"));
  stranger.user = 1000;
  stranger.user_name = "me";
  stranger.own.capabilities = 0;
  EXPECT_EQ(of_jvm(
                "user", [](JvmFacts&) {}, stranger)
                .fix,
            "sudo -u root tarsier record 4711");
  EXPECT_EQ(of_jvm(
                "namespaces",
                [](JvmFacts& f) {
                  f.own_namespaces = {{"mnt", "pid"}};
                },
                stranger)
                .fix,
            "sudo tarsier record 4711");
  EXPECT_EQ(
      of_jvm("attach",
             [](JvmFacts& f) {
               f.jvm.obstacle = Error{Errc::kNotPermitted, "JVM 4711 is stopped: continue it by: kill -CONT 4711"};
             })
          .fix,
      "continue it by: kill -CONT 4711");
  EXPECT_EQ(of_jvm("jvm-limits", [](JvmFacts& f) { f.limits->descriptors = 100; }).fix,
            "sudo prlimit --pid 4711 --nofile=65536:65536");
}

class FakeFiles : public testing::Test {
 protected:
  FakeFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "doctor-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    places_ = {root_ / "proc", root_ / "sys", root_};
  }
  ~FakeFiles() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::filesystem::path root_;
  Places places_;
};

TEST_F(FakeFiles, TellTheMachine) {
  write("proc/sys/kernel/perf_event_paranoid", "3\n");
  write("proc/sys/kernel/yama/ptrace_scope", "1\n");
  write("proc/self/status", "Name:\tx\nSigBlk:\t0000000000000000\nCapEff:\t0000004000000000\nSeccomp:\t2\n");
  write("proc/self/limits", "Max open files            1024   524288   files\nMax pending signals 10 10 signals\n");
  write("proc/self/cgroup", "0::/kubepods/pod1\n");
  write("sys/kernel/tracing/events/sched/sched_switch/id", "300\n");
  write("sys/kernel/btf/vmlinux", "x");
  const MachineFacts facts = gather_machine(places_, {});
  EXPECT_EQ(facts.perf_paranoid, 3);
  EXPECT_EQ(facts.ptrace_scope, 1);
  EXPECT_FALSE(facts.perf_mlock_kb);
  EXPECT_EQ(facts.own.seccomp, 2);
  EXPECT_TRUE(has_capability(facts.own.capabilities, kCapPerfmon));
  EXPECT_FALSE(has_capability(facts.own.capabilities, kCapBpf));
  EXPECT_EQ(facts.limits.descriptors, 1024U);
  EXPECT_EQ(facts.limits.pending_signals, 10U);
  EXPECT_EQ(facts.limits.locked_bytes, kUnlimited);
  EXPECT_THAT(facts.container, HasSubstr("kubepods"));
  EXPECT_EQ(facts.tracefs, Tracefs::kReadable);
  EXPECT_TRUE(facts.btf);
  EXPECT_FALSE(facts.kernel_names);
  EXPECT_TRUE(facts.folder_writable);
  EXPECT_GT(facts.folder_free, Bytes(0));
}

TEST_F(FakeFiles, ThatAreEmptyOrMissingTellNothing) {
  const MachineFacts facts = gather_machine(places_, {});
  EXPECT_FALSE(facts.perf_paranoid);
  EXPECT_EQ(facts.tracefs, Tracefs::kNotMounted);
  attach::Jvm jvm;
  jvm.pid = jvm.namespace_pid = 4711;
  const JvmFacts nobody = gather_jvm(places_, jvm);
  EXPECT_FALSE(nobody.unreadable.empty());
  EXPECT_FALSE(nobody.state || nobody.limits || nobody.own_namespaces || nobody.library);
  EXPECT_FALSE(examine(nobody, facts).empty());
}

TEST_F(FakeFiles, TellAJvm) {
  write("proc/4711/status", "SigCgt:\t0000000004000000\nThreads:\t2\nSeccomp:\t0\n");
  write("proc/4711/task/1/comm", "JFR Recorder Th\n");
  write("proc/4711/maps",
        "1000-2000 r--p 00000000 fe:01 7  /jdk/lib/server/libjvm.so (deleted)\n"
        "3000-4000 r-xp 00000000 fe:01 8  /lib/ld-musl-aarch64.so.1\n");
  attach::Jvm jvm;
  jvm.pid = jvm.namespace_pid = 4711;
  jvm.version = "21.0.2";
  jvm.arguments = "-XX:+DebugNonSafepoints -Xmx1g -XX:-UsePerfData -XX:+UsePerfData";
  const JvmFacts facts = gather_jvm(places_, jvm);
  EXPECT_EQ(facts.major, 21);
  EXPECT_EQ(facts.libc, Libc::kMusl);
  EXPECT_THAT(facts.thread_names, ElementsAre("JFR Recorder Th"));
  ASSERT_TRUE(facts.state);
  EXPECT_EQ(facts.state->threads, 2);
  EXPECT_EQ(facts.state->caught, with({SIGPROF}));
  EXPECT_FALSE(facts.library);
  EXPECT_TRUE(facts.flags.at("DebugNonSafepoints"));
  EXPECT_TRUE(facts.flags.at("UsePerfData"));
  EXPECT_FALSE(facts.flags_unknown.empty());
}

TEST(MappedLibraries, AreFoundOnceWithWhereTheyBegin) {
  const auto found = mapped_libraries(
      "1000-2000 r--p 00000000 fe:01 7                          /a b/libx.so\n"
      "2000-3000 r-xp 00001000 fe:01 7                          /a b/libx.so\n"
      "5000-6000 rw-p 00000000 00:00 0                          [heap]\n"
      "7000-8000 r-xp 00002000 fe:01 9                          /c/liby.so.1 (deleted)\n"
      "junk\n\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].path, "/a b/libx.so");
  EXPECT_EQ(found[0].base, 0x1000U);
  EXPECT_EQ(found[0].inode, 7U);
  EXPECT_EQ(found[1].path, "/c/liby.so.1");
  EXPECT_EQ(found[1].base, 0U);
  EXPECT_TRUE(found[1].deleted);
}

TEST(MajorVersion, IsReadOldAndNew) {
  EXPECT_EQ(major_version("1.8.0_402"), 8);
  EXPECT_EQ(major_version("17.0.15"), 17);
  EXPECT_EQ(major_version("25-ea"), 25);
  EXPECT_EQ(major_version(""), 0);
}

TEST(KernelAnswers, AreThoseOfTheKernel) {
  const KernelAnswers answers = ask_kernel();
  EXPECT_GT(answers.tick, Nanos(0));
  EXPECT_GT(answers.timer_resolution, Nanos(0));
  EXPECT_GE(answers.perf_kernel, answers.perf_user == 0 ? 0 : 1) << "kernel frames need what user frames need";
}

}  // namespace
}  // namespace tarsier::doctor
