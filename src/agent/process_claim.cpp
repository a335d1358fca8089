#include "agent/process_claim.h"

#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

#include "base/unique_fd.h"

namespace tarsier::agent {
namespace {

// A private mapping with a name is what the copies find each other by, since a library of ours exports nothing but the
// agent's entry points. The name carries the version of the layout.
constexpr char kName[] = "tarsier-claim-1";

ProcessClaim* find_mapping() {
  std::ifstream maps("/proc/self/maps");
  const std::string name = std::string("/memfd:") + kName;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) == std::string::npos) continue;
    uint64_t address = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), address, 16).ec != std::errc()) continue;
    return reinterpret_cast<ProcessClaim*>(address);
  }
  return nullptr;
}

ProcessClaim* make_mapping() {
  const unique_fd file(::memfd_create(kName, MFD_CLOEXEC));
  if (!file || ::ftruncate(file.get(), sizeof(ProcessClaim)) != 0) return nullptr;
  // Private: a child that the process forks has a claim of its own. Zeroes are a claim that nobody has.
  void* memory = ::mmap(nullptr, sizeof(ProcessClaim), PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  return memory == MAP_FAILED ? nullptr : static_cast<ProcessClaim*>(memory);
}

ProcessClaim& find() {
  // Libraries are loaded one after the other, so no two copies come to this at once.
  ProcessClaim* claim = find_mapping();
  if (claim == nullptr) claim = make_mapping();
  static ProcessClaim alone;  // where there is no /proc or no memfd, one copy can't know of another
  return claim != nullptr ? *claim : alone;
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
