// Reads a recording as an analysis does: every execution sample with its fields, every stack and every method
// resolved once. Prints MB/s and the peak of resident memory.
//
//   reader_bench_read FILE [ROUNDS]
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "recording/reader.h"

using namespace tarsier;
using namespace tarsier::recording;

namespace {

class Analysis final : public Visitor {
 public:
  void chunk(Chunk& chunk) override {
    seen_stacks_.clear();
    seen_methods_.clear();
    const TypeIndex type = chunk.type("jdk.ExecutionSample");
    chunk.select(type);
    thread_ = chunk.field(type, "sampledThread");
    stack_ = chunk.field(type, "stackTrace");
    state_ = chunk.field(type, "state");
    weight_ = chunk.field(type, "weight");
    imprecise_ = chunk.field(type, "imprecise");
    failure_ = chunk.field(type, "failure");
  }

  void event(const Chunk& chunk, const EventView& event) override {
    ++samples;
    checksum += event.start().count + event.number(weight_) + event.number(imprecise_) + event.constant(thread_).key +
                event.constant(state_).key + static_cast<int64_t>(event.string(failure_).size());
    const ConstantKey key = event.constant(stack_);
    if (!first_time(seen_stacks_, key)) return;
    ++stacks;
    chunk.stack(key, view_);
    for (const FrameView& frame : view_.frames) {
      ++frames;
      checksum += frame.line;
      if (!first_time(seen_methods_, frame.method)) continue;
      MethodView method;
      chunk.method(frame.method, method);
      checksum += static_cast<int64_t>(method.name.size());
    }
  }

  int64_t samples = 0, stacks = 0, frames = 0, checksum = 0;

 private:
  // Keys of our own files are small numbers.
  static bool first_time(std::vector<bool>& seen, ConstantKey key) {
    const auto i = static_cast<size_t>(key.key);
    if (i >= seen.size()) seen.resize(i + 1);
    if (seen[i]) return false;
    return seen[i] = true;
  }

  std::vector<bool> seen_stacks_, seen_methods_;
  FieldIndex thread_, stack_, state_, weight_, imprecise_, failure_;
  StackView view_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fprintf(stderr, "usage: reader_bench_read FILE [ROUNDS]\n"), 2;
  double best = 0;
  for (int round = argc > 2 ? atoi(argv[2]) : 1; round > 0; --round) {
    const Nanos start = clock_now(CLOCK_PROCESS_CPUTIME_ID), wall = monotonic_now();
    auto recording = Recording::open(argv[1]);
    if (!recording.ok()) return fprintf(stderr, "%s\n", recording.error().what.c_str()), 1;
    Analysis analysis;
    auto summary = (*recording)->read(analysis);
    if (!summary.ok()) return fprintf(stderr, "%s\n", summary.error().what.c_str()), 1;
    const double mb = static_cast<double>(summary->bytes) / 1e6;
    const double cpu = in_seconds(clock_now(CLOCK_PROCESS_CPUTIME_ID) - start);
    best = std::max(best, mb / cpu);
    printf("%.0f MB, %lld samples, %lld stacks, %lld frames: %.0f MB/s of CPU time, %.0f MB/s of wall time\n", mb,
           static_cast<long long>(analysis.samples), static_cast<long long>(analysis.stacks),
           static_cast<long long>(analysis.frames), mb / cpu, mb / in_seconds(monotonic_now() - wall));
    for (const std::string& problem : summary->problems) printf("problem: %s\n", problem.c_str());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  printf("best %.0f MB/s per core, peak resident memory %.1f MB\n", best, static_cast<double>(usage.ru_maxrss) / 1e3);
  return 0;
}
