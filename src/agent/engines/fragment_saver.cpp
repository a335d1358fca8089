#include "agent/engines/fragment_saver.h"

#include "hotspot/lone_walk.h"
#include "hotspot/stack_text.h"

namespace tarsier::agent {
namespace {

constexpr uint64_t kMostBytes = 256 << 20;  // in one recording
constexpr uint64_t kMostOddOnes = 100;      // of one kind, besides those whose turn it is
constexpr size_t kLongestResult = 1 << 20;  // what a recording holds of a text

size_t most_lines(const control::SessionOptions& options) {
  constexpr int64_t kPerLine = 128;  // bytes, with its place in the table
  return static_cast<size_t>(options.memory.count / 8 / kPerLine);
}

}  // namespace

FragmentSaver::FragmentSaver(EngineContext& context, const Memory& memory, const hotspot::NativeFrames& native)
    : context_(context),
      every_(static_cast<uint64_t>(context.options.save_fragments)),
      structs_(context.jvm.lib().structs()->noting(types_)),
      memory_(memory, most_lines(context.options)),
      rules_(native),
      writer_(context.writer) {}

bool FragmentSaver::wants(const Decoded& decoded) {
  if (seen_++ % every_ == 0) return true;
  if (decoded.stack.complete() && !decoded.wrong) return false;
  return ++odd_[static_cast<size_t>(decoded.stack.end)] <= kMostOddOnes;
}

void FragmentSaver::consider(const capture::FragmentRecord& record, const Decoded& decoded) {
  if (!wants(decoded)) return;
  save(record, decoded);
  // Of thousands of lines, which nobody needs between two fragments.
  memory_.forget();
  rules_.forget();
}

void FragmentSaver::save(const capture::FragmentRecord& record, const Decoded& decoded) {
  const hotspot::LoneWalk walk{record.fragment(), decoded.epoch, decoded.decoded_in,
                               static_cast<size_t>(context_.options.max_depth)};
  const hotspot::JvmKind jvm{structs_, hotspot::Machine::host(), context_.jvm.major()};
  const auto result = hotspot::walk_alone(memory_, jvm, rules_, walk);
  const std::string text = result ? result->text() : "";
  if (text.empty() || text.size() > kLongestResult || memory_.overflowed() || writer_.bytes() > kMostBytes) {
    ++not_saved_;
    return;
  }
  // Decoded by what is remembered of other stacks it may differ: a class was known that is gone by now.
  const bool as_written = result->stack == text_of(decoded.stack);
  differ_ += as_written ? 0 : 1;
  write(record, walk, text, as_written);
}

void FragmentSaver::write(const capture::FragmentRecord& record, const hotspot::LoneWalk& walk,
                          const std::string& result, bool as_written) {
  const Nanos time(static_cast<int64_t>(record.time_ns));
  if (!jvm_is_written_) {
    writer_.write_jvm(time, hotspot::Machine::host().name(), context_.jvm.major(), structs_.text(types_));
    jvm_is_written_ = true;
  }
  const auto thread = context_.threads.find(record.thread);
  const auto id = thread ? context_.writer.thread(thread->info()) : recording::ThreadId();
  writer_.write({time, id, walk, rules_.encode(), result, as_written}, memory_);
  ++saved_;
}

void FragmentSaver::add_to(EngineStats& stats) const {
  stats.counters["fragments: saved"] = static_cast<int64_t>(saved_);
  stats.counters["fragments: not saved"] = static_cast<int64_t>(not_saved_);
  stats.counters["fragments: decoded otherwise when alone"] = static_cast<int64_t>(differ_);
}

}  // namespace tarsier::agent
