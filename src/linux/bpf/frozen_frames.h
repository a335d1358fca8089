// What is copied of a mounted virtual thread: its id and name, and its frames in the heap. The same as
// capture/frozen_frames.cpp does, step by step. Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/fragment_layout.h"
#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"

#define VIRTUAL settings.java.virtual_threads

static ALWAYS_INLINE int read_word(__u64 from, __u64* out) {
  return bpf_probe_read_user(out, sizeof(*out), (const void*)from) == 0;
}

// 0 if it can't be followed now.
static ALWAYS_INLINE int remove_colour(__u64* reference) {
  const int most_colour_bits = 16;
  __u64 bad = 0, bits = 0;
  if (VIRTUAL.bad_colours == 0) return 1;
  if (*reference >> most_colour_bits == 0) {  // null has colours, too, which nobody looks at
    *reference = 0;
    return 1;
  }
  if (!read_word(VIRTUAL.bad_colours, &bad) || !read_word(VIRTUAL.colour_bits, &bits)) return 0;
  if ((*reference & bad) != 0) return 0;
  *reference >>= bits & 63;
  return 1;
}

static ALWAYS_INLINE __u64 decompress(__u32 narrow) {
  return narrow == 0 ? 0 : VIRTUAL.reference_base + ((__u64)narrow << (VIRTUAL.reference_shift & 63));
}

// Null references are 0.
static ALWAYS_INLINE int read_reference(__u64 from, __u64* out) {
  if (!VIRTUAL.references_compressed) return read_word(from, out) && remove_colour(out);
  __u32 narrow = 0;
  if (bpf_probe_read_user(&narrow, sizeof(narrow), (const void*)from) != 0) return 0;
  *out = decompress(narrow);
  return 1;
}

// What a handle of the thread's leads to: a reference that is not compressed, but may be coloured. 0: nothing, or it
// can't be followed.
static ALWAYS_INLINE __u64 read_handle(__u64 java_thread, __u64 offset) {
  __u64 slot = 0, object = 0;
  if (!read_word(java_thread + offset, &slot) || slot == 0 || !read_word(slot, &object)) return 0;
  return remove_colour(&object) ? object : 0;
}

// Looks at the virtual thread's Thread object for its name, which the fragment then has the size of. Where its bytes
// are, or 0.
static ALWAYS_INLINE __u64 find_name(struct Fragment* fragment, __u64 thread) {
  __u64 name = 0, value = 0;
  __u8 coder = 0;
  __s32 length = 0;
  if (!read_reference(thread + VIRTUAL.thread_name, &name) || name == 0) return 0;
  if (!read_reference(name + VIRTUAL.text_value, &value) || value == 0) return 0;
  if (bpf_probe_read_user(&coder, sizeof(coder), (const void*)(name + VIRTUAL.text_coder)) != 0) return 0;
  if (bpf_probe_read_user(&length, sizeof(length), (const void*)(value + VIRTUAL.text_length)) != 0) return 0;
  if (length <= 0) return 0;
  fragment->name_bytes = length < kMaxName ? length : kMaxName;
  fragment->name_is_utf16 = coder != 0;
  return value + VIRTUAL.text_bytes;
}

struct Mounted {
  __u64 continuation;  // the object; 0: none that we could find
  __u64 name_from;     // 0: the name is not to be copied
};

// Which virtual thread it is that the thread carries.
static ALWAYS_INLINE void find_mounted(struct Fragment* fragment, __u64 java_thread, __u64 known_id,
                                       struct Mounted* out) {
  out->continuation = 0;
  out->name_from = 0;
  if (VIRTUAL.continuation != 0) {
    if (!read_word(fragment->continuation + VIRTUAL.continuation, &out->continuation)) fragment->frozen_cut = 1;
    __u64 id = 0;
    if (VIRTUAL.current_id != 0 && read_word(java_thread + VIRTUAL.current_id, &id)) fragment->virtual_id = id;
    if (id != 0 && id == known_id) return;
  }
  const __u64 thread = read_handle(java_thread, VIRTUAL.current);
  if (thread == 0 || thread == read_handle(java_thread, VIRTUAL.carrier)) return;
  __u64 id = fragment->virtual_id;
  if (id == 0 && read_word(thread + VIRTUAL.thread_id, &id)) fragment->virtual_id = id;
  if (id != known_id) out->name_from = find_name(fragment, thread);
  if (VIRTUAL.continuation != 0) return;
  if (!read_reference(thread + VIRTUAL.thread_continuation, &out->continuation)) {
    out->continuation = 0;
    fragment->frozen_cut = 1;
  }
}

static ALWAYS_INLINE __s32 int_of_head(const struct Scratch* scratch, __u64 offset) {
  return *(const __s32*)(scratch->chunk_head + (offset & (kMaxChunkHead - 1)));
}
static ALWAYS_INLINE int read_chunk_head(struct Scratch* scratch, __u64 chunk) {
  const __u64 size = VIRTUAL.chunk_words;
  if (size > kMaxChunkHead) return 0;
  return bpf_probe_read_user(scratch->chunk_head, size, (const void*)chunk) == 0;
}
static ALWAYS_INLINE int parent_of(const struct Scratch* scratch, __u64* out) {
  const __u64 at = VIRTUAL.chunk_parent & (kMaxChunkHead - 1);
  if (VIRTUAL.references_compressed) {
    *out = decompress(*(const __u32*)(scratch->chunk_head + at));
    return 1;
  }
  // The field may begin at any multiple of 4, the program must load at multiples of 8.
  *out = *(const __u32*)(scratch->chunk_head + at) | (__u64) * (const __u32*)(scratch->chunk_head + at + 4) << 32;
  return remove_colour(out);
}

// Copies the frames of one chunk behind what is in the scratch. 0 if not all of them.
static ALWAYS_INLINE int copy_chunk(struct Scratch* scratch, __u64 chunk, __u64 frozen_begin, __s32 most_below) {
  const __s32 largest = 1 << 20, link_and_pc = 2;  // lie below a frame
  const __s32 size = int_of_head(scratch, VIRTUAL.chunk_size);
  const __s32 sp = int_of_head(scratch, VIRTUAL.chunk_sp);
  __s32 bottom = int_of_head(scratch, VIRTUAL.chunk_bottom);
  if (VIRTUAL.bottom_is_argument_size) bottom = size - bottom;
  if (size < 0 || size > largest || sp < 0 || bottom > size || sp > bottom) return 0;
  const __s32 below = sp < most_below ? sp : most_below;
  if (sp == bottom && below == 0) return 1;
  const __u64 at = scratch->at;
  const __u64 least = 64;
  if (at > kRecordHead + kMaxStack + kFrozenRoom - sizeof(struct FrozenPart)) return 0;
  const __u64 used = at - frozen_begin;
  if (used > kMaxFrozen - least) return 0;
  __u64 bytes = (__u64)(bottom - sp + link_and_pc + below) * 8;
  const int cut = bytes > kMaxFrozen - used;
  if (cut) bytes = kMaxFrozen - used;
  if (bytes > kMaxFrozen) return 0;  // can't be; for the verifier
  struct FrozenPart* part = (struct FrozenPart*)(scratch->record + at);
  part->begin = chunk + VIRTUAL.chunk_words + (__s64)(sp - link_and_pc - below) * 8;
  part->bytes = bytes;
  const int failed = bpf_probe_read_user(part + 1, bytes, (const void*)part->begin) != 0;  // leaves zeros
  part->cut = cut || failed;
  part->unused = 0;
  part->below = below;
  scratch->at = at + sizeof(*part) + bytes;
  return !part->cut;
}

// In C++ code that Java calls without telling the JVM: it may be the one that moves frames.
static ALWAYS_INLINE int may_thaw(const struct Fragment* fragment) {
  return fragment->anchor_sp == 0 && fragment->thread_state == kThreadInJava && VIRTUAL.code_end != 0 &&
         (fragment->pc < VIRTUAL.code_begin || fragment->pc >= VIRTUAL.code_end);
}

// 0 if not all of them could be copied.
static ALWAYS_INLINE int copy_frozen_frames(struct Scratch* scratch, const struct Fragment* fragment,
                                            __u64 continuation) {
  enum { kMaxChunks = 64, kMoved = 3 };  // most are empty, if there are that many
  const __u64 frozen_begin = scratch->at;
  __s32 most_below = may_thaw(fragment) ? kMaxBelow : 0;
  __u64 chunk = 0;
  if (!read_reference(continuation + VIRTUAL.tail, &chunk)) return 0;
  for (int i = 0; i < kMaxChunks; ++i) {
    if (chunk == 0) return 1;
    if (!read_chunk_head(scratch, chunk)) return 0;
    // A collector that moves objects beside the program leaves the new address in the old one's first word.
    const __u64 mark = *(const __u64*)scratch->chunk_head;
    if ((mark & kMoved) == kMoved) {
      chunk = mark & ~(__u64)kMoved;
      if (!read_chunk_head(scratch, chunk)) return 0;
    }
    if (!copy_chunk(scratch, chunk, frozen_begin, most_below) || !parent_of(scratch, &chunk)) return 0;
    most_below = 0;
  }
  return 0;
}

static ALWAYS_INLINE void copy_name(struct Scratch* scratch, struct Fragment* fragment, __u64 from) {
  const __u64 at = scratch->at;
  __u64 bytes = fragment->name_bytes;
  if (from == 0 || bytes > kMaxName || at > kScratchRecord - kMaxName) bytes = 0;
  if (bytes != 0 && bpf_probe_read_user(scratch->record + at, bytes, (const void*)from) != 0) bytes = 0;
  fragment->name_bytes = bytes;
  scratch->at = at + ((bytes + 7) & ~7UL);
}
