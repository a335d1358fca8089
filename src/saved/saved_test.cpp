// What is written about fragments is read back, and what can't be is refused in words.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "base/unique_fd.h"
#include "recording/mapped_file.h"
#include "saved/fragment_reader.h"
#include "saved/fragment_writer.h"

namespace tarsier::saved {
namespace {

constexpr Address kPage = 0x4000;

class Page final : public Memory {
 public:
  Page() : bytes(4096) { std::iota(bytes.begin(), bytes.end(), uint8_t{0}); }
  bool copy(void* out, Address from, size_t size) const noexcept override {
    if (!mapped || from < kPage || from - kPage > bytes.size() || size > bytes.size() - (from - kPage)) return false;
    std::memcpy(out, bytes.data() + (from - kPage), size);
    return true;
  }
  std::vector<uint8_t> bytes;
  bool mapped = true;
};

// A recording in memory.
class File {
 public:
  File() : file_(::memfd_create("recording", MFD_CLOEXEC)) {
    auto writer = recording::Writer::open(unique_fd(::dup(file_.get())), {});
    EXPECT_TRUE(writer);
    writer_ = std::move(*writer);
  }
  recording::Writer& writer() { return *writer_; }
  Result<ReadFragments> read(const OnFragment& on_fragment) {
    EXPECT_TRUE(writer_->finish());
    const auto mapped = recording::MappedFile::open("/proc/self/fd/" + std::to_string(file_.get()));
    auto recording = recording::Recording::over(mapped->bytes());
    EXPECT_TRUE(recording);
    return read_fragments(**recording, on_fragment);
  }

 private:
  unique_fd file_;
  std::unique_ptr<recording::Writer> writer_;
};

// A fragment with some stack and some frozen bytes behind it.
struct Made {
  Made() : words(sizeof(hotspot::Fragment) / 8 + 4) {
    auto& f = *reinterpret_cast<hotspot::Fragment*>(words.data());
    f.pc = 1;
    f.sp = 0xffff'ffff'ffff'fff0;
    f.fp = 3;
    for (int i = 0; i < hotspot::kGeneralRegisters; ++i) f.general[i] = static_cast<uint64_t>(i) << 40;
    f.anchor = {4, 5, 6};
    f.continuation = 7;
    f.thread_state = hotspot::kThreadInJava;
    f.stack_bytes = 24;
    f.frozen_bytes = 8;
    f.frozen_cut = f.cut = true;
    f.epoch = 8;
    for (size_t i = 0; i < 4; ++i) words[sizeof(f) / 8 + i] = 100 + i;
  }
  [[nodiscard]] const hotspot::Fragment& fragment() const {
    return *reinterpret_cast<const hotspot::Fragment*>(words.data());
  }
  std::vector<uint64_t> words;
};

TEST(SavedFragments, are_read_back_as_they_were_written) {
  File file;
  FragmentWriter writer(file.writer());
  const Page page;
  const NotedMemory memory(page, 100);
  EXPECT_TRUE(memory.read<uint64_t>(kPage + 60));
  const Made made;
  const hotspot::LoneWalk walk{made.fragment(), 8, 9, 50};
  const uint8_t rules[] = {1, 2, 3};
  writer.write_jvm(Nanos(1), "x86_64", 21, "nmethod._compile_id\t+60\tint\n");
  const auto thread = file.writer().thread({"main", 1, "main", 1, false});
  writer.write({Nanos(2), thread, walk, rules, "complete\n..", true}, memory);
  const auto read = file.read([&](const SavedJvm& jvm, const SavedMemory& saved, const SavedFragment& fragment) {
    EXPECT_EQ(jvm.machine, &hotspot::Machine::x86_64());
    EXPECT_EQ(jvm.release, 21);
    EXPECT_EQ(jvm.structs.offset("nmethod", "_compile_id"), 0x60u);
    EXPECT_EQ(saved.read<uint64_t>(kPage + 60), page.read<uint64_t>(kPage + 60));
    EXPECT_FALSE(saved.read<uint64_t>(kPage + 124));
    EXPECT_EQ(fragment.words, made.words);
    EXPECT_EQ(fragment.thread, "main");
    EXPECT_EQ(fragment.epoch, 8u);
    EXPECT_EQ(fragment.decoded_in, 9u);
    EXPECT_EQ(fragment.max_depth, 50u);
    EXPECT_EQ(fragment.rules, std::vector<uint8_t>(std::begin(rules), std::end(rules)));
    EXPECT_EQ(fragment.result, "complete\n..");
    EXPECT_TRUE(fragment.as_written);
  });
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->count, 1u);
}

TEST(SavedFragments, see_the_memory_of_their_time) {
  File file;
  FragmentWriter writer(file.writer());
  Page page;
  NotedMemory memory(page, 100);
  const Made made;
  writer.write_jvm(Nanos(1), "aarch64", 17, "");
  const auto save = [&] {
    (void)memory.read<uint8_t>(kPage);
    (void)memory.read<uint8_t>(kPage + 64);
    writer.write({Nanos(2), {}, {made.fragment(), 0, 0, 1}, {}, "", true}, memory);
    memory.forget();
  };
  save();
  page.bytes[64] = 200;
  save();
  page.mapped = false;
  save();
  page.mapped = true;
  save();
  std::vector<std::pair<int, int>> seen;
  const auto read = file.read([&](const SavedJvm&, const SavedMemory& saved, const SavedFragment&) {
    const auto at = [&](Address address) {
      const auto byte = saved.read<uint8_t>(address);
      return byte ? int{*byte} : -1;
    };
    seen.emplace_back(at(kPage), at(kPage + 64));
  });
  ASSERT_TRUE(read);
  EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{0, 64}, {0, 200}, {-1, -1}, {0, 200}}));
}

TEST(SavedFragments, need_a_jvm_that_is_known) {
  const Made made;
  const Page page;
  const NotedMemory memory(page, 100);
  const auto nobody = [](const SavedJvm&, const SavedMemory&, const SavedFragment&) { FAIL(); };
  const auto with = [&](const std::string& architecture, const std::string& structs) {
    File file;
    FragmentWriter writer(file.writer());
    if (!architecture.empty()) writer.write_jvm(Nanos(1), architecture, 17, structs);
    writer.write({Nanos(2), {}, {made.fragment(), 0, 0, 1}, {}, "", true}, memory);
    const auto read = file.read(nobody);
    EXPECT_FALSE(read);
    return read ? "" : read.error().what;
  };
  EXPECT_EQ(with("", ""), "a fragment comes before the JVM that it is of");
  EXPECT_EQ(with("vax", ""), "its JVM ran on 'vax', which is not known here");
  EXPECT_EQ(with("aarch64", "x\ty"), "what it says about the JVM's layout makes no sense: 'x'");
}

// A foreign file may have any of the bytes empty; fuzzing has found such a one.
TEST(SavedFragments, may_lack_their_registers) {
  File file;
  FragmentWriter(file.writer()).write_jvm(Nanos(1), "aarch64", 17, "");
  const recording::Binary nothing;
  const int64_t zero = 0;
  const recording::Value values[] = {recording::ThreadId{},
                                     zero,
                                     zero,
                                     zero,
                                     nothing,
                                     zero,
                                     zero,
                                     zero,
                                     zero,
                                     zero,
                                     nothing,
                                     zero,
                                     nothing,
                                     zero,
                                     zero,
                                     zero,
                                     nothing,
                                     int64_t{1},
                                     "",
                                     zero};
  file.writer().event(recording::Event::kSavedFragment, Nanos(2), values);
  size_t with_words = 0;
  const auto read = file.read([&](const SavedJvm&, const SavedMemory&, const SavedFragment& fragment) {
    with_words += fragment.words == std::vector<uint64_t>(fragment.words.size());
  });
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(with_words, 1u);
}

TEST(SavedMemory, is_made_of_whole_lines) {
  SavedMemory memory;
  const std::vector<uint8_t> lines(128, 1);
  EXPECT_FALSE(memory.put(8, lines));
  EXPECT_FALSE(memory.put(64, std::span(lines).first(100)));
  EXPECT_FALSE(memory.put(UINTPTR_MAX - 63, lines));
  EXPECT_FALSE(memory.remove(64, UINTPTR_MAX - 63));
  EXPECT_TRUE(memory.put(64, lines));
  EXPECT_TRUE(memory.read<uint64_t>(64));
  EXPECT_TRUE(memory.read<uint64_t>(124));
  EXPECT_FALSE(memory.read<uint64_t>(60));
  EXPECT_FALSE(memory.read<uint64_t>(188));
  uint8_t out[8];
  EXPECT_FALSE(memory.copy(out, UINTPTR_MAX - 3, 8));
  EXPECT_TRUE(memory.remove(128, 64));
  EXPECT_FALSE(memory.read<uint64_t>(124));
}

}  // namespace
}  // namespace tarsier::saved
