// All that the page shows of a recording, in parts of bounded size (docs/page.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/changes.h"
#include "analysis/lock_pass.h"
#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::exporting {

struct PagePart {
  std::string name;   // head, threads, profile-cpu, ...
  std::string bytes;  // JSON of the head, columns of all others
};

// What must be collected while the recording is read: of a large one lock events are not kept.
class PageParts {
 public:
  PageParts();
  ~PageParts();
  PageParts(const PageParts&) = delete;
  PageParts& operator=(const PageParts&) = delete;

  // To be asked by the LockPass with which the model is loaded.
  [[nodiscard]] analysis::LockQuestion question();
  // Of a model that is loaded, or still growing: `complete` is the part of the file that has been read, 1 if all.
  [[nodiscard]] Result<std::vector<PagePart>> make(const analysis::Model& model, const std::string& title,
                                                   double complete = 1) const;
  // How it differs from another recording: profiles of both, and nothing else.
  [[nodiscard]] static Result<std::vector<PagePart>> make_against(const analysis::Model& model,
                                                                  const analysis::Model& before, analysis::Per per,
                                                                  const std::string& title);

 private:
  struct Locks;
  std::unique_ptr<Locks> locks_;
};

}  // namespace tarsier::exporting
