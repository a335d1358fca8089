// The debug information of compiled code: which methods, inlined into each other, and which bytecodes a pc stands for.
#pragma once

#include <cstdint>
#include <span>

#include "base/memory.h"

namespace tarsier::hotspot {

// One row of an nmethod's table, as it lies in the JVM's memory.
struct PcDesc {
  int32_t pc_offset;  // from the start of the code
  int32_t scope_offset;
  int32_t objects_offset;
  int32_t flags;
};
static_assert(sizeof(PcDesc) == 16);

// HotSpot's variable-length numbers. `excluded`: 0 up to JDK 19, 1 since (then no byte of a number is 0).
class CompressedStream {
 public:
  CompressedStream(std::span<const uint8_t> bytes, size_t at, uint8_t excluded)
      : bytes_(bytes), at_(at), excluded_(excluded) {}

  [[nodiscard]] uint8_t byte() { return at_ < bytes_.size() ? bytes_[at_++] : fail(); }
  [[nodiscard]] uint32_t number();
  [[nodiscard]] int32_t signed_number();
  [[nodiscard]] bool good() const { return good_; }

 private:
  uint8_t fail() {
    good_ = false;
    return 0;
  }
  std::span<const uint8_t> bytes_;
  size_t at_;
  uint8_t excluded_;
  bool good_ = true;
};

// A method that is active at a pc.
struct Scope {
  uint32_t method_index;  // into the nmethod's metadata, from 1 on; 0: unknown
  int32_t bci;
  uint32_t caller_offset;  // 0: it is the outermost, the one that was compiled
};

// False if there is none at this offset.
bool read_scope(std::span<const uint8_t> scopes, uint32_t offset, uint8_t excluded, Scope& out);

}  // namespace tarsier::hotspot
