// Leads the calls of a function of a loaded library to a function of ours, which may call the original, and undoes it.
//
// The code of the library is not written to: the page with the function's first instruction is copied, changed, and the
// copy is mapped over the original, in one step for all threads; undoing it maps the file's own page back. Of the
// function one instruction is changed, so nobody can be in the midst of it. On x86_64 that is not enough for a jump; no
// function is hooked there.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tarsier::linux {

class FunctionHook {
 public:
  // `function`: its first instruction, in the code of the library `path`; `file_offset`: where that lies in the file.
  // Fails if that instruction can't be moved, or the bytes in memory are not those of the file: somebody else has
  // changed them.
  static Result<FunctionHook> prepare(const std::string& path, uint64_t function, uint64_t file_offset);
  FunctionHook(FunctionHook&& other) noexcept;
  FunctionHook& operator=(FunctionHook&&) = delete;
  // Takes it off. Threads that are in the replacement, or in the original called by it, may stay there for ever: what
  // leads back to the original is never given back.
  ~FunctionHook();

  // What to call for the original. Valid for ever, whether the hook is on or off.
  [[nodiscard]] uint64_t original() const { return original_; }
  Status put_on(uint64_t replacement);
  Status take_off();
  [[nodiscard]] bool is_on() const { return on_; }

 private:
  FunctionHook() = default;
  Status change(uint32_t instruction);

  std::string path_;
  uint64_t function_ = 0, file_offset_ = 0;
  uint64_t original_ = 0;
  uint32_t first_ = 0;  // instruction of the function
  bool on_ = false;
};

}  // namespace tarsier::linux
