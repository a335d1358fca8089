// What the functions of the loaded libraries are called, by the symbol tables of their files. Session thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory.h"
#include "linux/elf_functions.h"
#include "linux/loaded_library.h"

namespace tarsier::agent {

struct NativeFunction {
  std::string library;  // "libc.so.6"; empty if the name says it all
  std::string name;     // "memcpy"; "libfoo.so+0x1234" if the file does not tell
  bool of_jvm = false;
  mutable uint64_t label = 0;  // of whoever writes it down
};

class NativeNames {
 public:
  // `most`: bytes that symbol tables and names may take together.
  NativeNames(const Memory& memory, size_t most) : memory_(memory), most_(most) {}

  // The answer stays as long as this object does.
  const NativeFunction& at(Address pc);
  // Libraries have been unloaded: others may lie where they were.
  void forget_libraries();
  [[nodiscard]] size_t memory_used() const { return used_; }
  // Libraries without a symbol table that we could read.
  [[nodiscard]] size_t nameless() const { return nameless_; }

 private:
  struct Library {
    linux::LoadedLibrary loaded;
    bool is_read = false;
    std::vector<uint8_t> image;  // of one that has no file
    std::optional<linux::ElfFunctions> functions;
    std::unordered_map<uint64_t, const NativeFunction*> by_address;  // of functions
  };
  void look();
  Library* library_of(Address pc);
  void read(Library& library);
  // Its file, if that is still the one that was loaded.
  [[nodiscard]] Result<linux::ElfFile> open(Library& library) const;
  const NativeFunction* in_library(Library& library, Address pc);
  const NativeFunction* keep(std::string library, std::string name, bool of_jvm);

  const Memory& memory_;
  const size_t most_;
  size_t used_ = 0, nameless_ = 0;
  std::optional<linux::LibraryChanges> changes_;
  std::vector<std::unique_ptr<Library>> libraries_;
  std::unordered_map<std::string, std::unique_ptr<NativeFunction>> functions_;  // by library and name
  struct Known {
    Address pc = 0;
    const NativeFunction* function = nullptr;
  };
  static constexpr int kLog2Known = 12;
  std::vector<Known> known_{size_t{1} << kLog2Known};  // by a hash; return addresses recur
};

}  // namespace tarsier::agent
