#include "dump/parse.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/test_source.h"
#include "dump/deadlocks.h"

namespace tarsier::dump {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Real ones, of tests/java/Deadlocks.java: the JVM's answer to threaddump -l.
std::string fixture(const std::string& name) {
  std::ifstream file(test_source("tests/fixtures/dump/" + name));
  return {std::istreambuf_iterator<char>(file), {}};
}

ThreadDump parsed(std::string_view text) {
  auto dump = parse(text);
  EXPECT_TRUE(dump.ok());
  return dump ? *dump : ThreadDump{};
}

const Thread& thread_named(const ThreadDump& dump, std::string_view name) {
  static const Thread kNone;
  const auto found =
      std::find_if(dump.threads.begin(), dump.threads.end(), [&](const Thread& t) { return t.name == name; });
  EXPECT_NE(found, dump.threads.end()) << name;
  return found == dump.threads.end() ? kNone : *found;
}

class RealDump : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(OfJdk, RealDump, testing::Values("11", "17", "25"));

TEST_P(RealDump, HasItsThreadsWithStatesStacksAndLocks) {
  const ThreadDump dump = parsed(fixture(std::string("mixed-") + GetParam() + ".txt"));
  EXPECT_EQ(dump.missing, 0u);
  EXPECT_EQ(dump.time, "2026-11-16 16:09:10");
  EXPECT_TRUE(dump.vm.starts_with("OpenJDK 64-Bit Server VM (")) << dump.vm;
  EXPECT_TRUE(std::none_of(dump.threads.begin(), dump.threads.end(), [](auto& t) { return t.name == "VM Thread"; }));

  const Thread& main = thread_named(dump, "main");
  EXPECT_EQ(main.state, "RUNNABLE");
  EXPECT_FALSE(main.daemon);
  EXPECT_EQ(main.priority, 5);
  EXPECT_GT(main.id, 0);
  EXPECT_GT(main.native_id, 10000);
  EXPECT_GT(main.cpu_ms.value_or(0), 10);
  EXPECT_GT(main.elapsed_s.value_or(0), 0.1);
  EXPECT_LT(main.elapsed_s.value_or(0), 1);
  EXPECT_EQ(main.frames.front().method, "java.io.FileInputStream.readBytes");
  EXPECT_EQ(main.frames.front().location, "Native Method");
  EXPECT_EQ(main.frames.back().method, "Deadlocks.main");
  EXPECT_EQ(main.frames.back().location, "Deadlocks.java:178");
  EXPECT_FALSE(main.awaits);
  ASSERT_EQ(main.holds.size(), 1u);
  EXPECT_EQ(main.holds[0].lock.klass, "java.io.BufferedInputStream");
  EXPECT_EQ(main.frames[main.holds[0].frame.value()].method, "java.io.BufferedInputStream.read");

  const Thread& finalizer = thread_named(dump, "Finalizer");
  ASSERT_TRUE(finalizer.awaits);
  EXPECT_EQ(finalizer.awaits->how, Wait::kNotify);
  EXPECT_EQ(finalizer.awaits->lock.klass, "java.lang.ref.ReferenceQueue$Lock");
  EXPECT_THAT(finalizer.holds, IsEmpty());

  const Thread& parked = thread_named(dump, "worker-0");
  EXPECT_EQ(parked.state, "WAITING");
  EXPECT_EQ(parked.state_detail, "parking");
  EXPECT_TRUE(parked.daemon);
  ASSERT_TRUE(parked.awaits);
  EXPECT_EQ(parked.awaits->how, Wait::kParked);
  EXPECT_EQ(parked.awaits->lock.klass, "java.util.concurrent.locks.ReentrantLock$NonfairSync");

  const Thread& blocked = thread_named(dump, "worker-1");
  EXPECT_EQ(blocked.state, "BLOCKED");
  ASSERT_TRUE(blocked.awaits);
  EXPECT_EQ(blocked.awaits->how, Wait::kMonitor);
  EXPECT_EQ(blocked.awaits->lock.klass, "java.lang.Object");
  ASSERT_EQ(blocked.holds.size(), 1u);
  EXPECT_EQ(blocked.holds[0].kind, LockKind::kSynchronizer);
  EXPECT_EQ(blocked.holds[0].lock.address, parked.awaits->lock.address);
}

TEST_P(RealDump, OfACycleOfMonitorsAndLocksShowsItWithWhereEachIsHeld) {
  const ThreadDump dump = parsed(fixture(std::string("mixed-") + GetParam() + ".txt"));
  const auto holders = find_holders(dump);
  const auto deadlocks = find_deadlocks(dump, holders);
  ASSERT_EQ(deadlocks.size(), 1u);
  std::vector<std::string> names;
  for (const size_t member : deadlocks[0]) names.push_back(dump.threads[member].name);
  EXPECT_THAT(names, ElementsAre("worker-0", "worker-1", "worker-2"));
  EXPECT_FALSE(holders[deadlocks[0][0]]->frame) << "nobody says where a ReentrantLock was taken";
  const Holder holder = holders[deadlocks[0][1]].value();
  EXPECT_EQ(dump.threads[holder.thread].frames[holder.frame.value()].method, "Deadlocks$Monitor.hold");
}

TEST_P(RealDump, WithNamesLikeHeadersAndFramesHasTheThreadsItAnnounced) {
  const ThreadDump dump = parsed(fixture(std::string("hostile-") + GetParam() + ".txt"));
  EXPECT_EQ(dump.missing, 0u);
  const Thread& first = thread_named(dump, "\" #99 prio=5 os_prio=0 tid=0x1 nid=0x1 runnable");
  EXPECT_NE(first.id, 99);
  const Thread& second = thread_named(
      dump,
      "two\nlines\n\tat fake.Frame.run(Fake.java:1)\n\t- locked <0x00000000deadbeef> (a fake.Lock)\n\"other\" #1\n"
      "\x1b[31m\xc3\xa4\xe6\x97\xa5\xf0\x9f\x98\x80");
  for (const Thread& thread : dump.threads) {
    for (const Frame& frame : thread.frames) EXPECT_NE(frame.method, "fake.Frame.run");
  }
  ASSERT_EQ(second.holds.size(), 1u);
  ASSERT_TRUE(first.awaits);
  EXPECT_EQ(second.holds[0].lock.address, first.awaits->lock.address);
  EXPECT_EQ(find_deadlocks(dump, find_holders(dump)).size(), 1u);
}

// One thread of a dump of 8, which announces nothing.
std::string old_thread(const std::string& name, const std::string& rest) {
  return "\"" + name + "\" #1 prio=5 os_prio=0 tid=0x0000ffff80017000 nid=0x4c09 runnable [0x0000ffff85d9e000]\n" +
         rest + "\n   Locked ownable synchronizers:\n\t- None\n\n";
}
std::string old_dump(const std::string& threads) {
  return "2026-11-16 16:09:10\nFull thread dump OpenJDK 64-Bit Server VM (25.402-b06 mixed mode):\n\n" + threads +
         "\"VM Thread\" os_prio=0 tid=0x0000ffff800fb6a0 nid=0x4c0f runnable \n\nJNI global references: 4\n\n";
}

TEST(Parse, OfADumpThatAnnouncesNoThreadsTakesThoseWithANumber) {
  const ThreadDump dump =
      parsed(old_dump(old_thread("a \"b\"", "   java.lang.Thread.State: RUNNABLE\n") +
                      old_thread("c\nd", "   java.lang.Thread.State: RUNNABLE\n\tat A.b(A.java)\n")));
  ASSERT_EQ(dump.threads.size(), 2u);
  EXPECT_EQ(dump.threads[0].name, "a \"b\"");
  EXPECT_EQ(dump.threads[1].name, "c\nd");
  EXPECT_EQ(dump.threads[1].native_id, 0x4c09);
  EXPECT_FALSE(dump.threads[1].cpu_ms);
  EXPECT_EQ(dump.threads[1].frames.size(), 1u);
}

TEST(Parse, OfAThreadInObjectWaitDoesNotTakeWhatItHasReleasedForHeld) {
  const ThreadDump dump = parsed(old_dump(
      old_thread(
          "waits",
          "   java.lang.Thread.State: WAITING (on object monitor)\n\tat java.lang.Object.wait(Native Method)\n"
          "\t- waiting on <0x10> (a A)\n\tat A.b(A.java:1)\n\t- locked <0x10> (a A)\n\t- locked <0x20> (a B)\n") +
      old_thread("comes back",
                 "   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat java.lang.Object.wait(Native Method)\n"
                 "\t- waiting on <0x10> (a A)\n\tat A.b(A.java:1)\n\t- waiting to re-lock in wait() <0x10> (a A)\n") +
      old_thread("is said to come back",
                 "   java.lang.Thread.State: WAITING (on object monitor)\n\tat java.lang.Object.wait(Native Method)\n"
                 "\t- waiting on <no object reference available>\n\tat A.b(A.java:1)\n"
                 "\t- waiting to re-lock in wait() <0x10> (a A)\n") +
      old_thread("still says waiting on",
                 "   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat java.lang.Object.wait0(Native Method)\n"
                 "\t- waiting on <0x10> (a A)\n\tat A.b(A.java:1)\n\t- locked <0x10> (a A)\n")));
  ASSERT_EQ(dump.threads.size(), 4u);
  EXPECT_EQ(dump.threads[0].awaits->how, Wait::kNotify);
  ASSERT_EQ(dump.threads[0].holds.size(), 1u);
  EXPECT_EQ(dump.threads[0].holds[0].lock.address, 0x20u);
  EXPECT_EQ(dump.threads[1].awaits->how, Wait::kMonitor);
  EXPECT_EQ(dump.threads[2].awaits->how, Wait::kNotify);
  EXPECT_EQ(dump.threads[2].awaits->lock.address, 0x10u);
  EXPECT_EQ(dump.threads[3].awaits->how, Wait::kMonitor);
  EXPECT_THAT(dump.threads[3].holds, IsEmpty());
}

TEST(Parse, KnowsLocksWithoutAddressClassInitializationAndCarriers) {
  const ThreadDump dump = parsed(old_dump(
      old_thread("initializes",
                 "   java.lang.Thread.State: RUNNABLE\n\tat A.b(A.java:1)\n"
                 "\t- waiting on the Class initialization monitor for B\n") +
      old_thread("waits",
                 "   java.lang.Thread.State: WAITING (on object monitor)\n\tat java.lang.Object.wait(Native)\n"
                 "\t- waiting on <no object reference available>\n\t- locked <0x30> (a java.lang.Class for C)\n"
                 "\t- eliminated <owner is scalar replaced> (a D)\n") +
      old_thread("carries", "   Carrying virtual thread #77\n   java.lang.Thread.State: RUNNABLE\n")));
  ASSERT_EQ(dump.threads.size(), 3u);
  EXPECT_EQ(dump.threads[0].awaits->how, Wait::kClassInit);
  EXPECT_EQ(dump.threads[0].awaits->lock.klass, "B");
  EXPECT_EQ(dump.threads[1].awaits->lock.address, 0u);
  ASSERT_EQ(dump.threads[1].holds.size(), 1u);
  EXPECT_EQ(dump.threads[1].holds[0].lock.klass, "java.lang.Class for C");
  EXPECT_EQ(dump.threads[2].carries, 77);
}

TEST(Parse, OfAMethodNamedLikeAThreadKeepsTheThreadsApart) {
  const ThreadDump dump = parsed(
      "Full thread dump X:\n\nThreads class SMR info:\n_java_thread_list=0x1, length=2, elements={\n0xa0, 0xb0\n}\n\n"
      "\"one\" #1 prio=5 tid=0xa0 nid=7 runnable  [0x1]\n   java.lang.Thread.State: RUNNABLE\n"
      "\tat A.b\n\"x\" #9 prio=5 tid=0xff nid=9 runnable\n\tat C.d(C.java:1)\n\n   Locked ownable synchronizers:\n"
      "\t- None\n\n\"two\" #2 prio=5 tid=0xb0 nid=8 runnable  [0x1]\n   java.lang.Thread.State: RUNNABLE\n\n"
      "   Locked ownable synchronizers:\n\t- None\n\n");
  ASSERT_EQ(dump.threads.size(), 2u);
  EXPECT_EQ(dump.threads[0].name, "one");
  EXPECT_EQ(dump.threads[0].frames.size(), 2u);
  EXPECT_EQ(dump.threads[1].name, "two");
  EXPECT_EQ(dump.threads[1].native_id, 8);
}

TEST(Parse, OfADumpThatIsCutOffCountsWhatIsMissing) {
  const std::string whole = fixture("mixed-25.txt");
  const size_t all = parsed(whole).threads.size();
  const std::string cut = whole.substr(0, whole.find("\"worker-1\""));
  const ThreadDump dump = parsed(cut);
  EXPECT_EQ(dump.threads.size() + dump.missing, all);
  EXPECT_EQ(dump.missing, 3u) << "worker-1, worker-2 and the attach listener";
  for (size_t size = 0; size < whole.size(); size += 7) (void)parse(whole.substr(0, size));
}

TEST(Parse, RefusesWhatIsNoThreadDump) {
  EXPECT_FALSE(parse("").ok());
  EXPECT_FALSE(parse("java.lang.OutOfMemoryError").ok());
}

}  // namespace
}  // namespace tarsier::dump
