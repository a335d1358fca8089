#include "export/flame_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "analysis/model_maker.h"
#include "export/flame_data.h"
#include "export/flame_model_for_test.h"
#include "export/html.h"

namespace tarsier::exporting {
namespace {

using analysis::FrameType;
using analysis::Per;

// "thread: name self before samples, ..." by thread.
std::string drawn(const FlameTree& tree) {
  std::string text;
  size_t next = 0;
  for (const FlameThread& thread : tree.threads) {
    text += tree.names[thread.name] + "\n";
    for (uint32_t i = 0; i < thread.nodes; ++i) {
      const FlameNode& node = tree.nodes.at(next++);
      text += std::string(2 * (node.depth + 1), ' ') + tree.names[node.name] + " " + std::to_string(node.self_ns) +
              " " + std::to_string(node.before_ns) + " " + std::to_string(node.samples) + "\n";
    }
  }
  return text;
}

FlameTree tree_of(const analysis::Model& model) {
  auto tree = build_flame_tree(model);
  EXPECT_TRUE(tree.ok());
  return tree.ok() ? *std::move(tree) : FlameTree{};
}

TEST(FlameDifference, has_the_nodes_of_both_by_thread_and_stable_name) {
  ModelForTest before, after;
  const auto add = [](ModelForTest& model, const char* thread, const char* lambda, int64_t weight) {
    const auto outer = model.frame({}, "A.run", FrameType::kC2, 1);
    model.sample(model.thread(thread), model.frame(outer, lambda, FrameType::kC2, 2), weight);
  };
  add(before, "main", "A$$Lambda$7/0x0800c03000.run", 100);
  add(before, "old", "A.gone", 10);
  add(after, "main", "A$$Lambda+0x00007f1a.run", 300);
  add(after, "fresh", "A.fresh", 20);
  EXPECT_EQ(drawn(join_flame_trees(tree_of(after.model), tree_of(before.model), 2)),
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
}

TEST(FlameDifference, scales_by_length_or_weight_or_not_at_all) {
  analysis::ModelMaker before, after;
  before.sample(before.thread("main"), "a", 100);
  after.sample(after.thread("main"), "a", 300);
  before.model.duration = seconds(10);
  after.model.duration = seconds(20);
  EXPECT_DOUBLE_EQ(scale_of(before.model, after.model, Per::kSecond), 2);
  EXPECT_DOUBLE_EQ(scale_of(before.model, after.model, Per::kRun), 1);
  EXPECT_DOUBLE_EQ(scale_of(before.model, after.model, Per::kShare), 3);
}

TEST(FlameDifference, only_adds_to_the_data_of_a_single_recording) {
  const FlameTree single = tree_of(known_model());
  FlameTree compared = single;
  compared.compared = true;
  compared.nodes[2].before_ns = 5;
  compared.nodes[4].before_ns = 300;
  // Two nodes: 2 - -1 = 3 and 5; 4 - 2 = 2 and 300 as a varint.
  EXPECT_EQ(encode_flame_tree(compared), encode_flame_tree(single) + "\x02\x03\x05\x02\xac\x02");
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
