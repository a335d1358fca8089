// From a Method* to its names, bytecodes and lines, without asking the JVM.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "hotspot/class_serial.h"
#include "hotspot/method_evidence.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

// A number that whoever uses a method has given it; it is no part of what the method is.
struct MethodLabel {
  mutable uint64_t value = 0;
  bool operator==(const MethodLabel&) const { return true; }
};

struct MethodInfo {
  Address method = 0, const_method = 0, pool = 0, name_symbol = 0;
  uint64_t class_serial = 0;    // 0: not known
  uint32_t class_version = 0;   // grows with every redefinition of the class, so that none comes back
  std::string_view class_name;  // java/lang/String; stays as long as this
  std::string name, signature;
  uint16_t access = 0;
  Address code = 0;  // bytecodes
  uint32_t code_size = 0;
  std::vector<std::pair<uint16_t, uint16_t>> lines;  // (first bci, line), ascending
  MethodLabel label;

  bool operator==(const MethodInfo&) const = default;
  [[nodiscard]] size_t memory_used() const {
    return sizeof(*this) + name.size() + signature.size() + lines.size() * sizeof(lines[0]);
  }
  [[nodiscard]] bool is_native() const { return (access & 0x100) != 0; }
  [[nodiscard]] int32_t line(int32_t bci) const;  // 0: not known
  [[nodiscard]] std::optional<int32_t> bci_of(Address bytecode) const {
    if (bytecode < code || bytecode >= code + code_size) return std::nullopt;
    return static_cast<int32_t>(bytecode - code);
  }
};

class Methods {
 public:
  static Result<Methods> find(const Memory& memory, const VmStructs& structs, int major);

  // The epoch of class unloading (see UnloadEpoch): now, and when the stack was copied that is decoded next. If that
  // is not certain, any from `copied` to `copied + doubt`: what is answered then holds for all of them.
  void set_epochs(uint64_t now, uint64_t copied, uint32_t doubt = 0) {
    now_ = now;
    copied_ = copied;
    copied_until_ = copied + doubt;
  }
  // Classes have been redefined: then methods change while their class stays.
  void set_redefined() { redefined_ = true; }
  // Is told when a class is met that has been redefined since it was met before.
  void on_redefinition(std::function<void()> tell) { tell_redefinition_ = std::move(tell); }
  // Tells the present epoch at any time. What is read while classes go may be anything, so it is asked after each read.
  void watch_epoch(std::function<uint64_t()> epoch) { epoch_ = std::move(epoch); }
  // What lay there when the stack was copied; null if that was no method, or if it can't be told any more, since
  // classes have been unloaded in between. What it points to stays, even if its class goes.
  const MethodInfo* at(Address method);
  // at() is also asked about words that only might be a Method*, and of a class that was unloaded the memory stays as
  // it is until another class gets it. What was found on a stack that makes sense is one that was there then; of all
  // else it is looked at again what lies there.
  void confirm(const MethodInfo& method) const {
    const auto& found = static_cast<const Found&>(method);
    found.until = found.confirmed ? std::max(found.until, copied_) : copied_;
    found.confirmed = true;
  }
  // Is the class of a method that at() has told still loaded, and so what else belongs to it? Another epoch than now
  // may have begun when the caller has made use of the answer: epoch_has_passed() tells.
  [[nodiscard]] bool is_loaded(const MethodInfo& method) const;
  [[nodiscard]] bool epoch_has_passed() const;
  // The epoch whose answers hold for the stack that is decoded now, if nothing has been unloaded since it was copied.
  [[nodiscard]] std::optional<uint64_t> settled_epoch() const {
    return now_ == copied_ && now_ == copied_until_ ? std::optional(now_) : std::nullopt;
  }
  // May classes have been unloaded since the stack was copied, so that at() could not tell?
  [[nodiscard]] bool may_be_gone() const { return !settled_epoch() || epoch_has_passed(); }
  // Bytes of what is kept, about.
  [[nodiscard]] size_t memory_used() const { return bytes_; }
  // Forgets all but these; what at() has answered for the others is gone.
  void forget_except(const std::unordered_set<const MethodInfo*>& needed);

 private:
  struct Layout {
    uint64_t const_method = 0, access_flags = 0;
    uint64_t constants = 0, flags = 0, code_size = 0, name_index = 0, signature_index = 0;
    uint64_t const_method_words = 0, const_method_size = 0;
    uint64_t pool_holder = 0, pool_length = 0, pool_version = 0, pool_size = 0;
    uint64_t klass_name = 0, klass_methods = 0;
    uint64_t array_data = 0;
    uint64_t symbol_length = 0, symbol_body = 0;
  };
  // What the methods of a class share.
  struct ClassName {
    std::string name;
    MethodEvidence evidence;

    [[nodiscard]] size_t memory_used() const { return sizeof(*this) + name.size() + evidence.memory_used(); }
  };
  // All that at() answers.
  struct Found : MethodInfo {
    std::shared_ptr<const ClassName> of_class;
    mutable bool confirmed = false;
    mutable uint64_t until = 0;  // the epoch in which it was confirmed last
  };
  // What is known of a class as long as its methods are read, by the address of its constants.
  struct ClassFacts {
    int32_t length = 0;    // of the constants
    uint32_t version = 0;  // of the constants
    Address array = 0;     // of the methods
    std::vector<Address> methods;
    uint64_t serial = 0;  // 0: not known
    std::shared_ptr<const ClassName> name;
  };
  class Reading;

  explicit Methods(const Memory& memory) : memory_(&memory) {}
  [[nodiscard]] std::unique_ptr<Found> read(Address method, MethodEvidence& evidence);
  // Null if it is no class. Valid until the next call.
  [[nodiscard]] const ClassFacts* class_of(Address pool);
  void see_version(Address klass, const ClassFacts& facts);
  [[nodiscard]] bool was_redefined(const ClassFacts& facts, Address name, Address signature) const;
  struct Symbol {
    Address at;
    std::string& out;
  };
  [[nodiscard]] bool read_symbols(std::span<const Symbol> symbols, MethodEvidence& evidence) const;
  void read_lines(MethodInfo& method, std::span<const uint8_t> head, int32_t words) const;

  const Memory* memory_;
  Layout layout_;
  uint8_t excluded_byte_ = 0;
  uint64_t now_ = 0, copied_ = 0, copied_until_ = 0;
  std::function<uint64_t()> epoch_;
  bool redefined_ = false;
  ClassSerial serial_;
  struct Known {
    std::unique_ptr<Found> info;
    MethodEvidence evidence;
    uint64_t since = 0;        // the epoch in which it was seen there first
    bool had_another = false;  // confirmed there before: it may have come back in between

    [[nodiscard]] bool holds(const Memory& memory) const { return evidence.holds(memory, info->of_class->evidence); }
    [[nodiscard]] size_t memory_used() const { return info->memory_used() + evidence.memory_used(); }
  };
  std::unordered_map<Address, Known> methods_;
  // Those that were asked for last, by a hash, of what can never have been another's place.
  struct Recent {
    Address method = 0;
    const Found* info = nullptr;
    uint64_t since = 0;
  };
  static constexpr int kLog2Recent = 12;
  std::vector<Recent> recent_{size_t{1} << kLog2Recent};
  std::vector<std::unique_ptr<Found>> replaced_;
  std::unordered_map<Address, ClassFacts> classes_;  // by their constants
  struct Version {
    uint64_t serial = 0;
    uint32_t version = 0;
  };
  std::unordered_map<Address, Version> versions_;  // the last one of each class that was met
  std::function<void()> tell_redefinition_;
  uint64_t classes_epoch_ = 0;
  size_t classes_bytes_ = 0;
  size_t bytes_ = 0;
};

}  // namespace tarsier::hotspot
