// The bytes of a JFR chunk that are the same in every recording: its header, the two events that are no data, and how
// strings are told apart. Numbers in the header are big-endian and fixed, everything after it is LEB128.
//
//   offset  0  "FLR\0"            8  chunk size          16  constant-pool offset   24  metadata offset
//          32  start, epoch ns   40  duration in ns      48  start in ticks         56  ticks per second
//          64  state (0: done)   67  flags               68  events, up to the chunk's size
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarsier::recording {

constexpr uint8_t kMagic[4] = {'F', 'L', 'R', 0};
constexpr uint16_t kMajorVersion = 2;
constexpr uint16_t kMinorVersion = 1;

constexpr size_t kHeaderSize = 68;
constexpr size_t kVersionAt = 4;
constexpr size_t kChunkSizeAt = 8;
constexpr size_t kConstantPoolAt = 16;
constexpr size_t kMetadataAt = 24;
constexpr size_t kStartNanosAt = 32;
constexpr size_t kDurationAt = 40;
constexpr size_t kStartTicksAt = 48;
constexpr size_t kTicksPerSecondAt = 56;
constexpr size_t kStateAt = 64;

// Readers find the metadata by the header, and skip every event of its type by its size: that makes type 0 padding.
constexpr uint64_t kMetadataType = 0;
constexpr uint64_t kCheckpointType = 1;
constexpr uint8_t kFlushCheckpoint = 1;

enum class StringEncoding : uint8_t {
  kNull = 0,
  kEmpty = 1,
  kConstantPool = 2,  // a key into the pool of java.lang.String
  kUtf8 = 3,
  kCharArray = 4,  // UTF-16 code units, each a varint
  kLatin1 = 5,
};

inline void put_be(uint8_t* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
}
inline uint64_t get_be(const uint8_t* in, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | in[i];
  return value;
}

}  // namespace tarsier::recording
