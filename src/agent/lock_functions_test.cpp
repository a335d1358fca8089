// The shape of the JVM's functions for monitors, as compilers have made it of 17 to 25. That real ones are found is
// tested with real libraries (tests/integration/test_stripped_jvm.py).
#include "agent/engines/lock_functions.h"

#include <gtest/gtest.h>

#include "linux/library_for_test.h"

namespace tarsier::agent {
namespace {

using linux::ElfFile;
using linux::ElfMaker;
using linux::LibraryMaker;

class LockFunctionsTest : public testing::TestWithParam<uint16_t> {
 protected:
  LockFunctionsTest() : library_(GetParam()) {
    const std::string load_by_second =
        GetParam() == EM_AARCH64 ? ElfMaker::bytes_of(uint32_t{0xf9400420}) : "\x48\x8b\x7e\x08";
    library_.import("pthread_cond_wait").import("pthread_cond_timedwait").import("pthread_cond_signal");
    const auto add = [this](const std::string& name, std::vector<std::string> callees) {
      library_.function(name, std::move(callees));
    };
    add("park", {"pthread_cond_wait"});
    add("park_timed", {"pthread_cond_timedwait"});
    add("unpark", {"pthread_cond_signal"});
    add("fatal", {});
    add("status", {});
    add("spin", {});
    add("tid", {});
    add("epilog", {"tid", "unpark"});
    library_.function({"exit", {"fatal", "epilog"}, true, ""});
    add("enter_slowly", {"park", "spin"});
    add("enter", {"enter_slowly", "exit"});
    add("reenter", {"park", "spin", "fatal"});
    add("post_waited", {"status"});
    add("wait", {"fatal", "status", "spin", "exit", "park", "park_timed", "enter", "reenter", "post_waited", "unpark"});
    add("notify_one", {"spin", "status"});
    add("post_notified", {"tid"});
    add("notify", {"notify_one", "post_notified", "tid"});
    add("notify_all", {"notify_one", "post_notified", "tid"});
    add("inflate", {"fatal", "status"});
    library_.function({"leave", {"inflate", "exit"}, true, ""});
    add("enter_object", {"inflate", "enter"});
    add("mark", {});
    add("leave_helper", {"mark", "leave", "fatal"});
    add("enter_helper", {"mark", "enter_object", "fatal"});
    add("unlock_c2", {"mark", "leave", "fatal"});
    add("lock_c2", {"mark", "enter_object", "fatal"});
    library_.function({"unlock_c1", {"leave_helper"}, true, load_by_second});
    library_.function({"unlock_jvmci", {"leave_helper"}, true, ""});
    library_.function({"lock_c1", {"enter_helper"}, true, load_by_second});
    add("unlock_interpreter", {"leave", "fatal"});
    add("wait_object", {"inflate", "wait", "tid"});
    add("notify_object", {"inflate", "notify"});
    add("notify_all_object", {"inflate", "notify_all"});
    add("JVM_MonitorWait", {"wait_object", "fatal"});
    add("JVM_MonitorNotify", {"notify_object"});
    add("JVM_MonitorNotifyAll", {"notify_all_object"});
    add("park_of_unsafe", {});
    add("unpark_of_unsafe", {});
    for (const char* name : {"JVM_MonitorWait", "JVM_MonitorNotify", "JVM_MonitorNotifyAll"}) library_.exported(name);
  }
  void add_probes() {
    library_.probe("monitor__wait", "wait_object")
        .probe("monitor__contended__exit", "epilog")
        .probe("monitor__notify", "notify")
        .probe("monitor__notifyAll", "notify_all")
        .probe("thread__park__begin", "park_of_unsafe")
        .probe("thread__unpark", "unpark_of_unsafe");
  }
  uint64_t at(const std::string& name) const { return library_.address_of(name); }
  void expect_monitors(const Result<LockFunctions>& found) const {
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->of(LockRole::kExit), at("exit"));
    EXPECT_EQ(found->of(LockRole::kWait), at("wait"));
    EXPECT_EQ(found->of(LockRole::kReenter), at("reenter"));
    EXPECT_EQ(found->of(LockRole::kNotify), at("notify_one"));
    EXPECT_EQ(found->of(LockRole::kUnlock), at("unlock_c2"));
    EXPECT_EQ(found->of(LockRole::kUnlockC1), at("unlock_c1"));
  }

  LibraryMaker library_;
};
INSTANTIATE_TEST_SUITE_P(Machines, LockFunctionsTest, testing::Values(EM_AARCH64, EM_X86_64));

TEST_P(LockFunctionsTest, are_found_by_probes) {
  add_probes();
  const auto bytes = library_.make();
  const auto found = LockFunctions::by_probes(*ElfFile::over(bytes));
  expect_monitors(found);
  EXPECT_EQ(found->of(LockRole::kPark), at("park_of_unsafe"));
  EXPECT_EQ(found->of(LockRole::kUnpark), at("unpark_of_unsafe"));
}

TEST_P(LockFunctionsTest, are_found_by_what_is_exported) {
  const auto bytes = library_.make();
  const auto found = LockFunctions::by_exports(*ElfFile::over(bytes));
  expect_monitors(found);
  EXPECT_EQ(found->of(LockRole::kPark), 0U);
}

TEST_P(LockFunctionsTest, a_library_without_probes_says_so) {
  const auto bytes = library_.make();
  const auto found = LockFunctions::by_probes(*ElfFile::over(bytes));
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("no static probes"), std::string::npos);
}

// As in 8 for x86_64, where the JVM's own mutexes, of which many functions make use, wake up threads by the same one.
TEST_P(LockFunctionsTest, a_release_that_the_compiler_has_made_of_one_piece_is_found) {
  LibraryMaker library(GetParam());
  library.import("pthread_cond_wait").import("pthread_cond_signal");
  library.function("park", {"pthread_cond_wait"}).function("unpark", {"pthread_cond_signal"});
  library.function("unlock_mutex", {"unpark"}).function("post", {"unlock_mutex"}).function("log", {"unlock_mutex"});
  library.function("exit", {"unpark"}).function("enter", {"park", "exit"}).function("leave", {"exit"});
  library.function("wait", {"post", "exit", "park", "enter", "unpark"}).function("wait_object", {"wait"});
  library.function("JVM_MonitorWait", {"wait_object", "log"}).exported("JVM_MonitorWait");
  const auto bytes = library.make();
  const auto file = ElfFile::over(bytes);
  ASSERT_TRUE(file);
  const auto found = LockFunctions::by_exports(*file);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->of(LockRole::kExit), library.address_of("exit"));
  EXPECT_EQ(found->of(LockRole::kWait), library.address_of("wait"));
}

TEST_P(LockFunctionsTest, nothing_is_taken_if_two_fit) {
  library_.function("another_exit", {"epilog"}).function("another_wait", {"park", "another_exit"});
  library_.function("another_caller", {"another_wait"});
  add_probes();
  library_.probe("monitor__wait", "another_caller");
  const auto bytes = library_.make();
  EXPECT_FALSE(LockFunctions::by_probes(*ElfFile::over(bytes)));
}

TEST_P(LockFunctionsTest, what_is_no_jvm_is_refused) {
  LibraryMaker other(GetParam());
  other.function("one", {}).function("two", {"one"});
  const auto bytes = other.make();
  EXPECT_FALSE(LockFunctions::by_exports(*ElfFile::over(bytes)));
}

}  // namespace
}  // namespace tarsier::agent
