// What the library's own C++ code allocates; nobody else sees these. See base/own_heap.h for why.
#include <new>

#include "base/own_heap.h"

using tarsier::own_heap;

void* operator new(size_t size) {
  void* block = own_heap().allocate(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new[](size_t size) {
  return ::operator new(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return own_heap().allocate(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return own_heap().allocate(size);
}
void operator delete(void* block) noexcept {
  own_heap().release(block);
}
void operator delete[](void* block) noexcept {
  own_heap().release(block);
}
void operator delete(void* block, size_t) noexcept {
  own_heap().release(block);
}
void operator delete[](void* block, size_t) noexcept {
  own_heap().release(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  own_heap().release(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  own_heap().release(block);
}
