// Memory that keeps what was read of it, so that the same can be read again later, elsewhere. Every place is read once:
// whoever reads through it sees one state of the memory, even if that changes meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "base/memory.h"

namespace tarsier {

class NotedMemory final : public Memory {
 public:
  // Kept in whole lines: a decoder that reads a little more than it did when something was saved still finds it.
  static constexpr size_t kLine = 64;
  using Content = std::array<uint8_t, kLine>;
  struct Line {
    bool readable = false;
    Content content{};
  };

  // `most_lines`: reads that would take more fail, and overflowed() says so.
  explicit NotedMemory(const Memory& source, size_t most_lines) : source_(source), most_lines_(most_lines) {}

  bool copy(void* out, Address from, size_t size) const noexcept override;

  [[nodiscard]] const std::unordered_map<Address, Line>& lines() const { return lines_; }  // by their first byte
  [[nodiscard]] bool overflowed() const { return overflowed_; }
  void forget() {
    lines_.clear();
    overflowed_ = false;
  }

 private:
  [[nodiscard]] bool note(Address begin, size_t count) const;

  const Memory& source_;
  const size_t most_lines_;
  mutable std::unordered_map<Address, Line> lines_;
  mutable bool overflowed_ = false;
};

}  // namespace tarsier
