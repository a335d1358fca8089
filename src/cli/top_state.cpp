#include "cli/top_state.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tarsier::cli {

using analysis::TopMethodRow;
using analysis::TopSnapshot;
using analysis::TopSpan;
using analysis::TopThreadRow;

namespace {

constexpr std::array<TopSortKey, 8> kThreadKeys = {{{'c', TopColumn::kCpu, "cpu"},
                                                    {'y', TopColumn::kSystem, "system"},
                                                    {'s', TopColumn::kSteal, "steal"},
                                                    {'u', TopColumn::kQueue, "queue"},
                                                    {'w', TopColumn::kWaiting, "waiting"},
                                                    {'b', TopColumn::kBlocked, "blocked"},
                                                    {'a', TopColumn::kAllocated, "alloc"},
                                                    {'n', TopColumn::kName, "name"}}};
constexpr std::array<TopSortKey, 3> kMethodKeys = {
    {{'c', TopColumn::kSelf, "self"}, {'t', TopColumn::kTotal, "total"}, {'n', TopColumn::kName, "name"}}};

// The agent tells once a second.
constexpr std::array<Nanos, 7> kPeriods = {seconds(1),  seconds(2),  seconds(3), seconds(5),
                                           seconds(10), seconds(30), seconds(60)};
constexpr size_t kLongestFilter = 100;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// As people look names up.
bool name_before(std::string_view a, std::string_view b) {
  const auto letter = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(),
                                    [&](char one, char other) { return letter(one) == letter(other); });
  if (x == a.end() && y == b.end()) return a < b;
  return x == a.end() || (y != b.end() && letter(*x) < letter(*y));
}

// What is not known comes last.
double value(const TopThreadRow& row, TopColumn column) {
  constexpr double kUnknown = -1;
  switch (column) {
    case TopColumn::kSystem:
      return row.system.value_or(kUnknown);
    case TopColumn::kSteal:
      return row.steal.value_or(kUnknown);
    case TopColumn::kQueue:
      return row.queue.value_or(kUnknown);
    case TopColumn::kWaiting:
      return row.waiting.value_or(kUnknown);
    case TopColumn::kBlocked:
      return row.blocked.value_or(kUnknown);
    case TopColumn::kAllocated:
      return row.allocated.value_or(kUnknown);
    default:
      return row.cpu;
  }
}

bool before(const TopThreadRow& a, const TopThreadRow& b, TopColumn column) {
  if (column != TopColumn::kName) {
    const double of_a = value(a, column), of_b = value(b, column);
    if (of_a != of_b) return of_a > of_b;
    if (a.cpu != b.cpu) return a.cpu > b.cpu;
  }
  return a.name != b.name ? name_before(a.name, b.name) : a.id < b.id;
}

bool before(const TopMethodRow& a, const TopMethodRow& b, TopColumn column) {
  if (column == TopColumn::kSelf && a.self != b.self) return a.self > b.self;
  if (column != TopColumn::kName && a.total != b.total) return a.total > b.total;
  if (column != TopColumn::kName && a.self != b.self) return a.self > b.self;
  return name_before(a.name, b.name);
}

std::string key_of(const TopThreadRow& row) {
  return std::to_string(row.id.os_id) + "/" + std::to_string(row.id.java_id);
}

std::string key_of(const TopSnapshot& snapshot, TopTable table, size_t index) {
  return table == TopTable::kThreads ? key_of(snapshot.threads[index]) : snapshot.methods[index].name;
}

template <class Row>
std::vector<size_t> ordered(const std::vector<Row>& rows, TopColumn column, bool reversed, std::string_view filter) {
  const std::string wanted = lower(filter);
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (wanted.empty() || lower(rows[i].name).find(wanted) != std::string::npos) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return reversed ? before(rows[b], rows[a], column) : before(rows[a], rows[b], column);
  });
  return order;
}

void leave_rows(TopState& state) {
  state.chosen.clear();
  state.cursor = state.first = 0;
}

void show_table(TopState& state, TopTable table) {
  state.table = table;
  state.reversed = false;
  leave_rows(state);
}

void move(const TopSnapshot& snapshot, TopState& state, int64_t by) {
  const std::vector<size_t> rows = rows_of(snapshot, state, state.table);
  if (rows.empty()) return leave_rows(state);
  const auto last = static_cast<int64_t>(rows.size()) - 1;
  const auto now = static_cast<int64_t>(cursor_in(snapshot, state, rows));
  state.cursor = static_cast<size_t>(std::clamp(now + by, int64_t{0}, last));
  state.chosen = key_of(snapshot, state.table, rows[state.cursor]);
}

void open_thread(const TopSnapshot& snapshot, TopState& state) {
  if (state.table != TopTable::kThreads) return;
  const std::vector<size_t> rows = rows_of(snapshot, state, state.table);
  if (rows.empty()) return;
  const TopThreadRow& thread = snapshot.threads[rows[cursor_in(snapshot, state, rows)]];
  state.methods_of = thread.id;
  state.methods_of_name = thread.name;
  state.filter.clear();
  show_table(state, TopTable::kMethods);
}

void go_back(TopState& state) {
  if (!state.filter.empty()) {
    state.filter.clear();
  } else if (state.methods_of) {
    state.methods_of.reset();
    show_table(state, TopTable::kThreads);
  }
}

void change_period(TopState& state, bool longer) {
  const auto now = std::find_if(kPeriods.begin(), kPeriods.end(), [&](Nanos each) { return each >= state.refresh; });
  const auto i = static_cast<size_t>(now - kPeriods.begin());
  if (longer && i + 1 < kPeriods.size()) state.refresh = kPeriods[i + 1];
  if (!longer && i > 0) state.refresh = kPeriods[i - 1];
}

void sort_by(TopState& state, TopColumn column) {
  (state.table == TopTable::kThreads ? state.threads_by : state.methods_by) = column;
  state.reversed = false;
  state.first = 0;
}

void type(const TopKey& key, TopState& state) {
  switch (key.kind) {
    case TopKey::Kind::kText:
      if (state.filter.size() + key.text.size() <= kLongestFilter) state.filter += key.text;
      break;
    case TopKey::Kind::kBackspace:
      while (!state.filter.empty() && (state.filter.back() & 0xc0) == 0x80) state.filter.pop_back();
      if (!state.filter.empty()) state.filter.pop_back();
      break;
    case TopKey::Kind::kEscape:
      state.filter.clear();
      state.typing = false;
      break;
    case TopKey::Kind::kEnter:
      state.typing = false;
      break;
    default:
      break;
  }
  leave_rows(state);
}

void press_letter(char letter, TopState& state) {
  for (const TopSortKey& each : sort_keys(state.table)) {
    if (each.key == letter) return sort_by(state, each.column);
  }
  switch (letter) {
    case 'q':
      state.quit = true;
      break;
    case 'm':
      show_table(state, state.table == TopTable::kThreads ? TopTable::kMethods : TopTable::kThreads);
      break;
    case 'r':
      state.reversed = !state.reversed;
      break;
    case '/':
      state.typing = true;
      state.filter.clear();
      leave_rows(state);
      break;
    case 'p':
      state.paused = !state.paused;
      break;
    case 'o':
      state.span = state.span == TopSpan::kLast     ? TopSpan::kSmooth
                   : state.span == TopSpan::kSmooth ? TopSpan::kAll
                                                    : TopSpan::kLast;
      break;
    case '+':
    case '-':
      change_period(state, letter == '+');
      break;
    case 'h':
    case '?':
      state.help = true;
      state.help_line = 0;
      break;
    default:
      break;
  }
}

// Of a help that is longer than the screen.
void scroll_help(const TopKey& key, size_t page, TopState& state) {
  const size_t step =
      key.kind == TopKey::Kind::kPageUp || key.kind == TopKey::Kind::kPageDown ? std::max<size_t>(page, 1) : 1;
  switch (key.kind) {
    case TopKey::Kind::kUp:
    case TopKey::Kind::kPageUp:
      state.help_line -= std::min(state.help_line, step);
      break;
    case TopKey::Kind::kDown:
    case TopKey::Kind::kPageDown:
      state.help_line += step;
      break;
    default:
      state.help = false;
      if (key.text == "q") state.quit = true;
      break;
  }
}

}  // namespace

std::vector<TopSortKey> sort_keys(TopTable table) {
  if (table == TopTable::kThreads) return {kThreadKeys.begin(), kThreadKeys.end()};
  return {kMethodKeys.begin(), kMethodKeys.end()};
}

std::optional<TopColumn> column_of_word(std::string_view word) {
  for (const TopSortKey& each : kThreadKeys) {
    if (each.name == word) return each.column;
  }
  return std::nullopt;
}

std::vector<size_t> rows_of(const TopSnapshot& snapshot, const TopState& state, TopTable table) {
  const bool own = table == state.table;
  const std::string_view filter = own ? std::string_view(state.filter) : std::string_view();
  return table == TopTable::kThreads ? ordered(snapshot.threads, state.threads_by, own && state.reversed, filter)
                                     : ordered(snapshot.methods, state.methods_by, own && state.reversed, filter);
}

size_t cursor_in(const TopSnapshot& snapshot, const TopState& state, const std::vector<size_t>& rows) {
  if (rows.empty()) return 0;
  if (!state.chosen.empty()) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (key_of(snapshot, state.table, rows[i]) == state.chosen) return i;
    }
  }
  return std::min(state.cursor, rows.size() - 1);
}

size_t first_shown(size_t first, size_t cursor, size_t rows, size_t shown) {
  if (shown == 0 || rows <= shown) return 0;
  if (cursor < first) first = cursor;
  if (cursor >= first + shown) first = cursor - shown + 1;
  return std::min(first, rows - shown);
}

void press(const TopKey& key, const TopSnapshot& snapshot, size_t page, TopState& state) {
  using Kind = TopKey::Kind;
  if (state.help) return scroll_help(key, page, state);
  if (state.typing && key.kind != Kind::kUp && key.kind != Kind::kDown) return type(key, state);
  const auto lines = static_cast<int64_t>(std::max<size_t>(page, 1));
  switch (key.kind) {
    case Kind::kText:
      if (key.text.size() == 1) press_letter(key.text[0], state);
      break;
    case Kind::kUp:
      return move(snapshot, state, -1);
    case Kind::kDown:
      return move(snapshot, state, 1);
    case Kind::kPageUp:
      return move(snapshot, state, -lines);
    case Kind::kPageDown:
      return move(snapshot, state, lines);
    case Kind::kHome:
      return leave_rows(state);
    case Kind::kEnd:
      return move(snapshot, state, INT32_MAX);
    case Kind::kTab:
      return show_table(state, state.table == TopTable::kThreads ? TopTable::kMethods : TopTable::kThreads);
    case Kind::kEnter:
      return open_thread(snapshot, state);
    case Kind::kEscape:
      return go_back(state);
    default:
      break;
  }
}

}  // namespace tarsier::cli
