#include "agent/redefinitions.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/clock.h"
#include "linux/elf.h"

namespace tarsier::agent {
namespace {

struct Places {
  uint64_t count = 0, any = 0;
};

Places search(const void* inside) {
  Dl_info info{};
  if (inside == nullptr || ::dladdr(inside, &info) == 0) return {};
  const auto file = linux::ElfFile::open(info.dli_fname);
  if (!file) return {};
  const auto at = [&](const char* name) -> uint64_t {
    const auto symbol = file->symbol(name);
    return symbol ? reinterpret_cast<uint64_t>(info.dli_fbase) + symbol->address : 0;
  };
  if (const uint64_t count = at("_ZN11JvmtiExport19_redefinition_countE")) return {count, 0};
  return {0, at("_ZN11JvmtiExport22_has_redefined_a_classE")};
}

const Places& places_of(const LibJvm& lib) {
  static const Places places = search(lib.symbol("gHotSpotVMStructs"));  // it takes some milliseconds
  return places;
}

std::atomic<uint64_t> g_own{0};

}  // namespace

Redefinitions::Own::Own(const LibJvm& lib)
    : count_(reinterpret_cast<const volatile uint64_t*>(places_of(lib).count)),
      before_(count_ != nullptr ? *count_ : 0) {
  g_own.fetch_add(1);
}

Redefinitions::Own::~Own() {
  if (count_ != nullptr && *count_ != before_ + 1) g_own.fetch_sub(1);
}

uint64_t Redefinitions::count() const {
  if (count_ == nullptr) return 0;
  const uint64_t all = *count_, own = g_own.load();
  return std::max(all > own ? all - own : 0, last_count_);  // one of our own is counted before it is over
}

Redefinitions Redefinitions::find(const LibJvm& lib) {
  const Places& places = places_of(lib);
  Redefinitions found;
  found.count_ = reinterpret_cast<const volatile uint64_t*>(places.count);
  found.any_ = reinterpret_cast<const volatile bool*>(places.any);
  found.last_count_ = found.count();
  return found;
}

void Redefinitions::begin() {
  constexpr uint64_t kUntilFreed = 10'000'000'000;
  const auto time = static_cast<uint64_t>(clock_now(CLOCK_MONOTONIC).count);
  if (const uint64_t now = count(); now != last_count_) {
    settles_at_ = time + kUntilFreed;
    last_count_ = now;
  }
  // Of 11 and 12 it is only known that there has been one.
  const bool was_settled = settled_;
  settled_ = time >= settles_at_ && (any_ == nullptr || !*any_);
  if (settled_ && was_settled) return;
  constexpr size_t kMost = 4096;
  if (beginnings_.size() == kMost) beginnings_.erase(beginnings_.begin(), beginnings_.begin() + kMost / 2);
  beginnings_.push_back({time, ++now_});
}

uint64_t Redefinitions::at(uint64_t time_ns) const {
  auto after = std::upper_bound(beginnings_.begin(), beginnings_.end(), time_ns,
                                [](uint64_t time, const Beginning& beginning) { return time < beginning.time_ns; });
  if (settled_ && after == beginnings_.end()) return now_;
  return after == beginnings_.begin() ? 0 : (after - 1)->epoch - 1;
}

}  // namespace tarsier::agent
