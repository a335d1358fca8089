// The kernel's account of every thread, sampled or not: CPU time, run queue, context switches, page faults, and its
// part of what the hypervisor has stolen. What GC, JIT and VM threads take must show.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/scheduled_steal.h"
#include "agent/steal_account.h"
#include "agent/thread_registry.h"
#include "agent/turns_reader.h"
#include "base/units.h"
#include "linux/machine_times.h"
#include "linux/thread_usage.h"
#include "recording/writer.h"

namespace tarsier::agent {

class CpuAccount {
 public:
  // `proc_root`: where /proc/stat is read; tests make up their own.
  CpuAccount(ThreadRegistry& threads, recording::Writer& writer, const std::string& proc_root = "/proc");

  // Before the first update: what was stolen is also told by who was on which CPU. Without `turns` the recording says
  // why it is not.
  void follow(Result<TurnsReader> turns);

  // Once before the first engine starts, then about once a second: writes a tarsier.ThreadCpu for each thread that has
  // used CPU time since the last call, and a tarsier.MachineCpu.
  void update();
  // Likewise, at the end: of all threads, all that is known.
  void finish();
  // Between two of those, as often as one likes; it looks once in `interval`, and less if that would take more than
  // three hundredths of the time: at the clocks only, so that what was stolen goes to those that ran meanwhile.
  void look(Nanos interval);

  // Of our own threads, all of which are called tarsier or tarsier-something.
  [[nodiscard]] Nanos own_cpu() const { return own_cpu_; }

 private:
  // In the order of the event's fields: system time, run queue, voluntary and involuntary switches, minor and major
  // faults, migrations. recording::kUnknown: not known.
  static constexpr size_t kResources = 7;
  using Resources = std::array<int64_t, kResources>;

  struct Entry {
    pid_t tid = 0;
    Nanos at_start, last;
    Nanos unsettled;  // used since steal time was last split
    Nanos stolen, stolen_by_schedule;
    std::string name, group;
    std::string_view kind;
    // Who it is, or last was, in Java: a native thread outlives the Java thread that it carried (main, when it destroys
    // the JVM) or carries another one.
    int64_t java_id = 0;
    bool sampled = false;
    bool named = false;  // by itself, if it ever does
    Nanos seen_at;       // first
    recording::ThreadId id;
    uint64_t generation = ~uint64_t{0};  // of the writer, which gave out the id
    linux::ThreadUsage usage_at_start, usage;
    Nanos usage_read_at;  // in its CPU time
    // As of its last event.
    Nanos told_cpu, told_system, told_at;
    Resources told{};

    [[nodiscard]] bool is_known() const { return java_id != 0 || kind != "other"; }
  };

  static Resources resources_of(const Entry& entry);
  void used(Entry& entry, Nanos cpu);
  void look_at_machine();
  void settle(bool at_once);
  void settle_by_schedule();
  void identify(Entry& entry);
  static void name_again(Entry& entry);
  void become(Entry& entry, const JavaThread& thread);
  [[nodiscard]] static bool is_of(const Entry& entry, const JavaThread& thread);
  // A native thread may carry one Java thread after the other. 0: none has ended on it lately.
  [[nodiscard]] Nanos clock_at_its_last_end(pid_t tid, Nanos cpu) const;
  void notice_new_threads(const std::vector<pid_t>& tids);
  void retire(Entry& entry);
  void account_for_ended_threads();
  void account_for_ends(Nanos process_cpu);
  void account_for_ends(const linux::ThreadUsage& process);
  void read_usage(Entry& entry);
  void update(bool last);
  void write(Entry& entry);
  void write_load(Entry& entry, Nanos now, Nanos system);
  void write_machine(Nanos process_cpu);

  ThreadRegistry& threads_;
  recording::Writer& writer_;
  const linux::ThreadUsages usages_;
  std::optional<linux::MachineClock> machine_;
  std::optional<StealAccount> steal_;  // none if the machine's times can't be read
  std::optional<TurnsReader> turns_;
  std::optional<ScheduledSteal> scheduled_;  // if the turns are known
  std::string source_;
  bool kind_of_kernel_known_ = false;
  int cpus_;

  bool first_ = true;
  Nanos updated_at_, next_look_;
  uint64_t threads_seen_ = 0;
  Nanos own_cpu_;
  Nanos process_cpu_at_start_;
  Nanos known_;  // of all threads, since the start
  linux::ThreadUsage process_at_start_;
  Resources known_resources_{};
  // What threads have used after they had ended for Java, until the kernel had taken them down; and others after we had
  // last seen them. Much, if threads live for less than a millisecond.
  Entry after_ends_;
  std::unordered_map<pid_t, Entry> entries_;
  std::unordered_map<pid_t, Nanos> ended_now_, ended_before_;  // Java threads and their clocks at the end
  std::vector<Entry> ended_;                                   // whose part of what was stolen is still to be told
};

}  // namespace tarsier::agent
