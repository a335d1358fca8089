#include "agent/engines/native_code.h"

#include <dlfcn.h>

#include <string_view>

#include "linux/loaded_library.h"

namespace tarsier::agent {

std::string library_name(Address pc) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(pc), &info) == 0 || info.dli_fname == nullptr) return "[native]";
  const std::string_view path(info.dli_fname);
  return std::string(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
}

// These stay loaded as long as the JVM lives.
NativeCode::NativeCode() {
  for (const char* name : {"libjvm.so", "libc.so.6", "libm.so.6", "libjava.so", "libzip.so", "libnio.so", "libnet.so",
                           "libgcc_s.so.1", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"}) {
    const auto library = linux::find_library(name);
    if (!library) continue;
    if (auto table = capture::UnwindTable::open(library->code_begin, library->code_end, library->eh_frame_header)) {
      tables_.push_back(*table);
    }
  }
}

std::optional<UnwindRule> NativeCode::rule_at(Address pc) const {
  for (const capture::UnwindTable& table : tables_) {
    if (table.contains(pc)) return table.rule_at(pc);
  }
  return std::nullopt;
}

}  // namespace tarsier::agent
