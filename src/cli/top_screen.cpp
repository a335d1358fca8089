#include "cli/top_screen.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "analysis/wording.h"
#include "cli/console.h"
#include "cli/top_columns.h"
#include "export/escape.h"

namespace tarsier::cli {

using analysis::ThreadKind;
using analysis::TopSnapshot;
using analysis::TopSpan;

namespace {

constexpr size_t kNarrowest = 1;

// Text that ends where the line does.
class LineMaker {
 public:
  explicit LineMaker(size_t columns) : left_(columns) {}
  void add(std::string_view text, TopStyle style = TopStyle::kPlain) {
    std::string shown = cut_back(text, left_);
    if (shown.empty()) return;
    left_ -= std::min(left_, exporting::display_width(shown));
    if (!line_.empty() && line_.back().style == style) {
      line_.back().text += shown;
    } else {
      line_.push_back({std::move(shown), style});
    }
  }
  void fill(TopStyle style) { add(std::string(left_, ' '), style); }
  [[nodiscard]] size_t left() const { return left_; }
  TopLine take() { return std::move(line_); }

 private:
  size_t left_;
  TopLine line_;
};

std::string percent(double cpus) {
  return analysis::fixed(cpus * 100, cpus < 10 ? 1 : 0) + "%";
}

// 3d04h, 5h07m, 12m30s
std::string age(Nanos time) {
  const int64_t all = std::max<int64_t>(0, time / seconds(1));
  char text[64];
  const auto say = [&](const char* format, int64_t whole, int64_t rest) {
    std::snprintf(text, sizeof text, format, static_cast<long long>(whole), static_cast<long long>(rest));
    return std::string(text);
  };
  if (all >= 86400) return say("%lldd%02lldh", all / 86400, all % 86400 / 3600);
  if (all >= 3600) return say("%lldh%02lldm", all / 3600, all % 3600 / 60);
  return say("%lldm%02llds", all / 60, all % 60);
}

std::string span_words(const TopSnapshot& snapshot, TopSpan span) {
  if (snapshot.since_start.count == 0) return "measuring ...";
  if (span == TopSpan::kAll) return "mean of " + age(snapshot.since_start);
  if (span == TopSpan::kSmooth) return "smoothed";
  return "last " + analysis::fixed(in_seconds(snapshot.span), 1) + " s";
}

// Parts that are left out from the end where they do not fit.
void add_parts(LineMaker& line, const std::vector<std::pair<std::string, TopStyle>>& parts) {
  bool first = true;
  for (const auto& [text, style] : parts) {
    const std::string separator = first ? "" : "  ";
    if (!first && exporting::display_width(separator + text) > line.left()) return;
    line.add(separator);
    line.add(text, style);
    first = false;
  }
}

TopLine title_line(const TopTitle& title, size_t columns) {
  LineMaker line(columns);
  std::vector<std::pair<std::string, TopStyle>> parts;
  if (!title.ended.empty()) parts.emplace_back(exporting::visible(title.ended), TopStyle::kWarning);
  const std::string main = title.main.empty() ? "?" : exporting::visible(title.main);
  parts.emplace_back(cut_front(main, std::max<size_t>(columns / 2, 8)), TopStyle::kStrong);
  parts.emplace_back("pid " + std::to_string(title.pid), TopStyle::kPlain);
  if (title.threads > 0) parts.emplace_back(grouped(title.threads) + " threads", TopStyle::kPlain);
  parts.emplace_back("up " + age(title.uptime), TopStyle::kPlain);
  if (!title.jvm.empty()) parts.emplace_back("JVM " + exporting::visible(title.jvm), TopStyle::kPlain);
  add_parts(line, parts);
  return line.take();
}

TopLine cpu_line(const TopSnapshot& snapshot, const TopTitle& title, size_t columns) {
  LineMaker line(columns);
  double sum = 0;
  for (const double each : snapshot.cpu) sum += each;
  std::vector<std::pair<std::string, TopStyle>> parts;
  parts.emplace_back("CPU " + percent(sum) + (title.cpus > 0 ? " of " + std::to_string(title.cpus * 100) + "%" : ""),
                     TopStyle::kStrong);
  struct Part {
    const char* name;
    ThreadKind kind;
  };
  for (const Part& part : {Part{"app", ThreadKind::kApp},
                           {"GC", ThreadKind::kGc},
                           {"JIT", ThreadKind::kJit},
                           {"VM", ThreadKind::kVm},
                           {"other", ThreadKind::kOther}}) {
    parts.emplace_back(std::string(part.name) + " " + percent(snapshot.cpu_of(part.kind)), TopStyle::kPlain);
  }
  if (snapshot.cpu_of(ThreadKind::kJfr) > 0) {
    parts.emplace_back("JFR " + percent(snapshot.cpu_of(ThreadKind::kJfr)), TopStyle::kPlain);
  }
  parts.emplace_back("tarsier " + percent(snapshot.cpu_of(ThreadKind::kTarsier) + snapshot.own_app) + " + " +
                         percent(title.command_cpu),
                     TopStyle::kPlain);
  if (snapshot.steal) parts.emplace_back("steal " + percent(*snapshot.steal), TopStyle::kPlain);
  if (snapshot.queue) parts.emplace_back("run queue " + percent(*snapshot.queue), TopStyle::kPlain);
  add_parts(line, parts);
  return line.take();
}

TopLine state_line(const TopSnapshot& snapshot, const TopTitle& title, const TopState& state, size_t columns) {
  LineMaker line(columns);
  std::vector<std::pair<std::string, TopStyle>> parts;
  if (state.paused) parts.emplace_back("PAUSED", TopStyle::kWarning);
  parts.emplace_back(span_words(snapshot, state.span), TopStyle::kPlain);
  if (snapshot.dropped + title.skipped > 0) {
    parts.emplace_back(grouped(snapshot.dropped + title.skipped) + " dropped", TopStyle::kWarning);
  }
  if (snapshot.allocated) parts.emplace_back("alloc " + short_bytes(*snapshot.allocated) + "/s", TopStyle::kPlain);
  if (snapshot.blocked) {
    parts.emplace_back("blocked " + analysis::fixed(*snapshot.blocked, 2) + " threads", TopStyle::kPlain);
  }
  parts.emplace_back(grouped(snapshot.taken) + " samples and events", TopStyle::kPlain);
  if (snapshot.dropped + title.skipped == 0) parts.emplace_back("0 dropped", TopStyle::kPlain);
  if (snapshot.failed > 0) parts.emplace_back(grouped(snapshot.failed) + " failed", TopStyle::kPlain);
  if (snapshot.threads_ended > 0) {
    parts.emplace_back(grouped(snapshot.threads_ended) + " threads ended", TopStyle::kPlain);
  }
  if (snapshot.unlisted > 0) parts.emplace_back("more threads than can be listed", TopStyle::kWarning);
  add_parts(line, parts);
  return line.take();
}

TopLine keys_line(const TopTitle& title, const TopState& state, size_t columns) {
  LineMaker line(columns);
  if (state.typing) {
    line.add("filter: ", TopStyle::kStrong);
    line.add(cut_front(exporting::visible(state.filter) + "_", std::max(line.left(), kNarrowest)));
    return line.take();
  }
  std::vector<std::pair<std::string, TopStyle>> parts;
  if (!title.ended.empty()) parts.emplace_back("q quits", TopStyle::kWarning);
  if (!state.filter.empty()) {
    parts.emplace_back("filter " + exporting::visible(state.filter) + " (Esc)", TopStyle::kStrong);
  }
  if (title.ended.empty()) parts.emplace_back("q quit", TopStyle::kPlain);
  parts.emplace_back("? help", TopStyle::kPlain);
  parts.emplace_back(state.table == TopTable::kThreads ? "Tab methods" : "Tab threads", TopStyle::kPlain);
  std::string sort = "sort";
  for (const TopSortKey& each : sort_keys(state.table)) sort += std::string(" ") + each.key + ":" + each.name;
  parts.emplace_back(sort, TopStyle::kPlain);
  parts.emplace_back("r reverse", TopStyle::kPlain);
  parts.emplace_back("/ filter", TopStyle::kPlain);
  parts.emplace_back("p pause", TopStyle::kPlain);
  parts.emplace_back("o over", TopStyle::kPlain);
  parts.emplace_back("+- every " + std::to_string(state.refresh / seconds(1)) + " s", TopStyle::kPlain);
  if (state.table == TopTable::kThreads) parts.emplace_back("Enter its methods", TopStyle::kPlain);
  add_parts(line, parts);
  return line.take();
}

struct DrawnTable {
  std::vector<TopLine> lines;
  size_t page = 0, first = 0;
};

std::string methods_title(const TopState& state) {
  return state.methods_of ? "METHOD of " + exporting::visible(state.methods_of_name) : "METHOD";
}

// The line with the columns' names, and as many rows as fit.
DrawnTable draw_table(const TopSnapshot& snapshot, const TopState& state, TopTable table, TopSize size) {
  DrawnTable out;
  if (size.lines == 0) return out;
  const bool own = table == state.table;
  const TopColumn by = table == TopTable::kThreads ? state.threads_by : state.methods_by;
  const std::vector<PlacedColumn> columns = place_columns(table, by, size.columns);
  LineMaker head(size.columns);
  for (const PlacedColumn& column : columns) {
    const std::string name = column.column == TopColumn::kMethod && table == TopTable::kMethods
                                 ? methods_title(state)
                                 : std::string(column.title);
    // Which way it is sorted shows in the gap before the name.
    const bool sorted = column.column == by || (by == TopColumn::kName && column.column == name_column(table));
    const std::string mark = sorted ? (own && state.reversed ? "^" : "v") : "";
    const bool last = &column == &columns.back();
    head.add(fitted(mark + name, column.width, column.to_the_right), sorted ? TopStyle::kSortedHead : TopStyle::kHead);
    if (!last) head.add(" ", TopStyle::kHead);
  }
  head.fill(TopStyle::kHead);
  out.lines.push_back(head.take());

  const std::vector<size_t> rows = rows_of(snapshot, state, table);
  out.page = size.lines - 1;
  const size_t cursor = own ? cursor_in(snapshot, state, rows) : rows.size();
  out.first = own ? first_shown(state.first, cursor, rows.size(), out.page) : 0;
  for (size_t i = out.first; i < rows.size() && i < out.first + out.page; ++i) {
    LineMaker line(size.columns);
    const bool hot =
        table == TopTable::kThreads ? snapshot.threads[rows[i]].cpu >= 0.5 : snapshot.methods[rows[i]].self >= 0.2;
    const TopStyle style = own && i == cursor ? TopStyle::kCursor : hot ? TopStyle::kHot : TopStyle::kPlain;
    for (const PlacedColumn& column : columns) {
      const std::string text = table == TopTable::kThreads ? cell_of(snapshot.threads[rows[i]], column.column)
                                                           : cell_of(snapshot.methods[rows[i]], column.column);
      line.add(fitted(text, column.width, column.to_the_right), style);
      if (&column != &columns.back()) line.add(" ", style);
    }
    if (style == TopStyle::kCursor) line.fill(style);
    out.lines.push_back(line.take());
  }
  if (rows.empty() && out.lines.size() < size.lines) {
    LineMaker line(size.columns);
    const bool filtered = own && !state.filter.empty();
    line.add(filtered                          ? "nothing fits the filter"
             : snapshot.since_start.count == 0 ? "the first figures come in a second"
             : table == TopTable::kThreads     ? "no thread has run"
                                               : "no samples: nothing has run",
             TopStyle::kDim);
    out.lines.push_back(line.take());
  }
  return out;
}

std::vector<std::string> help_lines(const TopTitle& title, const TopState& state) {
  std::vector<std::string> lines = {
      "tarsier top: the threads and hot methods of a running JVM",
      "",
      "q            quit",
      "Tab, m       threads or methods",
      "arrows, PgUp, PgDn, Home, End   move",
      "Enter        the hot methods of this thread; Esc: of all",
  };
  for (const TopTable table : {TopTable::kThreads, TopTable::kMethods}) {
    std::string line = table == TopTable::kThreads ? "threads by   " : "methods by   ";
    for (const TopSortKey& each : sort_keys(table)) line += std::string(1, each.key) + " " + each.name + "  ";
    lines.push_back(line);
  }
  const std::vector<std::string> rest = {
      "r            reverse the order",
      "/            only rows whose name has this; Esc: all",
      "p            pause; the program goes on",
      "o            over the last refresh, smoothed, or the mean since the start",
      "+ -          refresh every " + std::to_string(state.refresh / seconds(1)) + " s",
      "h, ?         this help; any key leaves it",
      "",
      "100 % is all of one CPU, or all of a thread's time. -: not known here",
      "%CPU   used, by the kernel's account; %SYS: in the kernel",
      "%STEAL the hypervisor gave its CPU to others meanwhile",
      "%RUNQ  could have run, but others did",
      "%WAIT  waited for anything but a CPU",
      "%BLOCK waited for a lock; it shows when the thread has got it",
      "ALLOC  bytes that it allocates per second, estimated",
      "METHOD where its samples were most often; self and total: shares of CPU samples",
      "tarsier's own CPU: in the JVM + this command",
      "",
  };
  lines.insert(lines.end(), rest.begin(), rest.end());
  for (const std::string& note : title.notes) lines.push_back(exporting::visible(note));
  return lines;
}

TopScreen draw_help(const TopTitle& title, const TopState& state, TopSize size) {
  TopScreen screen;
  const std::vector<std::string> lines = help_lines(title, state);
  screen.page = size.lines;
  screen.help_line = std::min(state.help_line, lines.size() > size.lines ? lines.size() - size.lines : 0);
  for (size_t i = screen.help_line; i < lines.size() && screen.lines.size() < size.lines; ++i) {
    LineMaker line(size.columns);
    line.add(lines[i], i == 0 ? TopStyle::kStrong : TopStyle::kPlain);
    screen.lines.push_back(line.take());
  }
  return screen;
}

std::vector<TopLine> header(const TopSnapshot& snapshot, const TopTitle& title, const TopState& state, size_t columns,
                            size_t lines) {
  std::vector<TopLine> out;
  out.push_back(title_line(title, columns));
  out.push_back(cpu_line(snapshot, title, columns));
  out.push_back(state_line(snapshot, title, state, columns));
  // The JVM's end and its CPU are what is wanted most.
  if (lines == 1 && title.ended.empty()) std::swap(out[0], out[1]);
  out.resize(std::min(lines, out.size()));
  return out;
}

}  // namespace

TopScreen draw_top(const TopSnapshot& snapshot, const TopTitle& title, const TopState& state, TopSize size) {
  TopScreen screen;
  if (size.columns < kNarrowest || size.lines == 0) return screen;
  if (state.help) return draw_help(title, state, size);
  const size_t head = size.lines >= 10 ? 3 : size.lines >= 8 ? 2 : size.lines >= 4 ? 1 : 0;
  const size_t keys = size.lines >= 3 ? 1 : 0;
  if (head > 0) screen.lines = header(snapshot, title, state, size.columns, head);
  const size_t left = size.lines - head - keys;

  constexpr size_t kBoth = 16;  // lines, for two tables
  const TopTable other = state.table == TopTable::kThreads ? TopTable::kMethods : TopTable::kThreads;
  size_t own_lines = left, other_lines = 0;
  if (left >= kBoth) {
    other_lines = left * 2 / 5;
    own_lines = left - other_lines;
  }
  const DrawnTable own = draw_table(snapshot, state, state.table, {size.columns, own_lines});
  const DrawnTable beside = draw_table(snapshot, state, other, {size.columns, other_lines});
  screen.page = own.page;
  screen.first = own.first;
  // Threads are always above.
  const auto put = [&screen](const DrawnTable& table, size_t lines) {
    const size_t end = screen.lines.size() + lines;
    screen.lines.insert(screen.lines.end(), table.lines.begin(), table.lines.end());
    screen.lines.resize(end);
  };
  if (state.table == TopTable::kThreads) put(own, own_lines);
  put(beside, other_lines);
  if (state.table == TopTable::kMethods) put(own, own_lines);
  if (keys > 0) screen.lines.push_back(keys_line(title, state, size.columns));
  return screen;
}

std::string top_text(const TopSnapshot& snapshot, const TopTitle& title, const TopState& state, size_t rows,
                     size_t columns) {
  std::vector<TopLine> lines = header(snapshot, title, state, columns, 3);
  for (const TopTable table : {TopTable::kThreads, TopTable::kMethods}) {
    TopState plain = state;
    plain.table = table == TopTable::kThreads ? TopTable::kMethods : TopTable::kThreads;  // no cursor
    lines.emplace_back();
    const DrawnTable drawn = draw_table(snapshot, plain, table, {columns, rows + 1});
    lines.insert(lines.end(), drawn.lines.begin(), drawn.lines.end());
  }
  std::string text;
  for (const TopLine& line : lines) {
    std::string plain;
    for (const TopSpanOfText& span : line) plain += span.text;
    plain.erase(plain.find_last_not_of(' ') + 1);
    text += plain + "\n";
  }
  return text;
}

}  // namespace tarsier::cli
