#include "agent/engines/counters.h"

#include <sys/resource.h>

#include <climits>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "linux/perf_counters.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

class CountersEngine final : public Engine, private ThreadListener {
 public:
  explicit CountersEngine(EngineContext& context) : context_(context) {
    // As for the clock of perf: the application must find its own descriptors as before.
    rlimit limit{};
    const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT_MAX;
    most_files_ = known ? static_cast<size_t>(limit.rlim_cur) / 8 : size_t{1} << 16;
  }
  ~CountersEngine() override { context_.threads.remove_listener(*this); }

  Result<control::EngineReport> probe() override {
    std::vector<linux::PerfEvent> wanted;
    for (std::string_view rest = context_.options.counters; !rest.empty();) {
      const size_t comma = std::min(rest.find(','), rest.size());
      auto event = linux::find_perf_event(rest.substr(0, comma));
      if (event) {
        wanted.push_back(std::move(*event));
      } else if (event.error().code == Errc::kUsage) {
        return std::move(event).error();
      } else {
        left_out_ += "; without " + event.error().what;
      }
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    linux::UsableEvents usable = linux::usable_events(std::move(wanted));
    events_ = std::move(usable.events);
    for (const auto& [which, why] : usable.left_out)
      left_out_.append("; without ").append(which).append(": ").append(why);
    if (events_.empty()) return Error{Errc::kUnsupported, left_out_.substr(std::min<size_t>(left_out_.size(), 2))};
    std::string counted;
    for (const linux::PerfEvent& event : events_) counted.append(counted.empty() ? "" : ", ").append(described(event));
    control::EngineReport report;
    report.name = name();
    report.mechanism = "perf";
    report.why = counted + left_out_;
    return report;
  }

  Status start() override {
    context_.threads.add_listener(*this);
    look_at_others();
    return {};
  }
  bool drain() override { return false; }
  [[nodiscard]] Nanos patience() const override { return seconds(1); }

  void settle() override {
    if (!stopped_) look_at_others();
    std::vector<Ended> all;
    {
      const std::lock_guard guard(lock_);
      all = std::exchange(ended_, {});
      for (auto& [tid, counted] : counted_) all.push_back({counted.who, read(counted.counters)});
    }
    // The registry's lock comes before ours. Of a Java thread the name may have changed.
    for (const Ended& each : all) {
      const auto java = each.who.serial == 0 ? std::nullopt : context_.threads.find(each.who.serial);
      write(java ? *java : each.who, each.values);
    }
  }

  void stop() override {
    if (std::exchange(stopped_, true)) return;
    context_.threads.remove_listener(*this);
    settle();
    const std::lock_guard guard(lock_);
    counted_.clear();
  }

  EngineStats stats() override {
    const std::lock_guard guard(lock_);
    EngineStats stats;
    stats.counters["threads counted"] = threads_counted_;
    if (without_ > 0) stats.counters["threads without counters"] = without_;
    return stats;
  }

  std::vector<std::string> warnings() override {
    std::vector<std::string> all;
    const std::lock_guard guard(lock_);
    if (without_ > 0) {
      all.push_back(
          std::to_string(without_) +
          " threads are not counted: each takes descriptors, and an eighth of them is ours at most (ulimit -n)");
    }
    return all;
  }

  [[nodiscard]] std::string_view name() const override { return "counters"; }
  [[nodiscard]] bool dispensable() const override { return true; }

 private:
  using Value = linux::ThreadCounters::Value;
  struct Counted {
    linux::ThreadCounters counters;
    JavaThread who;  // without a serial it is one of the JVM's own, which the registry does not have
  };
  // What is to be written.
  struct Ended {
    JavaThread who;
    std::vector<Value> values;
  };

  static std::string described(const linux::PerfEvent& event) {
    return event.name + (event.user_only ? " (without the kernel)" : "");
  }

  // Under the registry's lock.
  bool thread_started(const JavaThread& thread) override {
    const std::lock_guard guard(lock_);
    Counted counted;
    counted.who = thread;
    counted_.erase(thread.tid);  // it was there before it was Java's; or the kernel gave its number away
    add(thread.tid, std::move(counted));
    return true;  // whether it is sampled is not our business
  }
  void thread_ended(const JavaThread& thread) override {
    const std::lock_guard guard(lock_);
    const auto it = counted_.find(thread.tid);
    if (it == counted_.end() || it->second.who.serial != thread.serial) return;
    ended_.push_back({thread, read(it->second.counters)});
    counted_.erase(it);
  }

  void add(pid_t tid, Counted counted) {
    if ((counted_.size() + 1) * events_.size() > most_files_ ||
        linux::ThreadCounters::open(tid, events_, counted.counters)) {
      ++without_;
      return;
    }
    ++threads_counted_;
    counted_.insert_or_assign(tid, std::move(counted));
  }

  // The JVM's own threads that are new, and those that are gone: what they had counted is as of the last look.
  void look_at_others() {
    const std::vector<pid_t> tids = linux::thread_ids();
    const std::unordered_set<pid_t> listed(tids.begin(), tids.end());
    const auto is_gone = [&](pid_t tid) { return !listed.contains(tid) && !linux::thread_cpu_time(tid); };
    std::erase_if(refused_, is_gone);
    for (const pid_t tid : tids) {
      if (context_.threads.find_by_tid(tid)) continue;
      const std::lock_guard guard(lock_);
      if (counted_.contains(tid) || refused_.contains(tid)) continue;
      Counted counted;
      counted.who.tid = tid;
      counted.who.name = linux::thread_name(tid);
      counted.who.kind_of_jvm = "vm";  // no Java name
      const int64_t before = without_;
      add(tid, std::move(counted));
      if (without_ > before) refused_.insert(tid);
    }
    const std::lock_guard guard(lock_);
    std::erase_if(counted_, [&](const auto& each) { return each.second.who.serial == 0 && is_gone(each.first); });
  }

  [[nodiscard]] static std::vector<Value> read(const linux::ThreadCounters& counters) {
    std::vector<Value> values(counters.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = counters.read(i).value_or(Value());
    return values;
  }

  void write(const JavaThread& who, const std::vector<Value>& values) {
    const recording::ThreadId id = context_.writer.thread(who.info());
    for (size_t i = 0; i < values.size() && i < events_.size(); ++i) {
      const recording::Value event[] = {id, std::string_view(events_[i].name), values[i].scaled(),
                                        values[i].enabled.count, values[i].running.count};
      context_.writer.event(recording::Event::kThreadCounter, monotonic_now(), event);
    }
  }

  EngineContext& context_;
  std::vector<linux::PerfEvent> events_;
  std::string left_out_;
  size_t most_files_ = 0;
  bool stopped_ = false;
  std::unordered_set<pid_t> refused_;

  std::mutex lock_;  // taken after the registry's
  std::unordered_map<pid_t, Counted> counted_;
  std::vector<Ended> ended_;
  int64_t threads_counted_ = 0, without_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_counters_engine(EngineContext& context) {
  return std::make_unique<CountersEngine>(context);
}

}  // namespace tarsier::agent
