// Who runs here, and whether it is really them: while the kernel serves an interrupt, the thread that it has
// interrupted has nothing to do with it. Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"
#include "linux/bpf/waits_layout.h"

MAP(kernel_frames);  // one struct KernelFrames for each CPU

enum Context {
  kContextUnknown,
  kThreadItself,
  kInterrupt,
};

// The layout of the kernel's preempt_count, the same since 2.6.
enum { kServesSoftInterrupt = 1 << 8, kInHardInterrupt = 0xff << 16 };

static ALWAYS_INLINE int read_interrupt_count(__u32* out) {
  __u64 at = settings.wakes.count;
  if (settings.wakes.place == kCountInTask) {
    at += bpf_get_current_task();
  } else if (settings.wakes.place == kCountOfCpu) {
    __u64 offset = 0;
    const __u64 offsets = settings.wakes.cpu_offsets + 8 * (__u64)bpf_get_smp_processor_id();
    if (bpf_probe_read_kernel(&offset, sizeof(offset), (const void*)offsets) != 0) return 0;
    at += offset;
  } else if (settings.wakes.place == kCountBesideQueue) {
    __u64 queue = 0;
    const __u64 of_task = bpf_get_current_task() + settings.wakes.task_queue;
    if (bpf_probe_read_kernel(&queue, sizeof(queue), (const void*)of_task) != 0) return 0;
    queue += settings.wakes.queue_cpu;
    if (bpf_probe_read_kernel(&queue, sizeof(queue), (const void*)queue) != 0) return 0;
    at += queue;
  } else {
    return 0;
  }
  return bpf_probe_read_kernel(out, sizeof(*out), (const void*)at) == 0;
}

static ALWAYS_INLINE int returns_to(__u64 address, const volatile struct KernelFunction* function) {
  return address > function->begin && address <= function->end;
}

// In a soft interrupt: it is the thread's own doing if it delivers what it has itself sent to this machine, which it
// does as soon as soft interrupts may come again. The kernel's own stack tells.
static ALWAYS_INLINE enum Context context_of_soft_interrupt(void* program_context) {
  const __u32 zero = 0;
  struct KernelFrames* frames = bpf_map_lookup_elem(&kernel_frames, &zero);
  if (!frames || settings.wakes.lets_deliver.begin == 0 || settings.wakes.delivers.begin == 0) return kContextUnknown;
  const long bytes = bpf_get_stack(program_context, frames->addresses, sizeof(frames->addresses), 0);
  int delivers = 0;
  for (int i = 0; i < kMaxKernelFrames; ++i) {
    if (8L * i >= bytes) break;
    const __u64 address = frames->addresses[i];
    if (returns_to(address, &settings.wakes.delivers)) delivers = 1;
    if (returns_to(address, &settings.wakes.lets_deliver)) return delivers ? kThreadItself : kInterrupt;
    if (returns_to(address, &settings.wakes.ends_interrupt[0])) return kInterrupt;
    if (returns_to(address, &settings.wakes.ends_interrupt[1])) return kInterrupt;
  }
  return kContextUnknown;
}

static ALWAYS_INLINE enum Context context_here(void* program_context) {
  __u32 count = 0;
  if (bpf_get_current_pid_tgid() >> 32 == 0) return kInterrupt;  // the CPU was idle
  if (!read_interrupt_count(&count)) return kContextUnknown;
  if (count & kInHardInterrupt) return kInterrupt;
  if (count & kServesSoftInterrupt) return context_of_soft_interrupt(program_context);
  return kThreadItself;
}

// Of the process that the thread here belongs to; if that can't be found, its own.
static ALWAYS_INLINE void read_process_name(char* out) {
  __u64 leader = 0;
  const __u64 task = bpf_get_current_task();
  if (settings.wakes.task_leader != 0 &&
      bpf_probe_read_kernel(&leader, sizeof(leader), (const void*)(task + settings.wakes.task_leader)) == 0 &&
      bpf_probe_read_kernel(out, kWakerName, (const void*)(leader + settings.wakes.task_name)) == 0) {
    return;
  }
  bpf_get_current_comm(out, kWakerName);
}
