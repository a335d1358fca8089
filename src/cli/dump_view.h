// A thread dump for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attach/jvm.h"
#include "dump/deadlocks.h"
#include "dump/thread_dump.h"

namespace tarsier::cli {

struct DumpView {
  explicit DumpView(dump::ThreadDump made)
      : threads(std::move(made)), holders(find_holders(threads)), deadlocks(find_deadlocks(threads, holders)) {}

  // The innermost frame that is no inside of locking: where the program itself waits. None if there is no frame.
  [[nodiscard]] static const dump::Frame* waits_in(const dump::Thread& thread);
  // Where the lock that it waits for was taken; none if that is not known.
  [[nodiscard]] const dump::Frame* held_in(size_t thread) const;

  dump::ThreadDump threads;
  std::vector<std::optional<dump::Holder>> holders;  // by thread
  std::vector<dump::Deadlock> deadlocks;
};

std::string text_of(const DumpView& view, const attach::Jvm& jvm);
std::string json_of(const DumpView& view, const attach::Jvm& jvm);  // schema: docs/dump.schema.json

}  // namespace tarsier::cli
