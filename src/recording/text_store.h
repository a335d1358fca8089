// Text that had to be converted, kept once per content for as long as the recording is open.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "recording/stored_string.h"

namespace tarsier::recording {

class TextStore {
 public:
  // A view of the file where it can be, else of the store.
  std::string_view text(const StoredString& stored) {
    std::string_view plain;
    if (is_plain(stored, plain)) return plain;
    scratch_.clear();
    append_text(scratch_, stored);
    return *texts_.insert(scratch_).first;
  }

 private:
  std::unordered_set<std::string> texts_;  // its nodes stay where they are
  std::string scratch_;
};

}  // namespace tarsier::recording
