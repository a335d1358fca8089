// What `tarsier top` knows: for every thread and method of a running JVM how much of everything there was since the
// last look, lately, and since the beginning. Fed with plain values (top_reader.h takes them from a recording's
// events), in bounded memory: methods that hardly count become one row, and so do threads that have ended.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/model.h"
#include "analysis/top_amount.h"
#include "base/units.h"

namespace tarsier::analysis {

inline constexpr size_t kThreadKinds = static_cast<size_t>(ThreadKind::kJfr) + 1;

struct TopThreadId {
  int64_t os_id = 0, java_id = 0;
  auto operator<=>(const TopThreadId&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

struct TopThreadRow {
  TopThreadId id;
  std::string name;
  ThreadKind kind = ThreadKind::kOther;
  bool together = false;  // no thread, but what several have used
  // In CPUs: 1.0 is all of one. Nothing: not recorded.
  double cpu = 0;
  std::optional<double> system, queue, steal;
  std::optional<double> waiting;    // neither running nor in the run queue; a share of the time
  std::optional<double> blocked;    // by monitors, and by locks if their owners are recorded; part of `waiting`
  std::optional<double> allocated;  // bytes per second
  // Per second.
  std::optional<double> voluntary_switches, involuntary_switches, minor_faults, major_faults, migrations;
  std::string method;  // with the most self time; empty: no sample
};

struct TopMethodRow {
  std::string name;
  double self = 0, total = 0;  // shares of the sampled CPU time
};

struct TopSnapshot {
  Nanos span;                              // what the figures are about
  Nanos since_start;                       // of the session
  std::array<double, kThreadKinds> cpu{};  // in CPUs, by ThreadKind
  std::optional<double> system, queue, steal, blocked, allocated;
  double own_app = 0;  // our handlers in the application's threads, in CPUs; of our own threads: `cpu`
  uint64_t taken = 0, dropped = 0, failed = 0;  // samples and events of all engines, since the start
  uint64_t threads_ended = 0;
  uint64_t unlisted = 0;              // accounts of threads beyond kMostThreads, which are nowhere
  uint64_t samples = 0;               // that the methods' shares are made of, as far as this span knows
  std::vector<TopThreadRow> threads;  // those that have ever used CPU time, in no order
  std::vector<TopMethodRow> methods;  // most self time first

  [[nodiscard]] double cpu_of(ThreadKind kind) const { return cpu[static_cast<size_t>(kind)]; }
};

class TopModel {
 public:
  static constexpr size_t kMostThreads = 16'384;
  static constexpr size_t kMostMethods = 8'192;  // names, of all threads
  static constexpr size_t kMostOfAThread = 512;  // methods
  static constexpr size_t kMostPairs = 200'000;  // of a thread and a method
  static constexpr std::string_view kOtherMethods = "[other methods]";
  static constexpr std::string_view kEndedThreads = "[ended threads]";
  static constexpr std::string_view kOtherThreads = "[other threads]";
  static constexpr std::string_view kVirtualThreads = "[virtual threads]";

  // Who an event is about. Virtual threads come and go by the million, and are one row.
  struct Who {
    TopThreadId id;
    std::string_view name;
    bool is_virtual = false;
  };
  // Of the cumulative figures; nothing: not recorded.
  using Account = std::array<std::optional<int64_t>, kCumulativeFigures>;

  TopModel();

  void begin(int64_t time_ns);
  // All that happened until then has been told.
  void end_round(int64_t time_ns);

  void account(const Who& who, ThreadKind kind, const Account& account, int64_t time_ns);
  // The index is valid until settle().
  uint32_t method(std::string_view class_name, std::string_view name);
  void sample(const Who& who, std::span<const uint32_t> methods, int64_t weight_ns);  // innermost first
  void allocated(const Who& who, int64_t bytes);
  void blocked(const Who& who, int64_t begin_ns, int64_t end_ns);
  // Cumulative, of an engine.
  void counted(std::string_view engine, uint64_t taken, uint64_t failed);
  void dropped(std::string_view engine, std::string_view cause, uint64_t count);
  void overhead(int64_t in_app_threads_ns);
  // Whether what this engine tells is known.
  void engine_runs(std::string_view engine, bool runs);

  // Those that are not in `os_ids` (sorted) have ended: their rows go, once they have been seen in a snapshot.
  void ended_but(std::span<const int64_t> os_ids);
  // What was told since the last call is the last span from now on. False: no round has ended since, nothing changes.
  bool settle();

  // `methods_of`: only of that thread.
  [[nodiscard]] TopSnapshot snapshot(TopSpan span, std::optional<TopThreadId> methods_of = {},
                                     size_t most_methods = 500) const;
  [[nodiscard]] size_t threads() const { return threads_.size(); }
  [[nodiscard]] size_t methods() const { return names_.size(); }
  [[nodiscard]] size_t pairs() const { return pairs_; }

 private:
  struct OfMethod {
    TopAmount self, total;
  };
  using OfMethods = std::unordered_map<uint32_t, OfMethod>;
  struct Thread {
    std::string name;
    ThreadKind kind = ThreadKind::kOther;
    bool together = false;
    std::array<TopAmount, kTopFigures> figures{};
    std::array<int64_t, kCumulativeFigures> counters{};
    uint32_t known = 0;    // bits of figures
    int64_t usage_ns = 0;  // when the agent last had more than the CPU time to tell
    bool has_ended = false;
    int quiet = 0;  // settles without anything new
    OfMethods methods;
  };
  struct Counted {
    uint64_t taken = 0, failed = 0;
    std::map<std::string, uint64_t, std::less<>> dropped;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  Thread* find(const Who& who);
  Thread& row_of(const Who& who);  // or the one for those that have none of their own
  Counted& engine(std::string_view name);
  void add(Thread& thread, TopFigure figure, int64_t amount);
  void add_method(OfMethods& methods, uint32_t method, bool self, double weight, bool bounded);
  void fold_methods(OfMethods& methods, size_t most);
  void forget_methods();
  void fold_ended_threads();
  void fold_into_ended(Thread& thread);
  [[nodiscard]] TopThreadRow row(TopThreadId id, const Thread& thread, TopSpan span) const;
  [[nodiscard]] std::vector<TopMethodRow> method_rows(const OfMethods& methods, TopSpan span, size_t most) const;

  std::map<TopThreadId, Thread> threads_;
  std::array<TopAmount, kTopFigures> process_{};
  std::array<TopAmount, kThreadKinds> kinds_{};
  uint32_t known_ = 0;
  TopAmount own_app_;
  int64_t own_app_ns_ = 0;
  TopAmount time_, samples_;
  int64_t begin_ns_ = 0, round_ns_ = 0, settled_ns_ = 0;
  std::map<std::string, Counted, std::less<>> engines_;
  bool alloc_runs_ = false, lock_runs_ = false;
  uint64_t threads_ended_ = 0, unlisted_ = 0;

  std::vector<std::string> names_;  // 0: kOtherMethods
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> indexes_;
  std::vector<uint64_t> seen_in_;  // by method: the last sample that had it
  uint64_t sample_ = 0;
  OfMethods methods_;
  size_t pairs_ = 0;
  std::string name_;  // reused
};

}  // namespace tarsier::analysis
