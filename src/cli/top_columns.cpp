#include "cli/top_columns.h"

#include <algorithm>
#include <array>

#include "analysis/wording.h"
#include "export/escape.h"

namespace tarsier::cli {

using analysis::TopMethodRow;
using analysis::TopThreadRow;

namespace {

struct ColumnType {
  TopColumn column;
  std::string_view title;
  size_t width;    // of names: the least
  int importance;  // the least important ones go first
  bool number = true;
};

// A number without its name is worth nothing: the name is the last to go, and gets narrower first.
constexpr int kAlways = 100, kNearlyAlways = 90, kSorted = 95;
constexpr size_t kNarrowestName = 6;

// In the order on the screen.
constexpr std::array<ColumnType, 11> kThreadColumns = {{
    {TopColumn::kCpu, "%CPU", 6, kNearlyAlways},
    {TopColumn::kSystem, "%SYS", 6, 40},
    {TopColumn::kSteal, "%STEAL", 7, 60},
    {TopColumn::kQueue, "%RUNQ", 6, 50},
    {TopColumn::kWaiting, "%WAIT", 6, 70},
    {TopColumn::kBlocked, "%BLOCK", 7, 75},
    {TopColumn::kAllocated, "ALLOC", 6, 65},
    {TopColumn::kKind, "KIND", 7, 30, false},
    {TopColumn::kTid, "TID", 7, 20},
    {TopColumn::kName, "THREAD", 16, kAlways, false},
    {TopColumn::kMethod, "METHOD", 24, 80, false},
}};
constexpr std::array<ColumnType, 3> kMethodColumns = {{
    {TopColumn::kSelf, "%SELF", 6, kNearlyAlways},
    {TopColumn::kTotal, "%TOTAL", 7, 50},
    {TopColumn::kMethod, "METHOD", 16, kAlways, false},
}};
constexpr size_t kWidestThreadName = 44;

std::string percent(std::optional<double> share) {
  if (!share) return "-";
  return analysis::fixed(*share * 100, *share < 10 ? 1 : 0);
}

// No screen has room for more; a name may be 60,000 characters that take no space.
std::string shown_name(std::string_view name) {
  constexpr size_t kMost = 2'000;
  return exporting::visible(name.size() > kMost ? name.substr(name.size() - kMost) : name);
}

// The columns that are there, their least widths summed up with the blanks between.
size_t least_width(const std::vector<ColumnType>& columns) {
  size_t sum = columns.empty() ? 0 : columns.size() - 1;
  for (const ColumnType& column : columns) sum += column.width;
  return sum;
}

}  // namespace

TopColumn name_column(TopTable table) {
  return table == TopTable::kThreads ? TopColumn::kName : TopColumn::kMethod;
}

std::vector<PlacedColumn> place_columns(TopTable table, TopColumn sorted_by, size_t columns) {
  std::vector<ColumnType> there;
  if (table == TopTable::kThreads) {
    there.assign(kThreadColumns.begin(), kThreadColumns.end());
  } else {
    there.assign(kMethodColumns.begin(), kMethodColumns.end());
  }
  for (ColumnType& column : there) {
    if (column.column == sorted_by && column.importance != kAlways) column.importance = kSorted;
  }
  const auto less_important = [](const ColumnType& a, const ColumnType& b) { return a.importance < b.importance; };
  while (there.size() > 1 && least_width(there) > columns) {
    const auto least = std::min_element(there.begin(), there.end(), less_important);
    const auto name = std::max_element(there.begin(), there.end(), less_important);
    const size_t too_much = least_width(there) - columns;
    if (least->importance >= kNearlyAlways && name->width >= kNarrowestName + too_much) {
      name->width -= too_much;
    } else {
      there.erase(least);
    }
  }
  // What is left goes to the names; the last of them has the rest.
  size_t spare = columns - std::min(columns, least_width(there));
  std::vector<PlacedColumn> placed;
  for (const ColumnType& column : there) {
    size_t width = std::min(column.width, columns);
    if (!column.number && column.column != TopColumn::kKind) {
      const bool last = column.column == there.back().column;
      const size_t more = last ? spare : std::min(spare / 2, kWidestThreadName - column.width);
      width += more;
      spare -= more;
    }
    placed.push_back({column.column, column.title, width, column.number});
  }
  return placed;
}

std::string cell_of(const TopThreadRow& row, TopColumn column) {
  switch (column) {
    case TopColumn::kCpu:
      return percent(row.cpu);
    case TopColumn::kSystem:
      return percent(row.system);
    case TopColumn::kSteal:
      return percent(row.steal);
    case TopColumn::kQueue:
      return percent(row.queue);
    case TopColumn::kWaiting:
      return percent(row.waiting);
    case TopColumn::kBlocked:
      return percent(row.blocked);
    case TopColumn::kAllocated:
      return row.allocated ? short_bytes(*row.allocated) : "-";
    case TopColumn::kKind:
      return std::string(analysis::thread_kind_name(row.kind));
    case TopColumn::kTid:
      return row.id.os_id > 0 ? std::to_string(row.id.os_id) : "-";
    case TopColumn::kName:
      return shown_name(row.name);
    case TopColumn::kMethod:
      return row.method.empty() ? "-" : shown_name(row.method);
    case TopColumn::kSelf:
    case TopColumn::kTotal:
      break;
  }
  return "";
}

std::string cell_of(const TopMethodRow& row, TopColumn column) {
  switch (column) {
    case TopColumn::kSelf:
      return percent(row.self);
    case TopColumn::kTotal:
      return percent(row.total);
    default:
      return shown_name(row.name);
  }
}

std::string cut_front(std::string_view text, size_t columns) {
  return columns == 0 ? std::string() : exporting::cut_front(text, columns);
}

std::string cut_back(std::string_view text, size_t columns) {
  if (exporting::display_width(text) <= columns) return std::string(text);
  // Bytes of one character stay together: those that go on with it have 10 as their highest bits.
  size_t end = 0;
  while (end < text.size()) {
    size_t next = end + 1;
    while (next < text.size() && (text[next] & 0xc0) == 0x80) ++next;
    if (exporting::display_width(text.substr(0, next)) > columns) break;
    end = next;
  }
  return std::string(text.substr(0, end));
}

std::string fitted(std::string_view text, size_t columns, bool to_the_right) {
  // Of a number the beginning counts, of a name the end.
  std::string shown = to_the_right ? cut_back(text, columns) : cut_front(text, columns);
  const std::string blanks(columns - std::min(columns, exporting::display_width(shown)), ' ');
  return to_the_right ? blanks + shown : shown + blanks;
}

std::string as_ascii(std::string_view text) {
  constexpr std::string_view kEllipsis = "\xe2\x80\xa6";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (end < text.size() && (text[end] & 0xc0) == 0x80) ++end;
    const std::string_view one = text.substr(i, end - i);
    if (one.size() == 1) {
      out += one;
    } else {
      out += one == kEllipsis ? "~" : std::string(exporting::display_width(one), '?');
    }
    i = end;
  }
  return out;
}

std::string short_bytes(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"", "K", "M", "G", "T", "P"};
  size_t unit = 0;
  while (bytes >= 1023.5 && unit + 1 < kUnits.size()) {  // 1024 each, as everywhere here
    bytes /= 1024;
    ++unit;
  }
  return analysis::fixed(bytes, unit > 0 && bytes < 99.95 ? 1 : 0) + kUnits[unit];
}

}  // namespace tarsier::cli
