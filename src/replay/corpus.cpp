#include "replay/corpus.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "archive/pack.h"
#include "archive/write_all.h"
#include "base/clock.h"
#include "base/unique_fd.h"
#include "recording/mapped_file.h"
#include "recording/writer.h"
#include "replay/replay.h"
#include "replay/selection.h"
#include "saved/fragment_writer.h"

namespace tarsier::replay {
namespace {

// Fragments go into a recording that has no name yet.
class Corpus {
 public:
  static Result<Corpus> make() {
    unique_fd file(::memfd_create("corpus", MFD_CLOEXEC));
    if (!file) return errno_error("can't make a recording", errno);
    auto writer = recording::Writer::open(unique_fd(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)), {});
    if (!writer) return std::move(writer).error();
    return Corpus(std::move(file), std::move(*writer));
  }
  void add(const Replayed& replayed) {
    const Nanos now = monotonic_now();
    const saved::SavedFragment& fragment = replayed.fragment;
    if (count_++ == 0) {
      fragments_->write_jvm(now, replayed.jvm.machine->name(), replayed.jvm.release, replayed.jvm.structs_text);
    }
    const auto thread = writer_->thread({fragment.thread, 0, fragment.thread, 1, false});
    fragments_->write({now, thread, fragment.walk(), fragment.rules, replayed.result, fragment.as_written},
                      replayed.memory);
  }
  Status finish(const std::string& out) {
    if (Status status = writer_->finish(); !status) return status;
    const auto recording = recording::MappedFile::open("/proc/self/fd/" + std::to_string(file_.get()));
    if (!recording) return recording.error();
    const std::string fresh = out + ".new";
    const unique_fd target(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!target) return errno_error("can't write " + fresh, errno);
    Status written = out.ends_with(".zst") ? archive::pack(recording->bytes(), target.get())
                                           : archive::write_all(recording->bytes(), target.get());
    if (!written) return std::move(written).error().in(fresh);
    if (::rename(fresh.c_str(), out.c_str()) != 0) return errno_error("can't write " + out, errno);
    return {};
  }
  [[nodiscard]] size_t count() const { return count_; }

 private:
  Corpus(unique_fd file, std::unique_ptr<recording::Writer> writer)
      : file_(std::move(file)),
        writer_(std::move(writer)),
        fragments_(std::make_unique<saved::FragmentWriter>(*writer_)) {}

  unique_fd file_;
  std::unique_ptr<recording::Writer> writer_;
  std::unique_ptr<saved::FragmentWriter> fragments_;
  size_t count_ = 0;
};

size_t cost_of(const Replayed& replayed) {
  const hotspot::Fragment& fragment = replayed.fragment.fragment();
  return fragment.stack_bytes + fragment.frozen_bytes + replayed.memory.lines().size() * NotedMemory::kLine;
}

}  // namespace

Result<Kept> write_corpus(const std::string& in, const std::string& out, const Choice& choice) {
  std::vector<Candidate> candidates;
  const auto all = replay_file(in, [&](const Replayed& one) { candidates.push_back({one.result, cost_of(one)}); });
  if (!all) return all.error();
  if (choice.only > candidates.size()) {
    return Error{Errc::kUsage, in + ": has only " + std::to_string(candidates.size()) + " fragments"};
  }
  const std::vector<size_t> chosen =
      choice.only > 0 ? std::vector<size_t>{choice.only - 1} : select(candidates, choice.most);
  auto corpus = Corpus::make();
  if (!corpus) return corpus.error();
  size_t at = 0;
  const auto again = replay_file(in, [&](const Replayed& one) {
    if (std::binary_search(chosen.begin(), chosen.end(), at++)) corpus->add(one);
  });
  if (!again) return again.error();
  if (Status status = corpus->finish(out); !status) return std::move(status).error();
  return Kept{corpus->count(), candidates.size()};
}

}  // namespace tarsier::replay
