// JFR files of any event types, for tests: ours, those of other JDKs and of other profilers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "recording/constants.h"

namespace tarsier::analysis {

struct ConstantOf {
  int64_t key = 0;
};
// A number, a string, or a key: of a stack (stackTrace), a class (fields that end in "Class"), or else a thread.
// Classes are those of the frames: 1 is that of the first frame of the first stack.
using TestValue = std::variant<int64_t, std::string, ConstantOf>;
struct TestEvent {
  std::string type;
  int64_t start = 0;  // ns since the epoch
  std::map<std::string, TestValue> fields;
};
struct TestFrame {
  std::string class_name, name;
  int32_t line = 0;
  recording::FrameType type = recording::FrameType::kC2;
};
struct TestThread {
  int64_t os_id = 0, java_id = 0;
  std::string name;
};
struct TestChunk {
  int64_t start_ns = 1'000'000;
  int64_t duration_ns = 5'000;
  std::vector<TestEvent> events;                     // all of one type have the same fields
  std::map<int64_t, std::vector<TestFrame>> stacks;  // innermost first
  std::map<int64_t, TestThread> threads;
  bool truncated = false;  // the stacks
};

// Event types get the ids 100, 101, ... in the order in which they come first.
constexpr int64_t kFirstTestType = 100;
std::vector<uint8_t> encode_chunk(const TestChunk& chunk);

}  // namespace tarsier::analysis
