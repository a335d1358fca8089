// Trees by hand, with what comes out worked out on paper.
#include "analysis/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/joint_tree.h"
#include "analysis/model_maker.h"

namespace tarsier::analysis {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

struct Row {
  const char* stack;
  int64_t weight;
};
using Rows = std::vector<Row>;

JointTree joined(const std::vector<Rows>& recordings) {
  std::vector<Model> models;
  for (const Rows& rows : recordings) {
    ModelMaker maker;
    const ThreadIndex thread = maker.thread("main");
    for (const Row& row : rows) maker.sample(thread, row.stack, row.weight);
    models.push_back(std::move(maker.model));
  }
  return join_trees(models);
}

std::optional<double> overlap_of(const Rows& a, const Rows& b) {
  const JointTree tree = joined({a, b});
  const auto there = overlap(tree.self[0], tree.self[1]);
  EXPECT_EQ(there, overlap(tree.self[1], tree.self[0])) << "it is symmetric";
  return there;
}

// Of b's hot edges by a's.
std::optional<double> coverage_of(const Rows& a, const Rows& b, double threshold) {
  const JointTree tree = joined({a, b});
  return hot_edge_coverage(tree.self[0], tree.self[1], threshold);
}

auto is(double value) {
  return Optional(DoubleNear(value, 1e-12));
}

// The example of the thesis, figure 3.1: six samples, one with a alone, and u called from a and from b.
const Rows kExample = {{"a;b;c", 1}, {"a;u", 2}, {"a;b;u;v", 1}, {"a;b;u", 1}, {"a", 1}};

TEST(Overlap, of_a_tree_with_itself_is_1) {
  EXPECT_THAT(overlap_of(kExample, kExample), is(1));
  EXPECT_THAT(overlap_of({{"a", 3}}, {{"a", 3}}), is(1));
}

TEST(Overlap, of_a_scaled_tree_is_1) {
  EXPECT_THAT(overlap_of({{"a;b", 1}, {"a;c", 2}}, {{"a;b", 1'000'000'007}, {"a;c", 2'000'000'014}}), is(1));
}

TEST(Overlap, of_disjoint_trees_is_0) {
  EXPECT_THAT(overlap_of({{"a;b", 5}}, {{"x;y", 5}}), is(0));
  // The same methods, but no context that is the same and has weight of its own.
  EXPECT_THAT(overlap_of({{"a;b;c", 5}}, {{"a;c", 5}}), is(0));
}

TEST(Overlap, of_a_tree_without_weight_is_unknown) {
  EXPECT_EQ(overlap_of({}, {{"a", 1}}), std::nullopt);
  EXPECT_EQ(overlap_of({}, {}), std::nullopt);
}

TEST(Overlap, adds_up_the_smaller_shares) {
  // a;b: min(4/8, 1/4), a;c: min(3/8, 3/4), a: min(1/8, 0)
  EXPECT_THAT(overlap_of({{"a;b", 4}, {"a;c", 3}, {"a", 1}}, {{"a;b", 1}, {"a;c", 3}}), is(0.25 + 0.375));
  // u from a: min(2/6, 1/2), c: min(1/6, 0), u from b: min(1/6, 1/2)
  EXPECT_THAT(overlap_of(kExample, {{"a;u", 1}, {"a;b;u", 1}}), is(2.0 / 6 + 1.0 / 6));
}

TEST(Overlap, counts_one_edge) {
  EXPECT_THAT(overlap_of({{"a", 7}}, {{"a", 1}, {"a;b", 3}}), is(0.25));
}

TEST(Overlap, takes_generated_classes_for_the_same) {
  EXPECT_THAT(overlap_of({{"m;A$$Lambda$3/0x0800c03000.run", 2}, {"m;jdk.proxy1.$Proxy4.get", 1}},
                         {{"m;A$$Lambda+0x00007f1a.run", 2}, {"m;jdk.proxy3.$Proxy9.get", 1}}),
              is(1));
}

TEST(HotEdgeCoverage, is_1_with_itself_for_every_threshold) {
  for (const double threshold : {0.0, 0.1, 0.5, 1.0}) EXPECT_THAT(coverage_of(kExample, kExample, threshold), is(1));
}

TEST(HotEdgeCoverage, is_not_symmetric) {
  const Rows a = {{"a", 10}, {"a;b", 9}, {"a;c", 1}};
  const Rows b = {{"a", 10}, {"a;b", 1}, {"a;c", 1}};
  // T = 0.5: hot in a are a and b, in b only a.
  EXPECT_THAT(coverage_of(a, b, 0.5), is(1));
  EXPECT_THAT(coverage_of(b, a, 0.5), is(0.5));
}

TEST(HotEdgeCoverage, takes_an_edge_at_the_border_for_hot) {
  const Rows whole = {{"a", 10}, {"a;b", 3}, {"a;c", 1}};
  const Rows only_a = {{"a", 10}};
  EXPECT_THAT(coverage_of(only_a, whole, 0.1), is(1.0 / 3));  // 1 = 0.1 * 10
  EXPECT_THAT(coverage_of(only_a, whole, 0.100001), is(0.5));
  EXPECT_THAT(coverage_of(only_a, whole, 0.3), is(0.5));  // 3 = 0.3 * 10
  EXPECT_THAT(coverage_of(only_a, whole, 0.300001), is(1));
  EXPECT_THAT(coverage_of(only_a, whole, 1), is(1));
}

TEST(HotEdgeCoverage, depends_on_the_hottest_edge_of_each_tree_not_on_their_sizes) {
  EXPECT_THAT(coverage_of({{"a", 1000}, {"b", 999}}, {{"a", 1}, {"b", 1}}, 0.9), is(1));
}

TEST(HotEdgeCoverage, of_disjoint_trees_is_0_and_of_an_empty_one_unknown) {
  EXPECT_THAT(coverage_of({{"a", 1}}, {{"b", 1}}, 0.1), is(0));
  EXPECT_THAT(coverage_of({}, {{"b", 1}}, 0.1), is(0));
  EXPECT_EQ(coverage_of({{"b", 1}}, {}, 0.1), std::nullopt);
}

TEST(AverageTree, is_the_mean_of_shares_over_all_edges) {
  const JointTree tree = joined({{{"a", 1}, {"a;b", 3}}, {{"a", 100}, {"a;c", 100}}, {{"a;b", 7}}});
  const std::vector<double> mean = average_tree(tree.self);
  double sum = 0;
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    sum += mean[i];
    const double expected = tree.name(i) == "a"   ? (0.25 + 0.5 + 0) / 3
                            : tree.name(i) == "b" ? (0.75 + 0 + 1) / 3
                            : tree.name(i) == "c" ? 0.5 / 3
                                                  : 0;
    EXPECT_NEAR(mean[i], expected, 1e-12) << tree.name(i);
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_THAT(overlap(mean, tree.self[2]), is((0.75 + 1) / 3));
}

TEST(AverageTree, of_equal_trees_is_that_tree) {
  const JointTree tree = joined({kExample, kExample, kExample});
  EXPECT_THAT(overlap(average_tree(tree.self), tree.self[0]), is(1));
}

TEST(JointTree, has_a_node_for_each_context_of_any_recording_and_keeps_samples_without_frames) {
  const JointTree tree = joined({{{"a;b", 2}, {"a;b", 3}, {"", 4}}, {{"a;c", 1}}});
  ASSERT_EQ(tree.nodes.size(), 5u);  // [all] a b [no stack] c
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) EXPECT_LT(tree.nodes[i].parent, i);
  EXPECT_EQ(tree.self[0][0], 0);
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    EXPECT_EQ(tree.self[0][i], tree.name(i) == "b" ? 5 : tree.name(i) == "[no stack]" ? 4 : 0) << tree.name(i);
    EXPECT_EQ(tree.self[1][i], tree.name(i) == "c" ? 1 : 0) << tree.name(i);
  }
}

}  // namespace
}  // namespace tarsier::analysis
