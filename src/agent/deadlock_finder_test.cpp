#include "agent/engines/deadlock_finder.h"

#include <gmock/gmock.h>

#include <map>

namespace tarsier::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Threads whose waits change while we sleep.
struct FakeThreads final : WaitSource {
  std::map<int64_t, LockWait> waits;
  std::function<void()> while_we_sleep = [] {};
  int looks = 0, sleeps = 0;

  void add(int64_t thread, uint64_t lock, int64_t owner, bool is_monitor = true) {
    waits[thread] = {thread, owner, is_monitor, lock};
  }
  std::vector<LockWait> all() override {
    ++looks;
    std::vector<LockWait> result;
    for (const auto& [thread, wait] : waits) result.push_back(wait);
    return result;
  }
  std::optional<LockWait> of(int64_t thread) override {
    const auto found = waits.find(thread);
    return found != waits.end() ? std::optional(found->second) : std::nullopt;
  }
  DeadlockFinder::Sleep sleep() {
    return [this](Nanos) {
      ++sleeps;
      while_we_sleep();
    };
  }
};

TEST(DeadlockFinder, FindsCirclesOfAnyLengthOverMonitorsAndOthersInTheOrderOfTheirArrows) {
  FakeThreads threads;
  threads.add(20, 1, 10, false);
  threads.add(10, 2, 30);
  threads.add(30, 3, 20);
  threads.add(99, 1, 10, false);  // waits for a member, and is none
  DeadlockFinder finder(threads.sleep());
  EXPECT_THAT(finder.look(threads),
              ElementsAre(DeadlockCycle{{10, 30, true, 2}, {30, 20, true, 3}, {20, 10, false, 1}}));
}

TEST(DeadlockFinder, TellsOfEachOnce) {
  FakeThreads threads;
  threads.add(1, 1, 2);
  threads.add(2, 2, 1);
  DeadlockFinder finder(threads.sleep());
  EXPECT_THAT(finder.look(threads), SizeIs(1));
  EXPECT_THAT(finder.look(threads), IsEmpty());
  threads.add(3, 3, 4);
  threads.add(4, 4, 3);
  EXPECT_THAT(finder.look(threads), SizeIs(1)) << "but another one is new";
}

TEST(DeadlockFinder, NeitherTakesAChainForOneNorSleepsForIt) {
  FakeThreads threads;
  threads.add(1, 1, 2);
  threads.add(2, 2, 3);
  threads.add(3, 3, 4);
  DeadlockFinder finder(threads.sleep());
  EXPECT_THAT(finder.look(threads), IsEmpty());
  EXPECT_EQ(threads.sleeps, 0);
}

TEST(DeadlockFinder, DoesNotBelieveACircleInWhichAnythingChanges) {
  const std::function<void(FakeThreads&)> changes[] = {
      [](FakeThreads& threads) { threads.waits.erase(2); },
      [](FakeThreads& threads) { threads.add(2, 2, 3); },
      [](FakeThreads& threads) { threads.add(2, 7, 1); },
      [](FakeThreads& threads) { threads.add(2, 2, 1, false); },
  };
  for (const auto& change : changes) {
    FakeThreads threads;
    threads.add(1, 1, 2);
    threads.add(2, 2, 1);
    threads.while_we_sleep = [&] {
      if (threads.sleeps == 3) change(threads);
    };
    DeadlockFinder finder(threads.sleep());
    EXPECT_THAT(finder.look(threads), IsEmpty());
  }
}

TEST(DeadlockFinder, FindsLaterWhatWasNotBelievedAtFirst) {
  FakeThreads threads;
  threads.add(1, 1, 2);
  threads.add(2, 2, 1);
  const LockWait second = threads.waits[2];
  threads.while_we_sleep = [&] { threads.waits.erase(2); };
  DeadlockFinder finder(threads.sleep());
  EXPECT_THAT(finder.look(threads), IsEmpty());
  threads.waits[2] = second;
  threads.while_we_sleep = [] {};
  EXPECT_THAT(finder.look(threads), SizeIs(1));
}

TEST(DeadlockFinder, FindsAThreadThatWaitsForItself) {
  FakeThreads threads;
  threads.add(1, 1, 1, false);
  DeadlockFinder finder(threads.sleep());
  EXPECT_THAT(finder.look(threads), ElementsAre(DeadlockCycle{{1, 1, false, 1}}));
}

}  // namespace
}  // namespace tarsier::agent
