// Loads an eBPF object file that was compiled into us, by libbpf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

struct bpf_object;

namespace tarsier::linux {

class BpfObject {
 public:
  struct Size {
    std::string map;
    uint32_t entries;  // for a ring: bytes
  };
  // `read_only`: the program's constants, all of them; nobody can change them once it is loaded. The maps that are not in
  // `sizes` have the size that they were compiled with.
  static Result<BpfObject> load(std::span<const uint8_t> file, std::span<const uint8_t> read_only,
                                const std::vector<Size>& sizes);
  // Could this build load anything at all?
  static bool built_in();

  // Descriptors, which live as long as the object; -1: there is no such thing.
  [[nodiscard]] int map(const char* name) const;
  [[nodiscard]] int program(const char* name) const;

 private:
  struct Close {
    void operator()(bpf_object* object) const noexcept;
  };
  explicit BpfObject(bpf_object* object) : object_(object) {}
  std::unique_ptr<bpf_object, Close> object_;
};

}  // namespace tarsier::linux
