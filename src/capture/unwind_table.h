// From a function of a C++ library to its caller, by the tables that compilers leave in every library (.eh_frame).
//
// Compiled Java code calls C++ functions of the JVM directly (Math.pow, a collector's barriers). AsyncGetCallTrace
// can't start there on aarch64: a frame record lies at the bottom of a C++ frame, so it does not tell where the frame
// ends and the Java frame begins. These tables do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/sigsafe/unwind_rule.h"
#include "capture/registers.h"

namespace tarsier::capture {

class UnwindTable {
 public:
  // `header`: the library's .eh_frame_hdr; [begin, end): its code. The library must stay loaded. A header without the
  // usual sorted table is refused.
  static std::optional<UnwindTable> open(uint64_t begin, uint64_t end, const uint8_t* header) noexcept;
  // Of a library that nobody vouches for: whatever the tables say, nothing outside of `readable` is read. It holds the
  // header and the tables; addresses are counted as if the library lay there.
  static std::optional<UnwindTable> open(uint64_t begin, uint64_t end, const uint8_t* header,
                                         std::span<const uint8_t> readable) noexcept;

  [[nodiscard]] bool contains(uint64_t pc) const noexcept { return pc - begin_ < end_ - begin_; }

  // Nothing where the tables say nothing, or something that takes more than a rule.
  [[nodiscard]] std::optional<UnwindRule> rule_at(uint64_t pc) const noexcept;

 private:
  // What may be read, as numbers: to compare addresses of no one array as pointers is no C++.
  struct Readable {
    uint64_t begin = 0, end = ~uint64_t{0};

    [[nodiscard]] bool holds(const uint8_t* at, uint64_t size) const noexcept {
      const auto from = reinterpret_cast<uint64_t>(at);
      return from >= begin && from <= end && size <= end - from;
    }
  };
  UnwindTable(uint64_t begin, uint64_t end, const uint8_t* header, uint32_t count, Readable readable) noexcept
      : begin_(begin), end_(end), header_(header), count_(count), readable_(readable) {}

  static std::optional<UnwindTable> open_within(uint64_t begin, uint64_t end, const uint8_t* header,
                                                Readable readable) noexcept;
  [[nodiscard]] const uint8_t* find_description(uint64_t pc) const noexcept;

  uint64_t begin_, end_;
  const uint8_t* header_;
  uint32_t count_;
  Readable readable_;
};

// Leaves the C++ functions that the registers are in, as long as one of the tables knows them. False if it is not known
// how. `context` is where the registers came from.
bool leave_native_code(std::span<const UnwindTable> tables, const ucontext_t& context, Registers& registers) noexcept;

}  // namespace tarsier::capture
