// The aspects by which contentions are broken down, and what their values are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/contention.h"
#include "analysis/index_table.h"
#include "analysis/labels.h"
#include "analysis/lock_code.h"
#include "analysis/model.h"

namespace tarsier::analysis {

enum class LockAspect : uint8_t {
  kGroup,
  kClass,
  kObject,
  kBlockedThread,
  kBlockedMethod,
  kBlockedChain,
  kOwnerThread,
  kOwnerMethod,
  kOwnerChain,
  kAfterWait,
  kCount,
};
std::string_view lock_aspect_name(LockAspect aspect);  // group class object blocked-thread ..
std::optional<LockAspect> lock_aspect_named(std::string_view name);
std::vector<std::string_view> lock_aspect_names();

constexpr std::string_view kHandOffLabel = "[hand-off]";
constexpr std::string_view kUnknownOwnerLabel = "[unknown owner]";
constexpr std::string_view kMoreLabel = "[more]";         // all those for which there was no room
constexpr std::string_view kNoChainLabel = "[no chain]";  // the owner's thread is known, its chain is not

// class@identity, in hex, as Object.toString() writes it; [no blocker] for kNoLock.
std::string lock_name(const Model& model, LockIndex lock);
std::string lock_class_name(const Model& model, LockIndex lock);

// A key of any aspect: of no value in particular.
constexpr uint32_t kMoreKey = UINT32_MAX - 5;

class AspectKeys {
 public:
  AspectKeys(const Model& model, const LockCode& code, Labels labels);
  // What the model has got since, with the labels of its methods. Keys stay as they are.
  void grow(Labels labels);

  // The same for the same value of the aspect; small numbers or one of a few very large ones.
  [[nodiscard]] uint32_t key(LockAspect aspect, const Contention& contention, const Piece& piece) const;
  // Likewise, of what is asked of each piece.
  [[nodiscard]] uint32_t blocked_method(const Contention& contention) const {
    return method_keys_[contention.stack.value];
  }
  [[nodiscard]] uint32_t owner_method(const Owner& owner) const {
    return owner.kind == Owner::Kind::kChain ? method_keys_[owner.stack.value] : no_chain_key(owner);
  }
  [[nodiscard]] uint32_t owner_key(LockAspect aspect, const Owner& owner) const {
    if (aspect == LockAspect::kOwnerThread && owner.thread != kNobody) return owner.thread.value;
    if (owner.kind != Owner::Kind::kChain) return no_chain_key(owner);
    return aspect == LockAspect::kOwnerMethod ? method_keys_[owner.stack.value] : chain_keys_[owner.stack.value];
  }

  // For people. Chains run from the innermost frame outwards, without the insides of locking.
  [[nodiscard]] std::string label(LockAspect aspect, uint32_t key) const;
  // For programs: as the label, but threads, which may share a name, by their id.
  [[nodiscard]] std::string id(LockAspect aspect, uint32_t key) const;
  // The frames of a chain's key, innermost first, at most `most`; a single label for what is no chain.
  struct Chain {
    std::vector<std::string_view> frames;
    size_t left_out = 0;
  };
  [[nodiscard]] Chain chain(uint32_t key, size_t most) const;

 private:
  struct ChainNode {
    uint32_t parent;
    uint32_t label;
    uint32_t depth;
  };
  // Keys that are no index.
  static constexpr uint32_t kHandOffKey = UINT32_MAX - 1, kUnknownKey = UINT32_MAX - 2, kNoChainKey = UINT32_MAX - 3,
                            kNoStackKey = UINT32_MAX - 4;

  static uint32_t no_chain_key(const Owner& owner) {
    return owner.kind == Owner::Kind::kHandOff  ? kHandOffKey
           : owner.kind == Owner::Kind::kThread ? kNoChainKey
                                                : kUnknownKey;
  }
  static std::string_view special_label(uint32_t key);  // empty: an index

  const Model& model_;
  const LockCode& code_;
  Labels labels_;
  std::vector<ChainNode> chains_;  // 0: empty; every other one after its parent
  IndexTable chain_table_;
  std::vector<uint32_t> chain_of_stack_;  // by stack
  // Of each stack, from its first frame on that is no inside of locking.
  std::vector<uint32_t> method_keys_, chain_keys_;
};

}  // namespace tarsier::analysis
