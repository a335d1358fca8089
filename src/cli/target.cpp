#include "cli/target.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "attach/java_command.h"
#include "export/escape.h"

namespace tarsier::cli {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool is_exactly(std::string_view word, std::string_view main) {
  const std::string name = attach::short_name(main);
  if (word == main || word == name || word == name.substr(name.rfind('.') + 1)) return true;
  return name.ends_with(".jar") && word == std::string_view(name).substr(0, name.size() - 4);
}

// From the strictest reading of a name to the widest; the first that fits any JVM counts.
using Fits = bool (*)(std::string_view word, std::string_view main);
constexpr Fits kReadings[] = {
    is_exactly,
    [](std::string_view word, std::string_view main) {
      return attach::short_name(main).find(word) != std::string::npos;
    },
    [](std::string_view word, std::string_view main) {
      return lower(attach::short_name(main)).find(lower(word)) != std::string::npos;
    },
};

std::string running(std::span<const attach::Jvm> jvms) {
  return jvms.empty() ? "; no JVM runs here (that you may see)" : "; running are:" + jvm_lines(jvms);
}

}  // namespace

std::string jvm_lines(std::span<const attach::Jvm> jvms) {
  std::string lines;
  for (const attach::Jvm& jvm : jvms) {
    lines.append("\n  ").append(std::to_string(jvm.pid));
    lines.append("  ").append(jvm.version.empty() ? "?" : exporting::visible(jvm.version));
    lines.append("  ").append(jvm.main.empty() ? "?" : exporting::visible(jvm.main));
  }
  return lines;
}

Result<attach::Jvm> choose_by_name(std::string_view word, std::span<const attach::Jvm> jvms) {
  if (word.empty()) {
    if (jvms.empty())
      return Error{Errc::kNotFound,
                   "no JVM runs here (that you may see): start one, or record one from "
                   "its start by: tarsier record -- java ..."};
    if (jvms.size() == 1) return jvms[0];
    return Error{Errc::kUsage,
                 "several JVMs run here; name one by its pid or a part of its main class:" + jvm_lines(jvms)};
  }
  for (const Fits fits : kReadings) {
    std::vector<attach::Jvm> found;
    for (const attach::Jvm& jvm : jvms) {
      if (!jvm.main.empty() && fits(word, jvm.main)) found.push_back(jvm);
    }
    if (found.size() == 1) return found[0];
    if (found.size() > 1) {
      return Error{Errc::kUsage,
                   "'" + std::string(word) + "' fits several JVMs; name one by its pid:" + jvm_lines(found)};
    }
  }
  return Error{Errc::kNotFound, "no JVM has '" + std::string(word) + "' in its main class or jar" + running(jvms)};
}

Result<attach::Jvm> find_target(std::string_view word) {
  pid_t pid = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  const bool is_number = !word.empty() && rest == word.data() + word.size();
  if (!is_number) return choose_by_name(word, attach::list_jvms());
  auto jvm = error == std::errc()
                 ? attach::find_jvm(pid)
                 : Result<attach::Jvm>(Error{Errc::kNotFound, "there is no process " + std::string(word)});
  if (!jvm && jvm.error().code == Errc::kNotFound) jvm.error().what += running(attach::list_jvms());
  return jvm;
}

}  // namespace tarsier::cli
