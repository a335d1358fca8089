// Page-aligned memory, given back at the end. Of our own, which is zeroed, it is called [anon:tarsier] in
// /proc/PID/maps where the kernel keeps such names (5.17 and later), so that everybody can see what is ours.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tarsier {

class Mapping {
 public:
  Mapping() = default;
  // Empty if the kernel refuses. Untouched pages cost nothing.
  explicit Mapping(size_t size) : size_(size) {
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_ = memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
    constexpr int kSetVma = 0x53564d41;  // PR_SET_VMA, PR_SET_VMA_ANON_NAME: younger than the headers of Debian 12
    if (memory_ != nullptr) ::prctl(kSetVma, 0, memory_, size, "tarsier");
  }
  // What a descriptor leads to, shared with whoever else has it.
  static Mapping of(int descriptor, size_t size) {
    Mapping mapping;
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return mapping;
    mapping.memory_ = static_cast<uint8_t*>(memory);
    mapping.size_ = size;
    return mapping;
  }
  Mapping(Mapping&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping() {
    if (memory_ != nullptr) ::munmap(memory_, size_);
  }

  explicit operator bool() const { return memory_ != nullptr; }
  [[nodiscard]] uint8_t* data() const { return memory_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tarsier
