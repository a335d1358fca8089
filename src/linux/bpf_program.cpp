#include "linux/bpf_program.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/membarrier.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "linux/bpf_map.h"
#include "linux/syscall_filter.h"

namespace tarsier::linux {
namespace {

constexpr const char* kConstants = ".rodata";
constexpr uint32_t kMapReference = 1;  // R_BPF_64_64

int call(bpf_cmd command, bpf_attr& attr) {
  if (!may_call(DoubtfulCall::kBpf)) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_bpf, command, &attr, sizeof(attr)));
}

// Kernels before 5.11 count a map's memory as locked. The application's limit is not ours to change: only while we
// load.
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

// What is read of the object file. It is our own, but a build may go wrong in many ways: nothing is read beyond its
// end.
class ObjectFile {
 public:
  static Result<ObjectFile> read(std::span<const uint8_t> file);

  struct Reference {
    size_t instruction;
    std::string name;  // of the map, or kConstants
    uint64_t offset;   // in the constants
  };
  std::vector<bpf_insn> code;
  std::vector<Reference> references;
  size_t constants = 0;  // bytes

 private:
  template <class T>
  static bool copy(std::span<const uint8_t> file, uint64_t offset, uint64_t count, std::vector<T>& out) {
    if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return false;
    out.resize(count);
    if (count > 0) std::memcpy(out.data(), file.data() + offset, count * sizeof(T));
    return true;
  }
  template <class T>
  static bool copy(std::span<const uint8_t> file, const Elf64_Shdr& section, std::vector<T>& out) {
    return copy(file, section.sh_offset, section.sh_size / sizeof(T), out);
  }
  static std::string text(const std::vector<char>& strings, size_t offset) {
    if (offset >= strings.size()) return {};
    return {strings.data() + offset, ::strnlen(strings.data() + offset, strings.size() - offset)};
  }
};

Result<ObjectFile> ObjectFile::read(std::span<const uint8_t> file) {
  const Error bad{Errc::kFailed, "the eBPF program that was built into us is damaged"};
  std::vector<Elf64_Ehdr> header;
  std::vector<Elf64_Shdr> sections;
  std::vector<char> names;
  if (!copy(file, 0, 1, header) || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_machine != EM_BPF || !copy(file, header[0].e_shoff, header[0].e_shnum, sections) ||
      header[0].e_shstrndx >= sections.size() || !copy(file, sections[header[0].e_shstrndx], names)) {
    return bad;
  }
  ObjectFile object;
  std::vector<Elf64_Sym> symbols;
  std::vector<Elf64_Rel> relocations;
  std::vector<char> strings;
  for (const Elf64_Shdr& section : sections) {
    const std::string name = text(names, section.sh_name);
    if (name == "program" && !copy(file, section, object.code)) return bad;
    if (name == ".relprogram" && !copy(file, section, relocations)) return bad;
    if (name == kConstants) object.constants = section.sh_size;
    if (section.sh_type != SHT_SYMTAB) continue;
    if (!copy(file, section, symbols) || section.sh_link >= sections.size()) return bad;
    if (!copy(file, sections[section.sh_link], strings)) return bad;
  }
  for (const Elf64_Rel& relocation : relocations) {
    const size_t at = relocation.r_offset / sizeof(bpf_insn);
    if (ELF64_R_SYM(relocation.r_info) >= symbols.size() || at + 1 >= object.code.size()) return bad;
    const Elf64_Sym& symbol = symbols[ELF64_R_SYM(relocation.r_info)];
    if (ELF64_R_TYPE(relocation.r_info) != kMapReference || symbol.st_shndx >= sections.size()) return bad;
    const bool constant = text(names, sections[symbol.st_shndx].sh_name) == kConstants;
    // clang may name the section, and say in the instruction how far into it.
    const uint64_t offset = symbol.st_value + static_cast<uint32_t>(object.code[at].imm);
    object.references.push_back({at, constant ? kConstants : text(strings, symbol.st_name), offset});
  }
  if (object.code.empty()) return bad;
  return object;
}

Result<unique_fd> make_map(const BpfMapPlan& plan) {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.map_type = plan.type;
  attr.key_size = plan.key_bytes;
  attr.value_size = plan.value_bytes;
  attr.max_entries = plan.entries;
  attr.map_flags = plan.flags;
  unique_fd fd(call(BPF_MAP_CREATE, attr));
  if (fd) return fd;
  if (errno == EPERM) {
    return errno_error("making an eBPF map", EPERM, Errc::kNotPermitted);
  }
  if (errno == EINVAL && plan.type == BPF_MAP_TYPE_RINGBUF) {
    return Error{Errc::kUnsupported, "this kernel has no eBPF ring buffer: Linux 5.8 or later is needed"};
  }
  return errno_error("making the eBPF map '" + plan.name + "'", errno, Errc::kUnsupported);
}

Result<unique_fd> make_constants(std::span<const uint8_t> constants) {
  auto fd =
      make_map({kConstants, BPF_MAP_TYPE_ARRAY, 4, static_cast<uint32_t>(constants.size()), 1, BPF_F_RDONLY_PROG});
  if (!fd) return fd;
  const uint32_t key = 0;
  if (const int err = set_in_bpf_map(fd->get(), &key, constants.data())) return errno_error("setting constants", err);
  bpf_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.map_fd = static_cast<uint32_t>(fd->get());
  if (call(BPF_MAP_FREEZE, attr) != 0) return errno_error("freezing the eBPF program's constants", errno);
  return fd;
}

Result<unique_fd> share_map(int map) {
  unique_fd fd(::fcntl(map, F_DUPFD_CLOEXEC, 0));
  if (!fd) return errno_error("sharing an eBPF map", errno);
  return fd;
}

// The end of what the kernel has to say about a program that it refuses.
std::string last_words(const std::vector<char>& log) {
  std::string_view text(log.data(), ::strnlen(log.data(), log.size()));
  constexpr size_t kMost = 300;
  if (text.size() > kMost) text.remove_prefix(text.size() - kMost);
  std::string words(text);
  for (char& c : words) {
    if (c == '\n') c = ' ';
  }
  return words;
}

Result<unique_fd> load_code(const std::vector<bpf_insn>& code, uint32_t type) {
  constexpr char kLicence[] = "GPL";
  bpf_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.prog_type = type;
  attr.insns = reinterpret_cast<uintptr_t>(code.data());
  attr.insn_cnt = static_cast<uint32_t>(code.size());
  attr.license = reinterpret_cast<uintptr_t>(kLicence);
  std::memcpy(attr.prog_name, "tarsier", sizeof("tarsier"));
  unique_fd fd(call(BPF_PROG_LOAD, attr));
  if (fd) return fd;
  const int err = errno;
  if (err == EPERM) return errno_error("loading an eBPF program", EPERM, Errc::kNotPermitted);
  // Once more, to hear why.
  std::vector<char> log(1 << 18);
  attr.log_buf = reinterpret_cast<uintptr_t>(log.data());
  attr.log_size = static_cast<uint32_t>(log.size());
  attr.log_level = 1;
  fd.reset(call(BPF_PROG_LOAD, attr));
  return errno_error("the kernel refuses the eBPF program (" + last_words(log) + ")", err, Errc::kUnsupported);
}

}  // namespace

Result<BpfProgram> BpfProgram::load(std::span<const uint8_t> file, uint32_t type, std::span<const uint8_t> constants,
                                    const std::vector<BpfMapPlan>& maps) {
  if (file.empty()) {
    return Error{Errc::kUnsupported, "this tarsier was built without eBPF: there was no clang that compiles for it"};
  }
  auto object = ObjectFile::read(file);
  if (!object) return std::move(object).error();
  if (object->constants != constants.size()) {
    return Error{Errc::kFailed, "the eBPF program that was built into us has other constants than we think"};
  }
  const MoreLockedMemory more;
  BpfProgram program;
  for (const BpfMapPlan& plan : maps) {
    auto fd = plan.shared < 0 ? make_map(plan) : share_map(plan.shared);
    if (!fd) return std::move(fd).error();
    program.maps_.emplace_back(plan.name, std::move(*fd));
  }
  auto fixed = make_constants(constants);
  if (!fixed) return std::move(fixed).error();
  program.maps_.emplace_back(kConstants, std::move(*fixed));
  for (const ObjectFile::Reference& reference : object->references) {
    bpf_insn* instruction = &object->code[reference.instruction];
    const bool constant = reference.name == kConstants;
    instruction[0].src_reg = constant ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD;
    instruction[0].imm = program.map(reference.name);
    if (instruction[0].imm < 0) return Error{Errc::kFailed, "the eBPF program uses a map '" + reference.name + "'"};
    if (constant) instruction[1].imm = static_cast<int32_t>(reference.offset);
  }
  auto loaded = load_code(object->code, type);
  if (!loaded) return std::move(loaded).error();
  program.program_ = std::move(*loaded);
  return program;
}

Result<unique_fd> attach_to_tracepoint(int program, const char* tracepoint) {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.raw_tracepoint.name = reinterpret_cast<uintptr_t>(tracepoint);
  attr.raw_tracepoint.prog_fd = static_cast<uint32_t>(program);
  unique_fd fd(call(BPF_RAW_TRACEPOINT_OPEN, attr));
  if (fd) return fd;
  const Errc code = errno == EPERM || errno == EACCES ? Errc::kNotPermitted : Errc::kUnsupported;
  return errno_error(std::string("attaching an eBPF program to the tracepoint ") + tracepoint, errno, code);
}

void wait_for_bpf_programs() noexcept {
  // Programs are readers in the sense of RCU, and this waits for all of those.
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  // Not on a machine with CPUs that the kernel leaves alone (nohz_full). A program takes some microseconds.
  const timespec moment{0, 20'000'000};
  ::nanosleep(&moment, nullptr);
}

unique_fd BpfProgram::take_map(std::string_view name) {
  for (auto& [known, fd] : maps_) {
    if (known == name) return std::move(fd);
  }
  return {};
}

int BpfProgram::map(std::string_view name) const {
  for (const auto& [known, fd] : maps_) {
    if (known == name) return fd.get();
  }
  return -1;
}

}  // namespace tarsier::linux
