// malloc, but for large blocks, which get pages of their own. When malloc is given back a block that it had mapped, it
// raises the size from which it maps blocks and the size from which it returns memory, for good and for the whole
// process; what is freed from then on stays in its arenas. In a JVM that would be our memory, many times over.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace tarsier {

class LargeBlocks {
 public:
  static constexpr size_t kFrom = 64 << 10;  // malloc maps from 128 KB on

  // Null if there is no memory.
  static void* allocate(size_t size) noexcept {
    if (size < kFrom) return std::malloc(size == 0 ? 1 : size);
    if (size > SIZE_MAX - kHead) return nullptr;
    const size_t mapped = size + kHead;
    void* pages = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    auto* head = static_cast<Head*>(pages);
    *head = {kMagic, static_cast<char*>(pages) + kHead, mapped};
    return head->block;
  }
  static void release(void* block) noexcept {
    if (Head* head = head_of(block)) {
      ::munmap(head, head->mapped);
    } else {
      std::free(block);
    }
  }

 private:
  struct Head {
    uint64_t magic;
    void* block;
    size_t mapped;
  };
  // Null of small ones. What is large is told by its place in its page, and by its head, which no other memory can
  // have, since it names its place. Not inlined: the compiler knows the sizes of blocks, and that we look before one.
  __attribute__((noinline, no_sanitize("address", "thread"))) static Head* head_of(void* block) noexcept {
    const auto address = reinterpret_cast<uintptr_t>(block);
    if (address % kSmallestPage != kHead) return nullptr;
    auto* head = reinterpret_cast<Head*>(address - kHead);
    return head->magic == kMagic && head->block == block ? head : nullptr;
  }
  static constexpr size_t kSmallestPage = 4096;
  static constexpr size_t kHead = 64;
  static constexpr uint64_t kMagic = 0x7461727369657221;
};

}  // namespace tarsier
