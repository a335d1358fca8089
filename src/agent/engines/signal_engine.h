// What the engines that sample by a signal have in common: the clock, the signal, a slot for each thread, the ring and
// the order in which all that is set up and taken down.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/engines/clock_choice.h"
#include "agent/engines/clock_with_spare.h"
#include "agent/engines/engine.h"
#include "agent/engines/patience.h"
#include "base/mapping.h"
#include "capture/signal_capture.h"
#include "linux/signals.h"

namespace tarsier::agent {

class SignalSampler;

class SignalEngine : public Engine {
 public:
  ~SignalEngine() override;
  Status start() override;
  bool drain() override;
  Nanos patience() const override { return patience_.now(); }
  void silence() override { capture::SignalCapture::activate(nullptr); }
  void stop() override;
  EngineStats stats() override { return capture_ != nullptr ? read_stats() : last_stats_; }
  std::vector<std::string> warnings() override;
  std::string missing() override { return missing_; }
  bool samples_anywhere() const override { return true; }

 protected:
  explicit SignalEngine(EngineContext& context);
  // For probe().
  Status choose();
  [[nodiscard]] control::EngineReport report() const;

  // Before anything is set up: what the engine needs of the JVM.
  virtual Status prepare() = 0;
  [[nodiscard]] virtual size_t ring_bytes() const = 0;
  virtual std::unique_ptr<capture::SignalCapture> make_capture(capture::Clock& clock,
                                                               const capture::SignalCapture::Memory& memory) = 0;
  virtual void let_go_of_memory() {}
  [[nodiscard]] virtual bool samples_jvm_threads() const { return false; }
  virtual void begin_decoding() {}  // a batch
  virtual void decode(const uint8_t* record) = 0;
  // What became of the samples, and whatever else the engine counts.
  virtual void add_to(EngineStats& stats) = 0;

  EngineContext& context_;
  ClockChoice choice_;
  Mapping ring_;

 private:
  Status take_memory();
  void make_clock();
  void stop_ticks();
  // Somebody has installed a handler of his own over ours: from now on ticks would hit him.
  void give_up_signal();
  EngineStats read_stats();

  Mapping table_;
  std::optional<linux::OwnedSignal> signal_;
  std::unique_ptr<capture::Clock> clock_;
  ClockWithSpare* clock_with_spare_ = nullptr;  // clock_, if it is one
  std::unique_ptr<capture::SignalCapture> capture_;
  std::unique_ptr<SignalSampler> sampler_;
  Nanos decoding_;  // CPU time of our own thread
  Patience patience_;
  bool drained_ = true;  // the last time there was nothing more
  EngineStats last_stats_;
  std::string missing_;
};

}  // namespace tarsier::agent
