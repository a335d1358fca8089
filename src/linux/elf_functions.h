// The functions of a library, by address: of .symtab, or of .dynsym if it was stripped. Sixteen bytes each; their names
// stay in the file until somebody asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "linux/elf.h"

namespace tarsier::linux {

class ElfFunctions {
 public:
  struct Function {
    uint64_t address;
    uint32_t size;
    uint32_t name;  // in the table of names
  };

  // Fails if the table would take more than `most` bytes, or the file is damaged.
  static Result<ElfFunctions> read(const ElfFile& file, size_t most);

  // The function that an address of the file lies in; null if it is in none. Never the nearest one.
  [[nodiscard]] const Function* find(uint64_t address) const;
  // `file`: the same that was read. Empty if it has no name that ends.
  [[nodiscard]] std::string name_of(const Function& function, const ElfFile& file) const;
  [[nodiscard]] size_t count() const { return functions_.size(); }
  [[nodiscard]] size_t memory_used() const { return functions_.capacity() * sizeof(Function); }

 private:
  std::vector<Function> functions_;  // by address; of several names for one place, one
  ElfSection names_;
};

}  // namespace tarsier::linux
