#include "export/profile_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/index_table.h"
#include "analysis/thread_kind.h"
#include "export/columns.h"

namespace tarsier::exporting {
namespace {

using analysis::Model;
using recording::FrameType;
using Frame = FoldedStacks::Frame;
constexpr uint32_t kNone = FoldedStacks::kNone;

int64_t add_weight(int64_t sum, int64_t weight) {
  return sum + std::min(std::max<int64_t>(weight, 0), kMaxColumnNumber - sum);
}

uint64_t hash_of(const Frame& frame) {
  const uint64_t place = uint64_t{frame.parent} << 32 | frame.name;
  const uint64_t site =
      static_cast<uint64_t>(static_cast<uint32_t>(frame.line)) << 8 | static_cast<uint64_t>(frame.type);
  return analysis::mix_hash(place, site);
}

// What a thread has in a frame; all that a sample changes is on one line of the cache.
struct Place {
  uint32_t row;    // the thread's
  uint32_t frame;  // innermost
  uint32_t samples = 0;
  uint32_t imprecise = 0;
  int64_t self = 0;
  // Of these, in the moment of the last sample.
  int64_t self_now = 0;
  uint32_t samples_now = 0;
  uint32_t moment = 0;
  uint32_t node = kNone;

  // Contentions go on in moments in which none began.
  [[nodiscard]] bool has_now() const { return samples_now > 0 || self_now > 0; }
};

// Finds the places of samples. Those of one thread come together in a recording, and few of its places are hot: a table
// for each thread stays in the cache meanwhile, one for all would not. What is not there is fetched beforehand: of a
// large recording nearly all of the time goes into waiting for memory.
class Places {
 public:
  explicit Places(size_t rows) : tables_(rows) {}

  // Two hints: the first some time before the second, that some time before of().
  void will_look(uint32_t row, uint32_t frame) const {
    const Table& table = tables_[row];
    if (!table.slots.empty()) __builtin_prefetch(&table.slots[table.slot_of(frame)]);
  }
  void will_change(uint32_t row, uint32_t frame) const {
    const Table& table = tables_[row];
    if (table.slots.empty()) return;
    const uint32_t likely = table.slots[table.slot_of(frame)];
    if (likely != kNone) __builtin_prefetch(&all_[likely], 1);
  }

  Place& of(uint32_t row, uint32_t frame) {
    Table& table = tables_[row];
    if ((table.used + 1) * 2 > table.slots.size()) grow(table);
    const size_t mask = table.slots.size() - 1;
    size_t slot = table.slot_of(frame);
    while (table.slots[slot] != kNone && all_[table.slots[slot]].frame != frame) slot = (slot + 1) & mask;
    if (table.slots[slot] == kNone) {
      table.slots[slot] = static_cast<uint32_t>(all_.size());
      ++table.used;
      all_.push_back({row, frame});
    }
    return all_[table.slots[slot]];
  }
  std::vector<Place>& all() { return all_; }

 private:
  struct Table {
    std::vector<uint32_t> slots;  // indices of places, kNone: free
    size_t used = 0;
    [[nodiscard]] size_t slot_of(uint32_t frame) const { return analysis::mix_hash(0, frame) & (slots.size() - 1); }
  };
  void grow(Table& table) const {
    std::vector<uint32_t> old(std::max<size_t>(16, table.slots.size() * 2), kNone);
    old.swap(table.slots);
    const size_t mask = table.slots.size() - 1;
    for (const uint32_t place : old) {
      if (place == kNone) continue;
      size_t slot = table.slot_of(all_[place].frame);
      while (table.slots[slot] != kNone) slot = (slot + 1) & mask;
      table.slots[slot] = place;
    }
  }

  std::vector<Table> tables_;  // by row
  std::vector<Place> all_;
};

// Rows of the same moment and node become one; afterwards they are in that order.
void compact(std::vector<MomentRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const MomentRow& a, const MomentRow& b) {
    return a.moment != b.moment ? a.moment < b.moment : a.node < b.node;
  });
  size_t kept = 0;
  for (const MomentRow& row : rows) {
    if (kept > 0 && rows[kept - 1].moment == row.moment && rows[kept - 1].node == row.node) {
      rows[kept - 1].self = add_weight(rows[kept - 1].self, row.self);
      rows[kept - 1].samples += row.samples;
    } else {
      rows[kept++] = row;
    }
  }
  rows.resize(kept);
}

// What places got in each moment. Most samples come in the order of time: what has to be put together afterwards is
// little. If it becomes too much, moments become longer.
class MomentRows {
 public:
  MomentRows(PageTime& time, std::vector<Place>& places, size_t most) : time_(time), places_(places), most_(most) {}

  [[nodiscard]] uint32_t moment_of(int64_t time_ns) const { return time_.moment_of(time_ns); }
  // What the place has got in its moment, which is over; true if that moment is now longer than it was.
  bool end_moment(Place& place) {
    const bool longer = rows_.size() >= limit_ && make_room();
    rows_.push_back({place.moment, static_cast<uint32_t>(&place - places_.data()), place.self_now, place.samples_now});
    place.self_now = 0;
    place.samples_now = 0;
    return longer;
  }

  // By moment and node, once places have their nodes.
  std::vector<MomentRow> finish() {
    for (Place& place : places_) {
      if (place.has_now()) end_moment(place);
    }
    for (MomentRow& row : rows_) row.node = places_[row.node].node;
    compact(rows_);
    while (rows_.size() > most_) {
      const uint32_t ratio = time_.coarsen();
      if (ratio == 1) break;
      join_moments(rows_, ratio);
    }
    return std::move(rows_);
  }

 private:
  bool make_room() {
    compact(rows_);
    bool longer = false;
    while (rows_.size() > most_) {
      const uint32_t ratio = time_.coarsen();
      if (ratio == 1) break;
      join_moments(rows_, ratio);
      for (Place& place : places_) place.moment /= ratio;
      longer = true;
    }
    // Of one moment there are no more rows than places.
    limit_ = std::max(2 * most_, 2 * rows_.size());
    return longer;
  }

  PageTime& time_;
  std::vector<Place>& places_;
  const size_t most_;
  size_t limit_ = 2 * most_;     // then there have to be fewer
  std::vector<MomentRow> rows_;  // `node` is a place until the end
};

// Emits one thread's tree. The scratch arrays are as long as all frames and are reused: each thread pays only for
// the frames it touches.
class TreeEmitter {
 public:
  TreeEmitter(const FoldedStacks& stacks, ProfileTree& out)
      : stacks_(stacks), out_(out), slot_(stacks.frames.size(), kNone), name_(stacks.names.size(), kNone) {}

  // How many nodes the thread would have, by the bits of what they and all below them weigh.
  using Sizes = std::array<size_t, 65>;
  void count(const std::vector<Place>& places, const uint32_t* first, const uint32_t* end, Sizes& sizes) {
    find_used(places, first, end);
    for (const Local& local : locals_) ++sizes[std::bit_width(static_cast<uint64_t>(local.total))];
    forget();
  }

  // All places of one thread, each with another frame. What weighs less than `least` with all below it is taken
  // together, below its caller.
  void emit(std::vector<Place>& places, const uint32_t* first, const uint32_t* end, int64_t least) {
    const size_t before = out_.nodes.size();
    find_used(places, first, end);
    fold(least);
    for (const uint32_t* place = first; place != end; ++place) {
      Place& from = places[*place];
      Local& into = locals_[slot_[from.frame]];
      into.self = add_weight(into.self, from.self);
      into.samples += from.samples;
      into.imprecise += from.imprecise;
    }
    link();
    walk();
    for (const uint32_t* place = first; place != end; ++place) {
      places[*place].node = locals_[slot_[places[*place].frame]].node;
    }
    forget();
    out_.threads.push_back({places[*first].row, static_cast<uint32_t>(out_.nodes.size() - before)});
  }

  uint32_t name(std::string_view text) {
    out_.names.emplace_back(text);
    return static_cast<uint32_t>(out_.names.size() - 1);
  }

 private:
  // A frame of this thread, or what was taken together below one.
  struct Local {
    uint32_t frame = kNone;   // kNone: taken together
    uint32_t parent = kNone;  // of locals_
    int64_t total = 0;
    int64_t self = 0;
    uint32_t samples = 0, imprecise = 0;
    uint32_t depth = 0;
    uint32_t first_child = kNone, next_sibling = kNone;
    uint32_t node = kNone;  // of the tree
    bool folded = false;
  };

  void find_used(const std::vector<Place>& places, const uint32_t* first, const uint32_t* end) {
    for (const uint32_t* place = first; place != end; ++place) {
      for (uint32_t f = places[*place].frame; f != kNone && slot_[f] == kNone; f = stacks_.frames[f].parent) {
        slot_[f] = 0;
        used_.push_back(f);
      }
    }
    std::sort(used_.begin(), used_.end());  // callers have smaller indices than their callees
    for (const uint32_t f : used_) {
      slot_[f] = static_cast<uint32_t>(locals_.size());
      Local& local = locals_.emplace_back();
      local.frame = f;
      if (stacks_.frames[f].parent != kNone) local.parent = slot_[stacks_.frames[f].parent];
    }
    for (const uint32_t* place = first; place != end; ++place) {
      Local& local = locals_[slot_[places[*place].frame]];
      local.total = add_weight(local.total, places[*place].self);
    }
    for (size_t i = locals_.size(); i-- > 0;) {
      if (locals_[i].parent == kNone) continue;
      Local& parent = locals_[locals_[i].parent];
      parent.total = add_weight(parent.total, locals_[i].total);
    }
  }
  void forget() {
    for (const uint32_t f : used_) slot_[f] = kNone;
    used_.clear();
    locals_.clear();
  }

  void fold(int64_t least) {
    if (least <= 0) return;
    const size_t frames = locals_.size();
    uint32_t together_of_none = kNone;
    std::vector<uint32_t> together(frames, kNone);  // by caller
    for (uint32_t i = 0; i < frames; ++i) {
      if (locals_[i].total >= least) continue;
      locals_[i].folded = true;
      const uint32_t caller = locals_[i].parent;
      if (caller != kNone && locals_[caller].folded) {
        slot_[locals_[i].frame] = slot_[locals_[caller].frame];
        continue;
      }
      uint32_t& into = caller == kNone ? together_of_none : together[caller];
      if (into == kNone) {
        into = static_cast<uint32_t>(locals_.size());
        locals_.emplace_back().parent = caller;
      }
      slot_[locals_[i].frame] = into;
    }
  }

  void link() {
    first_root_ = kNone;
    for (auto i = static_cast<uint32_t>(locals_.size()); i-- > 0;) {
      Local& local = locals_[i];
      if (local.folded) continue;
      uint32_t& first = local.parent == kNone ? first_root_ : locals_[local.parent].first_child;
      local.next_sibling = first;
      first = i;
    }
  }

  void walk() {
    pending_.clear();
    if (first_root_ != kNone) pending_.push_back(first_root_);
    while (!pending_.empty()) {
      Local& local = locals_[pending_.back()];
      pending_.pop_back();
      if (local.parent != kNone) local.depth = locals_[local.parent].depth + 1;
      local.node = static_cast<uint32_t>(out_.nodes.size());
      out_.nodes.push_back(node_of(local));
      if (local.next_sibling != kNone) pending_.push_back(local.next_sibling);
      if (local.first_child != kNone) pending_.push_back(local.first_child);
    }
  }

  TreeNode node_of(const Local& local) {
    TreeNode node{.depth = local.depth, .self = local.self, .samples = local.samples, .imprecise = local.imprecise};
    if (local.frame == kNone) {
      if (together_name_ == kNone) together_name_ = name(kTogether);
      node.name = together_name_;
      node.type = FrameType::kMarker;
      out_.together = add_weight(out_.together, local.self);
      return node;
    }
    const Frame& frame = stacks_.frames[local.frame];
    uint32_t& name = name_[frame.name];
    if (name == kNone) name = this->name(stacks_.names[frame.name]);
    node.name = name;
    node.type = frame.type;
    node.line = std::max(frame.line, 0);
    return node;
  }

  const FoldedStacks& stacks_;
  ProfileTree& out_;
  std::vector<uint32_t> slot_;  // by frame: where it is in locals_, kNone if this thread has not got it
  std::vector<uint32_t> name_;  // by name of the stacks: that of the tree
  uint32_t together_name_ = kNone;
  std::vector<uint32_t> used_;
  std::vector<Local> locals_;  // callers first
  std::vector<uint32_t> pending_;
  uint32_t first_root_ = kNone;
};

void add_unsampled(const Model& model, uint32_t row, TreeEmitter& emitter, ProfileTree& tree) {
  const size_t before = tree.nodes.size();
  for (const auto& [kind, cpu] : model.unsampled_cpu) {
    if (cpu.count <= 0) continue;
    const uint32_t name = emitter.name(analysis::unsampled_root_name(kind));
    tree.nodes.push_back({.name = name, .type = FrameType::kMarker, .self = add_weight(0, cpu.count)});
  }
  tree.threads.push_back({row, static_cast<uint32_t>(tree.nodes.size() - before)});
}

// Threads one after the other, as the page lists them; `each` gets the places of one.
template <class Each>
void for_each_thread(const std::vector<Place>& places, Each each) {
  std::vector<uint32_t> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return places[a].row < places[b].row; });
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && places[order[end]].row == places[order[first]].row) ++end;
    each(order.data() + first, order.data() + end);
    first = end;
  }
}

void emit_trees(std::vector<Place>& places, TreeEmitter& emitter, size_t most_nodes) {
  TreeEmitter::Sizes sizes{};
  for_each_thread(places,
                  [&](const uint32_t* first, const uint32_t* end) { emitter.count(places, first, end, sizes); });
  // As many of the heaviest as there is room for, with one below each for what is taken together.
  size_t nodes = 0, bits = sizes.size();
  while (bits > 0 && nodes + sizes[bits - 1] <= most_nodes) nodes += sizes[--bits];
  const int64_t least = bits == 0 ? 0 : int64_t{1} << std::min<size_t>(bits - 1, 62);
  for_each_thread(places, [&](const uint32_t* first, const uint32_t* end) { emitter.emit(places, first, end, least); });
}

}  // namespace

Result<FoldedStacks> FoldedStacks::make(const Model& model) {
  FoldedStacks out;
  std::unordered_map<std::string_view, uint32_t> name_ids;
  std::vector<uint32_t> name_of_method(model.methods.size(), kNone);
  const auto intern = [&](std::string_view name) {
    const auto [found, fresh] = name_ids.try_emplace(name, static_cast<uint32_t>(out.names.size()));
    if (fresh) out.names.emplace_back(name);
    return found->second;
  };
  analysis::IndexTable ids;
  out.of_stack.assign(std::max<size_t>(model.stacks.size(), 1), kNone);
  for (size_t i = 1; i < model.stacks.size(); ++i) {
    const analysis::StackNode& node = model.stacks[i];
    if (node.parent.value >= i || node.method.value >= model.methods.size() || node.type >= FrameType::kCount) {
      return Error{Errc::kCorrupt,
                   "stack node " + std::to_string(i) + " refers to a caller or method that is not there"};
    }
    uint32_t& name = name_of_method[node.method.value];
    if (name == kNone) name = intern(model.methods[node.method.value].name);
    const Frame frame{out.of_stack[node.parent.value], name, node.line, node.type};
    const auto next = static_cast<uint32_t>(out.frames.size());
    const uint32_t id = ids.find_or_enter(
        hash_of(frame), next, [&](uint32_t other) { return out.frames[other] == frame; },
        [&](uint32_t other) { return hash_of(out.frames[other]); });
    if (id == next) out.frames.push_back(frame);
    out.of_stack[i] = id;
  }
  // A sample without any frame still has its weight.
  out.of_stack[0] = static_cast<uint32_t>(out.frames.size());
  out.frames.push_back({kNone, intern("[no stack]"), 0, FrameType::kMarker});
  return out;
}

void join_moments(std::vector<MomentRow>& rows, int64_t ratio) {
  for (MomentRow& row : rows) row.moment = static_cast<uint32_t>(row.moment / ratio);
  compact(rows);
}

Result<ProfileTree> build_profile_tree(const Model& model, analysis::Profile profile, const FoldedStacks& stacks,
                                       const PageThreads& threads, PageTime* time, size_t most_nodes,
                                       size_t most_rows) {
  Places found(threads.size());
  std::vector<Place>& places = found.all();
  std::optional<MomentRows> moments;
  if (time != nullptr) moments.emplace(*time, places, most_rows);
  struct Known {
    uint32_t row, frame;
    uint32_t count;
    bool imprecise;
    int64_t time_ns, weight;
  };
  std::array<Known, 64> batch;
  const analysis::Samples& samples = samples_of(model, profile);
  for (auto next = samples.begin(), end = samples.end(); next != end;) {
    size_t count = 0;
    for (; count < batch.size() && next != end; ++next, ++count) {
      const analysis::Sample sample = *next;
      const std::optional<uint32_t> row = threads.row_or_nobody(sample.thread);
      if (!row || sample.stack.value >= stacks.of_stack.size()) {
        return Error{Errc::kCorrupt, "a sample refers to a thread or stack that is not there"};
      }
      batch[count] = {*row,         stacks.of_stack[sample.stack.value], sample.count, sample.imprecise, sample.time_ns,
                      sample.weight};
      found.will_look(batch[count].row, batch[count].frame);
    }
    for (size_t i = 0; i < count; ++i) found.will_change(batch[i].row, batch[i].frame);
    for (size_t i = 0; i < count; ++i) {
      const Known& sample = batch[i];
      Place& place = found.of(sample.row, sample.frame);
      place.self = add_weight(place.self, sample.weight);
      place.samples += sample.count;
      place.imprecise += sample.imprecise ? 1 : 0;
      if (!moments) continue;
      uint32_t moment = moments->moment_of(sample.time_ns);
      if (moment != place.moment) {
        if (place.has_now() && moments->end_moment(place)) moment = moments->moment_of(sample.time_ns);
        place.moment = moment;
      }
      place.self_now = add_weight(place.self_now, sample.weight);
      place.samples_now += sample.count;
    }
  }

  ProfileTree tree;
  TreeEmitter emitter(stacks, tree);
  emit_trees(places, emitter, most_nodes);
  if (moments) tree.moments = moments->finish();
  if (profile == analysis::Profile::kCpu && threads.not_sampled()) {
    add_unsampled(model, *threads.not_sampled(), emitter, tree);
  }
  return tree;
}

}  // namespace tarsier::exporting
