// What must hold of all traces, tried with random ones: such as could be recorded, and any nonsense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "analysis/dice_for_test.h"
#include "analysis/lock_profile.h"
#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

constexpr int64_t kThreads = 5;

struct RandomTrace : LockTrace {
  RandomTrace() {
    for (int64_t i = 0; i < kThreads; ++i) threads.push_back(thread(std::string(1, static_cast<char>('A' + i))));
    locks = {lock("p.Lock", 1), lock("java.util.concurrent.Semaphore$Sync", 2),
             lock("java.util.concurrent.FutureTask", 3)};
    periods = {period(locks[0], 1), period(locks[0], 2), period(locks[1], 1)};
  }
  std::vector<ThreadIndex> threads;
  std::vector<LockIndex> locks;
  std::vector<MonitorPeriod> periods;
};

// Numbers from a small range, so that everything collides with everything.
void add_nonsense(RandomTrace& trace, Dice& dice) {
  const auto thread = [&] { return trace.threads[static_cast<size_t>(dice.below(kThreads))]; };
  const auto maybe = [&] { return dice.once_in(2) ? kNobody : thread(); };
  const char* stacks[] = {"main;a", "main;b", "main;a;java.util.concurrent.locks.LockSupport.park"};
  for (int64_t n = dice.below(40); n > 0; --n) {
    const int64_t begin = dice.below(60);
    const int64_t end = begin + dice.below(30);
    const int64_t sequence = dice.below(12);
    const char* stack = stacks[dice.below(3)];
    const MonitorPeriod period = trace.periods[static_cast<size_t>(dice.below(3))];
    switch (dice.below(4)) {
      case 0: {
        MonitorEnter& enter = trace.enter(period, thread(), begin, end, sequence, stack);
        enter.previous_owner = maybe();
        enter.previous_at_end = dice.once_in(4);
        enter.entered = !dice.once_in(5);
        enter.after_wait = dice.once_in(3);
        break;
      }
      case 1: {
        MonitorExit& exit = trace.exit(period, thread(), begin, sequence, stack);
        exit.next_owner = maybe();
        if (dice.once_in(5)) exit.stack = StackIndex(0);
        break;
      }
      case 2: {
        const LockIndex blocker = dice.once_in(6) ? kNoLock : trace.locks[static_cast<size_t>(dice.below(3))];
        trace.park(blocker, thread(), begin, end, sequence, dice.below(15), stack).owner = maybe();
        break;
      }
      default:
        trace.unpark(thread(), maybe(), begin, sequence, stack);
    }
  }
}

// A monitor as the JVM has it: those who wait enter in turn, unless somebody barges in. Everything is recorded.
void add_monitor(RandomTrace& trace, Dice& dice) {
  const MonitorPeriod period = trace.periods[0];
  int64_t now = 1, sequence = 0;
  size_t owner = 0;
  std::vector<size_t> waiting;
  std::map<size_t, int64_t> since;
  std::map<size_t, ThreadIndex> seen;
  const auto name = [](size_t thread) { return "main;m" + std::to_string(thread); };
  const auto block_somebody = [&] {
    const auto thread = static_cast<size_t>(dice.below(kThreads));
    if (thread == owner || since.contains(thread)) return;
    waiting.push_back(thread);
    since[thread] = now;
    seen[thread] = dice.once_in(2) ? trace.threads[owner] : kNobody;
  };
  while (waiting.empty()) block_somebody();
  for (int step = 0; step < 30 || !waiting.empty(); ++step) {
    now += 1 + dice.below(5);
    if (step < 30) block_somebody();
    now += 1 + dice.below(5);
    if (!dice.once_in(2)) continue;
    MonitorExit& exit = trace.exit(period, trace.threads[owner], now, ++sequence, name(owner));
    const auto other = static_cast<size_t>(dice.below(kThreads));
    if (waiting.empty() || (step < 30 && dice.once_in(3) && other != owner && !since.contains(other))) {
      owner = other;
      exit.next_owner = dice.once_in(2) ? trace.threads[owner] : kNobody;
      continue;
    }
    now += 1 + dice.below(3);
    owner = waiting.front();
    waiting.erase(waiting.begin());
    trace.enter(period, trace.threads[owner], since[owner], now, ++sequence, name(owner)).previous_owner = seen[owner];
    since.erase(owner);
  }
}

void check_pieces(const RandomTrace& trace) {
  const LockCode code(trace.model);
  for_each_contention(trace.model, code, {}, [&](const Contention& contention, std::span<const Piece> pieces) {
    ASSERT_FALSE(pieces.empty());
    EXPECT_EQ(pieces.front().begin_ns, contention.begin_ns);
    EXPECT_EQ(pieces.back().end_ns, contention.end_ns);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0) {
        EXPECT_EQ(pieces[i].begin_ns, pieces[i - 1].end_ns);
        EXPECT_NE(pieces[i].owner, pieces[i - 1].owner);
      }
      const Owner& owner = pieces[i].owner;
      EXPECT_TRUE(pieces[i].begin_ns < pieces[i].end_ns || pieces.size() == 1);
      EXPECT_NE(owner.thread, contention.thread);
      EXPECT_EQ(owner.stack != StackIndex(0), owner.kind == Owner::Kind::kChain);
      EXPECT_EQ(owner.thread != kNobody, owner.kind == Owner::Kind::kChain || owner.kind == Owner::Kind::kThread);
    }
  });
}

void check_sums(const RandomTrace& trace, Dice& dice) {
  const LockCode code(trace.model);
  const AspectKeys keys(trace.model, code, label_methods(trace.model, false));
  int64_t all = 0, locks = 0;
  for_each_contention(trace.model, code, {}, [&](const Contention& contention, std::span<const Piece>) {
    all += contention.end_ns - contention.begin_ns;
    if (is_lock(contention.group)) locks += contention.end_ns - contention.begin_ns;
  });
  std::vector<LockAspect> by;
  for (size_t i = 0; i < static_cast<size_t>(LockAspect::kCount); ++i) by.push_back(static_cast<LockAspect>(i));
  dice.shuffle(by);
  by.resize(static_cast<size_t>(1 + dice.below(4)));
  const bool groups = std::find(by.begin(), by.end(), LockAspect::kGroup) != by.end();
  const LockProfile profile = lock_profile(trace.model, code, {}, keys, by);
  EXPECT_EQ(profile.total(), groups ? all : locks);
  int64_t owners = 0;
  for (const int64_t ns : profile.by_owner) owners += ns;
  EXPECT_EQ(owners, profile.total());
  for (const LockNode& node : profile.nodes) {
    if (node.level == by.size()) continue;
    int64_t sum = 0;
    for (const uint32_t child : node.children) sum += profile.nodes[child].blocked_ns;
    EXPECT_EQ(sum, node.blocked_ns);
  }
}

void shuffle_all(LockEvents& events, Dice& dice) {
  dice.shuffle(events.enters);
  dice.shuffle(events.exits);
  dice.shuffle(events.parks);
  dice.shuffle(events.unparks);
}

TEST(Contentions, of_any_events_pieces_cover_the_time_sums_agree_and_the_order_in_the_file_does_not_matter) {
  for (uint32_t seed = 0; seed < 3000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    RandomTrace trace;
    add_nonsense(trace, dice);
    check_pieces(trace);
    check_sums(trace, dice);
    const auto before = trace.contentions();
    shuffle_all(trace.events(), dice);
    EXPECT_EQ(trace.contentions(), before);
  }
}

TEST(Contentions, of_a_monitor_that_was_recorded_completely_every_piece_has_its_true_owner) {
  for (uint32_t seed = 0; seed < 500 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    RandomTrace trace;
    add_monitor(trace, dice);
    check_pieces(trace);
    std::map<int64_t, const MonitorExit*> releases;  // by time
    for (const MonitorExit& exit : trace.events().exits) releases[exit.time_ns] = &exit;
    const LockCode code(trace.model);
    for_each_contention(trace.model, code, {}, [&](const Contention&, std::span<const Piece> pieces) {
      for (const Piece& piece : pieces) {
        // Until a release the releaser has it; from there to an entering nobody.
        const auto release = releases.find(piece.end_ns);
        const Owner expected = release == releases.end()
                                   ? Owner::hand_off()
                                   : Owner::released(release->second->thread, release->second->stack);
        EXPECT_EQ(trace.owner_text(piece.owner), trace.owner_text(expected));
      }
    });
  }
}

// Who was blocked by whom at each moment, by contention.
using Moments = std::map<std::pair<uint32_t, int64_t>, std::string>;
Moments moments(const RandomTrace& trace) {
  Moments result;
  const LockCode code(trace.model);
  for_each_contention(trace.model, code, {}, [&](const Contention& contention, std::span<const Piece> pieces) {
    for (const Piece& piece : pieces) {
      for (int64_t t = piece.begin_ns; t < piece.end_ns; ++t) {
        result[{contention.thread.value, t}] = trace.owner_text(piece.owner);
      }
    }
  });
  return result;
}

TEST(Contentions, a_release_that_is_missing_changes_only_the_time_around_it) {
  for (uint32_t seed = 0; seed < 200 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    RandomTrace trace;
    add_monitor(trace, dice);
    const Moments complete = moments(trace);
    auto& exits = trace.events().exits;
    const auto removed = static_cast<size_t>(dice.below(static_cast<int64_t>(exits.size())));
    const int64_t sequence = exits[removed].sequence;
    // The neighbours by number.
    int64_t from = INT64_MIN, to = INT64_MAX;
    const auto neighbour = [&](int64_t number, int64_t time) {
      if (number == sequence - 1) from = time;
      if (number == sequence + 1) to = time;
    };
    for (const MonitorExit& exit : exits) neighbour(exit.sequence, exit.time_ns);
    for (const MonitorEnter& enter : trace.events().enters) neighbour(enter.sequence, enter.end_ns);
    exits.erase(exits.begin() + static_cast<std::ptrdiff_t>(removed));
    const Moments partial = moments(trace);
    ASSERT_EQ(partial.size(), complete.size());
    for (const auto& [moment, owner] : complete) {
      if (moment.second >= from && moment.second < to) continue;
      EXPECT_EQ(partial.at(moment), owner) << moment.second << " is not within " << from << " .. " << to;
    }
  }
}

TEST(Contentions, a_contention_that_is_missing_changes_others_only_around_its_end) {
  for (uint32_t seed = 0; seed < 200 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    RandomTrace trace;
    add_monitor(trace, dice);
    for (MonitorEnter& enter : trace.events().enters) enter.previous_owner = kNobody;
    const Moments complete = moments(trace);
    auto& enters = trace.events().enters;
    const auto removed = static_cast<size_t>(dice.below(static_cast<int64_t>(enters.size())));
    const MonitorEnter gone = enters[removed];
    int64_t from = INT64_MIN, to = INT64_MAX;
    const auto neighbour = [&](int64_t number, int64_t time) {
      if (number == gone.sequence - 1) from = time;
      if (number == gone.sequence + 1) to = time;
    };
    for (const MonitorExit& exit : trace.events().exits) neighbour(exit.sequence, exit.time_ns);
    for (const MonitorEnter& enter : enters) neighbour(enter.sequence, enter.end_ns);
    enters.erase(enters.begin() + static_cast<std::ptrdiff_t>(removed));
    const Moments partial = moments(trace);
    for (const auto& [moment, owner] : complete) {
      const bool its_own =
          moment.first == gone.thread.value && moment.second >= gone.begin_ns && moment.second < gone.end_ns;
      if (its_own || (moment.second >= from && moment.second < to)) continue;
      EXPECT_EQ(partial.at(moment), owner) << moment.second;
    }
  }
}

}  // namespace
}  // namespace tarsier::analysis
