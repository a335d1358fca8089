#include "analysis/lock_pass.h"

#include <algorithm>
#include <utility>

namespace tarsier::analysis {
namespace {

// The verdict wants the largest causes only.
constexpr size_t kRowsForVerdict = 300'000;

}  // namespace

// All that refers to the model, which must stay where it is meanwhile.
struct LockPass::Work {
  Work(const Model& from, const std::optional<LockQuestion>& asked, LockSamples* kept, const LockLimits& limits)
      : model(from),
        question(asked),
        samples(kept),
        code(from),
        plain(from, code, label_methods(from, false)),
        times(asked && asked->causes ? BlockedTimesBuilder::kMostRows : kRowsForVerdict),
        contentions(
            code, [this](const Contention& contention, std::span<const Piece> pieces) { add(contention, pieces); },
            PieceBudget(), limits) {
    if (!question) return;
    if (question->causes && !question->filter.everything()) part.emplace();
    if (question->signatures) signed_keys.emplace(from, code, label_methods(from, true));
    view.emplace(question->by);
    answer = selected(selection, [this](const Contention& contention, std::span<const Piece> pieces) {
      view->add(view_keys(), contention, pieces);
    });
    grow();
  }

  void grow() {
    code.grow();
    plain.grow(label_methods(model, false));
    if (signed_keys) signed_keys->grow(label_methods(model, true));
    if (question) selection = Selection::so_far(model, question->filter);
  }
  void add(const Contention& contention, std::span<const Piece> pieces) {
    blame.add(plain, contention, pieces);
    times.add(everything, contention, pieces);
    if (samples != nullptr) samples->add(model, code, contention, pieces);
    if (question && question->each) question->each(model, code, contention, pieces);
    if (part) part->add(selection, contention, pieces);
    if (view && selection.everything()) {
      view->add(view_keys(), contention, pieces);
    } else if (view) {
      answer(contention, pieces);
    }
  }
  [[nodiscard]] const AspectKeys& view_keys() const { return signed_keys ? *signed_keys : plain; }

  const Model& model;
  const std::optional<LockQuestion>& question;
  LockSamples* samples;  // null: nobody wants them
  LockCode code;
  AspectKeys plain;
  std::optional<AspectKeys> signed_keys;
  Selection selection;
  const Selection everything;
  LockBlameFinder blame;
  BlockedTimesBuilder times;
  std::optional<BlockedTimesBuilder> part;  // if the question is about one
  std::optional<LockProfileBuilder> view;
  ContentionSink answer;
  Contentions contentions;
};

LockPass::LockPass(std::optional<LockQuestion> question, const LockLimits& limits)
    : question_(std::move(question)), limits_(limits), next_look_(limits.whole + 1) {}

LockPass::~LockPass() = default;

LockPass::Work& LockPass::work(const Model& model) {
  if (work_) {
    work_->grow();
  } else {
    work_ = std::make_unique<Work>(model, question_, samples_ ? &*samples_ : nullptr, limits_);
  }
  return *work_;
}

// The median: one event that claims to be of the next year is not believed.
int64_t LockPass::newest() const {
  const auto count = static_cast<std::ptrdiff_t>(std::min<uint64_t>(came_, recent_.size()));
  std::vector<int64_t> times(recent_.begin(), recent_.begin() + count);
  const auto middle = times.begin() + count / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void LockPass::advance(Model& model, int64_t now_ns) {
  if (came_ == 0) return;
  work(model).contentions.advance(model.locks, std::max(newest(), now_ns));
}

void LockPass::look(Model& model) {
  // Recordings of JFR itself are in no order within a chunk.
  const bool ordered = !model.producer.empty();
  if (ordered) advance(model);
  size_t left = model.locks.in_columns();
  // So many in so short a time: the older ones have to be final now.
  for (int64_t margin = limits_.lateness.count; left > limits_.pending / 2 && margin > 0; margin /= 2) {
    const int64_t past = limits_.lateness.count + limits_.wake_up.count - margin;
    work(model).contentions.advance(model.locks, newest() + past);
    left = model.locks.in_columns();
  }
  // What is left over is looked at again and again: not too often.
  constexpr size_t kWorthIt = 250'000;
  next_look_ =
      came_ + std::max(kWorthIt, std::min(left / 2 + kWorthIt, limits_.pending - std::min(limits_.pending, left)));
}

void LockPass::finish(Model& model) {
  Work& all = work(model);
  all.contentions.finish(model.locks);
  const LockAccount& account = all.contentions.account();
  LockBlame blame = all.blame.find(all.plain);
  blame.times = std::make_shared<const BlockedTimes>(std::move(all.times).finish());
  if (all.view) {
    LockProfile profile = std::move(*all.view).finish(all.view_keys(), account);
    profile.times = all.part ? std::make_shared<const BlockedTimes>(std::move(*all.part).finish()) : blame.times;
    profile_ = std::make_shared<const LockProfile>(std::move(profile));
  }
  model.lock_blame = std::make_shared<const LockBlame>(std::move(blame));
  // Half of the events would tell half of the truth.
  LockEvents& locks = model.locks;
  if (!locks.complete()) {
    locks.taken.enters += std::exchange(locks.enters, {}).size();
    locks.taken.exits += std::exchange(locks.exits, {}).size();
    locks.taken.parks += std::exchange(locks.parks, {}).size();
    locks.taken.unparks += std::exchange(locks.unparks, {}).size();
    locks.taken.holds += std::exchange(locks.holds, {}).size();
  }
  put_samples(model);
  work_.reset();
}

LockProfile LockPass::take_profile(const Model& model) {
  Work& so_far = work(model);
  LockProfile profile = std::move(*so_far.view).finish(so_far.view_keys(), so_far.contentions.account());
  so_far.view.emplace(question_->by);
  return profile;
}

const AspectKeys& LockPass::keys() const {
  return work_->view_keys();
}

}  // namespace tarsier::analysis
