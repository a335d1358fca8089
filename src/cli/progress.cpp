#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "export/escape.h"

namespace tarsier::cli {
namespace {

constexpr Nanos kLinePause = seconds(10);
constexpr size_t kNoTerminalWidth = 200;

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 ? size.ws_col : 80;
}

// Of one CPU: what all threads together spent because of us, per second of recording.
double cost_percent(const control::Progress& progress) {
  if (progress.elapsed.count <= 0) return 0;
  const Nanos cost = progress.overhead_app + progress.overhead_background;
  return 100.0 * static_cast<double>(cost.count) / static_cast<double>(progress.elapsed.count);
}

void write_stderr(std::string_view text) {
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_line(const control::Progress& progress, Nanos duration, size_t width) {
  constexpr std::string_view kSeparator = " \u00b7 ";
  char text[64];
  const double shown = duration.count == 0 ? in_seconds(progress.elapsed)
                                           : std::max(0.0, in_seconds(duration) - in_seconds(progress.elapsed));
  std::snprintf(text, sizeof text, duration.count == 0 ? "%.0f s" : "%.0f s left", shown);
  std::vector<std::string> parts = {text, grouped(progress.taken) + " samples", grouped(progress.dropped) + " dropped"};
  if (progress.failed != 0) parts.push_back(grouped(progress.failed) + " failed");
  std::snprintf(text, sizeof text, "cost %.1f %%", cost_percent(progress));
  parts.emplace_back(text);

  std::string line;
  const auto room = [&] { return width - std::min(width, exporting::display_width(line)); };
  for (const std::string& part : parts) {
    const std::string_view separator = line.empty() ? "" : kSeparator;
    if (exporting::display_width(separator) + part.size() > room()) return line;
    line.append(separator).append(part);
  }
  if (progress.hottest.empty()) return line;

  constexpr size_t kLeastName = 8;
  std::snprintf(text, sizeof text, " %.0f %%", 100 * progress.hottest_share);
  const std::string before = std::string(kSeparator) + "hottest ";
  const size_t around = exporting::display_width(before) + std::string_view(text).size();
  if (room() < around + kLeastName) return line;
  // The end of a name says more than its package.
  const std::string name = exporting::cut_front(exporting::visible(progress.hottest), room() - around);
  return line + before + name + text;
}

ProgressDisplay::ProgressDisplay(Nanos duration)
    : duration_(duration), terminal_(::isatty(STDERR_FILENO) == 1), next_line_(kLinePause) {
  const char* type = std::getenv("TERM");
  if (type != nullptr && std::string_view(type) == "dumb") terminal_ = false;
}

void ProgressDisplay::show(const control::Progress& progress) {
  if (terminal_) {
    write_stderr("\r" + progress_line(progress, duration_, terminal_width() - 1) + "\x1b[K");
    drawn_ = true;
  } else if (progress.elapsed >= next_line_) {
    write_stderr("tarsier: " + progress_line(progress, duration_, kNoTerminalWidth) + "\n");
    next_line_ = progress.elapsed + kLinePause;
  }
}

void ProgressDisplay::clear() {
  if (drawn_) write_stderr("\r\x1b[K");
  drawn_ = false;
}

}  // namespace tarsier::cli
