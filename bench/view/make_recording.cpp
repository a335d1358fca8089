// Writes a recording of CPU samples of any length, as a server would give that was watched for hours: pools of threads that
// do the same things, so that threads of a pool have the same stacks, some of them much hotter than others. Each thread's
// samples are written together once a second, as the agent does.
//
//   view_bench_make FILE MEGABYTES
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "recording/writer.h"

using namespace tarsier;
using namespace tarsier::recording;

namespace {

constexpr size_t kMethods = 5000, kPools = 4, kThreadsOfPool = 16, kStacksOfPool = 5000;
constexpr size_t kBusyCpus = 8;  // so many threads run at a time, sampled each ms

class Generator {
 public:
  explicit Generator(Writer& writer) : writer_(writer), now_(monotonic_now()) { make_constants(); }

  void write(int64_t bytes) {
    uint64_t generation = writer_.generation();
    while (writer_.bytes_written().count < bytes) {
      // A chunk says itself how long it lasted: what is a second for the program is as long as it takes to write it.
      const Nanos now = monotonic_now();
      for (size_t cpu = 0; cpu < kBusyCpus; ++cpu) write_second(random_() % (kPools * kThreadsOfPool), now_, now - now_);
      now_ = now;
      if (!writer_.flush().ok()) return;
      if (writer_.generation() != generation) {
        generation = writer_.generation();
        make_constants();
      }
    }
  }
  [[nodiscard]] int64_t written() const { return written_; }

 private:
  void write_second(size_t thread, Nanos begin, Nanos length) {
    for (int i = 0; i < 1000; ++i) {
      const Nanos time = begin + Nanos(length.count * i / 1000);
      const Value values[] = {threads_[thread],
                              popular_stack(stacks_[thread / kThreadsOfPool]),
                              int64_t{0},
                              int64_t{1'000'000},
                              int64_t{0},
                              std::string_view()};
      writer_.event(Event::kExecutionSample, time, values);
      ++written_;
    }
  }

  // The same in each chunk: a program does not become another one.
  void make_constants() {
    std::mt19937_64 random(7);
    std::vector<MethodId> methods;
    for (size_t i = 0; i < kMethods; ++i) {
      const std::string klass =
          "com/example/server/layer" + std::to_string(i % 37) + "/Component" + std::to_string(i / 7);
      methods.push_back(writer_.method({klass, "handle" + std::to_string(i), "(Ljava/lang/Object;I)V", 1}));
    }
    stacks_.assign(kPools, {});
    threads_.clear();
    for (size_t pool = 0; pool < kPools; ++pool) {
      std::vector<Frame> frames;
      for (size_t i = 0; i < kStacksOfPool; ++i) {
        // Each stack keeps the outer part of the one before and gets a new inner part.
        const size_t keep = std::min<size_t>(frames.size(), 20 + random() % 20);
        frames.erase(frames.begin(), frames.end() - static_cast<ptrdiff_t>(keep));
        std::vector<Frame> inner;
        for (size_t j = keep, depth = 30 + random() % 20; j < depth; ++j) {
          inner.push_back({methods[random() % kMethods], static_cast<int32_t>(random() % 900),
                           static_cast<int32_t>(random() % 200), static_cast<FrameType>(1 + random() % 4)});
        }
        frames.insert(frames.begin(), inner.begin(), inner.end());
        stacks_[pool].push_back(writer_.stack(frames, false));
      }
      for (size_t i = 0; i < kThreadsOfPool; ++i) {
        const std::string name = "pool-" + std::to_string(pool) + "-thread-" + std::to_string(i);
        const auto id = static_cast<int64_t>(threads_.size());
        threads_.push_back(writer_.thread({name, 10'000 + id, name, 30 + id, false}));
      }
    }
  }

  StackId popular_stack(const std::vector<StackId>& stacks) {
    const double x = static_cast<double>(random_() % 1'000'000) / 1e6;
    return stacks[static_cast<size_t>(x * x * x * static_cast<double>(stacks.size()))];
  }

  Writer& writer_;
  Nanos now_;
  std::mt19937_64 random_{42};
  std::vector<std::vector<StackId>> stacks_;  // by pool
  std::vector<ThreadId> threads_;
  int64_t written_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: view_bench_make FILE MEGABYTES\n"), 2;
  Writer::Options options;
  options.memory = Bytes(256 << 20);
  auto writer = Writer::open(unique_fd(open(argv[1], O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600)), options);
  if (!writer.ok()) return fprintf(stderr, "%s\n", writer.error().what.c_str()), 1;
  Generator generator(**writer);
  generator.write(atoll(argv[2]) << 20);
  if (Status s = (*writer)->finish(); !s.ok()) return fprintf(stderr, "%s\n", s.error().what.c_str()), 1;
  printf("%lld\n", static_cast<long long>(generator.written()));
  return 0;
}
