// Numbers as class files have them: most significant byte first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tarsier::classfile {

// Reads what may be anything: past the end everything is 0, and ok() says so.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  uint8_t u1() { return static_cast<uint8_t>(number(1)); }
  uint16_t u2() { return static_cast<uint16_t>(number(2)); }
  uint32_t u4() { return number(4); }
  std::span<const uint8_t> take(size_t size) {
    if (size > bytes_.size() - at_) {
      ok_ = false;
      at_ = bytes_.size();
      return {};
    }
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }

 private:
  uint32_t number(size_t size) {
    uint32_t value = 0;
    for (const uint8_t byte : take(size)) value = value << 8 | byte;
    return value;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

class Bytes {
 public:
  void u1(uint32_t value) { bytes_.push_back(static_cast<uint8_t>(value)); }
  void u2(uint32_t value) {
    u1(value >> 8);
    u1(value);
  }
  void u4(uint32_t value) {
    u2(value >> 16);
    u2(value);
  }
  void add(std::span<const uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void add(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }
  // Over what is there already.
  void set_u4(size_t at, uint32_t value) {
    for (size_t i = 0; i < 4; ++i) bytes_[at + i] = static_cast<uint8_t>(value >> (24 - 8 * i));
  }
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::vector<uint8_t>& all() const& { return bytes_; }
  [[nodiscard]] std::vector<uint8_t> all() && { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace tarsier::classfile
