// Where the stack of the Java thread that runs here begins to be of interest: at its last Java frame, by the JVM's note
// of it, or at its registers. Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/fragment_layout.h"
#include "linux/bpf/frozen_frames.h"
#include "linux/bpf/helpers.h"
#include "linux/bpf/java_thread.h"
#include "linux/bpf/registers.h"

// The JVM's own frames lie below the anchor. The pc is the word below it if the anchor has none.
enum { kBelowAnchor = 64 };

// What has to be known before anything is copied.
struct Place {
  __u64 sp;  // where the stack begins that is of interest; 0: nowhere
  __u64 base, continuation;
  __u32 in_java;  // the registers are needed
  __u32 wants_monitor;
};

// `runs_here`: it is the thread whose registers are at hand. 0 if it can't be read.
static ALWAYS_INLINE int find_place(struct Place* out, __u64 java_thread, int runs_here) {
  __u64 anchor = 0, monitor = 0;
  __u32 state = 0;
  out->continuation = 0;
  if (!read_word(java_thread + settings.java.anchor_sp, &anchor)) return 0;
  if (!read_word(java_thread + settings.java.stack_base, &out->base)) return 0;
  if (settings.java.continuation != 0 && !read_word(java_thread + settings.java.continuation, &out->continuation))
    return 0;
  if (settings.java.pending_monitor != 0 && !read_word(java_thread + settings.java.pending_monitor, &monitor)) return 0;
  out->wants_monitor = monitor != 0;
  out->sp = anchor != 0 ? anchor - kBelowAnchor : 0;
  out->in_java = 0;
  if (anchor != 0) return 1;
  if (bpf_probe_read_user(&state, 4, (const void*)(java_thread + settings.java.thread_state)) != 0) return 0;
  if (state != kThreadInJava) return 1;
  if (!runs_here || !read_user_sp(&out->sp)) return 0;
  out->in_java = 1;
  return 1;
}

// All but the bytes of the stack. 0 if it can't be read.
static ALWAYS_INLINE int begin_fragment(struct Fragment* fragment, __u64 java_thread, const struct Place* place,
                                        int runs_here) {
  __builtin_memset(fragment, 0, sizeof(*fragment));
  if (runs_here && place->in_java && !copy_user_registers(fragment)) return 0;
  fragment->sp = place->sp;
  fragment->continuation = place->continuation;
  return read_thread(fragment, java_thread);
}
