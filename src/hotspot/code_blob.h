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
  kUpcallStub,  // by which C code calls Java through a function pointer
  kAdapter,     // from compiled to interpreted code or back, vtable and itable stubs: they have no frame of their own
  kRuntimeStub,
};

struct CodeBlob {
  // What is used again and again stands first.
  uint64_t serial = 0;           // of which there is one for each piece of code that was ever copied
  mutable uint64_t seen_at = 0;  // the moment in which it was found to be there last; see CodeBlobs
  Address address = 0;
  int32_t size = 0;
  int32_t compile_id = 0;  // of methods
  BlobKind kind = BlobKind::kRuntimeStub;
  std::string name;
  Address code_begin = 0, code_end = 0;
  int32_t frame_bytes = 0;     // 0: it has no frame of a fixed size
  int32_t frame_complete = 0;  // from that offset on the frame is set up

  // Of upcall stubs only: from their sp to where they keep the anchor of whoever has called the C code; 0: not known.
  int32_t saved_anchor = 0;

  // Of methods only.
  Address method = 0;
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
  void end_walk();
  // Looking whether code is still there means to read memory that nobody has used for long. Of stacks that were all
  // copied before this moment it need be done once: what is there now, and was there when the first of them was
  // decoded, was there all the time. 0: each time.
  void set_moment(uint64_t moment) { moment_ = moment; }
  [[nodiscard]] uint64_t moment() const { return moment_; }
  // Has nothing else taken its place?
  [[nodiscard]] bool is_there(const CodeBlob& blob) const {
    if (moment_ != 0 && blob.seen_at == moment_) return true;
    if (!still_is(blob)) return false;
    blob.seen_at = moment_;
    return true;
  }
  [[nodiscard]] CodeIdentity identity_of(const CodeBlob& blob) const {
    return blob.is_method() ? CodeIdentity{blob.address + layout_.compile_id, blob.compile_id}
                            : CodeIdentity{blob.address + layout_.size, blob.size};
  }
  // Whether this blob, which at() has answered at some time, is still what it was and there. The memory of a blob is
  // never given back, so that one may ask.
  [[nodiscard]] bool is_valid(const CodeBlob& blob, uint64_t serial) const {
    return blob.serial == serial && is_there(blob);
  }
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
    std::optional<uint64_t> frame_data, header_size;  // how upcall stubs tell where their frame data is
    uint64_t frame_data_anchor = 0, blob_size = 0;
  };
  struct Tables {
    Address pcs = 0, pcs_end = 0, scopes = 0, scopes_end = 0, metadata = 0, metadata_end = 0;
  };

  CodeBlobs(const Memory& memory, const CodeCache& cache) : memory_(&memory), cache_(&cache) {}
  [[nodiscard]] std::string find_layout(const VmStructs& structs);  // what is missing
  [[nodiscard]] bool read(Address blob, CodeBlob& out) const;
  void give_back(std::unique_ptr<CodeBlob> blob);
  bool read_method(Address blob, CodeBlob& out) const;
  [[nodiscard]] int32_t saved_anchor(Address blob) const;
  [[nodiscard]] bool find_tables(Address blob, Tables& tables) const;
  [[nodiscard]] bool still_is(const CodeBlob& blob) const;
  template <class T>
  static bool make_room(Address begin, Address end, std::vector<T>& out, MemoryPiece& piece);
  template <class T>
  [[nodiscard]] T field(Address blob, uint64_t offset) const {
    return memory_->read<T>(blob + offset).value_or(T{});
  }

  const Memory* memory_;
  const CodeCache* cache_;
  Layout layout_;
  uint8_t excluded_byte_ = 0;
  CodeBlob interpreter_;
  uint64_t moment_ = 0;
  // By pieces of the address space, for most questions: where a blob begins is else told by the segment map, byte by
  // byte.
  struct Hint {
    const CodeBlob* blob = nullptr;
    uint64_t serial = 0;
  };
  static constexpr int kLog2Hints = 14, kLog2HintBytes = 9;
  std::vector<Hint> hints_{size_t{1} << kLog2Hints};
  mutable Address compiled_name_ = 0;  // where the name of all compiled methods lies
  std::unordered_map<Address, std::unique_ptr<CodeBlob>> blobs_;
  std::vector<std::unique_ptr<CodeBlob>> replaced_;
  std::vector<std::unique_ptr<CodeBlob>> empty_;  // for the next ones
  uint64_t serials_ = 0;
  size_t bytes_ = 0;
};

}  // namespace tarsier::hotspot
