#include "analysis/lock_aspects.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace tarsier::analysis {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(LockAspect::kCount)> kNames = {
    "group",         "class",        "object",       "blocked-thread", "blocked-method",
    "blocked-chain", "owner-thread", "owner-method", "owner-chain",    "after-wait"};

constexpr uint32_t kNoClassKey = UINT32_MAX;

constexpr size_t kMostFramesOfLabel = 1000;

}  // namespace

std::string_view AspectKeys::special_label(uint32_t key) {
  return key == kHandOffKey   ? kHandOffLabel
         : key == kUnknownKey ? kUnknownOwnerLabel
         : key == kNoChainKey ? kNoChainLabel
         : key == kNoStackKey ? "[no stack]"
         : key == kMoreKey    ? kMoreLabel
                              : std::string_view();
}

std::string_view lock_aspect_name(LockAspect aspect) {
  return kNames[static_cast<size_t>(aspect)];
}

std::optional<LockAspect> lock_aspect_named(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<LockAspect>(found - kNames.begin());
}

std::vector<std::string_view> lock_aspect_names() {
  return {kNames.begin(), kNames.end()};
}

std::string lock_class_name(const Model& model, LockIndex lock) {
  if (lock == kNoLock) return "[no blocker]";
  return model.methods[model.locks.locks[lock.value].klass.value].name;
}

std::string lock_name(const Model& model, LockIndex lock) {
  if (lock == kNoLock) return lock_class_name(model, lock);
  std::array<char, 20> digits{};
  const auto identity = static_cast<uint64_t>(model.locks.locks[lock.value].identity);
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), identity, 16).ptr;
  return lock_class_name(model, lock) + "@" + std::string(digits.data(), end);
}

AspectKeys::AspectKeys(const Model& model, const LockCode& code, Labels labels) : model_(model), code_(code) {
  chains_.push_back({0, 0, 0});
  chain_of_stack_.push_back(0);
  method_keys_.push_back(kNoStackKey);
  chain_keys_.push_back(kNoStackKey);
  grow(std::move(labels));
}

// Stacks that differ only in lines or in how they were compiled are one chain. Every stack comes after its parent.
void AspectKeys::grow(Labels labels) {
  labels_ = std::move(labels);
  const auto hash = [](uint32_t parent, uint32_t label) { return mix_hash(parent, label); };
  for (size_t i = chain_of_stack_.size(); i < model_.stacks.size(); ++i) {
    const uint32_t parent = chain_of_stack_[model_.stacks[i].parent.value];
    const uint32_t label = labels_.of(model_.stacks[i]);
    const auto next = static_cast<uint32_t>(chains_.size());
    const uint32_t chain = chain_table_.find_or_enter(
        hash(parent, label), next, [&](uint32_t c) { return chains_[c].parent == parent && chains_[c].label == label; },
        [&](uint32_t c) { return hash(chains_[c].parent, chains_[c].label); });
    if (chain == next) chains_.push_back({parent, label, chains_[parent].depth + 1});
    chain_of_stack_.push_back(chain);
    const StackIndex user = code_.user_frame(StackIndex(static_cast<uint32_t>(i)));
    method_keys_.push_back(labels_.of(model_.stacks[user.value]));
    chain_keys_.push_back(chain_of_stack_[user.value]);
  }
}

uint32_t AspectKeys::key(LockAspect aspect, const Contention& contention, const Piece& piece) const {
  switch (aspect) {
    case LockAspect::kGroup:
      return static_cast<uint32_t>(contention.group);
    case LockAspect::kClass:
      return contention.lock == kNoLock ? kNoClassKey : model_.locks.locks[contention.lock.value].klass.value;
    case LockAspect::kObject:
      return contention.lock.value;
    case LockAspect::kBlockedThread:
      return contention.thread.value;
    case LockAspect::kBlockedMethod:
      return blocked_method(contention);
    case LockAspect::kBlockedChain:
      return chain_keys_[contention.stack.value];
    case LockAspect::kAfterWait:
      return contention.after_wait ? 1 : 0;
    case LockAspect::kOwnerThread:
    case LockAspect::kOwnerMethod:
    case LockAspect::kOwnerChain:
    case LockAspect::kCount:
      break;
  }
  return owner_key(aspect, piece.owner);
}

std::string AspectKeys::label(LockAspect aspect, uint32_t key) const {
  const std::string_view special = special_label(key);
  if (!special.empty()) return std::string(special);
  switch (aspect) {
    case LockAspect::kGroup:
      return std::string(lock_group_name(static_cast<LockGroup>(key)));
    case LockAspect::kClass:
      return key == kNoClassKey ? lock_class_name(model_, kNoLock) : model_.methods[key].name;
    case LockAspect::kObject:
      return lock_name(model_, LockIndex(key));
    case LockAspect::kBlockedThread:
    case LockAspect::kOwnerThread:
      return model_.threads[key].name;
    case LockAspect::kBlockedMethod:
    case LockAspect::kOwnerMethod:
      return labels_.names[key];
    case LockAspect::kAfterWait:
      return key != 0 ? "after wait" : "not after wait";
    case LockAspect::kBlockedChain:
    case LockAspect::kOwnerChain:
    case LockAspect::kCount:
      break;
  }
  const Chain frames = chain(key, kMostFramesOfLabel);
  std::string text;
  for (const std::string_view frame : frames.frames) (text += text.empty() ? "" : " < ") += frame;
  return frames.left_out == 0 ? text : text + " [+" + std::to_string(frames.left_out) + "]";
}

std::string AspectKeys::id(LockAspect aspect, uint32_t key) const {
  const bool thread = aspect == LockAspect::kBlockedThread || aspect == LockAspect::kOwnerThread;
  if (!thread || !special_label(key).empty()) return label(aspect, key);
  const Thread& named = model_.threads[key];
  return std::to_string(named.os_id) + "/" + std::to_string(named.java_id);
}

AspectKeys::Chain AspectKeys::chain(uint32_t key, size_t most) const {
  if (const std::string_view special = special_label(key); !special.empty()) return {{special}, 0};
  Chain chain;
  uint32_t node = key;
  for (; node != 0 && chain.frames.size() < most; node = chains_[node].parent) {
    chain.frames.push_back(labels_.names[chains_[node].label]);
  }
  chain.left_out = chains_[node].depth;
  return chain;
}

}  // namespace tarsier::analysis
