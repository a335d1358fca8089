// Virtual threads made by hand: a few words stand in for the JVM's objects.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "hotspot/sigsafe/virtual_thread.h"

namespace tarsier::capture {

// A virtual thread `worker` with the id 77 on its carrier, with two chunks of frozen frames. References have 64 bits.
class MadeUpVirtualThread {
 public:
  static constexpr uint64_t kWords = 48;  // of the head of a chunk, in bytes
  static constexpr size_t kCarrier = 1, kThread = 8, kName = 16, kText = 24, kContinuation = 32, kChunk = 40,
                          kParent = 60;

  static hotspot::VirtualThreadLayout layout() {
    hotspot::VirtualThreadLayout layout;
    layout.carrier = 0;
    layout.current = 8;
    layout.thread = {8, 16, 24};
    layout.tail = 8;
    layout.chunk = {8, 16, 20, 24, false, kWords};
    layout.text = {8, 16, 8, 12};
    return layout;
  }

  MadeUpVirtualThread() : words(128) {
    handles[0] = at(kCarrier);
    handles[1] = at(kThread);
    words[kThread + 1] = 77;  // id
    words[kThread + 2] = at(kName);
    words[kThread + 3] = at(kContinuation);
    words[kName + 1] = at(kText);
    const char text[] = "worker";
    words[kText + 1] = 6;  // length; the bytes follow behind 4 of them
    std::memcpy(reinterpret_cast<uint8_t*>(&words[kText]) + 12, text, 6);
    words[kContinuation + 1] = at(kChunk);
    chunk(kChunk, kParent, 8, 4);
    chunk(kParent, 0, 4, 2);
  }
  uint64_t at(size_t index) { return reinterpret_cast<uint64_t>(words.data() + index); }
  void chunk(size_t index, size_t parent, int32_t size, int32_t sp) {
    words[index] = 1;
    words[index + 1] = parent == 0 ? 0 : at(parent);
    const int32_t fields[] = {size, sp, size};
    std::memcpy(&words[index + 2], fields, sizeof(fields));
    for (int32_t i = 0; i < size; ++i) {
      words[index + kWords / 8 + static_cast<size_t>(i)] = index * 100 + static_cast<size_t>(i);
    }
  }

  std::vector<uint64_t> words;  // the heap
  uint64_t handles[2] = {};     // of the carrier and of the thread
};

}  // namespace tarsier::capture
