#include "recording/reader.h"

#include <algorithm>
#include <cstring>

#include "recording/chunk_header.h"
#include "recording/chunk_reader.h"
#include "recording/format.h"
#include "recording/mapped_file.h"
#include "recording/text_store.h"

namespace tarsier::recording {
namespace {

constexpr size_t kMostProblems = 20;

class FileReader final : public Recording {
 public:
  explicit FileReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  explicit FileReader(MappedFile file) : file_(std::move(file)), bytes_(file_->bytes()) {}

  Result<ReadSummary> read(Visitor& visitor) override {
    ReadSummary summary;
    summary.bytes = bytes_.size();
    uint64_t offset = 0;
    uint64_t number = 0;
    while (offset < bytes_.size()) {
      const auto header = ChunkHeader::parse(bytes_.subspan(offset));
      if (!header) {
        offset = skip_to_next_chunk(summary, offset);
        continue;
      }
      const std::string where = "chunk " + std::to_string(++number) + " at byte " + std::to_string(offset);
      const uint64_t end = end_of_chunk(summary, *header, where, offset);
      read_chunk(visitor, summary, *header, where, offset, end);
      forget(offset, end);
      offset = end;
      visitor.passed(offset, bytes_.size());
    }
    if (file_ && file_->was_cut()) problem(summary, "the file became shorter while it was read");
    if (summary.chunks == 0) {
      return Error{Errc::kCorrupt, "no chunk could be read" +
                                       (summary.problems.empty() ? std::string() : ": " + summary.problems.front())};
    }
    return summary;
  }

 private:
  static void problem(ReadSummary& summary, std::string text) {
    if (summary.problems.size() < kMostProblems) summary.problems.push_back(std::move(text));
  }

  [[nodiscard]] uint64_t find_chunk(uint64_t from) const {
    while (from < bytes_.size()) {
      const void* const found = memmem(bytes_.data() + from, bytes_.size() - from, kMagic, sizeof kMagic);
      if (!found) break;
      from = static_cast<uint64_t>(static_cast<const uint8_t*>(found) - bytes_.data());
      if (ChunkHeader::parse(bytes_.subspan(from))) return from;
      ++from;
    }
    return bytes_.size();
  }

  uint64_t skip_to_next_chunk(ReadSummary& summary, uint64_t offset) const {
    const uint64_t next = find_chunk(offset);
    problem(summary, "no chunk starts at byte " + std::to_string(offset) + ": " + std::to_string(next - offset) +
                         " bytes were skipped");
    return next;
  }

  uint64_t end_of_chunk(ReadSummary& summary, const ChunkHeader& header, const std::string& where,
                        uint64_t offset) const {
    const uint64_t left = bytes_.size() - offset;
    if (header.size >= kHeaderSize && header.size <= left) return offset + header.size;
    // A chunk that its writer did not finish, or whose end is lost. If its size is wrong there may be others after it.
    const uint64_t end = find_chunk(offset + kHeaderSize);
    problem(summary, where + " should be " + std::to_string(header.size) + " bytes long, but there " + "are " +
                         std::to_string(end - offset) + ": read as far as it goes");
    return end;
  }

  void read_chunk(Visitor& visitor, ReadSummary& summary, const ChunkHeader& header, const std::string& where,
                  uint64_t offset, uint64_t end) {
    auto chunk = ChunkReader::open(header, bytes_.subspan(offset, end - offset), texts_);
    if (!chunk.ok()) {
      ++summary.damaged_chunks;
      return problem(summary, where + " was skipped: " + chunk.error().what);
    }
    bool damaged = header.size != end - offset;
    if (!(*chunk)->load_constants()) {
      damaged = true;
      problem(summary, where + ": some of its constants are lost, so stacks or names may be missing");
    }
    visitor.chunk(**chunk);
    for (const std::string_view type : (*chunk)->undecodable()) {
      problem(summary,
              where + ": its events of type " + std::string(type) + " were skipped, their description is damaged");
    }
    ChunkReader::EventCounts counts;
    size_t done = 0;
    const uint64_t broken = (*chunk)->visit_events(visitor, counts, [&](size_t passed) {
      forget(offset + done, offset + passed);
      done = passed;
      visitor.passed(offset + passed, bytes_.size());
    });
    summary.events += counts.all;
    summary.events_visited += counts.visited;
    if (broken != 0) {
      damaged = true;
      problem(summary, where + ": its events make no sense from byte " + std::to_string(offset + broken) + " on; " +
                           std::to_string(end - offset - broken) + " bytes were skipped");
    }
    if (counts.damaged != 0) {
      damaged = true;
      problem(summary, where + ": " + std::to_string(counts.damaged) + " events are not as the file describes them");
    }
    // Read as far as it went: it counts in both.
    ++summary.chunks;
    if (damaged) ++summary.damaged_chunks;
  }

  // What was read stays in the page cache, and need not count as our memory.
  void forget(uint64_t begin, uint64_t end) const {
    if (file_) file_->forget(begin, end);
  }

  std::optional<MappedFile> file_;
  std::span<const uint8_t> bytes_;
  TextStore texts_;
};

Status check_start(std::span<const uint8_t> bytes) {
  if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return Error{Errc::kCorrupt, "not a JFR recording (it does not start with \"FLR\")"};
  }
  if (bytes.size() < kHeaderSize) return Error{Errc::kCorrupt, "the recording ends within its first chunk's header"};
  return {};
}

}  // namespace

Result<std::unique_ptr<Recording>> Recording::open(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) return std::move(file).error();
  if (Status s = check_start(file->bytes()); !s.ok()) return std::move(s).error().in(path);
  return std::unique_ptr<Recording>(std::make_unique<FileReader>(std::move(*file)));
}

Result<std::unique_ptr<Recording>> Recording::over(std::span<const uint8_t> bytes) {
  if (Status s = check_start(bytes); !s.ok()) return std::move(s).error();
  return std::unique_ptr<Recording>(std::make_unique<FileReader>(bytes));
}

}  // namespace tarsier::recording
