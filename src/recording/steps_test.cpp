// The promise of the writer: after every single write, and in the middle of the longer ones, the file is a valid
// recording with all events flushed so far. That the JDK's own tools agree is tested in tests/format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "recording/test_recording.h"

namespace tarsier::recording {
namespace {

struct Copy {
  std::string step;
  std::vector<uint8_t> bytes;
  int visible;  // samples that must be there
};

// Flushes, rotates, grows and finishes; `after` runs after each write.
class Scenario {
 public:
  explicit Scenario(std::function<void(const std::string& step, int visible)> after) : after_(std::move(after)) {}

  void run() {
    Writer::Options options;
    options.chunk_size = Bytes(24 << 10);
    options.after_step = [this](const char* step) {
      if (std::string(step) == "append: padding") visible_ = pending_;
      after_(step, visible_);
    };
    fd = file.fd();
    auto opened = Writer::open(file.take_fd(), std::move(options));
    if (!opened.ok()) return;
    writer = std::move(*opened);
    const Value used[] = {std::string_view("cpu"), std::string_view("perf"), std::string_view("best"), int64_t{1},
                          int64_t{0}};
    writer->sticky_event(Event::kEngineUsed, "cpu", monotonic_now(), used);
    for (const int samples : {5, 0, 3, 700, 4, 1500, 2}) {
      for (int i = 0; i < samples; ++i, ++pending_) write_sample(*writer, i);
      status = writer->flush();
    }
    status = writer->finish();
  }

  TempFile file;
  int fd = -1;
  std::unique_ptr<Writer> writer;
  Status status;
  [[nodiscard]] int taken() const { return pending_; }

 private:
  std::function<void(const std::string& step, int visible)> after_;
  int pending_ = 0, visible_ = 0;
};

// Valid: our reader has no complaint, and the file ends where its last chunk does.
void expect_valid(std::span<const uint8_t> bytes, int visible, const std::string& context) {
  Collect collect({"jdk.ExecutionSample"});
  auto summary = read_all(bytes, collect);
  ASSERT_TRUE(summary.ok()) << context;
  EXPECT_THAT(summary->problems, testing::IsEmpty()) << context;
  EXPECT_EQ(static_cast<int>(collect.lines.size()), visible) << context;
  for (const std::string& line : collect.lines) {
    ASSERT_THAT(line, testing::HasSubstr("sampledThread=worker-")) << context;
    ASSERT_THAT(line, testing::HasSubstr("com/example/Work.run()V:7@3/c2;.start_thread:0@0/native;")) << context;
  }
}

std::vector<Copy> all_steps() {
  std::vector<Copy> copies;
  int pages = 0;
  Scenario* current = nullptr;
  Scenario scenario([&](const std::string& step, int visible) {
    // Hundreds of pages in a row look alike.
    pages = step == "grow: page" ? pages + 1 : 0;
    if (pages < 5 || pages % 100 == 0) copies.push_back({step, current->file.content(), visible});
  });
  current = &scenario;
  scenario.run();
  EXPECT_TRUE(scenario.status.ok());
  return copies;
}

TEST(Steps, TheFileIsValidAfterEverySingleWrite) {
  const std::vector<Copy> copies = all_steps();
  std::map<std::string, int> seen;
  for (size_t i = 0; i < copies.size(); ++i) {
    ++seen[copies[i].step];
    expect_valid(copies[i].bytes, copies[i].visible, std::to_string(i) + " " + copies[i].step);
  }
  for (const char* step :
       {"create", "append: data", "append: constants", "append: padding", "duration", "grow: page", "grow: padding",
        "grow: chunk size", "rotate: new chunk", "rotate: chunk size", "rotate: padding", "finish: length"}) {
    EXPECT_GT(seen[step], 0) << step;
  }
}

// A kill in the middle of a write leaves a part of it. Writes in place are 8 bytes within a page and can't be torn.
TEST(Steps, TheFileIsValidIfALongWriteStopsAnywhere) {
  const std::vector<Copy> copies = all_steps();
  int tried = 0;
  for (size_t i = 1; i < copies.size(); ++i) {
    const Copy& before = copies[i - 1];
    const Copy& after = copies[i];
    if (after.step != "append: data" && after.step != "rotate: new chunk") continue;
    ASSERT_EQ(before.bytes.size(), after.bytes.size());
    const auto [first, unused] = std::mismatch(before.bytes.begin(), before.bytes.end(), after.bytes.begin());
    const auto begin = static_cast<size_t>(first - before.bytes.begin());
    for (size_t length : {1, 7, 100, 3000, 9000}) {
      std::vector<uint8_t> torn = before.bytes;
      length = std::min(length, torn.size() - begin);
      std::copy_n(after.bytes.begin() + begin, length, torn.begin() + begin);
      expect_valid(torn, before.visible, std::to_string(i) + " " + after.step + " torn");
      ++tried;
    }
  }
  EXPECT_GT(tried, 20);
}

TEST(Steps, InPlaceWritesAreAlignedWords) {
  const std::vector<Copy> copies = all_steps();
  for (size_t i = 1; i < copies.size(); ++i) {
    const std::string& step = copies[i].step;
    if (step == "append: data" || step == "rotate: new chunk" || step == "grow: page" || step == "finish: length")
      continue;
    const auto& a = copies[i - 1].bytes;
    const auto& b = copies[i].bytes;
    if (a.size() != b.size()) continue;  // pages were left out between
    const auto first = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
    const auto last = std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first - a.rbegin();
    if (first == static_cast<ptrdiff_t>(a.size())) continue;
    const auto end = static_cast<ptrdiff_t>(a.size()) - last;
    EXPECT_EQ(first / 8, (end - 1) / 8) << i << " " << step;
  }
}

// The descriptor turns into /dev/full after the k-th write: from then on nothing can be written.
TEST(Steps, AFullDiskAtAnyMomentLeavesAValidFileAndCountsWhatIsLost) {
  const unique_fd full(::open("/dev/full", O_WRONLY));
  ASSERT_TRUE(full);
  bool was_reached = true;
  for (int k = 1; was_reached; k += k < 40 ? 1 : 53) {
    was_reached = false;
    int writes = 0, visible_then = 0;
    std::vector<uint8_t> then;
    Scenario* current = nullptr;
    Scenario scenario([&](const std::string&, int visible) {
      if (++writes != k) return;
      was_reached = true;
      visible_then = visible;
      dup2(full.get(), current->fd);
    });
    current = &scenario;
    scenario.run();
    if (!was_reached) break;
    const std::string context = "after write " + std::to_string(k);
    expect_valid(scenario.file.content(), visible_then, context);
    if (scenario.status.ok()) continue;  // nothing was left to write
    EXPECT_THAT(scenario.status.error().what,
                testing::AnyOf(testing::HasSubstr("No space left"), testing::HasSubstr("length")))
        << context;
    // What is not in the file is counted; sticky events that were to be repeated count too.
    if (scenario.writer) {
      const auto lost = static_cast<int>(scenario.writer->lost_events());
      EXPECT_GE(lost, scenario.taken() - visible_then) << context;
      EXPECT_LE(lost, scenario.taken() - visible_then + 1) << context;
    }
  }
}

TEST(Steps, AFileThatSomebodyCutsIsLeftAloneFromThenOn) {
  Scenario* current = nullptr;
  int flushes = 0;
  Scenario scenario([&](const std::string& step, int) {
    if (step != "duration" || ++flushes != 2) return;  // not while it grows, which would undo the cut
    ASSERT_EQ(ftruncate(current->fd, 100), 0);
  });
  current = &scenario;
  scenario.run();
  ASSERT_FALSE(scenario.status.ok());
  EXPECT_THAT(scenario.status.error().what, testing::HasSubstr("somebody has cut the file to "));
  EXPECT_GT(scenario.writer->lost_events(), 0u);
  // Not longer again than what was still under way made it.
  EXPECT_THAT(scenario.status.error().what,
              testing::HasSubstr(std::to_string(scenario.file.content().size()) + " of "));
}

TEST(Steps, ALimitOnFileSizesIsAnErrorAndNoSignal) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (const rlim_t limit : {rlim_t{0}, rlim_t{5'000}, rlim_t{40'001}, rlim_t{60'000}}) {
    const rlimit lower{limit, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &lower), 0);
    int visible = 0;
    Scenario scenario([&](const std::string&, int now) { visible = now; });
    scenario.run();
    setrlimit(RLIMIT_FSIZE, &before);
    if (!scenario.writer) {
      EXPECT_LT(limit, 20'000u);
      continue;
    }
    EXPECT_FALSE(scenario.status.ok());
    EXPECT_THAT(scenario.status.error().what, testing::HasSubstr("File too large"));
    EXPECT_GT(visible, 0) << limit;
    const std::vector<uint8_t> bytes = scenario.file.content();
    EXPECT_LE(bytes.size(), limit);
    expect_valid(bytes, visible, "limit " + std::to_string(limit));
  }
}

TEST(Steps, AReaderOfAFileBeingWrittenSeesNoEventWithoutItsConstants) {
  TempFile file;
  auto writer = open_writer(file);
  for (int i = 0; i < 100; ++i) write_sample(*writer, i);
  ASSERT_TRUE(writer->flush().ok());
  auto recording = Recording::open(file.path());
  ASSERT_TRUE(recording.ok());

  // While the first events are visited the next ones are flushed, with a thread and stacks that are new.
  struct Racing final : Visitor {
    void chunk(Chunk& chunk) override { chunk.select(chunk.type("jdk.ExecutionSample")); }
    void event(const Chunk& chunk, const EventView& event) override {
      if (++events == 10) {
        const Frame frames[] = {{writer.method({"New", "born", "()V", 0}), 1, 1, FrameType::kC1}};
        const Value values[] = {writer.thread({"new", 1, "new", 1, false}),
                                writer.stack(frames, false),
                                int64_t{0},
                                int64_t{1},
                                int64_t{0},
                                std::string_view(),
                                ThreadId()};
        for (int i = 0; i < 50; ++i) writer.event(Event::kExecutionSample, monotonic_now(), values);
        ASSERT_TRUE(writer.flush().ok());
      }
      StackView stack;
      EXPECT_TRUE(chunk.stack(event.constant(chunk.field(event.type(), "stackTrace")), stack));
    }
    explicit Racing(Writer& w) : writer(w) {}
    Writer& writer;
    int events = 0;
  } visitor(*writer);
  auto summary = (*recording)->read(visitor);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(visitor.events, 100);
  EXPECT_THAT(summary->problems, testing::IsEmpty());
}

}  // namespace
}  // namespace tarsier::recording
