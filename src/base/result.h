// What can fail returns Result<T>: a value, or an Error that names the cause and, where there is one, the fix.
// Nothing of ours throws across a folder's border, a C entry point or a signal handler.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace tarsier {

// The command maps these to its exit codes (see docs/architecture.md), so a code says who must act, not where it
// failed.
enum class Errc {
  kFailed,        // anything else; exit 1
  kUsage,         // the caller's words are off; exit 2
  kNotFound,      // no such JVM; exit 3
  kNotPermitted,  // the kernel, the JVM or its owner says no; exit 4
  kBusy,          // somebody else is recording; exit 4
  kIncomplete,    // something was saved, not all; exit 5
  kCorrupt,       // a file is not what it says it is; exit 1
  kUnsupported,   // this JVM or kernel lacks it; exit 1
};

struct Error {
  Errc code = Errc::kFailed;
  std::string what;

  // "what" grows to the left on the way up: context first, cause last.
  [[nodiscard]] Error in(std::string context) && {
    what = std::move(context) + ": " + what;
    return std::move(*this);
  }
};

// Text of errno without the GNU/XSI confusion around strerror_r.
[[nodiscard]] std::string errno_text(int err);

[[nodiscard]] inline Error errno_error(std::string what, int err, Errc code = Errc::kFailed) {
  return Error{code, std::move(what) + ": " + errno_text(err)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: meant to be implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: meant to be implicit
  [[nodiscard]] bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  Error& error() & { return error_; }
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }

 private:
  bool failed_ = false;
  Error error_;
};

using Status = Result<void>;

}  // namespace tarsier
