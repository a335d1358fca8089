// Finds a lock by its class and identity, which nearly every lock event asks for: both are in the table itself.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/index_table.h"
#include "analysis/lock_events.h"

namespace tarsier::analysis {

class LockTable {
 public:
  // Its index in `locks`, where it is put if it is new.
  LockIndex find_or_add(std::vector<LockObject>& locks, const LockObject& lock) {
    if ((locks.size() + 1) * 2 > slots_.size()) grow();
    Slot& slot = slot_of(lock);
    if (slot.index == kNone) {
      slot = {lock, static_cast<uint32_t>(locks.size())};
      locks.push_back(lock);
    }
    return LockIndex(slot.index);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slot {
    LockObject lock;
    uint32_t index = kNone;
  };

  Slot& slot_of(const LockObject& lock) {
    const size_t mask = slots_.size() - 1;
    size_t at = mix_hash(lock.klass.value, static_cast<uint64_t>(lock.identity)) & mask;
    while (slots_[at].index != kNone && slots_[at].lock != lock) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.index != kNone) slot_of(slot.lock) = slot;
    }
  }

  std::vector<Slot> slots_;
};

}  // namespace tarsier::analysis
