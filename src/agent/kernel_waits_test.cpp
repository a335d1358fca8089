#include "agent/kernel_waits_for_test.h"

namespace tarsier::agent {
namespace {

using namespace kernel_waits_for_test;

TEST_F(KernelWaitsTest, set_the_flags_that_the_decoder_reads) {
  linux::bpf::SampleHeader written{};
  written.flags = linux::bpf::kFlagWaits | linux::bpf::kFlagBlocked | linux::bpf::kFlagOngoing;
  capture::SampleHeader read{};
  static_assert(sizeof(read) == sizeof(written));
  std::memcpy(&read, &written, sizeof(read));
  EXPECT_TRUE(read.waits && read.blocked && read.ongoing);
  EXPECT_FALSE(read.repeated || read.kept || read.from_before || read.uninterruptible || read.page_fault);
  written.flags = linux::bpf::kFlagKept | linux::bpf::kFlagUninterruptible | linux::bpf::kFlagPageFault;
  std::memcpy(&read, &written, sizeof(read));
  EXPECT_TRUE(read.kept && read.uninterruptible && read.page_fault);
  EXPECT_FALSE(read.waits || read.repeated || read.blocked || read.ongoing || read.from_before);
}

TEST_F(KernelWaitsTest, a_wait_has_its_length_and_the_stack_from_the_anchor_on) {
  load();
  if (IsSkipped()) return;
  const JavaThread self = described(::gettid());
  const Nanos began = monotonic_now();
  ASSERT_TRUE(waits_->thread_started(self));
  constexpr int kTimes = 20;
  for (int i = 0; i < kTimes; ++i) sleep_for(millis(5));
  const size_t slept_at_least = kTimes / 2;  // see sleep_until
  const Nanos cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
  waits_->thread_ended(self);
  const Nanos life = monotonic_now() - began;
  const auto waits = read();
  ASSERT_GE(waits.size(), slept_at_least);
  Nanos slept;
  for (const Wait& wait : waits) {
    slept += Nanos(static_cast<int64_t>(wait.header.weight_ns));
    EXPECT_EQ(wait.header.thread, 42u);
    EXPECT_TRUE(wait.header.waits);
    EXPECT_FALSE(wait.header.blocked || wait.header.kept || wait.header.ongoing || wait.header.from_before);
    EXPECT_GE(wait.header.time_ns, static_cast<uint64_t>(began.count));
    EXPECT_EQ(wait.fragment.anchor.sp, java_thread_[1]);
    EXPECT_EQ(wait.fragment.anchor.pc, 0x222u);
    EXPECT_EQ(wait.fragment.anchor.fp, 0x333u);
    EXPECT_EQ(wait.fragment.thread_state, 4);
    EXPECT_EQ(wait.fragment.epoch, 11u);
    EXPECT_LT(wait.fragment.sp, wait.fragment.anchor.sp);
    EXPECT_EQ(wait.fragment.sp + wait.fragment.stack_bytes, java_thread_[6]);
    EXPECT_FALSE(wait.fragment.cut);
    EXPECT_TRUE(wait.has_witness());
  }
  EXPECT_GT(slept, millis(5) * kTimes / 2) << "the rest is time in which others had its CPU";
  EXPECT_LE(slept, life);

  ThreadTimes all = times();
  EXPECT_EQ(all.of(TimePart::kWaits).time, slept);
  EXPECT_EQ(all.of(TimePart::kWaits).count, waits.size());
  EXPECT_EQ(all.of(TimePart::kMissedWaits).count, 0u);
  EXPECT_LE(all.of(TimePart::kCpu).time, cpu + millis(100));
  EXPECT_LE(sum_of(all), life);
  // What the programs have not seen is less than the little that is done before they know of the thread.
  EXPECT_LT(all.of(TimePart::kMissedWaits).time, life / 20);
  EXPECT_EQ(stats().taken, waits.size());
  EXPECT_EQ(stats().dropped_in_all(), 0u);
  EXPECT_GT(stats().in_app_threads.count, 0);
}

TEST_F(KernelWaitsTest, waits_shorter_than_the_least_or_longer_than_the_most_are_only_summed) {
  load({millis(100), millis(200)});
  if (IsSkipped()) return;
  const JavaThread self = described(::gettid());
  ASSERT_TRUE(waits_->thread_started(self));
  for (int i = 0; i < 10; ++i) sleep_for(millis(1));
  sleep_for(millis(300));
  waits_->thread_ended(self);
  for (const Wait& wait : read()) EXPECT_GE(wait.header.weight_ns, 100'000'000u);  // a machine that stands still
  ThreadTimes all = times();
  EXPECT_GE(all.of(TimePart::kShortWaits).count + all.of(TimePart::kWaits).count, 5u) << "see sleep_until";
  EXPECT_EQ(all.of(TimePart::kLongWaits).count, 1u);
  EXPECT_GT(all.of(TimePart::kLongWaits).time, millis(200));
}

TEST_F(KernelWaitsTest, a_thread_that_slept_before_is_copied_from_outside_and_has_its_length_when_it_has_run) {
  load();
  if (IsSkipped()) return;
  PipeReader sleeper;
  ASSERT_TRUE(waits_->thread_started(described(sleeper.tid())));
  const Nanos began = monotonic_now();
  auto waits = read();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_TRUE(waits[0].header.kept);
  EXPECT_TRUE(waits[0].has_witness());
  EXPECT_EQ(times().of(TimePart::kOpenWait).count, 1u);
  sleep_for(millis(50));
  const Nanos woken = monotonic_now();
  sleeper.wake();
  // Until it is back in the pipe.
  while (waits.size() < 2) {
    (void)waits_->changed_times();
    const auto more = read();
    waits.insert(waits.end(), more.begin(), more.end());
    std::this_thread::yield();
  }
  EXPECT_TRUE(waits[1].header.repeated && waits[1].header.from_before);
  EXPECT_FALSE(waits[1].header.ongoing);
  const Nanos length(static_cast<int64_t>(waits[1].header.weight_ns));
  EXPECT_GT(length, (woken - began) / 2);
  EXPECT_LT(length, monotonic_now() - began + millis(100));

  // And the next one, which the programs have seen, goes on at the end.
  sleep_for(millis(20));
  waits_->stop();
  while (waits_->close_one()) {
  }
  const auto last = read();
  ASSERT_GE(last.size(), 1u);
  EXPECT_TRUE(last.back().header.ongoing && last.back().header.waits);
  EXPECT_FALSE(last.back().header.from_before || last.back().header.repeated);
  EXPECT_TRUE(last.back().has_witness());
  EXPECT_EQ(times().of(TimePart::kOpenWait).count, 0u);
  EXPECT_EQ(stats().taken, 1 + last.size()) << "the copy from before is no wait of its own";
}

TEST_F(KernelWaitsTest, one_that_has_not_run_at_all_is_ongoing_and_from_before) {
  load();
  if (IsSkipped()) return;
  PipeReader sleeper;
  ASSERT_TRUE(waits_->thread_started(described(sleeper.tid())));
  (void)read();
  sleep_for(millis(5));
  waits_->stop();
  EXPECT_TRUE(waits_->close_one());
  EXPECT_FALSE(waits_->close_one());
  const auto waits = read();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_TRUE(waits[0].header.ongoing && waits[0].header.from_before && waits[0].header.repeated);
  EXPECT_GE(waits[0].header.weight_ns, 5'000'000u);
  EXPECT_EQ(times().of(TimePart::kWaits).count, 1u);
}

TEST_F(KernelWaitsTest, a_thread_whose_stack_was_cut_gets_more_room) {
  load();
  if (IsSkipped()) return;
  java_thread_[1] = reinterpret_cast<uint64_t>(room_ + kWords - 2048);  // 16 KB
  const JavaThread self = described(::gettid());
  ASSERT_TRUE(waits_->thread_started(self));
  auto waits = sleep_until_read(1);
  ASSERT_GE(waits.size(), 1u);
  EXPECT_TRUE(waits[0].fragment.cut);
  EXPECT_GT(waits[0].fragment.stack_bytes, 7000u);
  waits_->stack_was_cut(self.serial);
  waits = sleep_until_read(1);
  ASSERT_GE(waits.size(), 1u);
  EXPECT_FALSE(waits.back().fragment.cut);
  EXPECT_EQ(waits.back().fragment.sp + waits.back().fragment.stack_bytes, java_thread_[6]);
  // What lies above the Java frames need not be copied, once that is known.
  waits_->bottoms().learn(self.serial, java_thread_[1] + 512);
  waits = sleep_until_read(1);
  ASSERT_GE(waits.size(), 1u);
  EXPECT_FALSE(waits.back().fragment.cut);
  EXPECT_EQ(waits.back().fragment.sp + waits.back().fragment.stack_bytes, java_thread_[1] + 512);
}

TEST_F(KernelWaitsTest, what_a_thread_does_after_java_has_let_go_of_it_is_nobodys) {
  load();
  if (IsSkipped()) return;
  for (const uint32_t serial : {0u, 42u}) {
    const JavaThread self = described(::gettid(), serial);
    ASSERT_TRUE(waits_->thread_started(self));
    sleep_for(millis(1));
    waits_->thread_ended(self);
    const uint64_t before = stats().taken;
    EXPECT_GT(before, 0u);
    for (int i = 0; i < 10; ++i) sleep_for(millis(1));
    EXPECT_EQ(stats().taken, before) << serial;
  }
}

TEST_F(KernelWaitsTest, nor_is_it_anothers_who_has_its_slot_or_its_own_under_another_number) {
  load();
  if (IsSkipped()) return;
  // So many that slots are given away again, and places by which tasks are found are shared.
  constexpr uint32_t kTimes = 600;
  PipeReader other;
  for (uint32_t serial = 1; serial <= kTimes; ++serial) {
    const JavaThread self = described(::gettid(), serial), stranger = described(other.tid(), kTimes + serial);
    ASSERT_TRUE(waits_->thread_started(self));
    ASSERT_TRUE(waits_->thread_started(stranger));
    ::usleep(200);
    waits_->thread_ended(self);
    waits_->thread_ended(stranger);
    for (const Wait& wait : read()) {
      if (!wait.header.kept && !wait.header.from_before) {
        EXPECT_EQ(wait.header.thread, serial);
      }
    }
  }
}

// The maps of tasks that there are in the kernel, ours among them: nobody but the programs has ours.
std::vector<unique_fd> maps_of_tasks() {
  std::vector<unique_fd> maps;
  bpf_attr next{};
  while (::syscall(SYS_bpf, BPF_MAP_GET_NEXT_ID, &next, sizeof(next)) == 0) {
    bpf_attr one{}, ask{};
    one.map_id = next.start_id = next.next_id;
    unique_fd map(static_cast<int>(::syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, &one, sizeof(one))));
    bpf_map_info info{};
    ask.info.bpf_fd = static_cast<uint32_t>(map.get());
    ask.info.info_len = sizeof(info);
    ask.info.info = reinterpret_cast<uintptr_t>(&info);
    if (!map || ::syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask)) != 0) continue;
    if (info.type == BPF_MAP_TYPE_HASH && info.key_size == 8 && info.value_size == sizeof(linux::bpf::Seated))
      maps.push_back(std::move(map));
  }
  return maps;
}

size_t tasks_in(const unique_fd& map) {
  size_t count = 0;
  uint64_t key = 0;
  bpf_attr next{};
  next.map_fd = static_cast<uint32_t>(map.get());
  next.next_key = reinterpret_cast<uintptr_t>(&key);
  for (; ::syscall(SYS_bpf, BPF_MAP_GET_NEXT_KEY, &next, sizeof(next)) == 0; ++count) {
    next.key = reinterpret_cast<uintptr_t>(&key);
  }
  return count;
}

TEST_F(KernelWaitsTest, threads_that_have_ended_leave_no_task_behind) {
  load();
  if (IsSkipped()) return;
  constexpr size_t kThreads = 37;  // by which our map is known
  std::optional<unique_fd> ours;
  {
    std::array<PipeReader, kThreads> sleepers;
    for (uint32_t i = 0; i < kThreads; ++i) {
      ASSERT_TRUE(waits_->thread_started(described(sleepers[i].tid(), i + 1)));
      sleepers[i].wake();  // seen to go to sleep again
    }
    sleep_until([&] {
      for (unique_fd& map : maps_of_tasks()) {
        if (tasks_in(map) == kThreads) ours = std::move(map);
      }
      return ours.has_value();
    });
    ASSERT_TRUE(ours) << "only CAP_SYS_ADMIN finds maps";
  }
  // The kernel takes them down a moment after they were joined.
  sleep_until([&] { return tasks_in(*ours) == 0; });
  EXPECT_EQ(tasks_in(*ours), 0u);
}

TEST_F(KernelWaitsTest, classes_unloaded_while_it_slept_do_not_make_its_stack_doubtful) {
  load();
  if (IsSkipped()) return;
  PipeReader sleeper;
  ASSERT_TRUE(waits_->thread_started(described(sleeper.tid())));
  (void)read();
  sleeper.wake();
  sleeper.wait_until_asleep();
  sleep_for(millis(1));
  unloaded_ = 7;
  (void)read();
  sleeper.wake();
  std::vector<Wait> waits;
  while (waits.empty()) {
    waits = of_thread(42);
    std::this_thread::yield();
  }
  EXPECT_EQ(waits.back().fragment.epoch, 13u);
}

TEST_F(KernelWaitsTest, of_a_virtual_thread_the_same_is_copied_as_by_a_handler) {
  capture::MadeUpVirtualThread heap;
  hotspot::VirtualThreadLayout layout = capture::MadeUpVirtualThread::layout();
  layout.carrier = 56;
  layout.current = 64;
  load({micros(100), Nanos(0)}, {1 << 20, 1 << 20}, &layout);
  if (IsSkipped()) return;
  java_thread_[7] = reinterpret_cast<uint64_t>(&heap.handles[0]);
  java_thread_[8] = reinterpret_cast<uint64_t>(&heap.handles[1]);
  hotspot::Fragment expected{};
  capture::FrozenFrames frozen(layout, ::getpid(), reinterpret_cast<const uint8_t*>(java_thread_), nullptr);
  frozen.find(expected);
  std::vector<uint8_t> bytes(expected.frozen_bytes + expected.padded_name());
  frozen.copy(expected, bytes.data(), bytes.data() + expected.frozen_bytes);
  ASSERT_EQ(expected.virtual_id, 77);

  const JavaThread self = described(::gettid());
  ASSERT_TRUE(waits_->thread_started(self));
  const auto waits = sleep_until_read(3);
  ASSERT_GE(waits.size(), 3u);
  EXPECT_EQ(waits[0].frozen, bytes);
  EXPECT_EQ(waits[0].fragment.name_bytes, expected.name_bytes);
  for (const Wait& wait : waits) {
    EXPECT_EQ(wait.fragment.virtual_id, 77);
    EXPECT_EQ(wait.fragment.frozen_bytes, expected.frozen_bytes);
    EXPECT_FALSE(wait.fragment.frozen_cut);
    EXPECT_TRUE(wait.has_witness());
    EXPECT_TRUE(&wait == waits.data() || wait.fragment.name_bytes == 0) << "the name is known by now";
  }
  heap.handles[1] = heap.handles[0];  // unmounted
  for (const Wait& wait : sleep_until_read(1)) {
    EXPECT_EQ(wait.fragment.virtual_id, 0);
    EXPECT_TRUE(wait.frozen.empty());
  }
}

// A thread that sleeps, is let go by somebody, and sleeps again.
class WakersTest : public KernelWaitsTest {
 protected:
  struct Seen {
    linux::bpf::Waker who;
    std::vector<uint64_t> stack;
    bool has_stack = false;
  };
  void start() {
    load();
    if (IsSkipped()) return;
    waits_->on_waker([this](const linux::bpf::Waker& who, const FragmentRecord* record) {
      Seen& one = seen_.emplace_back();
      one.who = who;
      one.has_stack = record != nullptr;
      if (record == nullptr) return;
      one.stack.resize(record->fragment().stack_bytes / 8);
      std::memcpy(one.stack.data(), record->fragment().stack(), record->fragment().stack_bytes);
    });
    ASSERT_TRUE(waits_->thread_started(described(sleeper_.tid(), kWoken)));
    // What it has slept since before is no wait that the programs have seen begin.
    sleeper_.wake();
    wait_until_asleep();
  }
  void wait_until_asleep() {
    sleeper_.wait_until_asleep();
    sleep_for(millis(2));
  }
  // Whoever has woken it, and the wait that this has ended.
  void expect_one_waker() {
    const Nanos end = monotonic_now() + seconds(20);
    std::vector<Wait> waits;
    while (waits.empty() && monotonic_now() < end) {
      waits = of_thread(kWoken);
      std::erase_if(waits, [](const Wait& wait) { return wait.header.kept || wait.header.repeated; });
      std::this_thread::yield();
    }
    std::erase_if(seen_, [](const Seen& one) { return one.who.woken != kWoken; });
    ASSERT_EQ(waits.size(), 1u);
    ASSERT_EQ(seen_.size(), 1u);
    EXPECT_EQ(seen_[0].who.since, waits[0].header.time_ns);
    EXPECT_EQ(stats().counters["wakers: no room in the ring"], 0);
  }

  static constexpr uint32_t kWoken = 7, kSelf = 42;
  PipeReader sleeper_;
  std::vector<Seen> seen_;
};

TEST_F(WakersTest, a_java_thread_comes_with_its_stack) {
  start();
  if (IsSkipped()) return;
  const JavaThread self = described(::gettid(), kSelf);
  ASSERT_TRUE(waits_->thread_started(self));
  sleeper_.wake();
  expect_one_waker();
  if (HasFatalFailure()) return;
  EXPECT_EQ(seen_[0].who.by, uint32_t{linux::bpf::kByThread});
  EXPECT_EQ(seen_[0].who.thread, kSelf);
  ASSERT_TRUE(seen_[0].has_stack);
  EXPECT_NE(std::find(seen_[0].stack.begin(), seen_[0].stack.end(), kWitness), seen_[0].stack.end());
  waits_->thread_ended(self);
}

TEST_F(WakersTest, a_java_thread_whose_stack_can_not_be_read_comes_without_and_is_counted) {
  start();
  if (IsSkipped()) return;
  JavaThread self = described(::gettid(), kSelf);
  self.java_thread = nullptr;
  ASSERT_TRUE(waits_->thread_started(self));
  sleeper_.wake();
  expect_one_waker();
  if (HasFatalFailure()) return;
  EXPECT_EQ(seen_[0].who.by, uint32_t{linux::bpf::kByThread});
  EXPECT_EQ(seen_[0].who.thread, kSelf);
  EXPECT_FALSE(seen_[0].has_stack);
  EXPECT_EQ(stats().counters["wakers: stack unreadable"], 1);
  waits_->thread_ended(self);
}

TEST_F(WakersTest, another_thread_of_the_process_comes_with_its_id_and_name) {
  start();
  if (IsSkipped()) return;
  pid_t tid = 0;
  std::thread([&] {
    ::pthread_setname_np(::pthread_self(), "a collector");
    tid = ::gettid();
    sleeper_.wake();
  }).join();
  expect_one_waker();
  if (HasFatalFailure()) return;
  EXPECT_EQ(seen_[0].who.by, uint32_t{linux::bpf::kByJvm});
  EXPECT_EQ(seen_[0].who.id, static_cast<uint32_t>(tid));
  EXPECT_STREQ(seen_[0].who.name, "a collector");
  EXPECT_FALSE(seen_[0].has_stack);
}

TEST_F(WakersTest, another_process_comes_with_its_name) {
  start();
  if (IsSkipped()) return;
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NAME, "somebody else");
    sleeper_.wake();
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  expect_one_waker();
  if (HasFatalFailure()) return;
  EXPECT_EQ(seen_[0].who.by, uint32_t{linux::bpf::kByProcess});
  EXPECT_NE(seen_[0].who.id, 0u);
  EXPECT_STREQ(seen_[0].who.name, "somebody else");
  sleeper_.was_woken();
}

TEST_F(WakersTest, a_timer_is_nobody_whoever_runs_meanwhile) {
  start();
  if (IsSkipped()) return;
  // On every CPU there is somebody whom the timer interrupts.
  std::atomic<bool> over{false};
  std::vector<std::thread> hogs;
  for (size_t i = 0; i < linux::possible_cpus(); ++i) {
    hogs.emplace_back([&] {
      while (!over.load()) std::atomic_signal_fence(std::memory_order_seq_cst);
    });
  }
  // Only now: under TSan, whoever starts a thread waits until that has begun.
  const JavaThread self = described(::gettid(), kSelf);
  const bool followed = waits_->thread_started(self);
  size_t by_timer = 0;
  sleep_until([&] {
    (void)read();
    by_timer = static_cast<size_t>(
        std::count_if(seen_.begin(), seen_.end(), [](const Seen& one) { return one.who.woken == kSelf; }));
    return by_timer >= 20;
  });
  over.store(true);
  for (std::thread& hog : hogs) hog.join();
  ASSERT_TRUE(followed);
  ASSERT_GE(by_timer, 20u);
  for (const Seen& one : seen_) {
    if (one.who.woken != kSelf) continue;
    EXPECT_EQ(one.who.by, uint32_t{linux::bpf::kByInterrupt});
    EXPECT_FALSE(one.has_stack);
  }
  waits_->thread_ended(self);
}

// Over a socket the sender's own system call delivers, in what the kernel counts as an interrupt.
TEST_F(WakersTest, who_sends_to_this_very_machine_is_the_waker) {
  if (!linux::KernelSymbols().available()) GTEST_SKIP() << "the kernel does not show where its functions are";
  start();
  if (IsSkipped()) return;
  const unique_fd in(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), out(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(in.get(), generic, size), 0);
  ASSERT_EQ(::getsockname(in.get(), generic, &size), 0);
  ASSERT_EQ(::connect(out.get(), generic, size), 0);
  constexpr int kTimes = 20;
  std::thread sender([&] {
    const JavaThread thread = described(::gettid(), 43);
    EXPECT_TRUE(waits_->thread_started(thread));
    for (int i = 0; i < kTimes; ++i) {
      sleep_for(millis(5));
      EXPECT_EQ(::send(out.get(), "x", 1, 0), 1);
    }
    waits_->thread_ended(thread);
  });
  const JavaThread self = described(::gettid(), kSelf);
  ASSERT_TRUE(waits_->thread_started(self));
  char byte = 0;
  for (int i = 0; i < kTimes; ++i) EXPECT_EQ(::recv(in.get(), &byte, 1, 0), 1);
  waits_->thread_ended(self);
  sender.join();
  (void)read();
  size_t by_sender = 0, all = 0;
  for (const Seen& one : seen_) {
    if (one.who.woken != kSelf) continue;
    ++all;
    by_sender += one.who.by == linux::bpf::kByThread && one.who.thread == 43 && one.has_stack ? 1 : 0;
  }
  EXPECT_GE(all, kTimes / 2) << "see sleep_until";
  // On a busy machine the kernel may leave it to a thread of its own.
  EXPECT_GE(by_sender, all / 2);
}

TEST_F(KernelWaitsTest, what_does_not_fit_or_can_not_be_read_is_dropped_and_counted) {
  load({micros(100), Nanos(0)}, {1 << 13, 1 << 20});
  if (IsSkipped()) return;
  java_thread_[6] = java_thread_[1] + 1024;
  JavaThread self = described(::gettid());
  ASSERT_TRUE(waits_->thread_started(self));
  sleep_until([&] { return stats().dropped["ring full"] > 0; });
  const size_t written = read().size();
  EXPECT_GT(written, 0u);
  EXPECT_GT(stats().dropped["ring full"], 0u);
  EXPECT_EQ(stats().taken, written + stats().dropped_in_all());

  // Nobody may read what would be its stack.
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* hole = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  java_thread_[1] = reinterpret_cast<uint64_t>(hole) + 512;
  java_thread_[6] = reinterpret_cast<uint64_t>(hole) + page;
  sleep_until([&] { return stats().dropped["stack unreadable"] > 0; });
  EXPECT_GT(stats().dropped["stack unreadable"], 0u);
  ::munmap(hole, page);
  waits_->thread_ended(self);
  self.java_thread = nullptr;
  ASSERT_TRUE(waits_->thread_started(self));
  sleep_until([&] { return stats().dropped["thread unreadable"] > 0; });
  waits_->thread_ended(self);
  EXPECT_GT(stats().dropped["thread unreadable"], 0u);
  EXPECT_EQ(stats().taken, written + read().size() + stats().dropped_in_all());
}

TEST_F(KernelWaitsTest, with_very_many_threads_the_memory_for_copies_has_a_bound_and_what_has_none_is_counted) {
  constexpr size_t kBytes = 1 << 16, kThreads = 40;
  constexpr size_t kWithPlace = kBytes / 4 / linux::bpf::kMiddleCopy + kBytes * 3 / 4 / linux::bpf::kSmallCopy;
  load({micros(1), Nanos(0)}, {1 << 20, kBytes});
  if (IsSkipped()) return;
  java_thread_[6] = java_thread_[1] + 512;
  std::vector<std::unique_ptr<PipeReader>> sleepers;
  for (uint32_t i = 0; i < kThreads; ++i) {
    sleepers.push_back(std::make_unique<PipeReader>());
    ASSERT_TRUE(waits_->thread_started(described(sleepers.back()->tid(), i + 1)));
  }
  EXPECT_EQ(stats().counters["threads without memory for their stacks"], int64_t{kThreads - kWithPlace});
  size_t written = 0;
  const auto count = [&] {
    for (const Wait& wait : read()) written += wait.header.kept ? 0 : 1;
  };
  for (int i = 0; i < 10; ++i) count();
  for (auto& sleeper : sleepers) sleeper->wake();
  for (auto& sleeper : sleepers) sleeper->wait_until_asleep();
  (void)waits_->changed_times();
  count();
  sleepers.clear();  // the second time they are woken
  waits_->stop();
  count();
  EXPECT_GE(stats().dropped["no memory for the stack"], kThreads - kWithPlace);
  EXPECT_EQ(stats().taken, written + stats().dropped_in_all());
}

TEST_F(KernelWaitsTest, threads_that_are_not_known_any_more_and_other_processes_are_not_touched) {
  load();
  if (IsSkipped()) return;
  const JavaThread self = described(::gettid());
  ASSERT_TRUE(waits_->thread_started(self));
  waits_->thread_ended(self);
  // A child has our memory and its own thread, which is not ours.
  const pid_t child = ::fork();
  if (child == 0) {
    sleep_for(millis(5));
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  std::thread([] { sleep_for(millis(5)); }).join();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(stats().taken, 0u);
}

}  // namespace
}  // namespace tarsier::agent
