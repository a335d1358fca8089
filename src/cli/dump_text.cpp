#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/lock_code.h"
#include "cli/dump_view.h"
#include "export/escape.h"

namespace tarsier::cli {
namespace {

using dump::Frame;
using dump::HeldLock;
using dump::Lock;
using dump::Thread;
using dump::Wait;
using exporting::visible;

std::string quoted(const Thread& thread) {
  return "\"" + visible(thread.name, "\"") + "\"";
}

// java.lang.Object@0x69f41de88
std::string words_of(const Lock& lock, bool with_address) {
  std::string text = lock.klass.empty() ? "?" : visible(lock.klass);
  if (!with_address || lock.address == 0) return text;
  char address[24];
  std::snprintf(address, sizeof address, "@0x%llx", static_cast<unsigned long long>(lock.address));
  return text + address;
}

std::string words_of(const Frame& frame) {
  return visible(frame.method) + "(" + visible(frame.location) + ")";
}

std::string count_of(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// 21.0.2; 8 is 1.8.0
bool has_virtual_threads(const std::string& version) {
  constexpr int kFirst = 21;
  int major = 0;
  (void)std::from_chars(version.data(), version.data() + version.size(), major);
  return major >= kFirst;
}

std::string words_of(const Thread& thread, bool with_address) {
  switch (thread.awaits->how) {
    case Wait::kMonitor:
      return "waits for the monitor of " + words_of(thread.awaits->lock, with_address);
    case Wait::kNotify:
      return "waits to be notified by " + words_of(thread.awaits->lock, with_address);
    case Wait::kParked:
      return "is parked for " + words_of(thread.awaits->lock, with_address);
    case Wait::kClassInit:
      return "waits for the initialization of class " + visible(thread.awaits->lock.klass);
  }
  return {};
}

class Page {
 public:
  explicit Page(const DumpView& view) : view_(view), threads_(view.threads.threads) {}

  std::string write(const attach::Jvm& jvm) {
    text_ = "JVM " + std::to_string(jvm.pid) + ": " + visible(view_.threads.vm);
    if (!view_.threads.time.empty()) text_ += ", " + visible(view_.threads.time);
    text_ += "\n" + count_of(threads_.size(), "thread") + ", " + count_of(view_.deadlocks.size(), "deadlock") + "\n";
    if (has_virtual_threads(jvm.version)) text_ += "(virtual threads are not shown, nor what they hold)\n";
    for (const dump::Deadlock& deadlock : view_.deadlocks) {
      text_ += "\nDEADLOCK of " + count_of(deadlock.size(), "thread") + "\n";
      for (const size_t member : deadlock) append_wait(member);
    }
    append_other_waits();
    append_stacks();
    return std::move(text_);
  }

 private:
  // "a" waits for the monitor of X@0x1, held by "b"
  //     in A.run(A.java:1), held in B.run(B.java:2)
  void append_wait(size_t index) {
    const Thread& thread = threads_[index];
    text_ += "  " + quoted(thread) + " " + words_of(thread, true);
    if (view_.holders[index]) text_ += ", held by " + quoted(threads_[view_.holders[index]->thread]);
    if (thread.is_timed()) text_ += ", for a limited time";
    text_ += "\n";
    if (const Frame* frame = DumpView::waits_in(thread)) text_ += "      in " + words_of(*frame) + "\n";
    if (const Frame* frame = view_.held_in(index)) text_ += "      which is held in " + words_of(*frame) + "\n";
  }

  void append_other_waits() {
    std::vector<bool> in_deadlock(threads_.size());
    for (const dump::Deadlock& deadlock : view_.deadlocks) {
      for (const size_t member : deadlock) in_deadlock[member] = true;
    }
    bool is_first = true;
    for (size_t i = 0; i < threads_.size(); ++i) {
      const Thread& thread = threads_[i];
      const bool is_blocked = thread.awaits && (thread.awaits->how == Wait::kMonitor || view_.holders[i]);
      if (in_deadlock[i] || !is_blocked) continue;
      if (std::exchange(is_first, false)) text_ += "\nBLOCKED\n";
      append_wait(i);
    }
  }

  static std::string stack_of(const Thread& thread, bool with_addresses) {
    std::string text;
    if (thread.awaits && thread.frames.empty()) text += "    - " + words_of(thread, with_addresses) + "\n";
    for (size_t i = 0; i < thread.frames.size(); ++i) {
      text += "    at " + words_of(thread.frames[i]) + "\n";
      if (i == 0 && thread.awaits) text += "    - " + words_of(thread, with_addresses) + "\n";
      for (const HeldLock& held : thread.holds) {
        if (held.frame == i) text += "    - holds " + words_of(held.lock, with_addresses) + "\n";
      }
    }
    for (const HeldLock& held : thread.holds) {
      if (!held.frame) text += "    - holds " + words_of(held.lock, with_addresses) + "\n";
    }
    return text;
  }

  static std::string state_of(const Thread& thread) {
    if (thread.state.empty()) return "no state";
    return visible(thread.state) + (thread.state_detail.empty() ? "" : " (" + visible(thread.state_detail) + ")");
  }

  // Threads that do the same at the same place, together. The blocked first, then who runs, then the rest.
  void append_stacks() {
    const auto rank = [this](size_t i) {
      if (threads_[i].state == "BLOCKED" || view_.holders[i]) return 0;
      return threads_[i].state == "RUNNABLE" && !threads_[i].frames.empty() ? 1 : 2;
    };
    std::map<std::tuple<int, std::string, std::string>, size_t> group_of;
    std::vector<std::vector<size_t>> groups;
    std::vector<int> ranks;
    for (size_t i = 0; i < threads_.size(); ++i) {
      auto key = std::tuple(rank(i), state_of(threads_[i]), stack_of(threads_[i], false));
      const auto [it, is_new] = group_of.try_emplace(std::move(key), groups.size());
      if (is_new) {
        groups.emplace_back();
        ranks.push_back(rank(i));
      }
      groups[it->second].push_back(i);
    }
    for (int wanted = 0; wanted <= 2; ++wanted) {
      for (size_t g = 0; g < groups.size(); ++g) {
        if (ranks[g] == wanted) append_group(groups[g]);
      }
    }
  }

  void append_group(const std::vector<size_t>& group) {
    const Thread& first = threads_[group[0]];
    text_ += "\n";
    if (group.size() > 1) text_ += count_of(group.size(), "thread") + ", " + state_of(first) + ": ";
    for (size_t i = 0; i < group.size(); ++i) {
      const Thread& thread = threads_[group[i]];
      text_ += (i == 0 ? "" : ", ") + quoted(thread) + " #" + std::to_string(thread.id);
      if (thread.carries) text_ += " (carries virtual thread #" + std::to_string(*thread.carries) + ")";
    }
    text_ += (group.size() > 1 ? "" : " " + state_of(first)) + "\n";
    const std::string stack = stack_of(first, true);
    const bool same_locks =
        std::all_of(group.begin(), group.end(), [&](size_t i) { return stack_of(threads_[i], true) == stack; });
    text_ += same_locks ? stack : stack_of(first, false);
  }

  const DumpView& view_;
  const std::vector<Thread>& threads_;
  std::string text_;
};

}  // namespace

const Frame* DumpView::waits_in(const Thread& thread) {
  if (thread.frames.empty()) return nullptr;
  const auto own = std::find_if(thread.frames.begin(), thread.frames.end(),
                                [](const Frame& frame) { return !analysis::is_inside_of_locking(frame.method); });
  return own != thread.frames.end() ? &*own : &thread.frames.front();
}

const Frame* DumpView::held_in(size_t thread) const {
  const auto& holder = holders[thread];
  return holder && holder->frame ? &threads.threads[holder->thread].frames[*holder->frame] : nullptr;
}

std::string text_of(const DumpView& view, const attach::Jvm& jvm) {
  return Page(view).write(jvm);
}

}  // namespace tarsier::cli
