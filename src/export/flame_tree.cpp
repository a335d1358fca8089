#include "export/flame_tree.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/index_table.h"
#include "analysis/selection.h"
#include "analysis/thread_kind.h"

namespace tarsier::exporting {
namespace {

using analysis::Model;
using analysis::ThreadKind;
using recording::FrameType;

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

int64_t add_weight(int64_t sum, int64_t weight) {
  return sum + std::min(std::max<int64_t>(weight, 0), kMaxFlameWeight - sum);
}

class Names {
 public:
  uint32_t intern(std::string_view text) {
    auto [found, fresh] = ids_.try_emplace(std::string(text), static_cast<uint32_t>(ids_.size()));
    return found->second;
  }

  std::vector<std::string> take() {
    std::vector<std::string> names(ids_.size());
    while (!ids_.empty()) {
      auto entry = ids_.extract(ids_.begin());
      names[entry.mapped()] = std::move(entry.key());
    }
    return names;
  }

 private:
  std::unordered_map<std::string, uint32_t> ids_;
};

struct Frame {
  uint32_t parent;  // kNone: called by nobody
  uint32_t name;
  int32_t line;
  FrameType type;
  bool operator==(const Frame&) const = default;
};

uint64_t hash_of(const Frame& frame) {
  const uint64_t place = uint64_t{frame.parent} << 32 | frame.name;
  const uint64_t site =
      static_cast<uint64_t>(static_cast<uint32_t>(frame.line)) << 8 | static_cast<uint64_t>(frame.type);
  return analysis::mix_hash(place, site);
}

// The stacks of the model with bytecode indices and overloads folded; still one tree for all threads.
struct Frames {
  std::vector<Frame> frames;       // callers first
  std::vector<uint32_t> of_stack;  // by StackIndex; kNone for the root, which is no frame
};

Result<Frames> fold_stacks(const Model& model, Names& names) {
  std::vector<uint32_t> name_of_method(model.methods.size(), kNone);
  analysis::IndexTable ids;
  Frames out;
  out.of_stack.assign(model.stacks.size(), kNone);
  for (size_t i = 1; i < model.stacks.size(); ++i) {
    const analysis::StackNode& node = model.stacks[i];
    if (node.parent.value >= i || node.method.value >= model.methods.size() || node.type >= FrameType::kCount) {
      return Error{Errc::kCorrupt,
                   "stack node " + std::to_string(i) + " refers to a caller or method that is not there"};
    }
    uint32_t& name = name_of_method[node.method.value];
    if (name == kNone) name = names.intern(model.methods[node.method.value].name);
    const Frame frame{out.of_stack[node.parent.value], name, node.line, node.type};
    const auto next = static_cast<uint32_t>(out.frames.size());
    const uint32_t id = ids.find_or_enter(
        hash_of(frame), next, [&](uint32_t other) { return out.frames[other] == frame; },
        [&](uint32_t other) { return hash_of(out.frames[other]); });
    if (id == next) out.frames.push_back(frame);
    out.of_stack[i] = id;
  }
  return out;
}

struct Weight {
  uint32_t frame;
  int64_t ns;
  uint32_t samples;
  uint32_t imprecise;
};

// Which entry of the page's list each thread of the model belongs to.
struct Entries {
  std::vector<FlameThread> threads;
  std::vector<uint32_t> of_thread;
};

Entries list_threads(const Model& model, Names& names) {
  Entries out;
  std::unordered_map<uint32_t, uint32_t> virtual_entry;  // by name
  for (const analysis::Thread& thread : model.threads) {
    std::string label = thread.name;
    if (label.empty()) label = thread.is_virtual ? "[virtual threads]" : "thread " + std::to_string(thread.os_id);
    const uint32_t name = names.intern(label);
    const auto next = static_cast<uint32_t>(out.threads.size());
    if (thread.is_virtual) {
      auto [found, fresh] = virtual_entry.try_emplace(name, next);
      if (!fresh) {
        ++out.threads[found->second].merged;
        out.of_thread.push_back(found->second);
        continue;
      }
    }
    out.threads.push_back({name, thread.kind, thread.os_id, thread.java_id, thread.is_virtual, 1, 0});
    out.of_thread.push_back(next);
  }
  return out;
}

// Emits one thread's tree. The scratch arrays are as long as all frames and are reused: each thread pays only for
// the frames it touches.
class TreeEmitter {
 public:
  TreeEmitter(const std::vector<Frame>& frames, std::vector<FlameNode>& out)
      : frames_(frames), out_(out), slot_(frames.size(), kNone) {}

  // `weights` holds each frame at most once.
  uint32_t emit(const std::vector<Weight>& weights) {
    used_.clear();
    for (const Weight& weight : weights) {
      for (uint32_t f = weight.frame; f != kNone && slot_[f] == kNone; f = frames_[f].parent) {
        slot_[f] = 0;
        used_.push_back(f);
      }
    }
    std::sort(used_.begin(), used_.end());  // callers have smaller indices than their callees
    link();
    for (const Weight& weight : weights) weight_of_[slot_[weight.frame]] = &weight;
    walk();
    for (uint32_t f : used_) slot_[f] = kNone;
    return static_cast<uint32_t>(used_.size());
  }

 private:
  void link() {
    const size_t n = used_.size();
    first_child_.assign(n, kNone);
    next_sibling_.assign(n, kNone);
    depth_.assign(n, 0);
    weight_of_.assign(n, nullptr);
    for (uint32_t i = 0; i < n; ++i) slot_[used_[i]] = i;
    first_root_ = kNone;
    for (auto i = static_cast<uint32_t>(n); i-- > 0;) {
      const uint32_t parent = frames_[used_[i]].parent;
      uint32_t& first = parent == kNone ? first_root_ : first_child_[slot_[parent]];
      next_sibling_[i] = first;
      first = i;
    }
  }

  void walk() {
    pending_.clear();
    if (first_root_ != kNone) pending_.push_back(first_root_);
    while (!pending_.empty()) {
      const uint32_t i = pending_.back();
      pending_.pop_back();
      const Frame& frame = frames_[used_[i]];
      if (frame.parent != kNone) depth_[i] = depth_[slot_[frame.parent]] + 1;
      FlameNode node{depth_[i], frame.name, frame.type, std::max(frame.line, 0), 0, 0, 0};
      if (const Weight* weight = weight_of_[i]) {
        node.self_ns = weight->ns;
        node.samples = weight->samples;
        node.imprecise = weight->imprecise;
      }
      out_.push_back(node);
      if (next_sibling_[i] != kNone) pending_.push_back(next_sibling_[i]);
      if (first_child_[i] != kNone) pending_.push_back(first_child_[i]);
    }
  }

  const std::vector<Frame>& frames_;
  std::vector<FlameNode>& out_;
  std::vector<uint32_t> slot_;  // by frame: its place in used_, kNone if this thread has not got it
  std::vector<uint32_t> used_;
  std::vector<uint32_t> first_child_, next_sibling_, depth_, pending_;
  std::vector<const Weight*> weight_of_;
  uint32_t first_root_ = kNone;
};

// Samples by (thread, frame), added up.
Result<std::vector<std::vector<Weight>>> weigh(const Model& model, Frames& frames, const Entries& entries,
                                               Names& names) {
  std::vector<std::vector<Weight>> by_thread(entries.threads.size());
  analysis::KeyMap place;
  uint32_t no_stack = kNone;
  for (const analysis::Sample& sample : model.samples) {
    if (sample.thread.value >= entries.of_thread.size() || sample.stack.value >= frames.of_stack.size()) {
      return Error{Errc::kCorrupt, "a sample refers to a thread or stack that is not there"};
    }
    uint32_t frame = frames.of_stack[sample.stack.value];
    if (frame == kNone) {  // a sample without any frame still has its weight
      if (no_stack == kNone) {
        no_stack = static_cast<uint32_t>(frames.frames.size());
        frames.frames.push_back({kNone, names.intern("[no stack]"), 0, FrameType::kMarker});
      }
      frame = no_stack;
    }
    const uint32_t thread = entries.of_thread[sample.thread.value];
    std::vector<Weight>& weights = by_thread[thread];
    uint32_t& index = place[uint64_t{thread} << 32 | frame];
    if (index == analysis::KeyMap::kNone) {
      index = static_cast<uint32_t>(weights.size());
      weights.push_back({frame, 0, 0, 0});
    }
    Weight& weight = weights[index];
    weight.ns = add_weight(weight.ns, sample.weight);
    weight.samples += 1;
    weight.imprecise += sample.imprecise ? 1 : 0;
  }
  return by_thread;
}

void add_unsampled(const Model& model, Names& names, FlameTree& tree) {
  const size_t before = tree.nodes.size();
  for (const auto& [kind, cpu] : analysis::unsampled_cpu(model, {})) {
    if (cpu.count <= 0) continue;
    const uint32_t name = names.intern(analysis::unsampled_root_name(kind));
    tree.nodes.push_back({0, name, FrameType::kMarker, 0, add_weight(0, cpu.count), 0, 0});
  }
  const auto added = static_cast<uint32_t>(tree.nodes.size() - before);
  if (added != 0) tree.threads.push_back({names.intern("[not sampled]"), ThreadKind::kOther, 0, 0, false, 1, added});
}

}  // namespace

Result<FlameTree> build_flame_tree(const Model& model) {
  Names names;
  Result<Frames> frames = fold_stacks(model, names);
  if (!frames) return std::move(frames).error();
  const Entries entries = list_threads(model, names);
  auto weights = weigh(model, *frames, entries, names);
  if (!weights) return std::move(weights).error();

  FlameTree tree;
  TreeEmitter emitter(frames->frames, tree.nodes);
  for (size_t i = 0; i < entries.threads.size(); ++i) {
    const std::vector<Weight>& of_thread = (*weights)[i];
    if (of_thread.empty()) continue;
    tree.threads.push_back(entries.threads[i]);
    tree.threads.back().nodes = emitter.emit(of_thread);
  }
  add_unsampled(model, names, tree);
  tree.names = names.take();
  return tree;
}

}  // namespace tarsier::exporting
