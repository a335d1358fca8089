// What the two engines behind the name `fragment` share, the one by signals and the one in the kernel: where the JVM
// keeps what is copied, and what becomes of a copy.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/fragment_decoder.h"
#include "agent/jvm_threads.h"
#include "capture/java_bottoms.h"
#include "hotspot/sigsafe/fragment.h"
#include "hotspot/sigsafe/virtual_thread.h"

namespace tarsier::agent {

class FragmentDecoding {
 public:
  // `warnings`: what a user should know is added.
  static Result<FragmentDecoding> make(EngineContext& context, recording::Event event,
                                       std::vector<std::string>& warnings);

  [[nodiscard]] const hotspot::ThreadFields& fields() const { return fields_; }
  // Where this JVM keeps virtual threads; null if it has none, or none that we understand.
  [[nodiscard]] const hotspot::VirtualThreadLayout* virtual_threads() const {
    return virtual_threads_ ? &*virtual_threads_ : nullptr;
  }
  FragmentDecoder& decoder() { return *decoder_; }
  // As often as you like, once somebody follows them.
  void look_for_jvm_threads() { jvm_threads_->look_if_due(); }
  // Decodes the record, and learns from it where its thread's Java frames end.
  void decode(const capture::FragmentRecord& record, capture::JavaBottoms& bottoms, const Waker* waker = nullptr);
  // The same of a thread that has woken another: FragmentDecoder::keep_waker.
  int64_t keep_waker(const capture::FragmentRecord& record, uint32_t woken, capture::JavaBottoms& bottoms);
  void add_to(EngineStats& stats) const;

  // Of the ring: a power of two.
  static size_t ring_bytes(const control::SessionOptions& options);

 private:
  FragmentDecoding(const hotspot::ThreadFields& fields, std::unique_ptr<FragmentDecoder> decoder,
                   ThreadRegistry& threads)
      : fields_(fields), decoder_(std::move(decoder)), jvm_threads_(std::make_unique<JvmThreads>(threads)) {}

  void learn_bottom(uint32_t thread, capture::JavaBottoms& bottoms);

  hotspot::ThreadFields fields_;
  std::optional<hotspot::VirtualThreadLayout> virtual_threads_;
  std::unique_ptr<FragmentDecoder> decoder_;
  std::unique_ptr<JvmThreads> jvm_threads_;
};

}  // namespace tarsier::agent
