#include "hotspot/walk.h"

namespace tarsier::hotspot {

// next(), with a note of all that it reads.
bool StackWalker::Walk::next_step() {
  out_.steps.push_back({.at = at_, .from_leaf = from_leaf_, .code = {}});
  const size_t words = out_.words.size(), frames = out_.frames.size();
  in_step_ = true;
  const bool goes_on = next();
  in_step_ = false;
  out_.steps.back().words = static_cast<uint32_t>(out_.words.size() - words);
  out_.steps.back().frames = static_cast<uint32_t>(out_.frames.size() - frames);
  return goes_on;
}

void StackWalker::Walk::note_identity(const CodeIdentity& code) {
  if (!in_step_) return;
  out_.steps.back().code = code;
  out_.steps.back().by_fp = false;
}

// How many of the words, from the last one on, are in the fragment as they were. They lie in memory that another CPU
// has written, so those that come next are asked for ahead.
size_t StackWalker::Walk::same_words(std::span<const WalkedWord> words) const {
  constexpr size_t kAhead = 12;
  for (size_t i = words.size(); i-- > 0;) {
    if (i >= kAhead) __builtin_prefetch(piece_.data + (words[i - kAhead].at - piece_.begin));
    if (!within(words[i].at) || peek(words[i].at) != words[i].value) return words.size() - 1 - i;
  }
  return words.size();
}

bool StackWalker::Walk::has_its_code(const WalkStep& step) const {
  return step.code.at == 0 || w_.memory_->read<int32_t>(step.code.at) == step.code.value;
}

// Whether the rest of the stack is that of the last one.
bool StackWalker::Walk::take_remembered() {
  RememberedStack& last = *remembered_;
  size_t inner = last.steps().size();
  while (inner > 0 && last.steps()[inner - 1].at.sp < at_.sp) --inner;
  last.shorten(inner);
  if (inner == 0) return false;
  const WalkStep& first = last.steps()[inner - 1];
  // An entry frame tells something about the frame that it has called, which may be another one here; it may come
  // behind code that has no frame to show.
  if (first.at.sp != at_.sp || first.at.pc != at_.pc || (first.by_fp && first.at.fp != at_.fp) ||
      first.from_leaf != from_leaf_ || first.is_entry || first.frames == 0) {
    return false;
  }
  if (last.frames().size() > max_depth_ - out_.frames.size()) return false;
  size_t same = same_words(last.words());
  const uint64_t moment = w_.blobs_->moment();
  const size_t seen = last.seen(moment);
  for (size_t i = inner; i-- > 0;) {
    const WalkStep& step = last.steps()[i];
    if (same < step.words || (i >= seen && !has_its_code(step))) {
      last.shorten(i);
      return false;
    }
    same -= step.words;
  }
  last.set_seen(moment, inner);
  if (out_.leaves_out_reused) {
    out_.outer = last.frames();
  } else {
    out_.frames.insert(out_.frames.end(), last.frames().rbegin(), last.frames().rend());
  }
  out_.reused = last.frames().size();
  out_.highest = std::max(out_.highest, last.highest());
  at_ = last.steps().front().at;
  stop(WalkEnd::kComplete);
  return true;
}

}  // namespace tarsier::hotspot
