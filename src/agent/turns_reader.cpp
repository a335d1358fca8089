#include "agent/turns_reader.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <unordered_map>

#include "base/clock.h"
#include "linux/bpf_map.h"
#include "linux/cpus.h"
#include "linux/kernel_parts.h"

namespace tarsier::agent {

using linux::bpf::CpuTurn;
using linux::bpf::TurnKey;

namespace {

constexpr size_t kBatch = 1024;

uint64_t load(const __u64& value) {
  return std::atomic_ref(const_cast<__u64&>(value)).load(std::memory_order_acquire);
}

}  // namespace

struct TurnsReader::Ongoing {
  Nanos since, busy;
  pid_t tid;
  bool idle;
};

Result<TurnsReader> TurnsReader::make() {
  linux::bpf::Settings settings{};
  if (Status status = linux::aim_at(settings, "/proc/self"); !status) return std::move(status).error();
  auto parts = linux::make_turn_parts(settings);
  if (!parts) return std::move(parts).error();
  return of(std::move(*parts));
}

Result<TurnsReader> TurnsReader::of(linux::TurnParts parts) {
  const size_t cpus = linux::possible_cpus();
  const auto page = static_cast<size_t>(::getpagesize());
  Mapping mapping = Mapping::of(parts.cpus.get(), (cpus * sizeof(CpuTurn) + page - 1) / page * page);
  if (!mapping) return errno_error("mapping what is shared with the eBPF program", errno);
  return TurnsReader(std::move(parts), std::move(mapping), cpus);
}

// The program may just be writing it: what has the same beginning before and after belongs together, nearly always. If
// it does not, the sums are right again next time.
TurnsReader::Ongoing TurnsReader::ongoing_on(size_t cpu) const {
  constexpr int kTries = 4;
  const auto& turn = reinterpret_cast<const CpuTurn*>(cpus_.data())[cpu];
  Ongoing found{};
  for (int i = 0; i < kTries; ++i) {
    const uint64_t since = load(turn.since);
    found = {Nanos(static_cast<int64_t>(since)), Nanos(static_cast<int64_t>(load(turn.busy))),
             static_cast<pid_t>(std::atomic_ref(const_cast<__u32&>(turn.tid)).load(std::memory_order_acquire)),
             std::atomic_ref(const_cast<__u32&>(turn.idle)).load(std::memory_order_acquire) != 0};
    if (load(turn.since) == since) break;
  }
  return found;
}

template <class Visit>
void TurnsReader::for_all_turns(Visit visit) const {
  std::array<TurnKey, kBatch> keys;
  std::array<uint64_t, kBatch> values;
  unsigned place = 0;
  // Bounded: threads that come and go meanwhile shall not keep us here.
  for (size_t read = 0; read < size_t{2} * linux::bpf::kMaxTurns; read += kBatch) {
    size_t count = 0;
    const int error = linux::read_bpf_map(parts_.turns.get(), place, keys.data(), values.data(), kBatch, count);
    for (size_t i = 0; i < count; ++i) visit(keys[i], Nanos(static_cast<int64_t>(values[i])));
    if (error != 0) return;
  }
}

CpuTurns TurnsReader::read() const {
  CpuTurns all;
  all.busy.resize(count_);
  std::vector<ThreadTurns> ongoing;
  all.at = monotonic_now();
  for (uint32_t cpu = 0; cpu < count_; ++cpu) {
    const Ongoing now = ongoing_on(cpu);
    all.busy[cpu] = now.busy;
    if (now.since.count == 0 || now.idle || now.since > all.at) continue;
    all.busy[cpu] += all.at - now.since;
    if (now.tid != 0) ongoing.push_back({now.tid, cpu, all.at - now.since});
  }
  for_all_turns([&](const TurnKey& key, Nanos ran) {
    for (ThreadTurns& turn : ongoing) {
      if (turn.tid == static_cast<pid_t>(key.tid) && turn.cpu == key.cpu) ran += std::exchange(turn.ran, Nanos(0));
    }
    all.threads.push_back({static_cast<pid_t>(key.tid), key.cpu, ran});
  });
  // On a CPU on which they have not been before.
  for (const ThreadTurns& turn : ongoing) {
    if (turn.ran.count > 0) all.threads.push_back(turn);
  }
  return all;
}

void TurnsReader::forget_all_but(const std::unordered_set<pid_t>& tids) const {
  std::vector<TurnKey> gone;
  for_all_turns([&](const TurnKey& key, Nanos) {
    if (!tids.contains(static_cast<pid_t>(key.tid))) gone.push_back(key);
  });
  for (const TurnKey& key : gone) linux::erase_in_bpf_map(parts_.turns.get(), &key);
}

Nanos TurnsReader::missed() const {
  Nanos sum;
  for (size_t cpu = 0; cpu < count_; ++cpu) {
    sum += Nanos(static_cast<int64_t>(load(reinterpret_cast<const CpuTurn*>(cpus_.data())[cpu].no_room)));
  }
  return sum;
}

}  // namespace tarsier::agent
