// Writes a recording with as many lock events as wanted, as a busy program would give: 64 threads, 4,000 monitors and as
// many locks of java.util.concurrent that a few threads want at a time, one monitor that eight threads hammer on without
// end, 2,000 call chains. As with the agent, each thread has a buffer, which is written when it is full or a second old: the
// order of the file is not that of time.
//
//   lock_bench_make FILE MILLIONS
#include <fcntl.h>

#include <algorithm>
#include <array>
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

constexpr size_t kThreads = 64, kHammering = 8, kLocks = 4'000, kChains = 2000, kClasses = 40, kMethods = 1500;
constexpr int64_t kEventsPerSecond = 500'000, kSecond = 1'000'000'000;

struct Lock {
  size_t klass = 0;
  int64_t identity = 0, generation = 0;
};

struct Record {
  Event type{};
  int64_t time = 0, end = 0, generation = 0, sequence = 0;
  uint32_t thread = 0, other = UINT32_MAX, chain = 0, klass = 0;
  int64_t identity = 0;
};

class Trace {
 public:
  explicit Trace(Writer& writer) : writer_(writer), start_(monotonic_now().count) {
    for (size_t i = 0; i < 2 * kLocks; ++i) locks_.push_back({draw(kClasses), static_cast<int64_t>(draw(1U << 31))});
    for (Buffer& buffer : buffers_) buffer.room = draw_room();
    make_constants();
  }

  // Never the same number: many things happen at a time.
  bool write(int64_t events) {
    const int64_t step = kSecond / kEventsPerSecond;
    int64_t now = 0, collected = 0;
    size_t first_free = kHammering;
    while (written_ < events) {
      const int64_t before = made_;
      if (draw(10) == 0) {
        hammer(now);
      } else {
        contend(now, first_free);
      }
      now += (made_ - before) * step;
      if (now - collected > kSecond) {
        collected = now;
        for (Buffer& buffer : buffers_) submit(buffer);
        if (!writer_.flush().ok()) return false;
        if (writer_.generation() != generation_) make_constants();
      }
    }
    for (Buffer& buffer : buffers_) submit(buffer);
    return true;
  }
  [[nodiscard]] int64_t written() const { return written_; }

 private:
  struct Buffer {
    std::vector<Record> records;
    size_t room = 0;
    int64_t free_at = 0;
  };

  size_t draw(size_t below) { return random_() % below; }
  size_t draw_room() { return 128 + draw(256); }
  // Half of all contentions are for a few hundred locks.
  size_t draw_lock() { return draw(2) == 0 ? draw(300) : draw(kLocks); }
  int64_t hold() { return 2'000 + static_cast<int64_t>(draw(40'000)) * (draw(20) == 0 ? 10 : 1); }
  int64_t wake_up() { return 2'000 + static_cast<int64_t>(draw(8'000)); }
  // Each lock is used by few methods.
  uint32_t chain_of(size_t lock) { return static_cast<uint32_t>((lock * 7 + draw(4)) % kChains); }

  void add(Record record, size_t thread) {
    Buffer& buffer = buffers_[thread];
    record.thread = static_cast<uint32_t>(thread);
    buffer.records.push_back(record);
    ++made_;
    if (buffer.records.size() >= buffer.room) submit(buffer);
  }

  // Some threads want the same lock at about the same time, and get it one after the other.
  void contend(int64_t now, size_t& first_free) {
    const size_t wanted = 2 + draw(5);
    std::array<size_t, 8> threads{};
    size_t found = 0;
    for (size_t i = 0; i < kThreads && found < wanted; ++i) {
      const size_t thread = kHammering + (first_free + i) % (kThreads - kHammering);
      if (buffers_[thread].free_at <= now) threads[found++] = thread;
    }
    first_free = draw(kThreads);
    if (found < 2) return hammer(now);
    const bool monitor = draw(5) < 3;
    const size_t index = draw_lock() + (monitor ? 0 : kLocks);
    Lock& lock = locks_[index];
    ++lock.generation;
    std::array<int64_t, 8> begin{};
    for (size_t i = 0; i < found; ++i) begin[i] = now + static_cast<int64_t>(draw(1'500)) + 10;
    int64_t at = now;
    for (size_t i = 0; i + 1 < found; ++i) {
      at = std::max(at + hold(), begin[i + 1] + 1'000);
      const int64_t entered = at + wake_up();
      const auto next = static_cast<uint32_t>(threads[i + 1]);
      Record release{.type = monitor ? Event::kMonitorExit : Event::kUnpark,
                     .time = at,
                     .generation = lock.generation,
                     .sequence = monitor ? static_cast<int64_t>(2 * i + 1) : 0,
                     .other = monitor ? UINT32_MAX : next,
                     .chain = chain_of(index),
                     .klass = static_cast<uint32_t>(lock.klass),
                     .identity = lock.identity};
      add(release, threads[i]);
      Record blocked{.type = monitor ? Event::kJavaMonitorEnter : Event::kThreadPark,
                     .time = begin[i + 1],
                     .end = entered,
                     .generation = lock.generation,
                     .sequence = monitor ? static_cast<int64_t>(2 * i + 2) : 0,
                     .other = static_cast<uint32_t>(threads[0]),
                     .chain = chain_of(index),
                     .klass = static_cast<uint32_t>(lock.klass),
                     .identity = lock.identity};
      add(blocked, threads[i + 1]);
      buffers_[threads[i]].free_at = at + 2'000;
      at = entered;
    }
    buffers_[threads[found - 1]].free_at = at + 2'000;
  }

  // One monitor for which somebody is always blocked: one period of contention from the first event to the last.
  void hammer(int64_t now) {
    Buffer& owner = buffers_[hammer_owner_];
    hammer_at_ = std::max(now, hammer_at_ + hold());
    add({.type = Event::kMonitorExit,
         .time = hammer_at_,
         .generation = 1,
         .sequence = ++hammer_sequence_,
         .chain = static_cast<uint32_t>(draw(5)),
         .identity = 1},
        hammer_owner_);
    const size_t next = (hammer_owner_ + 1) % kHammering;
    const int64_t begin = std::max<int64_t>(buffers_[next].free_at, 1);
    owner.free_at = hammer_at_ + 1'000;
    const auto seen = static_cast<uint32_t>(hammer_owner_);
    hammer_at_ += wake_up();
    add({.type = Event::kJavaMonitorEnter,
         .time = begin,
         .end = hammer_at_,
         .generation = 1,
         .sequence = ++hammer_sequence_,
         .other = draw(2) == 0 ? UINT32_MAX : seen,
         .chain = static_cast<uint32_t>(draw(5)),
         .identity = 1},
        next);
    hammer_owner_ = next;
  }

  void submit(Buffer& buffer) {
    for (const Record& record : buffer.records) write(record);
    written_ += static_cast<int64_t>(buffer.records.size());
    buffer.records.clear();
    buffer.room = draw_room();
  }

  void write(const Record& r) {
    const ThreadId thread = threads_[r.thread], none{};
    const ThreadId other = r.other == UINT32_MAX ? none : threads_[r.other];
    const StackId stack = stacks_[r.chain];
    const std::string_view null;
    const Nanos time(start_ + r.time);
    const int64_t duration = r.end - r.time;
    switch (r.type) {
      case Event::kJavaMonitorEnter: {
        const Value values[] = {duration,     thread,     stack,      classes_[r.klass], other, int64_t{0}, r.identity,
                                r.generation, r.sequence, int64_t{0}, int64_t{0},        null,  none};
        return writer_.event(r.type, time, values);
      }
      case Event::kMonitorExit: {
        const Value values[] = {thread,       stack,      classes_[r.klass],        int64_t{0}, r.identity,
                                r.generation, r.sequence, std::string_view("exit"), other,      null,
                                none};
        return writer_.event(r.type, time, values);
      }
      case Event::kThreadPark: {
        const Value values[] = {duration,   thread,     stack,      juc_classes_[r.klass % 2], INT64_MIN,
                                INT64_MIN,  int64_t{0}, r.identity, ++last_park_or_unpark_,    other,
                                int64_t{0}, null,       none,       null, ClassId(),                 int64_t{0}};
        return writer_.event(r.type, time, values);
      }
      default: {
        const Value values[] = {thread, stack, other, ++last_park_or_unpark_, null, none};
        return writer_.event(r.type, time, values);
      }
    }
  }

  // After the writer has begun a new file part, which knows nothing of the old ones.
  void make_constants() {
    generation_ = writer_.generation();
    threads_.clear();
    classes_.clear();
    stacks_.clear();
    for (size_t i = 0; i < kThreads; ++i) {
      const std::string name = "worker-" + std::to_string(i);
      threads_.push_back(
          writer_.thread({name, static_cast<int64_t>(10'000 + i), name, static_cast<int64_t>(30 + i), false}));
    }
    for (size_t i = 0; i < kClasses; ++i) {
      classes_.push_back(writer_.klass("com/example/server/Resource" + std::to_string(i)));
    }
    juc_classes_ = {writer_.klass("java/util/concurrent/locks/ReentrantLock$NonfairSync"),
                    writer_.klass("java/util/concurrent/Semaphore$FairSync")};
    std::vector<MethodId> methods;
    for (size_t i = 0; i < kMethods; ++i) {
      const std::string klass = "com/example/server/layer" + std::to_string(i % 37) + "/Component" + std::to_string(i / 7);
      methods.push_back(writer_.method({klass, "handle" + std::to_string(i), "(Ljava/lang/Object;I)V", 1}));
    }
    std::mt19937_64 same(7);
    for (size_t i = 0; i < kChains; ++i) {
      std::vector<Frame> frames;
      for (size_t depth = 20 + same() % 20; frames.size() < depth;) {
        frames.push_back({methods[same() % kMethods], static_cast<int32_t>(same() % 900),
                          static_cast<int32_t>(same() % 200), FrameType::kC2});
      }
      stacks_.push_back(writer_.stack(frames, false));
    }
  }

  Writer& writer_;
  int64_t start_;
  std::mt19937_64 random_{42};
  std::vector<Lock> locks_;  // first the monitors
  std::array<Buffer, kThreads> buffers_;
  size_t hammer_owner_ = 0;
  int64_t hammer_at_ = 0, hammer_sequence_ = 0;
  int64_t last_park_or_unpark_ = 0;
  int64_t made_ = 0, written_ = 0;
  uint64_t generation_ = 0;
  std::vector<ThreadId> threads_;
  std::vector<ClassId> classes_, juc_classes_;
  std::vector<StackId> stacks_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: lock_bench_make FILE MILLIONS\n"), 2;
  auto writer = Writer::open(unique_fd(open(argv[1], O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600)), {});
  if (!writer.ok()) return fprintf(stderr, "%s\n", writer.error().what.c_str()), 1;
  const Value session[] = {std::string_view("bench"), std::string_view("none"), int64_t{1},
                           int64_t{64},                int64_t{0},               int64_t{0}, std::string_view()};
  (*writer)->sticky_event(Event::kSession, "", monotonic_now(), session);
  Trace trace(**writer);
  if (!trace.write(atoll(argv[2]) * 1'000'000)) return fprintf(stderr, "can't write\n"), 1;
  if (Status s = (*writer)->finish(); !s.ok()) return fprintf(stderr, "%s\n", s.error().what.c_str()), 1;
  printf("%lld\n", static_cast<long long>(trace.written()));
  return 0;
}
