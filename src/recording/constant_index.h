// Where each constant of a chunk lies: key to position, by type. Values are decoded when asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tarsier::recording {

// Open addressing, 16 bytes a slot; grows with the number of different keys, each of which takes bytes of the file.
class ConstantPool {
 public:
  void put(int64_t key, const uint8_t* value) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = find(key);
    if (!slot.value) ++used_;
    slot = {key, value};
  }
  [[nodiscard]] const uint8_t* get(int64_t key) const {
    return slots_.empty() ? nullptr : const_cast<ConstantPool*>(this)->find(key).value;
  }

 private:
  struct Slot {
    int64_t key = 0;
    const uint8_t* value = nullptr;
  };
  Slot& find(int64_t key) {
    size_t i = mixed(static_cast<uint64_t>(key)) & (slots_.size() - 1);
    while (slots_[i].value && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }
  // Keys are counters in some files and addresses in others, and in a hostile one made to collide: hence the seed.
  static uint64_t mixed(uint64_t key) {
    static const uint64_t seed = std::random_device()();
    key ^= seed;
    key = (key ^ key >> 33) * 0xff51afd7ed558ccdu;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53u;
    return key ^ key >> 33;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value) find(slot.key) = slot;
    }
  }
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace tarsier::recording
