#include "analysis/deadlock.h"

#include <gmock/gmock.h>

#include "analysis/lock_trace.h"
#include "analysis/verdict.h"

namespace tarsier::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Of as many threads as asked for, each waiting in p.C.run for what the next one holds.
struct DeadlockTrace : LockTrace {
  explicit DeadlockTrace(size_t threads) {
    Deadlock deadlock{.number = 1, .noticed_ns = 5, .edges = {}};
    std::vector<ThreadIndex> all;
    for (size_t i = 0; i < threads; ++i) all.push_back(thread("T" + std::to_string(i)));
    for (size_t i = 0; i < threads; ++i) {
      const LockIndex wanted = lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 0xa0 + i);
      const StackIndex where = stack("main;p.C.run;java.util.concurrent.locks.ReentrantLock.lock;sun.misc.Unsafe.park");
      deadlock.edges.push_back({all[i], where, wanted, false, all[(i + 1) % threads]});
    }
    model.deadlocks.push_back(deadlock);
  }
};

TEST(DeadlockVerdict, SaysWhoWaitsWhereForWhatHeldByWhom) {
  const DeadlockTrace trace(2);
  EXPECT_EQ(deadlock_verdict(trace.model),
            "Deadlock of 2 threads: T0 waits in p.C.run for ReentrantLock@a0 held by T1; T1 waits in p.C.run for "
            "ReentrantLock@a1 held by T0.");
}

TEST(DeadlockVerdict, IsAmongTheFirstSentencesOfTheWholeOne) {
  const auto sentences = verdict(DeadlockTrace(2).model);
  ASSERT_GT(sentences.size(), 1u);
  EXPECT_THAT(sentences[1], HasSubstr("Deadlock of 2 threads"));
  EXPECT_THAT(verdict(LockTrace().model), Not(testing::Contains(HasSubstr("Deadlock"))));
  EXPECT_THAT(deadlock_verdict(LockTrace().model), IsEmpty());
}

TEST(DeadlockVerdict, NamesSomeOfManyAndCountsOtherDeadlocks) {
  DeadlockTrace trace(10);
  trace.model.deadlocks.push_back(trace.model.deadlocks.front());
  EXPECT_THAT(deadlock_verdict(trace.model), HasSubstr("Deadlock of 10 threads: T0 waits"));
  EXPECT_THAT(deadlock_verdict(trace.model), HasSubstr("held by T4; and so on (report --view locks shows all)."));
  EXPECT_THAT(deadlock_verdict(trace.model), testing::EndsWith(" And 1 more deadlock."));
  EXPECT_THAT(words_of_deadlock(trace.model, trace.model.deadlocks[0], 10), HasSubstr("T9 waits"));
}

TEST(DeadlockVerdict, DoesNotNameAnOwnerThatIsNotKnown) {
  DeadlockTrace trace(1);
  trace.model.deadlocks[0].edges[0].owner = kNobody;
  EXPECT_THAT(deadlock_verdict(trace.model), HasSubstr("held by a thread that is not known."));
}

}  // namespace
}  // namespace tarsier::analysis
