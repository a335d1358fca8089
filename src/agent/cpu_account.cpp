#include "agent/cpu_account.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "agent/thread_kind.h"
#include "base/clock.h"
#include "base/parse.h"
#include "linux/procfs.h"
#include "linux/steal_in_cpu_time.h"

namespace tarsier::agent {
namespace {

// How many threads' beginnings are read when a session starts, some 30 us each. Of the others only what they do after
// they were first seen running counts.
constexpr size_t kMostAtStart = 2000;

int64_t nanos_or_unknown(const std::optional<Nanos>& time, const std::optional<Nanos>& since) {
  return time ? std::max<int64_t>(time->count - since.value_or(Nanos(0)).count, 0) : recording::kUnknown;
}
int64_t count_or_unknown(const std::optional<int64_t>& count, const std::optional<int64_t>& since) {
  return count ? std::max<int64_t>(*count - since.value_or(0), 0) : recording::kUnknown;
}

}  // namespace

CpuAccount::CpuAccount(ThreadRegistry& threads, recording::Writer& writer, const std::string& proc_root)
    : threads_(threads), writer_(writer), cpus_(std::max(linux::usable_cpus(), 1)) {
  after_ends_.kind = "vm";
  after_ends_.name = "ending threads";
  auto machine = linux::MachineClock::open(proc_root);
  if (!machine) {
    source_ = machine.error().what;
    return;
  }
  machine_ = std::move(*machine);
  source_ = proc_root + "/stat";
  if (const auto times = machine_->read()) {
    steal_.emplace(*times, monotonic_now());
  } else {
    source_ += " does not say how long the CPUs were busy";
  }
}

void CpuAccount::follow(Result<TurnsReader> turns) {
  if (!steal_) return;
  if (!turns) {
    source_ += "; who was on which CPU is not known: " + turns.error().what;
    return;
  }
  turns_ = std::move(*turns);
  scheduled_.emplace(turns_->read(), machine_->read_cpu_steal());
  source_ += "; who was on which CPU: eBPF on sched_switch";
}

CpuAccount::Resources CpuAccount::resources_of(const Entry& entry) {
  const linux::ThreadUsage &now = entry.usage, &then = entry.usage_at_start;
  Resources values = {nanos_or_unknown(now.system, then.system),
                      nanos_or_unknown(now.queued, then.queued),
                      count_or_unknown(now.voluntary_switches, then.voluntary_switches),
                      count_or_unknown(now.involuntary_switches, then.involuntary_switches),
                      count_or_unknown(now.minor_faults, then.minor_faults),
                      count_or_unknown(now.major_faults, then.major_faults),
                      count_or_unknown(now.migrations, then.migrations)};
  // The kernel's ticks and its clock are not quite the same.
  values[0] = std::min(values[0], (entry.last - entry.at_start).count);
  return values;
}

void CpuAccount::used(Entry& entry, Nanos cpu) {
  const Nanos since = cpu - entry.last;
  if (entry.kind == kOwnKind) own_cpu_ += since;
  known_ += since;
  entry.unsettled += since;
  entry.last = cpu;
}

void CpuAccount::look(Nanos interval) {
  constexpr int64_t kShare = 33;  // of the time that looks may take
  const Nanos begin = monotonic_now();
  if (begin < next_look_) return;
  if (const uint64_t tasks = linux::thread_count(); tasks != threads_seen_) {
    threads_seen_ = tasks;
    notice_new_threads(linux::thread_ids());
  }
  for (auto& [tid, entry] : entries_) {
    if (!entry.is_known()) identify(entry);
    if (!entry.is_known()) continue;  // whose its time is will be known at the next update
    const auto cpu = linux::thread_cpu_time(tid);
    if (cpu && *cpu > entry.last) used(entry, *cpu);
  }
  look_at_machine();
  settle(false);
  const Nanos end = monotonic_now();
  next_look_ = begin + std::max(interval, Nanos((end - begin).count * kShare));
}

void CpuAccount::look_at_machine() {
  if (!steal_) return;
  if (const auto times = machine_->read()) {
    steal_->look(*times);
    if (times->steal.count == 0 || kind_of_kernel_known_) return;
    const linux::StealInCpuTime kind = linux::find_steal_in_cpu_time();
    kind_of_kernel_known_ = true;
    steal_->set_included(kind.included);
    source_ += "; " + kind.why;
  }
}

void CpuAccount::settle(bool at_once) {
  const Nanos now = monotonic_now();
  if (!steal_ || !(at_once || steal_->is_due(now))) return;
  std::vector<Entry*> who;
  for (auto& [tid, entry] : entries_) {
    if (entry.unsettled.count > 0) who.push_back(&entry);
  }
  for (Entry& entry : ended_) who.push_back(&entry);
  if (after_ends_.unsettled.count > 0) who.push_back(&after_ends_);
  std::vector<Nanos> cpu(who.size()), stolen(who.size());
  for (size_t i = 0; i < who.size(); ++i) cpu[i] = std::exchange(who[i]->unsettled, Nanos(0));
  steal_->settle(now, cpu, stolen);
  for (size_t i = 0; i < who.size(); ++i) who[i]->stolen += stolen[i];
  settle_by_schedule();
  if (steal_->included() || steal_->sums().stolen.count == 0) return;
  const StealAccount::Sums& sums = steal_->sums();
  if (linux::proves_inclusion(known_, sums.busy, sums.stolen, seconds(1))) {
    steal_->set_included(true);
    source_ += "; that is wrong: this process has used more than all CPUs were busy, so it is part of it";
  }
}

void CpuAccount::settle_by_schedule() {
  if (!scheduled_) return;
  std::unordered_map<pid_t, Nanos> lost;
  scheduled_->settle(turns_->read(), machine_->read_cpu_steal(), lost);
  std::unordered_map<pid_t, Entry*> ended;
  for (Entry& entry : ended_) ended[entry.tid] = &entry;
  for (const auto& [tid, time] : lost) {
    const auto living = entries_.find(tid);
    const auto gone = ended.find(tid);
    Entry& entry = living != entries_.end() ? living->second : gone != ended.end() ? *gone->second : after_ends_;
    entry.stolen_by_schedule += time;
  }
}

void CpuAccount::account_for_ended_threads() {
  ended_before_ = std::exchange(ended_now_, {});
  for (const JavaThread& thread : threads_.ended()) {
    if (thread.cpu_at_end.count == 0) continue;  // went without a word
    const auto it = entries_.find(thread.tid);
    const bool is_its = it != entries_.end() && is_of(it->second, thread);
    Entry entry = is_its ? std::move(it->second) : Entry();
    if (!is_its) entry.at_start = entry.last = entry.told_cpu = clock_at_its_last_end(thread.tid, thread.cpu_at_end);
    if (is_its) entries_.erase(it);  // until the kernel has taken it down, it counts among the ending threads
    entry.tid = thread.tid;
    become(entry, thread);
    if (entry.last < thread.cpu_at_end) used(entry, thread.cpu_at_end);
    const std::optional<int64_t> migrations = entry.usage.migrations;
    entry.usage = thread.usage_at_end;
    entry.usage.migrations = migrations;  // nobody tells at the end
    ended_now_[thread.tid] = thread.cpu_at_end;
    ended_.push_back(std::move(entry));
  }
}

bool CpuAccount::is_of(const Entry& entry, const JavaThread& thread) {
  if (entry.java_id != 0) return entry.java_id == thread.java_id;
  // Its native thread was seen before anybody knew whose it is. A clock that went backwards would be that of another
  // one with the same number.
  return entry.last <= thread.cpu_at_end || (thread.started.count != 0 && entry.seen_at >= thread.started);
}

Nanos CpuAccount::clock_at_its_last_end(pid_t tid, Nanos cpu) const {
  for (const auto* ended : {&ended_now_, &ended_before_}) {
    if (const auto it = ended->find(tid); it != ended->end() && it->second <= cpu) return it->second;
  }
  return Nanos(0);
}

void CpuAccount::become(Entry& entry, const JavaThread& thread) {
  if (entry.java_id != thread.java_id && (entry.java_id != 0 || entry.told_cpu > entry.at_start)) {
    // What was used so far belongs to the one before.
    Entry before = entry;
    retire(before);
    entry.at_start = entry.told_cpu = entry.last;
    entry.stolen = entry.stolen_by_schedule = entry.unsettled = Nanos(0);
    entry.usage_at_start = entry.usage;
    entry.told = {};
  }
  entry.java_id = thread.java_id;
  entry.group = thread.group;
  entry.sampled = thread.sampled;
  entry.kind = thread.kind;
  entry.name = thread.name;
  entry.generation = ~uint64_t{0};
}

void CpuAccount::update() {
  update(false);
}

void CpuAccount::finish() {
  update(true);
}

void CpuAccount::update(bool last) {
  // First, so that what is used while we look at the threads does not count as nobody's.
  const Nanos process_cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
  if (first_) {
    process_cpu_at_start_ = process_cpu;
    process_at_start_ = linux::usage_of_process();
  }
  // Threads that have ended since: what they used after the last look, or all of it if they lived between two looks.
  account_for_ended_threads();
  const auto tids = linux::thread_ids();
  std::unordered_set<pid_t> present(tids.begin(), tids.end());
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (present.contains(it->first) || linux::thread_cpu_time(it->first)) {
      present.insert(it->first);
      ++it;
      continue;
    }
    retire(it->second);
    it = entries_.erase(it);
  }
  notice_new_threads(tids);
  std::vector<Entry*> ran;
  for (auto& [tid, entry] : entries_) {
    identify(entry);
    const auto cpu = linux::thread_cpu_time(tid);
    if (cpu && *cpu > entry.last) used(entry, *cpu);
    // At the end everything is told, also of those that have not run since, and had not run enough to be read.
    const bool is_told = entry.last == entry.told_cpu && (!last || entry.last == entry.usage_read_at);
    if (is_told) continue;
    // One that has just been born may be Java's, and will be known by its name then.
    if (!last && !entry.is_known() && entry.seen_at > updated_at_) continue;
    // At the end they are all read.
    if (last || entry.last - entry.usage_read_at >= linux::kWorthReading) read_usage(entry);
    ran.push_back(&entry);
  }
  account_for_ends(process_cpu);
  look_at_machine();
  settle(true);
  if (scheduled_) {
    turns_->forget_all_but(present);
    scheduled_->forget_all_but(present);
    if (const Nanos missed = turns_->missed(); last && missed.count > 0) {
      source_ +=
          "; of " + format_duration(missed) + " on CPUs there was no room for whose it was, it counts as others'";
    }
  }
  for (Entry& entry : std::exchange(ended_, {})) write(entry);
  for (Entry* entry : ran) write(*entry);
  if (last) account_for_ends(linux::usage_of_process());
  if (after_ends_.last != after_ends_.told_cpu || last) write(after_ends_);
  if (!first_) write_machine(process_cpu);
  first_ = false;
  updated_at_ = monotonic_now();
}

void CpuAccount::notice_new_threads(const std::vector<pid_t>& tids) {
  for (const pid_t tid : tids) {
    const auto known = entries_.find(tid);
    const auto cpu = linux::thread_cpu_time(tid);
    // A clock with less than before is that of another thread with the same number.
    if (!cpu || (known != entries_.end() && *cpu >= known->second.last)) continue;
    const Nanos at_end = clock_at_its_last_end(tid, *cpu);
    // It has ended for Java and is on its way out: it counts among the ending threads.
    if (at_end.count > 0 && !threads_.find_by_tid(tid)) continue;
    if (known != entries_.end()) retire(known->second);
    Entry& entry = entries_[tid] = Entry();
    entry.tid = tid;
    entry.seen_at = monotonic_now();  // after its clock was read: it had started by then
    entry.told_at = updated_at_;
    entry.name = linux::thread_name(tid);
    entry.kind = kind_of_native_thread(entry.name);
    entry.at_start = entry.last = entry.told_cpu = entry.usage_read_at = first_ ? *cpu : at_end;
    if (first_ && entries_.size() <= kMostAtStart) {
      entry.usage_at_start = entry.usage = usages_.of(tid).value_or(linux::ThreadUsage());
    }
  }
}

void CpuAccount::retire(Entry& entry) {
  if (entry.unsettled.count > 0 || entry.last != entry.told_cpu) ended_.push_back(std::move(entry));
}

void CpuAccount::read_usage(Entry& entry) {
  const auto usage = usages_.of(entry.tid);
  if (!usage) return;
  // Of one that was there when the session began, among too many.
  if (!entry.usage.user && entry.at_start.count > 0) entry.usage_at_start = *usage;
  entry.usage = *usage;
  entry.usage_read_at = entry.last;
}

void CpuAccount::account_for_ends(Nanos process_cpu) {
  constexpr Nanos kWorthSaying = millis(1);  // below, it may be that the clocks were not read at the same moment
  const Nanos all = process_cpu - process_cpu_at_start_ - known_;
  if (all < kWorthSaying) return;
  after_ends_.unsettled += all;
  after_ends_.last += all;
  known_ += all;
}

void CpuAccount::account_for_ends(const linux::ThreadUsage& process) {
  // What is not known in all is none.
  const auto rest = [](int64_t in_all, int64_t known) {
    return std::max<int64_t>(std::max<int64_t>(in_all, 0) - known, 0);
  };
  Entry all;
  all.usage = process;
  all.usage_at_start = process_at_start_;
  all.last = Nanos(INT64_MAX);
  const Resources in_all = resources_of(all);
  after_ends_.usage.system = Nanos(std::min(rest(in_all[0], known_resources_[0]), after_ends_.last.count));
  after_ends_.usage.voluntary_switches = rest(in_all[2], known_resources_[2]);
  after_ends_.usage.involuntary_switches = rest(in_all[3], known_resources_[3]);
  after_ends_.usage.minor_faults = rest(in_all[4], known_resources_[4]);
  after_ends_.usage.major_faults = rest(in_all[5], known_resources_[5]);
}

void CpuAccount::identify(Entry& entry) {
  const auto thread = threads_.find_by_tid(entry.tid);
  if (!thread && entry.java_id == 0) {
    entry.sampled = threads_.follows_jvm_thread(entry.tid);
    if (!entry.named && !first_) name_again(entry);
  }
  if (thread && thread->java_id != entry.java_id) become(entry, *thread);
  if (thread) entry.name = thread->name;  // it may have been named anew
}

// One that has just begun has its creator's name, and gives itself another as one of the first things that it does.
void CpuAccount::name_again(Entry& entry) {
  constexpr Nanos kNamedBy = seconds(1);
  entry.named = monotonic_now() - entry.seen_at > kNamedBy;  // before it is read
  std::string name = linux::thread_name(entry.tid);
  if (name.empty() || name == entry.name) return;
  entry.kind = kind_of_native_thread(name);
  entry.name = std::move(name);
  entry.generation = ~uint64_t{0};
}

void CpuAccount::write(Entry& entry) {
  const Nanos now = monotonic_now();
  if (entry.generation != writer_.generation()) {
    entry.generation = writer_.generation();
    const std::string_view java_name = entry.java_id != 0 ? std::string_view(entry.name) : std::string_view();
    entry.id = writer_.thread({entry.name, entry.tid, java_name, entry.java_id, false, entry.group});
  }
  const Resources resources = resources_of(entry);
  for (size_t i = 0; i < kResources; ++i) {
    known_resources_[i] +=
        std::max<int64_t>(resources[i], 0) - std::exchange(entry.told[i], std::max<int64_t>(resources[i], 0));
  }
  const recording::Value values[] = {entry.id,
                                     entry.kind,
                                     static_cast<int64_t>(entry.sampled),
                                     (entry.last - entry.at_start).count,
                                     resources[0],
                                     resources[1],
                                     resources[2],
                                     resources[3],
                                     resources[4],
                                     resources[5],
                                     resources[6],
                                     steal_ ? entry.stolen.count : recording::kUnknown,
                                     scheduled_ ? entry.stolen_by_schedule.count : recording::kUnknown};
  writer_.event(recording::Event::kThreadCpu, now, values);
  write_load(entry, now, Nanos(std::max<int64_t>(resources[0], 0)));
}

void CpuAccount::write_load(Entry& entry, Nanos now, Nanos system) {
  const Nanos cpu = entry.last - entry.told_cpu;
  const Nanos in_kernel = std::clamp(system - entry.told_system, Nanos(0), cpu);
  const double whole = static_cast<double>((now - entry.told_at).count) * cpus_;
  if (entry.told_at.count != 0 && whole > 0 && cpu.count > 0) {
    const recording::Value load[] = {entry.id, static_cast<float>(static_cast<double>((cpu - in_kernel).count) / whole),
                                     static_cast<float>(static_cast<double>(in_kernel.count) / whole)};
    writer_.event(recording::Event::kThreadCpuLoad, now, load);
  }
  entry.told_cpu = entry.last;
  entry.told_system = system;
  entry.told_at = now;
}

void CpuAccount::write_machine(Nanos process_cpu) {
  if (!steal_) return;
  const StealAccount::Sums& sums = steal_->sums();
  const recording::Value values[] = {sums.busy.count,
                                     sums.idle.count,
                                     sums.stolen.count,
                                     sums.of_threads.count,
                                     sums.of_others.count,
                                     sums.of_nobody.count,
                                     (process_cpu - process_cpu_at_start_).count,
                                     std::string_view(steal_->included() ? "included" : "excluded"),
                                     std::string_view(source_)};
  writer_.event(recording::Event::kMachineCpu, monotonic_now(), values);
}

}  // namespace tarsier::agent
