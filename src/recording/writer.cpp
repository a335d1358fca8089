#include "recording/writer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "recording/chunk_file.h"
#include "recording/constant_tables.h"
#include "recording/empty_chunk.h"
#include "recording/encoder.h"
#include "recording/metadata.h"
#include "recording/type_ids.h"

namespace tarsier::recording {
namespace {

constexpr size_t kBufferSize = 1 << 20;
// Sizes of events are ints in other readers, and a chunk can pass its limit by one buffer and its constants.
constexpr int64_t kLargestChunk = int64_t{1} << 30;

class FileWriter final : public Writer {
 public:
  FileWriter(unique_fd file, Options options)
      : options_(std::move(options)),
        file_(std::move(file), options_.after_step),
        metadata_(encode_metadata()),
        first_tick_(monotonic_now()),
        first_wall_(wall_now()) {
    options_.chunk_size = std::clamp(options_.chunk_size, Bytes(1), Bytes(kLargestChunk));
    buffer_.reserve(kBufferSize + kBufferSize / 8);
  }

  Status start() { return file_.create(new_chunk()); }

  ClassId klass(std::string_view name) override { return constants_.klass(name); }
  MethodId method(const MethodInfo& info) override { return constants_.method(info); }
  StackId stack(std::span<const Frame> frames, bool truncated) override { return constants_.stack(frames, truncated); }
  void add(EncodedStack& stack, const Frame& frame) override { constants_.add(stack, frame); }
  StackId stack(std::span<const Frame> inner, EncodedStack& frames, std::span<const Frame> outer,
                bool truncated) override {
    return constants_.stack(inner, frames, outer, truncated);
  }
  ThreadId thread(const ThreadInfo& info) override { return constants_.thread(info); }

  void event(Event type, Nanos start, std::span<const Value> values) override {
    if (finished_ || !error_.ok()) {
      ++lost_[index(type)];
      return;
    }
    encode_event(type, start, values);
    if (buffer_.size() >= kBufferSize) write_buffer();
  }

  void sticky_event(Event type, std::string_view key, Nanos start, std::span<const Value> values) override {
    sticky_[{type, std::string(key)}] = Sticky(start, values);
    event(type, start, values);
  }

  Status flush() override {
    if (finished_ || !error_.ok()) return error_;
    write_buffer();
    if (error_.ok() && memory_used() > options_.memory) start_generation();
    return error_;
  }

  Status finish() override {
    if (finished_) return error_;
    if (error_.ok()) write_buffer();
    finished_ = true;
    const Status trimmed = file_.finish();  // also after an error: it takes no new space
    if (error_.ok()) error_ = trimmed;
    return error_;
  }

  [[nodiscard]] uint64_t lost_events() const override { return sum(lost_); }
  [[nodiscard]] uint64_t lost_events(Event type) const override { return lost_[index(type)]; }
  [[nodiscard]] uint64_t unread_events() const override { return sum(unread_); }
  [[nodiscard]] uint64_t unread_events(Event type) const override { return unread_[index(type)]; }
  [[nodiscard]] Bytes bytes_written() const override { return file_.size(); }
  [[nodiscard]] Bytes memory_used() const override {
    return Bytes(static_cast<int64_t>(constants_.memory() + buffer_.capacity() + metadata_.capacity()));
  }

 private:
  using Counts = std::array<uint64_t, static_cast<size_t>(Event::kCount)>;  // by type
  static size_t index(Event type) { return static_cast<size_t>(type); }
  static uint64_t sum(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

  // Values that own their strings, to be written again in every chunk.
  struct Sticky {
    Sticky() = default;
    Sticky(Nanos when, std::span<const Value> source) : start(when), values(source.begin(), source.end()) {
      strings.reserve(values.size());
      for (Value& value : values) {
        auto* text = std::get_if<std::string_view>(&value);
        if (text && text->data()) *text = strings.emplace_back(*text);
        assert(!std::holds_alternative<Binary>(value));
      }
    }
    Sticky(Sticky&&) = default;
    Sticky& operator=(Sticky&&) = default;
    Nanos start;
    std::vector<Value> values;
    std::vector<std::string> strings;
  };

  // Header, metadata and the constants that never change. Times of all chunks come from one pair of clock readings: a
  // wall clock that is set back must not reorder a recording.
  ChunkPrologue new_chunk() {
    chunk_tick_ = monotonic_now();
    ChunkPrologue prologue;
    Encoder& out = prologue.bytes;
    out.raw(kMagic);
    out.be(kMajorVersion, 2);
    out.be(kMinorVersion, 2);
    out.be(0, 8);  // size, by the file
    out.be(0, 8);  // constants
    out.be(0, 8);  // metadata
    out.be(static_cast<uint64_t>((first_wall_ + (chunk_tick_ - first_tick_)).count), 8);
    out.be(0, 8);  // duration
    out.be(static_cast<uint64_t>(chunk_tick_.count), 8);
    out.be(1'000'000'000, 8);
    out.be(0, 4);  // state: done

    const size_t metadata_at = out.size();
    out.fill(kPaddedVarint);
    out.varint(kMetadataType);
    out.int64(chunk_tick_.count);
    out.int64(0);
    // Readers keep the metadata of the chunk before if it has the same id: it must differ between recordings, because
    // files get concatenated.
    out.int64(first_wall_.count & INT64_MAX);
    out.raw(metadata_);
    put_varint_padded5(out.at(metadata_at), out.size() - metadata_at);

    prologue.checkpoint = encode_static_constants(out, chunk_tick_).at;
    align_to_slot(out);
    put_be(out.at(kMetadataAt), metadata_at, 8);
    put_be(out.at(kConstantPoolAt), prologue.checkpoint, 8);
    return prologue;
  }

  void encode_event(Event type, Nanos start, std::span<const Value> values) {
    const std::span<const Field> fields = event_type(type).fields;
    assert(values.size() == fields.size());
    const size_t begin = buffer_.begin_event();
    buffer_.varint(id_of(type));
    buffer_.int64(start.count);
    const Value nothing;
    for (size_t i = 0; i < fields.size(); ++i) encode_value(fields[i].kind, i < values.size() ? values[i] : nothing);
    buffer_.end_event(begin);
    ++buffered_[index(type)];
    ++buffered_events_;
  }

  void encode_value(Kind kind, const Value& value) {
    switch (kind) {
      case Kind::kBool:
        return buffer_.boolean(as<int64_t>(value) != 0);
      case Kind::kInt:
        return buffer_.int32(static_cast<int32_t>(as<int64_t>(value)));
      case Kind::kLong:
      case Kind::kNanos:
      case Kind::kBytes:
      case Kind::kEpochMillis:
        return buffer_.int64(as<int64_t>(value));
      case Kind::kShare:
        return buffer_.be(std::bit_cast<uint32_t>(as<float>(value)), 4);
      case Kind::kThreadState:
        return buffer_.int64(as<int64_t>(value) + 1);  // 0 is null
      case Kind::kString:
        return buffer_.string(as<std::string_view>(value));
      case Kind::kBinary:
        return buffer_.binary(as<Binary>(value));
      case Kind::kThread:
        return buffer_.varint(constants_.use(as<ThreadId>(value)));
      case Kind::kStack:
        return buffer_.varint(constants_.use(as<StackId>(value)));
      case Kind::kClass:
        return buffer_.varint(constants_.use(as<ClassId>(value)));
    }
  }

  // A wrong alternative is a mistake of the caller: found in debug builds, null or 0 in others.
  template <class T>
  static T as(const Value& value) {
    const T* held = std::get_if<T>(&value);
    assert(held != nullptr);
    return held ? *held : T();
  }

  void write_buffer() {
    const Nanos now = monotonic_now();
    append(now);
    const bool old = now - chunk_tick_ >= options_.chunk_age && chunk_has_events_;
    if (error_.ok() && (old || file_.chunk_size() >= options_.chunk_size)) rotate();
  }

  void append(Nanos now) {
    const bool unread = options_.most_on_disk.count > 0 && file_.on_disk() > options_.most_on_disk;
    if (unread) {
      // Constants that these events were the first to use go into the next checkpoint all the same.
      drop_buffer(unread_);
    } else if (buffered_events_ > 0) {
      const Checkpoint checkpoint = constants_.encode_checkpoint(buffer_, now);
      const Status written = file_.append(buffer_, checkpoint);
      if (!written.ok()) return fail(written);
      buffer_.clear();
      buffered_events_ = 0;
      buffered_ = {};
      chunk_has_events_ = true;
    }
    if (Status s = file_.set_duration(now - chunk_tick_); !s.ok()) fail(s);
  }

  // The buffer is empty: it was just written.
  void rotate() {
    if (Status s = file_.rotate(new_chunk()); !s.ok()) return fail(s);
    constants_.start_chunk();
    for (const auto& [key, sticky] : sticky_) encode_event(key.first, sticky.start, sticky.values);
    append(monotonic_now());
    chunk_has_events_ = false;
  }

  void start_generation() {
    std::vector<ThreadId*> keep;
    for (auto& [key, sticky] : sticky_) {
      for (Value& value : sticky.values) {
        if (auto* thread = std::get_if<ThreadId>(&value)) keep.push_back(thread);
        if (std::holds_alternative<StackId>(value)) value = StackId(0);
        if (std::holds_alternative<ClassId>(value)) value = ClassId(0);
      }
    }
    constants_.forget(keep);
    ++generation_;
    rotate();
  }

  void drop_buffer(Counts& dropped) {
    for (size_t i = 0; i < dropped.size(); ++i) dropped[i] += buffered_[i];
    buffered_ = {};
    buffered_events_ = 0;
    buffer_.clear();
  }

  // Nothing is written after the first error.
  void fail(const Status& error) {
    error_ = error;
    drop_buffer(lost_);
  }

  Options options_;
  ChunkFile file_;
  ConstantTables constants_;
  std::vector<uint8_t> metadata_;
  Nanos first_tick_, first_wall_;
  Nanos chunk_tick_;
  Encoder buffer_;
  uint64_t buffered_events_ = 0;
  Counts buffered_{}, lost_{}, unread_{};
  bool chunk_has_events_ = false;
  std::map<std::pair<Event, std::string>, Sticky> sticky_;
  bool finished_ = false;
  Status error_;
};

Status check_file(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return errno_error("can't use the recording's file", errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{Errc::kUsage, "a recording can only be written to a regular file, because it is changed in place"};
  }
  if (status.st_size != 0) return Error{Errc::kUsage, "the recording's file is not empty"};
  const int flags = fcntl(fd, F_GETFL);
  // With O_APPEND Linux ignores the position of every pwrite.
  if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_APPEND) != 0) {
    return errno_error("can't use the recording's file", errno);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::open(unique_fd file, Options options) {
  if (Status s = check_file(file.get()); !s.ok()) return std::move(s).error();
  auto writer = std::make_unique<FileWriter>(std::move(file), std::move(options));
  if (Status s = writer->start(); !s.ok()) return std::move(s).error();
  return std::unique_ptr<Writer>(std::move(writer));
}

}  // namespace tarsier::recording
