// What the library's own C++ code allocates; nobody else sees these. See base/large_blocks.h for why.
#include <new>

#include "base/large_blocks.h"

using tarsier::LargeBlocks;

void* operator new(size_t size) {
  void* block = LargeBlocks::allocate(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new[](size_t size) {
  return ::operator new(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return LargeBlocks::allocate(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return LargeBlocks::allocate(size);
}
void operator delete(void* block) noexcept {
  LargeBlocks::release(block);
}
void operator delete[](void* block) noexcept {
  LargeBlocks::release(block);
}
void operator delete(void* block, size_t) noexcept {
  LargeBlocks::release(block);
}
void operator delete[](void* block, size_t) noexcept {
  LargeBlocks::release(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  LargeBlocks::release(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  LargeBlocks::release(block);
}
