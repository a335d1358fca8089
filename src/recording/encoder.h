// A growing buffer of encoded bytes. Cleared and reused, so that it allocates only while it grows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/varint.h"
#include "recording/format.h"
#include "recording/utf8.h"

namespace tarsier::recording {

// Enough for every size and offset of a chunk below 2 GB, and rewritable in place.
constexpr size_t kPaddedVarint = 5;
inline void put_varint_padded5(uint8_t* out, uint64_t value) noexcept {
  for (size_t i = 0; i < kPaddedVarint - 1; ++i) out[i] = static_cast<uint8_t>(value >> (7 * i) | 0x80);
  out[kPaddedVarint - 1] = static_cast<uint8_t>(value >> 28 & 0x7f);
}

class Encoder {
 public:
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::span<const uint8_t> bytes() const { return {bytes_.get(), size_}; }
  uint8_t* at(size_t position) { return bytes_.get() + position; }
  void clear() { size_ = 0; }
  void reserve(size_t n) {
    if (n > size_) (void)room(n - size_);
  }
  void truncate(size_t n) { size_ = std::min(size_, n); }

  void u8(uint8_t value) {
    *room(1) = value;
    ++size_;
  }
  void boolean(bool value) { u8(value ? 1 : 0); }
  void fill(size_t n, uint8_t value = 0) {
    std::memset(room(n), value, n);
    size_ += n;
  }
  void raw(std::span<const uint8_t> data) {
    if (data.empty()) return;
    std::memcpy(room(data.size()), data.data(), data.size());
    size_ += data.size();
  }
  void varint(uint64_t value) { size_ += put_varint(room(kMaxVarint), value); }
  // Negative ints take five bytes, as the JVM writes them, not nine.
  void int32(int32_t value) { varint(static_cast<uint32_t>(value)); }
  void int64(int64_t value) { varint(static_cast<uint64_t>(value)); }
  void be(uint64_t value, size_t width) {
    fill(width);
    put_be(at(size() - width), value, width);
  }

  // data() == nullptr is Java's null. Invalid UTF-8 is mended on the way in, and what is absurdly long is cut.
  void string(std::string_view text) {
    if (text.data() == nullptr) return u8(static_cast<uint8_t>(StringEncoding::kNull));
    if (text.empty()) return u8(static_cast<uint8_t>(StringEncoding::kEmpty));
    if (text.size() > kLongestString) text = text.substr(0, kLongestString);
    std::string mended;
    if (!is_valid_utf8(text)) {
      append_as_utf8(mended, text);
      text = mended;
    }
    u8(static_cast<uint8_t>(StringEncoding::kUtf8));
    varint(text.size());
    raw({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }

  // As an array of bytes.
  void binary(std::span<const uint8_t> data) {
    varint(data.size());
    raw(data);
  }

  // An event's size counts its own bytes and is known last. One byte is enough for nearly all; else the rest moves up.
  size_t begin_event() {
    u8(0);
    return size() - 1;
  }
  void end_event(size_t begin) {
    const size_t body = size() - begin - 1;
    size_t width = 1;
    while (body + width >= uint64_t{1} << (7 * width)) ++width;
    if (width > 1) {
      fill(width - 1);
      std::memmove(at(begin + width), at(begin + 1), body);
    }
    put_varint(at(begin), body + width);
  }

 private:
  // Nearly all that is written is a few bytes long: a vector would call a function for each.
  uint8_t* room(size_t n) {
    if (capacity_ - size_ < n) grow(n);
    return bytes_.get() + size_;
  }
  void grow(size_t n) {
    constexpr size_t kSmallest = 256;
    const size_t capacity = std::max({2 * capacity_, size_ + n, kSmallest});
    auto larger = std::make_unique_for_overwrite<uint8_t[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  static constexpr size_t kLongestString = 1 << 20;
  std::unique_ptr<uint8_t[]> bytes_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace tarsier::recording
