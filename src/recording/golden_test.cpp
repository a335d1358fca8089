// A recording of today, kept: what was once written must stay readable, whatever becomes of the table.
// TARSIER_UPDATE_GOLDEN=1 writes it anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_source.h"
#include "recording/empty_chunk.h"
#include "recording/test_recording.h"

namespace tarsier::recording {
namespace {

const std::string kFolder = test_source("tests/fixtures/recording/");

void write_golden(const std::string& path) {
  unlink(path.c_str());
  Writer::Options options;
  options.chunk_size = Bytes(4 << 10);
  auto opened = Writer::open(unique_fd(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR, 0644)), options);
  ASSERT_TRUE(opened.ok());
  Writer& writer = **opened;
  for (int round = 0; round < 2; ++round) {
    const ThreadId threads[] = {writer.thread({"main", 100, round ? "renamed" : "main", 1, false, "workers"}),
                                writer.thread({"", 0, "virtual", 31, true}),
                                writer.thread({"G1 Conc#0", 7, {}, 0, false})};
    std::vector<Frame> frames;
    for (size_t type = 0; type < static_cast<size_t>(FrameType::kCount); ++type) {
      const auto t = static_cast<FrameType>(type);
      const bool java = t <= FrameType::kInlined;
      const std::string name(frame_type_name(t));
      frames.push_back(
          {writer.method({java ? "com/example/Gr\xc3\xbc\xc3\x9f" : "", name, java ? "([JD)Ljava/util/List;" : "", 9}),
           static_cast<int32_t>(type) * 10, static_cast<int32_t>(type), t});
    }
    for (const EventType& type : event_types()) {
      std::vector<Value> values;
      for (const Field& field : type.fields) {
        const bool is_small = field.kind == Kind::kThreadState || field.kind == Kind::kBool;
        Value value = is_small ? int64_t{1} : int64_t{1} << (20 + round);
        if (field.kind == Kind::kString) value = field.name;
        if (field.kind == Kind::kShare) value = 0.25F;
        if (field.kind == Kind::kThread) value = threads[type.fields.size() % 3];
        if (field.kind == Kind::kClass) value = writer.klass(round ? "[Lcom/example/Work;" : "com/example/Work");
        if (field.kind == Kind::kStack) value = writer.stack(frames, round == 1);
        values.push_back(value);
      }
      writer.event(type.event, monotonic_now(), values);
    }
    ASSERT_TRUE(writer.flush().ok());
  }
  ASSERT_TRUE(writer.finish().ok());
}

void write_file(const std::string& name, std::span<const uint8_t> bytes) {
  std::ofstream(kFolder + name, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void write_corpus(const std::string& golden) {
  std::ifstream in(golden, std::ios::binary);
  const std::vector<uint8_t> bytes(std::istreambuf_iterator<char>(in), {});
  write_file("cut.jfr", std::span(bytes).subspan(0, bytes.size() * 9 / 10));
  Encoder empty = encode_empty_chunk(bytes, kSmallestEmptyChunk);
  empty.fill(kSmallestEmptyChunk - empty.size());
  write_file("empty-chunk.jfr", empty.bytes());
  write_file("structs-and-strings.jfr",
             HandMadeChunk()
                 .primitives()
                 .type(40, "test.Inner", {{"a", 12}, {"t", 18}, {"d", 17}})
                 .type(41, "test.Outer", {{"inner", 40}, {"f", 16}, {"c", 13}, {"tree", 41, false, true}})
                 .type(50, "test.Nested", {{"first", 41}, {"keys", 18, true, true}}, "jdk.jfr.Event")
                 .event(50, {1, 4, 2, 65, 66, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 0, 2, 7, 8})
                 .constants(1, {18, 2, 7, 3, 1, 'p', 8, 5, 1, 0xe4})
                 .bytes());
}

std::string dump(const std::string& path) {
  auto recording = Recording::open(path);
  EXPECT_TRUE(recording.ok());
  if (!recording.ok()) return {};
  Collect collect;
  auto summary = (*recording)->read(collect);
  EXPECT_TRUE(summary.ok());
  if (!summary.ok()) return {};
  EXPECT_THAT(summary->problems, testing::IsEmpty());
  std::string text = "chunks " + std::to_string(summary->chunks) + "\n";
  for (const std::string& line : collect.lines) text += line + "\n";
  return text;
}

TEST(Golden, ARecordingOfEveryEventTypeReadsAsItDidWhenItWasWritten) {
  const std::string recording = kFolder + "all-events.jfr";
  const std::string expected = kFolder + "all-events.txt";
  if (getenv("TARSIER_UPDATE_GOLDEN")) {
    write_golden(recording);
    write_corpus(recording);
    std::ofstream(expected) << dump(recording);
  }
  std::ifstream in(expected);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(dump(recording), text);
}

TEST(Golden, TheFuzzCorpusIsReadWithoutACrash) {
  for (const char* name : {"all-events.jfr", "empty-chunk.jfr", "structs-and-strings.jfr", "cut.jfr"}) {
    auto recording = Recording::open(kFolder + name);
    ASSERT_TRUE(recording.ok()) << name;
    Collect collect;
    EXPECT_TRUE((*recording)->read(collect).ok()) << name;
  }
}

}  // namespace
}  // namespace tarsier::recording
