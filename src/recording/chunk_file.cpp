#include "recording/chunk_file.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tarsier::recording {
namespace {

// A padding event's start: size in five bytes, type, two bytes of its content.
constexpr int64_t kSlot = 8;
using Slot = std::array<uint8_t, kSlot>;
Slot padding_slot(int64_t size) {
  Slot slot{};
  put_varint_padded5(slot.data(), static_cast<uint64_t>(size));
  slot[kPaddedVarint] = kMetadataType;
  return slot;
}

// Growing takes three writes during which readers refuse the file, so it happens seldom; what is not used is sparse.
constexpr int64_t kFirstGrowth = 1 << 20;
constexpr int64_t kLargestGrowth = 64 << 20;

constexpr int64_t round_up(int64_t n) {
  return (n + kSlot - 1) / kSlot * kSlot;
}

// Asking first keeps the kernel from sending SIGXFSZ, which would end the process.
int64_t largest_length() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX / 2;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX / 2)) / kSlot * kSlot;
}

}  // namespace

Status ChunkFile::create(const ChunkPrologue& prologue) {
  const auto size = static_cast<int64_t>(prologue.bytes.size());
  reserve_ = size + kSlot;
  growth_ = kFirstGrowth;
  const int64_t end = std::min(std::max(kFirstGrowth, round_up(2 * reserve_)), largest_length());
  if (end < size + kSlot) return errno_error("can't start the recording", EFBIG);
  if (Status s = set_length(end, "create: length"); !s.ok()) return s;

  Encoder start;
  start.raw(prologue.bytes.bytes());
  put_be(start.at(kChunkSizeAt), static_cast<uint64_t>(end), 8);
  start.raw(padding_slot(end - size));
  if (Status s = write_at(0, start.bytes(), "create: chunk"); !s.ok()) return s;
  checkpoint_ = static_cast<int64_t>(prologue.checkpoint);
  padding_ = size;
  end_ = end;
  return {};
}

Status ChunkFile::append(Encoder& data, const Checkpoint& checkpoint, Nanos chunk_duration) {
  const auto size = static_cast<int64_t>(data.size());
  // The old padding shrinks to a few bytes that bring the new one to a multiple of 8.
  const int64_t at = padding_ + kSlot + (round_up(size) - size);
  const int64_t new_padding = at + size;
  if (Status s = make_room(new_padding); !s.ok()) return s;

  const int64_t new_checkpoint = at + static_cast<int64_t>(checkpoint.at);
  put_varint_padded9(data.at(checkpoint.delta_at), static_cast<uint64_t>(checkpoint_ - new_checkpoint));
  data.raw(padding_slot(end_ - new_padding));
  if (Status s = write_at(at, data.bytes(), "append: data"); !s.ok()) return s;

  if (Status s = write_word(kConstantPoolAt, new_checkpoint - chunk_start_, "append: constants"); !s.ok()) return s;
  if (Status s = set_padding(padding_, at, "append: padding"); !s.ok()) return s;
  checkpoint_ = new_checkpoint;
  padding_ = new_padding;
  return set_duration(chunk_duration);
}

Status ChunkFile::set_duration(Nanos chunk_duration) {
  return write_word(kDurationAt, chunk_duration.count, "duration");
}

Status ChunkFile::rotate(const ChunkPrologue& prologue) {
  const auto size = static_cast<int64_t>(prologue.bytes.size());
  if (Status s = make_room(padding_ + kSlot + size); !s.ok()) return s;
  return start_chunk(prologue);
}

Status ChunkFile::start_chunk(const ChunkPrologue& prologue) {
  const int64_t start = padding_ + kSlot;
  const auto size = static_cast<int64_t>(prologue.bytes.size());
  Encoder chunk;
  chunk.raw(prologue.bytes.bytes());
  put_be(chunk.at(kChunkSizeAt), static_cast<uint64_t>(end_ - start), 8);
  chunk.raw(padding_slot(end_ - start - size));
  if (Status s = write_at(start, chunk.bytes(), "rotate: new chunk"); !s.ok()) return s;
  // Now the padding reaches beyond its chunk, into the next one. Readers take that as the chunk's end. The other way
  // round they would take the new chunk's header for an event.
  if (Status s = write_word(kChunkSizeAt, start - chunk_start_, "rotate: chunk size"); !s.ok()) return s;
  const Status shrunk = set_padding(padding_, start, "rotate: padding");
  chunk_start_ = start;
  checkpoint_ = start + static_cast<int64_t>(prologue.checkpoint);
  padding_ = start + size;
  return shrunk;
}

Status ChunkFile::finish(const ChunkPrologue& prologue) {
  const int64_t cut = padding_ + kSlot;
  Status status;
  // Without room for the empty chunk there is next to no padding.
  if (cut + static_cast<int64_t>(prologue.bytes.size()) + kSlot <= end_) {
    status = start_chunk(prologue);
    if (status.ok()) {
      status = set_length(cut, "finish: length");
      if (status.ok()) padding_ = end_ = cut;
    }
  }
  fd_.reset();
  return status;
}

Status ChunkFile::make_room(int64_t padding_after) {
  const int64_t needed = padding_after + kSlot;
  const int64_t limit = largest_length();
  if (needed + reserve_ <= end_) return {};
  int64_t end = std::min(std::max(end_ + growth_, round_up(needed + reserve_)), limit);
  if (end <= end_ || end < needed) {
    if (needed <= end_) return {};
    return errno_error("can't extend the recording to " + std::to_string(needed) + " bytes", EFBIG);
  }
  Status grown = grow_to(end);
  // Perhaps the file system's own limit lies between what we like and what we need.
  if (!grown.ok() && round_up(needed) < end && end_ < round_up(needed)) grown = grow_to(round_up(needed));
  if (!grown.ok() && needed <= end_) return {};
  return grown;
}

Status ChunkFile::grow_to(int64_t end) {
  if (Status s = set_length(end, "grow: length"); !s.ok()) return s;
  // A padding that ends after its chunk is harmless while the file is longer than both; a chunk that ends after its
  // padding never is.
  Status status = set_padding(padding_, end, "grow: padding");
  if (status.ok()) status = write_word(kChunkSizeAt, end - chunk_start_, "grow: chunk size");
  if (!status.ok()) {
    // The way back; if that fails too there is nothing left to try.
    (void)set_padding(padding_, end_, "undo: padding");
    (void)set_length(end_, "undo: length");
    return status;
  }
  end_ = end;
  growth_ = std::min(growth_ * 2, kLargestGrowth);
  return {};
}

Status ChunkFile::set_padding(int64_t position, int64_t end, const char* step) {
  return write_at(position, padding_slot(end - position), step);
}

Status ChunkFile::write_word(size_t header_offset, int64_t value, const char* step) {
  std::array<uint8_t, 8> word{};
  put_be(word.data(), static_cast<uint64_t>(value), 8);
  return write_at(chunk_start_ + static_cast<int64_t>(header_offset), word, step);
}

Status ChunkFile::set_length(int64_t length, const char* step) {
  int result = 0;
  do result = ftruncate(fd_.get(), length);
  while (result != 0 && errno == EINTR);
  // Some file systems can't extend by ftruncate; any can by writing.
  const uint8_t zero = 0;
  if (result != 0 && length > end_ && pwrite(fd_.get(), &zero, 1, length - 1) == 1) result = 0;
  if (result != 0) return errno_error("can't set the recording's length to " + std::to_string(length), errno);
  did(step);
  return {};
}

Status ChunkFile::write_at(int64_t position, std::span<const uint8_t> bytes, const char* step) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd_.get(), bytes.data(), bytes.size(), position);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return errno_error("can't write the recording (" + std::string(step) + ")", n == 0 ? ENOSPC : errno);
    }
    bytes = bytes.subspan(static_cast<size_t>(n));
    position += n;
  }
  did(step);
  return {};
}

}  // namespace tarsier::recording
