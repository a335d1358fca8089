#include "export/flame_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/flame_model_for_test.h"

namespace tarsier::exporting {
namespace {

using analysis::FrameType;
using analysis::MethodIndex;
using analysis::Model;
using analysis::StackIndex;
using analysis::ThreadIndex;
using analysis::ThreadKind;

// One line a node: "  name type:line self samples", indented by depth, after its thread's name.
std::string drawn(const FlameTree& tree) {
  std::string text;
  size_t next = 0;
  for (const FlameThread& thread : tree.threads) {
    text += tree.names[thread.name] + "\n";
    for (uint32_t i = 0; i < thread.nodes; ++i) {
      const FlameNode& node = tree.nodes.at(next++);
      text += std::string(2 * (node.depth + 1), ' ') + tree.names[node.name] + " " +
              std::string(recording::frame_type_name(node.type)) + ":" + std::to_string(node.line) + " " +
              std::to_string(node.self_ns) + " " + std::to_string(node.samples) + "\n";
    }
  }
  EXPECT_EQ(next, tree.nodes.size());
  return text;
}

FlameTree built(const Model& model) {
  Result<FlameTree> tree = build_flame_tree(model);
  EXPECT_TRUE(tree.ok());
  return tree.ok() ? *std::move(tree) : FlameTree{};
}

TEST(FlameTree, gives_each_thread_its_own_tree_with_known_weights) {
  EXPECT_EQ(drawn(built(known_model())),
            "main\n"
            "  app.Main.main interpreted:10 0 0\n"
            "    app.Main.hot c2:20 2000000 2\n"
            "      app.Main.inner inlined:30 7000000 1\n"
            "    app.Main.cold c1:21 1000000 1\n"
            "pool-1\n"
            "  app.Main.hot c2:20 500000 1\n"
            "[not sampled]\n"
            "  [GC] marker:0 3000000 0\n");
}

TEST(FlameTree, folds_bytecode_indices_and_overloads_but_not_lines_and_types) {
  ModelForTest model;
  const auto thread = model.thread("main");
  const auto caller = model.frame({}, "A.run", FrameType::kC2, 1);
  model.sample(thread, model.frame(caller, "A.f", FrameType::kC2, 5, /*bci=*/3, "(I)V"), 10);
  model.sample(thread, model.frame(caller, "A.f", FrameType::kC2, 5, /*bci=*/9, "(J)V"), 10);
  model.sample(thread, model.frame(caller, "A.f", FrameType::kC2, 6), 10);
  model.sample(thread, model.frame(caller, "A.f", FrameType::kC1, 5), 10);
  EXPECT_EQ(drawn(built(model.model)),
            "main\n"
            "  A.run c2:1 0 0\n"
            "    A.f c2:5 20 2\n"
            "    A.f c2:6 10 1\n"
            "    A.f c1:5 10 1\n");
}

TEST(FlameTree, leaves_out_threads_without_samples_and_merges_virtual_threads_of_one_name) {
  ModelForTest model;
  model.thread("idle");
  const auto frame = model.frame({}, "A.run", FrameType::kC2, 1);
  for (int i = 0; i < 1000; ++i) {
    const auto thread = model.thread("", i);
    model.model.threads.back().is_virtual = true;
    model.sample(thread, frame, 1);
  }
  const FlameTree tree = built(model.model);
  EXPECT_EQ(drawn(tree), "[virtual threads]\n  A.run c2:1 1000 1000\n");
  EXPECT_EQ(tree.threads[0].merged, 1000u);
}

TEST(FlameTree, keeps_threads_of_one_name_apart) {
  ModelForTest model;
  const auto frame = model.frame({}, "A.run", FrameType::kC2, 1);
  model.sample(model.thread("worker", 7), frame, 1);
  model.sample(model.thread("worker", 8), frame, 2);
  EXPECT_EQ(drawn(built(model.model)), "worker\n  A.run c2:1 1 1\nworker\n  A.run c2:1 2 1\n");
}

TEST(FlameTree, takes_stacks_of_a_hundred_thousand_frames) {
  ModelForTest model;
  const auto thread = model.thread("deep");
  StackIndex stack;
  for (int i = 0; i < 100'000; ++i) stack = model.frame(stack, "A.recurse", FrameType::kInterpreted, 1);
  model.sample(thread, stack, 5);
  const FlameTree tree = built(model.model);
  ASSERT_EQ(tree.nodes.size(), 100'000u);
  EXPECT_EQ(tree.nodes.back().depth, 99'999u);
  EXPECT_EQ(tree.nodes.back().self_ns, 5);
}

TEST(FlameTree, keeps_a_sample_without_any_frame) {
  ModelForTest model;
  model.sample(model.thread("main"), StackIndex(0), 5);
  EXPECT_EQ(drawn(built(model.model)), "main\n  [no stack] marker:0 5 1\n");
}

TEST(FlameTree, never_exceeds_what_the_page_can_count) {
  ModelForTest model;
  const auto thread = model.thread("main");
  const auto frame = model.frame({}, "A.run", FrameType::kC2, -3);
  for (int i = 0; i < 4; ++i) model.sample(thread, frame, INT64_MAX);
  model.sample(thread, frame, -7);
  const FlameTree tree = built(model.model);
  EXPECT_EQ(tree.nodes[0].self_ns, kMaxFlameWeight);
  EXPECT_EQ(tree.nodes[0].line, 0);
}

TEST(FlameTree, marks_imprecise_samples) {
  ModelForTest model;
  const auto thread = model.thread("main");
  const auto frame = model.frame({}, "A.run", FrameType::kC2, 1);
  model.sample(thread, frame, 1);
  model.sample(thread, frame, 1, /*imprecise=*/true);
  EXPECT_EQ(built(model.model).nodes[0].imprecise, 1u);
}

TEST(FlameTree, refuses_a_model_that_contradicts_itself) {
  ModelForTest model;
  const auto thread = model.thread("main");
  model.sample(thread, model.frame({}, "A.run", FrameType::kC2, 1), 1);
  Model bad_parent = model.model, bad_method = model.model, bad_stack = model.model, bad_thread = model.model;
  bad_parent.stacks[1].parent = StackIndex(1);
  bad_method.stacks[1].method = MethodIndex(99);
  bad_stack.samples.push_back({.time_ns = 1, .thread = thread, .stack = StackIndex(99), .weight = 1});
  bad_thread.samples.push_back({.time_ns = 1, .thread = ThreadIndex(99), .stack = StackIndex(1), .weight = 1});
  for (const Model* bad : {&bad_parent, &bad_method, &bad_stack, &bad_thread}) {
    const Result<FlameTree> tree = build_flame_tree(*bad);
    ASSERT_FALSE(tree.ok());
    EXPECT_EQ(tree.error().code, Errc::kCorrupt);
  }
}

TEST(FlameTree, of_an_empty_recording_is_empty) {
  EXPECT_EQ(drawn(built(Model{})), "");
}

}  // namespace
}  // namespace tarsier::exporting
