#include "analysis/top_model.h"

#include <algorithm>
#include <cmath>

namespace tarsier::analysis {
namespace {

constexpr TopThreadId kEnded{-1, -1}, kBeyond{-1, -2}, kVirtual{-1, -3};
constexpr double kMemory = 10e9;                // ns, after which a smoothed figure has lost all but 1/e
constexpr int64_t kLargest = int64_t{1} << 53;  // beyond that a number is damage
constexpr size_t kMostEngines = 32, kMostCauses = 64;
// Where nobody tells who has ended: who was silent for that many spans has.
constexpr int kSilence = 120;

constexpr uint32_t bit(TopFigure figure) {
  return uint32_t{1} << static_cast<uint32_t>(figure);
}
constexpr size_t at(TopFigure figure) {
  return static_cast<size_t>(figure);
}

}  // namespace

TopModel::TopModel() {
  names_.emplace_back(kOtherMethods);
  seen_in_.push_back(0);
}

void TopModel::begin(int64_t time_ns) {
  if (begin_ns_ == 0) begin_ns_ = round_ns_ = settled_ns_ = time_ns;
}

void TopModel::end_round(int64_t time_ns) {
  if (begin_ns_ == 0) begin(time_ns);
  if (time_ns <= round_ns_) return;
  time_.add(static_cast<double>(std::min(time_ns - round_ns_, kLargest)));
  round_ns_ = time_ns;
}

TopModel::Thread* TopModel::find(const Who& who) {
  const TopThreadId id = who.is_virtual ? kVirtual : who.id;
  auto known = threads_.find(id);
  // It was seen before it was known who it is in Java.
  if (known == threads_.end() && id.java_id > 0 && id.os_id != 0) {
    if (auto before = threads_.extract(TopThreadId{id.os_id, 0})) {
      before.key() = id;
      known = threads_.insert(std::move(before)).position;
    }
  }
  if (known == threads_.end()) {
    if (threads_.size() >= kMostThreads && id != kEnded && id != kBeyond && id != kVirtual) return nullptr;
    // Who has a thread's number now is its heir.
    for (auto it = threads_.lower_bound({id.os_id, 0}); it != threads_.end() && it->first.os_id == id.os_id; ++it) {
      it->second.has_ended = id.os_id > 0;
    }
    known = threads_.try_emplace(id).first;
    known->second.together = who.is_virtual || id.os_id <= 0;
    if (who.is_virtual || id.java_id > 0) known->second.kind = ThreadKind::kApp;
  }
  Thread& thread = known->second;
  const std::string_view name = who.is_virtual ? kVirtualThreads : who.name;
  if (!name.empty() && thread.name != name) thread.name = name;
  thread.has_ended = false;
  return &thread;
}

TopModel::Thread& TopModel::row_of(const Who& who) {
  Thread* const thread = find(who);
  return thread != nullptr ? *thread : *find({.id = kBeyond, .name = kOtherThreads});
}

void TopModel::add(Thread& thread, TopFigure figure, int64_t amount) {
  const auto value = static_cast<double>(amount);
  thread.figures[at(figure)].add(value);
  thread.known |= bit(figure);
  process_[at(figure)].add(value);
  known_ |= bit(figure);
}

// Of a thread that hardly runs the agent asks only the CPU time each second. What else it tells after a while belongs
// to all of that while: the last span gets its part.
void TopModel::account(const Who& who, ThreadKind kind, const Account& account, int64_t time_ns) {
  Thread* const thread = find(who);
  if (thread == nullptr) {
    ++unlisted_;
    return;
  }
  thread->kind = kind;
  const double while_ns = static_cast<double>(std::max<int64_t>(1, time_ns - thread->usage_ns));
  const double part =
      thread->usage_ns == 0 ? 1 : std::clamp(static_cast<double>(time_ns - settled_ns_) / while_ns, 0.0, 1.0);
  bool told = thread->usage_ns == 0;
  for (size_t i = 0; i < kCumulativeFigures; ++i) {
    if (!account[i]) continue;
    const auto figure = static_cast<TopFigure>(i);
    const int64_t now = std::clamp<int64_t>(*account[i], 0, kLargest);
    int64_t& before = thread->counters[i];
    // Less than before: another thread of that id, which has begun at 0.
    const int64_t more = now < before ? now : now - before;
    before = now;
    const bool each_second = figure == TopFigure::kCpu || figure == TopFigure::kSteal;
    const auto of_span = each_second ? more : static_cast<int64_t>(std::llround(static_cast<double>(more) * part));
    add(*thread, figure, of_span);
    thread->figures[i].add_to_all(static_cast<double>(more - of_span));
    process_[i].add_to_all(static_cast<double>(more - of_span));
    told = told || (!each_second && more > 0);
    if (figure == TopFigure::kCpu) kinds_[static_cast<size_t>(kind)].add(static_cast<double>(more));
  }
  if (told) thread->usage_ns = time_ns;
}

uint32_t TopModel::method(std::string_view class_name, std::string_view name) {
  name_ = class_name;
  std::replace(name_.begin(), name_.end(), '/', '.');
  if (!name_.empty() && !name.empty()) name_ += '.';
  name_ += name;
  if (name_.empty()) name_ = "[unnamed]";
  const auto known = indexes_.find(name_);
  if (known != indexes_.end()) return known->second;
  if (names_.size() >= kMostMethods) return 0;
  const auto index = static_cast<uint32_t>(names_.size());
  indexes_.emplace(name_, index);
  names_.push_back(name_);
  seen_in_.push_back(0);
  return index;
}

void TopModel::add_method(OfMethods& methods, uint32_t method, bool self, double weight, bool bounded) {
  auto found = methods.find(method);
  if (found == methods.end()) {
    const bool full = bounded && (pairs_ >= kMostPairs || methods.size() >= 2 * kMostOfAThread);
    if (full) method = 0;
    bool is_new = false;
    std::tie(found, is_new) = methods.try_emplace(method);
    if (bounded && is_new) ++pairs_;
  }
  if (self) found->second.self.add(weight);
  found->second.total.add(weight);
}

void TopModel::sample(const Who& who, std::span<const uint32_t> methods, int64_t weight_ns) {
  if (methods.empty()) return;
  Thread& thread = row_of(who);
  weight_ns = std::clamp<int64_t>(weight_ns, 0, kLargest);
  const auto weight = static_cast<double>(weight_ns);
  add(thread, TopFigure::kSampled, weight_ns);
  samples_.add(1);
  ++sample_;
  for (size_t i = 0; i < methods.size(); ++i) {
    const uint32_t method = methods[i] < names_.size() ? methods[i] : 0;
    // A recursive method has the sample once.
    if (seen_in_[method] == sample_) continue;
    seen_in_[method] = sample_;
    add_method(methods_, method, i == 0, weight, false);
    add_method(thread.methods, method, i == 0, weight, true);
  }
}

void TopModel::allocated(const Who& who, int64_t bytes) {
  add(row_of(who), TopFigure::kAllocated, std::clamp<int64_t>(bytes, 0, kLargest));
}

// The agent tells it when it is over, and some seconds late. How much of it can belong to the last span is settled with
// that, and added up for the process there.
void TopModel::blocked(const Who& who, int64_t begin_ns, int64_t end_ns) {
  begin_ns = std::max(begin_ns, begin_ns_);
  if (end_ns <= begin_ns) return;
  Thread& thread = row_of(who);
  thread.figures[at(TopFigure::kBlocked)].add(static_cast<double>(std::min(end_ns - begin_ns, kLargest)));
  thread.known |= bit(TopFigure::kBlocked);
}

TopModel::Counted& TopModel::engine(std::string_view name) {
  auto known = engines_.find(name);
  if (known == engines_.end()) {
    known = engines_.emplace(engines_.size() < kMostEngines ? std::string(name) : "", Counted()).first;
  }
  return known->second;
}

void TopModel::counted(std::string_view name, uint64_t taken, uint64_t failed) {
  Counted& counts = engine(name);
  counts.taken = taken;
  counts.failed = failed;
}

void TopModel::dropped(std::string_view name, std::string_view cause, uint64_t count) {
  auto& causes = engine(name).dropped;
  const auto known = causes.find(cause);
  if (known != causes.end()) {
    known->second = count;
  } else if (causes.size() < kMostCauses) {
    causes.emplace(std::string(cause), count);
  }
}

void TopModel::overhead(int64_t in_app_threads_ns) {
  const int64_t now = std::clamp<int64_t>(in_app_threads_ns, 0, kLargest);
  own_app_.add(static_cast<double>(std::max<int64_t>(0, now - own_app_ns_)));
  own_app_ns_ = now;
}

void TopModel::engine_runs(std::string_view name, bool runs) {
  if (name == "alloc") alloc_runs_ = runs;
  if (name == "lock") lock_runs_ = runs;
}

void TopModel::ended_but(std::span<const int64_t> os_ids) {
  for (auto& [id, thread] : threads_) {
    if (id.os_id > 0 && !std::binary_search(os_ids.begin(), os_ids.end(), id.os_id)) thread.has_ended = true;
  }
}

bool TopModel::settle() {
  if (round_ns_ == settled_ns_) return false;
  const auto span = static_cast<double>(round_ns_ - settled_ns_);
  const double decay = std::exp(-span / kMemory);
  settled_ns_ = round_ns_;
  fold_ended_threads();
  const auto settle_all = [decay](auto& amounts) {
    for (TopAmount& amount : amounts) amount.settle(decay);
  };
  const auto settle_methods = [decay](OfMethods& methods) {
    for (auto& [index, amounts] : methods) {
      amounts.self.settle(decay);
      amounts.total.settle(decay);
    }
  };
  for (auto& [id, thread] : threads_) {
    TopAmount& blocked = thread.figures[at(TopFigure::kBlocked)];
    const double told = blocked.fresh();
    if (!thread.together) blocked.limit_fresh(span);
    process_[at(TopFigure::kBlocked)].add(blocked.fresh());
    process_[at(TopFigure::kBlocked)].add_to_all(told - blocked.fresh());
    settle_all(thread.figures);
    settle_methods(thread.methods);
    const bool quiet = std::all_of(thread.figures.begin(), thread.figures.end(),
                                   [](const TopAmount& amount) { return amount.is_quiet(); });
    thread.quiet = quiet ? thread.quiet + 1 : 0;
    if (thread.methods.size() > kMostOfAThread) fold_methods(thread.methods, kMostOfAThread / 2);
  }
  settle_all(process_);
  settle_all(kinds_);
  settle_methods(methods_);
  own_app_.settle(decay);
  time_.settle(decay);
  samples_.settle(decay);
  if (names_.size() > kMostMethods / 2 || pairs_ > kMostPairs / 2) forget_methods();
  return true;
}

// Called before the amounts are settled: what is fresh will be seen first.
void TopModel::fold_ended_threads() {
  const bool crowded = threads_.size() > kMostThreads / 2;
  for (auto it = threads_.begin(); it != threads_.end();) {
    Thread& thread = it->second;
    const bool silent = thread.quiet >= kSilence && crowded;
    const bool anything_new = std::any_of(thread.figures.begin(), thread.figures.end(), [](TopAmount amount) {
      amount.settle(0);
      return !amount.is_quiet();
    });
    if (thread.together || !(thread.has_ended || silent) || anything_new) {
      ++it;
      continue;
    }
    fold_into_ended(thread);
    it = threads_.erase(it);
  }
}

void TopModel::fold_into_ended(Thread& thread) {
  ++threads_ended_;
  Thread& ended = *find({.id = kEnded, .name = kEndedThreads});
  for (size_t i = 0; i < kTopFigures; ++i) ended.figures[i].take_over(thread.figures[i]);
  ended.known |= thread.known;
  pairs_ -= thread.methods.size();
  for (const auto& [index, amounts] : thread.methods) {
    const bool full = ended.methods.size() >= 2 * kMostOfAThread && ended.methods.count(index) == 0;
    const auto [mine, is_new] = ended.methods.try_emplace(full ? 0 : index);
    if (is_new) ++pairs_;
    mine->second.self.take_over(amounts.self);
    mine->second.total.take_over(amounts.total);
  }
}

// Those that have the least of both what is new and all become [other methods].
void TopModel::fold_methods(OfMethods& methods, size_t most) {
  if (methods.size() <= most) return;
  double lately = 0, all = 0;
  for (const auto& [index, amounts] : methods) {
    lately = std::max(lately, amounts.total.of(TopSpan::kSmooth));
    all = std::max(all, amounts.total.of(TopSpan::kAll));
  }
  std::vector<std::pair<double, uint32_t>> order;
  for (const auto& [index, amounts] : methods) {
    if (index == 0) continue;
    const double weight = (lately > 0 ? amounts.total.of(TopSpan::kSmooth) / lately : 0) +
                          (all > 0 ? amounts.total.of(TopSpan::kAll) / all : 0);
    order.emplace_back(weight, index);
  }
  std::sort(order.begin(), order.end(), std::greater<>());
  const bool is_thread = &methods != &methods_;
  for (size_t i = most; i < order.size(); ++i) {
    const auto folded = methods.extract(order[i].second);
    if (is_thread) --pairs_;
    const auto [other, is_new] = methods.try_emplace(0);
    if (is_thread && is_new) ++pairs_;
    // Of what several methods have in all, what each has alone can be added up; the rest can't.
    other->second.self.take_over(folded.mapped().self);
    other->second.total.take_over(folded.mapped().self);
  }
}

// Names that nobody needs any more go.
void TopModel::forget_methods() {
  fold_methods(methods_, kMostMethods / 4);
  if (pairs_ > kMostPairs / 2) {
    const size_t each = std::max<size_t>(8, kMostPairs / 4 / std::max<size_t>(1, threads_.size()));
    for (auto& [id, thread] : threads_) fold_methods(thread.methods, each);
  }
  std::vector<uint32_t> renamed(names_.size(), 0);
  std::vector<std::string> names(1, std::string(kOtherMethods));
  for (uint32_t i = 1; i < names_.size(); ++i) {
    if (methods_.count(i) == 0) continue;
    renamed[i] = static_cast<uint32_t>(names.size());
    names.push_back(std::move(names_[i]));
  }
  const auto rename = [&renamed](OfMethods& methods) {
    OfMethods with_new_names;
    for (const auto& [index, amounts] : methods) {
      const uint32_t now = renamed[index];
      OfMethod& mine = with_new_names[now];
      mine.self.take_over(amounts.self);
      mine.total.take_over(now == 0 && index != 0 ? amounts.self : amounts.total);
    }
    methods = std::move(with_new_names);
  };
  rename(methods_);
  pairs_ = 0;
  for (auto& [id, thread] : threads_) {
    rename(thread.methods);
    pairs_ += thread.methods.size();
  }
  names_ = std::move(names);
  indexes_.clear();
  for (uint32_t i = 1; i < names_.size(); ++i) indexes_.emplace(names_[i], i);
  seen_in_.assign(names_.size(), 0);
}

TopThreadRow TopModel::row(TopThreadId id, const Thread& thread, TopSpan span) const {
  const double time = time_.of(span);
  const auto rate = [&](TopFigure figure) { return time > 0 ? thread.figures[at(figure)].of(span) / time : 0; };
  const auto if_known = [&](TopFigure figure, double unit = 1) {
    return (thread.known & bit(figure)) != 0 ? std::optional<double>(rate(figure) * unit) : std::nullopt;
  };
  constexpr double kPerSecond = 1e9;
  TopThreadRow row;
  row.id = id;
  row.name = thread.name;
  row.kind = thread.kind;
  row.together = thread.together;
  row.cpu = rate(TopFigure::kCpu);
  // What has no account of the kernel's is known by its samples.
  if ((thread.known & bit(TopFigure::kCpu)) == 0) row.cpu = rate(TopFigure::kSampled);
  row.system = if_known(TopFigure::kSystem);
  row.queue = if_known(TopFigure::kQueue);
  row.steal = if_known(TopFigure::kSteal);
  row.voluntary_switches = if_known(TopFigure::kVoluntary, kPerSecond);
  row.involuntary_switches = if_known(TopFigure::kInvoluntary, kPerSecond);
  row.minor_faults = if_known(TopFigure::kMinorFaults, kPerSecond);
  row.major_faults = if_known(TopFigure::kMajorFaults, kPerSecond);
  row.migrations = if_known(TopFigure::kMigrations, kPerSecond);
  if (!thread.together && row.queue && time > 0) row.waiting = std::clamp(1 - row.cpu - *row.queue, 0.0, 1.0);
  if (lock_runs_) row.blocked = thread.together ? rate(TopFigure::kBlocked) : std::min(1.0, rate(TopFigure::kBlocked));
  if (alloc_runs_) row.allocated = rate(TopFigure::kAllocated) * kPerSecond;
  double most = 0;
  uint32_t hottest = 0;
  for (const auto& [index, amounts] : thread.methods) {
    const double self = amounts.self.of(span);
    if (self > most || (self == most && most > 0 && names_[index] < names_[hottest])) {
      most = self;
      hottest = index;
    }
  }
  if (most > 0) row.method = names_[hottest];
  return row;
}

std::vector<TopMethodRow> TopModel::method_rows(const OfMethods& methods, TopSpan span, size_t most) const {
  double sum = 0;
  std::vector<TopMethodRow> rows;
  for (const auto& [index, amounts] : methods) {
    sum += amounts.self.of(span);
    if (amounts.total.of(span) <= 0) continue;
    rows.push_back({names_[index], amounts.self.of(span), amounts.total.of(span)});
  }
  const size_t shown = std::min(most, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                    [](const TopMethodRow& a, const TopMethodRow& b) {
                      return std::tie(b.self, b.total, a.name) < std::tie(a.self, a.total, b.name);
                    });
  rows.resize(shown);
  for (TopMethodRow& row : rows) {
    row.self = sum > 0 ? row.self / sum : 0;
    row.total = sum > 0 ? std::min(1.0, row.total / sum) : 0;
  }
  return rows;
}

TopSnapshot TopModel::snapshot(TopSpan span, std::optional<TopThreadId> methods_of, size_t most_methods) const {
  TopSnapshot out;
  const double time = time_.of(span);
  const auto rate = [&](const TopAmount& amount) { return time > 0 ? amount.of(span) / time : 0; };
  const auto if_known = [&](TopFigure figure) {
    return (known_ & bit(figure)) != 0 ? std::optional<double>(rate(process_[at(figure)])) : std::nullopt;
  };
  out.span = Nanos(static_cast<int64_t>(time));
  out.since_start = Nanos(settled_ns_ - begin_ns_);
  for (size_t i = 0; i < kinds_.size(); ++i) out.cpu[i] = rate(kinds_[i]);
  out.system = if_known(TopFigure::kSystem);
  out.queue = if_known(TopFigure::kQueue);
  out.steal = if_known(TopFigure::kSteal);
  if (lock_runs_) out.blocked = rate(process_[at(TopFigure::kBlocked)]);
  if (alloc_runs_) out.allocated = rate(process_[at(TopFigure::kAllocated)]) * 1e9;
  out.own_app = rate(own_app_);
  for (const auto& [name, counts] : engines_) {
    out.taken += counts.taken;
    out.failed += counts.failed;
    for (const auto& [cause, count] : counts.dropped) out.dropped += count;
  }
  out.threads_ended = threads_ended_;
  out.unlisted = unlisted_;
  out.samples = static_cast<uint64_t>(std::llround(samples_.of(span)));
  for (const auto& [id, thread] : threads_) {
    if (thread.together && std::all_of(thread.figures.begin(), thread.figures.end(),
                                       [&](const TopAmount& amount) { return amount.of(span) < 1; })) {
      continue;
    }
    out.threads.push_back(row(id, thread, span));
  }
  if (!methods_of) {
    out.methods = method_rows(methods_, span, most_methods);
  } else if (const auto thread = threads_.find(*methods_of); thread != threads_.end()) {
    out.methods = method_rows(thread->second.methods, span, most_methods);
  }
  return out;
}

}  // namespace tarsier::analysis
