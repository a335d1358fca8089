// Epochs of redefinition. The old methods of a redefined class are freed some time later, without being counted as
// unloaded, and other methods may take their place.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/libjvm.h"

namespace tarsier::agent {

class Redefinitions {
 public:
  // One of our own, while this exists: nobody need doubt other methods because of it. Of several classes at once it is
  // one, and if others redefine at the same time it is as if it were not ours.
  class Own {
   public:
    Own();
    ~Own();
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;

   private:
    const volatile uint64_t* count_;
    const volatile bool* any_;
    uint64_t before_;
    bool is_first_;
  };

  static Redefinitions find();
  // The JVM's count, or whether there has been one (11), which tells nothing any more if the first was our own. Of a
  // libjvm without symbols, as that of 8 is, neither is known. Without a count those count that saw_one() tells.
  Redefinitions(const volatile uint64_t* count, const volatile bool* any);

  // Before a batch of samples is decoded, and before a sample if one goes_on() or if the sample is not old enough.
  void begin(uint64_t time_ns);
  // Was it taken before the last beginning? If not, what is confirmed of it now need not hold for those that are taken
  // after it, in the same epoch.
  [[nodiscard]] bool is_old(uint64_t time_ns) const { return settled_ || time_ns < last_begin_; }
  // By the JVM. If not:
  [[nodiscard]] bool are_counted() const { return count_ != nullptr; }
  // A class that was redefined has been met.
  void saw_one() { ++seen_; }
  [[nodiscard]] uint64_t now() const { return now_; }
  // Since begin().
  [[nodiscard]] bool goes_on() const { return count() != last_count_; }
  // The last epoch that was over at that time. While classes are being redefined, and for a while after that, every
  // batch is an epoch of its own, since what lies somewhere now tells nothing about what lay there before; otherwise
  // it is the epoch of that time, which never ends.
  [[nodiscard]] uint64_t at(uint64_t time_ns) const;

 private:
  [[nodiscard]] uint64_t count() const;

  struct Beginning {
    uint64_t time_ns;
    uint64_t at;  // what at() tells from then on
  };
  void add(uint64_t time_ns, uint64_t at);

  const volatile uint64_t* count_;
  const volatile bool* any_;
  uint64_t seen_ = 0;
  uint64_t last_count_ = 0;
  uint64_t last_begin_ = 0, settles_at_ = 0;  // ns
  bool settled_ = true;
  uint64_t now_ = 0;
  std::vector<Beginning> beginnings_;  // the last ones
};

}  // namespace tarsier::agent
