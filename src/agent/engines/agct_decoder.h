// From what AsyncGetCallTrace answered to events of the recording: names, frame types, kernel symbols. Session thread.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/known_stacks.h"
#include "agent/engines/sample_events.h"
#include "agent/stub_names.h"
#include "capture/agct.h"
#include "hotspot/code_cache.h"
#include "linux/kernel_symbols.h"

namespace tarsier::agent {

class AgctDecoder {
 public:
  // `code` tells what lies at a pc; without it frame types and imprecise code are not told. `event` is what a sample
  // is.
  AgctDecoder(EngineContext& context, std::optional<hotspot::CodeCache> code, recording::Event event)
      : context_(context),
        code_(std::move(code)),
        stub_names_(StubNames::collect(context.jvm)),
        events_(context, event) {}

  void decode(const capture::AgctRecord& record);
  // Once a second.
  void forget_ended_threads();

  [[nodiscard]] const SampleEvents::Counts& counts() const { return events_.counts(); }
  // The method with the most self time so far, and its share.
  [[nodiscard]] std::pair<std::string, double> hottest();
  [[nodiscard]] bool knows_code() const { return code_.has_value(); }

 private:
  [[nodiscard]] StackKey key_of(const capture::AgctRecord& record, const hotspot::Code& code) const;
  [[nodiscard]] std::string stub_name(uint64_t pc) const;
  void write_event(const capture::AgctRecord& record, const capture::AgctRecord& walked);
  void remember(const capture::AgctRecord& record);
  recording::StackId stack_of(const capture::AgctRecord& record, const hotspot::Code& code);
  void append_java_frames(const capture::AgctRecord& record, const hotspot::Code& code);

  EngineContext& context_;
  std::optional<hotspot::CodeCache> code_;
  StubNames stub_names_;
  SampleEvents events_;
  KnownStacks stacks_;
  std::vector<recording::Frame> frames_;
  linux::KernelSymbols kernel_symbols_;
  // The last record of every thread that may be said to be where it was. As it was taken, since a chunk's ids do not
  // outlive it.
  std::unordered_map<uint32_t, std::vector<uint8_t>> remembered_;
  size_t remembered_bytes_ = 0;
  std::vector<uint32_t> ended_;  // their last records may still be on the way
};

}  // namespace tarsier::agent
