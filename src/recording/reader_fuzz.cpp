// Any bytes at all: the reader may say no, it may not crash, hang or eat memory. Every event of every type is decoded
// and every constant it refers to resolved.
#include <cstdint>

#include "recording/reader.h"

namespace {

using namespace tarsier::recording;

class Touch final : public Visitor {
 public:
  void chunk(Chunk& chunk) override {
    for (const TypeIndex type : chunk.event_types()) chunk.select(type);
  }
  void event(const Chunk& chunk, const EventView& event) override {
    const auto fields = static_cast<int32_t>(chunk.fields(event.type()).size());
    for (FieldIndex i{0}; i.index < fields; ++i.index) {
      touched_ += static_cast<uint64_t>(event.number(i)) + event.string(i).size();
      const ConstantKey key = event.constant(i);
      std::string_view name;
      ThreadInfo thread;
      if (chunk.class_name(key, name)) touched_ += name.size();
      if (chunk.thread(key, thread)) touched_ += thread.java_name.size();
      if (!chunk.stack(key, stack_)) continue;
      MethodView method;
      for (const FrameView& frame : stack_.frames) touched_ += chunk.method(frame.method, method);
    }
  }

 private:
  uint64_t touched_ = 0;
  StackView stack_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto recording = Recording::over({data, size});
  if (!recording.ok()) return 0;
  Touch touch;
  (void)(*recording)->read(touch);
  return 0;
}
