#include "recording/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <csignal>

#include "recording/chunk_header.h"
#include "recording/decode.h"
#include "recording/mapped_file.h"
#include "recording/test_recording.h"

namespace tarsier::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<uint8_t> small_recording(int flushes, Bytes chunk_size = Bytes(256 << 20)) {
  TempFile file;
  Writer::Options options;
  options.chunk_size = chunk_size;
  auto writer = open_writer(file, options);
  for (int i = 0; i < flushes; ++i) {
    for (int j = 0; j < 10; ++j) write_sample(*writer, i * 10 + j);
    EXPECT_TRUE(writer->flush().ok());
  }
  EXPECT_TRUE(writer->finish().ok());
  return file.content();
}

std::vector<uint8_t> concat(std::initializer_list<std::vector<uint8_t>> parts) {
  std::vector<uint8_t> out;
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

TEST(Reader, DecodesEveryPrimitiveType) {
  const auto bytes = HandMadeChunk()
                         .primitives()
                         .type(50, "test.All",
                               {{"z", 10}, {"b", 11}, {"s", 12}, {"c", 13}, {"i", 14}, {"j", 15}, {"f", 16}, {"d", 17}},
                               "jdk.jfr.Event")
                         .event(50, concat({{1, 0xff},
                                            {0xfe, 0xff, 0x03},              // short -2
                                            {0xff, 0xff, 0x03},              // char 65535
                                            {0xff, 0xff, 0xff, 0xff, 0x0f},  // int -1, as an unsigned int
                                            {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},  // long -1
                                            {0x3f, 0x80, 0, 0},
                                            {0xc0, 0, 0, 0, 0, 0, 0, 0}}))
                         .bytes();
  Collect collect;
  ASSERT_TRUE(read_all(bytes, collect).ok());
  EXPECT_THAT(collect.lines, ElementsAre("test.All z=1 b=-1 s=-2 c=65535 i=-1 j=-1 f=1.000000 d=-2.000000"));
}

TEST(Reader, DecodesStringsInAllSixEncodings) {
  const auto bytes = HandMadeChunk()
                         .primitives()
                         .type(50, "test.Text", {{"s", 18}}, "jdk.jfr.Event")
                         .event(50, {0})
                         .event(50, {1})
                         .event(50, {2, 7})
                         .event(50, {3, 3, 'a', 0xc3, 0xa4})
                         .event(50, {4, 3, 'x', 0xbd, 0xb0, 0x03, 0x80, 0xb8, 0x03})  // x and a pair of surrogates
                         .event(50, {5, 2, 'b', 0xe4})
                         .event(50, {4, 1, 0xbd, 0xb0, 0x03})  // half a pair
                         .event(50, {3, 2, 0xff, 'y'})         // no UTF-8
                         .constants(1, {18, 1, 7, 3, 6, 'p', 'o', 'o', 'l', 'e', 'd'})
                         .bytes();
  Collect collect;
  ASSERT_TRUE(read_all(bytes, collect).ok());
  EXPECT_THAT(collect.lines, ElementsAre("test.Text s=", "test.Text s=", "test.Text s=pooled", "test.Text s=a\u00e4",
                                         "test.Text s=x\U0001F400", "test.Text s=b\u00e4", "test.Text s=\ufffd",
                                         "test.Text s=\ufffdy"));
}

TEST(Reader, OpensStructsAndSkipsArrays) {
  const auto bytes =
      HandMadeChunk()
          .primitives()
          .type(40, "test.Inner", {{"a", 14}, {"t", 18}})
          .type(41, "test.Outer", {{"inner", 40}, {"b", 14}})
          .type(50, "test.Nested", {{"first", 41}, {"list", 40, false, true}, {"keys", 40, true, true}, {"last", 14}},
                "jdk.jfr.Event")
          .event(50, {1, 3, 1, 'x', 2, /*list*/ 2, 5, 1, 6, 0, /*keys*/ 3, 1, 2, 3, 9})
          .bytes();
  struct Fields final : Visitor {
    void chunk(Chunk& chunk) override { chunk.select(chunk.type("test.Nested")); }
    void event(const Chunk& chunk, const EventView& event) override {
      const TypeIndex type = event.type();
      EXPECT_EQ(event.number(chunk.field(type, "first.inner.a")), 1);
      EXPECT_EQ(event.string(chunk.field(type, "first.inner.t")), "x");
      EXPECT_EQ(event.number(chunk.field(type, "first.b")), 2);
      EXPECT_EQ(event.number(chunk.field(type, "last")), 9);
      EXPECT_FALSE(chunk.field(type, "a"));
      EXPECT_FALSE(chunk.field(type, "irst.b"));
      EXPECT_EQ(event.number(chunk.field(type, "list")), 0);
      EXPECT_EQ(event.string(chunk.field(type, "last")), "");
      EXPECT_EQ(event.constant(FieldIndex{}), ConstantKey{});
      ++events;
    }
    int events = 0;
  } visitor;
  ASSERT_TRUE(read_all(bytes, visitor).ok());
  EXPECT_EQ(visitor.events, 1);
}

TEST(Reader, GivesArraysOfBytesAsTheyAre) {
  const auto bytes = HandMadeChunk()
                         .primitives()
                         .type(50, "test.Binary", {{"list", 11, false, true}, {"last", 14}}, "jdk.jfr.Event")
                         .event(50, {3, 'a', 'b', 'c', 9})
                         .event(50, {0, 8})
                         .event(50, {100, 'a', 'b', 'c', 9})  // more than there is
                         .bytes();
  Collect collect;
  ASSERT_TRUE(read_all(bytes, collect).ok());
  EXPECT_THAT(collect.lines, ElementsAre("test.Binary list=abc last=9", "test.Binary list= last=8"));
}

TEST(Reader, OnlySelectedTypesAreVisitedAndUnknownOnesSkipped) {
  const auto bytes = HandMadeChunk()
                         .primitives()
                         .type(50, "test.Wanted", {{"i", 14}}, "jdk.jfr.Event")
                         .type(70000, "test.LargeId", {{"i", 14}}, "jdk.jfr.Event")
                         .type(51, "test.Other", {{"i", 14}}, "jdk.jfr.Event")
                         .event(50, {1})
                         .event(51, {2})
                         .event(99, {1, 2, 3})
                         .event(70000, {3})
                         .bytes();
  Collect collect({"test.Wanted", "test.LargeId", "test.Missing"});
  auto summary = read_all(bytes, collect);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(collect.lines, ElementsAre("test.Wanted i=1", "test.LargeId i=3"));
  EXPECT_EQ(summary->events, 4u);
  EXPECT_EQ(summary->events_visited, 2u);
  EXPECT_THAT(summary->problems, IsEmpty());
}

TEST(Reader, RecursiveTypesAreNotFollowedForEver) {
  const auto bytes = HandMadeChunk()
                         .primitives()
                         .type(40, "test.Self", {{"self", 40}, {"i", 14}})
                         .type(41, "test.Tree", {{"i", 14}, {"children", 41, false, true}})
                         .type(50, "test.Endless", {{"s", 40}}, "jdk.jfr.Event")
                         .type(51, "test.Deep", {{"t", 41}, {"after", 14}}, "jdk.jfr.Event")
                         .event(50, {1, 2, 3})
                         .event(51, {7, 2, /**/ 8, 0, /**/ 9, 1, /**/ 10, 0, 42})
                         .event(51, std::vector<uint8_t>(200, 1))
                         .bytes();
  Collect collect;
  auto summary = read_all(bytes, collect);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(collect.lines, ElementsAre("test.Deep i=7 children= after=42"));
  EXPECT_EQ(summary->damaged_chunks, 1u);
  EXPECT_THAT(summary->problems, testing::Contains(HasSubstr("test.Endless")));
}

TEST(Reader, TypesThatExplodeAreRefused) {
  HandMadeChunk chunk;
  chunk.primitives();
  // 10 structs of 10 structs of ...: 10^8 fields.
  for (int level = 0; level < 8; ++level) {
    std::vector<HandMadeChunk::Field> fields;
    for (int i = 0; i < 10; ++i) fields.push_back({"f", level == 0 ? 14 : 100 + level - 1});
    chunk.type(100 + level, "test.Level", fields);
  }
  chunk.type(50, "test.Bomb", {{"bomb", 107}}, "jdk.jfr.Event").event(50, {1});
  Collect collect;
  const auto bytes = chunk.bytes();
  ASSERT_TRUE(read_all(bytes, collect).ok());
  EXPECT_THAT(collect.lines, IsEmpty());
}

TEST(Reader, HugeCountsInASmallFileAreDamageNotMemory) {
  const std::vector<uint8_t> huge = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
  const auto bytes = HandMadeChunk()
                         .primitives()
                         .type(40, "test.Empty")
                         .type(50, "test.Text", {{"s", 18}}, "jdk.jfr.Event")
                         .type(51, "test.Array", {{"a", 14, false, true}}, "jdk.jfr.Event")
                         .type(52, "test.Nothings", {{"a", 40, false, true}, {"i", 14}}, "jdk.jfr.Event")
                         .event(50, concat({{3}, huge}))
                         .event(50, concat({{4}, huge}))
                         .event(51, huge)
                         .event(52, concat({huge, {5}}))  // elements of no size: allowed, and quick
                         .constants(1, concat({{18}, huge}))
                         .bytes();
  Collect collect;
  auto summary = read_all(bytes, collect);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(collect.lines, ElementsAre("test.Nothings a= i=5"));
  EXPECT_THAT(summary->problems, testing::Contains(HasSubstr("3 events are not as the file describes them")));
  EXPECT_THAT(summary->problems, testing::Contains(HasSubstr("constants are lost")));
}

TEST(Reader, AChainOfConstantsThatLeadsOutOfTheFileIsDamage) {
  for (const int64_t delta : {INT64_MIN, INT64_MIN + 1, int64_t{-100'000}, int64_t{-1}, int64_t{1}, INT64_MAX}) {
    HandMadeChunk chunk;
    chunk.delta_of_constants = delta;
    const auto bytes = chunk.primitives().type(50, "test.T", {{"i", 14}}, "jdk.jfr.Event").event(50, {5}).bytes();
    Collect collect;
    auto summary = read_all(bytes, collect);
    ASSERT_TRUE(summary.ok());
    EXPECT_THAT(collect.lines, ElementsAre("test.T i=5"));
    EXPECT_THAT(summary->problems, ElementsAre(HasSubstr("constants are lost"))) << delta;
  }
}

TEST(Reader, ConvertsTicks) {
  HandMadeChunk chunk;
  chunk.ticks_per_second = 1000;
  chunk.primitives().type(50, "test.T", {{"startTime", 15}}, "jdk.jfr.Event").event(50, {5});
  auto bytes = chunk.bytes();
  put_be(bytes.data() + kStartNanosAt, 1'000'000'000'000, 8);
  put_be(bytes.data() + kStartTicksAt, 2, 8);
  Collect collect;
  ASSERT_TRUE(read_all(bytes, collect).ok());
  EXPECT_THAT(collect.starts, ElementsAre(5));  // no annotation says that these are ticks
  EXPECT_EQ(ChunkHeader::parse(bytes)->epoch_of(5).count, 1'000'003'000'000);
  EXPECT_EQ(ChunkHeader::parse(bytes)->span_of(INT64_MIN).count, static_cast<int64_t>(-9.2e18));
}

TEST(Reader, FilesThatAreNoRecordingsAreNamedAsSuch) {
  Collect collect;
  EXPECT_THAT(read_all(std::vector<uint8_t>{'P', 'K', 3, 4, 5}, collect).error().what,
              HasSubstr("not a JFR recording"));
  EXPECT_THAT(read_all(std::vector<uint8_t>{'F', 'L', 'R', 0, 0}, collect).error().what, HasSubstr("header"));
  EXPECT_FALSE(read_all({}, collect).ok());
  EXPECT_THAT(Recording::open("/nonexistent/file.jfr").error().what, HasSubstr("/nonexistent/file.jfr"));
  EXPECT_THAT(Recording::open("/tmp").error().what, HasSubstr("not a regular file"));
}

TEST(Reader, IntactChunksAroundADamagedOneAreRead) {
  const std::vector<uint8_t> good = small_recording(2);
  std::vector<uint8_t> bad = good;
  std::fill(bad.begin() + kHeaderSize, bad.begin() + 2000, 0xa5);  // its metadata
  const auto bytes = concat({good, bad, good});
  Collect collect;
  auto summary = read_all(bytes, collect);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(collect.lines, SizeIs(40));
  EXPECT_EQ(summary->chunks, 2u);
  EXPECT_EQ(summary->damaged_chunks, 1u);
  EXPECT_THAT(summary->problems, ElementsAre(HasSubstr("chunk 2 at byte " + std::to_string(good.size()))));
}

TEST(Reader, FindsTheNextChunkAfterGarbageAndAfterAWrongSize) {
  const std::vector<uint8_t> good = small_recording(2);
  std::vector<uint8_t> wrong_size = good;
  put_be(wrong_size.data() + kChunkSizeAt, UINT64_MAX, 8);
  const auto bytes = concat({good, {'j', 'u', 'n', 'k', 'F', 'L', 'R', 0, 9}, wrong_size, good, {0, 0, 0, 0}});
  Collect collect;
  auto summary = read_all(bytes, collect);
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(collect.lines, SizeIs(60));
  EXPECT_THAT(summary->problems, ElementsAre(HasSubstr("9 bytes were skipped"), HasSubstr("should be"),
                                             HasSubstr("4 bytes were skipped")));
}

TEST(Reader, AFileCutAnywhereIsReadAsFarAsItGoes) {
  const std::vector<uint8_t> whole = small_recording(6);
  Collect all;
  ASSERT_TRUE(read_all(whole, all).ok());
  ASSERT_THAT(all.lines, SizeIs(60));
  size_t most = 0, readable = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    // A copy of its own, so that the sanitizer sees every byte read behind the end.
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
    Collect collect;
    auto summary = read_all(cut, collect);
    if (!summary.ok()) continue;
    ++readable;
    ASSERT_THAT(summary->problems, testing::Not(IsEmpty())) << length;
    ASSERT_GE(collect.lines.size(), most) << length;
    most = collect.lines.size();
    // Events are there as they were, but for constants that came later.
    for (size_t i = 0; i < most; ++i) {
      ASSERT_EQ(collect.lines[i].substr(0, 19), all.lines[i].substr(0, 19)) << length;
    }
  }
  EXPECT_EQ(most, 60u);
  EXPECT_GT(readable, 1000u);
}

TEST(Reader, FlippedBitsNeverCrashIt) {
  const std::vector<uint8_t> whole = small_recording(3);
  std::mt19937 random(1);
  for (int round = 0; round < 5'000; ++round) {
    std::vector<uint8_t> bad = whole;
    for (int flips = 1 + round % 3; flips > 0; --flips) {
      // The header and what follows the metadata are most of the logic.
      const size_t at = round % 4 == 0 ? random() % 68 : random() % bad.size();
      bad[at] = static_cast<uint8_t>(bad[at] ^ 1u << random() % 8);
    }
    Collect collect;
    (void)read_all(bad, collect);
  }
}

TEST(Reader, AFileThatGetsShorterWhileReadIsReadAsFarAsItWent) {
  TempFile file;
  Writer::Options options;
  options.chunk_size = Bytes(100 << 10);
  auto writer = open_writer(file, options);
  for (int i = 0; i < 50'000; ++i) write_sample(*writer, i);
  ASSERT_TRUE(writer->finish().ok());
  auto recording = Recording::open(file.path());
  ASSERT_TRUE(recording.ok());
  struct Cutting final : Visitor {
    void chunk(Chunk& chunk) override { chunk.select(chunk.type("jdk.ExecutionSample")); }
    void event(const Chunk&, const EventView&) override {
      if (++events == 1000) {
        ASSERT_EQ(truncate(path.c_str(), 200000), 0);
      }
    }
    explicit Cutting(std::string p) : path(std::move(p)) {}
    std::string path;
    int events = 0;
  } visitor(file.path());
  auto summary = (*recording)->read(visitor);
  ASSERT_TRUE(summary.ok());
  EXPECT_GE(visitor.events, 1000);
  EXPECT_LT(visitor.events, 50'000);
  EXPECT_THAT(summary->problems, testing::Contains(HasSubstr("became shorter")));
}

TEST(MappedFile, LeavesTheBusHandlerAsItWas) {
  struct sigaction before {
  }, after{};
  sigaction(SIGBUS, nullptr, &before);
  {
    TempFile file;
    ASSERT_EQ(write(file.fd(), "x", 1), 1);
    auto one = MappedFile::open(file.path());
    auto two = MappedFile::open(file.path());
    ASSERT_TRUE(one.ok() && two.ok());
    EXPECT_FALSE(one->was_cut());
  }
  sigaction(SIGBUS, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(Decode, FastAndSlowVarintsAgree) {
  std::mt19937_64 random(7);
  std::vector<uint8_t> bytes;
  std::vector<uint64_t> values;
  for (int i = 0; i < 5000; ++i) {
    values.push_back(random() >> random() % 64);
    uint8_t encoded[kMaxVarint];
    const size_t n = put_varint(encoded, values.back());
    bytes.insert(bytes.end(), encoded, encoded + n);
  }
  const uint8_t* p = bytes.data();
  const uint8_t* const end = p + bytes.size();
  std::vector<const uint8_t*> positions;
  for (const uint64_t expected : values) {
    positions.push_back(p);
    uint64_t value = 0;
    p = fast_varint(p, end, value);
    ASSERT_NE(p, nullptr);
    ASSERT_EQ(value, expected);
  }
  positions.push_back(p);
  EXPECT_EQ(p, end);
  for (size_t from = 0; from < values.size(); from += 17) {
    for (const size_t count : {0, 1, 7, 8, 9, 100}) {
      if (from + count > values.size()) continue;
      ASSERT_EQ(skip_varints(positions[from], end, count), positions[from + count]);
    }
  }
  EXPECT_EQ(skip_varints(bytes.data(), end, values.size() + 1), nullptr);
}

}  // namespace
}  // namespace tarsier::recording
