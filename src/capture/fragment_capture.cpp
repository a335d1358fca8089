#include "capture/fragment_capture.h"

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/sigsafe/safe_copy.h"
#include "capture/field.h"
#include "capture/frozen_frames.h"
#include "capture/registers.h"
#include "capture/stack_extent.h"

namespace tarsier::capture {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A stack is full of places that a sanitizer lets nobody touch.
__attribute__((no_sanitize("address", "thread"))) void copy_stack(uint8_t* to, uint64_t from, size_t size) noexcept {
  for (size_t i = 0; i < size; ++i) to[i] = reinterpret_cast<const volatile uint8_t*>(from)[i];
}
#else
void copy_stack(uint8_t* to, uint64_t from, size_t size) noexcept {
  std::memcpy(to, reinterpret_cast<const void*>(from), size);
}
#endif

void copy_registers(const ucontext_t& context, hotspot::Fragment& out) noexcept {
  const Registers registers = Registers::of(context);
  out.pc = registers.pc;
  out.sp = registers.sp;
  out.fp = registers.fp;
#if defined(__aarch64__)
  std::memcpy(out.general, context.uc_mcontext.regs, sizeof(out.general));
#else
  constexpr int kOrder[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (size_t i = 0; i < std::size(kOrder); ++i) {
    out.general[i] = static_cast<uint64_t>(context.uc_mcontext.gregs[kOrder[i]]);
  }
#endif
}

}  // namespace

void FragmentCapture::take(SampledThread& thread, const siginfo_t& info, void* ucontext, uint64_t now_ns) noexcept {
  SampleHeader header{};
  header.time_ns = now_ns;
  header.weight_ns = clock_.weight_ns(thread.clock, info);
  header.thread = thread.clock.serial;
  header.waits = thread.clock.waits.load(std::memory_order_relaxed);
  uint64_t kernel[kMaxKernelFrames];
  header.kernel_count = static_cast<uint16_t>(clock_.kernel_frames(thread.clock, kernel));

  hotspot::Fragment fragment{};
  copy_registers(*static_cast<ucontext_t*>(ucontext), fragment);
  if (fields_.unloaded != nullptr) fragment.epoch = *fields_.unloaded + *fields_.unloaded_shared;
  if (thread.java_thread == nullptr) return take_jvm_thread(thread, header, kernel, fragment);
  // The thread that we have interrupted is alive, so these are.
  fragment.anchor = {field<uint64_t>(thread.java_thread, fields_.anchor_sp),
                     field<uint64_t>(thread.java_thread, fields_.anchor_pc),
                     field<uint64_t>(thread.java_thread, fields_.anchor_fp)};
  fragment.thread_state = field<int32_t>(thread.java_thread, fields_.thread_state);
  if (fields_.continuation != 0) fragment.continuation = field<uint64_t>(thread.java_thread, fields_.continuation);
  std::optional<FrozenFrames> frozen;
  // The entry of a continuation lies on the thread's own stack, which alone is read without asking the kernel.
  const bool entry_is_here =
      fragment.continuation == 0 || (fragment.continuation > fragment.sp &&
                                     fragment.continuation < field<uint64_t>(thread.java_thread, fields_.stack_base));
  if (virtual_threads_ != nullptr && entry_is_here) {
    frozen.emplace(*virtual_threads_, self_, thread.java_thread, &named_virtuals_);
    frozen->find(fragment);
  }
  set_stack_size(thread, fragment);

  const size_t kernel_bytes = header.kernel_count * sizeof(uint64_t);
  uint8_t* out = ring_.reserve(sizeof(header) + kernel_bytes + sizeof(fragment) + fragment.stack_bytes +
                               fragment.frozen_bytes + fragment.padded_name());
  if (out != nullptr) {
    std::memcpy(out, &header, sizeof(header));
    std::memcpy(out + sizeof(header), kernel, kernel_bytes);
    uint8_t* head = out + sizeof(header) + kernel_bytes;
    uint8_t* stack = head + sizeof(fragment);
    copy_stack(stack, fragment.sp, fragment.stack_bytes);
    if (frozen) {
      uint8_t* parts = stack + fragment.stack_bytes;
      frozen->copy(fragment, parts, parts + fragment.frozen_bytes);
      if (fragment.virtual_id != 0) named_virtuals_.add(fragment.virtual_id);
    }
    std::memcpy(head, &fragment, sizeof(fragment));
    if (witness_ != nullptr) witness_->ask(thread.env, header.thread, header.time_ns, ucontext);
    ring_.commit(out);
  } else {
    drop(Drop::kRingFull);
  }
  clock_.rest(thread.clock, out != nullptr ? fragment.sp : 0);
}

void FragmentCapture::take_jvm_thread(SampledThread& thread, const SampleHeader& header, const uint64_t* kernel,
                                      hotspot::Fragment& fragment) noexcept {
  fragment.thread_state = hotspot::kThreadInNative;
  set_stack_size(thread, fragment);
  const size_t kernel_bytes = header.kernel_count * sizeof(uint64_t);
  uint8_t* out = ring_.reserve(sizeof(header) + kernel_bytes + sizeof(fragment) + fragment.stack_bytes);
  if (out != nullptr) {
    std::memcpy(out, &header, sizeof(header));
    std::memcpy(out + sizeof(header), kernel, kernel_bytes);
    uint8_t* head = out + sizeof(header) + kernel_bytes;
    // Where its stack ends is not the JVM's word.
    if (fragment.stack_bytes != 0 && !safe_copy(self_, head + sizeof(fragment), fragment.sp, fragment.stack_bytes))
      fragment.stack_bytes = 0;
    std::memcpy(head, &fragment, sizeof(fragment));
    ring_.commit(out);
  } else {
    drop(Drop::kRingFull);
  }
  clock_.rest(thread.clock, out != nullptr ? fragment.sp : 0);
}

void FragmentCapture::set_stack_size(const SampledThread& thread, hotspot::Fragment& fragment) const noexcept {
  const bool is_virtual = fragment.virtual_id != 0;
  const uint64_t bottom = bottoms_.of(thread.clock.serial);
  uint64_t base = bottom, lowest = 0;
  if (thread.java_thread != nullptr) {
    base = field<uint64_t>(thread.java_thread, fields_.stack_base);
    if (fields_.stack_size != 0) lowest = base - field<uint64_t>(thread.java_thread, fields_.stack_size);
  }
  const StackExtent extent{base, bottom, is_virtual ? fragment.continuation : 0, lowest};
  const uint64_t size = extent.bytes_from(fragment.sp);
  const uint32_t most = std::min(limit_, ring_.used() < ring_.capacity() / 2 ? max_deep_stack_ : kMaxStack);
  fragment.stack_bytes = static_cast<uint32_t>(std::min<uint64_t>(size, most)) & ~7U;
  fragment.cut = size > fragment.stack_bytes;
}

}  // namespace tarsier::capture
