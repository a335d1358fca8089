// Pieces of the code cache, copied on first sight: what a stack walk needs to know of a compiled method or of a stub.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "hotspot/code_cache.h"
#include "hotspot/debug_info.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

enum class BlobKind : uint8_t {
  kCompiled,
  kNativeWrapper,
  kInterpreter,
  kStubRoutines,
  kContinuationStubs,
  kAdapter,  // from compiled to interpreted code or back, vtable and itable stubs: they have no frame of their own
  kRuntimeStub,
};

struct CodeBlob {
  Address address = 0;
  int32_t size = 0;
  BlobKind kind = BlobKind::kRuntimeStub;
  std::string name;
  Address code_begin = 0, code_end = 0;
  int32_t frame_bytes = 0;     // 0: it has no frame of a fixed size
  int32_t frame_complete = 0;  // from that offset on the frame is set up

  // Of methods only.
  Address method = 0;
  int32_t compile_id = 0;
  int32_t level = 0;
  Address entry = 0;
  Address deopt_handler = 0, deopt_mh_handler = 0;  // return addresses into a deoptimised frame are replaced by these
  int32_t original_pc_offset = 0;                   // from sp: where the replaced return address is kept
  std::vector<PcDesc> pcs;
  std::vector<uint8_t> scopes;
  std::vector<Address> metadata;

  [[nodiscard]] bool is_method() const { return kind == BlobKind::kCompiled || kind == BlobKind::kNativeWrapper; }
  [[nodiscard]] bool contains(Address pc) const { return pc >= code_begin && pc < code_end; }
  [[nodiscard]] bool is_deopt_pc(Address pc) const {
    return pc != 0 && (pc == deopt_handler || pc == deopt_mh_handler);
  }
  [[nodiscard]] const PcDesc* at(Address pc) const;           // exactly there
  [[nodiscard]] const PcDesc* at_or_after(Address pc) const;  // null behind the last
  [[nodiscard]] size_t memory_used() const {
    return sizeof(*this) + pcs.size() * sizeof(PcDesc) + scopes.size() + metadata.size() * sizeof(Address);
  }
};

// By which code is told from what may take its place: a number of its own that lies in its head.
struct CodeIdentity {
  Address at = 0;  // 0: it can't be replaced
  int32_t value = 0;
};

class CodeBlobs {
 public:
  // `major`: of the JVM. The memory and the code cache must live as long.
  static Result<CodeBlobs> find(const Memory& memory, const VmStructs& structs, const CodeCache& cache, int major);

  // Null if there is nothing, or it can't be read. Valid until end_walk(): code may be thrown away at any moment, and
  // other code take its place.
  const CodeBlob* at(Address pc);
  void end_walk() { replaced_.clear(); }
  // Has nothing else taken its place?
  [[nodiscard]] bool is_there(const CodeBlob& blob) const { return still_is(blob); }
  [[nodiscard]] CodeIdentity identity_of(const CodeBlob& blob) const {
    return blob.is_method() ? CodeIdentity{blob.address + layout_.compile_id, blob.compile_id}
                            : CodeIdentity{blob.address + layout_.size, blob.size};
  }
  // Changes whenever a blob that at() has answered becomes invalid.
  [[nodiscard]] uint64_t era() const { return era_; }
  // Bytes of what is kept, about; and forgets all of it, between two walks.
  [[nodiscard]] size_t memory_used() const { return bytes_; }
  void forget();

  [[nodiscard]] uint8_t excluded_byte() const { return excluded_byte_; }

 private:
  struct Layout {
    uint64_t name = 0, size = 0, frame_size = 0, frame_complete = 0;
    bool frame_complete_is_16bit = false;
    // Pointers in 11 to 21; offsets from the blob in 8 and since 23.
    std::optional<uint64_t> code_begin, code_end;
    uint64_t code_offset = 0, data_offset = 0;
    uint64_t method = 0, compile_id = 0, level = 0, original_pc = 0;
    bool level_is_byte = false;
    std::optional<uint64_t> entry, deopt, deopt_mh;  // pointers
    uint64_t entry_offset = 0, deopt_offset = 0, deopt_mh_offset = 0;
    std::optional<uint64_t> scopes_begin;  // a pointer
    uint64_t scopes_offset = 0, pcs_offset = 0, pcs_end_offset = 0, metadata_offset = 0;
    std::optional<uint64_t> immutable_data;  // since 23: tables of their own
    uint64_t immutable_size = 0, mutable_data = 0, mutable_size = 0, relocation_size = 0;
  };
  struct Tables {
    Address pcs = 0, pcs_end = 0, scopes = 0, scopes_end = 0, metadata = 0, metadata_end = 0;
  };

  CodeBlobs(const Memory& memory, const CodeCache& cache) : memory_(&memory), cache_(&cache) {}
  [[nodiscard]] std::string find_layout(const VmStructs& structs);  // what is missing
  [[nodiscard]] std::unique_ptr<CodeBlob> read(Address blob) const;
  bool read_method(Address blob, CodeBlob& out) const;
  [[nodiscard]] bool find_tables(Address blob, Tables& tables) const;
  [[nodiscard]] bool still_is(const CodeBlob& blob) const;
  template <class T>
  bool copy_table(Address begin, Address end, std::vector<T>& out) const;
  template <class T>
  [[nodiscard]] T field(Address blob, uint64_t offset) const {
    return memory_->read<T>(blob + offset).value_or(T{});
  }

  const Memory* memory_;
  const CodeCache* cache_;
  Layout layout_;
  uint8_t excluded_byte_ = 0;
  CodeBlob interpreter_;
  std::unordered_map<Address, std::unique_ptr<CodeBlob>> blobs_;
  std::vector<std::unique_ptr<CodeBlob>> replaced_;
  uint64_t era_ = 1;
  size_t bytes_ = 0;
};

}  // namespace tarsier::hotspot
