// Writes a small recording that flushes, grows, rotates, renames a thread and finishes, and copies the file after every
// single write. One line per copy on stdout: file, step, number of execution samples that a reader must see.
//
//   recording_steps FOLDER
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "recording/writer.h"

namespace {

using namespace tarsier;
using namespace tarsier::recording;

class Steps {
 public:
  explicit Steps(std::string folder) : folder_(std::move(folder)), path_(folder_ + "/recording.jfr") {}

  int run() {
    Writer::Options options;
    options.chunk_size = Bytes(48 << 10);
    options.after_step = [this](const char* step) { copy(step); };
    unique_fd file(::open(path_.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600));
    if (!file) return perror(path_.c_str()), 1;
    auto opened = Writer::open(std::move(file), std::move(options));
    if (!opened.ok()) return fprintf(stderr, "%s\n", opened.error().what.c_str()), 1;
    writer_ = std::move(*opened);

    sticky();
    flush_with(10);
    flush_with(0);
    flush_with(7);
    flush_with(2000);  // passes the chunk's size: rotates
    flush_with(5);
    flush_with(9000);  // passes the file's length: grows in the middle of a flush, and rotates
    flush_with(3);
    pending_ = 0;
    if (Status s = writer_->finish(); !s.ok()) return fprintf(stderr, "%s\n", s.error().what.c_str()), 1;
    return 0;
  }

 private:
  void copy(const char* step) {
    // What is in the old padding is shown by this one write.
    if (std::string(step) == "append: padding") visible_ += std::exchange(pending_, 0);
    // Hundreds of pages in a row look alike: three of them are enough.
    if (std::string(step) == "grow: page" && ++pages_ > 3) return;
    if (std::string(step) == "grow: padding") pages_ = 0;
    char name[64];
    snprintf(name, sizeof name, "%03d.jfr", copies_++);
    std::filesystem::copy_file(path_, folder_ + "/" + name, std::filesystem::copy_options::overwrite_existing);
    printf("%s\t%s\t%d\n", name, step, visible_);
  }

  void sticky() {
    const Value session[] = {std::string_view("0"),  std::string_view("17"), int64_t{1}, int64_t{2}, int64_t{1},
                             int64_t{1'000'000'000}, std::string_view("cpu")};
    writer_->sticky_event(Event::kSession, {}, monotonic_now(), session);
  }

  // The buffer may be written before the flush, when it is full: pending_ counts what the next write shows.
  void flush_with(int samples) {
    for (int i = 0; i < samples; ++i) {
      const MethodInfo info{"com/example/Stack", i % 3 ? "run" : "caf\xc3\xa9", "(I[Ljava/lang/String;)V", 1};
      const Frame frames[] = {{writer_->method(info), i % 50, i % 7, FrameType::kC2},
                              {writer_->method({{}, "[failed: test]", {}, 0}), 0, 0, FrameType::kMarker},
                              {writer_->method({"Main", "main", "([Ljava/lang/String;)V", 9}), 3, 1, FrameType::kJava}};
      const std::string name = "worker-" + std::to_string(rename_);
      const ThreadId thread = writer_->thread({name, 100, name, 7, false});
      ++pending_;
      const Value values[] = {
          thread, writer_->stack(frames, i % 2 == 0), int64_t{0}, int64_t{1'000'000}, int64_t{0}, std::string_view(),
          ThreadId()};
      writer_->event(Event::kExecutionSample, monotonic_now(), values);
    }
    ++rename_;
    (void)writer_->flush();
  }

  std::string folder_, path_;
  std::unique_ptr<Writer> writer_;
  int copies_ = 0, pages_ = 0, visible_ = 0, pending_ = 0, rename_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: recording_steps FOLDER\n"), 2;
  return Steps(argv[1]).run();
}
