#include "analysis/barrier_waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "analysis/owner_chain.h"

namespace tarsier::analysis {
namespace {

// By the method in which a thread waits. The first that fits counts: executors wait for their tasks by futures.
struct Rule {
  std::string_view method;  // or the beginning of its name
  std::string_view kind;
};
constexpr Rule kRules[] = {
    {"java.util.concurrent.CountDownLatch.await", "CountDownLatch"},
    {"java.util.concurrent.CyclicBarrier.", "CyclicBarrier"},
    {"java.util.concurrent.Phaser.", "Phaser"},
    {"java.util.concurrent.FutureTask.", "FutureTask"},
    {"java.util.concurrent.CompletableFuture.", "CompletableFuture"},
    {"java.util.concurrent.ForkJoinTask.", "ForkJoinTask"},
    {"java.util.concurrent.ForkJoinPool.awaitJoin", "ForkJoinTask"},
    {"java.util.concurrent.ForkJoinPool.helpJoin", "ForkJoinTask"},
    {"java.lang.Thread.join", "Thread.join"},
    {"java.lang.VirtualThread.join", "Thread.join"},
};
constexpr uint8_t kNoRule = UINT8_MAX;

class Places {
 public:
  Places(const Model& model, const LockCode& code, const Labels& labels) : model_(model), code_(code), labels_(labels) {
    for (const Method& method : model.methods) {
      const auto* rule = std::find_if(std::begin(kRules), std::end(kRules),
                                      [&](const Rule& r) { return method.name.starts_with(r.method); });
      rules_.push_back(rule == std::end(kRules) ? kNoRule : static_cast<uint8_t>(rule - std::begin(kRules)));
      const bool in_jdk =
          std::any_of(kJdk.begin(), kJdk.end(), [&](std::string_view begin) { return method.name.starts_with(begin); });
      in_jdk_.push_back(in_jdk || method.name.starts_with('['));
    }
  }

  // Where the thread waits, if that is a barrier: only the frames of the JDK up to the first of the program are looked
  // at, since a pool's idle worker waits outside of all tasks.
  [[nodiscard]] const Rule* barrier(StackIndex stack) const {
    for (; stack.value != 0 && in_jdk(stack); stack = model_.stacks[stack.value].parent) {
      const uint8_t rule = rules_[model_.stacks[stack.value].method.value];
      if (rule != kNoRule) return &kRules[rule];
    }
    return nullptr;
  }

  // The innermost method of the program; if all are of the JDK, the one that uses locks and the like.
  [[nodiscard]] uint32_t method(StackIndex stack) const {
    if (stack.value == 0) return kNoLabel;
    StackIndex frame = stack;
    while (frame.value != 0 && in_jdk(frame)) frame = model_.stacks[frame.value].parent;
    if (frame.value == 0) frame = code_.user_frame(stack);
    return labels_.of(model_.stacks[frame.value]);
  }

 private:
  static constexpr std::array<std::string_view, 4> kJdk = {"java.", "jdk.", "sun.", "javax."};

  [[nodiscard]] bool in_jdk(StackIndex stack) const { return in_jdk_[model_.stacks[stack.value].method.value]; }

  const Model& model_;
  const LockCode& code_;
  const Labels& labels_;
  std::vector<uint8_t> rules_;  // by method
  std::vector<bool> in_jdk_;    // by method
};

class Rows {
 public:
  Rows(const Model& model, const Places& places, BarrierWaits& waits) : model_(model), places_(places), waits_(waits) {}

  // In that time somebody waited there because of the owner.
  void add(const Rule& rule, StackIndex stack, ThreadIndex waiting, const Owner& owner, int64_t begin_ns,
           int64_t end_ns) {
    const uint32_t index = row_of(rule, places_.method(stack), places_.method(owner.stack));
    BarrierRow& row = waits_.rows[index];
    row.idle_ns += end_ns - begin_ns;
    row.waits += 1;
    waits_.idle_ns += end_ns - begin_ns;
    waiting_[index].insert(waiting);
    if (owner.thread == kNobody) return;
    slow_[index][model_.threads[owner.thread.value].name] += end_ns - begin_ns;
    waits_.late.push_back({index, owner.thread, begin_ns, end_ns});
  }

  void finish() {
    for (size_t i = 0; i < waits_.rows.size(); ++i) {
      BarrierRow& row = waits_.rows[i];
      row.waiting_threads = waiting_[i].size();
      for (const auto& [thread, ns] : slow_[i]) {
        if (ns <= row.slow_ns) continue;
        row.slow = thread;
        row.slow_ns = ns;
      }
    }
  }

 private:
  uint32_t row_of(const Rule& rule, uint32_t waiting_in, uint32_t slow_in) {
    const auto next = static_cast<uint32_t>(waits_.rows.size());
    const auto [found, is_new] = index_.try_emplace({rule.kind, waiting_in, slow_in}, next);
    if (!is_new) return found->second;
    BarrierRow row;
    row.kind = rule.kind;
    row.waiting_in = waiting_in;
    row.slow_in = slow_in;
    waits_.rows.push_back(row);
    slow_.emplace_back();
    waiting_.emplace_back();
    return next;
  }

  const Model& model_;
  const Places& places_;
  BarrierWaits& waits_;
  std::map<std::tuple<std::string_view, uint32_t, uint32_t>, uint32_t> index_;
  std::vector<std::map<std::string_view, int64_t>> slow_;  // by row
  std::vector<std::set<ThreadIndex>> waiting_;             // by row
};

void sort_rows(BarrierWaits& waits, const Labels& labels) {
  const auto name = [&](uint32_t label) { return label == kNoLabel ? std::string() : labels.names[label]; };
  std::vector<uint32_t> order(waits.rows.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const BarrierRow& x = waits.rows[a];
    const BarrierRow& y = waits.rows[b];
    if (x.idle_ns != y.idle_ns) return x.idle_ns > y.idle_ns;
    return std::make_tuple(x.kind, name(x.waiting_in), name(x.slow_in)) <
           std::make_tuple(y.kind, name(y.waiting_in), name(y.slow_in));
  });
  std::vector<BarrierRow> rows;
  std::vector<uint32_t> place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    rows.push_back(waits.rows[order[i]]);
  }
  waits.rows = std::move(rows);
  for (ActivePeriod& period : waits.late) period.row = place[period.row];
}

// Thread.join is Object.wait, of which lock events know nothing; the waits of --waits do, but not who ended.
void add_joins(const Model& model, const Selection& selection, const Places& places, Rows& rows) {
  for (Sample sample : samples_of(model, Profile::kWaits)) {
    if (!selection.take(sample, Profile::kWaits) || sample.stack.value >= model.stacks.size()) continue;
    const Rule* rule = places.barrier(sample.stack);
    if (rule != nullptr && rule->kind == "Thread.join") {
      rows.add(*rule, sample.stack, sample.thread, Owner::unknown(), 0, sample.weight);
    }
  }
}

}  // namespace

BarrierWaits barrier_waits(const Model& model, const LockCode& code, const BlockedTimes& times,
                           const Selection& selection, const Labels& labels) {
  BarrierWaits waits;
  const Places places(model, code, labels);
  Rows rows(model, places, waits);
  const auto barrier_of = [&](const BlockedPiece& piece) {
    return is_lock(piece.group) ? nullptr : places.barrier(piece.stack);
  };
  const BlockedPiece* waiting = nullptr;
  const Rule* rule = nullptr;
  OwnerChain chain(
      times, [&](const BlockedPiece& piece, const OwnerLink&) { return barrier_of(piece) != nullptr; },
      [&](int64_t begin_ns, int64_t end_ns, const OwnerLink& link, bool) {
        // Who is on the way back is not waiting for anybody.
        if (link.owner.kind == Owner::Kind::kHandOff) return;
        rows.add(*rule, waiting->stack, waiting->thread, link.owner, begin_ns, end_ns);
      });
  for (const BlockedPiece& piece : times.pieces()) {
    rule = selection.has(piece.thread) ? barrier_of(piece) : nullptr;
    waiting = &piece;
    if (rule != nullptr) chain.follow(piece);
  }
  add_joins(model, selection, places, rows);
  rows.finish();
  sort_rows(waits, labels);
  return waits;
}

}  // namespace tarsier::analysis
