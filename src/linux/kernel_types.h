// Where the kernel keeps things in its structures, by its own description of its types (BTF, /sys/kernel/btf/vmlinux).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tarsier::linux {

class KernelTypes {
 public:
  static Result<KernelTypes> of_kernel();
  // Whatever the bytes are: nothing is read beyond them.
  static Result<KernelTypes> parse(std::vector<uint8_t> bytes);
  KernelTypes(KernelTypes&&) = default;
  KernelTypes& operator=(KernelTypes&&) = default;

  struct Member {
    uint32_t offset = 0;  // bytes
    uint32_t size = 0;    // 0: not known (it is neither a number nor a pointer)
  };
  // Also of a structure without a name inside of it. Nothing if there is none, or if it is no whole number of bytes.
  [[nodiscard]] std::optional<Member> member(std::string_view structure, std::string_view name) const;
  // Where a variable lies in its section. Nothing if the section is not described.
  [[nodiscard]] std::optional<uint32_t> variable(std::string_view section, std::string_view name) const;

 private:
  struct Type {
    uint32_t name = 0, info = 0, size_or_type = 0;
    size_t body = 0;  // where what follows begins
  };
  explicit KernelTypes(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] uint32_t word(size_t at) const;  // 0 outside
  [[nodiscard]] std::string_view text(uint32_t offset) const;
  [[nodiscard]] std::optional<Member> member(const Type& structure, std::string_view name, int depth) const;
  [[nodiscard]] uint32_t size_of(uint32_t type) const;

  std::vector<uint8_t> bytes_;
  std::span<const uint8_t> strings_;  // of bytes_
  std::vector<Type> types_;           // by their number; 0 is void
};

}  // namespace tarsier::linux
