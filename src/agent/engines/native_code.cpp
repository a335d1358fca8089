#include "agent/engines/native_code.h"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "base/clock.h"
#include "linux/loaded_library.h"

namespace tarsier::agent {

std::string library_name(Address pc) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(pc), &info) == 0 || info.dli_fname == nullptr) return "[native]";
  const std::string_view path(info.dli_fname);
  return std::string(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
}

namespace {

// Our own functions are between Java and the JVM where these are hooked; an agent is never unloaded.
bool is_ours(const linux::LoadedLibrary& library) {
  const auto here = reinterpret_cast<uint64_t>(&is_ours);
  return here >= library.code_begin && here < library.code_end;
}

// Only libraries that stay loaded as long as the JVM lives, since nothing keeps them while their tables are read: those
// of the JDK itself, and what it is linked with. `jdk`: the folder of libjvm, or the one above.
bool stays(const linux::LoadedLibrary& library, std::string_view jdk) {
  if (is_ours(library)) return true;
  constexpr std::string_view kSystem[] = {"libc.so.6",     "libm.so.6",       "libpthread.so.0",       "libdl.so.2",
                                          "libgcc_s.so.1", "libstdc++.so.6",  "ld-linux-aarch64.so.1", "libz.so.1",
                                          "librt.so.1",    "linux-vdso.so.1", "ld-linux-x86-64.so.2"};
  if (std::find(std::begin(kSystem), std::end(kSystem), library.file_name()) != std::end(kSystem)) return true;
  return !jdk.empty() && library.path.compare(0, jdk.size(), jdk) == 0;
}

std::string_view folder(std::string_view path) {
  const size_t end = path.rfind('/');
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}

}  // namespace

void NativeCode::look() const {
  const std::vector<linux::LoadedLibrary> libraries = linux::loaded_libraries();
  std::string_view jdk;
  for (const linux::LoadedLibrary& library : libraries) {
    if (library.file_name() == "libjvm.so") jdk = folder(folder(library.path));
  }
  std::vector<capture::UnwindTable> tables;
  const size_t copied_before = copied_.size();
  for (const linux::LoadedLibrary& library : libraries) {
    if (!stays(library, jdk)) {
      if (memory_ != nullptr) copy_tables(library);
      continue;
    }
    if (auto table = capture::UnwindTable::open(library.code_begin, library.code_end, library.eh_frame_header)) {
      tables.push_back(*table);
    }
  }
  if (tables.size() != tables_.size() || copied_.size() != copied_before) known_.assign(kKnown, {});
  tables_ = std::move(tables);
  looked_ = monotonic_now();
}

void NativeCode::copy_tables(const linux::LoadedLibrary& library) const {
  for (const Copied& copied : copied_) {
    if (copied.code_begin == library.code_begin && copied.base == library.base) return;
  }
  const size_t used = memory_used();
  auto table = CopiedUnwindTable::copy(*memory_, library, most_ - std::min(most_, used));
  if (table) copied_.push_back({library.code_begin, library.base, std::move(*table)});
}

size_t NativeCode::memory_used() const {
  size_t used = 0;
  for (const Copied& copied : copied_) used += copied.table.memory_used();
  return used;
}

bool NativeCode::forget_unloaded() {
  const uint64_t unloaded = linux::library_changes().unloaded;
  if (unloaded == unloaded_) return false;
  unloaded_ = unloaded;
  certain_from_ns_ = static_cast<uint64_t>(monotonic_now().count);
  copied_.clear();
  known_.assign(kKnown, {});
  look();
  return true;
}

bool NativeCode::is_doubtful(Address pc) const {
  return doubtful_ && std::none_of(tables_.begin(), tables_.end(), [&](const auto& one) { return one.contains(pc); });
}

std::optional<UnwindRule> NativeCode::find_in_tables(Address pc, bool& found) const {
  const auto holds = [&](const auto& one) { return one.contains(pc); };
  const auto table = std::find_if(tables_.begin(), tables_.end(), holds);
  const auto copied =
      std::find_if(copied_.begin(), copied_.end(), [&](const Copied& one) { return one.table.contains(pc); });
  found = table != tables_.end() || copied != copied_.end();
  if (table != tables_.end()) return table->rule_at(pc);
  return copied != copied_.end() ? copied->table.rule_at(pc) : std::nullopt;
}

std::optional<UnwindRule> NativeCode::find(Address pc) const {
  bool found = false;
  if (const auto rule = find_in_tables(pc, found); found) return rule;
  // The JVM loads some of its libraries when they are needed.
  constexpr Nanos kPause = millis(20);
  if (monotonic_now() - looked_ < kPause) return std::nullopt;
  look();
  return find_in_tables(pc, found);
}

std::optional<UnwindRule> NativeCode::rule_at(Address pc) const {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  static_assert(kKnown == 1 << 12);
  if (is_doubtful(pc)) return std::nullopt;
  const Known& known = known_[(pc * kSpread) >> (64 - 12)];
  if (known.pc == pc && known.rule) return known.rule;
  const auto rule = find(pc);
  if (rule) known_[(pc * kSpread) >> (64 - 12)] = {pc, rule};
  return rule;
}

}  // namespace tarsier::agent
