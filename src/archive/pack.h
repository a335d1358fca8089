// A recording as .jfr.zst: zstd frames, one after the other, so that `zstd -d` gives the recording back byte for byte.
// A frame holds at most kPiece bytes, says how many, and has a checksum; no frame holds bytes of two chunks. So damage
// costs a piece of one chunk, and the chunks behind it can be found again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace tarsier::archive {

constexpr size_t kPiece = 4 << 20;

// Writes all of it to `fd`, from its current position on. What is no chunk (the tail of a damaged recording) is packed
// as it is.
Status pack(std::span<const uint8_t> recording, int fd);

}  // namespace tarsier::archive
