#include "export/profile_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/columns.h"
#include "export/columns_for_test.h"
#include "export/page_model_for_test.h"

namespace tarsier::exporting {
namespace {

using analysis::FrameType;
using analysis::MethodIndex;
using analysis::Model;
using analysis::Profile;
using analysis::StackIndex;
using analysis::ThreadIndex;
using testing::ElementsAre;

struct Built {
  PageThreads threads;
  PageTime time;
  ProfileTree tree;
};

Built built(const Model& model, Profile profile = Profile::kCpu) {
  Built made{PageThreads(model), PageTime(model), {}};
  const auto stacks = FoldedStacks::make(model);
  EXPECT_TRUE(stacks.ok());
  auto tree = build_profile_tree(model, profile, *stacks, made.threads, &made.time);
  EXPECT_TRUE(tree.ok());
  if (tree.ok()) made.tree = *std::move(tree);
  return made;
}

// One line a node: "  name type:line self samples", indented by depth, after its thread's name.
std::string drawn(const Built& made) {
  std::string text;
  size_t next = 0;
  for (const TreeThread& thread : made.tree.threads) {
    text += made.threads[thread.row].name + "\n";
    for (uint32_t i = 0; i < thread.nodes; ++i) {
      const TreeNode& node = made.tree.nodes.at(next++);
      text += std::string(2 * (node.depth + 1), ' ') + made.tree.names[node.name] + " " +
              std::string(recording::frame_type_name(node.type)) + ":" + std::to_string(node.line) + " " +
              std::to_string(node.self) + " " + std::to_string(node.samples) + "\n";
    }
  }
  EXPECT_EQ(next, made.tree.nodes.size());
  return text;
}

TEST(ProfileTree, gives_each_thread_its_own_tree_with_known_weights) {
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

TEST(ProfileTree, folds_bytecode_indices_and_overloads_but_not_lines_and_types) {
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

TEST(ProfileTree, leaves_out_threads_without_samples_and_merges_virtual_threads_of_one_name) {
  ModelForTest model;
  model.thread("idle");
  const auto frame = model.frame({}, "A.run", FrameType::kC2, 1);
  for (int i = 0; i < 1000; ++i) {
    const auto thread = model.thread("", i);
    model.model.threads.back().is_virtual = true;
    model.sample(thread, frame, 1);
  }
  const Built made = built(model.model);
  EXPECT_EQ(drawn(made), "[virtual threads]\n  A.run c2:1 1000 1000\n");
  EXPECT_EQ(made.threads.size(), 2u);
  EXPECT_EQ(made.threads[1].merged, 1000u);
}

TEST(ProfileTree, keeps_threads_of_one_name_apart) {
  ModelForTest model;
  const auto frame = model.frame({}, "A.run", FrameType::kC2, 1);
  model.sample(model.thread("worker", 7), frame, 1);
  model.sample(model.thread("worker", 8), frame, 2);
  EXPECT_EQ(drawn(built(model.model)), "worker\n  A.run c2:1 1 1\nworker\n  A.run c2:1 2 1\n");
}

TEST(ProfileTree, takes_stacks_of_a_hundred_thousand_frames) {
  ModelForTest model;
  const auto thread = model.thread("deep");
  StackIndex stack;
  for (int i = 0; i < 100'000; ++i) stack = model.frame(stack, "A.recurse", FrameType::kInterpreted, 1);
  model.sample(thread, stack, 5);
  const ProfileTree tree = built(model.model).tree;
  ASSERT_EQ(tree.nodes.size(), 100'000u);
  EXPECT_EQ(tree.nodes.back().depth, 99'999u);
  EXPECT_EQ(tree.nodes.back().self, 5);
}

TEST(ProfileTree, keeps_a_sample_without_any_frame) {
  ModelForTest model;
  model.sample(model.thread("main"), StackIndex(0), 5);
  EXPECT_EQ(drawn(built(model.model)), "main\n  [no stack] marker:0 5 1\n");
}

TEST(ProfileTree, never_exceeds_what_the_page_can_count) {
  ModelForTest model;
  const auto thread = model.thread("main");
  const auto frame = model.frame({}, "A.run", FrameType::kC2, -3);
  for (int i = 0; i < 4; ++i) model.sample(thread, frame, INT64_MAX);
  model.sample(thread, frame, -7);
  const ProfileTree tree = built(model.model).tree;
  EXPECT_EQ(tree.nodes[0].self, kMaxColumnNumber);
  EXPECT_EQ(tree.nodes[0].line, 0);
  EXPECT_EQ(tree.moments.at(0).self, kMaxColumnNumber);
}

TEST(ProfileTree, marks_imprecise_samples) {
  ModelForTest model;
  const auto thread = model.thread("main");
  const auto frame = model.frame({}, "A.run", FrameType::kC2, 1);
  model.sample(thread, frame, 1);
  model.sample(thread, frame, 1, /*imprecise=*/true);
  EXPECT_EQ(built(model.model).tree.nodes[0].imprecise, 1u);
}

TEST(ProfileTree, has_only_names_of_its_own_profile) {
  ModelForTest model;
  const auto thread = model.thread("main");
  model.sample(thread, model.frame({}, "A.run", FrameType::kC2, 1), 1);
  model.model.others[static_cast<size_t>(Profile::kAlloc)].push_back(
      {.time_ns = 1, .thread = thread, .stack = model.frame({}, "A.make", FrameType::kC2, 1), .weight = 64});
  EXPECT_THAT(built(model.model).tree.names, ElementsAre("A.run"));
  EXPECT_EQ(drawn(built(model.model, Profile::kAlloc)), "main\n  A.make c2:1 64 1\n");
}

TEST(ProfileTree, refuses_a_model_that_contradicts_itself) {
  ModelForTest model;
  const auto thread = model.thread("main");
  model.sample(thread, model.frame({}, "A.run", FrameType::kC2, 1), 1);
  Model bad_parent = model.model, bad_method = model.model, bad_stack = model.model, bad_thread = model.model;
  bad_parent.stacks[1].parent = StackIndex(1);
  bad_method.stacks[1].method = MethodIndex(99);
  bad_stack.samples.push_back({.time_ns = 1, .thread = thread, .stack = StackIndex(99), .weight = 1});
  bad_thread.samples.push_back({.time_ns = 1, .thread = ThreadIndex(99), .stack = StackIndex(1), .weight = 1});
  for (const Model* bad : {&bad_parent, &bad_method}) EXPECT_EQ(FoldedStacks::make(*bad).error().code, Errc::kCorrupt);
  const auto stacks = FoldedStacks::make(model.model);
  for (const Model* bad : {&bad_stack, &bad_thread}) {
    PageTime time(*bad);
    const auto tree = build_profile_tree(*bad, Profile::kCpu, *stacks, PageThreads(*bad), &time);
    ASSERT_FALSE(tree.ok());
    EXPECT_EQ(tree.error().code, Errc::kCorrupt);
  }
}

TEST(ProfileTree, takes_the_lightest_together_if_there_are_too_many_nodes) {
  ModelForTest model;
  const auto thread = model.thread("main");
  const auto run = model.frame({}, "A.run", FrameType::kC2, 1), heavy = model.frame(run, "A.heavy", FrameType::kC2, 2);
  model.sample(thread, heavy, 1000);
  model.sample(thread, model.frame(heavy, "A.light", FrameType::kC2, 3), 3);
  for (int i = 0; i < 10; ++i) {
    const auto rare = model.frame(run, "A.rare" + std::to_string(i), FrameType::kC2, 4);
    model.sample(thread, rare, 1);
    model.sample(thread, model.frame(rare, "A.rarer", FrameType::kC2, 5), 2);
  }
  model.sample(thread, model.frame({}, "B.run", FrameType::kC2, 1), 2);
  const PageThreads threads(model.model);
  PageTime time(model.model);
  const auto stacks = FoldedStacks::make(model.model);
  auto tree = build_profile_tree(model.model, Profile::kCpu, *stacks, threads, &time, 5);
  ASSERT_TRUE(tree.ok());
  const Built made{threads, time, *tree};
  EXPECT_EQ(drawn(made),
            "main\n"
            "  A.run c2:1 0 0\n"
            "    A.heavy c2:2 1000 1\n"
            "      [smaller] marker:0 3 1\n"
            "    [smaller] marker:0 30 20\n"
            "  [smaller] marker:0 2 1\n");
  EXPECT_EQ(made.tree.together, 35);
  int64_t by_moment = 0;
  for (const MomentRow& row : made.tree.moments) by_moment += row.self;
  EXPECT_EQ(by_moment, 1035);
  EXPECT_EQ(made.tree.moments.size(), 4u);  // each node in the only moment once
}

TEST(ProfileTree, of_an_empty_recording_is_empty) {
  EXPECT_EQ(drawn(built(Model{})), "");
}

// Samples at those ms of a recording of 10 s, in the order given.
Model with_samples_at(const std::vector<int64_t>& millis_of) {
  ModelForTest model;
  const auto thread = model.thread("main");
  const auto a = model.frame({}, "A.a", FrameType::kC2, 1), b = model.frame(a, "A.b", FrameType::kC2, 1);
  model.model.start_ns = 1'000'000'000;
  model.model.duration = seconds(8);
  for (const int64_t at : millis_of) {
    model.model.samples.push_back({.time_ns = model.model.start_ns + at * 1'000'000,
                                   .thread = thread,
                                   .stack = at % 2 == 0 ? a : b,
                                   .weight = at + 1});
  }
  return model.model;
}

TEST(ProfileMoments, say_what_each_node_got_when) {
  const Built made = built(with_samples_at({0, 3, 2, 3, 0, 7999, 9000, -5}));
  EXPECT_EQ(made.time.moment_ns(), 1'000'000);
  EXPECT_EQ(made.time.moments(), 8000u);
  std::string text;
  for (const MomentRow& row : made.tree.moments) {
    text += std::to_string(row.moment) + ": " + std::to_string(row.node) + " " + std::to_string(row.self) + " " +
            std::to_string(row.samples) + "\n";
  }
  // What is outside of the recording's time is in its first and last moment.
  EXPECT_EQ(text,
            "0: 0 2 2\n"
            "0: 1 0 1\n"
            "2: 0 3 1\n"
            "3: 1 8 2\n"
            "7999: 0 9001 1\n"
            "7999: 1 8000 1\n");
}

TEST(ProfileMoments, add_up_to_the_whole) {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < 20'000; ++i) at.push_back(i * 7919 % 8000);
  const ProfileTree tree = built(with_samples_at(at)).tree;
  std::vector<int64_t> self(tree.nodes.size());
  std::vector<uint32_t> samples(tree.nodes.size());
  for (const MomentRow& row : tree.moments) {
    self[row.node] += row.self;
    samples[row.node] += row.samples;
  }
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    EXPECT_EQ(self[i], tree.nodes[i].self);
    EXPECT_EQ(samples[i], tree.nodes[i].samples);
  }
}

TEST(ProfilePart, has_all_of_the_tree_in_columns) {
  const Built made = built(with_samples_at({0, 3, 3}));
  const ColumnsForTest columns(encode_profile_tree(made.tree, made.time.moments()));
  EXPECT_THAT(columns.texts("names"), ElementsAre("A.a", "A.b"));
  EXPECT_EQ(columns.texts("types").at(3), "c2");
  EXPECT_THAT(columns.numbers("thread"), ElementsAre(0));
  EXPECT_THAT(columns.numbers("thread_nodes"), ElementsAre(2));
  EXPECT_THAT(columns.numbers("up"), ElementsAre(0, 0));
  EXPECT_THAT(columns.numbers("node_name"), ElementsAre(0, 1));
  EXPECT_THAT(columns.numbers("node_type"), ElementsAre(3, 3));
  EXPECT_THAT(columns.numbers("line"), ElementsAre(1, 1));
  EXPECT_THAT(columns.numbers("self"), ElementsAre(1, 8));
  EXPECT_THAT(columns.numbers("samples"), ElementsAre(1, 2));
  EXPECT_THAT(columns.numbers("imprecise"), ElementsAre(0, 0));
  EXPECT_FALSE(columns.has("before"));
  const auto rows = columns.numbers("moment_rows");
  ASSERT_EQ(rows.size(), 8000u);
  EXPECT_EQ(rows[0], 1);
  EXPECT_EQ(rows[3], 1);
  EXPECT_THAT(columns.numbers("moment_node"), ElementsAre(0, 1));
  EXPECT_THAT(columns.numbers("moment_self"), ElementsAre(1, 8));
  EXPECT_THAT(columns.numbers("moment_samples"), ElementsAre(1, 2));
}

// As if moments had been that long from the start on.
TEST(ProfileTree, has_longer_moments_if_there_are_too_many_rows) {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < 3000; ++i) at.push_back(i * 7919 % 10'000);
  const Model model = with_samples_at(at);
  const auto stacks = FoldedStacks::make(model);
  const PageThreads threads(model);
  for (const size_t most : {1u, 7u, 100u, 1000u}) {
    PageTime time(model);
    const auto tree = build_profile_tree(model, Profile::kCpu, *stacks, threads, &time, kMostTreeNodes, most);
    ASSERT_TRUE(tree.ok());
    EXPECT_TRUE(tree->moments.size() <= most || time.moments() == 1) << most;
    const auto whole = build_profile_tree(model, Profile::kCpu, *stacks, threads, &time);
    ASSERT_EQ(whole->moments.size(), tree->moments.size());
    for (size_t i = 0; i < whole->moments.size(); ++i) {
      const MomentRow &a = whole->moments[i], &b = tree->moments[i];
      EXPECT_TRUE(a.moment == b.moment && a.node == b.node && a.self == b.self && a.samples == b.samples) << i;
    }
  }
}

TEST(ProfileTree, ends_with_more_places_than_rows_in_one_moment) {
  ModelForTest model;
  const auto thread = model.thread("main");
  for (int i = 0; i < 500; ++i) {
    model.sample(thread, model.frame({}, "A.f" + std::to_string(i), FrameType::kC2, 1), 1);
  }
  const auto stacks = FoldedStacks::make(model.model);
  PageTime time(model.model);
  const auto tree = build_profile_tree(model.model, Profile::kCpu, *stacks, PageThreads(model.model), &time, 10, 20);
  ASSERT_TRUE(tree.ok());
  int64_t all = 0;
  for (const MomentRow& row : tree->moments) all += row.self;
  EXPECT_EQ(all, 500);
  EXPECT_EQ(time.moments(), 1u);
}

TEST(PageTime, has_the_shortest_moments_of_which_there_are_not_too_many) {
  const auto moment_of = [](Nanos duration) {
    Model model;
    model.duration = duration;
    const PageTime time(model);
    EXPECT_LE(time.moments(), kMostMoments);
    EXPECT_LE((duration.count - 1) / time.moment_ns(), time.moments() - 1);
    return time.moment_ns() / 1'000'000;
  };
  EXPECT_EQ(moment_of(Nanos(0)), 1);
  EXPECT_EQ(moment_of(millis(8191)), 1);
  EXPECT_EQ(moment_of(millis(8192)), 1);
  EXPECT_EQ(moment_of(millis(8193)), 2);
  EXPECT_EQ(moment_of(seconds(16)), 2);
  EXPECT_EQ(moment_of(seconds(30)), 10);
  EXPECT_EQ(moment_of(seconds(100)), 20);
  EXPECT_EQ(moment_of(seconds(3600)), 1000);
  EXPECT_GT(moment_of(Nanos(INT64_MAX)), 1'000'000'000);
}

TEST(PageTime, of_a_recording_whose_length_is_not_known_lasts_to_the_last_sample) {
  Model model = with_samples_at({0, 100});
  model.duration = Nanos(0);
  EXPECT_EQ(PageTime(model).moments(), 100u);
  EXPECT_EQ(PageTime(model).moment_of(model.start_ns + 100'000'000), 99u);
}

TEST(PageTime, is_not_confused_by_times_from_nowhere) {
  Model model;
  model.start_ns = INT64_MIN + 5;
  model.duration = seconds(1);
  const PageTime time(model);
  EXPECT_EQ(time.moment_of(INT64_MAX), 999u);
  EXPECT_EQ(time.moment_of(INT64_MIN), 0u);
}

}  // namespace
}  // namespace tarsier::exporting
