#include "agent/engines/wakers.h"

#include <iterator>
#include <utility>

#include "linux/bpf/waits_layout.h"

namespace tarsier::agent {

namespace bpf = linux::bpf;

static_assert(static_cast<int>(WokenBy::kUnknown) == bpf::kByUnknown);
static_assert(static_cast<int>(WokenBy::kThread) == bpf::kByThread);
static_assert(static_cast<int>(WokenBy::kJvm) == bpf::kByJvm);
static_assert(static_cast<int>(WokenBy::kProcess) == bpf::kByProcess);
static_assert(static_cast<int>(WokenBy::kInterrupt) == bpf::kByInterrupt);

std::string_view name_of(WokenBy by) {
  constexpr std::string_view kNames[] = {"unknown", "thread", "jvm", "process", "interrupt", "ongoing"};
  static_assert(std::size(kNames) == static_cast<size_t>(WokenBy::kCount));
  return kNames[static_cast<size_t>(by)];
}

void Wakers::give_up(uint32_t woken, const Waker& waker) {
  ++without_wait_;
  if (waker.has_stack) forget_stack_(woken);
}

void Wakers::add(uint32_t woken, Waker waker) {
  ++counts_[static_cast<size_t>(waker.by)];
  const auto known = by_woken_.find(woken);
  if (known != by_woken_.end()) {
    // The stack that was kept of it is the newer one's by now, if that has one.
    ++without_wait_;
    if (known->second.has_stack && !waker.has_stack) forget_stack_(woken);
    known->second = std::move(waker);
    return;
  }
  if (by_woken_.size() >= kMost) return give_up(woken, waker);
  by_woken_.emplace(woken, std::move(waker));
}

std::optional<Waker> Wakers::take(uint32_t woken, uint64_t since) {
  const auto known = by_woken_.find(woken);
  if (known == by_woken_.end()) return std::nullopt;
  Waker waker = std::move(known->second);
  by_woken_.erase(known);
  if (waker.since == since) return waker;
  give_up(woken, waker);
  return std::nullopt;
}

void Wakers::thread_ended(uint32_t serial) {
  const auto known = by_woken_.find(serial);
  if (known == by_woken_.end()) return;
  give_up(serial, known->second);
  by_woken_.erase(known);
}

}  // namespace tarsier::agent
