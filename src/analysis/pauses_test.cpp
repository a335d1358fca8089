#include "analysis/pauses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/jfr_test_file.h"
#include "analysis/loader.h"

namespace tarsier::analysis {
namespace {

using testing::ElementsAre;

// "kind begin+length name"
std::vector<std::string> lines(const Pauses& pauses) {
  const char* const kKinds[] = {"collection", "pause", "safepoint"};
  std::vector<std::string> texts;
  for (const Pause& pause : pauses.all) {
    texts.push_back(std::string(kKinds[static_cast<size_t>(pause.kind)]) + " " + std::to_string(pause.begin_ns) + "+" +
                    std::to_string(pause.length.count) + " " + pauses.names[pause.name]);
  }
  return texts;
}

TEST(Pauses, of_a_safepoint_last_from_asking_to_the_end_of_what_was_done) {
  PauseCollector collector;
  collector.operation(1100, 500, "G1CollectForAllocation");
  collector.safepoint_begin(1000, 90, 1);
  collector.safepoint_begin(5000, 10, 2);
  collector.operation(5020, 30, "Cleanup");
  collector.operation(5060, 40, "RevokeBias");
  collector.operation(5110, 40, "RevokeBias");
  EXPECT_THAT(lines(std::move(collector).finish()),
              ElementsAre("safepoint 1000+600 G1CollectForAllocation", "safepoint 5000+150 Cleanup, RevokeBias"));
}

TEST(Pauses, end_with_the_safepoint_if_that_was_recorded) {
  PauseCollector collector;
  collector.safepoint_begin(1000, 90, 1);
  collector.safepoint_end(1700, 5, 1);
  collector.operation(1100, 500, "Halt");
  collector.safepoint_begin(9000, 90, 7);
  EXPECT_THAT(lines(std::move(collector).finish()), ElementsAre("safepoint 1000+705 Halt", "safepoint 9000+90 "));
}

TEST(Pauses, of_operations_without_the_beginning_of_their_safepoint_are_these) {
  PauseCollector collector;
  collector.operation(100, 5, "First");
  collector.safepoint_begin(1000, 10, 1);
  collector.operation(100'000'000, 7, "Late");
  EXPECT_THAT(lines(std::move(collector).finish()),
              ElementsAre("safepoint 100+5 First", "safepoint 1000+10 ", "safepoint 100000000+7 Late"));
}

TEST(Pauses, of_collections_have_their_cause) {
  PauseCollector collector;
  collector.collection_pause(20, 5, "GC Pause");
  collector.collection(10, 50, "G1New", "G1 Evacuation Pause");
  collector.collection(90, 50, "G1Full", "");
  EXPECT_THAT(lines(std::move(collector).finish()), ElementsAre("collection 10+50 G1New: G1 Evacuation Pause",
                                                                "pause 20+5 GC Pause", "collection 90+50 G1Full"));
}

TEST(Pauses, of_damaged_files_never_have_a_length_below_0) {
  PauseCollector collector;
  collector.collection(INT64_MAX - 5, INT64_MAX, "a", "b");
  collector.collection(5, -7, "c", "");
  collector.safepoint_begin(INT64_MIN, INT64_MAX, 1);
  collector.safepoint_end(INT64_MIN, INT64_MIN, 1);
  for (const Pause& pause : std::move(collector).finish().all) EXPECT_GE(pause.length.count, 0);
}

TEST(Pauses, are_read_from_our_own_events) {
  TestChunk chunk;
  const auto event = [&](std::string type, int64_t start, std::map<std::string, TestValue> fields) {
    chunk.events.push_back({std::move(type), start, std::move(fields)});
  };
  event("tarsier.Safepoints", 1'002'000, {{"duration", 900}, {"count", 0}, {"time", -5}, {"timeToStop", 0}});
  event("tarsier.Safepoints", 1'001'000, {{"duration", 1000}, {"count", 7}, {"time", 300}, {"timeToStop", 20}});
  event("jdk.GCPhasePause", 1'001'100, {{"duration", 150}, {"name", "G1 young collection pause (System.gc())"}});
  LockPass locks;
  Loader loader(locks);
  const auto bytes = encode_chunk(chunk);
  const auto file = recording::Recording::over(bytes);
  ASSERT_TRUE(file.ok());
  const auto summary = (*file)->read(loader);
  ASSERT_TRUE(summary.ok());
  const Pauses pauses = loader.finish(*summary).pauses;
  EXPECT_THAT(lines(pauses), ElementsAre("pause 1001100+150 G1 young collection pause (System.gc())"));
  ASSERT_EQ(pauses.safepoints.size(), 2u);
  EXPECT_EQ(pauses.safepoints[0].begin_ns, 1'001'000);
  EXPECT_EQ(pauses.safepoints[0].length, Nanos(1000));
  EXPECT_EQ(pauses.safepoints[0].count, 7u);
  EXPECT_EQ(pauses.safepoints[0].time, Nanos(300));
  EXPECT_EQ(pauses.safepoints[0].time_to_stop, Nanos(20));
  EXPECT_EQ(pauses.safepoints[1].time, Nanos(0));
}

TEST(Pauses, of_the_account_that_are_not_in_the_file_are_dropped) {
  TestChunk chunk;
  chunk.events.push_back({"tarsier.Session", 1'000'500, {{"tarsierVersion", "0"}}});
  chunk.events.push_back({"tarsier.EngineSamples", 1'001'000, {{"engine", "pauses"}, {"taken", 5}, {"written", 4}}});
  chunk.events.push_back(
      {"tarsier.EngineDropped", 1'001'000, {{"engine", "pauses"}, {"cause", "ring full"}, {"count", 1}}});
  chunk.events.push_back({"jdk.GCPhasePause", 1'001'100, {{"duration", 150}, {"name", "x"}}});
  LockPass locks;
  Loader loader(locks);
  const auto bytes = encode_chunk(chunk);
  const auto file = recording::Recording::over(bytes);
  ASSERT_TRUE(file.ok());
  const auto summary = (*file)->read(loader);
  ASSERT_TRUE(summary.ok());
  const Model model = loader.finish(*summary);
  ASSERT_EQ(model.engines.size(), 1u);
  EXPECT_EQ(model.engines[0].taken, 5u);
  EXPECT_EQ(model.engines[0].written, 1u);
  EXPECT_EQ(model.engines[0].dropped.at("ring full"), 1u);
  EXPECT_EQ(model.engines[0].dropped.at("not in the file"), 3u);
}

TEST(Pauses, are_read_from_the_events_of_jfr) {
  TestChunk chunk;
  const auto event = [&](std::string type, int64_t start, std::map<std::string, TestValue> fields) {
    chunk.events.push_back({std::move(type), start, std::move(fields)});
  };
  event("jdk.GarbageCollection", 1'001'000, {{"duration", 300}, {"name", "G1New"}, {"cause", "System.gc()"}});
  event("jdk.GCPhasePause", 1'001'100, {{"duration", 150}, {"name", "GC Pause"}});
  event("jdk.SafepointBegin", 1'001'000, {{"duration", 50}, {"safepointId", 3}});
  event("jdk.SafepointEnd", 1'001'330, {{"duration", 1}, {"safepointId", 3}});
  event("jdk.ExecuteVMOperation", 1'001'060, {{"duration", 200}, {"operation", "G1Collect"}, {"safepoint", 1}});
  event("jdk.ExecuteVMOperation", 1'003'000, {{"duration", 200}, {"operation", "Handshake"}, {"safepoint", 0}});
  LockPass locks;
  Loader loader(locks);
  const auto bytes = encode_chunk(chunk);
  const auto file = recording::Recording::over(bytes);
  ASSERT_TRUE(file.ok());
  const auto summary = (*file)->read(loader);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(lines(loader.finish(*summary).pauses),
              ElementsAre("collection 1001000+300 G1New: System.gc()", "safepoint 1001000+331 G1Collect",
                          "pause 1001100+150 GC Pause"));
}

}  // namespace
}  // namespace tarsier::analysis
