#include "base/own_heap.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <new>

namespace tarsier {
namespace {

constexpr size_t kSlab = 256 << 10;  // also its alignment, by which a block's slab is found; untouched pages are free
constexpr size_t kPage = 64 << 10;   // the largest that aarch64 has
// Large tables are looked up by hashes: with small pages every look is also one at the page tables. What is as large
// lies in such pages where the system has them.
constexpr size_t kHugePage = 2 << 20;
constexpr size_t kHead = 64;
constexpr size_t kGrain = 16;
constexpr size_t kLargestSmall = 32 << 10;
constexpr size_t kEven = 8;  // classes of 16, 32 .. 128 bytes; above them four per power of two

size_t class_of(size_t size) {
  if (size <= kEven * kGrain) return size == 0 ? 0 : (size - 1) / kGrain;
  const auto power = static_cast<size_t>(std::bit_width(size - 1));  // size in (2^(power-1), 2^power]
  const size_t quarter = (size - 1 - (size_t{1} << (power - 1))) >> (power - 3);
  return kEven + (power - 8) * 4 + quarter;
}

constexpr size_t size_of_class(size_t index) {
  if (index < kEven) return (index + 1) * kGrain;
  const size_t power = (index - kEven) / 4 + 7, quarter = (index - kEven) % 4;
  return (size_t{1} << power) + ((quarter + 1) << (power - 2));
}

// Whoever allocates between a call that failed and the look at its errno expects it to be as it was, as with malloc.
class KeptErrno {
 public:
  KeptErrno() = default;
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;
  ~KeptErrno() { errno = kept_; }

 private:
  const int kept_ = errno;
};

void unmap(void* memory, size_t size) {
  const KeptErrno kept;
  ::munmap(memory, size);
}

void* map_aligned(size_t size) {
  const KeptErrno kept;
  const size_t alignment = size < kHugePage ? kSlab : kHugePage;
  const size_t whole = size + alignment;
  if (whole < size) return nullptr;
  void* memory = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* begin = static_cast<uint8_t*>(memory);
  const size_t before = (alignment - reinterpret_cast<uintptr_t>(begin) % alignment) % alignment;
  if (before != 0) ::munmap(begin, before);
  const size_t after = alignment - before;
  if (after != 0) ::munmap(begin + before + size, after);
  constexpr int kSetVma = 0x53564d41;  // as in base/mapping.h
  ::prctl(kSetVma, 0, begin + before, size, "tarsier");
  if (alignment == kHugePage) ::madvise(begin + before, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return begin + before;
}

}  // namespace

// The head of a slab, and of a large block, which lies alone in its own.
struct OwnHeap::Slab {
  struct Free {
    Free* next;
  };
  size_t index;  // of the size class, kLarge if there is none
  size_t bytes;
  size_t used;
  uint8_t* fresh;  // from here on no block was ever given out
  Free* free;
  Slab *previous, *next;  // in the class's list of open ones

  static constexpr size_t kLarge = SIZE_MAX;
  static Slab* of(void* block) { return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) / kSlab * kSlab); }
  [[nodiscard]] uint8_t* begin() { return reinterpret_cast<uint8_t*>(this) + kHead; }
  [[nodiscard]] bool has_fresh() { return fresh + size_of_class(index) <= reinterpret_cast<uint8_t*>(this) + kSlab; }
  [[nodiscard]] bool is_full() { return free == nullptr && !has_fresh(); }

  void* take() {
    ++used;
    if (free != nullptr) {
      Free* block = free;
      free = block->next;
      return block;
    }
    void* block = fresh;
    fresh += size_of_class(index);
    return block;
  }
  void link(Slab*& list) {
    previous = nullptr;
    next = list;
    if (list != nullptr) list->previous = this;
    list = this;
  }
  void unlink(Slab*& list) {
    (previous == nullptr ? list : previous->next) = next;
    if (next != nullptr) next->previous = previous;
  }
};

void* OwnHeap::allocate(size_t size) noexcept {
  static_assert(sizeof(Slab) <= kHead && size_of_class(kClasses - 1) == kLargestSmall);
  return size <= kLargestSmall ? allocate_small(class_of(size)) : allocate_large(size);
}

void OwnHeap::release(void* block) noexcept {
  if (block == nullptr) return;
  Slab* slab = Slab::of(block);
  if (slab->index == Slab::kLarge) {
    release_large(slab);
  } else {
    release_small(slab, block);
  }
}

void* OwnHeap::allocate_small(size_t index) noexcept {
  SizeClass& blocks = classes_[index];
  std::lock_guard guard(blocks.lock);
  if (blocks.open == nullptr) {
    Slab* slab = blocks.spare;
    blocks.spare = nullptr;
    if (slab == nullptr) {
      slab = static_cast<Slab*>(map_aligned(kSlab));
      if (slab == nullptr) return nullptr;
      slab->index = index;
      slab->fresh = slab->begin();
      ++blocks.slabs;
    }
    slab->link(blocks.open);
  }
  Slab* slab = blocks.open;
  void* block = slab->take();
  if (slab->is_full()) slab->unlink(blocks.open);
  return block;
}

void OwnHeap::release_small(Slab* slab, void* block) noexcept {
  SizeClass& blocks = classes_[slab->index];
  std::lock_guard guard(blocks.lock);
  if (slab->is_full()) slab->link(blocks.open);
  slab->free = new (block) Slab::Free{slab->free};
  if (--slab->used != 0) return;
  slab->unlink(blocks.open);
  if (blocks.spare == nullptr) {
    blocks.spare = slab;
  } else {
    unmap(slab, kSlab);
    --blocks.slabs;
  }
}

void* OwnHeap::allocate_large(size_t size) noexcept {
  if (size > SIZE_MAX / 2) return nullptr;
  const size_t bytes = (size + kHead + kPage - 1) / kPage * kPage;
  auto* slab = static_cast<Slab*>(map_aligned(bytes));
  if (slab == nullptr) return nullptr;
  slab->index = Slab::kLarge;
  slab->bytes = bytes;
  std::lock_guard guard(large_lock_);
  large_bytes_ += bytes;
  return slab->begin();
}

void OwnHeap::release_large(Slab* slab) noexcept {
  const size_t bytes = slab->bytes;
  unmap(slab, bytes);
  std::lock_guard guard(large_lock_);
  large_bytes_ -= bytes;
}

void OwnHeap::trim() noexcept {
  for (SizeClass& blocks : classes_) {
    std::lock_guard guard(blocks.lock);
    if (blocks.spare == nullptr) continue;
    unmap(blocks.spare, kSlab);
    blocks.spare = nullptr;
    --blocks.slabs;
  }
}

size_t OwnHeap::mapped() noexcept {
  size_t bytes = 0;
  for (SizeClass& blocks : classes_) {
    std::lock_guard guard(blocks.lock);
    bytes += blocks.slabs * kSlab;
  }
  std::lock_guard guard(large_lock_);
  return bytes + large_bytes_;
}

OwnHeap& own_heap() noexcept {
  static constinit union Forever {
    constexpr Forever() : heap() {}
    ~Forever() {}
    OwnHeap heap;
  } forever;
  return forever.heap;
}

}  // namespace tarsier
