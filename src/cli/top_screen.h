// The screen of `tarsier top` as text with styles: a function of what is known, what the user has chosen and the size.
// Who puts it onto a terminal is top_terminal.h; without one, as plain text.
#pragma once

#include <string>
#include <vector>

#include "analysis/top_model.h"
#include "base/units.h"
#include "cli/top_state.h"

namespace tarsier::cli {

// What is known of the JVM besides the model.
struct TopTitle {
  std::string main;
  int64_t pid = 0;
  std::string jvm;  // version
  Nanos uptime{};
  int cpus = 0;
  size_t threads = 0;                // of the process; 0: not known
  double command_cpu = 0;            // our own, in CPUs
  uint64_t skipped = 0;              // events that came faster than they could be read
  std::string ended{};               // empty: it goes on
  std::vector<std::string> notes{};  // what the session had to say: engines, warnings
};

enum class TopStyle : uint8_t { kPlain, kStrong, kDim, kHead, kSortedHead, kCursor, kHot, kWarning };

struct TopSpanOfText {
  std::string text;  // visible: nothing in it moves the cursor
  TopStyle style = TopStyle::kPlain;
};
using TopLine = std::vector<TopSpanOfText>;

struct TopSize {
  size_t columns = 80, lines = 24;
};

struct TopScreen {
  std::vector<TopLine> lines;  // at most as many as asked for, none wider
  size_t page = 0;             // rows of the table with the cursor that fit
  size_t first = 0;            // its first row on the screen
  size_t help_line = 0;        // the first line of the help
};

TopScreen draw_top(const analysis::TopSnapshot& snapshot, const TopTitle& title, const TopState& state, TopSize size);

// As plain text: the header, and as many rows of each table.
std::string top_text(const analysis::TopSnapshot& snapshot, const TopTitle& title, const TopState& state, size_t rows,
                     size_t columns);

}  // namespace tarsier::cli
