#include "recording/chunk_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "recording/empty_chunk.h"

namespace tarsier::recording {
namespace {

// The largest write that changes a file's content and length in one step, on every file system and page size.
constexpr int64_t kPage = 4096;
constexpr int64_t kGrowth = 1 << 20;

constexpr int64_t round_up(int64_t n, int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Asking first keeps the kernel from sending SIGXFSZ, which would end the process.
int64_t longest_file() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return INT64_MAX;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
}

}  // namespace

Status ChunkFile::create(const ChunkPrologue& prologue) {
  const auto size = static_cast<int64_t>(prologue.bytes.size());
  const int64_t end = round_up(size + kSlot, kPage);
  if (end > longest_file()) return errno_error("can't start the recording", EFBIG);
  Encoder start;
  start.raw(prologue.bytes.bytes());
  put_be(start.at(kChunkSizeAt), static_cast<uint64_t>(end), 8);
  append_padding(start, end - size);
  start.fill(static_cast<size_t>(end) - start.size());
  if (Status s = write_at(0, start.bytes(), "create"); !s.ok()) return s;
  remember_header(prologue);
  checkpoint_ = static_cast<int64_t>(prologue.checkpoint);
  padding_ = size;
  end_ = end;
  return {};
}

Status ChunkFile::check_whole() {
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0) return errno_error("can't look at the recording's file", errno);
  if (!S_ISREG(status.st_mode) || status.st_size >= end_) return {};
  cut_ = true;
  return Error{Errc::kFailed, "somebody has cut the file to " + std::to_string(status.st_size) + " of " +
                                  std::to_string(end_) + " bytes while it was written"};
}

Bytes ChunkFile::on_disk() const {
  constexpr int64_t kBlock = 512;  // whatever the file system's own may be
  struct stat status {};
  return Bytes(fstat(fd_.get(), &status) == 0 ? status.st_blocks * kBlock : 0);
}

Status ChunkFile::append(Encoder& data, const Checkpoint& checkpoint) {
  if (Status s = check_whole(); !s.ok()) return s;
  const auto size = static_cast<int64_t>(data.size());
  // The old padding shrinks to a few bytes that bring the new one to a multiple of 8.
  const int64_t at = padding_ + kSlot + (round_up(size, kSlot) - size);
  const int64_t new_padding = at + size;
  if (Status s = make_room(new_padding + kSlot); !s.ok()) return s;

  const int64_t new_checkpoint = at + static_cast<int64_t>(checkpoint.at);
  put_varint_padded9(data.at(checkpoint.delta_at), static_cast<uint64_t>(checkpoint_ - new_checkpoint));
  append_padding(data, end_ - new_padding);
  if (Status s = write_at(at, data.bytes(), "append: data"); !s.ok()) return s;
  if (Status s = write_word(kConstantPoolAt, new_checkpoint - chunk_start_, "append: constants"); !s.ok()) return s;
  if (Status s = set_padding(padding_, at, "append: padding"); !s.ok()) return s;
  checkpoint_ = new_checkpoint;
  padding_ = new_padding;
  return {};
}

Status ChunkFile::set_duration(Nanos chunk_duration) {
  return write_word(kDurationAt, chunk_duration.count, "duration");
}

Status ChunkFile::rotate(const ChunkPrologue& prologue) {
  const auto size = static_cast<int64_t>(prologue.bytes.size());
  const int64_t start = padding_ + kSlot;
  if (Status s = make_room(start + size + kSlot); !s.ok()) return s;
  Encoder chunk;
  chunk.raw(prologue.bytes.bytes());
  put_be(chunk.at(kChunkSizeAt), static_cast<uint64_t>(end_ - start), 8);
  append_padding(chunk, end_ - start - size);
  if (Status s = split(start, chunk); !s.ok()) return s;
  remember_header(prologue);
  chunk_start_ = start;
  checkpoint_ = start + static_cast<int64_t>(prologue.checkpoint);
  padding_ = start + size;
  return {};
}

// Makes the rest of the file, from `start` on, the next chunk.
Status ChunkFile::split(int64_t start, const Encoder& chunk) {
  if (Status s = write_at(start, chunk.bytes(), "rotate: new chunk"); !s.ok()) return s;
  // Now the padding reaches beyond its chunk, over the next one. Readers take that as the chunk's end. The other way
  // round they would take the new chunk's header for an event.
  if (Status s = write_word(kChunkSizeAt, start - chunk_start_, "rotate: chunk size"); !s.ok()) return s;
  // If this fails the padding stays too long: untidy, and valid.
  (void)set_padding(padding_, start, "rotate: padding");
  return {};
}

Status ChunkFile::finish() {
  const int64_t cut = padding_ + kSlot;
  Status status;
  if (!cut_ && end_ - cut >= kSmallestEmptyChunk) {
    status = split(cut, encode_empty_chunk(header_, end_ - cut));
    if (status.ok()) status = set_length(cut, "finish: length");
  }
  fd_.reset();
  return status;
}

// Appends pages, each of which is a complete chunk, and then lets the current chunk swallow them.
Status ChunkFile::make_room(int64_t needed) {
  if (needed <= end_) return {};
  const int64_t limit = longest_file();
  const int64_t enough = round_up(needed, kPage);
  if (enough > limit) return errno_error("can't extend the recording to " + std::to_string(enough) + " bytes", EFBIG);
  const int64_t target = std::min(std::max(enough, end_ + kGrowth), limit / kPage * kPage);
  Encoder page = encode_empty_chunk(header_, kPage);
  page.fill(kPage - page.size());
  int64_t end = end_;
  for (; end < target; end += kPage) {
    Status s = write_at(end, page.bytes(), "grow: page");
    if (s.ok()) continue;
    // A part of a page may have been written.
    (void)set_length(end, "grow: undo");
    if (end < enough) return s;
    break;
  }
  // As in split(): a padding may be longer than its chunk, a chunk may not be longer than its padding.
  if (Status s = set_padding(padding_, end, "grow: padding"); !s.ok()) return s;
  if (Status s = write_word(kChunkSizeAt, end - chunk_start_, "grow: chunk size"); !s.ok()) return s;
  end_ = end;
  return {};
}

void ChunkFile::remember_header(const ChunkPrologue& prologue) {
  std::copy_n(prologue.bytes.bytes().begin(), kHeaderSize, header_.begin());
}

Status ChunkFile::set_padding(int64_t position, int64_t end, const char* step) {
  Encoder padding;
  append_padding(padding, end - position);
  return write_at(position, padding.bytes(), step);
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
