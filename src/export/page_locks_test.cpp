#include "export/page_locks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "analysis/lock_profile.h"
#include "analysis/lock_trace.h"
#include "export/columns_for_test.h"

namespace tarsier::exporting {
namespace {

using analysis::LockAspect;
using analysis::LockTrace;
using testing::ElementsAre;

struct Sum {
  int64_t blocked = 0;
  uint64_t count = 0;
  int64_t max = 0;
  bool operator==(const Sum&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Sum& sum) {
    return out << sum.blocked << " ns in " << sum.count << ", at most " << sum.max;
  }
};
using Sums = std::map<std::string, Sum>;  // by path: "/label/label"

// The part as the page reads it.
class Part {
 public:
  Part(const std::string& bytes, const PageThreads& threads) : columns_(bytes), threads_(threads) {
    labels_ = columns_.texts("labels");
    pieces_ = columns_.numbers("pieces");
  }

  [[nodiscard]] size_t rows() const { return pieces_.size(); }
  [[nodiscard]] int64_t at(const std::string& column, size_t row) {
    auto [found, fresh] = numbers_.try_emplace(column);
    if (fresh) found->second = columns_.numbers(column);
    return found->second.at(row);
  }

  Sums broken_down(const std::vector<LockAspect>& by) {
    const bool all_groups = std::find(by.begin(), by.end(), LockAspect::kGroup) != by.end();
    Sums sums;
    size_t piece = 0;
    for (size_t row = 0; row < rows(); ++row) {
      const size_t end = piece + static_cast<size_t>(pieces_[row]);
      if (!all_groups && at("group", row) > 1) {
        piece = end;
        continue;
      }
      const int64_t more = at("more", row);
      std::map<std::string, Sum> touched;
      std::map<std::string, int> pieces_in;
      for (size_t p = piece; p < end; ++p) {
        std::string path;
        for (size_t level = 0; level <= by.size(); ++level) {
          if (level > 0) path += "/" + label(by[level - 1], row, p);
          touched[path].blocked += at("piece_length", p);
          touched[path].max += more > 0 ? at("piece_longest", p) : at("piece_length", p);
          ++pieces_in[path];
        }
      }
      for (auto& [path, sum] : touched) {
        if (pieces_in[path] == static_cast<int>(end - piece) && more > 0) sum.max = at("longest", row);
        Sum& into = sums[path];
        into.blocked += sum.blocked;
        into.count += static_cast<uint64_t>(1 + more);
        into.max = std::max(into.max, sum.max);
      }
      piece = end;
    }
    return sums;
  }

 private:
  std::string label(LockAspect aspect, size_t row, size_t piece) {
    switch (aspect) {
      case LockAspect::kGroup:
        return std::string(lock_group_name(static_cast<analysis::LockGroup>(at("group", row))));
      case LockAspect::kClass: {
        const int64_t lock = at("lock", row);
        return lock == 0
                   ? "[no blocker]"
                   : columns_.texts("classes").at(static_cast<size_t>(at("lock_class", static_cast<size_t>(lock - 1))));
      }
      case LockAspect::kObject: {
        const int64_t lock = at("lock", row);
        return lock == 0 ? "[no blocker]" : columns_.texts("objects").at(static_cast<size_t>(lock - 1));
      }
      case LockAspect::kBlockedThread:
        return threads_[static_cast<size_t>(at("thread", row))].name;
      case LockAspect::kBlockedMethod:
        return method(at("method", row));
      case LockAspect::kBlockedChain:
        return chain(at("chain", row));
      case LockAspect::kAfterWait:
        return at("after_wait", row) != 0 ? "after wait" : "not after wait";
      default:
        break;
    }
    const int64_t thread = at("owner_thread", piece);
    if (aspect == LockAspect::kOwnerThread && thread != 0) return threads_[static_cast<size_t>(thread - 1)].name;
    const int64_t kind = at("owner_kind", piece);
    if (kind != 0) return kind == 1 ? "[no chain]" : kind == 2 ? "[hand-off]" : "[unknown owner]";
    return aspect == LockAspect::kOwnerMethod ? method(at("owner_method", piece)) : chain(at("owner_chain", piece));
  }
  std::string method(int64_t label) { return label == 0 ? "[no stack]" : labels_.at(static_cast<size_t>(label - 1)); }
  std::string chain(int64_t node) {
    if (node == 0) return "[no stack]";
    std::string text;
    for (; node != 0; node = at("chain_parent", static_cast<size_t>(node))) {
      (text += text.empty() ? "" : " < ") +=
          labels_.at(static_cast<size_t>(at("chain_label", static_cast<size_t>(node))));
    }
    return text;
  }

  ColumnsForTest columns_;
  const PageThreads& threads_;
  std::vector<std::string> labels_;
  std::vector<int64_t> pieces_;
  std::map<std::string, std::vector<int64_t>> numbers_;
};

Sums reported(const LockTrace& trace, const std::vector<LockAspect>& by) {
  const analysis::LockCode code(trace.model);
  const analysis::AspectKeys keys(trace.model, code, label_methods(trace.model, false));
  const analysis::LockProfile profile = lock_profile(trace.model, code, {}, keys, by);
  Sums sums;
  std::vector<std::string> paths(profile.nodes.size());
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    const analysis::LockNode& node = profile.nodes[i];
    if (node.level > 0) paths[i] = paths[node.parent] + "/" + keys.label(by[node.level - 1], node.key);
    Sum& sum = sums[paths[i]];
    sum.blocked += node.blocked_ns;
    sum.count += node.contentions.count();
    sum.max = std::max(sum.max, node.contentions.max());
  }
  return sums;
}

LockCollector::Encoded encoded(const LockTrace& trace, const LockRoom& room, const PageThreads& threads) {
  LockCollector collector(room);
  const analysis::LockCode code(trace.model);
  analysis::for_each_contention(trace.model, code, {}, [&](const auto& contention, auto pieces) {
    collector.add(trace.model, code, contention, pieces);
  });
  return collector.encode(trace.model, threads, PageTime(trace.model));
}

// Threads that fight for a few locks, in a random order.
void fight(LockTrace& trace, uint32_t seed, int times) {
  std::mt19937 random(seed);
  const auto any = [&](uint32_t below) { return static_cast<size_t>(random() % below); };
  const std::vector<std::string> chains = {"main;a;Pool.take", "main;b;java.util.concurrent.locks.ReentrantLock.lock",
                                           "main;a;b;c:7", "main;a;b;c:8", "main;Pool.put"};
  std::vector<analysis::ThreadIndex> threads;
  for (int i = 0; i < 5; ++i) threads.push_back(trace.thread("worker-" + std::to_string(i)));
  std::vector<analysis::LockIndex> locks;
  for (int i = 0; i < 3; ++i) locks.push_back(trace.lock(i < 2 ? "app.Pool" : "app.Queue", 16 + i));
  const auto fair = trace.lock("java.util.concurrent.locks.ReentrantLock$FairSync", 99);
  const auto queue = trace.lock("java.util.concurrent.SynchronousQueue$Transferer", 100);
  int64_t sequence = 1;
  for (int i = 0; i < times; ++i) {
    const auto now = int64_t{i} * 1000;
    const auto blocked = any(5);
    const auto owner = (blocked + 1 + any(4)) % 5;
    const auto length = static_cast<int64_t>(100 + any(5000));
    switch (any(4)) {
      case 0:
      case 1: {
        const auto period = LockTrace::period(locks[any(3)], 1);
        trace.exit(period, threads[owner], now + length / 2, sequence++, chains[any(5)]);
        if (any(2) == 0) trace.exit(period, threads[(owner + 1) % 5], now + length - 1, sequence++, chains[any(5)]);
        trace.enter(period, threads[blocked], now, now + length, sequence++, chains[any(5)]).after_wait = any(3) == 0;
        break;
      }
      case 2: {
        const int64_t begin = sequence++;
        trace.unpark(threads[owner], threads[blocked], now + length - 5, sequence++, chains[any(5)]);
        trace.park(fair, threads[blocked], now, now + length, begin, sequence++, chains[1]);
        break;
      }
      default: {
        const int64_t begin = sequence++;
        trace.park(queue, threads[blocked], now, now + length, begin, sequence++, chains[any(5)]);
      }
    }
  }
}

const std::vector<std::vector<LockAspect>> kOrders = {
    {LockAspect::kClass, LockAspect::kBlockedMethod, LockAspect::kOwnerMethod},
    {LockAspect::kOwnerThread, LockAspect::kBlockedThread, LockAspect::kObject},
    {LockAspect::kOwnerChain, LockAspect::kClass, LockAspect::kBlockedChain},
    {LockAspect::kGroup, LockAspect::kAfterWait, LockAspect::kOwnerMethod, LockAspect::kBlockedThread},
    {LockAspect::kBlockedThread, LockAspect::kOwnerThread, LockAspect::kOwnerChain},
    {},
};

TEST(PageLocks, give_the_same_numbers_as_the_report_for_any_order_of_aspects) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    LockTrace trace;
    fight(trace, seed, 400);
    const PageThreads threads(trace.model);
    const auto made = encoded(trace, {}, threads);
    ASSERT_GT(made.locks.contentions, 100u);
    ASSERT_GT(made.parks.contentions, 20u);
    EXPECT_EQ(made.locks.kept, made.locks.contentions);
    EXPECT_EQ(made.parks.kept_ns, made.parks.total_ns);
    Part part(made.bytes, threads);
    for (const auto& by : kOrders) EXPECT_EQ(part.broken_down(by), reported(trace, by)) << "seed " << seed;
  }
}

TEST(PageLocks, of_many_contentions_the_short_ones_are_added_up_and_no_number_changes) {
  LockTrace trace;
  fight(trace, 7, 4000);
  const PageThreads threads(trace.model);
  LockRoom room;
  room.one_by_one = 300;
  room.parks = 100;
  const auto made = encoded(trace, room, threads);
  Part part(made.bytes, threads);
  EXPECT_LT(part.rows(), 2500u);
  EXPECT_EQ(made.locks.kept, made.locks.contentions);
  EXPECT_EQ(made.owners_left_out_ns, 0);
  for (const auto& by : kOrders) {
    const Sums expected = reported(trace, by);
    Sums got = part.broken_down(by);
    ASSERT_EQ(got.size(), expected.size());
    for (const auto& [path, sum] : expected) {
      EXPECT_EQ(got[path].blocked, sum.blocked) << path;
      EXPECT_EQ(got[path].count, sum.count) << path;
      // Of several owners together only the sum of their longest is known.
      EXPECT_GE(got[path].max, sum.max) << path;
    }
    EXPECT_EQ(got[""].max, expected.at("").max);
  }
}

TEST(PageLocks, have_bounded_room_and_count_what_had_none) {
  LockTrace trace;
  fight(trace, 3, 4000);
  const PageThreads threads(trace.model);
  LockRoom room;
  room.one_by_one = 50;
  room.parks = 10;
  room.alike = 40;
  room.pieces = 60;
  room.owners_of_alike = 1;
  const auto made = encoded(trace, room, threads);
  Part part(made.bytes, threads);
  EXPECT_LE(part.rows(), 50u + 40u);
  EXPECT_LT(made.locks.kept, made.locks.contentions);
  EXPECT_LT(made.locks.kept_ns, made.locks.total_ns);
  EXPECT_GT(made.owners_left_out_ns, 0);
  int64_t kept = 0, in_pieces = 0;
  uint64_t count = 0;
  size_t pieces = 0;
  for (size_t row = 0; row < part.rows(); ++row) {
    kept += part.at("length", row);
    count += static_cast<uint64_t>(1 + part.at("more", row));
    pieces += static_cast<size_t>(part.at("pieces", row));
  }
  for (size_t piece = 0; piece < pieces; ++piece) in_pieces += part.at("piece_length", piece);
  EXPECT_EQ(kept, made.locks.kept_ns + made.parks.kept_ns);
  EXPECT_EQ(kept, in_pieces);
  EXPECT_EQ(count, made.locks.kept + made.parks.kept);
}

TEST(PageLocks, keep_the_longest_one_by_one) {
  LockTrace trace;
  const auto a = trace.thread("A"), b = trace.thread("B");
  const auto lock = trace.lock("app.Lock", 1);
  for (int64_t i = 0; i < 100; ++i) {
    trace.exit(LockTrace::period(lock, 1), a, i * 1000 + 10, 2 * i + 1, "main;release");
    trace.enter(LockTrace::period(lock, 1), b, i * 1000, i * 1000 + 20 + (i * 37) % 100, 2 * i + 2, "main;enter");
  }
  const PageThreads threads(trace.model);
  LockRoom room;
  room.one_by_one = 10;
  const auto made = encoded(trace, room, threads);
  Part part(made.bytes, threads);
  std::multiset<int64_t> alone;
  for (size_t row = 0; row < part.rows(); ++row) {
    if (part.at("more", row) == 0) alone.insert(part.at("length", row));
  }
  for (int64_t length = 110; length < 120; ++length) EXPECT_EQ(alone.count(length), 1u) << length;
  EXPECT_EQ(made.locks.kept, 100u);
}

TEST(PageLocks, count_from_the_start_of_the_recording_and_by_thread) {
  LockTrace trace;
  const auto a = trace.thread("A"), b = trace.thread("B");
  const auto lock = trace.lock("app.Lock<script>", 255);
  trace.model.start_ns = 1000;
  trace.exit(LockTrace::period(lock, 1), a, 1500, 1, "main;release");
  trace.enter(LockTrace::period(lock, 1), b, 1400, 1600, 2, "main;enter");
  LockCollector collector;
  const analysis::LockCode code(trace.model);
  analysis::for_each_contention(trace.model, code, {}, [&](const auto& contention, auto pieces) {
    collector.add(trace.model, code, contention, pieces);
  });
  EXPECT_THAT(collector.blocked(), ElementsAre(0, 200));
  const PageThreads threads(trace.model, collector.blocked());
  EXPECT_EQ(threads[1].blocked, 200);
  const ColumnsForTest columns(collector.encode(trace.model, threads, PageTime(trace.model)).bytes);
  EXPECT_THAT(columns.numbers("begin"), ElementsAre(400));
  EXPECT_THAT(columns.numbers("length"), ElementsAre(200));
  EXPECT_THAT(columns.numbers("thread"), ElementsAre(1));
  EXPECT_THAT(columns.numbers("lock"), ElementsAre(1));
  EXPECT_THAT(columns.texts("objects"), ElementsAre("app.Lock<script>@ff"));
  EXPECT_THAT(columns.numbers("piece_length"), ElementsAre(100, 100));
  EXPECT_THAT(columns.numbers("owner_thread"), ElementsAre(1, 0));
}

TEST(PageLocks, of_a_recording_without_any_are_empty_columns) {
  const analysis::Model model;
  LockCollector collector;
  const auto made = collector.encode(model, PageThreads(model), PageTime(model));
  EXPECT_EQ(made.locks.contentions, 0u);
  EXPECT_TRUE(ColumnsForTest(made.bytes).numbers("begin").empty());
}

}  // namespace
}  // namespace tarsier::exporting
