// The loader over recordings made by hand, event by event, and read by the real reader.
#include "analysis/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/jfr_period.h"
#include "analysis/jfr_test_file.h"
#include "analysis/so_far.h"
#include "analysis/thread_kind.h"

namespace tarsier::analysis {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

ConstantOf key(int64_t value) {
  return {value};
}

TestEvent own_sample(int64_t thread, int64_t stack, int64_t weight, std::string failure = "") {
  return {"jdk.ExecutionSample",
          1'000'100,
          {{"sampledThread", key(thread)},
           {"stackTrace", key(stack)},
           {"state", "STATE_RUNNABLE"},
           {"weight", weight},
           {"imprecise", int64_t{0}},
           {"failure", std::move(failure)}}};
}
TestEvent jfr_sample(int64_t thread, int64_t stack) {
  return {"jdk.ExecutionSample", 1'000'100, {{"sampledThread", key(thread)}, {"stackTrace", key(stack)}}};
}
TestEvent period(int64_t id, std::string value, std::string name = "period") {
  return {"jdk.ActiveSetting", 1'000'000, {{"id", id}, {"name", std::move(name)}, {"value", std::move(value)}}};
}

TestChunk chunk_with_stacks() {
  TestChunk chunk;
  chunk.stacks[1] = {{"p/C", "leaf", 7}, {"p/C", "main", 3}};
  chunk.stacks[2] = {{"p/C", "main", 3}};
  chunk.threads[1] = {10, 1, "main"};
  chunk.threads[2] = {11, 2, "worker"};
  return chunk;
}

using Watch = std::function<void(const SoFar&)>;
Model load_chunks(std::initializer_list<TestChunk*> chunks, const Watch& watch = {}) {
  std::vector<uint8_t> bytes;
  for (const TestChunk* chunk : chunks) {
    const auto more = encode_chunk(*chunk);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  LockPass locks;
  Loader loader(locks);
  loader.tell(watch);
  auto file = recording::Recording::over(bytes);
  EXPECT_TRUE(file.ok());
  const auto summary = (*file)->read(loader);
  EXPECT_TRUE(summary.ok());
  EXPECT_EQ(summary->damaged_chunks, 0U);
  return loader.finish(*summary);
}

std::string stack_text(const Model& model, StackIndex stack) {
  std::string text;
  for (; stack.value != 0; stack = model.stacks[stack.value].parent) {
    text = model.methods[model.stacks[stack.value].method.value].name + (text.empty() ? "" : ";") + text;
  }
  return text;
}

TEST(Loader, what_has_been_read_so_far_is_shown_as_if_the_recording_ended_there) {
  TestChunk first = chunk_with_stacks(), second = chunk_with_stacks();
  first.events = {jfr_sample(1, 1), period(100, "10 ms")};
  second.events = {jfr_sample(2, 2), period(100, "20 ms")};
  std::vector<double> done;
  std::vector<std::vector<int64_t>> weights;
  const auto look = [&](const SoFar& so_far) {
    done.push_back(so_far.done());
    so_far.look([&](const Model& model) {
      EXPECT_EQ(model.profile, Profile::kCpu);
      EXPECT_EQ(model.engines.size(), 1U);
      EXPECT_EQ(model.producer, "jfr");
      auto& now = weights.emplace_back();
      for (const Sample& sample : model.samples) now.push_back(sample.weight);
    });
  };
  const Model model = load_chunks({&first, &second}, look);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_GT(done[0], 0);
  EXPECT_LT(done[0], 1);
  EXPECT_EQ(done[1], 1);
  EXPECT_THAT(weights,
              testing::ElementsAre(testing::ElementsAre(10'000'000), testing::ElementsAre(10'000'000, 20'000'000)));
  // And the looks have changed nothing.
  const Model unseen = load_chunks({&first, &second});
  ASSERT_EQ(model.samples.size(), unseen.samples.size());
  EXPECT_EQ(model.samples[1].weight, unseen.samples[1].weight);
  EXPECT_EQ(model.engines.size(), unseen.engines.size());
  EXPECT_EQ(model.duration.count, unseen.duration.count);
  EXPECT_EQ(model.problems, unseen.problems);
}

TEST(Loader, a_look_at_allocations_only_gives_them_back) {
  TestChunk first = chunk_with_stacks(), second = chunk_with_stacks();
  const auto allocation = [](int64_t thread) {
    return TestEvent{"jdk.ObjectAllocationInNewTLAB",
                     1'000'100,
                     {{"eventThread", key(thread)},
                      {"stackTrace", key(1)},
                      {"tlabSize", int64_t{4096}},
                      {"allocationSize", int64_t{16}}}};
  };
  first.events = {allocation(1), allocation(1)};
  second.events = {allocation(2)};
  std::vector<size_t> samples;
  const Model model = load_chunks({&first, &second}, [&](const SoFar& so_far) {
    so_far.look([&](const Model& now) {
      EXPECT_EQ(now.profile, Profile::kAlloc);
      EXPECT_EQ(now.alloc_objects.size(), now.samples.size());
      samples.push_back(now.samples.size());
    });
  });
  EXPECT_THAT(samples, testing::ElementsAre(2U, 3U));
  EXPECT_EQ(model.profile, Profile::kAlloc);
  EXPECT_EQ(model.samples.size(), 3U);
  EXPECT_EQ(model.alloc_objects.size(), 3U);
}

TEST(Loader, reads_our_samples_with_weight_thread_and_stack) {
  TestChunk chunk = chunk_with_stacks();
  chunk.events = {own_sample(1, 1, 1'000'000), own_sample(2, 2, 2'000'000), own_sample(1, 1, 3'000'000)};
  const Model model = load_chunks({&chunk});
  ASSERT_EQ(model.samples.size(), 3U);
  EXPECT_EQ(stack_text(model, model.samples[0].stack), "p.C.main;p.C.leaf");
  EXPECT_EQ(stack_text(model, model.samples[1].stack), "p.C.main");
  EXPECT_EQ(model.samples[0].stack, model.samples[2].stack);
  EXPECT_EQ(model.stacks.size(), 3U);  // the root, main, leaf: main is shared
  EXPECT_EQ(model.samples[2].weight, 3'000'000);
  EXPECT_EQ(model.threads[model.samples[1].thread.value].name, "worker");
  EXPECT_TRUE(model.threads[0].sampled);
  EXPECT_EQ(model.start_ns, 1'000'000);
  EXPECT_EQ(model.duration, Nanos(5'000));
}

TEST(Loader, failed_samples_stand_under_their_cause) {
  TestChunk chunk = chunk_with_stacks();
  chunk.stacks[3] = {{"", "memcpy", 0, FrameType::kNative}, {"", "[failed: unwalkable]", 0, FrameType::kMarker}};
  chunk.events = {own_sample(1, 0, 1, "no Java frame"), own_sample(1, 3, 1, "unwalkable"), own_sample(1, 99, 1)};
  const Model model = load_chunks({&chunk});
  EXPECT_EQ(stack_text(model, model.samples[0].stack), "[failed: no Java frame]");
  EXPECT_EQ(stack_text(model, model.samples[1].stack), "[failed: unwalkable];memcpy");
  EXPECT_EQ(model.methods[model.stacks[model.samples[1].stack.value].method.value].descriptor, "");
  EXPECT_EQ(stack_text(model, model.samples[2].stack), "[failed: no stack]");
  for (const Sample& sample : model.samples) EXPECT_TRUE(sample.failed);
}

TEST(Loader, truncated_stacks_hang_below_a_marker) {
  TestChunk chunk = chunk_with_stacks();
  chunk.truncated = true;
  chunk.events = {own_sample(1, 1, 1)};
  const Model model = load_chunks({&chunk});
  EXPECT_EQ(stack_text(model, model.samples[0].stack), "[deeper];p.C.main;p.C.leaf");
  EXPECT_TRUE(model.samples[0].truncated);
}

TEST(Loader, threads_that_did_not_run_are_no_cpu_samples) {
  TestChunk chunk = chunk_with_stacks();
  chunk.events = {own_sample(1, 1, 1), own_sample(1, 1, 1)};
  chunk.events[1].fields["state"] = "STATE_SLEEPING";
  EXPECT_EQ(load_chunks({&chunk}).samples.size(), 1U);
}

TEST(Loader, stacks_and_threads_are_one_over_chunks_and_the_last_name_counts) {
  TestChunk first = chunk_with_stacks();
  first.events = {own_sample(1, 1, 1)};
  TestChunk second;
  second.start_ns = 1'010'000;
  second.stacks[50] = first.stacks[1];
  second.threads[9] = {10, 1, "renamed"};
  second.events = {own_sample(9, 50, 1)};
  const Model model = load_chunks({&first, &second});
  ASSERT_EQ(model.threads.size(), 1U);
  EXPECT_EQ(model.threads[0].name, "renamed");
  EXPECT_EQ(model.samples[0].stack, model.samples[1].stack);
  EXPECT_EQ(model.methods.size(), 2U);
  EXPECT_EQ(model.duration, Nanos(15'000));
}

TEST(Loader, an_unfinished_chunk_ends_with_its_last_event) {
  TestChunk chunk = chunk_with_stacks();
  chunk.duration_ns = 0;
  chunk.events = {own_sample(1, 1, 1)};
  EXPECT_EQ(load_chunks({&chunk}).duration, Nanos(100));
}

TEST(Loader, samples_of_jfr_stand_for_their_period_even_if_it_is_told_later) {
  TestChunk first = chunk_with_stacks();
  first.events = {jfr_sample(1, 1), period(100, "20 ms"), period(101, "5 s"), period(100, "everyChunk")};
  TestChunk second = chunk_with_stacks();
  second.events = {jfr_sample(2, 2)};  // says nothing: as before
  TestChunk third = chunk_with_stacks();
  third.events = {jfr_sample(2, 2), period(100, "10000000", "interval")};
  const Model model = load_chunks({&first, &second, &third});
  ASSERT_EQ(model.samples.size(), 3U);
  EXPECT_EQ(model.samples[0].weight, 20'000'000);
  EXPECT_EQ(model.samples[1].weight, 20'000'000);
  EXPECT_EQ(model.samples[2].weight, 10'000'000);
  EXPECT_EQ(model.producer, "jfr");
  ASSERT_EQ(model.engines.size(), 1U);
  EXPECT_EQ(model.engines[0].name, "jdk.ExecutionSample");
  EXPECT_EQ(model.engines[0].taken, 3U);
  EXPECT_EQ(model.engines[0].written, 3U);
}

TEST(Loader, without_a_period_each_sample_weighs_one) {
  TestChunk chunk = chunk_with_stacks();
  chunk.events = {jfr_sample(1, 1)};
  const Model model = load_chunks({&chunk});
  EXPECT_EQ(model.samples[0].weight, 1);
  EXPECT_EQ(model.engines[0].interval, Nanos(0));
}

TEST(Loader, two_samplers_of_jfr_are_not_added_up) {
  TestChunk chunk = chunk_with_stacks();
  const auto cpu_sample = [](bool failed, bool biased) {
    return TestEvent{"jdk.CPUTimeSample",
                     1'000'200,
                     {{"eventThread", key(1)},
                      {"stackTrace", key(failed ? 0 : 1)},
                      {"samplingPeriod", int64_t{10'000'000}},
                      {"failed", int64_t{failed}},
                      {"biased", int64_t{biased}}}};
  };
  chunk.events = {jfr_sample(1, 1),         period(100, "20 ms"),
                  cpu_sample(false, false), cpu_sample(true, false),
                  cpu_sample(false, true),  {"jdk.CPUTimeSamplesLost", 1'000'300, {{"lostSamples", int64_t{4}}}}};
  const Model model = load_chunks({&chunk});
  ASSERT_EQ(model.samples.size(), 3U);
  EXPECT_EQ(model.samples[0].weight, 10'000'000);
  EXPECT_TRUE(model.samples[1].failed);
  EXPECT_TRUE(model.samples[2].imprecise);
  ASSERT_EQ(model.engines.size(), 2U);
  EXPECT_EQ(model.engines[0].written, 0U);
  EXPECT_EQ(model.engines[0].dropped.begin()->second, 1U);
  EXPECT_EQ(model.engines[1].taken, 7U);
  EXPECT_EQ(model.engines[1].dropped, (std::map<std::string, uint64_t>{{"lost by JFR", 4}}));
}

TEST(Loader, describes_the_session_and_takes_the_last_of_cumulative_numbers) {
  TestChunk chunk = chunk_with_stacks();
  chunk.threads[3] = {12, 0, "GC Thread#0"};
  chunk.threads[4] = {13, 0, "tarsier"};
  const auto cpu = [](int64_t thread, const char* kind, bool sampled, int64_t ns) {
    return TestEvent{"tarsier.ThreadCpu",
                     1'000'400,
                     {{"thread", key(thread)}, {"kind", kind}, {"sampled", int64_t{sampled}}, {"cpu", ns}}};
  };
  const auto samples = [](int64_t taken, int64_t written) {
    return TestEvent{"tarsier.EngineSamples",
                     1'000'400,
                     {{"engine", "agct"}, {"taken", taken}, {"written", written}, {"failed", int64_t{0}}}};
  };
  const auto dropped = [](int64_t count) {
    return TestEvent{
        "tarsier.EngineDropped", 1'000'400, {{"engine", "agct"}, {"cause", "ring full"}, {"count", count}}};
  };
  chunk.events = {{"tarsier.Session",
                   1'000'000,
                   {{"tarsierVersion", "0.1.0"},
                    {"jvm", "17.0.15+6"},
                    {"pid", int64_t{4711}},
                    {"cpus", int64_t{4}},
                    {"attached", int64_t{1}}}},
                  {"tarsier.EngineUsed",
                   1'000'000,
                   {{"engine", "agct"}, {"mechanism", "perf"}, {"why", "best"}, {"interval", int64_t{1'000'000}}}},
                  own_sample(1, 1, 1),
                  own_sample(1, 1, 1),
                  samples(1, 1),
                  samples(9, 2),
                  dropped(1),
                  dropped(3),
                  cpu(1, "app", true, 100),
                  cpu(3, "gc", false, 500),
                  cpu(3, "gc", false, 700),
                  cpu(4, "tarsier", false, 50),
                  {"tarsier.EngineCounter", 1, {{"engine", "agct"}, {"name", "jmethodids"}, {"value", int64_t{5}}}},
                  {"tarsier.Overhead", 1, {{"appThreads", int64_t{3}}, {"background", int64_t{4}}}}};
  const Model model = load_chunks({&chunk});
  EXPECT_EQ(model.producer, "tarsier 0.1.0");
  EXPECT_EQ(model.jvm, "17.0.15+6");
  EXPECT_EQ(model.pid, 4711);
  EXPECT_EQ(model.cpus, 4);
  EXPECT_TRUE(model.attached);
  ASSERT_EQ(model.engines.size(), 1U);
  const Engine& engine = model.engines[0];
  EXPECT_EQ(engine.mechanism, "perf");
  EXPECT_EQ(engine.interval, millis(1));
  EXPECT_EQ(engine.taken, 9U);
  EXPECT_EQ(engine.written, 2U);
  EXPECT_EQ(engine.dropped, (std::map<std::string, uint64_t>{{"in flight", 4}, {"ring full", 3}}));
  EXPECT_EQ(engine.counters.at("jmethodids"), 5);
  EXPECT_EQ(model.unsampled_cpu, (std::map<ThreadKind, Nanos>{{ThreadKind::kGc, Nanos(700)}}));
  EXPECT_EQ(model.threads[0].cpu, Nanos(100));
  EXPECT_EQ(model.overhead_app, Nanos(3));
  EXPECT_EQ(model.overhead_background, Nanos(4));
}

TEST(Loader, absurd_numbers_do_no_harm) {
  TestChunk chunk = chunk_with_stacks();
  chunk.start_ns = INT64_MAX - 10;
  chunk.duration_ns = INT64_MAX;
  chunk.events = {own_sample(1, 1, INT64_MAX),
                  own_sample(1, 1, INT64_MAX),
                  own_sample(1, 1, -5),
                  {"tarsier.EngineSamples",
                   INT64_MIN,
                   {{"engine", "agct"}, {"taken", INT64_MIN}, {"written", INT64_MAX}, {"failed", int64_t{-1}}}}};
  chunk.events[0].start = INT64_MIN;
  chunk.events[1].start = INT64_MAX;
  const Model model = load_chunks({&chunk});
  EXPECT_EQ(model.samples[0].weight, int64_t{1} << 62);
  EXPECT_EQ(model.samples[1].weight, 0);
  EXPECT_EQ(model.samples[2].weight, 0);
  EXPECT_THAT(model.problems, Contains(HasSubstr("too large")));
  EXPECT_GE(model.duration.count, 0);
}

TEST(Loader, the_jvm_is_named_by_its_version_alone) {
  TestChunk chunk;
  chunk.events = {
      {"jdk.JVMInformation",
       1,
       {{"jvmVersion", "OpenJDK 64-Bit Server VM (17.0.15+6-Debian) for linux-aarch64 JRE (x)"}, {"pid", int64_t{5}}}},
      {"jdk.CPUInformation", 1, {{"hwThreads", int64_t{8}}}}};
  const Model model = load_chunks({&chunk});
  EXPECT_EQ(model.jvm, "17.0.15+6-Debian");
  EXPECT_EQ(model.pid, 5);
  EXPECT_EQ(model.cpus, 8);
}

TEST(StackBuilder, names_are_written_as_people_do) {
  Model model;
  StackBuilder builder(model);
  const auto name = [&](std::string_view class_name, std::string_view method) {
    return model.methods[builder.method(class_name, method, "()V").value].name;
  };
  EXPECT_EQ(name("java/lang/String", "<init>"), "java.lang.String.<init>");
  EXPECT_EQ(name("p/Foo$$Lambda/0x0000000801003200", "run"), "p.Foo$$Lambda.0x0000000801003200.run");
  EXPECT_EQ(name("p/Foo$$Lambda$14+0x0000000801003200", "run"), "p.Foo$$Lambda$14+0x0000000801003200.run");
  EXPECT_EQ(name("", "memcpy"), "memcpy");
  EXPECT_EQ(name("", ""), "[unnamed]");
}

TEST(JfrPeriod, reads_what_recordings_say) {
  EXPECT_EQ(parse_jfr_period("20 ms"), millis(20));
  EXPECT_EQ(parse_jfr_period("1 s"), seconds(1));
  EXPECT_EQ(parse_jfr_period("10ms"), millis(10));
  EXPECT_EQ(parse_jfr_period("10000000"), millis(10));
  for (const char* no :
       {"", "everyChunk", "100/s", "0 ms", "-5 ms", "99999999999999999999 s", "9999999999 d", "20 xs"}) {
    EXPECT_EQ(parse_jfr_period(no), std::nullopt) << no;
  }
}

TEST(ThreadKind, names_lead_back_to_the_kind) {
  for (const ThreadKind kind : {ThreadKind::kApp, ThreadKind::kGc, ThreadKind::kJit, ThreadKind::kVm,
                                ThreadKind::kTarsier, ThreadKind::kOther}) {
    EXPECT_EQ(thread_kind_of_name(thread_kind_name(kind)), kind);
  }
  EXPECT_EQ(thread_kind_of_name("nonsense"), ThreadKind::kOther);
}

}  // namespace
}  // namespace tarsier::analysis
