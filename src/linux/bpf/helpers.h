// The functions of the kernel that our programs call, by their numbers, and where things go in the object file. Only
// for src/**/*.bpf.c; libbpf has the like, but is not needed otherwise (see linux/bpf_program.h).
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

#define SECTION(name) __attribute__((section(name), used))
#define ALWAYS_INLINE inline __attribute__((always_inline))
// Of two tests of pointers the compiler makes one, by arithmetic that the verifier does not permit; not with this
// between them.
#define KEEP_APART __asm__ volatile("" ::: "memory")
// A map: the loader makes it, and puts its descriptor wherever this is mentioned.
#define MAP(name) char name SECTION("maps")

static void* (*const bpf_map_lookup_elem)(void* map, const void* key) = (void*)BPF_FUNC_map_lookup_elem;
static long (*const bpf_map_update_elem)(void* map, const void* key, const void* value,
                                         __u64 flags) = (void*)BPF_FUNC_map_update_elem;
static long (*const bpf_map_delete_elem)(void* map, const void* key) = (void*)BPF_FUNC_map_delete_elem;
static __u64 (*const bpf_ktime_get_ns)(void) = (void*)BPF_FUNC_ktime_get_ns;
static __u32 (*const bpf_get_smp_processor_id)(void) = (void*)BPF_FUNC_get_smp_processor_id;
static long (*const bpf_get_ns_current_pid_tgid)(__u64 device, __u64 inode, struct bpf_pidns_info* out,
                                                 __u32 size) = (void*)BPF_FUNC_get_ns_current_pid_tgid;
static __u64 (*const bpf_get_current_task)(void) = (void*)BPF_FUNC_get_current_task;
static __u64 (*const bpf_get_current_pid_tgid)(void) = (void*)BPF_FUNC_get_current_pid_tgid;
static long (*const bpf_get_current_comm)(void* out, __u32 size) = (void*)BPF_FUNC_get_current_comm;
static void* (*const bpf_get_current_task_btf)(void) = (void*)BPF_FUNC_get_current_task_btf;
static void* (*const bpf_task_pt_regs)(void* task) = (void*)BPF_FUNC_task_pt_regs;
static long (*const bpf_get_stack)(void* context, void* out, __u32 size, __u64 flags) = (void*)BPF_FUNC_get_stack;
static long (*const bpf_probe_read_user)(void* to, __u32 size, const void* from) = (void*)BPF_FUNC_probe_read_user;
static long (*const bpf_probe_read_kernel)(void* to, __u32 size, const void* from) = (void*)BPF_FUNC_probe_read_kernel;
static void* (*const bpf_ringbuf_reserve)(void* ring, __u64 size, __u64 flags) = (void*)BPF_FUNC_ringbuf_reserve;
static void (*const bpf_ringbuf_submit)(void* record, __u64 flags) = (void*)BPF_FUNC_ringbuf_submit;
static void (*const bpf_ringbuf_discard)(void* record, __u64 flags) = (void*)BPF_FUNC_ringbuf_discard;
static long (*const bpf_ringbuf_output)(void* ring, void* data, __u64 size,
                                        __u64 flags) = (void*)BPF_FUNC_ringbuf_output;
static __u64 (*const bpf_ringbuf_query)(void* ring, __u64 what) = (void*)BPF_FUNC_ringbuf_query;
