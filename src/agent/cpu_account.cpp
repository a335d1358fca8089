#include "agent/cpu_account.h"

#include <algorithm>
#include <unordered_set>

#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

constexpr std::string_view kOwnKind = "tarsier";

struct Kind {
  std::string_view prefix;
  std::string_view kind;
};
// Names of HotSpot's own threads, 8 to 25. Prefixes, since the kernel keeps only 15 characters. (Builds of 8 that are
// some years old name no native thread: what they use is shown as "other".)
constexpr Kind kKinds[] = {
    {"GC Thread", "gc"},
    {"GC task thread", "gc"},
    {"G1 ", "gc"},
    {"Gang worker", "gc"},
    {"ParGC", "gc"},
    {"Parallel GC", "gc"},
    {"Concurrent Mark", "gc"},
    {"CMS ", "gc"},
    {"Surrogate Locke", "gc"},
    {"Shenandoah", "gc"},
    {"ZWorker", "gc"},
    {"ZDriver", "gc"},
    {"ZDirector", "gc"},
    {"ZStat", "gc"},
    {"ZUncommitter", "gc"},
    {"ZUnmapper", "gc"},
    {"XWorker", "gc"},
    {"XDriver", "gc"},
    {"XDirector", "gc"},
    {"XStat", "gc"},
    {"XUncommitter", "gc"},
    {"XUnmapper", "gc"},
    {"RuntimeWorker", "gc"},
    {"StrDedup", "gc"},
    {"StringDedup", "gc"},
    {"String Dedup", "gc"},
    {"C1 Compiler", "jit"},
    {"C2 Compiler", "jit"},
    {"Sweeper thread", "jit"},
    {"VM Thread", "vm"},
    {"VM Periodic", "vm"},
    {"Service Thread", "vm"},
    {"Monitor Deflat", "vm"},
    {"tarsier", kOwnKind},
};

}  // namespace

std::string_view kind_of_native_thread(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (name.substr(0, kind.prefix.size()) == kind.prefix) return kind.kind;
  }
  return "other";
}

void CpuAccount::update() {
  // First, so that what is used while we look at the threads does not count as nobody's.
  const Nanos process_cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
  if (first_) process_cpu_at_start_ = process_cpu;
  // Threads that have ended since: what they used after the last look, or all of it if they lived between two looks.
  for (const JavaThread& thread : threads_.ended()) {
    const auto it = entries_.find(thread.tid);
    if (thread.cpu_at_end.count == 0) continue;  // went without a word
    // A clock that went backwards is that of another native thread with the same id.
    const bool same_native = it != entries_.end() && it->second.last <= thread.cpu_at_end;
    // Without a Java id it was only seen before Java threads were registered, when the session began.
    const bool known = same_native && (it->second.java_id == thread.java_id || it->second.java_id == 0);
    Entry entry = known ? it->second : Entry();
    if (!known && same_native) entry.at_start = it->second.last;
    entry.kind = "app";
    entry.name = thread.name;
    entry.java_id = thread.java_id;
    entry.sampled = thread.sampled;
    known_ += thread.cpu_at_end - (known ? entry.last : entry.at_start);
    entry.last = thread.cpu_at_end;
    entry.id = writer_.thread(thread.info());
    entry.generation = writer_.generation();
    write(entry);
    if (known) it->second = std::move(entry);
  }
  const auto tids = linux::thread_ids();
  const std::unordered_set<pid_t> present(tids.begin(), tids.end());
  for (auto it = entries_.begin(); it != entries_.end();) {
    it = present.count(it->first) == 0 ? entries_.erase(it) : std::next(it);
  }
  for (const pid_t tid : tids) {
    const auto cpu = linux::thread_cpu_time(tid);
    if (!cpu) continue;
    auto [it, is_new] = entries_.try_emplace(tid);
    Entry& entry = it->second;
    if (is_new || *cpu < entry.last) {  // less than before: another thread with the same id
      entry = Entry();
      entry.name = linux::thread_name(tid);
      entry.kind = kind_of_native_thread(entry.name);
      entry.at_start = entry.last = first_ ? *cpu : Nanos(0);
    }
    if (entry.kind == kOwnKind) own_cpu_ += *cpu - entry.last;
    identify(tid, entry);
    if (*cpu == entry.last) continue;
    known_ += *cpu - entry.last;
    entry.last = *cpu;
    write(entry);
  }
  account_for_ends(process_cpu);
  first_ = false;
}

void CpuAccount::account_for_ends(Nanos process_cpu) {
  constexpr Nanos kWorthSaying = millis(1);  // below, it may be that the clocks were not read at the same moment
  const Nanos used = process_cpu - process_cpu_at_start_ - known_;
  if (used < kWorthSaying || used <= after_ends_.last) return;
  after_ends_.last = used;
  after_ends_.kind = "vm";
  after_ends_.id = writer_.thread({"ending threads", 0, "", 0, false});
  write(after_ends_);
}

void CpuAccount::identify(pid_t tid, Entry& entry) {
  const auto thread = threads_.find_by_tid(tid);
  if (!thread && entry.java_id == 0) entry.sampled = threads_.follows_jvm_thread(tid);
  if (thread && thread->java_id != entry.java_id) {
    if (entry.java_id != 0) entry.at_start = entry.last;  // what was used so far belongs to the one before
    entry.java_id = thread->java_id;
    entry.sampled = thread->sampled;
    entry.kind = "app";
    entry.name = thread->name;
    entry.generation = ~uint64_t{0};
  }
  if (entry.generation == writer_.generation()) return;
  entry.generation = writer_.generation();
  entry.id = writer_.thread({entry.name, tid, entry.java_id != 0 ? entry.name : "", entry.java_id, false});
}

void CpuAccount::write(const Entry& entry) {
  const recording::Value values[] = {entry.id, entry.kind, static_cast<int64_t>(entry.sampled),
                                     (entry.last - entry.at_start).count};
  writer_.event(recording::Event::kThreadCpu, monotonic_now(), values);
}

}  // namespace tarsier::agent
