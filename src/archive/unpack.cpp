#include "archive/unpack.h"

#include <sys/types.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "archive/write_all.h"
#include "recording/chunk_header.h"
#include "recording/format.h"

namespace tarsier::archive {
namespace {

constexpr std::array<uint8_t, 4> kFrameMagic = {0x28, 0xb5, 0x2f, 0xfd};
constexpr size_t kMostProblems = 20;
constexpr size_t kStep = 1 << 20;  // of the archive: this often the limits are looked at
constexpr size_t kUnreadableFrame = 0;
// A search for the next chunk looks at this much of a frame, which is more than its first block, and at this many
// frames: in a file of nothing but beginnings it would not end otherwise.
constexpr size_t kFrameStart = 256 << 10;
constexpr size_t kMostCandidates = 10'000;

std::span<const uint8_t> next_frame(std::span<const uint8_t> bytes) {
  const void* const found = ::memmem(bytes.data(), bytes.size(), kFrameMagic.data(), kFrameMagic.size());
  if (found == nullptr) return {};
  return bytes.subspan(static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes.data()));
}

class Unpacker {
 public:
  Unpacker(std::span<const uint8_t> archive, int fd, const Limits& limits)
      : archive_(archive),
        fd_(fd),
        limit_(std::max(limits.bytes, limits.times_the_archive * archive.size())),
        context_(ZSTD_createDCtx(), ZSTD_freeDCtx),
        out_(ZSTD_DStreamOutSize()) {}

  Result<Unpacked> run() {
    if (!context_) return Error{Errc::kFailed, "no memory for zstd"};
    for (size_t at = 0; at < archive_.size();) {
      frame_at_ = at;
      const uint64_t before = written_;
      auto used = frame(archive_.subspan(at));
      if (!used) return std::move(used).error();
      if (*used != kUnreadableFrame) {
        at += *used;
        continue;
      }
      if (!cut_) drop_back_to(before);  // of a frame with a wrong checksum no byte can be trusted
      auto next = skip_to_next_chunk(at);
      if (!next) return std::move(next).error();
      at = *next;
    }
    if (::ftruncate(fd_, static_cast<off_t>(written_)) != 0) return errno_error("can't write", errno);
    if (written_ == 0) {
      return Error{Errc::kCorrupt, result_.problems.empty() ? "the archive is empty" : result_.problems[0]};
    }
    result_.bytes = written_;
    return std::move(result_);
  }

 private:
  // How much of `bytes` the frame at their start takes, or kUnreadableFrame: then `damage_` says why.
  Result<size_t> frame(std::span<const uint8_t> bytes) {
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    cut_ = false;
    size_t used = 0;
    bool at_start = true;
    while (used < bytes.size()) {
      ZSTD_inBuffer in{bytes.data() + used, std::min(kStep, bytes.size() - used), 0};
      for (bool more = true; more;) {
        ZSTD_outBuffer out{out_.data(), out_.size(), 0};
        const size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
        if (ZSTD_isError(left) != 0) {
          damage_ = ZSTD_getErrorName(left);
          return kUnreadableFrame;
        }
        if (auto kept = keep({out_.data(), out.pos}, at_start); !kept) return std::move(kept).error();
        at_start = at_start && out.pos == 0;
        if (left == 0) return used + in.pos;
        more = in.pos < in.size || out.pos == out.size;
      }
      used += in.pos;
    }
    cut_ = true;
    damage_ = "the archive ends within it";
    return kUnreadableFrame;
  }

  Status keep(std::span<const uint8_t> bytes, bool starts_frame) {
    if (bytes.empty()) return {};
    if (written_ == 0 && !std::equal(std::begin(recording::kMagic), std::end(recording::kMagic), bytes.begin(),
                                     bytes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(4, bytes.size())))) {
      return Error{Errc::kCorrupt, "a zstd file, but there is no JFR recording in it"};
    }
    if (written_ + bytes.size() > limit_) return bomb();
    if (starts_frame) note_chunk(bytes);
    if (auto written = write_all(bytes, fd_); !written) return written;
    written_ += bytes.size();
    return {};
  }

  [[nodiscard]] Error bomb() const {
    return Error{Errc::kCorrupt, "the archive holds more than " + std::to_string(limit_ >> 20) +
                                     " MB, too much for its size to be a recording: refused"};
  }

  void note_chunk(std::span<const uint8_t> bytes) {
    if (const auto header = recording::ChunkHeader::parse(bytes)) {
      chunk_at_ = written_;
      chunk_size_ = header->size;
    }
  }

  void drop_back_to(uint64_t end) {
    written_ = end;
    if (::ftruncate(fd_, static_cast<off_t>(end)) == 0) ::lseek(fd_, static_cast<off_t>(end), SEEK_SET);
  }

  // Where in the archive it can go on: at a frame that begins a chunk. Leaves room for what is lost of this one.
  Result<size_t> skip_to_next_chunk(size_t from) {
    const std::string frame = "the frame at byte " + std::to_string(frame_at_) + " is damaged (" + damage_ + ")";
    size_t at = archive_.size();
    for (auto rest = next_frame(archive_.subspan(from + 1)); !rest.empty(); rest = next_frame(rest.subspan(1))) {
      if (++candidates_ > kMostCandidates) break;
      if (!begins_chunk(rest)) continue;
      at = archive_.size() - rest.size();
      break;
    }
    if (result_.problems.size() < kMostProblems) {
      result_.problems.push_back(frame + ": " + std::to_string(at - from) + " bytes of the archive were skipped");
    }
    const uint64_t chunk_end = chunk_at_ + chunk_size_;
    if (at < archive_.size() && written_ > 0 && chunk_end > written_ && chunk_size_ <= limit_) {
      if (chunk_end > limit_) return bomb();
      written_ = chunk_end;
    }
    // A hole: zeros that take no room.
    if (::lseek(fd_, static_cast<off_t>(written_), SEEK_SET) < 0) return errno_error("can't write", errno);
    return at;
  }

  [[nodiscard]] bool begins_chunk(std::span<const uint8_t> bytes) {
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    std::array<uint8_t, recording::kHeaderSize> start{};
    ZSTD_inBuffer in{bytes.data(), std::min(kFrameStart, bytes.size()), 0};
    ZSTD_outBuffer out{start.data(), start.size(), 0};
    while (out.pos < out.size && in.pos < in.size) {
      const size_t before = in.pos + out.pos;
      if (ZSTD_isError(ZSTD_decompressStream(context_.get(), &out, &in)) != 0) return false;
      if (in.pos + out.pos == before) break;
    }
    return out.pos == out.size && recording::ChunkHeader::parse(start).has_value();
  }

  std::span<const uint8_t> archive_;
  int fd_;
  uint64_t limit_;
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context_;
  std::vector<uint8_t> out_;
  uint64_t written_ = 0;
  uint64_t chunk_at_ = 0, chunk_size_ = 0;  // the latest that began
  size_t frame_at_ = 0;
  bool cut_ = false;
  size_t candidates_ = 0;
  std::string damage_;
  Unpacked result_;
};

}  // namespace

bool is_archive(std::span<const uint8_t> bytes) {
  return bytes.size() >= kFrameMagic.size() && std::equal(kFrameMagic.begin(), kFrameMagic.end(), bytes.begin());
}

Result<Unpacked> unpack(std::span<const uint8_t> archive, int fd, const Limits& limits) {
  return Unpacker(archive, fd, limits).run();
}

}  // namespace tarsier::archive
