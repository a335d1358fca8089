// The part `head` of the page's data: what was recorded and how, as JSON (docs/page.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model.h"
#include "export/page_locks.h"
#include "export/page_time.h"
#include "export/page_waits.h"

namespace tarsier::exporting {

// What a recording is compared with.
struct PageAgainst {
  const analysis::Model* model;
  std::string per;                   // second, run or share
  std::vector<std::string> verdict;  // in place of the recording's own
};

struct PageHead {
  const analysis::Model& model;
  const std::string& title;
  const PageTime& time;
  double complete = 1;
  std::vector<std::string> parts{};
  std::vector<analysis::Profile> profiles{};
  std::map<analysis::Profile, int64_t> together{};  // weight of nodes for which there was no room
  std::optional<LockCollector::Encoded> locks{};    // without its bytes
  std::optional<PageWaits> waits{};                 // likewise
  std::optional<PageAgainst> against{};

  // Text that is not UTF-8 gets replacement characters.
  [[nodiscard]] std::string encode() const;
};

}  // namespace tarsier::exporting
