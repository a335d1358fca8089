#include "agent/steal_account.h"

#include <algorithm>
#include <numeric>

namespace tarsier::agent {
namespace {

__extension__ using Wide = __int128;

Nanos part_of(Nanos stolen, Nanos cpu, Nanos whole) {
  return Nanos(static_cast<int64_t>(static_cast<Wide>(stolen.count) * cpu.count / whole.count));
}

}  // namespace

Nanos split_steal(Nanos stolen, Nanos whole, std::span<const Nanos> cpu, std::span<Nanos> out) {
  const Nanos used = std::accumulate(cpu.begin(), cpu.end(), Nanos(0));
  whole = std::max(whole, used);
  Nanos sum;
  for (size_t i = 0; i < cpu.size(); ++i) {
    out[i] = whole.count == 0 ? Nanos(0) : part_of(stolen, cpu[i], whole);
    sum += out[i];
  }
  return sum;
}

void StealAccount::look(const linux::MachineTimes& now) {
  last_.busy = std::max(last_.busy, now.busy);
  last_.idle = std::max(last_.idle, now.idle);
  last_.steal = std::max(last_.steal, now.steal);
}

bool StealAccount::is_due(Nanos now) const {
  constexpr int64_t kEnoughTicks = 4;
  const Nanos counted = last_.busy - settled_.busy + (last_.steal - settled_.steal);
  return counted.count >= kEnoughTicks * linux::machine_tick().count || now - settled_at_ >= seconds(1);
}

void StealAccount::settle(Nanos now, std::span<const Nanos> cpu, std::span<Nanos> out) {
  const Nanos stolen = last_.steal - settled_.steal;
  const Nanos busy = last_.busy - settled_.busy;
  const Nanos used = std::accumulate(cpu.begin(), cpu.end(), Nanos(0));
  const Nanos whole = std::max(included_ ? busy + stolen : busy, used);
  const Nanos of_threads = split_steal(stolen, whole, cpu, out);
  const Nanos of_others = whole.count == 0 ? Nanos(0) : part_of(stolen, whole - used, whole);
  sums_.busy += busy;
  sums_.idle += last_.idle - settled_.idle;
  sums_.stolen += stolen;
  sums_.of_threads += of_threads;
  sums_.of_others += of_others;
  sums_.of_nobody += stolen - of_threads - of_others;
  settled_ = last_;
  settled_at_ = now;
}

}  // namespace tarsier::agent
