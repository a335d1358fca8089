// Prints what our ELF reader finds in a file, for the comparison with readelf (tests/format/test_elf.py).
//
//   elf_dump FILE [SYMBOL..]
#include <cstdio>
#include <span>

#include "linux/elf.h"
#include "linux/usdt.h"

using namespace tarsier::linux;

namespace {

const char* place_name(UsdtArgument::Place place) {
  switch (place) {
    case UsdtArgument::Place::kConstant:
      return "constant";
    case UsdtArgument::Place::kRegister:
      return "register";
    case UsdtArgument::Place::kMemory:
      return "memory";
    case UsdtArgument::Place::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto file = ElfFile::open(argv[1]);
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().what.c_str());
    return 1;
  }
  std::printf("build-id %s\n", file->build_id().c_str());
  for (const char* name : std::span(argv + 2, argv + argc)) {
    if (const auto symbol = file->symbol(name)) {
      std::printf("symbol %s %llx %llu\n", name, static_cast<unsigned long long>(symbol->address),
                  static_cast<unsigned long long>(symbol->size));
    }
  }
  const auto probes = usdt_probes(*file);
  if (!probes) {
    std::fprintf(stderr, "%s\n", probes.error().what.c_str());
    return 1;
  }
  for (const UsdtProbe& probe : *probes) {
    std::printf("probe %s %s %llx %s\n", probe.provider.c_str(), probe.name.c_str(),
                static_cast<unsigned long long>(probe.address), probe.arguments.c_str());
    for (const UsdtArgument& argument : parse_usdt_arguments(probe.arguments, file->machine())) {
      std::printf("argument %s %s\n", place_name(argument.place), argument.text.c_str());
    }
  }
  return 0;
}
