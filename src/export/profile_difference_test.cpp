#include "export/profile_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "analysis/model_maker.h"
#include "export/columns_for_test.h"
#include "export/html.h"
#include "export/page_model_for_test.h"

namespace tarsier::exporting {
namespace {

using analysis::FrameType;
using analysis::Per;
using analysis::Profile;

// A line for each node, "  name self before samples", by thread.
std::string drawn(const ProfileTree& tree, const PageThreads& threads) {
  std::string text;
  size_t next = 0;
  for (const TreeThread& thread : tree.threads) {
    text += threads[thread.row].name + "\n";
    for (uint32_t i = 0; i < thread.nodes; ++i) {
      const TreeNode& node = tree.nodes.at(next++);
      text += std::string(2 * (node.depth + 1), ' ') + tree.names[node.name] + " " + std::to_string(node.self) + " " +
              std::to_string(node.before) + " " + std::to_string(node.samples) + "\n";
    }
  }
  return text;
}

ProfileTree tree_of(const analysis::Model& model, const PageThreads& threads) {
  const auto stacks = FoldedStacks::make(model);
  auto tree = build_profile_tree(model, Profile::kCpu, *stacks, threads, nullptr);
  EXPECT_TRUE(tree.ok());
  return tree.ok() ? *std::move(tree) : ProfileTree{};
}

TEST(ProfileDifference, has_the_nodes_of_both_by_thread_and_stable_name) {
  ModelForTest before, after;
  const auto add = [](ModelForTest& model, const char* thread, const char* lambda, int64_t weight) {
    const auto outer = model.frame({}, "A.run", FrameType::kC2, 1);
    model.sample(model.thread(thread), model.frame(outer, lambda, FrameType::kC2, 2), weight);
  };
  add(before, "main", "A$$Lambda$7/0x0800c03000.run", 100);
  add(before, "old", "A.gone", 10);
  add(after, "main", "A$$Lambda+0x00007f1a.run", 300);
  add(after, "fresh", "A.fresh", 20);
  PageThreads threads(after.model);
  const PageThreads threads_before(before.model);
  const ProfileTree joined =
      join_trees(tree_of(after.model, threads), threads, tree_of(before.model, threads_before), threads_before, 2);
  EXPECT_EQ(drawn(joined, threads),
            "main\n"
            "  A.run 0 0 0\n"
            "    A$$Lambda.run 300 0 1\n"
            "  A.run 0 0 0\n"
            "    A$$Lambda.run 0 200 1\n"
            "fresh\n"
            "  A.run 0 0 0\n"
            "    A.fresh 20 0 1\n"
            "old\n"
            "  A.run 0 0 0\n"
            "    A.gone 0 20 1\n");
  EXPECT_EQ(threads.size(), 3u);
  const ColumnsForTest columns(encode_profile_tree(joined, 10));
  EXPECT_THAT(columns.numbers("before"), testing::ElementsAre(0, 0, 0, 200, 0, 0, 0, 20));
  EXPECT_FALSE(columns.has("moment_rows"));
}

TEST(ProfileDifference, scales_by_length_or_weight_or_not_at_all) {
  analysis::ModelMaker before, after;
  before.sample(before.thread("main"), "a", 100);
  after.sample(after.thread("main"), "a", 300);
  before.model.duration = seconds(10);
  after.model.duration = seconds(20);
  EXPECT_DOUBLE_EQ(scale_of(before.model, after.model, Profile::kCpu, Per::kSecond), 2);
  EXPECT_DOUBLE_EQ(scale_of(before.model, after.model, Profile::kCpu, Per::kRun), 1);
  EXPECT_DOUBLE_EQ(scale_of(before.model, after.model, Profile::kCpu, Per::kShare), 3);
}

TEST(PagePartsAgainst, have_the_profiles_of_both) {
  analysis::ModelMaker before, after;
  for (analysis::ModelMaker* each : {&before, &after}) each->sample(each->thread("main"), "a", 300);
  const auto add = [](analysis::ModelMaker& model, Profile profile) {
    const analysis::Sample sample = model.model.samples[0];
    model.model.others[static_cast<size_t>(profile)].push_back(sample);
  };
  add(before, Profile::kAlloc);
  add(after, Profile::kAlloc);
  add(after, Profile::kWall);
  const auto parts = PageParts::make_against(after.model, before.model, Per::kSecond, "title");
  ASSERT_TRUE(parts.ok());
  std::vector<std::string> names;
  for (const PagePart& part : *parts) names.push_back(part.name);
  EXPECT_THAT(names, testing::ElementsAre("head", "profile-alloc", "profile-cpu", "threads"));
  EXPECT_THAT(parts->front().bytes, testing::HasSubstr("\"against\":{"));
}

TEST(HtmlAgainst, needs_two_recordings_that_can_be_compared) {
  analysis::ModelMaker before, after;
  after.sample(after.thread("main"), "a", 300);
  std::ostringstream out;
  EXPECT_FALSE(export_html_against(after.model, before.model, Per::kSecond, "title", out).ok());
  EXPECT_EQ(out.str(), "");
  before.sample(before.thread("main"), "a", 300);
  EXPECT_TRUE(export_html_against(after.model, before.model, Per::kSecond, "title", out).ok());
}

}  // namespace
}  // namespace tarsier::exporting
