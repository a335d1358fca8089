#include "analysis/barrier_waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

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
  Places(const Model& model, const Labels& labels) : model_(model), labels_(labels) {
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

  // The innermost method of the program; of the JDK if all are.
  [[nodiscard]] uint32_t method(StackIndex stack) const {
    if (stack.value == 0) return kNoLabel;
    StackIndex frame = stack;
    while (frame.value != 0 && in_jdk(frame)) frame = model_.stacks[frame.value].parent;
    return labels_.of(model_.stacks[frame.value == 0 ? stack.value : frame.value]);
  }

 private:
  static constexpr std::array<std::string_view, 4> kJdk = {"java.", "jdk.", "sun.", "javax."};

  [[nodiscard]] bool in_jdk(StackIndex stack) const { return in_jdk_[model_.stacks[stack.value].method.value]; }

  const Model& model_;
  const Labels& labels_;
  std::vector<uint8_t> rules_;  // by method
  std::vector<bool> in_jdk_;    // by method
};

class Rows {
 public:
  Rows(const Places& places, BarrierWaits& waits) : places_(places), waits_(waits) {}

  uint32_t add(const Rule& rule, StackIndex stack, const Owner& owner, ThreadIndex waiting, int64_t ns) {
    const uint32_t waiting_in = places_.method(stack), slow_in = places_.method(owner.stack);
    const auto next = static_cast<uint32_t>(waits_.rows.size());
    const uint32_t index = index_.try_emplace({rule.kind, waiting_in, slow_in}, next).first->second;
    if (index == next) {
      BarrierRow fresh;
      fresh.kind = rule.kind;
      fresh.waiting_in = waiting_in;
      fresh.slow_in = slow_in;
      waits_.rows.push_back(fresh);
      slow_.emplace_back();
      waiting_.emplace_back();
    }
    BarrierRow& row = waits_.rows[index];
    row.idle_ns += ns;
    row.waits += 1;
    waits_.idle_ns += ns;
    if (owner.thread != kNobody) slow_[index][owner.thread] += ns;
    waiting_[index].insert(waiting);
    return index;
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
  const Places& places_;
  BarrierWaits& waits_;
  std::map<std::tuple<std::string_view, uint32_t, uint32_t>, uint32_t> index_;
  std::vector<std::map<ThreadIndex, int64_t>> slow_;  // by row
  std::vector<std::set<ThreadIndex>> waiting_;        // by row
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
  for (uint32_t& row : waits.row_of_piece) {
    if (row != BarrierWaits::kNoRow) row = place[row];
  }
}

// Thread.join is Object.wait, of which lock events know nothing; the waits of --waits do, but not who ended.
void add_joins(const Model& model, const Selection& selection, const Places& places, Rows& rows) {
  for (const Sample& sample : samples_of(model, Profile::kWaits)) {
    if (!selection.has(sample) || sample.stack.value >= model.stacks.size()) continue;
    const Rule* rule = places.barrier(sample.stack);
    if (rule != nullptr && rule->kind == "Thread.join") {
      rows.add(*rule, sample.stack, Owner::unknown(), sample.thread, sample.weight);
    }
  }
}

}  // namespace

BarrierWaits barrier_waits(const Model& model, const BlockedTimes& times, const Selection& selection,
                           const Labels& labels) {
  BarrierWaits waits;
  const Places places(model, labels);
  Rows rows(places, waits);
  waits.row_of_piece.reserve(times.pieces().size());
  for (const BlockedPiece& piece : times.pieces()) {
    const bool idle = !is_lock(piece.group) && selection.has(piece.thread);
    // Who is on the way back is not waiting for anybody.
    const Rule* rule = idle && piece.owner.kind != Owner::Kind::kHandOff ? places.barrier(piece.stack) : nullptr;
    waits.row_of_piece.push_back(
        rule == nullptr ? BarrierWaits::kNoRow
                        : rows.add(*rule, piece.stack, piece.owner, piece.thread, piece.end_ns - piece.begin_ns));
  }
  add_joins(model, selection, places, rows);
  rows.finish();
  sort_rows(waits, labels);
  return waits;
}

}  // namespace tarsier::analysis
