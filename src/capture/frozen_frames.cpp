#include "capture/frozen_frames.h"

#include <algorithm>
#include <cstring>

#include "base/sigsafe/safe_copy.h"
#include "capture/field.h"

namespace tarsier::capture {

template <class T>
bool FrozenFrames::read(uint64_t from, T& out) const noexcept {
  return from != 0 && safe_copy(self_, &out, from, sizeof(out));
}

bool FrozenFrames::read_reference(uint64_t from, uint64_t& out) const noexcept {
  uint64_t bytes = 0;
  if (from == 0 || !safe_copy(self_, &bytes, from, layout_.references.compressed ? 4 : 8)) return false;
  return decode_reference(reinterpret_cast<const uint8_t*>(&bytes), out);
}

bool FrozenFrames::decode_reference(const uint8_t* bytes, uint64_t& out) const noexcept {
  const hotspot::ReferenceCoding& coding = layout_.references;
  if (coding.compressed) {
    uint32_t narrow = 0;
    std::memcpy(&narrow, bytes, sizeof(narrow));
    out = narrow == 0 ? 0 : coding.base + (static_cast<uint64_t>(narrow) << coding.shift);
    return true;
  }
  std::memcpy(&out, bytes, sizeof(out));
  return coding.bad_colours == nullptr || remove_colour(out);
}

bool FrozenFrames::remove_colour(uint64_t& reference) const noexcept {
  constexpr int kMostColourBits = 16;
  if (reference >> kMostColourBits == 0) {  // null has colours, too, which nobody looks at
    reference = 0;
    return true;
  }
  if ((reference & *layout_.references.bad_colours) != 0) return false;
  reference >>= *layout_.references.colour_bits;
  return true;
}

// The handles belong to the interrupted thread, which lives: what they point to can be read, and is a reference that is
// not compressed, but may be coloured.
uint64_t FrozenFrames::handle(uint64_t offset) const noexcept {
  const auto* slot = field<const uint64_t*>(java_thread_, offset);
  if (slot == nullptr) return 0;
  uint64_t object = *static_cast<const volatile uint64_t*>(slot);
  return layout_.references.bad_colours == nullptr || remove_colour(object) ? object : 0;
}

int64_t FrozenFrames::mounted_id() const noexcept {
  if (layout_.current_id != 0) return field<int64_t>(java_thread_, layout_.current_id);
  const uint64_t thread = handle(layout_.current);
  int64_t id = 0;
  return thread != 0 && thread != handle(layout_.carrier) && read(thread + layout_.thread.id, id) ? id : 0;
}

void FrozenFrames::find(hotspot::Fragment& fragment) noexcept {
  uint64_t continuation = 0;
  if (!find_continuation(fragment, continuation)) return;
  // In C++ code that Java calls without telling the JVM: it may be the one that moves frames.
  const bool may_thaw = fragment.anchor.sp == 0 && fragment.thread_state == hotspot::kThreadInJava &&
                        (fragment.pc < layout_.code_begin || fragment.pc >= layout_.code_end);
  const bool copy_below = may_thaw && layout_.code_end != 0;
  fragment.frozen_cut = !find_parts(continuation, copy_below ? int32_t{hotspot::FrozenPart::kMaxBelow} : 0);
  fragment.frozen_bytes = bytes_ + count_ * static_cast<uint32_t>(sizeof(hotspot::FrozenPart));
}

bool FrozenFrames::find_continuation(hotspot::Fragment& fragment, uint64_t& continuation) noexcept {
  if (layout_.continuation != 0) {
    // The entry lies on the thread's own stack and holds a plain reference.
    if (fragment.continuation == 0) return false;
    continuation = *reinterpret_cast<const volatile uint64_t*>(fragment.continuation + layout_.continuation);
    if (layout_.current_id != 0) fragment.virtual_id = field<int64_t>(java_thread_, layout_.current_id);
    if (is_named(fragment.virtual_id)) return true;
  }
  const uint64_t thread = handle(layout_.current);
  if (thread == 0 || thread == handle(layout_.carrier)) return layout_.continuation != 0;
  if (fragment.virtual_id == 0 && !read(thread + layout_.thread.id, fragment.virtual_id)) fragment.virtual_id = 0;
  if (!is_named(fragment.virtual_id)) find_name(fragment, thread);
  if (layout_.continuation != 0) return true;
  if (read_reference(thread + layout_.thread.continuation, continuation)) return continuation != 0;
  fragment.frozen_cut = true;
  return false;
}

bool FrozenFrames::find_parts(uint64_t continuation, int32_t most_below) noexcept {
  uint64_t chunk = 0;
  if (!read_reference(continuation + layout_.tail, chunk)) return false;
  constexpr int kMaxChunks = 64;  // most are empty, if there are that many
  for (int i = 0; i < kMaxChunks; ++i) {
    if (chunk == 0) return true;
    uint8_t head[hotspot::VirtualThreadLayout::kMaxChunkHead];
    if (!safe_copy(self_, head, chunk, layout_.chunk.words)) return false;
    // A collector that moves objects beside the program leaves the new address in the old one's first word.
    constexpr uint64_t kMoved = 3;
    const uint64_t mark = field<uint64_t>(head, 0);
    if ((mark & kMoved) == kMoved) {
      chunk = mark & ~kMoved;
      if (!safe_copy(self_, head, chunk, layout_.chunk.words)) return false;
    }
    if (!add_chunk(chunk, head, i == 0 ? most_below : 0) || !decode_reference(head + layout_.chunk.parent, chunk))
      return false;
  }
  return false;
}

bool FrozenFrames::add_chunk(uint64_t chunk, const uint8_t* head, int32_t most_below) noexcept {
  const auto size = field<int32_t>(head, layout_.chunk.size);
  const auto sp = field<int32_t>(head, layout_.chunk.sp);
  auto bottom = field<int32_t>(head, layout_.chunk.bottom);
  if (layout_.chunk.bottom_is_argument_size) bottom = size - bottom;
  constexpr int32_t kLargest = 1 << 20;
  if (size < 0 || size > kLargest || sp < 0 || bottom > size || sp > bottom) return false;
  const int32_t below = std::min(sp, most_below);
  if (sp == bottom && below == 0) return true;
  constexpr uint32_t kLeast = 64;
  if (count_ == kMaxParts || kMaxBytes - bytes_ < kLeast) return false;
  constexpr int32_t kBelow = 2;  // link and pc; of the first word of all they are the head's last bytes
  const uint32_t bytes = static_cast<uint32_t>(bottom - sp + kBelow + below) * 8;
  hotspot::FrozenPart& part = parts_[count_++];
  part = {};
  part.begin = chunk + layout_.chunk.words + static_cast<uint64_t>(sp - kBelow - below) * 8;
  part.below = static_cast<uint16_t>(below);
  part.bytes = std::min(bytes, kMaxBytes - bytes_);
  part.cut = part.bytes < bytes;
  bytes_ += part.bytes;
  return !part.cut;
}

void FrozenFrames::find_name(hotspot::Fragment& fragment, uint64_t thread) noexcept {
  uint64_t name = 0, value = 0;
  int8_t coder = 0;
  int32_t length = 0;
  if (!read_reference(thread + layout_.thread.name, name) || name == 0) return;
  if (!read_reference(name + layout_.text.value, value) || !read(name + layout_.text.coder, coder)) return;
  if (value == 0 || !read(value + layout_.text.length, length) || length < 0) return;
  fragment.name_bytes = static_cast<uint16_t>(std::min<uint32_t>(static_cast<uint32_t>(length), kMaxName));
  fragment.name_is_utf16 = coder != 0;
  name_from_ = value + layout_.text.bytes;
}

void FrozenFrames::copy(hotspot::Fragment& fragment, uint8_t* frozen, uint8_t* name) const noexcept {
  for (uint32_t i = 0; i < count_; ++i) {
    hotspot::FrozenPart part = parts_[i];
    uint8_t* words = frozen + sizeof(part);
    if (!safe_copy(self_, words, part.begin, part.bytes)) {
      std::memset(words, 0, part.bytes);
      part.cut = true;
    }
    std::memcpy(frozen, &part, sizeof(part));
    frozen = words + part.bytes;
  }
  std::memset(name, 0, fragment.padded_name());
  if (fragment.name_bytes > 0 && !safe_copy(self_, name, name_from_, fragment.name_bytes)) fragment.name_bytes = 0;
}

}  // namespace tarsier::capture
