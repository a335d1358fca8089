#include "analysis/callers.h"

#include <gtest/gtest.h>

#include "analysis/model_maker.h"

namespace tarsier::analysis {
namespace {

Cct callers_of(const Model& model, CallerLimits limits = {.min_share = 0}) {
  return build_callers(model, weigh_stacks(model, Selection()), label_methods(model, false), limits,
                       model.unsampled_cpu);
}

std::string as_text(const Cct& cct) {
  std::string out;
  uint32_t node = cct.nodes[0].first_child;
  size_t depth = 0;
  while (node != 0) {
    const CctNode& current = cct.nodes[node];
    out += std::string(depth, ' ') + cct.name(current) + " " + std::to_string(current.total) + "/" +
           std::to_string(current.self) + "\n";
    if (current.first_child != 0) {
      node = current.first_child;
      ++depth;
      continue;
    }
    while (node != 0 && cct.nodes[node].next_sibling == 0) {
      node = cct.nodes[node].parent;
      --depth;
    }
    if (node != 0) node = cct.nodes[node].next_sibling;
  }
  return out;
}

TEST(Callers, show_who_called_the_hot_method) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "main;a;hot", 6);
  maker.sample(main, "main;b;hot", 3);
  maker.sample(main, "hot", 1);
  maker.sample(main, "main;a", 2);
  EXPECT_EQ(as_text(callers_of(maker.model)),
            "hot 10/1\n"
            " a 6/0\n"
            "  main 6/6\n"
            " b 3/0\n"
            "  main 3/3\n"
            "a 2/0\n"
            " main 2/2\n");
}

TEST(Callers, recursion_is_a_chain_and_counts_once) {
  ModelMaker maker;
  maker.sample(maker.thread("main"), "main;f;f", 5);
  EXPECT_EQ(as_text(callers_of(maker.model)), "f 5/0\n f 5/0\n  main 5/5\n");
}

TEST(Callers, what_was_not_sampled_has_no_callers) {
  ModelMaker maker;
  maker.sample(maker.thread("main"), "main;hot", 5);
  maker.model.unsampled_cpu = {{ThreadKind::kGc, Nanos(7)}};
  const Cct cct = callers_of(maker.model);
  EXPECT_EQ(as_text(cct), "[GC] 7/7\nhot 5/0\n main 5/5\n");
  EXPECT_EQ(cct.nodes[0].total, 12);
}

TEST(Callers, light_ones_are_left_out) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "main;a;hot", 99);
  maker.sample(main, "main;b;hot", 1);
  EXPECT_EQ(as_text(callers_of(maker.model, {.min_share = 0.02})), "hot 100/0\n a 99/0\n  main 99/99\n");
}

TEST(Callers, end_at_the_greatest_depth) {
  ModelMaker maker;
  maker.sample(maker.thread("main"), "main;a;b;hot", 5);
  EXPECT_EQ(as_text(callers_of(maker.model, {.max_depth = 2})), "hot 5/0\n b 5/0\n");
}

}  // namespace
}  // namespace tarsier::analysis
