#include "linux/bpf_ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tarsier::linux {

Result<BpfRing> BpfRing::map(int fd, size_t capacity) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* consumer = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (consumer == MAP_FAILED) return errno_error("mapping the BPF ring", errno);
  void* rest = ::mmap(nullptr, page + 2 * capacity, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(page));
  if (rest == MAP_FAILED) {
    const int err = errno;
    ::munmap(consumer, page);
    return errno_error("mapping the BPF ring", err);
  }
  const auto* data = static_cast<const uint8_t*>(rest) + page;
  BpfRing ring(static_cast<uint64_t*>(consumer), static_cast<const uint64_t*>(rest), data, capacity);
  ring.page_ = page;
  return ring;
}

BpfRing::BpfRing(BpfRing&& other) noexcept
    : consumer_(other.consumer_),
      producer_(other.producer_),
      data_(other.data_),
      capacity_(other.capacity_),
      page_(std::exchange(other.page_, 0)) {}

BpfRing& BpfRing::operator=(BpfRing&& other) noexcept {
  std::swap(consumer_, other.consumer_);
  std::swap(producer_, other.producer_);
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(page_, other.page_);
  return *this;
}

BpfRing::~BpfRing() {
  if (page_ == 0) return;
  ::munmap(consumer_, page_);
  ::munmap(const_cast<uint64_t*>(producer_), page_ + 2 * capacity_);
}

}  // namespace tarsier::linux
