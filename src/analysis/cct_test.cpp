#include "analysis/cct.h"

#include <gtest/gtest.h>

#include "analysis/flat.h"
#include "analysis/model_maker.h"

namespace tarsier::analysis {
namespace {

Cct cct_of(const Model& model, bool by_thread = false) {
  const Selection all;
  return build_cct(model, weigh_stacks(model, all, by_thread), label_methods(model, false), by_thread,
                   unsampled_cpu(model, all));
}

// The node at "main;a;b".
const CctNode* node_at(const Cct& cct, std::string_view path) {
  uint32_t node = 0;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find(';'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    node = cct.nodes[node].first_child;
    while (node != 0 && cct.name(cct.nodes[node]) != name) node = cct.nodes[node].next_sibling;
    if (node == 0) return nullptr;
  }
  return &cct.nodes[node];
}

std::vector<std::string> children_of(const Cct& cct, const CctNode& node) {
  std::vector<std::string> names;
  for (uint32_t child = node.first_child; child != 0; child = cct.nodes[child].next_sibling) {
    names.push_back(cct.name(cct.nodes[child]));
  }
  return names;
}

const HotMethod* row_of(const Cct& cct, const std::vector<HotMethod>& rows, std::string_view name) {
  for (const HotMethod& row : rows) {
    if (cct.labels.names[row.label] == name) return &row;
  }
  return nullptr;
}

TEST(Cct, self_is_what_ended_there_and_total_what_passed_through) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "main;a;b", 5);
  maker.sample(main, "main;a;c", 3);
  maker.sample(main, "main;a", 2);
  maker.sample(main, "main;a;b", 5);
  const Cct cct = cct_of(maker.model);
  EXPECT_EQ(cct.nodes[0].total, 15);
  EXPECT_EQ(cct.sampled_weight, 15);
  ASSERT_NE(node_at(cct, "main;a"), nullptr);
  EXPECT_EQ(node_at(cct, "main;a")->total, 15);
  EXPECT_EQ(node_at(cct, "main;a")->self, 2);
  EXPECT_EQ(node_at(cct, "main;a;b")->self, 10);
  EXPECT_EQ(node_at(cct, "main;a;b")->samples, 2U);
  EXPECT_EQ(node_at(cct, "main")->self, 0);
  EXPECT_EQ(children_of(cct, *node_at(cct, "main;a")), (std::vector<std::string>{"b", "c"}));
}

TEST(Cct, merges_lines_and_types_and_shows_the_heaviest) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "main:1;a:10;x", 4);
  maker.sample(main, "main:2;a:11;y", 3);
  maker.sample(main, "main:2;a:11;z", 3);
  maker.model.samples.push_back(
      {.thread = main, .stack = maker.stack("main:9;a:12", FrameType::kInterpreted), .weight = 5});
  const Cct cct = cct_of(maker.model);
  const CctNode* a = node_at(cct, "main;a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->total, 15);
  EXPECT_EQ(a->line, 11);  // 6 of 15, of two different contexts
  EXPECT_EQ(a->type, FrameType::kC2);
  EXPECT_EQ(node_at(cct, "main")->line, 2);
}

TEST(Cct, equal_weights_are_ordered_by_name) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  for (const char* stack : {"main;c", "main;a", "main;b"}) maker.sample(main, stack, 1);
  const Cct cct = cct_of(maker.model);
  EXPECT_EQ(children_of(cct, *node_at(cct, "main")), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Cct, unsampled_threads_are_roots_with_their_true_weight) {
  ModelMaker maker;
  maker.sample(maker.thread("main"), "main;a", 10);
  maker.model.unsampled_cpu = {{ThreadKind::kGc, Nanos(80)}, {ThreadKind::kJit, Nanos(9)}, {ThreadKind::kVm, Nanos(0)}};
  const Cct cct = cct_of(maker.model);
  EXPECT_EQ(cct.nodes[0].total, 99);
  EXPECT_EQ(cct.sampled_weight, 10);
  EXPECT_EQ(children_of(cct, cct.nodes[0]), (std::vector<std::string>{"[GC]", "main", "[JIT]"}));
  EXPECT_EQ(node_at(cct, "[GC]")->self, 80);
  const auto rows = flat_profile(cct);
  ASSERT_NE(row_of(cct, rows, "[GC]"), nullptr);
  EXPECT_EQ(row_of(cct, rows, "[GC]")->self, 80);
  EXPECT_EQ(row_of(cct, rows, "[GC]")->samples, 0U);
  EXPECT_NEAR(row_of(cct, rows, "[GC]")->self_ci95.low, 80.0 / 99, 1e-12);
  EXPECT_NEAR(row_of(cct, rows, "[GC]")->self_ci95.high, 80.0 / 99, 1e-12);
  EXPECT_NEAR(row_of(cct, rows, "a")->self_ci95.high, 10.0 / 99, 1e-12);  // no more than all that was sampled
}

TEST(Cct, split_by_thread_keeps_threads_of_one_name_apart) {
  ModelMaker maker;
  const ThreadIndex first = maker.thread("pool");
  const ThreadIndex second = maker.thread("pool");
  maker.sample(first, "run;a", 3);
  maker.sample(second, "run;a", 4);
  maker.sample(second, "run;b", 1);
  const Cct cct = cct_of(maker.model, true);
  ASSERT_NE(node_at(cct, "pool [tid 100]"), nullptr);
  EXPECT_EQ(node_at(cct, "pool [tid 100]")->total, 3);
  EXPECT_EQ(node_at(cct, "pool [tid 101]")->total, 5);
  EXPECT_EQ(node_at(cct, "pool [tid 101];run;a")->self, 4);
  EXPECT_EQ(node_at(cct, "pool [tid 100];run;b"), nullptr);
  const auto rows = flat_profile(cct);
  EXPECT_EQ(row_of(cct, rows, "a")->self, 7);
  EXPECT_EQ(rows.size(), 3U);  // a, b, run; threads are no methods
}

TEST(Cct, overloads_are_one_node_unless_signatures_are_asked_for) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  for (const char* descriptor : {"(I)V", "(J)V"}) {
    const StackNode frame{.parent = {}, .method = maker.builder().method("p/C", "m", descriptor)};
    maker.model.samples.push_back({.thread = main, .stack = maker.builder().stack({&frame, 1}, false), .weight = 2});
  }
  const Selection all;
  const WeightedStacks weights = weigh_stacks(maker.model, all);
  const Cct merged = build_cct(maker.model, weights, label_methods(maker.model, false), false, {});
  EXPECT_EQ(node_at(merged, "p.C.m")->self, 4);
  const Cct apart = build_cct(maker.model, weights, label_methods(maker.model, true), false, {});
  EXPECT_EQ(node_at(apart, "p.C.m(I)V")->self, 2);
  EXPECT_EQ(node_at(apart, "p.C.m(J)V")->self, 2);
}

TEST(Cct, a_model_without_samples_is_a_bare_root) {
  const Model model;
  const Cct cct = cct_of(model);
  EXPECT_EQ(cct.nodes.size(), 1U);
  EXPECT_TRUE(flat_profile(cct).empty());
}

TEST(Flat, recursion_counts_once_per_stack) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "main;f;f;f", 4);
  maker.sample(main, "main;f;g;f;g", 2);
  maker.sample(main, "main;g", 1);
  const Cct cct = cct_of(maker.model);
  const auto rows = flat_profile(cct);
  EXPECT_EQ(row_of(cct, rows, "f")->total, 6);
  EXPECT_EQ(row_of(cct, rows, "f")->self, 4);
  EXPECT_EQ(row_of(cct, rows, "g")->total, 3);
  EXPECT_EQ(row_of(cct, rows, "g")->self, 3);
  EXPECT_EQ(row_of(cct, rows, "g")->samples, 2U);
  EXPECT_EQ(row_of(cct, rows, "main")->total, 7);
  EXPECT_EQ(cct.labels.names[rows[0].label], "f");
}

TEST(Flat, interval_considers_unequal_weights) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  for (int i = 0; i < 50; ++i) {
    maker.sample(main, "a", 1'000'000);
    maker.sample(main, "b", 1'000'000);
  }
  const Cct equal = cct_of(maker.model);
  EXPECT_NEAR(equal.effective_samples, 100, 1e-9);
  const auto rows = flat_profile(equal);
  EXPECT_NEAR(rows[0].self_ci95.low, 0.4038, 0.0001);  // 50 of 100
  EXPECT_NEAR(rows[0].self_ci95.high, 0.5962, 0.0001);

  // One sample that weighs as much as a hundred others tells less than a hundred do.
  maker.sample(main, "a", 100'000'000);
  const Cct unequal = cct_of(maker.model);
  EXPECT_NEAR(unequal.effective_samples, 200.0 * 200.0 / (100 + 10'000), 1e-9);
}

TEST(Cct, a_stack_of_300000_frames_is_no_problem) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  std::vector<StackNode> frames(300'000);
  for (size_t i = 0; i < frames.size(); ++i) {
    frames[i].method = maker.builder().method({}, i % 2 == 0 ? "even" : "odd", {});
  }
  const StackIndex deep = maker.builder().stack(frames, false);
  maker.model.samples.push_back({.thread = main, .stack = deep, .weight = 7});
  const Cct cct = cct_of(maker.model);
  EXPECT_EQ(cct.nodes.size(), StackBuilder::kMaxDepth + 2);  // the root and [deeper]
  const auto rows = flat_profile(cct);
  EXPECT_EQ(row_of(cct, rows, "even")->total, 7);
  EXPECT_EQ(row_of(cct, rows, "odd")->total, 7);
  EXPECT_EQ(row_of(cct, rows, "even")->self, 7);
}

}  // namespace
}  // namespace tarsier::analysis
