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

// Only libraries that stay loaded as long as the JVM lives, since nothing keeps them while their tables are read: those
// of the JDK itself, and what it is linked with. `jdk`: the folder of libjvm, or the one above.
bool stays(const linux::LoadedLibrary& library, std::string_view jdk) {
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
  for (const linux::LoadedLibrary& library : libraries) {
    if (!stays(library, jdk)) continue;
    if (auto table = capture::UnwindTable::open(library.code_begin, library.code_end, library.eh_frame_header)) {
      tables.push_back(*table);
    }
  }
  if (tables.size() != tables_.size()) known_.assign(kKnown, {});
  tables_ = std::move(tables);
  looked_ = monotonic_now();
}

std::optional<UnwindRule> NativeCode::find(Address pc) const {
  const auto table = [&] {
    return std::find_if(tables_.begin(), tables_.end(), [&](const auto& one) { return one.contains(pc); });
  };
  if (const auto found = table(); found != tables_.end()) return found->rule_at(pc);
  // The JVM loads some of its libraries when they are needed.
  constexpr Nanos kPause = millis(20);
  if (monotonic_now() - looked_ < kPause) return std::nullopt;
  look();
  const auto found = table();
  return found != tables_.end() ? found->rule_at(pc) : std::nullopt;
}

std::optional<UnwindRule> NativeCode::rule_at(Address pc) const {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  static_assert(kKnown == 1 << 12);
  const Known& known = known_[(pc * kSpread) >> (64 - 12)];
  if (known.pc == pc && known.rule) return known.rule;
  const auto rule = find(pc);
  if (rule) known_[(pc * kSpread) >> (64 - 12)] = {pc, rule};
  return rule;
}

}  // namespace tarsier::agent
