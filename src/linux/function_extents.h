// Where the functions of a library begin and end, by its unwind tables: also of those that no symbol names.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "linux/elf.h"

namespace tarsier::linux {

class FunctionExtents {
 public:
  // As the file is linked. A part that the compiler has set apart from its function counts as a function of its own.
  struct Extent {
    uint64_t begin;
    uint64_t end;  // the same as `begin`: not known
  };

  // Fails without the index of the unwind tables, or if it is not of the usual kind.
  static Result<FunctionExtents> read(const ElfFile& file);

  [[nodiscard]] const std::vector<Extent>& all() const { return extents_; }  // by begin, each once
  // The one that the address lies in; null if it is in none, or in one whose end is not known.
  [[nodiscard]] const Extent* at(uint64_t address) const;

 private:
  std::vector<Extent> extents_;
};

}  // namespace tarsier::linux
