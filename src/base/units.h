// Units and ids as types: a number of bytes is not a number of nanoseconds, a method is not a stack.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tarsier {

template <class Tag>
struct Quantity {
  int64_t count = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(int64_t n) : count(n) {}
  constexpr auto operator<=>(const Quantity&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  constexpr Quantity operator+(Quantity other) const { return Quantity(count + other.count); }
  constexpr Quantity operator-(Quantity other) const { return Quantity(count - other.count); }
  constexpr Quantity operator*(int64_t factor) const { return Quantity(count * factor); }
  constexpr Quantity operator/(int64_t divisor) const { return Quantity(count / divisor); }
  constexpr int64_t operator/(Quantity other) const { return count / other.count; }
  constexpr Quantity& operator+=(Quantity other) {
    count += other.count;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count -= other.count;
    return *this;
  }
};

using Nanos = Quantity<struct NanosTag>;
using Bytes = Quantity<struct BytesTag>;

constexpr Nanos micros(int64_t n) {
  return Nanos(n * 1'000);
}
constexpr Nanos millis(int64_t n) {
  return Nanos(n * 1'000'000);
}
constexpr Nanos seconds(int64_t n) {
  return Nanos(n * 1'000'000'000);
}
constexpr double in_seconds(Nanos t) {
  return static_cast<double>(t.count) * 1e-9;
}

// A strong index. 0 is the first element, or "none" where the owner of the table says so.
template <class Tag>
struct Id {
  uint32_t value = 0;
  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

}  // namespace tarsier

template <class Tag>
struct std::hash<tarsier::Id<Tag>> {
  size_t operator()(tarsier::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.value); }
};
