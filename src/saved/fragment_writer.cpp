#include "saved/fragment_writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

namespace tarsier::saved {
namespace {

constexpr uint64_t kUnreadable = 0;

uint64_t hash_of(const NotedMemory::Line& line) {
  if (!line.readable) return kUnreadable;
  return std::max<uint64_t>(XXH3_64bits(line.content.data(), line.content.size()), 1);
}

int64_t as_long(uint64_t value) {
  return static_cast<int64_t>(value);
}

}  // namespace

void FragmentWriter::write_jvm(Nanos time, std::string_view architecture, int release, std::string_view structs) {
  const recording::Value values[] = {architecture, int64_t{release}, structs};
  writer_.sticky_event(recording::Event::kSavedJvm, "", time, values);
}

void FragmentWriter::write(const Fragment& fragment, const NotedMemory& memory) {
  write_memory(fragment.time, memory);
  const hotspot::Fragment& f = fragment.walk.fragment;
  const recording::Value values[] = {
      fragment.thread,
      as_long(f.pc),
      as_long(f.sp),
      as_long(f.fp),
      recording::Binary(reinterpret_cast<const uint8_t*>(f.general), sizeof(f.general)),
      as_long(f.anchor.sp),
      as_long(f.anchor.pc),
      as_long(f.anchor.fp),
      as_long(f.continuation),
      int64_t{f.thread_state},
      recording::Binary(f.stack(), f.stack_bytes),
      int64_t{f.cut},
      recording::Binary(f.frozen(), f.frozen_bytes),
      int64_t{f.frozen_cut},
      as_long(fragment.walk.epoch),
      as_long(fragment.walk.decoded_in),
      fragment.rules,
      as_long(fragment.walk.max_depth),
      fragment.result,
      int64_t{fragment.as_written},
  };
  writer_.event(recording::Event::kSavedFragment, fragment.time, values);
  bytes_ += f.stack_bytes + f.frozen_bytes + fragment.result.size() + sizeof(f);
}

void FragmentWriter::write_memory(Nanos time, const NotedMemory& memory) {
  if (known_.size() + memory.lines().size() > kMostKnown) known_.clear();
  std::vector<Address> changed;
  for (const auto& [address, line] : memory.lines()) {
    const uint64_t hash = hash_of(line);
    const auto [it, is_new] = known_.try_emplace(address, kUnreadable);
    // Forgotten lines may stand there as readable, so that even unreadable ones are news.
    if (!is_new && it->second == hash) continue;
    it->second = hash;
    changed.push_back(address);
  }
  std::sort(changed.begin(), changed.end());
  std::vector<uint8_t> content;
  for (size_t i = 0; i < changed.size();) {
    const Address begin = changed[i];
    const bool readable = memory.lines().at(begin).readable;
    content.clear();
    size_t lines = 0;
    for (; i < changed.size() && changed[i] == begin + lines * NotedMemory::kLine; ++i, ++lines) {
      const NotedMemory::Line& line = memory.lines().at(changed[i]);
      if (line.readable != readable) break;
      if (readable) content.insert(content.end(), line.content.begin(), line.content.end());
    }
    write_run(time, begin, readable, content, lines);
  }
}

void FragmentWriter::write_run(Nanos time, Address begin, bool readable, std::span<const uint8_t> content,
                               size_t lines) {
  const recording::Value values[] = {as_long(begin), as_long(lines * NotedMemory::kLine),
                                     readable ? content : recording::Binary()};
  writer_.event(recording::Event::kSavedMemory, time, values);
  constexpr uint64_t kOfEvent = 32;
  bytes_ += kOfEvent + content.size();
}

}  // namespace tarsier::saved
