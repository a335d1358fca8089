#include "cli/live_view.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "analysis/wording.h"
#include "base/clock.h"
#include "cli/console.h"
#include "cli/passed_bytes.h"
#include "export/escape.h"
#include "export/text_table.h"

namespace tarsier::cli {
namespace {

constexpr Nanos kPause = seconds(2);
constexpr size_t kRows = 10, kNoTerminalWidth = 160;

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60 ? size.ws_col : 80;
}

bool is_terminal() {
  const char* type = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (type == nullptr || std::string_view(type) != "dumb");
}

// `share`: of the events that were read.
std::string per_second(uint64_t count, Nanos time, double share) {
  const double rate = time.count > 0 ? static_cast<double>(count) * 1e9 / static_cast<double>(time.count) / share : 0;
  return analysis::words_of_count(static_cast<uint64_t>(std::llround(rate)));
}

}  // namespace

std::string live_text(const analysis::LiveTop& top, Nanos time, size_t width) {
  const double share = std::max(top.read_share, 1e-6);
  const double waiting =
      time.count > 0 ? static_cast<double>(top.blocked_ns) / static_cast<double>(time.count) / share : 0;
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", waiting);
  std::string out = "lock waiting: " + std::string(text) + " threads, " + per_second(top.count, time, share) +
                    " contentions/s (of some seconds ago)\n";
  if (share < 1)
    out += "  reckoned from " + analysis::words_of_share(share) + " of the events, so that looking costs little\n";
  if (top.rows.empty()) return out + "  nobody is blocked by a lock\n";
  constexpr size_t kNumbers = 8 + 10 + 2, kGaps = 4;
  const size_t names = (width - std::min(width - 30, kNumbers + kGaps)) / 3;
  const auto cell = [&](const std::string& name) {
    const std::string shown = exporting::cut_front(exporting::visible(name), names);
    return shown + std::string(names - std::min(names, exporting::display_width(shown)), ' ');
  };
  out += "   share   times/s  " + cell("lock") + "  " + cell("blocked") + "  held by\n";
  for (const analysis::LiveContention& row : top.rows) {
    const double of_all =
        top.blocked_ns > 0 ? static_cast<double>(row.blocked_ns) / static_cast<double>(top.blocked_ns) : 0;
    out += exporting::pad_left(analysis::words_of_share(of_all), 8) +
           exporting::pad_left(per_second(row.count, time, share), 10) + "  " + cell(row.lock) + "  " +
           cell(row.blocked) + "  " + exporting::cut_front(exporting::visible(row.owner), names) + "\n";
  }
  return out;
}

LiveView::LiveView(int file, bool keep)
    : file_(file),
      keep_(keep),
      terminal_(is_terminal()),
      next_(monotonic_now() + kPause),
      last_(monotonic_now()),
      locks_("/proc/self/fd/" + std::to_string(file)) {}

void LiveView::look() {
  // What can't be read yet can be read the next time.
  [[maybe_unused]] const Status read = locks_.look(clock_now(CLOCK_REALTIME).count);
  const std::vector<recording::ByteRange> passed = locks_.take_passed();
  if (!keep_) free_passed(file_, passed);
}

void LiveView::tick() {
  const Nanos now = monotonic_now();
  if (now < next_) return;
  next_ = now + kPause;
  look();
  draw(locks_.take_top(kRows), now - last_);
  last_ = now;
}

void LiveView::draw(const analysis::LiveTop& top, Nanos time) {
  const std::string text = live_text(top, time, terminal_ ? terminal_width() : kNoTerminalWidth);
  const std::string back = drawn_lines_ > 0 ? "\x1b[" + std::to_string(drawn_lines_) + "A\x1b[J" : "";
  drawn_lines_ = terminal_ ? static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) : 0;
  print(terminal_ ? back + text : text + "\n");
}

void LiveView::finish() {
  locks_.read_all();
  look();
  analysis::LiveTop rest;
  const std::string verdict = locks_.finish(rest, kRows);
  if (rest.count > 0) draw(rest, monotonic_now() - last_);
  if (verdict.empty()) return;
  const std::string read = rest.read_in_all < 1 ? " (Of " + analysis::words_of_share(rest.read_in_all) +
                                                      " of the events, which is what was read.)"
                                                : "";
  print(exporting::visible(verdict + read) + "\n");
}

}  // namespace tarsier::cli
