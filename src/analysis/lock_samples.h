// Contentions as the profiles `locks` and `owners`: the time that threads were blocked by locks, by the chain of the
// blocked and by the chain of who held the lock meanwhile. Collected while a recording is read, in bounded memory: what
// has the same chain, thread and class of lock in the same stretch of time is added up. Nothing is ever left out of the
// sums, so that they are those of the view `locks`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/contention.h"
#include "analysis/index_table.h"
#include "analysis/lock_code.h"
#include "analysis/model.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

struct LockSampleRoom {
  size_t cells = 1'000'000;         // of each of the two profiles
  int64_t most_stretches = 16'384;  // of one contention: a longer one is cut less finely
};

enum class LockSampleDetail : uint8_t {
  kAll,
  kSums,  // of the blocked only, by thread and class of lock, without chains and times: what the verdict needs
};

// One of the two profiles while it is collected.
class LockCells {
 public:
  static constexpr MethodIndex kNoClass{UINT32_MAX};
  struct Who {
    ThreadIndex thread = kNobody;
    StackIndex stack{};            // without the insides of locking
    MethodIndex klass = kNoClass;  // of the lock
    Owner::Kind kind = Owner::Kind::kChain;
    bool operator==(const Who&) const = default;
  };

  explicit LockCells(const LockSampleRoom& room, int64_t stretch_ns = 1'000'000)
      : room_(room), stretch_ns_(stretch_ns) {}
  // A piece. `contention`: a number of its own, so that it counts once for each chain however many pieces it has, when
  // the first of them began. Of the piece there is what the selection leaves: it counts if its begin is in there.
  void add(const Model& model, const Selection& selection, const Who& who, int64_t begin_ns, int64_t end_ns,
           uint64_t contention);
  [[nodiscard]] bool empty() const { return cells_.empty(); }
  // Stretches of time: 1, 2, 10, 20, 100, ... ms since the start, as the page counts it.
  [[nodiscard]] int64_t stretch_ns() const { return stretch_ns_; }
  // As samples, in order of time, with nodes of their own among the model's stacks. None is before `from_ns`.
  [[nodiscard]] Samples samples(Model& model, int64_t from_ns) const;

 private:
  struct Group {
    ThreadIndex thread;
    StackIndex stack;
    MethodIndex klass;
    Owner::Kind kind;
    bool has_class, more;
    uint64_t last = UINT64_MAX;  // contention that was counted
    [[nodiscard]] bool same(const Group& other) const {
      return thread == other.thread && stack == other.stack && klass == other.klass && kind == other.kind &&
             has_class == other.has_class && more == other.more;
    }
  };
  struct Cell {
    uint32_t group;
    uint32_t stretch;
    int64_t ns = 0;
    uint32_t count = 0;
  };

  // The same threads wait for locks of the same classes again and again.
  struct Recent {
    Who who;
    uint32_t group = UINT32_MAX;
  };

  [[nodiscard]] static uint64_t hash_of(const Group& group);
  uint32_t find(const Group& group, bool may_add);
  uint32_t group_of(const Who& who);
  uint32_t find_group(const Who& who);
  [[nodiscard]] uint32_t stretch_of(int64_t time_ns) const;
  [[nodiscard]] int64_t begin_of(uint32_t stretch) const;
  Cell& cell(uint32_t group, uint32_t stretch);
  bool coarsen();

  LockSampleRoom room_;
  int64_t start_ns_ = 0;
  bool started_ = false;
  int64_t stretch_ns_;
  bool is_two_ = false;  // times a power of ten
  int64_t weight_left_ = int64_t{1} << 60;
  std::vector<Group> groups_;
  IndexTable group_table_;
  std::vector<Recent> recent_{4096};
  std::vector<Cell> cells_;
  KeyMap cell_of_;
};

class LockSamples {
 public:
  // Of the filter only its time: a contention that is partly in there counts with that part.
  explicit LockSamples(const Filter& filter, LockSampleDetail detail = LockSampleDetail::kAll,
                       const LockSampleRoom& room = {});

  // Of all groups; what is no lock is not taken.
  void add(const Model& model, const LockCode& code, const Contention& contention, std::span<const Piece> pieces);
  // The two profiles, in place of what the model has of them; that of the owners if these were recorded.
  void put(Model& model) const;

 private:
  const Selection& selection_of(const Model& model);

  Filter time_;
  Selection selection_;  // of a recording that starts then
  std::optional<int64_t> selected_start_ns_;
  LockSampleDetail detail_;
  LockCells blocked_, owners_;
  uint64_t contentions_ = 0;
};

// Of a model whose lock events are in memory.
void add_lock_samples(Model& model, const Filter& filter = {});

}  // namespace tarsier::analysis
