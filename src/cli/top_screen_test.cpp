// The screen of `tarsier top`, drawn without a terminal.
#include "cli/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/top_columns.h"
#include "cli/top_json.h"
#include "export/escape.h"

namespace tarsier::cli {
namespace {

using analysis::ThreadKind;
using analysis::TopMethodRow;
using analysis::TopSnapshot;
using analysis::TopSpan;
using analysis::TopThreadRow;
using testing::HasSubstr;
using testing::Not;

TopThreadRow thread(int64_t id, std::string name, double cpu) {
  TopThreadRow row;
  row.id = {100 + id, id};
  row.name = std::move(name);
  row.kind = ThreadKind::kApp;
  row.cpu = cpu;
  row.blocked = 0;
  row.allocated = 0;
  return row;
}

TopSnapshot some_snapshot() {
  TopSnapshot snapshot;
  snapshot.span = seconds(1);
  snapshot.since_start = seconds(5);
  snapshot.cpu[static_cast<size_t>(ThreadKind::kApp)] = 1.2;
  snapshot.cpu[static_cast<size_t>(ThreadKind::kGc)] = 0.1;
  snapshot.allocated = 12.5 * 1024 * 1024;
  snapshot.blocked = 0.25;
  snapshot.taken = 4711;
  snapshot.threads = {thread(1, "alpha", 0.2), thread(2, "burner", 0.9), thread(3, "Zulu", 0.1)};
  snapshot.threads[0].allocated = 3 * 1024 * 1024;
  snapshot.threads[0].steal = 0.05;
  snapshot.threads[2].blocked = 0.75;
  snapshot.threads[2].waiting = 0.8;
  snapshot.threads[1].method = "com.example.Work.seventy";
  snapshot.methods = {{"com.example.Work.seventy", 0.7, 0.7}, {"com.example.Work.ten", 0.1, 0.15}, {"Main.run", 0, 1}};
  return snapshot;
}

TopTitle some_title() {
  TopTitle title;
  title.main = "com.example.Main";
  title.pid = 4711;
  title.jvm = "17.0.1";
  title.uptime = seconds(3700);
  title.cpus = 2;
  title.threads = 23;
  return title;
}

std::vector<std::string> texts(const TopScreen& screen) {
  std::vector<std::string> lines;
  for (const TopLine& line : screen.lines) {
    std::string text;
    for (const TopSpanOfText& span : line) text += span.text;
    lines.push_back(text);
  }
  return lines;
}

std::string whole(const TopScreen& screen) {
  std::string all;
  for (const std::string& line : texts(screen)) all += line + "\n";
  return all;
}

// The text of the line under the cursor.
std::string under_cursor(const TopScreen& screen) {
  for (const TopLine& line : screen.lines) {
    if (!line.empty() && line[0].style == TopStyle::kCursor) return line[0].text;
  }
  return "";
}

std::vector<std::string> names(const TopSnapshot& snapshot, const TopState& state) {
  std::vector<std::string> out;
  for (const size_t i : rows_of(snapshot, state, TopTable::kThreads)) out.push_back(snapshot.threads[i].name);
  return out;
}

class Pressed {
 public:
  Pressed& key(TopKey::Kind kind) {
    press({kind}, snapshot, page, state);
    return *this;
  }
  Pressed& text(std::string_view letters) {
    for (const char c : letters) press({TopKey::Kind::kText, std::string(1, c)}, snapshot, page, state);
    return *this;
  }
  TopSnapshot snapshot = some_snapshot();
  TopState state;
  size_t page = 10;
};

TEST(TopScreen, FitsEverySizeDownToNothing) {
  TopSnapshot snapshot = some_snapshot();
  snapshot.threads.push_back(thread(4, "日本語の名前はとても長い日本語の名前はとても長い", 0.3));
  snapshot.threads.push_back(thread(5, std::string(5000, 'x'), 0.3));
  snapshot.threads.push_back(thread(6, std::string("evil\x1b[2J\n\r\t\xe2\x80\xae") + "mirror\xff", 12345.6));
  for (int i = 0; i < 100; ++i) snapshot.methods.push_back({"a.b.C.method" + std::to_string(i), 0.001, 0.5});
  TopTitle title = some_title();
  title.main = "evil\x1b]0;title\x07";
  title.notes = {"warning: \x1b[2J"};
  std::vector<TopState> states(6);
  states[1].table = TopTable::kMethods;
  states[2].help = true;
  states[2].help_line = 1000;
  states[3].typing = true;
  states[3].filter = "日本語の名前はとても長い日本語の名前はとても長い";
  states[4].threads_by = TopColumn::kBlocked;
  states[4].cursor = 1000;
  states[4].first = 1000;
  states[5].methods_of = {1, 1};
  states[5].methods_of_name = "日本語\x1b[2J";
  states[5].table = TopTable::kMethods;
  for (const bool ended : {false, true}) {
    title.ended = ended ? "the JVM has ended" : "";
    for (const TopState& state : states) {
      for (size_t columns = 0; columns <= 130; ++columns) {
        for (const size_t lines : {0, 1, 2, 3, 4, 5, 8, 10, 16, 24, 50}) {
          const TopScreen screen = draw_top(snapshot, title, state, {columns, lines});
          ASSERT_LE(screen.lines.size(), lines);
          for (const std::string& line : texts(screen)) {
            ASSERT_LE(exporting::display_width(line), columns) << columns << "x" << lines << ": " << line;
            ASSERT_EQ(exporting::visible(line), line);
          }
        }
      }
    }
  }
}

TEST(TopScreen, HeaderSaysWhatTheProcessDoes) {
  const auto lines = texts(draw_top(some_snapshot(), some_title(), {}, {150, 40}));
  EXPECT_EQ(lines[0], "com.example.Main  pid 4711  23 threads  up 1h01m  JVM 17.0.1");
  EXPECT_EQ(lines[1], "CPU 130.0% of 200%  app 120.0%  GC 10.0%  JIT 0.0%  VM 0.0%  other 0.0%  tarsier 0.0% + 0.0%");
  EXPECT_EQ(lines[2], "last 1.0 s  alloc 12.5M/s  blocked 0.25 threads  4,711 samples and events  0 dropped");
}

TEST(TopScreen, WhatIsLostIsSaidFirst) {
  TopSnapshot snapshot = some_snapshot();
  snapshot.dropped = 1200;
  TopTitle title = some_title();
  title.skipped = 34;
  EXPECT_THAT(texts(draw_top(snapshot, title, {}, {60, 24}))[2], HasSubstr("1,234 dropped"));
}

TEST(TopScreen, TheBusiestThreadIsFirstAndUnderTheCursor) {
  const TopScreen screen = draw_top(some_snapshot(), some_title(), {}, {100, 24});
  EXPECT_THAT(under_cursor(screen), HasSubstr("burner"));
  EXPECT_THAT(under_cursor(screen), HasSubstr("90.0"));
  EXPECT_THAT(under_cursor(screen), HasSubstr("Work.seventy"));
  EXPECT_EQ(exporting::display_width(under_cursor(screen)), 100u);
}

TEST(TopScreen, WhatIsNotKnownIsADash) {
  TopSnapshot snapshot = some_snapshot();
  snapshot.threads[1].blocked.reset();
  snapshot.threads[1].allocated.reset();
  const auto placed = place_columns(TopTable::kThreads, TopColumn::kCpu, 200);
  for (const PlacedColumn& column : placed) {
    const bool unknown = column.column == TopColumn::kSystem || column.column == TopColumn::kSteal ||
                         column.column == TopColumn::kQueue || column.column == TopColumn::kWaiting ||
                         column.column == TopColumn::kBlocked || column.column == TopColumn::kAllocated;
    EXPECT_EQ(cell_of(snapshot.threads[1], column.column) == "-", unknown) << column.title;
  }
}

TEST(TopScreen, BothTablesAreThereOnATallScreenAndOneOnALowOne) {
  EXPECT_THAT(whole(draw_top(some_snapshot(), some_title(), {}, {100, 30})),
              testing::AllOf(HasSubstr("THREAD"), HasSubstr("%TOTAL")));
  EXPECT_THAT(whole(draw_top(some_snapshot(), some_title(), {}, {100, 12})),
              testing::AllOf(HasSubstr("THREAD"), Not(HasSubstr("%TOTAL"))));
  TopState methods;
  methods.table = TopTable::kMethods;
  EXPECT_THAT(whole(draw_top(some_snapshot(), some_title(), methods, {100, 12})),
              testing::AllOf(Not(HasSubstr("THREAD")), HasSubstr("%TOTAL")));
}

TEST(TopScreen, TheSmallestUsefulScreenHasNameAndCpu) {
  const auto lines = texts(draw_top(some_snapshot(), some_title(), {}, {20, 5}));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], HasSubstr("CPU 130.0%"));
  EXPECT_THAT(lines[1], testing::AllOf(HasSubstr("%CPU"), HasSubstr("THREAD")));
  EXPECT_THAT(lines[2], testing::AllOf(HasSubstr("90.0"), HasSubstr("burner")));
  EXPECT_THAT(lines[4], HasSubstr("q quit"));
}

TEST(TopScreen, ColumnsGoByImportanceAndTheSortedOneStays) {
  for (size_t columns = 14; columns < 200; ++columns) {
    for (const TopSortKey& by : sort_keys(TopTable::kThreads)) {
      const auto placed = place_columns(TopTable::kThreads, by.column, columns);
      size_t width = placed.size() - 1;
      bool has_sorted = false, has_name = false;
      for (const PlacedColumn& column : placed) {
        width += column.width;
        has_sorted = has_sorted || column.column == by.column;
        has_name = has_name || column.column == TopColumn::kName;
      }
      EXPECT_LE(width, columns);
      EXPECT_TRUE(has_sorted && has_name) << columns << " " << by.name;
    }
  }
  EXPECT_EQ(place_columns(TopTable::kThreads, TopColumn::kCpu, 200).size(), 11u);
}

TEST(TopScreen, TheEndOfTheJvmIsSaidAndTheFiguresStay) {
  TopTitle title = some_title();
  title.ended = "the JVM has ended";
  for (const TopSize size : {TopSize{100, 30}, TopSize{40, 8}, TopSize{20, 5}}) {
    const auto screen = whole(draw_top(some_snapshot(), title, {}, size));
    EXPECT_THAT(screen, HasSubstr("the JVM has ended"));
    EXPECT_THAT(screen, HasSubstr("q quits"));
    EXPECT_THAT(screen, HasSubstr("burner"));
  }
}

TEST(TopScreen, AsTextItHasBothTablesAndNoCursor) {
  const std::string text = top_text(some_snapshot(), some_title(), {}, 2, 120);
  EXPECT_THAT(text, HasSubstr("burner"));
  EXPECT_THAT(text, HasSubstr("alpha"));
  EXPECT_THAT(text, Not(HasSubstr("Zulu"))) << "two rows";
  EXPECT_THAT(text, HasSubstr("Work.ten"));
  EXPECT_THAT(text, Not(HasSubstr(" \n"))) << "no blanks at the ends of lines";
}

TEST(TopScreen, BeforeTheFirstFiguresItSaysSo) {
  EXPECT_THAT(whole(draw_top({}, some_title(), {}, {80, 24})), HasSubstr("the first figures come in a second"));
}

TEST(TopText, AsciiIsAsWide) {
  EXPECT_EQ(as_ascii("a…b日本é"), "a~b?????");
  EXPECT_EQ(short_bytes(0), "0");
  EXPECT_EQ(short_bytes(1000), "1000");
  EXPECT_EQ(short_bytes(1024), "1.0K");
  EXPECT_EQ(short_bytes(12.5 * 1024 * 1024), "12.5M");
  EXPECT_EQ(short_bytes(800.0 * 1024 * 1024), "800M");
  EXPECT_EQ(cut_back("日本語", 3), "日");
  EXPECT_EQ(fitted("12.5", 6, true), "  12.5");
  EXPECT_EQ(fitted("name", 6, false), "name  ");
  EXPECT_EQ(fitted("a.long.name", 6, false), "….name");
}

TEST(TopState, EachSortKeyPutsTheRightThreadFirst) {
  Pressed top;
  EXPECT_THAT(names(top.snapshot, top.state), testing::ElementsAre("burner", "alpha", "Zulu"));
  EXPECT_EQ(names(top.snapshot, top.text("a").state)[0], "alpha");
  EXPECT_EQ(names(top.snapshot, top.text("b").state)[0], "Zulu");
  EXPECT_EQ(names(top.snapshot, top.text("w").state)[0], "Zulu");
  EXPECT_EQ(names(top.snapshot, top.text("s").state)[0], "alpha");
  EXPECT_EQ(names(top.snapshot, top.text("n").state)[0], "alpha");
  EXPECT_EQ(names(top.snapshot, top.text("r").state)[0], "Zulu") << "large letters or small";
  EXPECT_EQ(names(top.snapshot, top.text("c").state)[0], "burner");
  EXPECT_EQ(names(top.snapshot, top.text("r").state)[0], "Zulu");
}

TEST(TopState, TheCursorStaysOnItsThreadWhereverThatMoves) {
  Pressed top;
  top.key(TopKey::Kind::kDown);
  EXPECT_THAT(under_cursor(draw_top(top.snapshot, some_title(), top.state, {100, 24})), HasSubstr("alpha"));
  top.text("n");
  EXPECT_THAT(under_cursor(draw_top(top.snapshot, some_title(), top.state, {100, 24})), HasSubstr("alpha"));
  top.snapshot.threads[0].id = {7, 7};  // it has ended: another one is there
  EXPECT_NE(under_cursor(draw_top(top.snapshot, some_title(), top.state, {100, 24})), "");
  top.snapshot.threads.clear();
  EXPECT_EQ(under_cursor(draw_top(top.snapshot, some_title(), top.state, {100, 24})), "");
  top.key(TopKey::Kind::kDown).key(TopKey::Kind::kEnter).key(TopKey::Kind::kEnd);
}

TEST(TopState, MovingScrolls) {
  Pressed top;
  top.snapshot.threads.clear();
  for (int i = 0; i < 100; ++i) top.snapshot.threads.push_back(thread(i, "t" + std::to_string(i), 1 - i / 200.0));
  const auto draw = [&] {
    const TopScreen screen = draw_top(top.snapshot, some_title(), top.state, {60, 12});
    top.state.first = screen.first;
    top.page = screen.page;
    return under_cursor(screen);
  };
  EXPECT_THAT(draw(), HasSubstr(" t0 "));
  top.key(TopKey::Kind::kPageDown);
  EXPECT_THAT(draw(), HasSubstr(" t" + std::to_string(top.page) + " "));
  top.key(TopKey::Kind::kEnd);
  EXPECT_THAT(draw(), HasSubstr(" t99 "));
  top.key(TopKey::Kind::kDown);
  EXPECT_THAT(draw(), HasSubstr(" t99 "));
  top.key(TopKey::Kind::kUp);
  EXPECT_THAT(draw(), HasSubstr(" t98 "));
  top.key(TopKey::Kind::kHome);
  EXPECT_THAT(draw(), HasSubstr(" t0 "));
  top.key(TopKey::Kind::kUp);
  EXPECT_THAT(draw(), HasSubstr(" t0 "));
}

TEST(TopState, EnterShowsTheMethodsOfAThreadAndEscapeThoseOfAll) {
  Pressed top;
  top.key(TopKey::Kind::kDown).key(TopKey::Kind::kEnter);
  EXPECT_EQ(top.state.table, TopTable::kMethods);
  EXPECT_EQ(top.state.methods_of, (analysis::TopThreadId{101, 1}));
  EXPECT_THAT(whole(draw_top(top.snapshot, some_title(), top.state, {100, 12})), HasSubstr("METHOD of alpha"));
  top.key(TopKey::Kind::kEscape);
  EXPECT_EQ(top.state.table, TopTable::kThreads);
  EXPECT_FALSE(top.state.methods_of);
}

TEST(TopState, TheFilterTakesLettersThatAreKeysElsewhere) {
  Pressed top;
  top.text("/qAL");
  EXPECT_FALSE(top.state.quit);
  EXPECT_TRUE(names(top.snapshot, top.state).empty());
  EXPECT_THAT(whole(draw_top(top.snapshot, some_title(), top.state, {80, 24})),
              testing::AllOf(HasSubstr("filter: qAL_"), HasSubstr("nothing fits the filter")));
  top.key(TopKey::Kind::kBackspace).key(TopKey::Kind::kBackspace).key(TopKey::Kind::kBackspace).text("AL");
  top.key(TopKey::Kind::kEnter);
  EXPECT_THAT(names(top.snapshot, top.state), testing::ElementsAre("alpha"));
  top.text("n");
  EXPECT_EQ(top.state.threads_by, TopColumn::kName);
  top.key(TopKey::Kind::kEscape);
  EXPECT_EQ(names(top.snapshot, top.state).size(), 3u);
}

TEST(TopState, BackspaceTakesAWholeCharacter) {
  Pressed top;
  top.text("/");
  press({TopKey::Kind::kText, "é"}, top.snapshot, 10, top.state);
  top.key(TopKey::Kind::kBackspace);
  EXPECT_EQ(top.state.filter, "");
  top.key(TopKey::Kind::kBackspace);
}

TEST(TopState, OtherKeys) {
  Pressed top;
  EXPECT_TRUE(top.text("p").state.paused);
  EXPECT_FALSE(top.text("p").state.paused);
  EXPECT_EQ(top.text("+").state.refresh, seconds(2));
  EXPECT_EQ(top.text("--").state.refresh, seconds(1));
  for (int i = 0; i < 20; ++i) top.text("+");
  EXPECT_EQ(top.state.refresh, seconds(60));
  EXPECT_EQ(top.text("o").state.span, TopSpan::kSmooth);
  EXPECT_EQ(top.text("o").state.span, TopSpan::kAll);
  EXPECT_EQ(top.text("o").state.span, TopSpan::kLast);
  EXPECT_EQ(top.text("m").state.table, TopTable::kMethods);
  EXPECT_EQ(top.text("t").state.methods_by, TopColumn::kTotal);
  EXPECT_EQ(top.key(TopKey::Kind::kTab).state.table, TopTable::kThreads);
  EXPECT_TRUE(top.text("?").state.help);
  EXPECT_FALSE(top.text("x").state.help);
  EXPECT_FALSE(top.state.quit);
  top.state.refresh = seconds(4);  // by an option
  EXPECT_EQ(top.text("-").state.refresh, seconds(3));
  EXPECT_TRUE(top.text("hq").state.quit);
}

TEST(TopJson, NamesAreDisarmedAndWhatIsNotKnownIsNull) {
  TopSnapshot snapshot = some_snapshot();
  snapshot.threads[1].name = "evil\x1b[2J\xff";
  const std::string text = top_json(snapshot, some_title(), {}, 1);
  EXPECT_THAT(text, HasSubstr(R"("name":"evil\\u{1b}[2J\\x{ff}")"));
  EXPECT_THAT(text, HasSubstr(R"("steal":null)"));
  EXPECT_THAT(text, Not(HasSubstr("alpha"))) << "one row";
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace tarsier::cli
