#include "agent/engines/sleeper_copy.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "capture/frozen_frames.h"
#include "capture/stack_extent.h"
#include "linux/procfs.h"

namespace tarsier::agent {

using capture::FragmentCapture;
using capture::FrozenFrames;
using hotspot::Fragment;

SleeperCopy::SleeperCopy(const hotspot::ThreadFields& fields, const hotspot::VirtualThreadLayout* virtual_threads,
                         const capture::JavaBottoms& bottoms, MpscRing& ring)
    : fields_(fields), virtual_threads_(virtual_threads), bottoms_(bottoms), ring_(ring), self_(::getpid()) {}

bool SleeperCopy::look_at(const Sleeper& sleeper, Fragment& fragment, uint64_t& stack_base,
                          uint64_t& pending_monitor) const {
  const auto at = [&](uint64_t offset) { return reinterpret_cast<Address>(sleeper.java_thread) + offset; };
  const MemoryPiece pieces[] = {
      {&fragment.anchor.sp, at(fields_.anchor_sp), sizeof(uint64_t)},
      {&fragment.anchor.pc, at(fields_.anchor_pc), sizeof(uint64_t)},
      {&fragment.anchor.fp, at(fields_.anchor_fp), sizeof(uint64_t)},
      {&fragment.thread_state, at(fields_.thread_state), sizeof(int32_t)},
      {&stack_base, at(fields_.stack_base), sizeof(uint64_t)},
      {&fragment.continuation, at(fields_.continuation), fields_.continuation != 0 ? sizeof(uint64_t) : 0},
      {&pending_monitor, at(fields_.pending_monitor), fields_.pending_monitor != 0 ? sizeof(uint64_t) : 0},
  };
  if (!memory_.copy_all(pieces)) return false;
  if (fields_.unloaded != nullptr) fragment.epoch = *fields_.unloaded + *fields_.unloaded_shared;
  if (fragment.anchor.sp != 0) {
    // The JVM's own frames lie below the anchor. The pc is the word below it if the anchor has none.
    constexpr uint64_t kBelow = 64;
    fragment.sp = fragment.anchor.sp - kBelow;
  } else if (fragment.thread_state == hotspot::kThreadInJava) {
    const auto place = linux::sleeping_place(sleeper.tid);
    if (!place || place->sp == 0) return false;
    fragment.sp = place->sp;
    fragment.pc = place->pc;
  }
  return true;
}

SleeperCopy::Outcome SleeperCopy::copy(Sleeper& sleeper, Nanos now, Nanos slept,
                                       const std::function<bool()>& still_asleep) {
  Fragment fragment{};
  uint64_t base = 0, pending_monitor = 0;
  if (!look_at(sleeper, fragment, base, pending_monitor)) return Outcome::kUnreadable;
  // A virtual thread is entered on the carrier's own stack, else we have read what was just being changed.
  const bool entry_is_here =
      fragment.continuation == 0 || (fragment.continuation > fragment.sp && fragment.continuation < base);
  // Before pointers of the thread's are followed further: they are right if it has not run.
  if (!entry_is_here || !still_asleep()) return Outcome::kWoken;
  std::optional<FrozenFrames> frozen;
  if (virtual_threads_ != nullptr) {
    constexpr Nanos kNamesHold = seconds(1);
    if (now - names_forgotten_ >= kNamesHold) {
      named_virtuals_.forget();
      names_forgotten_ = now;
    }
    frozen.emplace(*virtual_threads_, self_, sleeper.java_thread, &named_virtuals_);
    frozen->find(fragment);
  }
  const capture::StackExtent extent{base, bottoms_.of(sleeper.serial),
                                    fragment.virtual_id != 0 ? fragment.continuation : 0};
  const uint64_t size = fragment.sp != 0 ? extent.bytes_from(fragment.sp) : 0;
  const uint64_t most =
      ring_.used() < ring_.capacity() / 2
          ? std::clamp<uint64_t>(ring_.capacity() / 16, FragmentCapture::kMaxStack, FragmentCapture::kMaxDeepStack)
          : FragmentCapture::kMaxStack;
  fragment.stack_bytes = static_cast<uint32_t>(std::min(size, most)) & ~7U;
  fragment.cut = size > fragment.stack_bytes;

  capture::SampleHeader header{};
  header.time_ns = static_cast<uint64_t>(now.count);
  header.weight_ns = static_cast<uint64_t>(slept.count);
  header.thread = sleeper.serial;
  header.waits = true;
  header.kept = true;
  header.blocked = pending_monitor != 0;

  uint8_t* out = ring_.reserve(sizeof(header) + sizeof(fragment) + fragment.stack_bytes + fragment.frozen_bytes +
                               fragment.padded_name());
  if (out == nullptr) return Outcome::kRingFull;
  uint8_t* head = out + sizeof(header);
  uint8_t* stack = head + sizeof(fragment);
  const bool read = fragment.stack_bytes == 0 || memory_.copy(stack, fragment.sp, fragment.stack_bytes);
  if (read && frozen)
    frozen->copy(fragment, stack + fragment.stack_bytes, stack + fragment.stack_bytes + fragment.frozen_bytes);
  if (!read || !still_asleep()) {
    ring_.abandon(out);
    return read ? Outcome::kWoken : Outcome::kUnreadable;
  }
  if (fragment.virtual_id != 0) named_virtuals_.add(fragment.virtual_id);
  std::memcpy(out, &header, sizeof(header));
  std::memcpy(head, &fragment, sizeof(fragment));
  ring_.commit(out);
  return Outcome::kCopied;
}

}  // namespace tarsier::agent
