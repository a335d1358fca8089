#include "replay/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/test_source.h"
#include "replay/corpus.h"
#include "replay/selection.h"

namespace tarsier::replay {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(test_source("tests/fixtures/fragments"))) {
    if (entry.path().extension() == ".zst") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Corpus, every_fragment_is_decoded_as_ever) {
  for (const fs::path& file : corpus()) {
    size_t number = 0;
    const auto summary = replay_file(file, [&](const Replayed& one) {
      ++number;
      EXPECT_TRUE(one.same()) << file.filename() << ", fragment " << number << "\n"
                              << difference(one.fragment.result, one.result);
    });
    ASSERT_TRUE(summary) << summary.error().what;
    EXPECT_TRUE(summary->problems.empty()) << file;
  }
}

TEST(Corpus, has_fragments_of_every_kind) {
  size_t fragments = 0;
  std::map<std::string, size_t> kinds;
  for (const fs::path& file : corpus()) {
    const auto summary = replay_file(file, [&](const Replayed& one) {
      ++fragments;
      const std::string first = one.result.substr(0, one.result.find('\n'));
      ++kinds[std::string(one.jvm.machine->name())];
      ++kinds["JDK " + std::to_string(one.jvm.release)];
      ++kinds[first.substr(0, first.find(','))];
      const size_t start = first.find("started by: ");
      ++kinds[first.substr(start, first.find(", ", start) - start)];
      if (first.find("virtual thread") != std::string::npos) ++kinds["virtual thread"];
      if (one.fragment.fragment().frozen_bytes > 0) ++kinds["frozen frames"];
      if (one.result.find("called by the JVM") != std::string::npos) ++kinds["called by the JVM"];
    });
    ASSERT_TRUE(summary);
  }
  EXPECT_GE(fragments, 200u);
  for (const char* kind :
       {"aarch64", "x86_64", "JDK 8", "JDK 11", "JDK 17", "JDK 21", "JDK 25", "complete", "fragment too short",
        "started by: plain", "started by: anchor", "started by: half-built frame", "started by: adapter",
        "started by: stub", "started by: native leaf", "virtual thread", "frozen frames", "called by the JVM"}) {
    EXPECT_GT(kinds[kind], 0u) << kind;
  }
}

TEST(Replay, what_was_not_saved_can_not_be_read) {
  const std::vector<fs::path> files = corpus();
  ASSERT_FALSE(files.empty());
  size_t without = 0;
  const auto summary = replay_file(files[0], [&](const Replayed& one) {
    const saved::SavedMemory nothing;
    if (decode(nothing, one.jvm, one.fragment).starts_with("can't be decoded")) ++without;
  });
  ASSERT_TRUE(summary);
  EXPECT_EQ(without, summary->fragments);
}

TEST(Replay, says_what_is_wrong_with_a_file) {
  const auto error_of = [](const std::string& path) {
    const auto summary = replay_file(path, [](const Replayed&) {});
    return summary ? "" : summary.error().what;
  };
  EXPECT_NE(error_of("/nonexistent.jfr").find("/nonexistent.jfr"), std::string::npos);
  const fs::path empty = fs::path(testing::TempDir()) / "empty.jfr";
  std::ofstream(empty) << "no recording";
  EXPECT_NE(error_of(empty), "");
  EXPECT_NE(error_of(test_source("tests/fixtures/recording/empty-chunk.jfr")).find("no saved fragments"),
            std::string::npos);
  // Each of its fields has its own name for a value.
  EXPECT_NE(error_of(test_source("tests/fixtures/recording/all-events.jfr")).find("ran on 'architecture'"),
            std::string::npos);
}

TEST(Replay, writes_few_of_many_that_are_decoded_the_same) {
  const std::vector<fs::path> files = corpus();
  ASSERT_FALSE(files.empty());
  for (const char* name : {"few.jfr", "few.jfr.zst"}) {
    const fs::path out = fs::path(testing::TempDir()) / name;
    const auto kept = write_corpus(files[0], out, {.most = 2});
    ASSERT_TRUE(kept) << kept.error().what;
    EXPECT_EQ(kept->fragments, 2u);
    const auto summary = replay_file(out, [](const Replayed&) {});
    ASSERT_TRUE(summary) << summary.error().what;
    EXPECT_EQ(summary->fragments, 2u);
    EXPECT_EQ(summary->different, 0u);
    EXPECT_FALSE(write_corpus(out, out, {.only = 3}));
    ASSERT_TRUE(write_corpus(out, out, {.only = 2}));
    EXPECT_EQ(replay_file(out, [](const Replayed&) {})->fragments, 1u);
    fs::remove(out);
  }
}

TEST(Difference, shows_the_lines_that_are_not_the_same) {
  EXPECT_EQ(difference("a\nb\nc\nd", "a\nx\ny\nd"), "  (1 lines are the same)\n- b\n- c\n+ x\n+ y\n");
  EXPECT_EQ(difference("a", "a\nb"), "  (1 lines are the same)\n+ b\n");
  EXPECT_EQ(difference("", "b"), "- \n+ b\n");
}

TEST(Selection, takes_those_that_show_something_new_first_and_cheap_ones) {
  const std::string c2 = "complete, started by: plain, read up to 1\nc2 A.a()V\ncalls: ";
  const std::string other = "complete, started by: anchor, read up to 2\ninterpreted A.a()V\ncalls: ";
  const std::vector<Candidate> candidates = {{c2, 10}, {c2, 5}, {c2, 7}, {other, 100}};
  EXPECT_EQ(select(candidates, 2), (std::vector<size_t>{1, 3}));
  EXPECT_EQ(select(candidates, 3), (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(select(candidates, 9), (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(select({}, 9), std::vector<size_t>());
}

}  // namespace
}  // namespace tarsier::replay
