// What is read of a Java thread itself, and how much of its stack is of interest. Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/fragment_layout.h"
#include "linux/bpf/frozen_frames.h"
#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"

static ALWAYS_INLINE int read_thread(struct Fragment* out, __u64 java_thread) {
  const char* at = (const char*)java_thread;
  if (bpf_probe_read_user(&out->anchor_sp, 8, at + settings.java.anchor_sp) != 0) return 0;
  if (bpf_probe_read_user(&out->anchor_pc, 8, at + settings.java.anchor_pc) != 0) return 0;
  if (bpf_probe_read_user(&out->anchor_fp, 8, at + settings.java.anchor_fp) != 0) return 0;
  if (bpf_probe_read_user(&out->thread_state, 4, at + settings.java.thread_state) != 0) return 0;
  if (settings.java.unloaded == 0) return 1;
  __u64 unloaded = 0, shared = 0;
  if (bpf_probe_read_user(&unloaded, 8, (const void*)settings.java.unloaded) != 0) return 0;
  if (bpf_probe_read_user(&shared, 8, (const void*)settings.java.unloaded_shared) != 0) return 0;
  out->epoch = unloaded + shared;
  return 1;
}

// From sp to the end of what is of interest; 0 on a stack of the application's own (a coroutine, a signal stack), of
// which nobody knows where it ends.
static ALWAYS_INLINE __u64 stack_size(__u64 sp, __u64 base, __u64 bottom) {
  const __u64 end = bottom > sp && bottom <= base ? bottom : base;
  return sp < end && end - sp < (1UL << 30) ? (end - sp) & ~7UL : 0;
}

// Above which the thread's stack has no Java frames; 0: not known. See capture/java_bottoms.h.
static ALWAYS_INLINE __u64 java_bottom(__u32 serial) {
  const __u32 zero = 0;
  const struct Told* told = bpf_map_lookup_elem(&bottoms, &zero);
  if (!told) return 0;
  const __u64 entry = told->bottoms.entries[serial % kBottoms];
  const __u64 tag = (serial / kBottoms + 1) & 0xffff;
  return entry >> kAddressBits == tag ? entry & ((1UL << kAddressBits) - 1) : 0;
}

// Does the thread carry a virtual one?
static ALWAYS_INLINE int is_carrier(__u64 java_thread, __u64 continuation, __u64 sp, __u64 base) {
  if (!VIRTUAL.present) return 0;
  // The entry of a continuation lies on the thread's own stack.
  if (VIRTUAL.continuation != 0) return continuation > sp && continuation < base;
  const __u64 current = read_handle(java_thread, VIRTUAL.current);
  return current != 0 && current != read_handle(java_thread, VIRTUAL.carrier);
}
