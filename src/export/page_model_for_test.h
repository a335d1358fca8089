// Models for the tests of what the page shows, built by hand.
#pragma once

#include <string>
#include <utility>

#include "analysis/model.h"

namespace tarsier::exporting {

struct ModelForTest {
  analysis::Model model;

  ModelForTest() { model.stacks.emplace_back(); }

  analysis::ThreadIndex thread(std::string name, int64_t os_id = 0) {
    analysis::Thread added;
    added.os_id = os_id;
    added.name = std::move(name);
    added.sampled = true;
    model.threads.push_back(std::move(added));
    return analysis::ThreadIndex(static_cast<uint32_t>(model.threads.size() - 1));
  }

  analysis::StackIndex frame(analysis::StackIndex caller, std::string name, analysis::FrameType type, int32_t line,
                             int32_t bci = 0, std::string descriptor = "()V") {
    model.methods.push_back({std::move(name), std::move(descriptor)});
    const analysis::MethodIndex method(static_cast<uint32_t>(model.methods.size() - 1));
    model.stacks.push_back({caller, method, line, bci, type});
    return analysis::StackIndex(static_cast<uint32_t>(model.stacks.size() - 1));
  }

  void sample(analysis::ThreadIndex thread, analysis::StackIndex stack, int64_t weight, bool imprecise = false) {
    model.samples.push_back({.time_ns = 1, .thread = thread, .stack = stack, .weight = weight, .imprecise = imprecise});
  }
};

// Two threads, four methods, 10.5 ms sampled and 3 ms of GC. The page's tests read its parts, too: they are
// ui/test/fixtures/known.threads and known.profile.
inline analysis::Model known_model() {
  using recording::FrameType;
  ModelForTest made;
  const auto main = made.thread("main", 101);
  const auto pool = made.thread("pool-1", 102);
  const auto entry = made.frame({}, "app.Main.main", FrameType::kInterpreted, 10);
  const auto hot = made.frame(entry, "app.Main.hot", FrameType::kC2, 20);
  const auto inner = made.frame(hot, "app.Main.inner", FrameType::kInlined, 30);
  const auto cold = made.frame(entry, "app.Main.cold", FrameType::kC1, 21);
  const auto elsewhere = made.frame({}, "app.Main.hot", FrameType::kC2, 20);
  made.sample(main, hot, 1'000'000);
  made.sample(main, hot, 1'000'000, /*imprecise=*/true);
  made.sample(main, inner, 7'000'000);
  made.sample(main, cold, 1'000'000);
  made.sample(pool, elsewhere, 500'000);
  made.model.unsampled_cpu[analysis::ThreadKind::kGc] = millis(3);
  return std::move(made.model);
}

}  // namespace tarsier::exporting
