// Feeds a TopModel with the events of a recording that is still being made.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/top_model.h"
#include "recording/reader.h"
#include "recording/tail.h"

namespace tarsier::analysis {

class TopReader final : public recording::Visitor {
 public:
  explicit TopReader(TopModel& model) : model_(model) {}
  TopReader(const TopReader&) = delete;
  TopReader& operator=(const TopReader&) = delete;

  void chunk(recording::Chunk& chunk) override;
  void event(const recording::Chunk& chunk, const recording::EventView& event) override;

  [[nodiscard]] uint64_t rounds() const { return rounds_; }  // that the agent has ended, so far
  [[nodiscard]] const std::string& jvm() const { return jvm_; }
  [[nodiscard]] int cpus() const { return cpus_; }

 private:
  static constexpr size_t kMaxFields = 11;
  using Fields = std::array<recording::FieldIndex, kMaxFields>;
  using Handler = void (TopReader::*)(const recording::Chunk&, const recording::EventView&, const Fields&);
  struct HandledType {
    std::string_view name;
    Handler handler;
    std::array<std::string_view, kMaxFields> fields;
  };
  struct Selected {
    Handler handler = nullptr;
    Fields fields;
  };
  static const HandledType kTypes[];

  void session(const recording::Chunk&, const recording::EventView&, const Fields&);
  void execution_sample(const recording::Chunk&, const recording::EventView&, const Fields&);
  void allocation(const recording::Chunk&, const recording::EventView&, const Fields&);
  void monitor_enter(const recording::Chunk&, const recording::EventView&, const Fields&);
  void thread_park(const recording::Chunk&, const recording::EventView&, const Fields&);
  void thread_cpu(const recording::Chunk&, const recording::EventView&, const Fields&);
  void engine_used(const recording::Chunk&, const recording::EventView&, const Fields&);
  void engine_samples(const recording::Chunk&, const recording::EventView&, const Fields&);
  void engine_dropped(const recording::Chunk&, const recording::EventView&, const Fields&);
  void overhead(const recording::Chunk&, const recording::EventView&, const Fields&);

  TopModel::Who who(const recording::Chunk& chunk, recording::ConstantKey key);
  void blocked(const recording::Chunk&, const recording::EventView&, recording::FieldIndex thread,
               recording::FieldIndex duration);
  const std::vector<uint32_t>& methods_of(const recording::Chunk& chunk, recording::ConstantKey stack);

  TopModel& model_;
  std::vector<Selected> selected_;  // by type
  // Of this look at the chunk: by key.
  std::unordered_map<int64_t, std::vector<uint32_t>> stacks_;
  std::unordered_map<int64_t, uint32_t> methods_;
  recording::StackView stack_view_;
  uint64_t rounds_ = 0;
  std::string jvm_;
  int cpus_ = 0;
};

// A recording as it grows, and what is known of it.
class TopTail {
 public:
  explicit TopTail(const std::string& path) : tail_(path, kMostBytes), reader_(model_) {}

  // Reads what was flushed since the last time. True: a round of the agent's has ended.
  Result<bool> look();
  std::vector<recording::ByteRange> take_passed() { return tail_.take_passed(); }
  [[nodiscard]] uint64_t skipped() const { return tail_.skipped(); }
  [[nodiscard]] TopModel& model() { return model_; }
  [[nodiscard]] const TopReader& reader() const { return reader_; }

 private:
  static constexpr size_t kMostBytes = 32 << 20;
  recording::Tail tail_;
  TopModel model_;
  TopReader reader_;
};

}  // namespace tarsier::analysis
