#include "linux/bpf_object.h"

#if TARSIER_EBPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string_view>

namespace tarsier::linux {
namespace {

// libbpf speaks to stderr, which is the application's, unless it is given a function; that gets no argument of ours.
std::mutex g_lock;
std::deque<std::string> g_said;  // under the lock

void listen(const char* format, va_list arguments) {
  constexpr size_t kMostLines = 4;
  char text[1024];
  if (std::vsnprintf(text, sizeof(text), format, arguments) < 0) return;
  std::string_view line(text);
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  if (line.substr(0, 8) == "libbpf: ") line.remove_prefix(8);
  g_said.emplace_back(line);
  if (g_said.size() > kMostLines) g_said.pop_front();
}

int on_message(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_WARN) listen(format, arguments);
  return 0;
}

// Kernels before 5.11 count a map's memory as locked. The application's limit is not ours to change: only while we load.
class MoreLockedMemory {
 public:
  MoreLockedMemory() {
    if (::getrlimit(RLIMIT_MEMLOCK, &before_) != 0) return;
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    raised_ = ::setrlimit(RLIMIT_MEMLOCK, &all) == 0;
  }
  ~MoreLockedMemory() {
    if (raised_) ::setrlimit(RLIMIT_MEMLOCK, &before_);
  }
  MoreLockedMemory(const MoreLockedMemory&) = delete;
  MoreLockedMemory& operator=(const MoreLockedMemory&) = delete;

 private:
  rlimit before_{};
  bool raised_ = false;
};

Error loading_error(int err) {
  std::string what = "loading the eBPF program: " + errno_text(err);
  if (err == EPERM || err == EACCES) {
    return {Errc::kNotPermitted, what + ": the JVM's user needs CAP_BPF and CAP_PERFMON (before Linux 5.8: root)"};
  }
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return {Errc::kUnsupported,
            what + ": there is no /sys/kernel/btf/vmlinux: the kernel was built without CONFIG_DEBUG_INFO_BTF"};
  }
  for (const std::string& line : g_said) what += "; " + line;
  return {Errc::kUnsupported, what + " (it needs Linux 5.8 or later)"};
}

}  // namespace

bool BpfObject::built_in() {
  return true;
}

Result<BpfObject> BpfObject::load(std::span<const uint8_t> file, std::span<const uint8_t> read_only,
                                  const std::vector<Size>& sizes) {
  const std::lock_guard guard(g_lock);
  g_said.clear();
  libbpf_set_print(on_message);
  libbpf_set_memlock_rlim(0);  // that is done here

  LIBBPF_OPTS(bpf_object_open_opts, options);
  options.object_name = "tarsier";
  BpfObject object(bpf_object__open_mem(file.data(), file.size(), &options));
  if (object.object_ == nullptr) return loading_error(errno);
  bpf_map* constants = bpf_object__find_map_by_name(object.object_.get(), ".rodata");
  if (constants == nullptr || bpf_map__set_initial_value(constants, read_only.data(), read_only.size()) != 0) {
    return Error{Errc::kFailed, "the eBPF program has other constants than we think"};
  }
  for (const Size& size : sizes) {
    bpf_map* map = bpf_object__find_map_by_name(object.object_.get(), size.map.c_str());
    if (map == nullptr || bpf_map__set_max_entries(map, size.entries) != 0) {
      return Error{Errc::kFailed, "the eBPF program has no map '" + size.map + "'"};
    }
  }
  const MoreLockedMemory more;
  if (const int err = bpf_object__load(object.object_.get())) return loading_error(-err);
  return object;
}

int BpfObject::map(const char* name) const {
  const int fd = bpf_object__find_map_fd_by_name(object_.get(), name);
  return fd < 0 ? -1 : fd;
}

int BpfObject::program(const char* name) const {
  const bpf_program* program = bpf_object__find_program_by_name(object_.get(), name);
  return program == nullptr ? -1 : bpf_program__fd(program);
}

void BpfObject::Close::operator()(bpf_object* object) const noexcept {
  bpf_object__close(object);
}

}  // namespace tarsier::linux

#else  // built without libbpf

namespace tarsier::linux {

bool BpfObject::built_in() {
  return false;
}

Result<BpfObject> BpfObject::load(std::span<const uint8_t>, std::span<const uint8_t>, const std::vector<Size>&) {
  return Error{Errc::kUnsupported,
               "this tarsier was built without eBPF: clang, or libbpf, libelf and zlib as static libraries were missing"};
}

int BpfObject::map(const char*) const {
  return -1;
}
int BpfObject::program(const char*) const {
  return -1;
}
void BpfObject::Close::operator()(bpf_object*) const noexcept {}

}  // namespace tarsier::linux

#endif
