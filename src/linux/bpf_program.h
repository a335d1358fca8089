// Loads an eBPF program that was compiled into us: an object file of clang's with one function in the section
// `program`, its constants in `.rodata`, and maps that it mentions by the names of symbols in `maps`.
//
// By bare system calls, without libbpf, of which nothing else is needed: Debian's static libbpf can't be linked into a
// shared library on x86_64, and its libelf on aarch64 only seems to: its thread-local error number then is a variable
// of the JVM's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::linux {

struct BpfMapPlan {
  std::string name;
  uint32_t type;  // BPF_MAP_TYPE_..
  uint32_t key_bytes, value_bytes;
  uint32_t entries;    // of a ring: bytes
  uint32_t flags = 0;  // BPF_F_..
  int shared = -1;     // the descriptor of one that another program has made: it is not made again
};

class BpfProgram {
 public:
  // `type`: BPF_PROG_TYPE_... `constants`: all of them; nobody can change them once it is loaded.
  static Result<BpfProgram> load(std::span<const uint8_t> file, uint32_t type, std::span<const uint8_t> constants,
                                 const std::vector<BpfMapPlan>& maps);

  // Descriptors, which live as long as this.
  [[nodiscard]] int map(std::string_view name) const;  // -1: there is no such map
  [[nodiscard]] int program() const { return program_.get(); }
  unique_fd take_map(std::string_view name);

 private:
  std::vector<std::pair<std::string, unique_fd>> maps_;
  unique_fd program_;
};

// Runs a loaded program of the type BPF_PROG_TYPE_RAW_TRACEPOINT at that tracepoint, for as long as what it returns is
// open.
Result<unique_fd> attach_to_tracepoint(int program, const char* tracepoint);

// Those that are at work now, on whichever CPU, have ended when it returns; what they read after that is not older than
// what was written before. Needs no right.
void wait_for_bpf_programs() noexcept;

}  // namespace tarsier::linux
