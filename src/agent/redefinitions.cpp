#include "agent/redefinitions.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "linux/loaded_elf.h"

namespace tarsier::agent {
namespace {

struct Places {
  uint64_t count = 0, any = 0;
};

Places search() {
  const auto library = linux::find_library("libjvm.so");
  if (!library) return {};
  const auto file = linux::open_loaded(*library);
  if (!file) return {};
  const auto at = [&](const char* name) -> uint64_t {
    const auto symbol = file->symbol(name);
    return symbol ? library->base + symbol->address : 0;
  };
  if (const uint64_t count = at("_ZN11JvmtiExport19_redefinition_countE")) return {count, 0};
  return {0, at("_ZN11JvmtiExport22_has_redefined_a_classE")};
}

const Places& places() {
  static const Places found = search();  // it takes some milliseconds
  return found;
}

std::atomic<uint64_t> g_own{0};
std::atomic<bool> g_first_was_own{false};

}  // namespace

Redefinitions::Own::Own()
    : count_(reinterpret_cast<const volatile uint64_t*>(places().count)),
      any_(reinterpret_cast<const volatile bool*>(places().any)),
      before_(count_ != nullptr ? *count_ : 0),
      is_first_(any_ != nullptr && !*any_) {
  g_own.fetch_add(1);
  if (is_first_) g_first_was_own = true;
}

Redefinitions::Own::~Own() {
  if (count_ != nullptr && *count_ != before_ + 1) g_own.fetch_sub(1);
  if (is_first_ && !*any_) g_first_was_own = false;  // it came to nothing
}

Redefinitions::Redefinitions(const volatile uint64_t* count, const volatile bool* any) : count_(count), any_(any) {
  last_count_ = this->count();
}

uint64_t Redefinitions::count() const {
  if (count_ == nullptr) return seen_;
  const uint64_t all = *count_, own = g_own.load();
  return std::max(all > own ? all - own : 0, last_count_);  // one of our own is counted before it is over
}

Redefinitions Redefinitions::find() {
  return {reinterpret_cast<const volatile uint64_t*>(places().count),
          reinterpret_cast<const volatile bool*>(places().any)};
}

void Redefinitions::begin(uint64_t time_ns) {
  constexpr uint64_t kUntilFreed = 10'000'000'000;
  // Those that have been before us are taken to be long ago: agents redefine when a program starts.
  if (const uint64_t now = count(); now != last_count_) {
    settles_at_ = time_ns + kUntilFreed;
    last_count_ = now;
  }
  // Of 11 and 12 it is only known that there has been one.
  const bool was_settled = settled_;
  settled_ = time_ns >= settles_at_ && (any_ == nullptr || !*any_ || g_first_was_own);
  if (settled_ && !was_settled) {
    add(time_ns, ++now_);
  } else if (!settled_) {
    // Somewhere between the last beginning and this one there was the first. What was known before may have held then,
    // but what has been confirmed of the time before it has not been of that time: it gets a number of its own.
    if (was_settled) {
      add(last_begin_, now_ + 1);
      now_ += 2;
    }
    add(time_ns, now_++);
  }
  last_begin_ = time_ns;
}

void Redefinitions::add(uint64_t time_ns, uint64_t at) {
  constexpr size_t kMost = 4096;
  if (beginnings_.size() == kMost) beginnings_.erase(beginnings_.begin(), beginnings_.begin() + kMost / 2);
  beginnings_.push_back({time_ns, at});
}

uint64_t Redefinitions::at(uint64_t time_ns) const {
  const auto after =
      std::upper_bound(beginnings_.begin(), beginnings_.end(), time_ns,
                       [](uint64_t time, const Beginning& beginning) { return time < beginning.time_ns; });
  return after == beginnings_.begin() ? 0 : (after - 1)->at;
}

}  // namespace tarsier::agent
