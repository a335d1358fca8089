// Libraries whose functions do nothing but call each other, for tests.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "linux/elf_for_test.h"

namespace tarsier::linux {

class LibraryMaker {
 public:
  explicit LibraryMaker(uint16_t machine) : machine_(machine) {}

  // `last`: it jumps to the last of them instead of calling it. `first`: code that it begins with.
  struct Function {
    std::string name;
    std::vector<std::string> callees;
    bool last = false;
    std::string first;
  };
  LibraryMaker& function(Function one) {
    functions_.push_back(std::move(one));
    return *this;
  }
  LibraryMaker& function(const std::string& name, std::vector<std::string> callees) {
    return function(Function{name, std::move(callees), false, ""});
  }
  // Of another library.
  LibraryMaker& import(const std::string& name) {
    imports_.push_back(name);
    return *this;
  }
  // Others may call it by its name.
  LibraryMaker& exported(const std::string& name) {
    exported_.push_back(name);
    return *this;
  }
  LibraryMaker& probe(std::string_view name, const std::string& function) {
    probes_ += ElfMaker::probe(address_of(function) + 4, 0, 0, "hotspot", name, "");
    return *this;
  }

  LibraryMaker& without_tables() {
    tables_ = false;
    return *this;
  }
  // The unwind tables and their index contradict each other.
  LibraryMaker& with_entries_moved() {
    moved_ = 4;
    return *this;
  }

  // What the unwind tables say.
  [[nodiscard]] uint64_t length_of(const std::string& name) const {
    for (const Function& one : functions_) {
      if (one.name == name) return code_of(one).size();
    }
    return 0;
  }
  // Of a function or an import that was added before.
  [[nodiscard]] uint64_t address_of(const std::string& name) const {
    for (size_t i = 0; i < functions_.size(); ++i) {
      if (functions_[i].name == name) return kText + i * kSlot;
    }
    for (size_t i = 0; i < imports_.size(); ++i) {
      if (imports_[i] == name) return kLinkage + i * kLinkageEntry;
    }
    return 0;
  }

  [[nodiscard]] std::vector<uint8_t> make() const {
    ElfMaker maker(machine_);
    std::string code, index, tables, linkage, relocations, names(1, '\0'), symbols = ElfMaker::symbol(0, 0, 0, 0);
    for (const Function& one : functions_) {
      std::string body = code_of(one);
      body.resize(kSlot);
      code += body;
      const uint64_t entry = kTables + tables.size();
      index += ElfMaker::bytes_of(static_cast<int32_t>(address_of(one.name)) - static_cast<int32_t>(kIndex)) +
               ElfMaker::bytes_of(static_cast<int32_t>(entry - kIndex));
      tables += ElfMaker::bytes_of(uint32_t{12}) + ElfMaker::bytes_of(uint32_t{0}) +
                ElfMaker::bytes_of(static_cast<int32_t>(address_of(one.name) + moved_ - (entry + 8))) +
                ElfMaker::bytes_of(static_cast<uint32_t>(code_of(one).size()));
    }
    for (size_t i = 0; i < imports_.size(); ++i) {
      linkage += linkage_of(i);
      symbols += ElfMaker::symbol(static_cast<uint32_t>(names.size()), 0, 0, SHN_UNDEF);
      names += imports_[i] + '\0';
      relocations += ElfMaker::bytes_of(Elf64_Rela{kSlots + i * 8, ELF64_R_INFO(uint64_t{i + 1}, 1), 0});
    }
    for (const std::string& name : exported_) {
      symbols += ElfMaker::symbol(static_cast<uint32_t>(names.size()), address_of(name), 4);
      names += name + '\0';
    }
    const std::string head = std::string("\x01\x1b\x03\x3b") + ElfMaker::bytes_of(uint32_t{0}) +
                             ElfMaker::bytes_of(static_cast<uint32_t>(functions_.size()));
    maker.add(".text", SHT_PROGBITS, code, kText);
    maker.add(".eh_frame_hdr", SHT_PROGBITS, head + index, kIndex);
    if (tables_) maker.add(".eh_frame", SHT_PROGBITS, tables, kTables);
    maker.add(".plt", SHT_PROGBITS, linkage, kLinkage);
    maker.add(".rela.plt", SHT_RELA, relocations);
    const uint32_t strings = maker.add(".dynstr", SHT_STRTAB, names);
    maker.add(".dynsym", SHT_DYNSYM, symbols, 0, strings);
    if (!probes_.empty()) maker.add(".note.stapsdt", SHT_NOTE, probes_);
    return maker.make();
  }

 private:
  static constexpr uint64_t kText = 0x10000, kSlot = 128, kLinkage = 0x100000, kLinkageEntry = 16, kSlots = 0x200008,
                            kIndex = 0x300000, kTables = 0x400000;

  [[nodiscard]] std::string code_of(const Function& one) const {
    std::string code = one.first;
    for (size_t i = 0; i < one.callees.size(); ++i) {
      const bool jumps = one.last && i + 1 == one.callees.size();
      const uint64_t at = address_of(one.name) + code.size();
      const auto away = static_cast<int64_t>(address_of(one.callees[i]) - at);
      if (machine_ == EM_AARCH64) {
        const uint32_t kind = jumps ? 0x14000000 : 0x94000000;
        code += ElfMaker::bytes_of(kind | (static_cast<uint32_t>(away / 4) & 0x3ffffff));
      } else {
        code += (jumps ? '\xe9' : '\xe8') + ElfMaker::bytes_of(static_cast<int32_t>(away - 5));
      }
    }
    return code + (machine_ == EM_AARCH64 ? ElfMaker::bytes_of(uint32_t{0xd65f03c0}) : "\xc3");
  }
  [[nodiscard]] std::string linkage_of(size_t i) const {
    const uint64_t at = kLinkage + i * kLinkageEntry, slot = kSlots + i * 8;
    std::string code;
    if (machine_ == EM_AARCH64) {
      const auto pages = static_cast<uint32_t>((slot >> 12) - (at >> 12));
      code = ElfMaker::bytes_of(0x90000010 | (pages & 3) << 29 | pages >> 2 << 5) +
             ElfMaker::bytes_of(0xf9400211 | static_cast<uint32_t>((slot & 0xfff) / 8) << 10) +
             ElfMaker::bytes_of(0x91000210) + ElfMaker::bytes_of(0xd61f0220);
    } else {
      code = "\xff\x25" + ElfMaker::bytes_of(static_cast<int32_t>(slot - at - 6));
    }
    code.resize(kLinkageEntry);
    return code;
  }

  uint16_t machine_;
  std::vector<Function> functions_;
  std::vector<std::string> imports_, exported_;
  std::string probes_;
  bool tables_ = true;
  uint64_t moved_ = 0;
};

}  // namespace tarsier::linux
