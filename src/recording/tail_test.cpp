#include "recording/tail.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording/test_recording.h"

namespace tarsier::recording {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const std::vector<std::string> kSamples = {"jdk.ExecutionSample"};

// `count` times sample `n`.
void write_and_flush(Writer& writer, int n, int count) {
  for (int i = 0; i < count; ++i) write_sample(writer, n);
  ASSERT_TRUE(writer.flush().ok());
}

// As the live view does.
void free_passed(Tail& tail, const TempFile& file) {
  const unique_fd fd(::open(file.path().c_str(), O_RDWR));
  constexpr uint64_t kPage = 4096;
  for (const ByteRange& range : tail.take_passed()) {
    const uint64_t begin = (range.begin + kPage - 1) / kPage * kPage, end = range.end / kPage * kPage;
    if (begin >= end) continue;
    ASSERT_EQ(::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                          static_cast<off_t>(end - begin)),
              0);
  }
}

TEST(Tail, each_look_has_what_was_flushed_since_the_last) {
  TempFile file;
  auto writer = open_writer(file);
  Tail tail(file.path());
  for (int look = 0; look < 3; ++look) {
    write_and_flush(*writer, look, 100);
    Collect collect(kSamples);
    ASSERT_TRUE(tail.look(collect).ok());
    ASSERT_THAT(collect.lines, SizeIs(100)) << look;
    EXPECT_THAT(collect.lines.front(), HasSubstr("Work.method" + std::to_string(look) + "("));
    free_passed(tail, file);
  }
  EXPECT_EQ(tail.skipped(), 0u);
}

TEST(Tail, of_more_than_it_may_read_at_a_look_the_older_events_are_skipped_and_counted) {
  TempFile file;
  auto writer = open_writer(file);
  Tail tail(file.path(), 2 << 20);
  write_and_flush(*writer, 0, 199'999);
  write_and_flush(*writer, 5, 1);
  Collect newest(kSamples);
  ASSERT_TRUE(tail.look(newest).ok());
  ASSERT_GT(newest.lines.size(), 10'000u);
  EXPECT_EQ(newest.lines.size() + tail.skipped(), 200'000u);
  EXPECT_GT(tail.skipped(), 10'000u);
  EXPECT_THAT(newest.lines.back(), HasSubstr("Work.method5("));

  // What was skipped is passed as well; and it goes on as if nothing had been.
  free_passed(tail, file);
  const uint64_t skipped = tail.skipped();
  write_and_flush(*writer, 1, 10);
  Collect next(kSamples);
  ASSERT_TRUE(tail.look(next).ok());
  EXPECT_THAT(next.lines, SizeIs(10));
  EXPECT_EQ(tail.skipped(), skipped);
}

TEST(Tail, a_writer_waits_for_a_reader_that_is_too_far_behind_and_counts_what_it_did_not_write) {
  TempFile file;
  Writer::Options options;
  options.most_on_disk = Bytes(8 << 20);
  auto writer = open_writer(file, std::move(options));
  uint64_t written = 0;
  while (writer->unread_events() == 0 && written < 10'000'000) {
    write_and_flush(*writer, 0, 10'000);
    written += 10'000;
  }
  ASSERT_GT(writer->unread_events(), 0u);
  const Bytes size = writer->bytes_written();
  EXPECT_LT(size, Bytes(16 << 20));
  // A stack that nobody used before: what it is is wanted later.
  for (int i = 0; i < 100; ++i) write_and_flush(*writer, 6, 1000);
  written += 100'000;
  EXPECT_EQ(writer->bytes_written(), size);
  EXPECT_EQ(writer->lost_events(), 0u);

  Tail tail(file.path());
  Collect collect(kSamples);
  ASSERT_TRUE(tail.look(collect).ok());
  EXPECT_EQ(collect.lines.size() + writer->unread_events(Event::kExecutionSample), written);
  free_passed(tail, file);
  const uint64_t unread = writer->unread_events();
  write_and_flush(*writer, 6, 7);
  Collect next(kSamples);
  ASSERT_TRUE(tail.look(next).ok());
  EXPECT_THAT(next.lines, SizeIs(7));
  EXPECT_THAT(next.lines[0], HasSubstr("com/example/Work.method6("));
  EXPECT_EQ(writer->unread_events(), unread);
}

}  // namespace
}  // namespace tarsier::recording
