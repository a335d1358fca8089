#include "recording/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/test_source.h"
#include "recording/test_recording.h"

namespace tarsier::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> lines_of(const TempFile& file, std::vector<std::string> types = {}) {
  Collect collect(std::move(types));
  const std::vector<uint8_t> bytes = file.content();
  auto summary = read_all(bytes, collect);
  EXPECT_TRUE(summary.ok());
  if (summary.ok()) {
    EXPECT_THAT(summary->problems, testing::IsEmpty());
  }
  return collect.lines;
}

TEST(Writer, ReaderGetsBackEveryFieldOfASample) {
  TempFile file;
  auto writer = open_writer(file);
  const Frame frames[] = {
      {writer->method({"java/lang/String", "hashCode", "()I", 1}), 12, 5, FrameType::kInterpreted},
      {writer->method({{}, "[deeper]", {}, 0}), 0, 0, FrameType::kMarker},
  };
  const Nanos when = monotonic_now();
  const Value values[] = {writer->thread({"os", 42, "main", 1, true}),
                          writer->stack(frames, true),
                          int64_t{0},
                          int64_t{123456789012},
                          int64_t{1},
                          std::string_view("no Java frame"),
                          writer->thread({"os", 43, "carrier", 2, false})};
  writer->event(Event::kExecutionSample, when, values);
  const int64_t offset = wall_now().count - monotonic_now().count;
  ASSERT_TRUE(writer->finish().ok());

  Collect collect;
  const std::vector<uint8_t> bytes = file.content();
  ASSERT_TRUE(read_all(bytes, collect).ok());
  EXPECT_THAT(collect.lines,
              ElementsAre("jdk.ExecutionSample sampledThread=os/main/42/1/virtual "
                          "stackTrace=java/lang/String.hashCode()I:12@5/interpreted;.[deeper]:0@0/marker;... "
                          "state=STATE_RUNNABLE weight=123456789012 imprecise=1 failure=no Java frame "
                          "carrier=os/carrier/43/2"));
  EXPECT_NEAR(static_cast<double>(collect.starts[0]), static_cast<double>(when.count + offset), 50e6);
}

TEST(Writer, EveryEventOfTheTableCanBeReadBack) {
  TempFile file;
  auto writer = open_writer(file);
  std::vector<std::string> names;
  for (const EventType& type : event_types()) {
    std::vector<Value> values;
    for (const Field& field : type.fields) {
      if (field.kind == Kind::kString) {
        values.emplace_back(field.name);
      } else if (field.kind == Kind::kThread) {
        values.emplace_back(ThreadId(0));
      } else if (field.kind == Kind::kStack) {
        values.emplace_back(StackId(0));
      } else if (field.kind == Kind::kClass) {
        values.emplace_back(ClassId(0));
      } else if (field.kind == Kind::kShare) {
        values.emplace_back(0.5F);
      } else if (field.kind == Kind::kBinary) {
        values.emplace_back(std::span<const uint8_t>());
      } else {
        values.emplace_back(int64_t{1});
      }
    }
    writer->event(type.event, monotonic_now(), values);
    names.emplace_back(type.name);
  }
  ASSERT_TRUE(writer->finish().ok());
  const std::vector<std::string> lines = lines_of(file);
  ASSERT_THAT(lines, SizeIs(names.size()));
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i], testing::StartsWith(names[i]));
    for (const Field& field : event_types()[i].fields) {
      const std::string value = field.kind == Kind::kString ? std::string(field.name) : "";
      EXPECT_THAT(lines[i], HasSubstr(" " + std::string(field.name) + "=" + value));
    }
  }
}

TEST(Writer, NumbersAtTheirLimitsSurvive) {
  TempFile file;
  auto writer = open_writer(file);
  for (const int64_t n : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN, int64_t{1} << 55, int64_t{1} << 56}) {
    const Value values[] = {std::string_view("e"), std::string_view("n"), n};
    writer->event(Event::kEngineCounter, monotonic_now(), values);
  }
  ASSERT_TRUE(writer->finish().ok());
  const std::vector<std::string> lines = lines_of(file);
  EXPECT_THAT(lines, ElementsAre(HasSubstr("value=0"), HasSubstr("value=-1"), HasSubstr("value=9223372036854775807"),
                                 HasSubstr("value=-9223372036854775808"), HasSubstr("value=36028797018963968"),
                                 HasSubstr("value=72057594037927936")));
}

TEST(Writer, RenamedThreadKeepsItsOldNameInOldEvents) {
  TempFile file;
  auto writer = open_writer(file);
  const auto cpu = [&](std::string_view name) {
    const ThreadId thread = writer->thread({"os", 5, name, 6, false});
    const Value values[] = {thread, std::string_view("app"), int64_t{1}, int64_t{1}};
    writer->event(Event::kThreadTime, monotonic_now(), values);
    return thread;
  };
  const ThreadId first = cpu("before");
  EXPECT_EQ(first, cpu("after"));
  ASSERT_TRUE(writer->flush().ok());
  EXPECT_EQ(first, cpu("last"));
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_THAT(lines_of(file), ElementsAre(HasSubstr("/before/"), HasSubstr("/after/"), HasSubstr("/last/")));
}

TEST(Writer, ThreadsHaveTheirGroupsInEveryChunkAndAfterForgetting) {
  TempFile file;
  auto writer = open_writer(file);
  const auto cpu = [&](std::string_view name, int64_t id, std::string_view group) {
    const Value values[] = {writer->thread({"os", id, name, id, false, group}), std::string_view("app"), int64_t{1},
                            int64_t{1}};
    writer->event(Event::kThreadTime, monotonic_now(), values);
  };
  cpu("first", 1, "main");
  cpu("second", 2, "main");
  ASSERT_TRUE(writer->flush().ok());
  cpu("first", 1, "other");  // into a group of its own
  cpu("third", 3, "\xff<workers>");
  cpu("none", 4, {});
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_THAT(lines_of(file),
              ElementsAre(HasSubstr("first/1/1/group main"), HasSubstr("second/2/2/group main"),
                          HasSubstr("first/1/1/group other"), HasSubstr("third/3/3/group"), Not(HasSubstr("group"))));
}

TEST(Writer, EqualStacksAndMethodsGetEqualIds) {
  TempFile file;
  auto writer = open_writer(file);
  const MethodId a = writer->method({"A", "a", "()V", 1});
  const MethodId b = writer->method({"A", "b", "()V", 1});
  EXPECT_EQ(a, writer->method({"A", "a", "()V", 1}));
  EXPECT_NE(a, b);
  EXPECT_NE(a, writer->method({"A", "a", "()I", 1}));
  const Frame one[] = {{a, 1, 2, FrameType::kC1}, {b, 3, 4, FrameType::kC2}};
  const Frame other[] = {{a, 1, 2, FrameType::kC1}, {b, 3, 5, FrameType::kC2}};
  EXPECT_EQ(writer->stack(one, false), writer->stack(one, false));
  EXPECT_NE(writer->stack(one, false), writer->stack(one, true));
  EXPECT_NE(writer->stack(one, false), writer->stack(other, false));
  EXPECT_EQ(writer->stack({}, false), StackId(0));
}

TEST(Writer, AStackThatIsKeptIsTheSameAsOneMadeAnew) {
  TempFile file;
  Writer::Options options;
  options.chunk_size = Bytes(1);  // every flush starts another chunk
  const auto writer = open_writer(file, options);
  std::vector<Frame> frames;  // outermost first
  EncodedStack kept;
  const auto enter = [&](int n) {
    frames.push_back({writer->method({"p/C", "m" + std::to_string(n), "()V", 1}), n, n / 2, FrameType::kC2});
    writer->add(kept, frames.back());
  };
  const auto write = [&](bool marked) {
    const Frame marker{writer->method({{}, "[mark]", {}, 0}), 0, 0, FrameType::kMarker};
    const std::span<const Frame> around(&marker, marked ? 1 : 0);
    const StackId id = writer->stack(around, kept, around, marked);
    std::vector<Frame> all(frames.rbegin(), frames.rend());
    if (marked) {
      all.insert(all.begin(), marker);
      all.push_back(marker);
    }
    const Value values[] = {ThreadId(), id, int64_t{0}, int64_t{1}, int64_t{0}, std::string_view(), ThreadId()};
    writer->event(Event::kExecutionSample, monotonic_now(), values);
    EXPECT_EQ(id, writer->stack(all, marked));
  };
  for (int n = 0; n < 300; ++n) enter(n);
  write(false);
  ASSERT_TRUE(writer->flush().ok());
  write(true);  // all methods are needed once more
  ASSERT_TRUE(writer->flush().ok());
  frames.resize(2);
  kept.shorten(2);
  enter(1000);
  write(false);
  enter(1001);
  write(false);
  frames.clear();
  kept.clear();
  enter(1002);
  write(false);
  ASSERT_TRUE(writer->finish().ok());

  Collect collect({"jdk.ExecutionSample"});
  const auto bytes = file.content();
  ASSERT_TRUE(read_all(bytes, collect).ok());
  ASSERT_THAT(collect.lines, testing::SizeIs(5));
  EXPECT_GE(collect.chunks, 3);
  EXPECT_THAT(collect.lines[0], HasSubstr("=p/C.m299()V:299@149/"));
  EXPECT_THAT(collect.lines[1], HasSubstr("p/C.m0()V:0@0/"));
  EXPECT_THAT(collect.lines[2], HasSubstr("=p/C.m1000()V:1000@500/c2;p/C.m1()V:1@0/c2;p/C.m0()V"));
  EXPECT_THAT(collect.lines[3], HasSubstr("=p/C.m1001()V:1001@500/c2;p/C.m1000()V"));
  EXPECT_THAT(collect.lines[4], HasSubstr("=p/C.m1002()V"));
}

TEST(Writer, HostileNamesComeBackAsValidUtf8) {
  TempFile file;
  auto writer = open_writer(file);
  const std::string names[] = {
      std::string("a\0b", 3),
      "\xff\xfe",
      "\xed\xa0\xbd\xed\xb8\x80",  // a pair of surrogates, as class files have it
      "\xc0\x80",                  // their NUL
      "\n\t\"\\</script>",
      std::string(70000, 'x'),
      "\xf0\x9f",  // cut short
  };
  for (const std::string& name : names) {
    const Frame frames[] = {{writer->method({name, name, name, 0}), 1, 1, FrameType::kJava}};
    const Value values[] = {writer->thread({name, 1, name, 1, false}),
                            writer->stack(frames, false),
                            int64_t{0},
                            int64_t{1},
                            int64_t{0},
                            std::string_view(name),
                            ThreadId()};
    writer->event(Event::kExecutionSample, monotonic_now(), values);
  }
  ASSERT_TRUE(writer->finish().ok());
  const std::vector<std::string> lines = lines_of(file);
  ASSERT_THAT(lines, SizeIs(std::size(names)));
  for (const std::string& line : lines) EXPECT_TRUE(is_valid_utf8(line));
  EXPECT_THAT(lines[1], HasSubstr("failure=\xef\xbf\xbd\xef\xbf\xbd"));
  EXPECT_THAT(lines[2], HasSubstr("failure=\xf0\x9f\x98\x80"));
  EXPECT_THAT(lines[3], HasSubstr(std::string("failure=\0", 9)));
}

TEST(Writer, UnknownIdsBecomeNullOrUnknown) {
  TempFile file;
  auto writer = open_writer(file);
  const Frame frames[] = {{MethodId(77), 1, 1, FrameType::kJava}, {MethodId(0), 1, 1, FrameType::kJava}};
  const Value values[] = {ThreadId(99), writer->stack(frames, false), int64_t{0}, int64_t{1},
                          int64_t{0},   std::string_view(),           ThreadId()};
  writer->event(Event::kExecutionSample, monotonic_now(), values);
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_THAT(lines_of(file), ElementsAre(HasSubstr("stackTrace=.[unknown]:1@1/java;.[unknown]")));
}

TEST(Writer, RotatesBySizeAndEveryChunkHasItsConstantsAndStickyEvents) {
  TempFile file;
  Writer::Options options;
  options.chunk_size = Bytes(64 << 10);
  auto writer = open_writer(file, options);
  const Value used[] = {std::string_view("cpu"), std::string_view("perf"), std::string_view("best"), int64_t{1},
                        int64_t{0}};
  writer->sticky_event(Event::kEngineUsed, "cpu", monotonic_now(), used);
  const Value cpu[] = {writer->thread({"gc", 9, {}, 0, false}), std::string_view("gc"), int64_t{0}, int64_t{5}};
  writer->sticky_event(Event::kThreadTime, "9", monotonic_now(), cpu);
  const Value newer[] = {writer->thread({"gc", 9, {}, 0, false}), std::string_view("gc"), int64_t{0}, int64_t{6}};
  writer->sticky_event(Event::kThreadTime, "9", monotonic_now(), newer);
  for (int i = 0; i < 10000; ++i) {
    write_sample(*writer, i);
    if (i % 500 == 0) {
      ASSERT_TRUE(writer->flush().ok());
    }
  }
  ASSERT_TRUE(writer->finish().ok());

  struct PerChunk final : Visitor {
    void chunk(Chunk& chunk) override {
      samples.push_back(0), used.push_back(0), cpu.push_back(0), last_cpu.push_back(0);
      for (const char* name : {"jdk.ExecutionSample", "tarsier.EngineUsed", "tarsier.ThreadTime"}) {
        chunk.select(chunk.type(name));
      }
    }
    void event(const Chunk& chunk, const EventView& event) override {
      const std::string_view name = chunk.type_name(event.type());
      if (name == "tarsier.EngineUsed") ++used.back();
      if (name == "tarsier.ThreadTime") {
        ++cpu.back();
        last_cpu.back() = event.number(chunk.field(event.type(), "count"));
        ThreadInfo thread;
        EXPECT_TRUE(chunk.thread(event.constant(chunk.field(event.type(), "thread")), thread));
        EXPECT_EQ(thread.os_name, "gc");
      }
      if (name != "jdk.ExecutionSample") return;
      ++samples.back();
      StackView stack;
      ThreadInfo thread;
      ASSERT_TRUE(chunk.stack(event.constant(chunk.field(event.type(), "stackTrace")), stack));
      ASSERT_TRUE(chunk.thread(event.constant(chunk.field(event.type(), "sampledThread")), thread));
      MethodView method;
      for (const FrameView& frame : stack.frames) ASSERT_TRUE(chunk.method(frame.method, method));
      EXPECT_EQ(method.name, "start_thread");
    }
    std::vector<int> samples, used, cpu;
    std::vector<int64_t> last_cpu;
  } visitor;
  const std::vector<uint8_t> bytes = file.content();
  auto summary = read_all(bytes, visitor);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(summary->problems, testing::IsEmpty());
  EXPECT_GE(visitor.samples.size(), 3u);
  EXPECT_EQ(std::accumulate(visitor.samples.begin(), visitor.samples.end(), 0), 10000);
  for (const int n : visitor.used) EXPECT_EQ(n, 1);
  for (const int64_t n : visitor.last_cpu) EXPECT_EQ(n, 6);
  EXPECT_EQ(visitor.cpu[1], 1);
}

TEST(Writer, RotatesByAgeButNotWithoutEvents) {
  TempFile file;
  Writer::Options options;
  options.chunk_age = Nanos(0);
  auto writer = open_writer(file, options);
  write_sample(*writer, 1);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer->flush().ok());
  ASSERT_TRUE(writer->finish().ok());
  Collect collect;
  const std::vector<uint8_t> bytes = file.content();
  ASSERT_TRUE(read_all(bytes, collect).ok());
  EXPECT_EQ(collect.chunks, 2);
}

TEST(Writer, ForgetsItsTablesWhenTheyGrowPastTheLimitAndSaysSo) {
  TempFile file;
  Writer::Options options;
  options.memory = Bytes(4 << 20);
  auto writer = open_writer(file, options);
  const Value cpu[] = {writer->thread({"gc", 9, {}, 0, false}), std::string_view("gc"), int64_t{0}, int64_t{5}};
  writer->sticky_event(Event::kThreadTime, "9", monotonic_now(), cpu);
  int samples = 0;
  while (writer->generation() < 3) {
    for (int i = 0; i < 2000; ++i, ++samples) {
      const std::string name = "m" + std::to_string(samples);
      const Frame frames[] = {{writer->method({"C", name, "()V", 0}), 1, 1, FrameType::kJava}};
      const Value values[] = {writer->thread({name, samples, name, samples, true}),
                              writer->stack(frames, false),
                              int64_t{0},
                              int64_t{samples},
                              int64_t{0},
                              std::string_view(),
                              ThreadId()};
      writer->event(Event::kExecutionSample, monotonic_now(), values);
    }
    ASSERT_TRUE(writer->flush().ok());
    ASSERT_LE(writer->memory_used(), options.memory + Bytes(2 << 20));
    ASSERT_LT(samples, 1'000'000);
  }
  ASSERT_TRUE(writer->finish().ok());
  const std::vector<std::string> lines = lines_of(file, {"jdk.ExecutionSample"});
  ASSERT_THAT(lines, SizeIs(samples));
  for (int i = 0; i < samples; ++i) {
    const std::string n = std::to_string(i);
    ASSERT_THAT(lines[i], HasSubstr("=m" + n + "/m" + n + "/" + n + "/")) << i;
    ASSERT_THAT(lines[i], HasSubstr("stackTrace=C.m" + n + "()V:1@1")) << i;
  }
  for (const std::string& line : lines_of(file, {"tarsier.ThreadTime"})) EXPECT_THAT(line, HasSubstr("thread=gc/"));
}

TEST(Writer, AFullBufferIsWrittenWithoutAFlush) {
  TempFile file;
  auto writer = open_writer(file);
  for (int i = 0; i < 100'000; ++i) write_sample(*writer, i);
  EXPECT_GT(lines_of(file).size(), 40'000u);
  EXPECT_LT(writer->memory_used(), Bytes(4 << 20));
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_THAT(lines_of(file), SizeIs(100'000));
}

TEST(Writer, FinishTrimsTheFile) {
  TempFile file;
  auto writer = open_writer(file);
  for (int i = 0; i < 1000; ++i) write_sample(*writer, i);
  ASSERT_TRUE(writer->flush().ok());
  EXPECT_GE(file.content().size(), 1u << 20);
  const Bytes written = writer->bytes_written();
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_LE(file.content().size(), static_cast<size_t>(written.count) + 64);
  // Late events are counted, not written.
  write_sample(*writer, 1);
  EXPECT_EQ(writer->lost_events(), 1u);
  EXPECT_TRUE(writer->finish().ok());
}

TEST(Writer, RefusesWhatItCannotChangeInPlace) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  unique_fd read_end(pipes[0]);
  EXPECT_EQ(Writer::open(unique_fd(pipes[1]), {}).error().code, Errc::kUsage);
  TempFile file;
  ASSERT_EQ(write(file.fd(), "x", 1), 1);
  auto opened = Writer::open(file.take_fd(), {});
  EXPECT_EQ(opened.error().code, Errc::kUsage);
  EXPECT_THAT(opened.error().what, HasSubstr("not empty"));
}

TEST(Writer, WorksOnADescriptorOpenedForAppending) {
  TempFile file;
  unique_fd append(::open(file.path().c_str(), O_WRONLY | O_APPEND));
  auto writer = Writer::open(std::move(append), {});
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 3; ++i) {
    write_sample(**writer, i);
    ASSERT_TRUE((*writer)->flush().ok());
  }
  ASSERT_TRUE((*writer)->finish().ok());
  EXPECT_THAT(lines_of(file), SizeIs(3));
}

// The JDK's tool can't do without: the class of what is no Java method is empty, not null.
TEST(Writer, AnEmptyNameIsNotNullEvenIfItIsTheFirst) {
  TempFile file;
  auto writer = open_writer(file);
  const Frame frames[] = {{writer->method({"", "[no Java frame]", "", 0}), 0, 0, FrameType::kMarker}};
  const Value values[] = {writer->thread({"t", 1, "t", 1, false}),
                          writer->stack(frames, false),
                          int64_t{0},
                          int64_t{1},
                          int64_t{0},
                          std::string_view(),
                          ThreadId()};
  writer->event(Event::kExecutionSample, monotonic_now(), values);
  ASSERT_TRUE(writer->finish().ok());
  std::ifstream in(file.path(), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  // Behind the descriptor, symbol 3, comes symbol 1: the empty text (1), not null (0).
  EXPECT_NE(bytes.find("()V\1\1"), std::string::npos);
}

TEST(Docs, EveryEventAndFieldIsListed) {
  std::ifstream in(test_source("docs/recording.md"));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  ASSERT_FALSE(text.empty());
  for (const EventType& type : event_types()) {
    const size_t begin = text.find("### " + std::string(type.name) + "\n");
    ASSERT_NE(begin, std::string::npos) << type.name;
    const std::string section = text.substr(begin, text.find("\n#", begin + 1) - begin);
    for (const Field& field : type.fields) {
      EXPECT_THAT(section, HasSubstr("| `" + std::string(field.name) + "` |")) << type.name;
    }
  }
}

}  // namespace
}  // namespace tarsier::recording
