// Leads the calls of a function of a loaded library to a function of ours, which may call the original, and undoes it.
//
// The code of the library is not written to: the page with the instruction is copied, changed, and the
// copy is mapped over the original, in one step for all threads; undoing it maps the file's own page back. Of the
// function one instruction is changed, so nobody can be in the midst of it. On x86_64 that is not always the first one,
// and padding between functions may be needed for a jump (x86_hook_plan.h).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "linux/hook_site.h"

namespace tarsier::linux {

class FunctionHook {
 public:
  // Fails if its first instructions can't be moved, or the bytes in memory are not those of the file: somebody else has
  // changed them.
  static Result<FunctionHook> prepare(const HookedFunction& function);
  FunctionHook(FunctionHook&& other) noexcept;
  FunctionHook& operator=(FunctionHook&&) = delete;
  // Takes it off. Threads that are in the replacement, or in the original called by it, may stay there for ever: what
  // leads back to the original is never given back.
  ~FunctionHook();

  // What to call for the original. Valid for ever, whether the hook is on or off.
  [[nodiscard]] uint64_t original() const { return site_.original; }
  Status put_on(uint64_t replacement);
  Status take_off();
  // A thread that came by the hook may be about to execute the jump in the padding, also when the hook is off: it must
  // be known that there is none (threads_moved_on.h).
  [[nodiscard]] bool uses_padding() const { return !site_.padding.bytes.empty(); }
  Status clear_padding();

 private:
  FunctionHook() = default;

  HookedFunction function_;
  HookSite site_;
  bool on_ = false;
};

}  // namespace tarsier::linux
