// Memory for the library's C++ objects, in pages of its own. Malloc's arenas belong to the application: each of our
// threads would get another one, what we free there stays among the application's blocks, and a large block given back
// raises the size from which malloc returns memory, for good and for the whole process. Here a page is ours or
// nobody's: when a session has ended and its blocks are free, so are the pages.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace tarsier {

class OwnHeap {
 public:
  // Null if there is no memory. Aligned as malloc would.
  void* allocate(size_t size) noexcept;
  void release(void* block) noexcept;
  // Gives back the pages that are kept for the next block.
  void trim() noexcept;

  // The address space of its blocks, with what is kept for the next ones.
  [[nodiscard]] size_t mapped() noexcept;

 private:
  struct Slab;
  // Blocks of one size: in slabs, of which those with a free block are listed.
  struct SizeClass {
    std::mutex lock;
    Slab* open = nullptr;
    Slab* spare = nullptr;  // one without a block in use, so that a block at the edge costs no system call
    size_t slabs = 0;
  };
  void* allocate_small(size_t index) noexcept;
  void release_small(Slab* slab, void* block) noexcept;
  void* allocate_large(size_t size) noexcept;
  void release_large(Slab* slab) noexcept;

  static constexpr size_t kClasses = 40;
  std::array<SizeClass, kClasses> classes_;
  std::mutex large_lock_;
  size_t large_bytes_ = 0;
};

// The library's. It is never destroyed, since at the JVM's end our threads may still run.
OwnHeap& own_heap() noexcept;

}  // namespace tarsier
