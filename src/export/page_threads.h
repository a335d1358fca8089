// The threads of a recording as the page lists them: every part names a thread by its row here (docs/page.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model.h"

namespace tarsier::exporting {

struct PageThread {
  std::string name;
  std::string group;  // Java's; empty: not known
  analysis::ThreadKind kind = analysis::ThreadKind::kApp;
  int64_t os_id = 0;
  int64_t java_id = 0;
  bool is_virtual = false;
  uint32_t merged = 1;  // virtual threads of the same name are one row: there may be millions of them
  // By the kernel's account; 0: none, or not known.
  int64_t cpu = 0, system = 0, steal = 0, queue = 0, waiting = 0, blocked = 0;
  int64_t voluntary = 0, involuntary = 0, faults = 0, migrations = 0;
};

class PageThreads {
 public:
  // `blocked`: by thread, ns; may be shorter.
  explicit PageThreads(const analysis::Model& model, const std::vector<int64_t>& blocked = {});

  [[nodiscard]] size_t size() const { return rows_.size(); }
  [[nodiscard]] const PageThread& operator[](size_t row) const { return rows_[row]; }
  [[nodiscard]] bool has(analysis::ThreadIndex thread) const { return thread.value < of_thread_.size(); }
  [[nodiscard]] uint32_t row_of(analysis::ThreadIndex thread) const { return of_thread_[thread.value]; }
  // That of samples: of those that belong to no thread there is a row, too, if there are any.
  [[nodiscard]] std::optional<uint32_t> row_or_nobody(analysis::ThreadIndex thread) const {
    return has(thread) ? row_of(thread) : nobody_;
  }
  // Where the CPU time of threads goes that nobody samples; there if there is any.
  [[nodiscard]] std::optional<uint32_t> not_sampled() const { return not_sampled_; }

  // Of another recording, for a comparison: the row of that name, a new one if there is none.
  uint32_t row_of_name(const PageThread& thread);

  // The part `threads`.
  [[nodiscard]] std::string encode() const;

 private:
  std::vector<PageThread> rows_;
  std::vector<uint32_t> of_thread_;
  std::optional<uint32_t> not_sampled_, nobody_;
  std::map<std::string, uint32_t> by_name_;  // of comparisons
};

}  // namespace tarsier::exporting
