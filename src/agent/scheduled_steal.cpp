#include "agent/scheduled_steal.h"

#include <algorithm>
#include <utility>

#include "agent/steal_account.h"

namespace tarsier::agent {

uint64_t ScheduledSteal::key_of(const ThreadTurns& turns) {
  return uint64_t{turns.cpu} << 32 | static_cast<uint32_t>(turns.tid);
}

ScheduledSteal::ScheduledSteal(const CpuTurns& first, std::span<const Nanos> stolen)
    : at_(first.at), busy_(first.busy), stolen_(stolen.begin(), stolen.end()) {
  for (const ThreadTurns& turns : first.threads) ran_[key_of(turns)] = turns.ran;
}

void ScheduledSteal::settle(const CpuTurns& now, std::span<const Nanos> stolen,
                            std::unordered_map<pid_t, Nanos>& lost) {
  const size_t cpus = std::min(now.busy.size(), stolen.size());
  busy_.resize(std::max(busy_.size(), cpus));
  stolen_.resize(std::max(stolen_.size(), cpus));
  const Nanos wall = std::max(now.at - at_, Nanos(0));
  std::vector<std::vector<pid_t>> who(cpus);
  std::vector<std::vector<Nanos>> ran(cpus);
  // Those that are not among them any more are forgotten.
  std::unordered_map<uint64_t, Nanos> last = std::exchange(ran_, {});
  for (const ThreadTurns& turns : now.threads) {
    const auto before = last.find(key_of(turns));
    const Nanos since = before != last.end() ? before->second : Nanos(0);
    ran_[key_of(turns)] = std::max(turns.ran, since);
    if (turns.cpu >= cpus || turns.ran <= since) continue;
    who[turns.cpu].push_back(turns.tid);
    // A turn of which nobody knew whose it was until it ended may have begun long ago.
    ran[turns.cpu].push_back(std::min(turns.ran - since, wall));
  }
  std::vector<Nanos> parts;
  for (size_t cpu = 0; cpu < cpus; ++cpu) {
    const Nanos busy = std::min(now.busy[cpu] - busy_[cpu], wall);
    // Ticks come late: what was stolen from nobody will be somebody's next time.
    if (busy.count <= 0 && ran[cpu].empty()) continue;
    parts.assign(ran[cpu].size(), Nanos(0));
    split_steal(std::max(stolen[cpu] - stolen_[cpu], Nanos(0)), std::max(busy, Nanos(0)), ran[cpu], parts);
    for (size_t i = 0; i < parts.size(); ++i) lost[who[cpu][i]] += parts[i];
    busy_[cpu] = std::max(busy_[cpu], now.busy[cpu]);
    stolen_[cpu] = std::max(stolen_[cpu], stolen[cpu]);
  }
  at_ = std::max(at_, now.at);
}

void ScheduledSteal::forget_all_but(const std::unordered_set<pid_t>& tids) {
  std::erase_if(ran_, [&](const auto& each) { return !tids.contains(static_cast<pid_t>(each.first & 0xffffffff)); });
}

}  // namespace tarsier::agent
