#include "agent/engines/lock_threads.h"

#include <algorithm>

#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {

Status LockThreads::take_memory() {
  const int64_t pid_max = linux::read_number("/proc/sys/kernel/pid_max").value_or(1 << 22);
  memory_ = Mapping(static_cast<size_t>(pid_max + 1) * sizeof(void*));
  memo_memory_ = Mapping(kMostMemos * sizeof(LockMemo));
  if (!memory_ || !memo_memory_) return Error{Errc::kFailed, "no memory for the table of threads"};
  auto* memos = reinterpret_cast<LockMemo*>(memo_memory_.data());
  for (size_t i = kMostMemos; i-- > 0;) unused_memos_.push_back(memos + i);
  table_.emplace(memory_.data(), memory_.size() / sizeof(void*));
  return {};
}

bool LockThreads::started(const JavaThread& thread, uint64_t stack_base) {
  auto known = std::make_unique<LockThread>();
  known->serial = thread.serial;
  known->java_thread = thread.java_thread;
  known->java_id = thread.java_id;
  known->stack_base = stack_base;
  known->started = monotonic_now();
  known->ref = thread.ref;
  const std::lock_guard guard(lock_);
  if (!unused_memos_.empty()) {
    known->memo = unused_memos_.back();
    unused_memos_.pop_back();
  }
  by_java_thread_[reinterpret_cast<uint64_t>(thread.java_thread)].push_back(thread.serial);
  by_java_id_[thread.java_id] = thread.serial;
  const bool set = table_->set(thread.tid, known.get());
  by_serial_[thread.serial] = std::move(known);
  return set;
}

void LockThreads::ended(const JavaThread& thread) {
  table_->set(thread.tid, nullptr);
  const std::lock_guard guard(lock_);
  ended_.push_back(thread.serial);
}

void LockThreads::forget_ended() {
  const std::lock_guard guard(lock_);
  for (const uint32_t serial : ended_before_) {
    const auto it = by_serial_.find(serial);
    if (it == by_serial_.end()) continue;
    const auto at_address = by_java_thread_.find(reinterpret_cast<uint64_t>(it->second->java_thread));
    if (at_address != by_java_thread_.end()) {
      std::erase(at_address->second, serial);
      if (at_address->second.empty()) by_java_thread_.erase(at_address);
    }
    const auto with_id = by_java_id_.find(it->second->java_id);
    if (with_id != by_java_id_.end() && with_id->second == serial) by_java_id_.erase(with_id);
    if (LockMemo* memo = it->second->memo) {
      *memo = {};
      unused_memos_.push_back(memo);
    }
    forgotten_.add(it->second->counters);
    by_serial_.erase(it);
  }
  ended_before_ = std::move(ended_);
  ended_.clear();
}

std::vector<LockRecord> LockThreads::open_parks() {
  std::vector<LockRecord> open;
  const std::lock_guard guard(lock_);
  for (const auto& [serial, thread] : by_serial_) {
    if (thread->is_parked.load(std::memory_order_acquire)) open.push_back(thread->park);
  }
  return open;
}

void LockThreads::add_to(LockCounters& sum) {
  const std::lock_guard guard(lock_);
  sum.add(forgotten_);
  for (const auto& [serial, thread] : by_serial_) sum.add(thread->counters);
}

uint32_t LockThreads::serial_of(int64_t java_id) {
  const std::lock_guard guard(lock_);
  const auto it = by_java_id_.find(java_id);
  return it != by_java_id_.end() ? it->second : 0;
}

std::pair<uint32_t, int64_t> LockThreads::owner_of(uint64_t owner, bool is_id, Nanos time) {
  // 1, 2: the JVM knows that somebody owns it, not who; or nobody may any more.
  constexpr uint64_t kFirstId = 3;
  if (owner < kFirstId) return {0, 0};
  if (is_id) {
    const auto id = static_cast<int64_t>(owner);
    const uint32_t serial = serial_of(id);
    return {serial, serial == 0 ? id : 0};
  }
  const std::lock_guard guard(lock_);
  const auto started_before = [&](uint32_t serial) {
    const auto thread = by_serial_.find(serial);
    return thread != by_serial_.end() && thread->second->started <= time;
  };
  if (const auto it = by_java_thread_.find(owner); it != by_java_thread_.end()) {
    // Those who were there already were seen late.
    const auto last = std::find_if(it->second.rbegin(), it->second.rend(), started_before);
    return {last != it->second.rend() ? *last : it->second.front(), 0};
  }
  // Or where the lock record lies, on the owner's stack.
  constexpr uint64_t kLargestStack = uint64_t{1} << 30;
  const LockThread* nearest = nullptr;
  for (const auto& [serial, thread] : by_serial_) {
    if (thread->stack_base <= owner || thread->stack_base - owner > kLargestStack) continue;
    if (nearest == nullptr || thread->stack_base < nearest->stack_base) nearest = thread.get();
  }
  return {nearest != nullptr ? nearest->serial : 0, 0};
}

}  // namespace tarsier::agent
