#include "recording/tail.h"

#include <algorithm>

#include "recording/chunk_header.h"
#include "recording/chunk_reader.h"
#include "recording/format.h"
#include "recording/mapped_file.h"
#include "recording/text_store.h"

namespace tarsier::recording {

Status Tail::look(Visitor& visitor) {
  const auto file = MappedFile::open(path_);
  if (!file) return file.error();
  const std::span<const uint8_t> bytes = file->bytes();
  bytes_read_ = 0;
  while (chunk_at_ < bytes.size()) {
    const auto header = ChunkHeader::parse(bytes.subspan(chunk_at_));
    const uint64_t left = bytes.size() - chunk_at_;
    if (!header || header->size < kHeaderSize || header->size > left) return {};  // it is just being begun
    TextStore texts;
    const auto chunk = ChunkReader::open(*header, bytes.subspan(chunk_at_, header->size), texts);
    if (!chunk) return {};
    (*chunk)->load_constants();
    visitor.chunk(**chunk);
    ChunkReader::EventCounts counts;
    ChunkReader::Part part{.position = position_, .most = most_bytes_, .events = {}};
    (*chunk)->visit_events(
        visitor, counts, [](size_t) {}, &part);
    bytes_read_ += std::min(part.position - std::min(part.position, position_), most_bytes_);
    position_ = part.position;
    skipped_ += part.skipped;
    visited_ += counts.visited;
    const uint64_t end = chunk_at_ + header->size;
    if (end >= bytes.size() || !ChunkHeader::parse(bytes.subspan(end))) {
      for (const auto& [first, last] : part.events) passed_.push_back({chunk_at_ + first, chunk_at_ + last});
      return {};
    }
    passed_.push_back({chunk_at_, end});
    chunk_at_ = end;
    position_ = 0;
  }
  return {};
}

}  // namespace tarsier::recording
