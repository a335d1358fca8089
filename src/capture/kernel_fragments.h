// Sampling by stack fragments in the kernel, by an eBPF program: linux/bpf/fragment.bpf.c. It writes the very records
// that the handler of fragment_capture.h writes, so whatever reads those reads these.
#pragma once

#include <cstddef>

#include "capture/fragment_capture.h"
#include "capture/frozen_frames.h"
#include "capture/stack_extent.h"
#include "hotspot/sigsafe/fragment.h"
#include "linux/bpf/fragment_layout.h"

namespace tarsier::capture {

namespace bpf = linux::bpf;

static_assert(bpf::kMaxKernelFrames == kMaxKernelFrames);
static_assert(bpf::kMaxStack == FragmentCapture::kMaxStack);
static_assert(bpf::kMaxDeepStack == FragmentCapture::kMaxDeepStack);
static_assert(bpf::kEntryBytes == StackExtent::kEntryBytes);
static_assert(bpf::kMaxFrozen == FrozenFrames::kMaxBytes);
static_assert(bpf::kMaxName == FrozenFrames::kMaxName);
static_assert(bpf::kMaxChunkHead == hotspot::VirtualThreadLayout::kMaxChunkHead);
static_assert(offsetof(bpf::Told, bottoms) == 0);
static_assert(sizeof(bpf::Bottoms) == sizeof(JavaBottoms) && bpf::kAddressBits == JavaBottoms::kAddressBits);
static_assert(bpf::kGeneralRegisters == hotspot::kGeneralRegisters);

static_assert(sizeof(bpf::SampleHeader) == sizeof(FragmentRecord));
static_assert(offsetof(bpf::SampleHeader, time_ns) == offsetof(SampleHeader, time_ns));
static_assert(offsetof(bpf::SampleHeader, weight_ns) == offsetof(SampleHeader, weight_ns));
static_assert(offsetof(bpf::SampleHeader, thread) == offsetof(SampleHeader, thread));
static_assert(offsetof(bpf::SampleHeader, kernel_count) == offsetof(SampleHeader, kernel_count));

static_assert(sizeof(bpf::Fragment) == sizeof(hotspot::Fragment));
static_assert(offsetof(bpf::Fragment, pc) == offsetof(hotspot::Fragment, pc));
static_assert(offsetof(bpf::Fragment, sp) == offsetof(hotspot::Fragment, sp));
static_assert(offsetof(bpf::Fragment, fp) == offsetof(hotspot::Fragment, fp));
static_assert(offsetof(bpf::Fragment, general) == offsetof(hotspot::Fragment, general));
static_assert(offsetof(bpf::Fragment, anchor_sp) == offsetof(hotspot::Fragment, anchor.sp));
static_assert(offsetof(bpf::Fragment, anchor_pc) == offsetof(hotspot::Fragment, anchor.pc));
static_assert(offsetof(bpf::Fragment, anchor_fp) == offsetof(hotspot::Fragment, anchor.fp));
static_assert(offsetof(bpf::Fragment, continuation) == offsetof(hotspot::Fragment, continuation));
static_assert(offsetof(bpf::Fragment, thread_state) == offsetof(hotspot::Fragment, thread_state));
static_assert(offsetof(bpf::Fragment, stack_bytes) == offsetof(hotspot::Fragment, stack_bytes));
static_assert(offsetof(bpf::Fragment, epoch) == offsetof(hotspot::Fragment, epoch));
static_assert(offsetof(bpf::Fragment, virtual_id) == offsetof(hotspot::Fragment, virtual_id));
static_assert(offsetof(bpf::Fragment, frozen_bytes) == offsetof(hotspot::Fragment, frozen_bytes));
static_assert(offsetof(bpf::Fragment, name_bytes) == offsetof(hotspot::Fragment, name_bytes));
static_assert(offsetof(bpf::Fragment, frozen_cut) == offsetof(hotspot::Fragment, frozen_cut));
static_assert(offsetof(bpf::Fragment, cut) == offsetof(hotspot::Fragment, cut));

static_assert(sizeof(bpf::FrozenPart) == sizeof(hotspot::FrozenPart));
static_assert(offsetof(bpf::FrozenPart, begin) == offsetof(hotspot::FrozenPart, begin));
static_assert(offsetof(bpf::FrozenPart, bytes) == offsetof(hotspot::FrozenPart, bytes));
static_assert(offsetof(bpf::FrozenPart, cut) == offsetof(hotspot::FrozenPart, cut));
static_assert(offsetof(bpf::FrozenPart, below) == offsetof(hotspot::FrozenPart, below));
static_assert(bpf::kMaxBelow == hotspot::FrozenPart::kMaxBelow && bpf::kThreadInJava == hotspot::kThreadInJava &&
              bpf::kThreadInNative == hotspot::kThreadInNative);

}  // namespace tarsier::capture
