#include "export/csv.h"

#include <gtest/gtest.h>

#include <sstream>

#include "analysis/lock_trace.h"

namespace tarsier::exporting {
namespace {

using analysis::LockTrace;

std::string csv_of(const analysis::Model& model) {
  std::ostringstream out;
  EXPECT_TRUE(export_csv(model, out).ok());
  return out.str();
}

constexpr const char* kHeader =
    "group,after_wait,lock_class,lock,contention,blocked_thread,blocked_method,blocked_chain,begin_ns,end_ns,"
    "owner_kind,owner_thread,owner_method,owner_chain\r\n";

TEST(Csv, has_a_row_for_each_piece) {
  LockTrace trace;
  const auto a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");
  const auto period = trace.period(trace.lock("p.Lock", 0x12ab), 1);
  trace.model.clock_offset_ns = -1000;
  trace.exit(period, a, 30, 1, "main;p.C.holds;java.lang.Object.wait");
  trace.enter(period, b, 10, 32, 2, "main;p.C.wants").after_wait = true;
  trace.enter(period, c, 12, 40, 3, "p.C.wants");
  trace.park(analysis::kNoLock, a, 50, 60, 0, 0, "main;java.util.concurrent.locks.LockSupport.park");
  EXPECT_EQ(
      csv_of(trace.model),
      std::string(kHeader) +
          "monitor,true,p.Lock,p.Lock@12ab,1,B,p.C.wants,p.C.wants < main,1010,1030,"
          "chain,A,p.C.holds,java.lang.Object.wait < p.C.holds < main\r\n"
          "monitor,true,p.Lock,p.Lock@12ab,1,B,p.C.wants,p.C.wants < main,1030,1032,hand-off,,,\r\n"
          "monitor,false,p.Lock,p.Lock@12ab,2,C,p.C.wants,p.C.wants,1012,1030,"
          "chain,A,p.C.holds,java.lang.Object.wait < p.C.holds < main\r\n"
          "monitor,false,p.Lock,p.Lock@12ab,2,C,p.C.wants,p.C.wants,1030,1032,hand-off,,,\r\n"
          "monitor,false,p.Lock,p.Lock@12ab,2,C,p.C.wants,p.C.wants,1032,1040,chain,B,p.C.wants,p.C.wants < main\r\n"
          "other,false,[no blocker],[no blocker],3,A,main,"
          "java.util.concurrent.locks.LockSupport.park < main,1050,1060,unknown,,,\r\n");
}

TEST(Csv, is_the_same_if_rows_are_written_while_events_come) {
  LockTrace trace;
  const auto a = trace.thread("A"), b = trace.thread("B");
  const auto period = trace.period(trace.lock("p.Lock", 1), 1);
  trace.exit(period, a, 30, 1, "main;p.C.holds");
  trace.enter(period, b, 10, 32, 2, "p.C.wants");
  trace.park(analysis::kNoLock, a, 50, 60, 0, 0, "main;java.util.concurrent.locks.LockSupport.park");
  const std::string whole = csv_of(trace.model);

  std::ostringstream out;
  CsvExport rows(out);
  analysis::LockPass pass(rows.question());
  for (const int64_t end : {30, 32, 60}) pass.came(trace.model, end);
  pass.advance(trace.model, seconds(100).count);
  EXPECT_EQ(out.str(), whole);  // by now
  EXPECT_EQ(trace.model.locks.in_columns(), 0u);
  pass.finish(trace.model);
  EXPECT_TRUE(rows.finish().ok());
  EXPECT_EQ(out.str(), whole);
}

TEST(Csv, of_a_recording_that_could_not_be_read_is_nothing) {
  std::ostringstream out;
  { const CsvExport rows(out); }
  EXPECT_EQ(out.str(), "");
}

TEST(Csv, of_a_recording_without_locks_is_its_header) {
  EXPECT_EQ(csv_of(analysis::ModelMaker().model), kHeader);
}

TEST(Csv, names_that_do_harm_do_none) {
  EXPECT_EQ(csv_cell("plain name"), "plain name");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(csv_cell("two\r\nlines"), "two\\u{d}\\u{a}lines");
  EXPECT_EQ(csv_cell("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
  for (const char* formula : {"=1", "+1", "-1", "@f"}) EXPECT_EQ(csv_cell(formula), std::string("'") + formula);
  EXPECT_EQ(csv_cell("\t=1").find('\t'), std::string::npos);
  EXPECT_EQ(csv_cell(""), "");
}

TEST(Csv, does_not_repeat_a_thousand_frames) {
  LockTrace trace;
  const auto a = trace.thread("A");
  std::string deep = "f";
  for (int i = 0; i < 1500; ++i) deep += ";f";
  trace.park(analysis::kNoLock, a, 0, 1, 0, 0, deep);
  EXPECT_NE(csv_of(trace.model).find("f < f [+501],"), std::string::npos);
}

}  // namespace
}  // namespace tarsier::exporting
