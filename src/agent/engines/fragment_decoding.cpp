#include "agent/engines/fragment_decoding.h"

#include <algorithm>
#include <bit>

#include "agent/virtual_threads.h"
#include "hotspot/continuation_entries.h"
#include "hotspot/threads.h"

namespace tarsier::agent {

Result<FragmentDecoding> FragmentDecoding::make(EngineContext& context, recording::Event event,
                                                std::vector<std::string>& warnings) {
  if (!context.jvm.lib().structs()) return Error{Errc::kUnsupported, "this JVM exports no vmStructs"};
  const hotspot::VmStructs& structs = *context.jvm.lib().structs();
  auto fields = hotspot::find_thread_fields(structs);
  if (!fields) return std::move(fields).error();
  const auto entries = find_continuation_entries(context.jvm.memory(), structs, hotspot::Machine::host());
  fields->continuation = entries.value_or(0);
  auto decoder = FragmentDecoder::make(context, event);
  if (!decoder) return std::move(decoder).error();
  if (const auto& epoch = (*decoder)->epoch()) {
    fields->unloaded = reinterpret_cast<const uint64_t*>(epoch->counter());
    fields->unloaded_shared = reinterpret_cast<const uint64_t*>(epoch->shared_counter());
  }
  FragmentDecoding decoding(*fields, std::move(*decoder), context.threads);
  if (auto found = find_virtual_threads(context.jvm, entries.has_value())) {
    decoding.virtual_threads_ = *found;
  } else {
    warnings.push_back("stacks of virtual threads are incomplete: " + found.error().what);
  }
  return decoding;
}

void FragmentDecoding::decode(const capture::FragmentRecord& record, capture::JavaBottoms& bottoms,
                              const Waker* waker) {
  decoder_->decode(record, waker);
  learn_bottom(record.thread, bottoms);
}

int64_t FragmentDecoding::keep_waker(const capture::FragmentRecord& record, uint32_t woken,
                                     capture::JavaBottoms& bottoms) {
  const int64_t virtual_id = decoder_->keep_waker(record, woken);
  learn_bottom(record.thread, bottoms);
  return virtual_id;
}

void FragmentDecoding::learn_bottom(uint32_t thread, capture::JavaBottoms& bottoms) {
  const auto bottom = decoder_->java_bottom();
  if (!bottom) return;
  const bool wider = *bottom > bottoms.of(thread);
  if (*bottom == 0 || wider || decoder_->was_of_jvm()) bottoms.learn(thread, *bottom);
}

size_t FragmentDecoding::ring_bytes(const control::SessionOptions& options) {
  // A quarter of the budget: a fragment is some 10 KB.
  return std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(options.memory.count / 4, 1 << 18)));
}

void FragmentDecoding::add_to(EngineStats& stats) const {
  const SampleEvents::Counts& counts = decoder_->counts();
  stats.written = counts.written;
  stats.failed = counts.failed;
  stats.counters["imprecise samples"] = static_cast<int64_t>(counts.imprecise);
  for (size_t i = 0; i < decoder_->ends().size(); ++i) {
    stats.counters["walks: " + std::string(name_of(static_cast<hotspot::WalkEnd>(i)))] =
        static_cast<int64_t>(decoder_->ends()[i]);
  }
  for (size_t i = 0; i < decoder_->starts().size(); ++i) {
    stats.counters["started by: " + std::string(name_of(static_cast<hotspot::WalkStart>(i)))] =
        static_cast<int64_t>(decoder_->starts()[i]);
  }
  const auto& edges = decoder_->edges();
  stats.counters["edges: right"] = static_cast<int64_t>(edges[static_cast<size_t>(hotspot::Edge::kRight)]);
  stats.counters["edges: wrong"] = static_cast<int64_t>(edges[static_cast<size_t>(hotspot::Edge::kWrong)]);
  stats.counters["edges: uncheckable"] = static_cast<int64_t>(edges[static_cast<size_t>(hotspot::Edge::kUncheckable)]);
  stats.counters["frames"] = static_cast<int64_t>(decoder_->frames());
  stats.counters["frames: known from the thread's last stack"] = static_cast<int64_t>(decoder_->reused_frames());
  if (const auto* comparison = decoder_->comparison()) {
    stats.counters["walks: compared with whole ones"] = static_cast<int64_t>(comparison->walks);
    stats.counters["walks: compared, with frames that were known"] = static_cast<int64_t>(comparison->reused);
    stats.counters["walks: different from whole ones"] = static_cast<int64_t>(comparison->different);
  }
  if (const AgctAgreement* agreement = decoder_->agreement()) {
    for (size_t i = 0; i < static_cast<size_t>(Agreement::kCount); ++i) {
      for (size_t j = 0; j < static_cast<size_t>(hotspot::WalkStart::kCount); ++j) {
        const auto which = static_cast<Agreement>(i);
        const auto start = static_cast<hotspot::WalkStart>(j);
        stats
            .counters["beside AsyncGetCallTrace: " + std::string(name_of(which)) + ", " + std::string(name_of(start))] =
            static_cast<int64_t>(agreement->count(which, start));
      }
    }
    for (const std::string& example : agreement->examples()) ++stats.counters["for example: " + example];
  }
  if (const auto* native = decoder_->native_counts()) {
    stats.counters["native: samples in native code"] = static_cast<int64_t>(native->samples);
    stats.counters["native: with all their native frames"] = static_cast<int64_t>(native->complete);
    stats.counters["native: samples with native code between Java frames"] = static_cast<int64_t>(native->gaps);
    stats.counters["native: with all frames of it"] = static_cast<int64_t>(native->gaps_filled);
    stats.memory += Bytes(static_cast<int64_t>(decoder_->native_memory()));
  }
  if (decoder_->saver() != nullptr) decoder_->saver()->add_to(stats);
  std::tie(stats.hottest, stats.hottest_share) = decoder_->hottest();
}

}  // namespace tarsier::agent
