// An amount that grows, and how much of it there was since the last look, lately and in all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarsier::analysis {

enum class TopSpan : uint8_t {
  kLast,    // between the last two looks
  kSmooth,  // what is long ago counts less: a half after seven seconds
  kAll,     // since the beginning
};

// Of a thread: first those that the kernel counts since the session's start, then those that we add up.
enum class TopFigure : uint8_t {
  kCpu,
  kSystem,
  kQueue,
  kSteal,
  kVoluntary,
  kInvoluntary,
  kMinorFaults,
  kMajorFaults,
  kMigrations,
  kBlocked,
  kAllocated,
  kSampled,
  kCount,
};
inline constexpr size_t kCumulativeFigures = static_cast<size_t>(TopFigure::kBlocked);
inline constexpr size_t kTopFigures = static_cast<size_t>(TopFigure::kCount);

class TopAmount {
 public:
  void add(double amount) { fresh_ += amount; }
  // What became known late: it belongs to no span but the whole.
  void add_to_all(double amount) { all_ += amount; }
  // Of what is fresh no more than `most` can belong to the span that ends now: the rest was before it.
  void limit_fresh(double most) {
    if (fresh_ <= most) return;
    all_ += fresh_ - most;
    fresh_ = most;
  }
  [[nodiscard]] double fresh() const { return fresh_; }
  void settle(double decay) {
    last_ = fresh_;
    smooth_ = smooth_ * decay + fresh_;
    all_ += fresh_;
    fresh_ = 0;
  }
  [[nodiscard]] double of(TopSpan span) const {
    return span == TopSpan::kLast ? last_ : span == TopSpan::kSmooth ? smooth_ : all_;
  }
  [[nodiscard]] bool is_quiet() const { return last_ == 0 && fresh_ == 0; }
  void take_over(const TopAmount& other) {
    fresh_ += other.fresh_;
    last_ += other.last_;
    smooth_ += other.smooth_;
    all_ += other.all_;
  }

 private:
  double fresh_ = 0, last_ = 0, smooth_ = 0, all_ = 0;
};

}  // namespace tarsier::analysis
