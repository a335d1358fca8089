#include "doctor/status_file.h"

#include <charconv>

namespace tarsier::doctor {
namespace {

// The text behind `key` up to the end of its line; empty if no line begins with it.
std::string_view line_of(std::string_view text, std::string_view key) {
  for (size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; ++at) {
    if (at != 0 && text[at - 1] != '\n') continue;
    std::string_view rest = text.substr(at + key.size());
    rest = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return rest;
  }
  return {};
}

template <class T>
T number(std::string_view text, int base = 10) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

}  // namespace

ProcessState parse_process_state(std::string_view status) {
  ProcessState state;
  state.caught = number<uint64_t>(line_of(status, "SigCgt:"), 16);
  state.ignored = number<uint64_t>(line_of(status, "SigIgn:"), 16);
  state.blocked = number<uint64_t>(line_of(status, "SigBlk:"), 16);
  state.capabilities = number<uint64_t>(line_of(status, "CapEff:"), 16);
  state.seccomp = number<int>(line_of(status, "Seccomp:"));
  state.threads = number<int64_t>(line_of(status, "Threads:"));
  return state;
}

std::optional<ResourceLimits> parse_limits(std::string_view limits) {
  const auto soft = [&limits](std::string_view key) {
    const std::string_view line = line_of(limits, key);
    return line.empty() || line.starts_with("unlimited") ? kUnlimited : number<uint64_t>(line);
  };
  if (line_of(limits, "Max open files").empty()) return std::nullopt;
  return ResourceLimits{soft("Max open files"), soft("Max pending signals"), soft("Max locked memory")};
}

}  // namespace tarsier::doctor
