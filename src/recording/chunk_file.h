// The file under a recording that is valid for every reader after each single write (docs/recording.md, "Flushing").
//
//   chunk_start_              padding_                             end_ = length of the file
//   |header|events, constants |size 0 ..............................|
//                              ^ one event of type 0, skipped by its size; new bytes are first written inside it and
//                                then shown by writing its size anew
//
// Positions that are written in place are multiples of 8 and the writes 8 bytes long: neither a kill nor a page's end
// can leave half of one. Every failure leaves the file as it was before the step that failed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "recording/constant_tables.h"
#include "recording/encoder.h"

namespace tarsier::recording {

// A chunk's start: header, metadata and first checkpoint. Its size is a multiple of 8.
struct ChunkPrologue {
  Encoder bytes;
  size_t checkpoint = 0;  // offset from the chunk's start
};

class ChunkFile {
 public:
  using AfterStep = std::function<void(const char* step)>;

  ChunkFile(unique_fd file, AfterStep after_step) : fd_(std::move(file)), after_step_(std::move(after_step)) {}

  Status create(const ChunkPrologue& prologue);
  // Adds events and their checkpoint to the current chunk. `data` is used as scratch space.
  Status append(Encoder& data, const Checkpoint& checkpoint);
  Status set_duration(Nanos chunk_duration);
  // Ends the current chunk and starts the next one.
  Status rotate(const ChunkPrologue& prologue);
  // Cuts the padding off, by way of an empty chunk that is started and cut off as a whole; closes the file. A failure
  // leaves the padding, which is as valid.
  Status finish();

  [[nodiscard]] Bytes chunk_size() const { return Bytes(padding_ - chunk_start_); }
  [[nodiscard]] Bytes size() const { return Bytes(padding_); }
  // Without what somebody has freed.
  [[nodiscard]] Bytes on_disk() const;

 private:
  Status write_at(int64_t position, std::span<const uint8_t> bytes, const char* step);
  Status write_word(size_t header_offset, int64_t value, const char* step);
  Status set_padding(int64_t position, int64_t end, const char* step);
  Status set_length(int64_t length, const char* step);
  Status make_room(int64_t needed);
  // Writing behind the end of a file that somebody has cut would leave a hole, and nonsense after it.
  Status check_whole();
  Status split(int64_t start, const Encoder& chunk);
  void remember_header(const ChunkPrologue& prologue);
  void did(const char* step) const {
    if (after_step_) after_step_(step);
  }

  unique_fd fd_;
  AfterStep after_step_;
  std::array<uint8_t, kHeaderSize> header_{};  // of the current chunk, for its times
  int64_t chunk_start_ = 0;
  int64_t checkpoint_ = 0;  // the newest, from the file's start
  int64_t padding_ = 0;
  int64_t end_ = 0;
  bool cut_ = false;
};

}  // namespace tarsier::recording
