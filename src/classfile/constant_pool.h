// The constants of a class file: what is there, and what is added behind it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "classfile/bytes.h"

namespace tarsier::classfile {

class ConstantPool {
 public:
  // From the count on.
  static Result<ConstantPool> parse(Reader& in);

  // Empty: there is no such text.
  [[nodiscard]] std::string_view utf8(uint16_t index) const;
  [[nodiscard]] std::string_view class_name(uint16_t index) const;

  // The index of a constant that is added, unless it was added before. 0: there is no room.
  uint16_t add_utf8(std::string_view text);
  uint16_t add_class(std::string_view name);
  uint16_t add_integer(int32_t value);
  uint16_t add_long(int64_t value);
  uint16_t add_member(uint8_t tag, std::string_view klass, std::string_view name, std::string_view descriptor);
  static constexpr uint8_t kField = 9, kMethod = 10;

  [[nodiscard]] bool is_full() const { return full_; }
  void write_to(Bytes& out) const;

 private:
  struct Constant {
    uint8_t tag = 0;  // 0: the second half of a long one
    std::span<const uint8_t> bytes;
  };
  uint16_t add(const std::string& constant, uint32_t slots);

  std::span<const uint8_t> original_;  // without the count
  std::vector<Constant> constants_{1};
  uint32_t count_ = 1;
  std::map<std::string, uint16_t> added_;  // as they are written
  std::string added_bytes_;
  bool full_ = false;
};

}  // namespace tarsier::classfile
