// The maps of a loaded eBPF program, by their descriptors: bare system calls, which need no right but the descriptor.
// Each returns 0 or errno.
#pragma once

#include <cstddef>

namespace tarsier::linux {

int set_in_bpf_map(int map, const void* key, const void* value);
int erase_in_bpf_map(int map, const void* key);
// Of a map per CPU: an array, one value for each CPU that there can be (possible_cpus()), each rounded up to 8 bytes.
int find_in_bpf_map(int map, const void* key, void* value);
// Of a hash, the entries from a place on, which is a number and begins as 0: as many as there is room for. ENOENT: that
// was the last of them.
int read_bpf_map(int map, unsigned& place, void* keys, void* values, size_t room, size_t& count);

}  // namespace tarsier::linux
