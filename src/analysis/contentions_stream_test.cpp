// Events that are analysed while they come must give the same contentions as all of them at once, as long as none comes
// later than it may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "analysis/dice_for_test.h"
#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAreArray;

constexpr size_t kStreamThreads = 6;
constexpr int64_t kLateness = 40, kWakeUp = 150;

struct Trace : LockTrace {
  explicit Trace(uint32_t seed) : dice(seed) {
    for (size_t i = 0; i < kStreamThreads; ++i) threads.push_back(thread(std::string(1, static_cast<char>('A' + i))));
  }
  Dice dice;
  std::vector<ThreadIndex> threads;

  // Threads that want a monitor, some periods of contention one after the other. Some events are missing, some releases
  // have no number. `seen`: those who block see the owner.
  void monitor(LockIndex of, bool seen) {
    int64_t now = 1;
    for (int64_t generation = 1; generation < 5; ++generation) {
      const MonitorPeriod in = period(of, generation);
      int64_t sequence = 0;
      std::deque<std::pair<size_t, int64_t>> waiting;
      size_t owner = static_cast<size_t>(dice.below(kStreamThreads));
      ThreadIndex owner_seen = kNobody;
      const int64_t steps = generation == 2 ? 120 : 6;
      for (int64_t step = 0; step < steps || !waiting.empty(); ++step) {
        now += 1 + dice.below(4);
        const auto next = static_cast<size_t>(dice.below(kStreamThreads));
        const bool free = next != owner && std::none_of(waiting.begin(), waiting.end(),
                                                        [&](const auto& each) { return each.first == next; });
        if (free && step < steps) {
          waiting.emplace_back(next, now);
          owner_seen = threads[owner];
        }
        if (waiting.empty()) continue;
        now += 1 + dice.below(6);
        MonitorExit& left = exit(in, threads[owner], now, ++sequence, "main;m" + std::to_string(owner));
        if (dice.once_in(10)) left.sequence = 0, --sequence;
        if (dice.once_in(20)) events().exits.pop_back();
        now += 1 + dice.below(3);
        owner = waiting.front().first;
        MonitorEnter& got = enter(in, threads[owner], waiting.front().second, now, ++sequence, "main;w");
        if (seen && dice.once_in(2)) got.previous_owner = owner_seen;
        waiting.pop_front();
        if (dice.once_in(30)) events().enters.pop_back();
      }
      now += 5;
    }
  }

  // A lock of java.util.concurrent with a condition: those who wait are unparked one after the other.
  void parks(LockIndex lock, LockIndex condition) {
    int64_t now = 2, sequence = 0;
    struct Waiting {
      size_t thread;
      int64_t since, sequence;
      LockIndex blocker;
      const char* stack;
    };
    std::deque<Waiting> waiting;
    std::array<bool, kStreamThreads> busy{};
    size_t owner = 0;
    for (int step = 0; step < 150 || !waiting.empty(); ++step) {
      now += 1 + dice.below(5);
      const auto next = static_cast<size_t>(dice.below(kStreamThreads));
      if (next != owner && !busy[next] && step < 150) {
        busy[next] = true;
        const bool for_condition = dice.once_in(4);
        waiting.push_back({next, now, ++sequence, for_condition ? condition : lock,
                           for_condition
                               ? "main;c;java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await"
                               : "main;l;java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire"});
      }
      if (waiting.empty()) continue;
      now += 1 + dice.below(5);
      Waiting first = waiting.front();
      waiting.pop_front();
      unpark(threads[owner], threads[first.thread], now, ++sequence, "main;u" + std::to_string(owner));
      if (dice.once_in(20)) events().unparks.pop_back();
      now += 1 + dice.below(10);
      ThreadPark& ended =
          park(first.blocker, threads[first.thread], first.since, now, first.sequence, ++sequence, first.stack);
      if (dice.once_in(3)) ended.owner = threads[owner];
      if (first.blocker == condition) ended.condition_of = lock;
      if (first.blocker == condition && dice.once_in(2)) {
        // It wants the lock back.
        waiting.push_back({first.thread, now + 1, ++sequence, lock,
                           "main;c;java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await;"
                           "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire"});
        now += 2;
        continue;
      }
      busy[first.thread] = false;
      owner = first.thread;
    }
  }

  // As a file has them, up to `lateness` behind others; and then a few at a time.
  std::vector<std::string> streamed(int64_t lateness, LockLimits limits, LockAccount& account) {
    struct Arrival {
      int64_t at, time;
      std::function<void(LockEvents&)> come;
    };
    std::vector<Arrival> arrivals;
    const auto add = [&](const auto& columns, auto column, auto time_of) {
      for (const auto& event : columns) {
        const int64_t time = time_of(event);
        arrivals.push_back(
            {time + dice.below(lateness), time, [event, column](LockEvents& to) { (to.*column).push_back(event); }});
      }
    };
    const auto end = [](const auto& event) { return event.end_ns; };
    const auto time = [](const auto& event) { return event.time_ns; };
    add(events().enters, &LockEvents::enters, end);
    add(events().exits, &LockEvents::exits, time);
    add(events().parks, &LockEvents::parks, end);
    add(events().unparks, &LockEvents::unparks, time);
    std::stable_sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return a.at < b.at; });

    std::vector<std::string> lines;
    const LockCode code(model);
    Contentions contentions(
        code,
        [&](const Contention& contention, std::span<const Piece> pieces) { lines.push_back(line(contention, pieces)); },
        PieceBudget(), limits);
    LockEvents window;
    window.locks = events().locks;
    int64_t newest = INT64_MIN / 2;
    size_t most = 0;
    for (const Arrival& arrival : arrivals) {
      arrival.come(window);
      newest = std::max(newest, arrival.time);
      most = std::max(most, window.in_columns());
      if (dice.once_in(7)) contentions.advance(window, newest);
    }
    contentions.finish(window);
    largest_window = most;
    account = contentions.account();
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  size_t largest_window = 0;

  [[nodiscard]] std::vector<std::string> at_once() const {
    std::vector<std::string> lines;
    const LockCode code(model);
    for_each_contention(model, code, {}, [&](const Contention& contention, std::span<const Piece> pieces) {
      lines.push_back(line(contention, pieces));
    });
    std::sort(lines.begin(), lines.end());
    return lines;
  }
};

LockLimits limits() {
  return {.lateness = Nanos(kLateness), .wake_up = Nanos(kWakeUp)};
}

TEST(ContentionStream, gives_what_all_events_at_once_give) {
  for (uint32_t seed = 0; seed < 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Trace trace(seed);
    trace.monitor(trace.lock("p.Lock", 1), /*seen=*/true);
    trace.monitor(trace.lock("p.Other", 2), /*seen=*/false);
    trace.parks(trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 3),
                trace.lock("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", 4));
    LockAccount account;
    const auto streamed = trace.streamed(kLateness, limits(), account);
    EXPECT_THAT(streamed, ElementsAreArray(trace.at_once()));
    EXPECT_EQ(account.late, 0);
    EXPECT_EQ(account.forgotten, 0);
    EXPECT_LT(trace.largest_window, trace.events().in_columns());
  }
}

TEST(ContentionStream, counts_what_comes_too_late_and_still_tells_of_every_contention_of_monitors) {
  uint64_t late = 0;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Trace trace(seed);
    trace.monitor(trace.lock("p.Lock", 1), /*seen=*/false);
    LockAccount account;
    const auto streamed = trace.streamed(20 * kLateness, {.lateness = Nanos(10), .wake_up = Nanos(5)}, account);
    EXPECT_EQ(streamed.size(), trace.at_once().size());
    late += account.late;
  }
  EXPECT_GT(late, 0);
}

TEST(ContentionStream, what_is_forgotten_of_long_contentions_is_unknown_and_counted) {
  Trace trace(1);
  const LockIndex lock = trace.lock("p.Lock", 1);
  const MonitorPeriod period = Trace::period(lock, 1);
  // A holds and B waits, in turn, while C starves.
  int64_t now = 10, sequence = 0;
  for (int i = 0; i < 500; ++i) {
    const auto& [owner, next] =
        i % 2 == 0 ? std::pair(trace.threads[0], trace.threads[1]) : std::pair(trace.threads[1], trace.threads[0]);
    trace.exit(period, owner, now += 5, ++sequence, "main;hold");
    trace.enter(period, next, now - 4, now + 1, ++sequence);
    now += 1;
  }
  trace.exit(period, trace.threads[0], now += 5, ++sequence, "main;hold");
  trace.enter(period, trace.threads[2], 11, now + 1, ++sequence);
  LockAccount account;
  LockLimits few = {.lateness = Nanos(10), .wake_up = Nanos(5)};
  few.changes = 100;
  const auto streamed = trace.streamed(10, few, account);
  EXPECT_EQ(account.forgotten, 1);
  const auto of_c =
      std::find_if(streamed.begin(), streamed.end(), [](const std::string& line) { return line.starts_with("C 11 "); });
  ASSERT_NE(of_c, streamed.end());
  EXPECT_TRUE(of_c->starts_with("C 11 unknown ")) << of_c->substr(0, 60);
  EXPECT_THAT(*of_c, ::testing::HasSubstr("A:hold"));
}

}  // namespace
}  // namespace tarsier::analysis
