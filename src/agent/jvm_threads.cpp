#include "agent/jvm_threads.h"

#include <algorithm>

#include "agent/cpu_account.h"
#include "agent/thread_kind.h"
#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

// What a thread of ours, or of nobody's, is called does not tell: those of kinds that we know are the JVM's.
bool is_of_jvm(std::string_view kind) {
  return kind == "gc" || kind == "jit" || kind == "vm";
}

}  // namespace

void JvmThreads::look_if_due() {
  if (monotonic_now() < next_) return;
  const Nanos before = clock_now(CLOCK_THREAD_CPUTIME_ID);
  look();
  const Nanos took = clock_now(CLOCK_THREAD_CPUTIME_ID) - before;
  next_ = monotonic_now() + std::max(millis(100), Nanos(took.count * 100));
}

void JvmThreads::look() {
  for (auto& [tid, known] : known_) known.seen = false;
  for (const pid_t tid : linux::thread_ids()) {
    const auto cpu = linux::thread_cpu_time(tid);
    if (!cpu) continue;
    auto [it, is_new] = known_.try_emplace(tid);
    Known& known = it->second;
    if (!is_new && *cpu < known.cpu) {
      if (known.serial != 0) threads_.end_jvm_thread(known.serial);
      known = {};
      is_new = true;
    }
    known.cpu = *cpu;
    known.seen = true;
    // One that has just begun has its creator's name.
    constexpr Nanos kNamedBy = millis(1);
    if (known.serial != 0 || (!is_new && known.named)) continue;
    known.named = *cpu > kNamedBy;
    std::string name = linux::thread_name(tid);
    const std::string_view kind = kind_of_native_thread(name);
    if (is_of_jvm(kind)) known.serial = threads_.add_jvm_thread(tid, std::move(name), kind);
  }
  std::erase_if(known_, [this](const auto& entry) {  // whoever ends one that lives frees what its handler uses
    if (entry.second.seen || linux::thread_cpu_time(entry.first)) return false;
    if (entry.second.serial != 0) threads_.end_jvm_thread(entry.second.serial);
    return true;
  });
}

}  // namespace tarsier::agent
