#include "analysis/lock_samples.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "analysis/contentions.h"
#include "analysis/lock_aspects.h"

namespace tarsier::analysis {
namespace {

constexpr int64_t kLongestStretch = int64_t{1} << 60;
constexpr uint32_t kLastStretch = UINT32_MAX - 1;

int64_t distance(int64_t from, int64_t to) {
  int64_t ns = 0;
  if (__builtin_sub_overflow(to, from, &ns)) return to < from ? INT64_MIN : INT64_MAX;
  return ns;
}

int64_t capped_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// New nodes of the model's stacks, each once.
class NewFrames {
 public:
  explicit NewFrames(Model& model) : model_(model) {
    if (model_.stacks.empty()) model_.stacks.emplace_back();
  }

  MethodIndex method(std::string_view name) {
    const auto [found, fresh] = methods_.try_emplace(std::string(name), static_cast<uint32_t>(model_.methods.size()));
    if (fresh) model_.methods.push_back({std::string(name), {}});
    return MethodIndex(found->second);
  }
  StackIndex below(StackIndex caller, MethodIndex method, FrameType type) {
    uint32_t& node = nodes_[uint64_t{caller.value} << 32 | method.value];
    if (node == KeyMap::kNone) {
      node = static_cast<uint32_t>(model_.stacks.size());
      model_.stacks.push_back({.parent = caller, .method = method, .type = type});
    }
    return StackIndex(node);
  }
  StackIndex marker(std::string_view name) { return below(StackIndex(0), method(name), FrameType::kMarker); }

 private:
  Model& model_;
  std::map<std::string, uint32_t> methods_;
  KeyMap nodes_;
};

}  // namespace

uint64_t LockCells::hash_of(const Group& group) {
  return mix_hash(uint64_t{group.thread.value} << 32 | group.stack.value,
                  uint64_t{group.klass.value} << 8 | static_cast<uint64_t>(group.kind) << 2 |
                      (group.has_class ? 2U : 0U) | (group.more ? 1U : 0U));
}

uint32_t LockCells::find(const Group& group, bool may_add) {
  const auto same = [&](uint32_t i) { return groups_[i].same(group); };
  const uint32_t known = group_table_.find(hash_of(group), same);
  if (known != IndexTable::kNone || !may_add) return known;
  const auto next = static_cast<uint32_t>(groups_.size());
  group_table_.find_or_enter(hash_of(group), next, same, [&](uint32_t i) { return hash_of(groups_[i]); });
  groups_.push_back(group);
  return next;
}

uint32_t LockCells::group_of(const Who& who) {
  // Once groups are many, who came first is one of its own, and who comes later is not: that does not change any more.
  Recent& recent = recent_[(who.thread.value * 61 + who.stack.value * 3 + who.klass.value) % recent_.size()];
  if (recent.group == UINT32_MAX || recent.who != who) recent = {who, find_group(who)};
  return recent.group;
}

uint32_t LockCells::find_group(const Who& who) {
  Group group{.thread = who.thread,
              .stack = who.kind == Owner::Kind::kChain ? who.stack : StackIndex(0),
              .klass = MethodIndex(0),
              .kind = who.kind,
              .has_class = who.klass != kNoClass,
              .more = false};
  if (group.has_class) group.klass = who.klass;
  const uint32_t found = find(group, groups_.size() < room_.cells);
  if (found != IndexTable::kNone) return found;
  // So many chains of so many threads: those that come now are one.
  return find(
      {.thread = kNobody, .stack = {}, .klass = {}, .kind = Owner::Kind::kChain, .has_class = false, .more = true},
      true);
}

uint32_t LockCells::stretch_of(int64_t time_ns) const {
  const int64_t since = distance(start_ns_, time_ns);
  if (since < stretch_ns_) return 0;  // as always where there is only one: a division takes some time
  return static_cast<uint32_t>(std::min<int64_t>(since / stretch_ns_, kLastStretch));
}

int64_t LockCells::begin_of(uint32_t stretch) const {
  int64_t since = 0;
  return __builtin_mul_overflow(int64_t{stretch}, stretch_ns_, &since) ? INT64_MAX : capped_sum(start_ns_, since);
}

// The next longer stretches, of which each is made of whole ones of those before.
bool LockCells::coarsen() {
  const int64_t ratio = is_two_ ? 5 : 2;
  if (stretch_ns_ > kLongestStretch / ratio) return false;
  stretch_ns_ *= ratio;
  is_two_ = !is_two_;
  std::vector<Cell> old;
  old.swap(cells_);
  cell_of_ = {};
  for (const Cell& from : old) {
    Cell& into = cell(from.group, static_cast<uint32_t>(from.stretch / ratio));
    into.ns += from.ns;
    into.count += from.count;
  }
  return true;
}

LockCells::Cell& LockCells::cell(uint32_t group, uint32_t stretch) {
  uint32_t& at = cell_of_[uint64_t{stretch} << 32 | group];
  if (at == KeyMap::kNone) {
    at = static_cast<uint32_t>(cells_.size());
    cells_.push_back({group, stretch});
  }
  return cells_[at];
}

void LockCells::add(const Model& model, const Selection& selection, const Who& who, int64_t begin_ns, int64_t end_ns,
                    uint64_t contention) {
  if (!started_) start_ns_ = model.start_ns;
  started_ = true;
  const uint32_t group = group_of(who);
  const int64_t began_ns = begin_ns;
  const bool counts = groups_[group].last != contention;
  groups_[group].last = contention;
  if (!selection.clip(begin_ns, end_ns)) return;
  const auto stretches = [&] { return int64_t{stretch_of(end_ns)} - stretch_of(begin_ns); };
  const bool is_long = distance(begin_ns, end_ns) >= stretch_ns_;
  while ((cells_.size() > room_.cells || (is_long && stretches() > room_.most_stretches)) && coarsen()) {
  }
  uint32_t stretch = stretch_of(begin_ns);
  Cell& first = cell(group, stretch);
  if (counts && began_ns == begin_ns && first.count < UINT32_MAX) ++first.count;
  for (int64_t at = begin_ns; at < end_ns; ++stretch) {
    const int64_t border = stretch == kLastStretch ? end_ns : begin_of(stretch + 1);
    const int64_t until = std::min(end_ns, border);
    const int64_t ns = std::clamp<int64_t>(distance(at, until), 0, weight_left_);
    weight_left_ -= ns;
    (at == begin_ns ? first : cell(group, stretch)).ns += ns;
    at = until;
  }
}

Samples LockCells::samples(Model& model, int64_t from_ns) const {
  NewFrames frames(model);
  std::vector<bool> used(groups_.size(), false);
  for (const Cell& cell : cells_) used[cell.group] = true;
  std::vector<StackIndex> stack_of(groups_.size());
  for (size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (!used[i]) continue;
    if (group.more) {
      stack_of[i] = frames.marker(kMoreLabel);
      continue;
    }
    StackIndex chain = group.stack;
    if (group.kind == Owner::Kind::kThread) {
      chain = frames.marker(kNoChainLabel);
    } else if (group.kind == Owner::Kind::kHandOff) {
      chain = frames.marker(kHandOffLabel);
    } else if (group.kind == Owner::Kind::kUnknown) {
      chain = frames.marker(kUnknownOwnerLabel);
    } else if (chain == StackIndex(0)) {
      chain = frames.marker("[no stack]");
    }
    const MethodIndex klass = group.has_class ? group.klass : frames.method(lock_class_name(model, kNoLock));
    stack_of[i] = frames.below(chain, klass, FrameType::kClass);
  }

  std::vector<uint32_t> order(cells_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return cells_[a].stretch != cells_[b].stretch ? cells_[a].stretch < cells_[b].stretch
                                                  : cells_[a].group < cells_[b].group;
  });
  Samples samples;
  for (const uint32_t i : order) {
    const Cell& cell = cells_[i];
    samples.push_back({.time_ns = std::max(begin_of(cell.stretch), from_ns),
                       .thread = groups_[cell.group].thread,
                       .stack = stack_of[cell.group],
                       .weight = cell.ns,
                       .count = cell.count});
  }
  return samples;
}

LockSamples::LockSamples(const Filter& filter, LockSampleDetail detail, const LockSampleRoom& room)
    : time_{.thread_regex = {}, .from = filter.from, .to = filter.to},
      detail_(detail),
      blocked_(detail == LockSampleDetail::kSums ? LockCells(room, kLongestStretch) : LockCells(room)),
      owners_(room) {}

// An earlier start may become known while the recording is read.
const Selection& LockSamples::selection_of(const Model& model) {
  if (selected_start_ns_ != model.start_ns) {
    selected_start_ns_ = model.start_ns;
    selection_ = Selection::so_far(model, time_);
  }
  return selection_;
}

void LockSamples::add(const Model& model, const LockCode& code, const Contention& contention,
                      std::span<const Piece> pieces) {
  if (!is_lock(contention.group)) return;
  const Selection& selection = selection_of(model);
  const uint64_t number = contentions_++;
  const bool all = detail_ == LockSampleDetail::kAll;
  const bool has_class = contention.lock != kNoLock && contention.lock.value < model.locks.locks.size();
  const MethodIndex klass = has_class ? model.locks.locks[contention.lock.value].klass : LockCells::kNoClass;
  blocked_.add(model, selection,
               {contention.thread, all ? code.user_frame(contention.stack) : StackIndex(0), klass, Owner::Kind::kChain},
               contention.begin_ns, contention.end_ns, number);
  if (!all) return;
  for (const Piece& piece : pieces) {
    const Owner& owner = piece.owner;
    const bool has_chain = owner.kind == Owner::Kind::kChain;
    owners_.add(model, selection,
                {owner.thread, has_chain ? code.user_frame(owner.stack) : StackIndex(0), klass, owner.kind},
                piece.begin_ns, piece.end_ns, number);
  }
}

void LockSamples::put(Model& model) const {
  const auto profile = [&](Profile which) -> Samples& {
    return which == model.profile ? model.samples : model.others[static_cast<size_t>(which)];
  };
  const int64_t from_ns =
      time_.from ? capped_sum(model.start_ns, time_.from->count) : std::numeric_limits<int64_t>::min();
  model.locks_are_of_part = time_.from || time_.to;
  profile(Profile::kLocks) = blocked_.samples(model, from_ns);
  model.lock_stretch = Nanos(blocked_.empty() ? 0 : blocked_.stretch_ns());
  profile(Profile::kOwners) = {};
  if (detail_ != LockSampleDetail::kAll || !owners_recorded(model)) return;
  profile(Profile::kOwners) = owners_.samples(model, from_ns);
  model.lock_stretch = std::max(model.lock_stretch, Nanos(owners_.empty() ? 0 : owners_.stretch_ns()));
}

void add_lock_samples(Model& model, const Filter& filter) {
  LockSamples samples(filter);
  const LockCode code(model);
  for_each_contention(model, code, {},
                      [&](const auto& contention, auto pieces) { samples.add(model, code, contention, pieces); });
  samples.put(model);
}

}  // namespace tarsier::analysis
