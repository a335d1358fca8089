// For containers that grow large: pages of their own instead of malloc. When malloc gets back a large block it raises
// the size from which it asks for pages, for the whole process, and what is freed from then on stays in its arenas: the
// JVM would keep memory that was ours.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace tarsier {

template <class T>
class PageAllocator {
 public:
  using value_type = T;

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): containers convert

  T* allocate(size_t count) {
    void* pages =
        ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* pages, size_t count) noexcept { ::munmap(pages, count * sizeof(T)); }

  template <class U>
  bool operator==(const PageAllocator<U>&) const noexcept {
    return true;
  }
};

}  // namespace tarsier
