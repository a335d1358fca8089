#include "recording/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "base/unique_fd.h"

namespace tarsier::recording {
namespace {

// The handler can be given nothing, so what it needs is global.
struct Range {
  std::atomic<uintptr_t> begin{0};  // 0: free; written last and released, so a reader that sees it sees `end`
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> cut{false};
};
std::array<Range, 16> ranges;
std::mutex ranges_lock;  // not for the handler
int ranges_used = 0;
struct sigaction previous_action;
std::atomic<uintptr_t> page_size{4096};

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Range& range : ranges) {
    const uintptr_t begin = range.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= range.end.load(std::memory_order_relaxed)) continue;
    const uintptr_t page = page_size.load(std::memory_order_relaxed);
    void* const start = reinterpret_cast<void*>(address / page * page);
    const int saved = errno;
    void* const mapped = mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = saved;
    if (mapped == MAP_FAILED) break;
    range.cut.store(true, std::memory_order_relaxed);
    return;
  }
  // Not ours. The faulting instruction runs again and meets whoever was there before us.
  if (previous_action.sa_flags & SA_SIGINFO) return previous_action.sa_sigaction(signal, info, context);
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    return previous_action.sa_handler(signal);
  }
  sigaction(SIGBUS, &previous_action, nullptr);
}

int guard(const uint8_t* data, size_t size) {
  const std::lock_guard lock(ranges_lock);
  for (size_t i = 0; i < ranges.size(); ++i) {
    Range& range = ranges[i];
    if (range.begin.load(std::memory_order_relaxed) != 0) continue;
    if (ranges_used++ == 0) {
      page_size.store(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), std::memory_order_relaxed);
      struct sigaction action {};
      action.sa_sigaction = on_bus_error;
      action.sa_flags = SA_SIGINFO;
      sigemptyset(&action.sa_mask);
      sigaction(SIGBUS, &action, &previous_action);
    }
    const auto begin = reinterpret_cast<uintptr_t>(data);
    range.cut.store(false, std::memory_order_relaxed);
    range.end.store(begin + size, std::memory_order_relaxed);
    range.begin.store(begin, std::memory_order_release);
    return static_cast<int>(i);
  }
  return -1;
}

void unguard(int slot) {
  const std::lock_guard lock(ranges_lock);
  ranges[static_cast<size_t>(slot)].begin.store(0, std::memory_order_release);
  if (--ranges_used == 0) sigaction(SIGBUS, &previous_action, nullptr);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    return errno_error("can't open " + path, errno, errno == EACCES ? Errc::kNotPermitted : Errc::kFailed);
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return errno_error("can't read " + path, errno);
  if (!S_ISREG(status.st_mode)) return Error{Errc::kUsage, path + " is not a regular file"};
  if (status.st_size == 0) return Error{Errc::kCorrupt, path + " is empty"};
  const auto size = static_cast<size_t>(status.st_size);
  // Shared: a recording that is being written is seen as it is now.
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) return errno_error("can't map " + path, errno);
  const auto* const begin = static_cast<const uint8_t*>(data);
  const int slot = guard(begin, size);
  if (slot < 0) {
    munmap(data, size);
    return Error{Errc::kFailed, "too many recordings are open at once (" + path + ")"};
  }
  madvise(data, size, MADV_SEQUENTIAL);
  return MappedFile(begin, size, slot);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      slot_(std::exchange(other.slot_, -1)) {}

MappedFile::~MappedFile() {
  if (slot_ < 0) return;
  munmap(const_cast<uint8_t*>(data_), size_);
  unguard(slot_);
}

bool MappedFile::was_cut() const {
  return ranges[static_cast<size_t>(slot_)].cut.load(std::memory_order_relaxed);
}

void MappedFile::forget(size_t begin, size_t end) const {
  // Pages that the handler put in place of lost ones would be lost again: harmless, it puts them there again.
  const size_t page = page_size.load(std::memory_order_relaxed);
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end) madvise(const_cast<uint8_t*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace tarsier::recording
