// What lies at a pc: which compiled method, compiled when and by whom, or the interpreter, or a stub.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

enum class CodeKind : uint8_t { kNotInCache, kInterpreter, kC1, kC2, kNativeWrapper, kStub };

struct Code {
  CodeKind kind = CodeKind::kNotInCache;
  int32_t compile_id = 0;  // of compiled methods; grows with every compilation
  Address method = 0;      // Method*, of compiled methods
};

class CodeCache {
 public:
  static Result<CodeCache> find(const Memory& memory, const VmStructs& structs);

  // Fault-safe and without a lock: the answer is that of some moment during the call.
  [[nodiscard]] Code code_at(Address pc) const;
  // What HotSpot calls the stub at a pc, e.g. "StubRoutines (2)"; "[stub]" if it does not say.
  [[nodiscard]] std::string stub_name(Address pc) const;
  // The blob that contains a pc; 0: a free block; nullopt: not in the code cache.
  [[nodiscard]] std::optional<Address> blob_at(Address pc) const;
  // Whether a blob that blob_at() has told is in use. Its content says nothing about that: HotSpot frees code by its
  // block's head alone, and gives away the end of free blocks first.
  [[nodiscard]] bool is_used(Address blob) const {
    return memory_->read<uint8_t>(blob - layout_.header_size + layout_.header_used).value_or(0) != 0;
  }
  // [begin, end) of the template interpreter.
  [[nodiscard]] std::pair<Address, Address> interpreter() const { return {interpreter_low_, interpreter_high_}; }
  using Ranges = std::vector<std::pair<Address, Address>>;
  // [begin, end) of what blob_at() finds blobs by.
  [[nodiscard]] Ranges maps() const;
  // [begin, end) of memory that stays mapped as long as the JVM lives; the heaps grow.
  [[nodiscard]] Ranges stable_ranges() const;
  // Grows whenever one of the heaps does: as long as it is the same, stable_ranges() is.
  [[nodiscard]] Address sum_of_ends() const;
  // Everything compiled from now on has a larger id (-XX:+CICountOSR, a development flag, aside).
  [[nodiscard]] int32_t highest_compile_id() const;
  // [begin, end) of the blobs in use whose name begins like that, heads included.
  [[nodiscard]] Ranges blobs_named(std::string_view begin_of_name) const;

 private:
  struct Heap {
    Address low = 0;         // start of its memory
    Address high_field = 0;  // where the end of its committed memory is stored: it grows
    Address segmap = 0;
    int log2_segment = 0;
  };
  struct Layout {
    uint64_t header_used = 0, header_length = 0, header_size = 0;
    bool length_is_32bit = false;
    uint64_t blob_name = 0;
    uint64_t method = 0, compile_id = 0, level = 0;
    bool level_is_byte = false;
  };

  explicit CodeCache(const Memory& memory) : memory_(&memory) {}
  [[nodiscard]] Code describe(Address blob) const;
  // Calls visit(blob, end of its block) for those in use.
  template <class Visit>
  void for_each_blob(const Visit& visit) const;

  const Memory* memory_;
  std::vector<Heap> heaps_;
  Layout layout_;
  Address interpreter_low_ = 0, interpreter_high_ = 0;
};

}  // namespace tarsier::hotspot
