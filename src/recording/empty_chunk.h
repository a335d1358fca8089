// A complete chunk without types and events, in a few bytes. A file grows by such chunks and loses them again.
#pragma once

#include <cstdint>
#include <span>

#include "recording/encoder.h"

namespace tarsier::recording {

// `header` is that of the chunk before; times are taken from it. The chunk is `size` bytes long, of which only the
// first bytes are encoded: the rest is the body of its last event, padding.
Encoder encode_empty_chunk(std::span<const uint8_t> header, int64_t size);
constexpr int64_t kSmallestEmptyChunk = 256;

// The start of a padding event of `size` bytes: its size in five bytes, type, two bytes of its body.
constexpr int64_t kSlot = 8;
inline void append_padding(Encoder& out, int64_t size) {
  out.fill(kSlot);
  put_varint_padded5(out.at(out.size() - kSlot), static_cast<uint64_t>(size));
}
// As padding that fills up to the next multiple of 8.
void align_to_slot(Encoder& out);

}  // namespace tarsier::recording
