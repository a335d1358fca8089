// Leads the calls that one library makes of a function of another one to a function of ours, and undoes it: the
// address through which it calls is exchanged. Works on every machine; calls within the other library are not led.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "linux/loaded_library.h"

namespace tarsier::linux {

class ImportHook {
 public:
  // Fails if the library does not call it, or has not looked for it yet.
  static Result<ImportHook> prepare(const LoadedLibrary& library, std::string_view function);
  ImportHook(ImportHook&& other) noexcept;
  ImportHook& operator=(ImportHook&&) = delete;
  ~ImportHook();  // takes it off

  // What to call for the original.
  [[nodiscard]] uint64_t original() const { return original_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  Status put_on(uint64_t replacement);
  // Fails, and changes nothing, if somebody else has exchanged the address meanwhile.
  Status take_off();

 private:
  ImportHook() = default;
  Status exchange(uint64_t expected, uint64_t value) const;

  std::string name_;
  uint64_t slot_ = 0, original_ = 0, replacement_ = 0;  // 0: it is off
};

}  // namespace tarsier::linux
