#include "saved/fragment_reader.h"

#include <algorithm>
#include <cstring>

namespace tarsier::saved {
namespace {

constexpr size_t kLine = NotedMemory::kLine;

using recording::Chunk;
using recording::EventView;
using recording::FieldIndex;
using recording::TypeIndex;

// The fields of one type of events in the current chunk, by name.
class Fields {
 public:
  Fields(const Chunk& chunk, const EventView& event) : chunk_(chunk), event_(event) {}

  [[nodiscard]] uint64_t word(std::string_view name) const { return static_cast<uint64_t>(event_.number(at(name))); }
  [[nodiscard]] bool flag(std::string_view name) const { return event_.number(at(name)) != 0; }
  [[nodiscard]] std::string text(std::string_view name) const { return std::string(event_.string(at(name))); }
  [[nodiscard]] std::span<const uint8_t> binary(std::string_view name) const { return event_.binary(at(name)); }
  [[nodiscard]] std::string thread(std::string_view name) const {
    recording::ThreadInfo info;
    if (!chunk_.thread(event_.constant(at(name)), info)) return "";
    return std::string(info.java_name.empty() ? info.os_name : info.java_name);
  }

 private:
  [[nodiscard]] FieldIndex at(std::string_view name) const { return chunk_.field(event_.type(), name); }

  const Chunk& chunk_;
  const EventView& event_;
};

SavedFragment fragment_of(const Fields& fields, Nanos time) {
  const auto stack = fields.binary("stack"), frozen = fields.binary("frozen"), registers = fields.binary("registers");
  hotspot::Fragment f{};
  f.pc = fields.word("pc");
  f.sp = fields.word("sp");
  f.fp = fields.word("fp");
  std::copy_n(registers.begin(), std::min(registers.size(), sizeof(f.general)), reinterpret_cast<uint8_t*>(f.general));
  f.anchor = {fields.word("anchorSp"), fields.word("anchorPc"), fields.word("anchorFp")};
  f.continuation = fields.word("continuation");
  f.thread_state = static_cast<int32_t>(fields.word("threadState"));
  f.stack_bytes = static_cast<uint32_t>(stack.size());
  f.epoch = fields.word("epoch");
  f.frozen_bytes = static_cast<uint32_t>(frozen.size());
  f.frozen_cut = fields.flag("frozenCut");
  f.cut = fields.flag("cut");

  SavedFragment out;
  out.time = time;
  out.thread = fields.thread("sampledThread");
  out.words.resize((sizeof(f) + stack.size() + frozen.size() + 7) / 8);
  auto* bytes = reinterpret_cast<uint8_t*>(out.words.data());
  std::memcpy(bytes, &f, sizeof(f));
  std::copy(stack.begin(), stack.end(), bytes + sizeof(f));
  std::copy(frozen.begin(), frozen.end(), bytes + sizeof(f) + stack.size());
  out.epoch = f.epoch;
  out.decoded_in = fields.word("decodedIn");
  const auto rules = fields.binary("rules");
  out.rules.assign(rules.begin(), rules.end());
  constexpr uint64_t kDeepest = 8192;
  out.max_depth = std::clamp<uint64_t>(fields.word("maxDepth"), 1, kDeepest);
  out.result = fields.text("result");
  out.as_written = fields.flag("asWritten");
  return out;
}

class Reader final : public recording::Visitor {
 public:
  explicit Reader(const OnFragment& on_fragment) : on_fragment_(on_fragment) {}

  void chunk(Chunk& chunk) override {
    jvm_type_ = chunk.type("tarsier.SavedJvm");
    memory_type_ = chunk.type("tarsier.SavedMemory");
    fragment_type_ = chunk.type("tarsier.SavedFragment");
    for (const TypeIndex type : {jvm_type_, memory_type_, fragment_type_}) {
      if (type) chunk.select(type);
    }
  }
  void event(const Chunk& chunk, const EventView& event) override {
    if (!wrong_.ok()) return;
    const Fields fields(chunk, event);
    if (event.type().index == jvm_type_.index) return read_jvm(fields);
    if (event.type().index == memory_type_.index) return read_memory(fields);
    if (jvm_.machine == nullptr) return fail("a fragment comes before the JVM that it is of");
    on_fragment_(jvm_, memory_, fragment_of(fields, event.start()));
    ++count_;
  }
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] Status& wrong() { return wrong_; }

 private:
  void fail(std::string what) { wrong_ = Error{Errc::kCorrupt, std::move(what)}; }
  // It comes again in every chunk. Another one is of another recording, joined to the first.
  void read_jvm(const Fields& fields) {
    SavedJvm jvm;
    const std::string name = fields.text("architecture");
    jvm.machine = hotspot::Machine::find(name);
    jvm.release = static_cast<int>(fields.word("release"));
    jvm.structs_text = fields.text("structs");
    if (jvm.machine == nullptr) return fail("its JVM ran on '" + name + "', which is not known here");
    if (jvm_.machine == jvm.machine && jvm_.release == jvm.release && jvm_.structs_text == jvm.structs_text) return;
    auto structs = hotspot::VmStructs::from_text(jvm.structs_text);
    if (!structs) return fail(structs.error().what);
    jvm.structs = std::move(*structs);
    jvm_ = std::move(jvm);
    memory_.clear();
  }
  void read_memory(const Fields& fields) {
    const auto content = fields.binary("content");
    const Address begin = fields.word("address");
    if (content.empty() ? memory_.remove(begin, fields.word("size")) : memory_.put(begin, content)) return;
    fail("the memory that it says it has saved can't be");
  }

  const OnFragment& on_fragment_;
  TypeIndex jvm_type_, memory_type_, fragment_type_;
  SavedJvm jvm_;
  SavedMemory memory_;
  uint64_t count_ = 0;
  Status wrong_;
};

}  // namespace

bool SavedMemory::put(Address begin, std::span<const uint8_t> content) {
  if (begin % kLine != 0 || content.size() % kLine != 0 || content.size() > UINTPTR_MAX - begin) return false;
  for (; !content.empty(); content = content.subspan(kLine), begin += kLine) {
    std::copy_n(content.begin(), kLine, lines_[begin].begin());
  }
  return true;
}

bool SavedMemory::remove(Address begin, uint64_t size) {
  if (begin % kLine != 0 || size % kLine != 0 || size > UINTPTR_MAX - begin) return false;
  lines_.erase(lines_.lower_bound(begin), lines_.lower_bound(begin + size));
  return true;
}

bool SavedMemory::copy(void* out, Address from, size_t size) const noexcept {
  if (size == 0) return true;
  if (size > UINTPTR_MAX - from) return false;
  auto* target = static_cast<uint8_t*>(out);
  Address line = from - from % kLine;
  for (auto it = lines_.find(line); it != lines_.end() && it->first == line; ++it, line += kLine) {
    const size_t offset = from - line;
    const size_t bytes = std::min(kLine - offset, size);
    std::memcpy(target, it->second.data() + offset, bytes);
    target += bytes;
    from += bytes;
    size -= bytes;
    if (size == 0) return true;
  }
  return false;
}

Result<ReadFragments> read_fragments(recording::Recording& recording, const OnFragment& on_fragment) {
  Reader reader(on_fragment);
  auto summary = recording.read(reader);
  if (!summary) return std::move(summary).error();
  if (!reader.wrong().ok()) return std::move(reader.wrong()).error();
  return ReadFragments{reader.count(), std::move(summary->problems)};
}

}  // namespace tarsier::saved
