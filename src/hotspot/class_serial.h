// Tells classes apart that had the same place one after the other, with the same name and layout: the JVM numbers its
// classes for the flight recorder, and never uses a number twice. Where in a class the number stands is not exported,
// but seen: of all the words that follow the loader's it is the one in which all classes have different, small numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/memory.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

class ClassSerial {
 public:
  // Nothing is found if the structs do not tell where to look.
  static ClassSerial find(const VmStructs& structs);

  // Looks at a class that is loaded, until it is clear where the numbers stand.
  void learn(const Memory& memory, Address klass);
  // Of its bytes in a class; the two before them are flags.
  [[nodiscard]] std::optional<uint64_t> offset() const { return offset_; }
  static constexpr size_t kBytes = 6;

 private:
  static constexpr size_t kEnough = 48;  // classes
  void decide();

  uint64_t begin_ = 0, end_ = 0;
  std::unordered_set<Address> seen_;
  std::vector<std::vector<uint64_t>> words_;  // of each place, those of all classes
  std::optional<uint64_t> offset_;
};

}  // namespace tarsier::hotspot
