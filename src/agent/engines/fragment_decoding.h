// What the two engines behind the name `fragment` share, the one by signals and the one in the kernel: where the JVM
// keeps what is copied, and what becomes of a copy.
#pragma once

#include <cstddef>
#include <memory>

#include "agent/engines/engine.h"
#include "agent/engines/fragment_decoder.h"
#include "hotspot/sigsafe/fragment.h"

namespace tarsier::agent {

class FragmentDecoding {
 public:
  static Result<FragmentDecoding> make(EngineContext& context, recording::Event event);

  [[nodiscard]] const hotspot::ThreadFields& fields() const { return fields_; }
  FragmentDecoder& decoder() { return *decoder_; }
  void add_to(EngineStats& stats) const;

  // Of the ring: a power of two.
  static size_t ring_bytes(const control::SessionOptions& options);

 private:
  FragmentDecoding(const hotspot::ThreadFields& fields, std::unique_ptr<FragmentDecoder> decoder)
      : fields_(fields), decoder_(std::move(decoder)) {}

  hotspot::ThreadFields fields_;
  std::unique_ptr<FragmentDecoder> decoder_;
};

}  // namespace tarsier::agent
