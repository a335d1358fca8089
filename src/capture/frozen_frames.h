// What a handler copies of the virtual thread that it has interrupted: its id and name, and its frames in the heap.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "capture/named_virtuals.h"
#include "hotspot/sigsafe/fragment.h"
#include "hotspot/sigsafe/virtual_thread.h"

namespace tarsier::capture {

class FrozenFrames {
 public:
  static constexpr uint32_t kMaxBytes = 32 << 10;
  static constexpr uint32_t kMaxParts = 16;
  static constexpr uint32_t kMaxName = 128;

  // `named`: whose name need not be copied; null: nobody's name has been.
  FrozenFrames(const hotspot::VirtualThreadLayout& layout, pid_t self, const uint8_t* java_thread,
               const NamedVirtuals* named)
      : layout_(layout), self_(self), java_thread_(java_thread), named_(named) {}

  // Of the virtual thread that is mounted; 0: none.
  [[nodiscard]] int64_t mounted_id() const noexcept;
  // Finds out what there is to copy; sets the sizes in the fragment.
  void find(hotspot::Fragment& fragment) noexcept;
  // Copies it. What can't be read any more is left out, and said so in the fragment.
  void copy(hotspot::Fragment& fragment, uint8_t* frozen, uint8_t* name) const noexcept;

 private:
  template <class T>
  bool read(uint64_t from, T& out) const noexcept;
  // False if it can't be followed. Null references are 0.
  bool read_reference(uint64_t from, uint64_t& out) const noexcept;
  // `bytes`: of the field.
  bool decode_reference(const uint8_t* bytes, uint64_t& out) const noexcept;
  bool remove_colour(uint64_t& reference) const noexcept;  // false if it can't be followed now
  [[nodiscard]] uint64_t handle(uint64_t offset) const noexcept;
  bool find_continuation(hotspot::Fragment& fragment, uint64_t& continuation) noexcept;
  // `most_below`: words below those of the first. False if not all.
  bool find_parts(uint64_t continuation, int32_t most_below) noexcept;
  bool add_chunk(uint64_t chunk, const uint8_t* head, int32_t most_below) noexcept;
  [[nodiscard]] bool is_named(int64_t id) const noexcept { return named_ != nullptr && id != 0 && named_->has(id); }
  void find_name(hotspot::Fragment& fragment, uint64_t thread) noexcept;

  const hotspot::VirtualThreadLayout& layout_;
  const pid_t self_;
  const uint8_t* java_thread_;
  const NamedVirtuals* const named_;
  hotspot::FrozenPart parts_[kMaxParts];
  uint32_t count_ = 0, bytes_ = 0;
  uint64_t name_from_ = 0;
};

}  // namespace tarsier::capture
