// Fragments of the corpus with anything changed in their registers, stacks and the JVM's memory: walking them may find
// no stack or a wrong one; it may not crash, hang, or depend on anything but what it reads.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/test_source.h"
#include "hotspot/code_cache.h"
#include "hotspot/lone_walk.h"
#include "hotspot/noted_rules.h"
#include "hotspot/remembered_stack.h"
#include "hotspot/stack_text.h"
#include "hotspot/stack_walker.h"
#include "replay/replay.h"

namespace tarsier::replay {
namespace {

struct Case {
  std::shared_ptr<const saved::SavedJvm> jvm;
  saved::SavedMemory memory;  // just what this one reads
  std::vector<Address> lines;
  saved::SavedFragment fragment;
};

std::vector<Case> load_corpus() {
  std::vector<Case> cases;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test_source("tests/fixtures/fragments"))) {
    if (entry.path().extension() == ".zst") files.insert(entry.path());
  }
  for (const auto& file : files) {
    std::shared_ptr<const saved::SavedJvm> jvm;
    const auto summary = replay_file(file, [&](const Replayed& one) {
      if (jvm == nullptr) jvm = std::make_shared<saved::SavedJvm>(one.jvm);
      Case& added = cases.emplace_back(Case{jvm, {}, {}, one.fragment});
      for (const auto& [address, line] : one.memory.lines()) {
        if (line.readable && added.memory.put(address, line.content)) added.lines.push_back(address);
      }
      std::sort(added.lines.begin(), added.lines.end());
    });
    if (!summary) std::abort();
  }
  if (cases.empty()) std::abort();
  return cases;
}

// The input: which fragment, then changes, each of a fixed size.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Zeros behind the end.
  template <class T>
  T take() {
    T value{};
    std::memcpy(&value, data_, std::min(sizeof(value), size_));
    data_ += std::min(sizeof(value), size_);
    size_ -= std::min(sizeof(value), size_);
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// A few lines are not as they were: copying all others for every input would take longer than walking.
class ChangedMemory final : public Memory {
 public:
  explicit ChangedMemory(const Memory& source) : source_(source) {}

  bool copy(void* out, Address from, size_t size) const noexcept override {
    if (lines_.empty() || size == 0 || size > UINTPTR_MAX - from) return source_.copy(out, from, size);
    auto* target = static_cast<uint8_t*>(out);
    for (const Address end = from + size; from < end;) {
      const size_t offset = from % NotedMemory::kLine;
      const size_t bytes = std::min(NotedMemory::kLine - offset, end - from);
      const auto it = lines_.find(from - offset);
      if (it == lines_.end() ? !source_.copy(target, from, bytes) : !it->second) return false;
      if (it != lines_.end()) std::memcpy(target, it->second->data() + offset, bytes);
      target += bytes;
      from += bytes;
    }
    return true;
  }
  // Null if it can't be read.
  NotedMemory::Content* line(Address begin) {
    auto [it, is_new] = lines_.try_emplace(begin, NotedMemory::Content{});
    if (is_new && !source_.copy(it->second->data(), begin, it->second->size())) it->second.reset();
    return it->second ? &*it->second : nullptr;
  }
  void remove(Address begin) { lines_[begin].reset(); }
  [[nodiscard]] bool is_changed(Address begin, Address end) const {
    const auto it = lines_.lower_bound(begin - begin % NotedMemory::kLine);
    return it != lines_.end() && it->first < end;
  }

 private:
  const Memory& source_;
  std::map<Address, std::optional<NotedMemory::Content>> lines_;
};

class Changed {
 public:
  explicit Changed(const Case& source)
      : source_(source), memory_(source.memory), fragment_(source.fragment), release_(source.jvm->release) {}

  void apply(Input& input) {
    constexpr int kMost = 64;
    for (int i = 0; i < kMost && !input.empty(); ++i) apply_one(input);
  }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  // What code is at a pc then depends on whom one asks: the map, or the code that says how long it is.
  [[nodiscard]] bool has_other_maps() const {
    const auto cache = hotspot::CodeCache::find(source_.memory, source_.jvm->structs);
    const auto maps = cache ? cache->maps() : hotspot::CodeCache::Ranges{};
    return std::any_of(maps.begin(), maps.end(),
                       [&](const auto& map) { return memory_.is_changed(map.first, map.second); });
  }
  [[nodiscard]] const saved::SavedFragment& fragment() const { return fragment_; }
  [[nodiscard]] hotspot::JvmKind jvm() const { return {source_.jvm->structs, *source_.jvm->machine, release_}; }

 private:
  hotspot::Fragment& head() { return *reinterpret_cast<hotspot::Fragment*>(fragment_.words.data()); }
  Address any_line(uint16_t which) const {
    return source_.lines.empty() ? 0 : source_.lines[which % source_.lines.size()];
  }
  void apply_one(Input& input) {
    enum Change : uint8_t {
      kRegister,
      kWord,
      kPointer,
      kSmall,
      kMemory,
      kMemoryByte,
      kMemoryPointer,
      kGone,
      kShape,
      kCount
    };
    const auto change = input.take<uint8_t>();
    const auto where = input.take<uint16_t>();
    const size_t first = sizeof(hotspot::Fragment) / 8;
    const size_t behind = fragment_.words.size() - first;
    uint64_t ignored = 0;
    uint64_t& word = behind == 0 ? ignored : fragment_.words[first + where % behind];
    switch (change % kCount) {
      case kRegister: {
        uint64_t* const registers[] = {&head().pc,        &head().sp,        &head().fp,          &head().anchor.sp,
                                       &head().anchor.pc, &head().anchor.fp, &head().continuation};
        const size_t i = where % (std::size(registers) + hotspot::kGeneralRegisters);
        (i < std::size(registers) ? *registers[i] : head().general[i - std::size(registers)]) = input.take<uint64_t>();
        break;
      }
      case kWord:
        word = input.take<uint64_t>();
        break;
      case kPointer:  // into memory that is there
        word = any_line(input.take<uint16_t>()) + input.take<uint8_t>();
        break;
      case kSmall:  // a place on the stack that is near
        word = head().sp + static_cast<uint64_t>(int64_t{input.take<int16_t>()});
        break;
      case kMemory:
        put(where, input.take<uint8_t>(), input.take<uint64_t>());
        break;
      case kMemoryByte: {
        const auto offset = input.take<uint8_t>();
        const auto value = input.take<uint8_t>();
        if (NotedMemory::Content* line = memory_.line(any_line(where))) (*line)[offset % line->size()] = value;
        break;
      }
      case kMemoryPointer: {
        const auto offset = input.take<uint8_t>();
        put(where, offset, any_line(input.take<uint16_t>()) + input.take<uint8_t>());
        break;
      }
      case kGone:
        memory_.remove(any_line(where));
        break;
      case kShape:
        reshape(where, input.take<uint8_t>());
        break;
    }
  }
  void put(uint16_t line, uint8_t offset, uint64_t value) {
    NotedMemory::Content* const content = memory_.line(any_line(line));
    if (content == nullptr) return;
    std::memcpy(content->data() + offset % (content->size() - 7), &value, sizeof(value));
  }
  // Sizes and flags of the fragment, and the JVM's release.
  void reshape(uint16_t where, uint8_t how) {
    hotspot::Fragment& f = head();
    const uint32_t all = f.stack_bytes + f.frozen_bytes;
    f.stack_bytes = all == 0 || (how & 1) == 0 ? f.stack_bytes : where % all;
    f.frozen_bytes = (how & 1) == 0 ? f.frozen_bytes : all - f.stack_bytes;
    f.cut = (how & 2) != 0;
    f.frozen_cut = (how & 4) != 0;
    if ((how & 8) != 0) f.thread_state = how >> 4;
    if ((how & 16) != 0) fragment_.decoded_in ^= how & 32;
    if ((how & 64) != 0) release_ = 8 + where % 20;
  }

  const Case& source_;
  ChangedMemory memory_;
  saved::SavedFragment fragment_;
  int release_;
};

std::string text_of(const Changed& changed) {
  const hotspot::SavedRules rules(changed.fragment().rules);
  const auto result = hotspot::walk_alone(changed.memory(), changed.jvm(), rules, changed.fragment().walk());
  return result ? result->stack : "";
}

// A walker that has seen the stack before it was changed comes to the same end as one that has not.
std::string text_after(const saved::SavedFragment& before, const Changed& changed) {
  const Memory& memory = changed.memory();
  const hotspot::JvmKind jvm = changed.jvm();
  const hotspot::SavedRules rules(changed.fragment().rules);
  auto cache = hotspot::CodeCache::find(memory, jvm.structs);
  if (!cache) return "";
  auto blobs = hotspot::CodeBlobs::find(memory, jvm.structs, *cache, jvm.release);
  auto methods = hotspot::Methods::find(memory, jvm.structs, jvm.release);
  if (!blobs || !methods) return "";
  auto walker = hotspot::StackWalker::find(memory, jvm.structs, *blobs, *methods, jvm.machine, jvm.release, &rules);
  if (!walker) return "";
  hotspot::RememberedStack remembered;
  hotspot::WalkedStack stack;
  for (const saved::SavedFragment* fragment : {&before, &changed.fragment()}) {
    methods->set_epochs(changed.fragment().decoded_in, changed.fragment().epoch);
    walker->walk(fragment->fragment(), fragment->max_depth, stack, &remembered);
    remembered.keep(stack);
  }
  return hotspot::text_of(stack);
}

}  // namespace
}  // namespace tarsier::replay

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tarsier::replay;
  static const std::vector<Case> cases = load_corpus();
  Input input(data, size);
  const Case& source = cases[input.take<uint16_t>() % cases.size()];
  Changed changed(source);
  changed.apply(input);
  const std::string text = text_of(changed);
  if (text != text_after(source.fragment, changed) && !changed.has_other_maps()) {
    const std::string shown = difference(text, text_after(source.fragment, changed));
    std::fprintf(stderr, "ERROR: the walk depends on the stack before:\n%s\n", shown.c_str());
    std::abort();
  }
  return 0;
}
