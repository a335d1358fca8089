#include "export/page_locks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/lock_aspects.h"
#include "export/columns.h"
#include "export/page_chains.h"

namespace tarsier::exporting {
namespace {

using analysis::Contention;
using analysis::LockCode;
using analysis::Owner;
using analysis::Piece;

constexpr int64_t kLongestBucket = int64_t{1} << 61;

auto order_of(const Owner& owner) {
  return std::make_tuple(owner.kind, owner.thread.value, owner.stack.value);
}

void add_time(int64_t& sum, int64_t ns) {
  sum = std::min(sum + std::clamp<int64_t>(ns, 0, kMaxColumnNumber), kMaxColumnNumber);
}

}  // namespace

LockCollector::LockCollector(const LockRoom& room) : room_(room) {}

void LockCollector::add(const analysis::Model& model, const LockCode& code, const Contention& contention,
                        std::span<const Piece> pieces) {
  Row& row = scratch_;
  row.contention = contention;
  row.contention.stack = alike_stacks_.first(model, code.user_frame(contention.stack));
  row.length = row.longest = std::max<int64_t>(contention.end_ns - contention.begin_ns, 0);
  row.more = 0;
  row.left_out_ns = 0;
  row.owners.clear();
  row.longest_of.clear();
  for (const Piece& piece : pieces) {
    const int64_t ns = piece.end_ns - piece.begin_ns;
    row.owners.push_back({piece.owner, ns});
    // What is no chain may still have a stack, which no view shows.
    Owner& owner = row.owners.back().owner;
    owner.stack = owner.kind == Owner::Kind::kChain ? alike_stacks_.first(model, code.user_frame(owner.stack))
                                                    : analysis::StackIndex(0);
  }
  Longest& kind = kind_of(row);
  kind.totals.contentions += 1;
  add_time(kind.totals.total_ns, row.length);
  if (&kind == &locks_) {
    if (contention.thread.value >= blocked_.size()) blocked_.resize(contention.thread.value + 1);
    add_time(blocked_[contention.thread.value], row.length);
  }
  if (row.length < kind.shortest) {
    add_alike(row);
  } else {
    keep(row);
  }
}

void LockCollector::keep(const Row& row) {
  Longest& kind = kind_of(row);
  if (kind.rows.size() >= most_of(kind) + most_of(kind) / 2) drop_shorter(kind);
  kind.rows.push_back(row);
  Row& kept = kind.rows.back();
  if (joined_ || kept.owners.size() > room_.in_order) {
    join_owners(kept.owners);
    cut_owners(kept, most_owners_);
  }
  pieces_ += kept.owners.size();
  if (pieces_ > room_.pieces) spare_pieces();
}

size_t LockCollector::most_of(const Longest& longest) const {
  return &longest == &parks_ ? room_.parks : room_.one_by_one - std::min(parks_.rows.size(), room_.parks);
}

void LockCollector::drop_shorter(Longest& longest) {
  const size_t most = most_of(longest);
  if (longest.rows.size() <= most) return;
  const auto middle = longest.rows.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(longest.rows.begin(), middle, longest.rows.end(),
                   [](const Row& a, const Row& b) { return a.length > b.length; });
  longest.shortest = std::max(longest.shortest, middle->length);
  for (auto row = middle; row != longest.rows.end(); ++row) {
    pieces_ -= row->owners.size();
    add_alike(*row);
  }
  longest.rows.erase(middle, longest.rows.end());
}

// First the order of owners goes, also of all that come later, then those who held the lock for the shortest time.
void LockCollector::spare_pieces() {
  const bool join = !joined_;
  joined_ = true;
  pieces_ = 0;
  size_t largest = 1;
  for_each_kept([&](Row& row) {
    if (join) join_owners(row.owners);
    pieces_ += row.owners.size();
    largest = std::max(largest, row.owners.size());
  });
  if (join && pieces_ <= room_.pieces) return;
  most_owners_ = std::min(most_owners_, largest);
  while (pieces_ > room_.pieces / 4 * 3 && most_owners_ > 1) {
    most_owners_ = most_owners_ * 3 / 4;
    pieces_ = 0;
    for_each_kept([&](Row& row) {
      cut_owners(row, most_owners_);
      pieces_ += row.owners.size();
    });
  }
}

// One entry for each, in the order of their first.
void LockCollector::join_owners(std::vector<OwnerTime>& owners) {
  if (owners.size() < 2) return;
  std::vector<size_t> first(owners.size());
  std::vector<size_t> order(owners.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return order_of(owners[a].owner) < order_of(owners[b].owner); });
  for (size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && owners[order[i]].owner == owners[order[i - 1]].owner;
    first[order[i]] = same ? first[order[i - 1]] : order[i];
  }
  std::vector<size_t> place(owners.size());
  size_t kept = 0;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (first[i] == i) {
      place[i] = kept;
      owners[kept++] = owners[i];
    } else {
      add_time(owners[place[first[i]]].ns, owners[i].ns);
    }
  }
  owners.resize(kept);
}

// Leaves the largest; the others are one that is not known.
void LockCollector::cut_owners(Row& row, size_t most) {
  if (row.owners.size() <= most) return;
  const auto end = row.owners.begin() + static_cast<std::ptrdiff_t>(most - 1);
  std::stable_sort(row.owners.begin(), row.owners.end(),
                   [](const OwnerTime& a, const OwnerTime& b) { return a.ns > b.ns; });
  OwnerTime rest;
  for (auto owner = end; owner != row.owners.end(); ++owner) {
    add_time(rest.ns, owner->ns);
    if (owner->owner.kind != Owner::Kind::kUnknown) add_time(row.left_out_ns, owner->ns);
  }
  row.owners.erase(end, row.owners.end());
  const auto unknown = std::find_if(row.owners.begin(), row.owners.end(),
                                    [&](const OwnerTime& owner) { return owner.owner == rest.owner; });
  if (unknown == row.owners.end()) {
    row.owners.push_back(rest);
  } else {
    add_time(unknown->ns, rest.ns);
  }
}

uint64_t LockCollector::hash_of(const Row& row) const {
  const Contention& c = row.contention;
  uint64_t hash = analysis::mix_hash(
      uint64_t{c.lock.value} << 32 | c.thread.value,
      uint64_t{c.stack.value} << 8 | static_cast<uint64_t>(c.group) << 1 | static_cast<uint64_t>(c.after_wait));
  hash = analysis::mix_hash(hash, static_cast<uint64_t>(c.begin_ns / bucket_ns_));
  for (const OwnerTime& owner : row.owners) {
    hash = analysis::mix_hash(hash, uint64_t{owner.owner.thread.value} << 32 | owner.owner.stack.value);
  }
  return hash;
}

bool LockCollector::are_alike(const Row& a, const Row& b) const {
  const Contention &x = a.contention, &y = b.contention;
  return x.lock == y.lock && x.thread == y.thread && x.stack == y.stack && x.group == y.group &&
         x.after_wait == y.after_wait && x.begin_ns / bucket_ns_ == y.begin_ns / bucket_ns_ &&
         std::equal(a.owners.begin(), a.owners.end(), b.owners.begin(), b.owners.end(),
                    [](const OwnerTime& p, const OwnerTime& q) { return p.owner == q.owner; });
}

uint32_t LockCollector::find_alike(const Row& row) {
  return alike_table_.find(hash_of(row), [&](uint32_t i) { return are_alike(alike_[i], row); });
}

void LockCollector::put_together(uint32_t into, const Row& row) {
  if (into == analysis::IndexTable::kNone) {
    const auto next = static_cast<uint32_t>(alike_.size());
    alike_table_.find_or_enter(
        hash_of(row), next, [](uint32_t) { return false; }, [&](uint32_t i) { return hash_of(alike_[i]); });
    alike_.push_back(row);
    return;
  }
  Row& sum = alike_[into];
  sum.contention.begin_ns = std::min(sum.contention.begin_ns, row.contention.begin_ns);
  sum.more += 1 + row.more;
  sum.longest = std::max(sum.longest, row.longest);
  add_time(sum.length, row.length);
  add_time(sum.left_out_ns, row.left_out_ns);
  if (sum.longest_of.empty()) {
    for (const OwnerTime& owner : sum.owners) sum.longest_of.push_back(owner.ns);
  }
  for (size_t i = 0; i < sum.owners.size(); ++i) {
    add_time(sum.owners[i].ns, row.owners[i].ns);
    sum.longest_of[i] = std::max(sum.longest_of[i], row.longest_by(i));
  }
}

void LockCollector::add_alike(Row& row) {
  join_owners(row.owners);
  cut_owners(row, room_.owners_of_alike);
  std::sort(row.owners.begin(), row.owners.end(),
            [](const OwnerTime& a, const OwnerTime& b) { return order_of(a.owner) < order_of(b.owner); });
  uint32_t into = find_alike(row);
  if (into == analysis::IndexTable::kNone && alike_.size() >= room_.alike) {
    coarsen_alike();
    into = find_alike(row);
    // All are different: this one stays out, and the totals say so.
    if (into == analysis::IndexTable::kNone && alike_.size() >= room_.alike) return;
  }
  put_together(into, row);
}

// Until there is room again: what is alike may have begun further apart.
void LockCollector::coarsen_alike() {
  while (alike_.size() > room_.alike / 4 * 3 && bucket_ns_ < kLongestBucket) {
    bucket_ns_ *= 4;
    std::vector<Row> old;
    old.swap(alike_);
    alike_table_ = {};
    for (const Row& row : old) put_together(find_alike(row), row);
  }
}

namespace {

// The locks and classes that rows name.
class Objects {
 public:
  explicit Objects(const analysis::Model& model) : model_(model) {}

  // 1 + its row; 0 for no lock.
  int64_t row_and_1(analysis::LockIndex lock) {
    if (lock == analysis::kNoLock || lock.value >= model_.locks.locks.size()) return 0;
    const auto [found, fresh] = rows_.try_emplace(lock.value, static_cast<int64_t>(names_.size()));
    if (fresh) {
      names_.push_back(analysis::lock_name(model_, lock));
      const analysis::MethodIndex klass = model_.locks.locks[lock.value].klass;
      const auto [of, first] = class_rows_.try_emplace(klass.value, static_cast<int64_t>(classes_.size()));
      if (first) classes_.push_back(analysis::lock_class_name(model_, lock));
      class_of_.push_back(of->second);
    }
    return found->second + 1;
  }
  void put(ColumnWriter& out) const {
    out.texts("classes", classes_);
    out.texts("objects", names_);
    out.numbers("lock_class", class_of_);
  }

 private:
  const analysis::Model& model_;
  std::vector<std::string> names_, classes_;
  std::vector<int64_t> class_of_;
  std::map<uint32_t, int64_t> rows_, class_rows_;
};

}  // namespace

LockCollector::Encoded LockCollector::encode(const analysis::Model& model, const PageThreads& threads,
                                             const PageTime& time) {
  drop_shorter(parks_);
  drop_shorter(locks_);
  std::vector<const Row*> rows;
  for (const auto* all : {&locks_.rows, &parks_.rows, &alike_}) {
    for (const Row& row : *all) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row* a, const Row* b) { return a->contention.begin_ns < b->contention.begin_ns; });

  Encoded out{{}, locks_.totals, parks_.totals, 0};
  size_t pieces = 0;
  PageChains chains(model);
  Objects objects(model);
  for (const Row* row : rows) {
    LockTotals& totals = analysis::is_lock(row->contention.group) ? out.locks : out.parks;
    totals.kept += 1 + row->more;
    add_time(totals.kept_ns, row->length);
    add_time(out.owners_left_out_ns, row->left_out_ns);
    pieces += row->owners.size();
    chains.chain_of(row->contention.stack);
    for (const OwnerTime& piece : row->owners) chains.chain_of(piece.owner.stack);
    objects.row_and_1(row->contention.lock);
  }

  // One column after the other: all at once would need more memory than the rows.
  std::vector<int64_t> column;
  const auto per_row = [&](auto value) -> const std::vector<int64_t>& {
    column.clear();
    column.reserve(rows.size());
    for (const Row* row : rows) column.push_back(static_cast<int64_t>(value(*row)));
    return column;
  };
  const auto per_piece = [&](auto value) -> const std::vector<int64_t>& {
    column.clear();
    column.reserve(pieces);
    for (const Row* row : rows) {
      for (const OwnerTime& piece : row->owners) column.push_back(static_cast<int64_t>(value(*row, piece)));
    }
    return column;
  };
  const auto thread_row = [&](analysis::ThreadIndex thread) {
    return threads.has(thread) ? threads.row_of(thread) : 0;
  };
  ColumnWriter writer;
  chains.put(writer);
  objects.put(writer);
  writer.differences("begin", per_row([&](const Row& row) { return time.since_start(row.contention.begin_ns); }));
  writer.numbers("length", per_row([](const Row& row) { return row.length; }));
  writer.numbers("lock", per_row([&](const Row& row) { return objects.row_and_1(row.contention.lock); }));
  writer.numbers("thread", per_row([&](const Row& row) { return thread_row(row.contention.thread); }));
  writer.numbers("chain", per_row([&](const Row& row) { return chains.chain_of(row.contention.stack); }));
  writer.numbers("method", per_row([&](const Row& row) { return chains.method_of(row.contention.stack); }));
  writer.numbers("group", per_row([](const Row& row) { return row.contention.group; }));
  writer.numbers("after_wait", per_row([](const Row& row) { return row.contention.after_wait ? 1 : 0; }));
  writer.sparse("more", per_row([](const Row& row) { return row.more; }));
  writer.sparse("longest", per_row([](const Row& row) { return row.more > 0 ? row.longest : 0; }));
  writer.numbers("pieces", per_row([](const Row& row) { return row.owners.size(); }));
  writer.numbers("piece_length", per_piece([](const Row&, const OwnerTime& piece) { return piece.ns; }));
  writer.sparse("piece_longest", per_piece([](const Row& row, const OwnerTime& piece) {
                  return row.more > 0 ? row.longest_by(static_cast<size_t>(&piece - row.owners.data())) : 0;
                }));
  writer.numbers("owner_kind", per_piece([](const Row&, const OwnerTime& piece) { return piece.owner.kind; }));
  writer.numbers("owner_thread", per_piece([&](const Row&, const OwnerTime& piece) {
                   return threads.has(piece.owner.thread) ? 1 + int64_t{threads.row_of(piece.owner.thread)} : 0;
                 }));
  writer.numbers("owner_chain",
                 per_piece([&](const Row&, const OwnerTime& piece) { return chains.chain_of(piece.owner.stack); }));
  writer.numbers("owner_method",
                 per_piece([&](const Row&, const OwnerTime& piece) { return chains.method_of(piece.owner.stack); }));
  out.bytes = std::move(writer).finish();
  return out;
}

}  // namespace tarsier::exporting
