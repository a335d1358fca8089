#include "agent/engines/agct_decoder.h"

#include <dlfcn.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <iterator>

#include "agent/engines/native_code.h"

namespace tarsier::agent {
namespace {

using capture::AgctRecord;
using recording::FrameType;
using recording::StackId;

constexpr size_t kMaxRemembered = 8 << 20;  // bytes of the threads' last stacks

// What AsyncGetCallTrace answers instead of frames: 0, -1, -2, ... (the names are those of forte.cpp).
constexpr const char* kFailures[] = {"no_Java_frame",         "no_class_load", "GC_active",         "unknown_not_Java",
                                     "not_walkable_not_Java", "unknown_Java",  "not_walkable_Java", "unknown_state",
                                     "thread_exit",           "deopt",         "safepoint"};

// In a stub and in a C++ function the caller's stack is the whole Java truth; in the first or last instructions of a
// compiled method it lacks that method, so the sample stays a failure, with its callers below it.
bool failed(const AgctRecord& record, const hotspot::Code& code) {
  if (record.repeated) return true;  // its last stack is not known any more
  const bool no_java_code = code.kind == hotspot::CodeKind::kStub || code.kind == hotspot::CodeKind::kNotInCache;
  return record.result <= 0 && !(record.frame_count > 0 && no_java_code);
}

// Interrupted in a C++ function that Java code has called?
bool in_library(const AgctRecord& record, const hotspot::Code& code) {
  return record.result <= 0 && record.frame_count > 0 && code.kind == hotspot::CodeKind::kNotInCache;
}
Dl_info library_at(uint64_t pc) {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(pc), &info);
  return info;
}

std::string failure_name(const AgctRecord& record) {
  if (record.repeated) return "stack_not_kept";
  const auto index = static_cast<size_t>(-static_cast<int64_t>(record.result));
  return index < std::size(kFailures) ? kFailures[index] : "code " + std::to_string(record.result);
}

}  // namespace

void AgctDecoder::decode(const AgctRecord& record) {
  if (!record.repeated) {
    if (events_.event() == recording::Event::kWallSample) remember(record);
    return write_event(record, record);
  }
  const auto last = remembered_.find(record.thread);
  write_event(record, last == remembered_.end() ? record : *reinterpret_cast<const AgctRecord*>(last->second.data()));
}

void AgctDecoder::remember(const AgctRecord& record) {
  std::vector<uint8_t>& bytes = remembered_[record.thread];
  remembered_bytes_ -= bytes.size();
  const auto* begin = reinterpret_cast<const uint8_t*>(&record);
  const auto* end = reinterpret_cast<const uint8_t*>(record.frames().data() + record.frame_count);
  if (remembered_bytes_ + static_cast<size_t>(end - begin) > kMaxRemembered) {
    remembered_.erase(record.thread);
    return;
  }
  bytes.assign(begin, end);
  remembered_bytes_ += bytes.size();
}

void AgctDecoder::forget_ended_threads() {
  for (const uint32_t serial : ended_) {
    const auto last = remembered_.find(serial);
    if (last == remembered_.end()) continue;
    remembered_bytes_ -= last->second.size();
    remembered_.erase(last);
  }
  ended_.clear();
  if (remembered_.empty()) return;
  for (const JavaThread& thread : context_.threads.ended()) ended_.push_back(thread.serial);
}

// `walked` holds the stack: the record itself, or the one that it repeats.
void AgctDecoder::write_event(const AgctRecord& record, const AgctRecord& walked) {
  if (events_.start_over_if_forgotten()) stacks_.clear();
  const hotspot::Code code = code_ ? code_->code_at(walked.pc) : hotspot::Code{};
  const bool is_failure = failed(walked, code);
  const bool imprecise = code.compile_id > 0 && code.compile_id <= context_.imprecise_until_compile_id;
  const std::string failure = is_failure ? failure_name(walked) : std::string();
  events_.write(record, {stack_of(walked, code), imprecise, failure, 0, {}});
  if (!is_failure) events_.add_self(walked.frames().front().method, record.weight_ns);
}

// As the other engines call it.
std::string AgctDecoder::stub_name(uint64_t pc) const {
  const std::string_view piece = stub_names_.at(pc);
  return piece.empty() ? code_->stub_name(pc) : std::string(piece);
}

// The same raw answer at the same kind of code is the same stack.
StackKey AgctDecoder::key_of(const AgctRecord& record, const hotspot::Code& code) const {
  const uint64_t in_code = code.kind == hotspot::CodeKind::kStub
                               ? reinterpret_cast<uint64_t>(stub_names_.at(record.pc).data())
                               : code.method;
  const struct {
    uint64_t place;  // the compiled method, the piece of a stub, or the library
    int32_t failure;
    uint16_t kernel_count;
    hotspot::CodeKind kind;
    bool truncated : 1, repeated : 1;
    // All of it is hashed, so no bit may be left to chance.
    uint8_t rest : 6;
  } head = {in_library(record, code) ? reinterpret_cast<uint64_t>(library_at(record.pc).dli_fbase) : in_code,
            std::min(record.result, 0),
            record.kernel_count,
            code.kind,
            record.truncated,
            record.repeated,
            0};
  static_assert(sizeof(head) == 16);
  const XXH64_hash_t seed = XXH3_64bits(&head, sizeof(head));
  const size_t size = record.kernel().size_bytes() + record.frames().size_bytes();
  const XXH128_hash_t hash = XXH3_128bits_withSeed(record.kernel().data(), size, seed);
  return {hash.low64, hash.high64};
}

StackId AgctDecoder::stack_of(const AgctRecord& record, const hotspot::Code& code) {
  const StackKey key = key_of(record, code);
  recording::StackId& id = stacks_[key];
  if (id.value != 0) return id;

  frames_.clear();
  for (const uint64_t address : record.kernel()) {
    frames_.push_back({context_.methods.marker(std::string(kernel_symbols_.find(address))), 0, 0, FrameType::kKernel});
  }
  if (failed(record, code)) {
    const bool none = record.result == 0 && !record.repeated;
    const std::string marker = none ? "[no Java frame]" : "[failed: " + failure_name(record) + "]";
    frames_.push_back({context_.methods.marker(marker), 0, 0, FrameType::kMarker});
  } else if (in_library(record, code)) {
    frames_.push_back({context_.methods.marker(library_name(record.pc)), 0, 0, FrameType::kVm});
  } else if (record.result <= 0) {
    frames_.push_back({context_.methods.marker(stub_name(record.pc)), 0, 0, FrameType::kStub});
  }
  append_java_frames(record, code);
  return id = context_.writer.stack(frames_, record.truncated);
}

void AgctDecoder::append_java_frames(const AgctRecord& record, const hotspot::Code& code) {
  // AsyncGetCallTrace does not tell how a frame runs. For the innermost code the pc does; of its frames those before
  // the one that was compiled are inlined into it.
  FrameType innermost = FrameType::kJava;
  size_t inlined = 0;
  const auto frames = record.frames();
  if (code.kind == hotspot::CodeKind::kInterpreter) {
    innermost = FrameType::kInterpreted;
  } else if (code.kind == hotspot::CodeKind::kC1 || code.kind == hotspot::CodeKind::kC2) {
    const auto is_compiled_method = [&](const capture::AgctFrame& frame) {
      // A jmethodID points to its Method* up to JDK 25.
      return context_.jvm.memory().read<Address>(reinterpret_cast<Address>(frame.method)) == code.method;
    };
    const auto found = std::find_if(frames.begin(), frames.end(), is_compiled_method);
    if (found != frames.end()) {
      inlined = static_cast<size_t>(found - frames.begin());
      innermost = code.kind == hotspot::CodeKind::kC1 ? FrameType::kC1 : FrameType::kC2;
    }
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    const MethodNames::Method& method = context_.methods.resolve(static_cast<jmethodID>(frames[i].method));
    FrameType type = FrameType::kJava;
    if (frames[i].bci == -3) {
      type = FrameType::kNative;
    } else if (i < inlined) {
      type = FrameType::kInlined;
    } else if (i == inlined) {
      type = innermost;
    }
    frames_.push_back({method.id, method.line(frames[i].bci), std::max(frames[i].bci, 0), type});
  }
}

std::pair<std::string, double> AgctDecoder::hottest() {
  const auto [method, share] = events_.hottest();
  if (method == nullptr) return {};
  return {context_.methods.resolve(static_cast<jmethodID>(const_cast<void*>(method))).name, share};
}

}  // namespace tarsier::agent
