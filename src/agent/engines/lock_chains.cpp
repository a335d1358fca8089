// The call chains of LockCapture: a number for each, and the stack of those that are new.
#include <algorithm>
#include <cstring>

#include "agent/engines/lock_local.h"
#include "capture/field.h"
#include "capture/fragment_capture.h"
#include "capture/frozen_frames.h"
#include "capture/stack_extent.h"

namespace tarsier::agent {

using capture::field;
using capture::FrozenFrames;
using hotspot::Fragment;

namespace {

constexpr uint32_t kTryOneIn = 512;

}  // namespace

int64_t LockCapture::virtual_id_of(const uint8_t* java_thread) const noexcept {
  if (virtual_threads_ == nullptr) return 0;
  if (fields_.continuation != 0 && field<uint64_t>(java_thread, fields_.continuation) == 0) return 0;
  return FrozenFrames(*virtual_threads_, self_, java_thread, nullptr).mounted_id();
}

uint32_t LockCapture::chain_of(Local& mine, const Caller* caller) noexcept {
  const uint8_t* java_thread = mine.thread->java_thread;
  Fragment fragment{};
  fragment.anchor = {field<uint64_t>(java_thread, fields_.anchor_sp), field<uint64_t>(java_thread, fields_.anchor_pc),
                     field<uint64_t>(java_thread, fields_.anchor_fp)};
  fragment.thread_state = field<int32_t>(java_thread, fields_.thread_state);
  if (fields_.continuation != 0) fragment.continuation = field<uint64_t>(java_thread, fields_.continuation);
  if (fields_.unloaded != nullptr) fragment.epoch = *fields_.unloaded + *fields_.unloaded_shared;
  hotspot::LightWalk::Place place{{}, false, mine.thread->stack_base, fragment.continuation, fragment.epoch, 0};
  if (fragment.anchor.sp != 0) {
    constexpr uint64_t kBelow = 64;  // the pc may lie below the frame
    fragment.sp = fragment.anchor.sp - kBelow;
    const uint64_t pc =
        fragment.anchor.pc != 0 ? fragment.anchor.pc : *reinterpret_cast<const uint64_t*>(fragment.anchor.sp - 8);
    place.at = {pc, fragment.anchor.sp, fragment.anchor.fp};
  } else if (caller != nullptr) {
    place.at = {caller->pc, caller->sp, caller->fp};
    const hotspot::LightWalk::ReturnSite site = walk_.site(caller->pc);
    place.is_call = !site.is_code;
    // Of Java code it is the call that counts: what lies behind it may belong to another inlined method.
    constexpr uint64_t kCall = sizeof(uint32_t);
    if (!place.is_call) place.at.sp += site.popped;
    fragment.pc = place.is_call ? caller->pc : caller->pc - kCall;
    fragment.sp = place.at.sp;
    fragment.fp = caller->fp;
    fragment.thread_state = hotspot::kThreadInJava;
  } else {
    return 0;
  }
  const uint64_t lock_record = caller != nullptr ? caller->lock_record : 0;
  // Which of several records of a frame it is tells the inlined methods apart.
  if (lock_record > kRecordInCode) place.salt = lock_record - fragment.sp;
  const auto [chain, number] = walk(mine, place);
  // The name of a virtual thread comes with its first chain.
  const int64_t virtual_id = virtual_id_of(java_thread);
  const bool unnamed = virtual_id != 0 && !named_virtuals_.has(virtual_id);
  if (number != 0 && !unnamed) {
    mine.thread->counters.add_alone(LockCount::kChainKnown);
    return number;
  }
  return copy_chain(mine, fragment, chain, lock_record);
}

LockCapture::KnownChain LockCapture::walk(Local& mine, const hotspot::LightWalk::Place& place) noexcept {
  using hotspot::LightWalk;
  LockCounters& counters = mine.thread->counters;
  LockMemo* const memo = mine.thread->memo;
  const uint64_t generation = chain_generation_.load(std::memory_order_acquire);
  LightWalk::Trail* trail = memo != nullptr ? walk_.known(place, memo->trails) : nullptr;
  if (trail != nullptr) {
    counters.add_alone(LockCount::kFrames, trail->chain.frames);
    counters.add_alone(LockCount::kFramesKnown, trail->chain.frames);
    if (++memo->trails.held % kTryOneIn == 0) try_trail(counters, *trail, place);
    if (trail->user >> 32 == generation) return {trail->chain, static_cast<uint32_t>(trail->user)};
  }
  LightWalk::Chain chain;
  if (trail != nullptr) {
    chain = trail->chain;
  } else {
    const LightWalk::Kept walked =
        memo != nullptr ? walk_.walk_and_keep(place, memo->trails) : LightWalk::Kept{walk_.walk(place), nullptr};
    counters.add_alone(LockCount::kFrames, walked.chain.frames);
    chain = walked.chain;
    trail = walked.kept;
  }
  const uint32_t number = chain.key != 0 && !chain.ends_in_heap ? known_chains_->find(chain.key) : 0;
  if (trail != nullptr && number != 0) trail->user = generation << 32 | number;
  return {chain, number};
}

void LockCapture::try_trail(LockCounters& counters, const hotspot::LightWalk::Trail& trail,
                            const hotspot::LightWalk::Place& place) noexcept {
  const hotspot::LightWalk::Chain walked = walk_.walk(place);
  if (walked.key == 0) return;  // it has no room for what it meets any more
  counters.add_alone(LockCount::kTrailsTried);
  const bool same = walked.key == trail.chain.key && walked.frames == trail.chain.frames;
  if (!same) counters.add_alone(LockCount::kTrailsWrong);
}

uint32_t LockCapture::copy_chain(Local& mine, Fragment& fragment, const hotspot::LightWalk::Chain& chain,
                                 uint64_t lock_record) noexcept {
  // Of frames in the heap the walk has seen nothing: there may be many chains like that.
  const uint64_t key = chain.ends_in_heap ? 0 : chain.key;
  const uint8_t* java_thread = mine.thread->java_thread;
  std::optional<FrozenFrames> frozen;
  const uint64_t base = mine.thread->stack_base;
  const bool entry_is_here = fragment.continuation > fragment.sp && fragment.continuation < base;
  // Where nobody knows where the entry is.
  const bool may_be_here = fields_.continuation == 0 && virtual_id_of(java_thread) != 0;
  if (virtual_threads_ != nullptr && (entry_is_here || may_be_here)) {
    frozen.emplace(*virtual_threads_, self_, java_thread, &named_virtuals_);
    frozen->find(fragment);
  }
  const capture::StackExtent extent{base, 0, fragment.virtual_id != 0 ? fragment.continuation : 0};
  const uint64_t size = extent.bytes_from(fragment.sp);
  const uint64_t most = chains_->used() < chains_->capacity() / 2 ? chains_->capacity() / 8 : 16 << 10;
  fragment.stack_bytes = static_cast<uint32_t>(std::min(size, most)) & ~7U;
  fragment.cut = size > fragment.stack_bytes;

  capture::SampleHeader header{};
  header.time_ns = lock_time_ns();
  header.kept = true;
  header.weight_ns = lock_record;  // see FragmentDecoder: what is kept has no weight
  uint8_t* out = chains_->reserve(sizeof(header) + sizeof(fragment) + fragment.stack_bytes + fragment.frozen_bytes +
                                  fragment.padded_name());
  if (out == nullptr) {
    counters_.add(LockCount::kChainLost);
    return 0;
  }
  uint8_t* stack = out + sizeof(header) + sizeof(fragment);
  std::memcpy(stack, reinterpret_cast<const void*>(fragment.sp), fragment.stack_bytes);
  if (frozen) {
    uint8_t* parts = stack + fragment.stack_bytes;
    frozen->copy(fragment, parts, parts + fragment.frozen_bytes);
  }
  const uint32_t number = kChainBit | (last_chain_.fetch_add(1, std::memory_order_relaxed) + 1);
  header.thread = number;
  std::memcpy(out, &header, sizeof(header));
  std::memcpy(out + sizeof(header), &fragment, sizeof(fragment));
  chains_->commit(out);
  if (fragment.virtual_id != 0) named_virtuals_.add(fragment.virtual_id);
  // Now whoever finds the number finds its stack.
  if (key != 0) (void)known_chains_->add(key, number);
  counters_.add(key != 0 ? LockCount::kChainNew : LockCount::kChainUnknown);
  return number;
}

}  // namespace tarsier::agent
