// Which function of a library calls which: from its code and its unwind tables, so that no symbol is needed but those
// by which it is linked with others.
//
// Only direct calls are known, and jumps to the begin of a function (calls at its end). A part that the compiler has
// set apart from its function counts as a function of its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "linux/elf.h"

namespace tarsier::linux {

class CallGraph {
 public:
  using Functions = std::vector<uint64_t>;  // addresses as the file is linked, in their order, each once

  // Reads all of the code, so it takes a moment. Fails without unwind tables.
  static Result<CallGraph> read(const ElfFile& file);

  // Where the function begins that the address lies in; 0: in none.
  [[nodiscard]] uint64_t function_at(uint64_t address) const;
  [[nodiscard]] Functions callees(uint64_t function) const;
  [[nodiscard]] Functions callers(uint64_t function) const;
  // What is called where a function of another library is meant. Empty if it is not used by direct calls.
  [[nodiscard]] Functions import(std::string_view name) const;

 private:
  using Call = std::pair<uint64_t, uint64_t>;
  struct Import {
    std::string name;
    uint64_t address;
  };
  void read_imports(const ElfFile& file);
  Status read_calls(const ElfFile& file, const ElfSection& code);
  void add_call(uint64_t at, uint64_t target);

  Functions begins_;
  std::vector<Import> imports_;
  std::vector<Call> by_caller_, by_callee_;
};

// What is in both.
CallGraph::Functions common(const CallGraph::Functions& a, const CallGraph::Functions& b);

}  // namespace tarsier::linux
