#include "linux/bpf_map.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "linux/syscall_filter.h"

namespace tarsier::linux {
namespace {

// 0, or an errno.
int call(bpf_cmd command, bpf_attr& attr) {
  if (!may_call(DoubtfulCall::kBpf)) return EPERM;  // others may have given us the map
  return ::syscall(SYS_bpf, command, &attr, sizeof(attr)) == 0 ? 0 : errno;
}

int call(bpf_cmd command, int map, const void* key, const void* value) {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.map_fd = static_cast<uint32_t>(map);
  attr.key = reinterpret_cast<uintptr_t>(key);
  attr.value = reinterpret_cast<uintptr_t>(value);
  return call(command, attr);
}

}  // namespace

int set_in_bpf_map(int map, const void* key, const void* value) {
  return call(BPF_MAP_UPDATE_ELEM, map, key, value);
}
int erase_in_bpf_map(int map, const void* key) {
  return call(BPF_MAP_DELETE_ELEM, map, key, nullptr);
}
int find_in_bpf_map(int map, const void* key, void* value) {
  return call(BPF_MAP_LOOKUP_ELEM, map, key, value);
}

int read_bpf_map(int map, unsigned& place, void* keys, void* values, size_t room, size_t& count) {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  unsigned from = place;
  attr.batch.map_fd = static_cast<uint32_t>(map);
  attr.batch.in_batch = place == 0 ? 0 : reinterpret_cast<uintptr_t>(&from);
  attr.batch.out_batch = reinterpret_cast<uintptr_t>(&place);
  attr.batch.keys = reinterpret_cast<uintptr_t>(keys);
  attr.batch.values = reinterpret_cast<uintptr_t>(values);
  attr.batch.count = static_cast<uint32_t>(room);
  const int error = call(BPF_MAP_LOOKUP_BATCH, attr);
  count = error == 0 || error == ENOENT ? attr.batch.count : 0;
  return error;
}

}  // namespace tarsier::linux
