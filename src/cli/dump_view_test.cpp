#include "cli/dump_view.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace tarsier::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

dump::Thread thread(const std::string& name, const std::string& state, const std::string& method) {
  dump::Thread result;
  result.name = name;
  result.id = static_cast<int64_t>(name.size());
  result.state = state;
  result.frames = {{"java.util.concurrent.locks.LockSupport.park", "LockSupport.java:1"}, {method, "A.java:7"}};
  return result;
}

attach::Jvm some_jvm() {
  attach::Jvm jvm;
  jvm.pid = 42;
  jvm.version = "17.0.1";
  return jvm;
}

TEST(DumpText, ShowsThreadsThatDoTheSameTogetherAndTheirLocksIfTheyAreTheSame) {
  dump::ThreadDump made;
  for (const char* name : {"a", "bb", "ccc"}) {
    made.threads.push_back(thread(name, "WAITING", "p.Pool.take"));
    made.threads.back().awaits = dump::Awaited{dump::Wait::kParked, {0x10, "p.Queue"}};
  }
  EXPECT_THAT(text_of(DumpView(made), some_jvm()),
              HasSubstr("3 threads, WAITING: \"a\" #1, \"bb\" #2, \"ccc\" #3\n"
                        "    at java.util.concurrent.locks.LockSupport.park(LockSupport.java:1)\n"
                        "    - is parked for p.Queue@0x10\n"));
  made.threads[1].awaits->lock.address = 0x20;
  EXPECT_THAT(text_of(DumpView(made), some_jvm()), HasSubstr("    - is parked for p.Queue\n"));
}

TEST(DumpText, SaysWhoIsBlockedByWhomThoughThereIsNoDeadlock) {
  dump::ThreadDump made;
  made.threads = {thread("owner\n", "RUNNABLE", "p.A.hold"), thread("other", "BLOCKED", "p.A.want")};
  made.threads[0].holds.push_back({dump::LockKind::kMonitor, {0x10, "p.Lock"}, 1});
  made.threads[1].awaits = dump::Awaited{dump::Wait::kMonitor, {0x10, "p.Lock"}};
  const std::string text = text_of(DumpView(made), some_jvm());
  EXPECT_THAT(text, HasSubstr("2 threads, 0 deadlocks\n\nBLOCKED\n"
                              "  \"other\" waits for the monitor of p.Lock@0x10, held by \"owner\\u{a}\"\n"
                              "      in p.A.want(A.java:7)\n"
                              "      which is held in p.A.hold(A.java:7)\n"));
  EXPECT_THAT(text, Not(HasSubstr("virtual threads")));
  attach::Jvm newer = some_jvm();
  newer.version = "25.0.1";
  EXPECT_THAT(text_of(DumpView(made), newer), HasSubstr("virtual threads are not shown"));
}

TEST(DumpJson, HasTheLineApartFromTheFile) {
  dump::ThreadDump made;
  made.threads = {thread("a", "RUNNABLE", "p.A.run")};
  made.threads[0].frames[0].location = "Native Method";
  const auto json = nlohmann::json::parse(json_of(DumpView(made), some_jvm()));
  const auto& stack = json["threads"][0]["stack"];
  EXPECT_EQ(stack[0]["location"], "Native Method");
  EXPECT_TRUE(stack[0]["line"].is_null());
  EXPECT_EQ(stack[1]["location"], "A.java");
  EXPECT_EQ(stack[1]["line"], 7);
}

}  // namespace
}  // namespace tarsier::cli
