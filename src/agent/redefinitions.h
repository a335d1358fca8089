// Epochs of redefinition. The old methods of a redefined class are freed some time later, without being counted as
// unloaded, and other methods may take their place.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/libjvm.h"

namespace tarsier::agent {

class Redefinitions {
 public:
  // Of a libjvm without symbols, as that of 8 is, it is not known: then it is as if there were none.
  static Redefinitions find(const LibJvm& lib);

  // What was redefined until now concerns no sample: they are all taken later.
  void start_here() {
    if (count_ != nullptr) last_count_ = *count_;
  }
  // Before a batch of samples is decoded.
  void begin();
  [[nodiscard]] uint64_t now() const { return now_; }
  // Since begin().
  [[nodiscard]] bool goes_on() const { return count_ != nullptr && *count_ != last_count_; }
  // The last epoch that was over at that time. While classes are being redefined, and for a while after that, every
  // batch is an epoch of its own, since what lies somewhere now tells nothing about what lay there before; otherwise
  // the epoch that has begun never ends.
  [[nodiscard]] uint64_t at(uint64_t time_ns) const;

 private:
  struct Beginning {
    uint64_t time_ns, epoch;
  };
  const volatile uint64_t* count_ = nullptr;
  const volatile bool* any_ = nullptr;
  uint64_t last_count_ = 0;
  uint64_t settles_at_ = 0;  // ns
  bool settled_ = true;
  uint64_t now_ = 0;
  std::vector<Beginning> beginnings_;  // of the last epochs
};

}  // namespace tarsier::agent
