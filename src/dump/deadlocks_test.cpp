#include "dump/deadlocks.h"

#include <gmock/gmock.h>

namespace tarsier::dump {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A thread that holds and wants monitors by their addresses; 0: none.
Thread thread(uint64_t holds, uint64_t wants, LockKind held = LockKind::kMonitor, Wait how = Wait::kMonitor) {
  Thread result;
  result.state = "BLOCKED";
  result.frames = {{"A.inner", ""}, {"A.outer", ""}};
  if (holds != 0)
    result.holds.push_back({held, {holds, "A"}, held == LockKind::kMonitor ? std::optional<size_t>(1) : std::nullopt});
  if (wants != 0) result.awaits = {how, {wants, "A"}};
  return result;
}

std::vector<Deadlock> deadlocks_of(const ThreadDump& dump) {
  return find_deadlocks(dump, find_holders(dump));
}

TEST(Deadlocks, AreCyclesOfMonitorsAndSynchronizersOfAnyLength) {
  ThreadDump dump;
  for (uint64_t i = 0; i < 10; ++i) dump.threads.push_back(thread(1 + i, 1 + (i + 1) % 10));
  EXPECT_THAT(deadlocks_of(dump), ElementsAre(Deadlock{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  dump.threads = {thread(1, 2, LockKind::kSynchronizer, Wait::kMonitor),
                  thread(2, 1, LockKind::kMonitor, Wait::kParked), thread(0, 1)};
  EXPECT_THAT(deadlocks_of(dump), ElementsAre(Deadlock{0, 1}));
}

TEST(Deadlocks, AreNoChains) {
  ThreadDump dump;
  dump.threads = {thread(1, 2), thread(2, 3), thread(3, 0)};
  EXPECT_THAT(deadlocks_of(dump), IsEmpty());
}

TEST(Deadlocks, AreNoneIfOneOfTheWaitsEndsByItself) {
  ThreadDump dump;
  dump.threads = {thread(1, 2), thread(2, 1, LockKind::kMonitor, Wait::kMonitor)};
  EXPECT_EQ(deadlocks_of(dump).size(), 1u);
  dump.threads[1].state = "TIMED_WAITING";
  EXPECT_THAT(deadlocks_of(dump), IsEmpty());
}

TEST(Deadlocks, NeedALockOfTheKindThatIsWaitedFor) {
  ThreadDump dump;
  dump.threads = {thread(1, 2), thread(2, 1, LockKind::kSynchronizer)};  // the same object, but not its monitor
  EXPECT_THAT(deadlocks_of(dump), IsEmpty());
  dump.threads = {thread(1, 2, LockKind::kMonitor, Wait::kNotify), thread(2, 1)};
  EXPECT_THAT(deadlocks_of(dump), IsEmpty()) << "a notification is not held by anybody";
  dump.threads = {thread(1, 0), thread(2, 1)};
  dump.threads[0].awaits = Awaited{Wait::kMonitor, {0, "A"}};
  EXPECT_THAT(deadlocks_of(dump), IsEmpty()) << "what it waits for is not known";
}

TEST(Holders, AreNotThoseInObjectWaitThatSeemToHoldIt) {
  ThreadDump dump;
  dump.threads = {thread(0, 7), thread(7, 0), thread(7, 0)};
  dump.threads[2].awaits = Awaited{Wait::kNotify, {}};
  EXPECT_EQ(find_holders(dump)[0]->thread, 1u);
  std::swap(dump.threads[1], dump.threads[2]);
  EXPECT_EQ(find_holders(dump)[0]->thread, 2u);
}

TEST(Holders, NameTheOutermostFrameThatEnteredTheMonitor) {
  ThreadDump dump;
  dump.threads = {thread(0, 7), thread(0, 0)};
  dump.threads[1].holds = {{LockKind::kMonitor, {7, "A"}, 0}, {LockKind::kMonitor, {7, "A"}, 1}};
  const auto holders = find_holders(dump);
  ASSERT_TRUE(holders[0]);
  EXPECT_EQ(holders[0]->thread, 1u);
  EXPECT_EQ(holders[0]->frame, 1u);
  EXPECT_FALSE(holders[1]);
}

}  // namespace
}  // namespace tarsier::dump
