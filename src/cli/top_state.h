// What the user of `tarsier top` has chosen: which table, in which order, of which rows; and what each key changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/top_model.h"
#include "base/units.h"

namespace tarsier::cli {

enum class TopTable : uint8_t { kThreads, kMethods };

enum class TopColumn : uint8_t {
  kCpu,
  kSystem,
  kSteal,
  kQueue,
  kWaiting,
  kBlocked,
  kAllocated,
  kKind,
  kTid,
  kName,
  kMethod,
  kSelf,
  kTotal,
};

struct TopKey {
  enum class Kind : uint8_t {
    kText,  // `text`, one character
    kUp,
    kDown,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kTab,
    kEnter,
    kEscape,
    kBackspace,
    kOther,
  };
  Kind kind = Kind::kOther;
  std::string text{};
};

struct TopState {
  TopTable table = TopTable::kThreads;
  TopColumn threads_by = TopColumn::kCpu, methods_by = TopColumn::kSelf;
  bool reversed = false;
  analysis::TopSpan span = analysis::TopSpan::kLast;
  // Only the methods of this thread.
  std::optional<analysis::TopThreadId> methods_of{};
  std::string methods_of_name{};
  std::string filter{};  // rows whose names have it, whatever the case
  bool typing = false;   // the filter
  bool paused = false, help = false, quit = false;
  size_t help_line = 0;
  Nanos refresh = seconds(1);
  // The row that the cursor is on: of a thread or method, wherever it moves; where it was, if that is gone.
  std::string chosen{};
  size_t cursor = 0;
  size_t first = 0;  // row on the screen
};

struct TopSortKey {
  char key;
  TopColumn column;
  const char* name;
};
// c: CPU and so on, in the order in which help lists them.
std::vector<TopSortKey> sort_keys(TopTable table);
// Of an option's word: cpu, steal, queue, waiting, blocked, alloc, name.
std::optional<TopColumn> column_of_word(std::string_view word);

// The rows that the state wants, in its order: indexes into the snapshot.
std::vector<size_t> rows_of(const analysis::TopSnapshot& snapshot, const TopState& state, TopTable table);
// Where the cursor is among `rows`, which are of the state's own table.
size_t cursor_in(const analysis::TopSnapshot& snapshot, const TopState& state, const std::vector<size_t>& rows);
// Lets `shown` lines of `rows` have the cursor among them: the first row on the screen.
size_t first_shown(size_t first, size_t cursor, size_t rows, size_t shown);

// `page`: lines of the table on the screen.
void press(const TopKey& key, const analysis::TopSnapshot& snapshot, size_t page, TopState& state);

}  // namespace tarsier::cli
