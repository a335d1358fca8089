// Contentions for the page, collected while a recording is read: the longest one by one, the others added up where they
// are alike, so that any breakdown by aspects can be made of them (docs/page.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/contention.h"
#include "analysis/index_table.h"
#include "analysis/lock_code.h"
#include "analysis/model.h"
#include "export/alike_stacks.h"
#include "export/page_threads.h"
#include "export/page_time.h"

namespace tarsier::exporting {

struct LockRoom {
  size_t one_by_one = 300'000;  // contentions that are kept as they are
  size_t parks = 100'000;       // of these: of what threads are parked for that is no lock; there is no end to these
  size_t alike = 200'000;       // rows that stand for several
  size_t pieces = 4'000'000;    // of those that are kept one by one
  size_t in_order = 32;         // a contention with more pieces has one for each owner
  size_t owners_of_alike = 8;   // in rows that stand for several
};

// What became of the contentions of some groups.
struct LockTotals {
  uint64_t contentions = 0, kept = 0;
  int64_t total_ns = 0, kept_ns = 0;
};

class LockCollector {
 public:
  explicit LockCollector(const LockRoom& room = LockRoom());

  void add(const analysis::Model& model, const analysis::LockCode& code, const analysis::Contention& contention,
           std::span<const analysis::Piece> pieces);

  // By thread, ns, by locks.
  [[nodiscard]] const std::vector<int64_t>& blocked() const { return blocked_; }

  struct Encoded {
    std::string bytes;  // the part `locks`
    LockTotals locks, parks;
    int64_t owners_left_out_ns = 0;  // of what was kept: who held the lock is known, but there was no room for it
  };
  // More may come afterwards.
  [[nodiscard]] Encoded encode(const analysis::Model& model, const PageThreads& threads, const PageTime& time);

 private:
  struct OwnerTime {
    analysis::Owner owner;
    int64_t ns = 0;
  };
  // One contention, or several that are alike.
  struct Row {
    analysis::Contention contention;  // of the first; its stack: without the insides of locking
    std::vector<OwnerTime> owners;
    std::vector<int64_t> longest_of;  // by owner; empty as long as there is only one: it is what owners have
    uint64_t more = 0;                // besides the first
    int64_t length = 0;
    int64_t longest = 0;
    int64_t left_out_ns = 0;
    [[nodiscard]] int64_t longest_by(size_t i) const { return longest_of.empty() ? owners[i].ns : longest_of[i]; }
  };
  // Those that are kept one by one, of locks or of what is none.
  struct Longest {
    std::vector<Row> rows;
    int64_t shortest = 0;  // shorter ones have no chance
    LockTotals totals;
  };

  [[nodiscard]] Longest& kind_of(const Row& row) { return analysis::is_lock(row.contention.group) ? locks_ : parks_; }
  void keep(const Row& row);
  [[nodiscard]] size_t most_of(const Longest& longest) const;
  void drop_shorter(Longest& longest);
  void spare_pieces();
  template <class Each>
  void for_each_kept(Each each) {
    for (Longest* longest : {&locks_, &parks_}) {
      for (Row& row : longest->rows) each(row);
    }
  }
  void add_alike(Row& row);
  uint32_t find_alike(const Row& row);
  void put_together(uint32_t into, const Row& row);
  void coarsen_alike();
  [[nodiscard]] uint64_t hash_of(const Row& row) const;
  [[nodiscard]] bool are_alike(const Row& a, const Row& b) const;
  static void join_owners(std::vector<OwnerTime>& owners);
  static void cut_owners(Row& row, size_t most);

  LockRoom room_;
  Longest locks_, parks_;
  size_t pieces_ = 0;             // of these
  bool joined_ = false;           // there are too many to keep their order
  size_t most_owners_ = 1 << 16;  // of a contention; fewer once there are too many pieces nevertheless
  std::vector<Row> alike_;
  analysis::IndexTable alike_table_;
  int64_t bucket_ns_ = 100'000'000;  // those that are alike must have begun in the same
  AlikeStacks alike_stacks_;
  std::vector<int64_t> blocked_;
  Row scratch_;
};

}  // namespace tarsier::exporting
