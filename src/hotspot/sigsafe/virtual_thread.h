// Where the JVM keeps a mounted virtual thread: who it is, and the frames that still lie in the heap. A virtual thread
// that goes on after a wait gets only its innermost frames back on the stack of its carrier; the others stay frozen in
// "stack chunks", a list of objects in the heap, until they are returned to.
#pragma once

#include <cstdint>

namespace tarsier::hotspot {

// How a reference to an object is stored in a field.
struct ReferenceCoding {
  bool compressed = false;
  uint64_t base = 0;
  int32_t shift = 0;
  // ZGC: references carry colours; the mask says which of them can't be followed now.
  const volatile uint64_t* bad_colours = nullptr;
  const volatile uint64_t* colour_bits = nullptr;
};

// All offsets.
struct VirtualThreadLayout {
  // Of a JavaThread: handles of the carrier's Thread object and of the one that runs on it, and (since 24) its id.
  uint64_t carrier = 0, current = 0;
  uint64_t current_id = 0;  // 0: not kept
  uint64_t continuation =
      0;  // from a ContinuationEntry to the Continuation; 0: this JVM does not tell where entries are
  struct Thread {
    uint64_t id = 0, name = 0, continuation = 0;
  } thread;
  uint64_t tail = 0;  // of a Continuation: its innermost chunk
  static constexpr uint64_t kMaxChunkHead = 128;
  struct Chunk {
    uint64_t parent = 0, size = 0, sp = 0, bottom = 0;
    bool bottom_is_argument_size = false;  // counted from the end, in some releases
    uint64_t words = 0;                    // the first word of the stack: the size of what lies before it
  } chunk;
  struct Text {
    uint64_t value = 0, coder = 0;   // of a String
    uint64_t length = 0, bytes = 0;  // of a byte[]
  } text;
  ReferenceCoding references;
  uint64_t code_begin = 0, code_end = 0;  // where all code lies that the JVM has made; 0, 0: not known
};

// A piece of frozen stack; its bytes follow it. Two words lie below the innermost frame: link and pc. If frames of it
// may be on their way to the stack, the words below those are there as well: they stay in the heap as they were.
struct FrozenPart {
  static constexpr uint32_t kMaxBelow = 1024;
  uint64_t begin;
  uint32_t bytes;
  uint8_t cut;     // not 0: it goes on behind them. No bool: in a file that was damaged it may be anything
  uint8_t unused;  // 0; as padding it would carry what the handler's stack held before
  uint16_t below;  // words below those two, of the bytes
};
static_assert(sizeof(FrozenPart) % 8 == 0);

}  // namespace tarsier::hotspot
