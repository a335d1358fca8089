#include "agent/engines/native_names.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "linux/loaded_elf.h"
#include "linux/readable_name.h"

namespace tarsier::agent {
namespace {

std::string hex(uint64_t value) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value, 16).ptr};
}

std::string file_name_of(const linux::LoadedLibrary& library) {
  return library.path.empty() ? "[program]" : std::string(library.file_name());
}

// The kernel's own, which has no file.
constexpr std::string_view kVdso = "linux-vdso.so.1";
constexpr size_t kVdsoBytes = 8192;

}  // namespace

const NativeFunction& NativeNames::at(Address pc) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  Known& known = known_[(pc * kSpread) >> (64 - kLog2Known)];
  if (known.pc == pc && known.function != nullptr) return *known.function;
  Library* library = library_of(pc);
  known = {pc, library == nullptr ? keep("", "[native]", false) : in_library(*library, pc)};
  return *known.function;
}

void NativeNames::forget_libraries() {
  changes_.reset();
  known_.assign(known_.size(), {});
}

NativeNames::Library* NativeNames::library_of(Address pc) {
  const auto find = [&]() -> Library* {
    for (const auto& library : libraries_) {
      if (pc >= library->loaded.code_begin && pc < library->loaded.code_end) return library.get();
    }
    return nullptr;
  };
  if (changes_) {
    if (Library* library = find()) return library;
    if (*changes_ == linux::library_changes()) return nullptr;
  }
  look();
  return find();
}

void NativeNames::look() {
  changes_ = linux::library_changes();
  std::vector<std::unique_ptr<Library>> libraries;
  for (linux::LoadedLibrary& loaded : linux::loaded_libraries(false)) {
    const auto old = std::find_if(libraries_.begin(), libraries_.end(), [&](const auto& one) {
      return one != nullptr && one->loaded.base == loaded.base && one->loaded.headers == loaded.headers &&
             one->loaded.code_end == loaded.code_end && one->loaded.path == loaded.path;
    });
    if (old != libraries_.end()) {
      libraries.push_back(std::move(*old));
    } else {
      libraries.push_back(std::make_unique<Library>());
      libraries.back()->loaded = std::move(loaded);
    }
  }
  for (const auto& gone : libraries_) {
    if (gone != nullptr && gone->functions) used_ -= gone->functions->memory_used();
  }
  libraries_ = std::move(libraries);
}

Result<linux::ElfFile> NativeNames::open(Library& library) const {
  const linux::LoadedLibrary& loaded = library.loaded;
  if (loaded.path == kVdso) {
    library.image.resize(kVdsoBytes);
    if (!memory_.copy(library.image.data(), loaded.base, library.image.size())) library.image.clear();
    return linux::ElfFile::over(library.image);
  }
  return linux::open_loaded(loaded, memory_);
}

void NativeNames::read(Library& library) {
  library.is_read = true;
  if (const auto file = open(library)) {
    auto functions = linux::ElfFunctions::read(*file, most_ - std::min(most_, used_));
    if (functions && functions->count() > 0) {
      used_ += functions->memory_used();
      library.functions.emplace(std::move(*functions));
      return;
    }
  }
  ++nameless_;
}

const NativeFunction* NativeNames::in_library(Library& library, Address pc) {
  if (!library.is_read) read(library);
  const std::string file_name = file_name_of(library.loaded);
  const bool of_jvm = file_name == "libjvm.so";
  // Names are kept for good: when there is no more memory for them, only the library is told.
  if (used_ >= most_) return keep("", "[" + file_name + "]", of_jvm);
  const uint64_t address = pc - library.loaded.base;
  const auto* function = library.functions ? library.functions->find(address) : nullptr;
  if (function == nullptr) return keep("", file_name + "+0x" + hex(address), of_jvm);
  const NativeFunction*& known = library.by_address[function->address];
  if (known != nullptr) return known;
  std::string name;
  if (const auto file = open(library)) name = library.functions->name_of(*function, *file);
  known = name.empty() ? keep("", file_name + "+0x" + hex(function->address), of_jvm)
                       : keep(file_name, linux::readable_name(name), of_jvm);
  return known;
}

const NativeFunction* NativeNames::keep(std::string library, std::string name, bool of_jvm) {
  std::string key = library + '\0' + name;
  auto& kept = functions_[key];
  if (kept == nullptr) {
    constexpr size_t kTableEntry = 64;
    used_ += 2 * key.size() + sizeof(NativeFunction) + kTableEntry;
    kept = std::make_unique<NativeFunction>(NativeFunction{std::move(library), std::move(name), of_jvm, 0});
  }
  return kept.get();
}

}  // namespace tarsier::agent
