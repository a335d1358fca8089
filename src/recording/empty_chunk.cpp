#include "recording/empty_chunk.h"

#include <string_view>

namespace tarsier::recording {
namespace {

void append_metadata(Encoder& out) {
  // <root> <metadata/> <region locale="" gmtOffset="0"/> </root>: what the JDK's parser asks for.
  constexpr std::string_view kStrings[] = {"root", "metadata", "region", "locale", "", "gmtOffset", "0"};
  constexpr uint8_t kTree[] = {0, 0, 2, /**/ 1, 0, 0, /**/ 2, 2, 3, 4, 5, 6, 0};
  const size_t begin = out.begin_event();
  out.varint(kMetadataType);
  out.fill(2);    // start, duration
  out.varint(0);  // metadata id: differs from that of every recording of ours
  out.varint(std::size(kStrings));
  for (const std::string_view text : kStrings) out.string(text);
  out.raw(kTree);
  out.end_event(begin);
}

void append_checkpoint(Encoder& out) {
  const size_t begin = out.begin_event();
  out.varint(kCheckpointType);
  out.fill(3);  // start, duration, delta
  out.u8(kFlushCheckpoint);
  out.varint(0);  // pools
  out.end_event(begin);
}

}  // namespace

void align_to_slot(Encoder& out) {
  const size_t over = out.size() % kSlot;
  if (over == 0) return;
  size_t size = kSlot - over;
  if (size < 2) size += kSlot;  // the smallest event: size and type
  out.u8(static_cast<uint8_t>(size));
  out.fill(size - 1);
}

Encoder encode_empty_chunk(std::span<const uint8_t> header, int64_t size) {
  Encoder out;
  out.raw(header.subspan(0, kHeaderSize));
  const size_t metadata = out.size();
  append_metadata(out);
  const size_t checkpoint = out.size();
  append_checkpoint(out);
  align_to_slot(out);
  append_padding(out, size - static_cast<int64_t>(out.size()));
  put_be(out.at(kChunkSizeAt), static_cast<uint64_t>(size), 8);
  put_be(out.at(kConstantPoolAt), checkpoint, 8);
  put_be(out.at(kMetadataAt), metadata, 8);
  put_be(out.at(kDurationAt), 0, 8);
  return out;
}

}  // namespace tarsier::recording
