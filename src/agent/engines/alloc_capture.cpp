#include "agent/engines/alloc_capture.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "agent/engines/alloc_weight.h"
#include "agent/jvm.h"
#include "base/clock.h"
#include "base/quiet.h"

namespace tarsier::agent {
namespace {

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

// The interval with which the JVM drew the sample that this thread waits for, or that we have not seen it draw one. A
// draw is made when the last sample is taken, also in an earlier session, and stays when the interval changes.
constexpr int64_t kUnseen = -1;
thread_local int64_t t_drawn_with = kUnseen;

// The last object of this thread that the JVM drew, and what the thread had allocated then, that object included.
struct LastDrawn {
  int64_t size = 0, allocated = 0;
};
thread_local LastDrawn t_last_drawn;

// In [0, 1): xorshift, one state per thread.
double next_random() noexcept {
  thread_local uint64_t state = 0;
  if (state == 0) state = static_cast<uint64_t>(monotonic_now().count) ^ reinterpret_cast<uintptr_t>(&state);
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

// What reading it twice shows if nothing happens between: as much as a call that only passes an object over.
Nanos cost_of_cpu_clock() noexcept {
  Nanos least = seconds(1);
  for (int i = 0; i < 16; ++i) {
    const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
    least = std::min(least, clock_now(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  return least;
}

}  // namespace

AllocCapture::AllocCapture(ThreadRegistry& threads, AllocDraws& draws,
                           std::optional<hotspot::AllocatedBytesLayout> allocated_bytes, std::span<uint8_t> ring,
                           int32_t max_depth)
    : threads_(threads),
      draws_(draws),
      allocated_bytes_(allocated_bytes),
      max_depth_(max_depth),
      clock_cost_(cost_of_cpu_clock()),
      ring_(ring.data(), ring.size()) {}

void AllocCapture::sample(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass, int64_t size) noexcept {
  thread_local uint32_t calls = static_cast<uint32_t>(::gettid());  // see `measure`
  const auto key = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&calls) >> 6);
  gate_.enter(key);
  // seq_cst: see Gate.
  if (!silent_.load(std::memory_order_seq_cst)) {
    // As for other engines: the CPU clock is a system call, so one call in some pays for it. Not always the first of a
    // thread, which finds nothing in the caches.
    constexpr uint32_t kMeasureOneIn = 16;
    const bool measure = calls++ % kMeasureOneIn == 0;
    const Nanos start = measure ? clock_now(CLOCK_THREAD_CPUTIME_ID) : Nanos(0);
    take_or_pass(jvmti, jni, klass, size);
    if (measure) {
      const Nanos spent = std::max(clock_now(CLOCK_THREAD_CPUTIME_ID) - start - clock_cost_, Nanos(0));
      counters_.measured.fetch_add(1, std::memory_order_relaxed);
      counters_.measured_ns.fetch_add(static_cast<uint64_t>(spent.count), std::memory_order_relaxed);
    }
  }
  gate_.leave(key);
}

double AllocCapture::hit_of(JNIEnv* jni, int64_t size, int64_t drawn_with) noexcept {
  if (!allocated_bytes_) return alloc_probability(size, drawn_with);
  const int64_t allocated = allocated_bytes_->of_current(threads_.java_thread_of(jni));
  const LastDrawn last = t_last_drawn;
  t_last_drawn = {size, allocated};
  return alloc_probability_after(size, drawn_with, allocated - size - last.allocated, last.size);
}

void AllocCapture::take_or_pass(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass, int64_t size) noexcept {
  const int64_t drawn_with = next_draw();
  draws_.saw(size, drawn_with);
  const double hit = hit_of(jni, size, drawn_with);
  const double kept = alloc_kept_share(size, hit, draws_.wanted());
  if (kept < 1 && next_random() >= kept) {
    counters_.passed_over.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  counters_.taken.fetch_add(1, std::memory_order_relaxed);
  take(jvmti, klass, size, hit);
}

void AllocCapture::silence() noexcept {
  silent_.store(true, std::memory_order_seq_cst);
  wait_until_quiet(gate_);
}

int64_t AllocCapture::next_draw() noexcept {
  int64_t drawn_with = t_drawn_with;
  if (drawn_with == kUnseen) {
    drawn_with = draws_.first_of(threads_.serial_of_current());
  }
  t_drawn_with = draws_.current();  // the JVM draws anew for each sample
  return drawn_with;
}

void AllocCapture::take(jvmtiEnv* jvmti, jclass klass, int64_t size, double hit) noexcept {
  AllocRecord record{};
  record.time_ns = static_cast<uint64_t>(monotonic_now().count);
  record.size = static_cast<uint64_t>(size);
  record.thread = threads_.serial_of_current();
  record.weight = static_cast<uint64_t>(alloc_weight(size, hit, draws_.wanted()));

  // Nearly all stacks fit into this; the others are walked again, with memory that is neither the thread's stack, of
  // which little may be left, nor kept for each of thousands of threads.
  constexpr jint kUsualDepth = 256;
  jvmtiFrameInfo usual[kUsualDepth];
  std::unique_ptr<jvmtiFrameInfo[], Free> deep;
  jint depth = std::min(kUsualDepth, max_depth_);
  jint count = 0;
  record.error = jvmti->GetStackTrace(nullptr, 0, depth, usual, &count);
  if (record.error == JVMTI_ERROR_NONE && count == depth && depth < max_depth_) {
    depth = max_depth_;
    deep.reset(static_cast<jvmtiFrameInfo*>(std::malloc(static_cast<size_t>(depth) * sizeof(jvmtiFrameInfo))));
    if (deep == nullptr) return drop(AllocDrop::kNoMemory);
    record.error = jvmti->GetStackTrace(nullptr, 0, depth, deep.get(), &count);
  }
  const jvmtiFrameInfo* frames = deep != nullptr ? deep.get() : usual;
  record.frame_count = record.error == JVMTI_ERROR_NONE ? static_cast<uint32_t>(count) : 0;
  record.truncated = count >= max_depth_;

  JvmtiMemory<char> signature(jvmti);
  if (jvmti->GetClassSignature(klass, signature.out(), nullptr) == JVMTI_ERROR_NONE) {
    record.signature_size = static_cast<uint16_t>(std::min<size_t>(std::strlen(signature.get()), UINT16_MAX));
  }
  const size_t frame_bytes = record.frame_count * sizeof(jvmtiFrameInfo);
  uint8_t* out = ring_.reserve(sizeof(record) + frame_bytes + record.signature_size);
  if (out == nullptr) return drop(AllocDrop::kRingFull);
  std::memcpy(out, &record, sizeof(record));
  std::memcpy(out + sizeof(record), frames, frame_bytes);
  std::memcpy(out + sizeof(record) + frame_bytes, signature.get(), record.signature_size);
  ring_.commit(out);
}

}  // namespace tarsier::agent
