// Writes a large recording as a busy server would give: 200 threads, 100,000 different stacks of about 40 frames that
// share their outer parts, 5,000 methods, nearly all events execution samples.
//
//   reader_bench_make FILE MEGABYTES
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

constexpr size_t kMethods = 5000, kStacks = 100'000, kThreads = 200;

class Generator {
 public:
  explicit Generator(Writer& writer) : writer_(writer) { make_constants(); }

  void write(int64_t bytes) {
    Nanos now = monotonic_now();
    uint64_t generation = writer_.generation();
    for (int64_t n = 0; writer_.bytes_written().count < bytes; ++n) {
      now += Nanos(5'000 + static_cast<int64_t>(random_() % 1000));
      const Value values[] = {threads_[random_() % kThreads],
                              popular_stack(),
                              int64_t{0},
                              int64_t{1'000'000},
                              int64_t{0},
                              std::string_view()};
      writer_.event(Event::kExecutionSample, now, values);
      if (n % 200'000 == 0) {
        const Value overhead[] = {n * 3000, n * 1000, int64_t{32 << 20}};
        writer_.event(Event::kOverhead, now, overhead);
        if (!writer_.flush().ok()) return;
        if (writer_.generation() != generation) {
          generation = writer_.generation();
          make_constants();
        }
      }
    }
  }

 private:
  void make_constants() {
    std::vector<MethodId> methods;
    for (size_t i = 0; i < kMethods; ++i) {
      const std::string klass =
          "com/example/server/layer" + std::to_string(i % 37) + "/Component" + std::to_string(i / 7);
      methods.push_back(writer_.method({klass, "handle" + std::to_string(i), "(Ljava/lang/Object;I)V", 1}));
    }
    stacks_.clear();
    std::vector<Frame> frames;
    for (size_t i = 0; i < kStacks; ++i) {
      // Each stack keeps the outer part of the one before and gets a new inner part.
      const size_t keep = std::min<size_t>(frames.size(), 10 + random_() % 25);
      frames.erase(frames.begin(), frames.end() - static_cast<ptrdiff_t>(keep));
      std::vector<Frame> inner;
      for (size_t j = keep, depth = 30 + random_() % 20; j < depth; ++j) {
        inner.push_back({methods[random_() % kMethods], static_cast<int32_t>(random_() % 900),
                         static_cast<int32_t>(random_() % 200), static_cast<FrameType>(1 + random_() % 4)});
      }
      frames.insert(frames.begin(), inner.begin(), inner.end());
      stacks_.push_back(writer_.stack(frames, false));
    }
    threads_.clear();
    for (size_t i = 0; i < kThreads; ++i) {
      const std::string name = "http-worker-" + std::to_string(i);
      threads_.push_back(
          writer_.thread({name, static_cast<int64_t>(10'000 + i), name, static_cast<int64_t>(30 + i), false}));
    }
  }

  // Some stacks are much hotter than others.
  StackId popular_stack() {
    const double x = static_cast<double>(random_() % 1'000'000) / 1e6;
    return stacks_[static_cast<size_t>(x * x * x * kStacks)];
  }

  Writer& writer_;
  std::mt19937_64 random_{42};
  std::vector<StackId> stacks_;
  std::vector<ThreadId> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: reader_bench_make FILE MEGABYTES\n"), 2;
  Writer::Options options;
  options.memory = Bytes(256 << 20);
  auto writer = Writer::open(unique_fd(open(argv[1], O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600)), options);
  if (!writer.ok()) return fprintf(stderr, "%s\n", writer.error().what.c_str()), 1;
  const Nanos start = monotonic_now();
  Generator(**writer).write(atoll(argv[2]) << 20);
  if (Status s = (*writer)->finish(); !s.ok()) return fprintf(stderr, "%s\n", s.error().what.c_str()), 1;
  const double mb = static_cast<double>((*writer)->bytes_written().count) / 1e6;
  printf("written %.0f MB at %.0f MB/s, tables and buffers %.1f MB\n", mb, mb / in_seconds(monotonic_now() - start),
         static_cast<double>((*writer)->memory_used().count) / 1e6);
  return 0;
}
