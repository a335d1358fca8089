#include "agent/process_claim.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

namespace tarsier::agent {
namespace {

// Libraries in the order in which they were loaded.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
          static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &names);
  return names;
}

ProcessClaim& find() {
  for (const std::string& name : loaded_libraries()) {
    void* library = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    auto* claim = static_cast<ProcessClaim*>(::dlsym(library, "tarsier_process_claim"));
    ::dlclose(library);
    // It stays there: our library is never unloaded (-z nodelete).
    if (claim != nullptr) return *claim;
  }
  static ProcessClaim alone;  // in a program that is no libtarsier.so: a test
  return alone;
}

}  // namespace

ProcessClaim& process_claim() {
  static ProcessClaim& shared = find();
  return shared;
}

bool ProcessClaim::take() {
  int64_t free = kFree;
  return state.compare_exchange_strong(free, kStarting);
}

void ProcessClaim::give_back() {
  recorder_pid.store(0);
  ends_at.store(0);
  state.store(kFree);
}

}  // namespace tarsier::agent
