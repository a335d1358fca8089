#include "agent/engines/lock_functions.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "linux/call_graph.h"
#include "linux/usdt.h"

namespace tarsier::agent {
namespace {

using linux::CallGraph;
using linux::common;
using linux::ElfFile;
using Functions = CallGraph::Functions;

void add(Functions& all, const Functions& more) {
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

bool has(const Functions& all, uint64_t one) {
  return std::binary_search(all.begin(), all.end(), one);
}

bool touch(const Functions& a, const Functions& b) {
  return !common(a, b).empty();
}

// What is known from the start.
struct Evidence {
  Functions wait_callers;  // one of them calls ObjectMonitor::wait
  Functions epilogs;       // the end of ObjectMonitor::exit, or exit itself; empty: to be found
  Functions notifiers;     // each of them calls ObjectMonitor::INotify
  bool all_notify = true;  // otherwise two or more of them
  uint64_t park = 0, unpark = 0;
};

class Search {
 public:
  Search(const ElfFile& library, const CallGraph& graph) : library_(library), graph_(graph) {
    for (const char* name : {"pthread_cond_wait", "pthread_cond_timedwait"}) add(sleepers_, callers_of(name));
    wakers_ = callers_of("pthread_cond_signal");
  }

  Result<LockFunctions> find(const Evidence& evidence) {
    if (!find_wait_and_exit(evidence)) {
      return Error{Errc::kUnsupported, "where monitors are released is not seen in its code"};
    }
    LockFunctions found;
    found.set(LockRole::kExit, exit_);
    found.set(LockRole::kWait, wait_);
    found.set(LockRole::kReenter, find_reenter());
    found.set(LockRole::kNotify, find_notify(evidence));
    find_unlocking(found);
    found.set(LockRole::kPark, evidence.park);
    found.set(LockRole::kUnpark, evidence.unpark);
    return found;
  }

 private:
  [[nodiscard]] Functions callers_of(const char* import) const {
    Functions callers;
    for (const uint64_t linkage : graph_.import(import)) add(callers, graph_.callers(linkage));
    return callers;
  }
  [[nodiscard]] bool is_root(uint64_t function) const { return graph_.callers(function).empty(); }

  // A thread that waits sleeps on a condition variable, and releases its monitor before.
  bool find_wait_and_exit(const Evidence& evidence) {
    size_t found = 0;
    Functions seen;
    for (const uint64_t caller : evidence.wait_callers) {
      for (const uint64_t wait : graph_.callees(caller)) {
        const Functions callees = graph_.callees(wait);
        if (has(seen, wait) || !touch(callees, sleepers_)) continue;
        add(seen, {wait});
        Functions epilogs = evidence.epilogs;
        if (epilogs.empty()) epilogs = epilogs_beside(callees);
        // The compiler may have made it a part of exit (8 on x86_64). Then others that release the monitor at times
        // call what looks like it, too.
        const Functions direct = common(epilogs, callees);
        for (const uint64_t exit : callees) {
          if (direct.empty() ? !touch(graph_.callees(exit), epilogs) : !has(direct, exit)) continue;
          wait_ = wait;
          exit_ = exit;
          ++found;
        }
      }
    }
    parks_ = common(graph_.callees(wait_), sleepers_);
    return found == 1;
  }

  // Those that wake up a thread, as the waiting one itself does if it was woken up in another one's place, for a
  // function that it calls; best if for nobody else.
  [[nodiscard]] Functions epilogs_beside(const Functions& callees_of_wait) const {
    Functions epilogs, of_one;
    for (const uint64_t unpark : common(callees_of_wait, wakers_)) {
      for (const uint64_t epilog : graph_.callers(unpark)) {
        const Functions callers = graph_.callers(epilog);
        if (!touch(callers, callees_of_wait)) continue;
        add(epilogs, {epilog});
        if (callers.size() == 1) add(of_one, {epilog});
      }
    }
    return of_one.empty() ? epilogs : of_one;
  }

  // Called when a notified thread wants its monitor back, by nobody else: it sleeps until it has it.
  [[nodiscard]] uint64_t find_reenter() const {
    Functions found;
    for (const uint64_t callee : graph_.callees(wait_)) {
      if (graph_.callers(callee) == Functions{wait_} && touch(graph_.callees(callee), parks_)) found.push_back(callee);
    }
    return found.size() == 1 ? found.front() : 0;
  }

  // Takes a thread out of the list of those that wait, which those that wait do themselves otherwise: what both call
  // and few others do tells.
  [[nodiscard]] uint64_t find_notify(const Evidence& evidence) const {
    Functions candidates;
    for (const uint64_t notifier : evidence.notifiers) add(candidates, graph_.callees(notifier));
    uint64_t best = 0;
    double most = 0;
    for (const uint64_t candidate : candidates) {
      const size_t notify_by = common(graph_.callers(candidate), evidence.notifiers).size();
      if (notify_by < (evidence.all_notify ? evidence.notifiers.size() : 2)) continue;
      double shared = 0;
      for (const uint64_t callee : common(graph_.callees(candidate), graph_.callees(wait_))) {
        shared += 1 / static_cast<double>(graph_.callers(callee).size());
      }
      if (shared > most) {
        most = shared;
        best = candidate;
      }
    }
    return best;
  }

  // The functions that leave a monitor of whatever kind, and call ObjectMonitor::exit for those that have become large.
  [[nodiscard]] Functions leaving() const {
    Functions all, exits{exit_};
    for (const uint64_t caller : graph_.callers(exit_)) {
      if (graph_.callees(caller) == Functions{exit_}) add(exits, {caller});  // the first part of it
    }
    for (const uint64_t exit : exits) {
      for (const uint64_t caller : graph_.callers(exit)) {
        if (caller != wait_ && !sleeps(caller)) add(all, {caller});
      }
    }
    return all;
  }
  [[nodiscard]] bool sleeps(uint64_t function) const {
    const Functions callees = graph_.callees(function);
    return touch(callees, parks_) || std::any_of(callees.begin(), callees.end(), [&](uint64_t callee) {
             return touch(graph_.callees(callee), parks_);
           });
  }

  // Code of the second compiler and a helper of that of the first do the same, one by itself; both are called by
  // compiled code only, the helper by way of a function for each such compiler.
  void find_unlocking(LockFunctions& found) const {
    Functions users;
    for (const uint64_t one : leaving()) add(users, graph_.callers(one));
    size_t pairs = 0;
    for (const uint64_t helper : users) {
      const Functions callers = graph_.callers(helper), does = graph_.callees(helper);
      const auto root = [this](uint64_t function) { return is_root(function); };
      if (callers.empty() || does.size() < 2 || !std::all_of(callers.begin(), callers.end(), root)) continue;
      const uint64_t by_record = taking_a_record(callers);
      if (by_record == 0) continue;
      for (const uint64_t unlock : users) {
        if (!is_root(unlock) || common(graph_.callees(unlock), does) != does) continue;
        ++pairs;
        found.set(LockRole::kUnlock, unlock);
        found.set(LockRole::kUnlockC1, by_record);
      }
    }
    if (pairs == 1) return;
    found.set(LockRole::kUnlock, 0);
    found.set(LockRole::kUnlockC1, 0);
  }

  // The one that reads the object from what its second argument points to; others get the object itself.
  [[nodiscard]] uint64_t taking_a_record(const Functions& candidates) const {
    Functions found;
    for (const uint64_t candidate : candidates) {
      if (loads_by_second_argument(candidate)) found.push_back(candidate);
    }
    return found.size() == 1 ? found.front() : 0;
  }
  [[nodiscard]] bool loads_by_second_argument(uint64_t function) const {
    constexpr uint64_t kLook = 128;
    linux::ElfSection code = *library_.section(".text");
    if (function < code.address || function + kLook > code.address + code.size) return false;
    code.offset += function - code.address;
    code.size = kLook;
    const auto bytes = library_.bytes(code);
    if (!bytes) return false;
    for (uint64_t at = 0; at + 4 <= kLook; at += library_.machine() == EM_AARCH64 ? 4 : 1) {
      uint32_t word = 0;
      std::memcpy(&word, bytes->data() + at, sizeof(word));
      // ldr x0, [x1, #8]; mov 8(%rsi), %rdi
      if (word == (library_.machine() == EM_AARCH64 ? 0xf9400420U : 0x087e8b48U)) return true;
    }
    return false;
  }

  const ElfFile& library_;
  const CallGraph& graph_;
  Functions sleepers_, wakers_;  // all functions that wait for a condition variable, or signal one
  Functions parks_;              // of the first those by which threads wait for monitors
  uint64_t wait_ = 0, exit_ = 0;
};

Functions callees_of(const CallGraph& graph, const Functions& functions) {
  Functions all;
  for (const uint64_t one : functions) add(all, graph.callees(one));
  return all;
}

}  // namespace

Result<LockFunctions> LockFunctions::by_probes(const ElfFile& library) {
  const auto probes = linux::usdt_probes(library);
  if (!probes) return probes.error();
  if (probes->empty()) return Error{Errc::kUnsupported, "the library has no static probes (USDT)"};
  const auto graph = CallGraph::read(library);
  if (!graph) return graph.error();
  Evidence evidence;
  for (const linux::UsdtProbe& probe : *probes) {
    if (probe.provider != "hotspot") continue;
    const uint64_t function = graph->function_at(probe.address);
    if (function == 0) continue;
    if (probe.name == "monitor__wait") add(evidence.wait_callers, {function});
    if (probe.name == "monitor__contended__exit") add(evidence.epilogs, {function});
    if (probe.name == "monitor__notify" || probe.name == "monitor__notifyAll") add(evidence.notifiers, {function});
    if (probe.name == "thread__park__begin") evidence.park = function;
    if (probe.name == "thread__unpark") evidence.unpark = function;
  }
  if (evidence.epilogs.empty()) return Error{Errc::kUnsupported, "the library has no static probes (USDT) of monitors"};
  return Search(library, *graph).find(evidence);
}

Result<LockFunctions> LockFunctions::by_exports(const ElfFile& library) {
  const auto graph = CallGraph::read(library);
  if (!graph) return graph.error();
  // By at most so many calls: how many there are depends on the version and the compiler.
  const auto reached_from = [&](const char* name, int calls) {
    Functions reached;
    if (const auto symbol = library.symbol(name)) reached.push_back(symbol->address);
    for (int i = 0; i < calls; ++i) add(reached, callees_of(*graph, reached));
    return reached;
  };
  Evidence evidence;
  evidence.wait_callers = reached_from("JVM_MonitorWait", 2);
  evidence.notifiers = reached_from("JVM_MonitorNotify", 3);
  add(evidence.notifiers, reached_from("JVM_MonitorNotifyAll", 3));
  evidence.all_notify = false;
  if (evidence.wait_callers.empty()) return Error{Errc::kUnsupported, "the library does not export JVM_MonitorWait"};
  return Search(library, *graph).find(evidence);
}

}  // namespace tarsier::agent
