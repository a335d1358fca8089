// What the engines that ask JVMTI for stacks have in common: the ring, decoding, and the order in which all is set up
// and taken down. When they ask, and for whom, is the affair of their StackAskers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/jvmti_samples.h"
#include "agent/engines/stack_asker.h"
#include "agent/engines/thread_pattern.h"

namespace tarsier::agent {

class JvmtiEngine : public Engine {
 public:
  ~JvmtiEngine() override;
  Status start() override;
  bool drain() override;
  void silence() override {
    if (asker_ != nullptr) asker_->hush();
  }
  void stop() override;
  EngineStats stats() override { return stopped_ ? last_stats_ : read_stats(); }
  std::vector<std::string> warnings() override;

 protected:
  explicit JvmtiEngine(EngineContext& context) : context_(context), decoder_(context) {}
  // For probe(): what both refuse.
  Status check_options();
  [[nodiscard]] Nanos interval() const;
  virtual std::unique_ptr<StackAsker> make_asker(JvmtiSamples& samples, const ThreadPattern& wanted) = 0;

  EngineContext& context_;

 private:
  EngineStats read_stats();

  ThreadPattern wanted_;
  JvmtiDecoder decoder_;
  std::optional<JvmtiSamples> samples_;
  // Until the end: silence() may come from any thread at any time.
  std::unique_ptr<StackAsker> asker_;
  Nanos decoding_;  // CPU time of our own thread
  bool stopped_ = false;
  EngineStats last_stats_;
};

}  // namespace tarsier::agent
