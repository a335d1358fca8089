// One chunk of a recording: its types, constants and events.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recording/chunk_header.h"
#include "recording/constant_index.h"
#include "recording/layout.h"
#include "recording/reader.h"
#include "recording/text_store.h"
#include "recording/type_table.h"

namespace tarsier::recording {

class ChunkReader final : public Chunk {
 public:
  struct EventCounts {
    uint64_t all = 0;
    uint64_t visited = 0;
    uint64_t damaged = 0;  // selected, and not as their type says
  };

  // `bytes` are what there is of the chunk. Fails if it has no usable description of its types.
  static Result<std::unique_ptr<ChunkReader>> open(const ChunkHeader& header, std::span<const uint8_t> bytes,
                                                   TextStore& texts);

  // False if constants are missing because the chain of checkpoints is broken; those that can be found are there.
  bool load_constants();
  // `passed` is told from time to time how many bytes are done. Returns where the events stop making sense, or 0.
  // `part`: from its position on, which then is where the next visit has to go on.
  struct Part {
    size_t position = 0;
    size_t most = SIZE_MAX;  // if there are more bytes, events of the older ones are passed, and not visited
    uint64_t skipped = 0;    // such events, of selected types
    std::vector<std::pair<size_t, size_t>> events{};  // the bytes of those that were passed, without constants
  };
  uint64_t visit_events(Visitor& visitor, EventCounts& counts, const std::function<void(size_t)>& passed,
                        Part* part = nullptr);

  [[nodiscard]] Nanos start() const override { return Nanos(header_.start_nanos); }
  [[nodiscard]] Nanos clock_start() const override { return header_.span_of(header_.start_ticks); }
  [[nodiscard]] Nanos duration() const override { return Nanos(header_.duration_nanos); }
  [[nodiscard]] TypeIndex type(std::string_view name) const override;
  [[nodiscard]] std::string_view type_name(TypeIndex type) const override;
  [[nodiscard]] int64_t type_id(TypeIndex type) const override;
  [[nodiscard]] std::vector<TypeIndex> event_types() const override;
  [[nodiscard]] FieldIndex field(TypeIndex type, std::string_view name) const override;
  [[nodiscard]] std::vector<FieldInfo> fields(TypeIndex type) const override;
  void select(TypeIndex type) override;
  // Selected types whose description is damaged, recursive or too large.
  [[nodiscard]] std::span<const std::string_view> undecodable() const { return undecodable_; }

  bool stack(ConstantKey key, StackView& out) const override;
  bool method(ConstantKey key, MethodView& out) const override;
  bool thread(ConstantKey key, ThreadInfo& out) const override;
  bool class_name(ConstantKey key, std::string_view& out) const override;

  // The text of a string field of an event of this type, or of a constant that is nothing but text.
  [[nodiscard]] std::string_view text(TypeIndex type, FieldIndex field, const EventView::Slot& slot) const;
  [[nodiscard]] std::span<const uint8_t> binary(const EventView::Slot& slot) const;

 private:
  // A selected type of events.
  struct Selected {
    TypeIndex type;
    int32_t layout = -1;
    int32_t start_field = -1;
    std::vector<FieldKind> kinds;
  };
  // Fields of a well-known constant, by position in its layout.
  struct Known {
    int32_t type = -1;
    int32_t layout = -1;
    std::vector<int32_t> fields;   // as named in the table of chunk_constants.cpp; -1: this file has none
    std::vector<int32_t> numbers;  // the same, and -1 also for those that are no numbers
  };

  ChunkReader(const ChunkHeader& header, std::span<const uint8_t> bytes, TypeTable types, TextStore& texts);

  [[nodiscard]] const uint8_t* end() const { return bytes_.data() + bytes_.size(); }
  bool load_checkpoint(uint64_t offset, int64_t& delta);
  const uint8_t* load_pool(const uint8_t* p, const uint8_t* end);
  void load_all_checkpoints();
  void find_known_types();
  Known known(std::string_view type, std::span<const std::string_view> fields);

  const uint8_t* decode(const Layout& layout, const uint8_t* p, EventView::Slot* out) const;
  [[nodiscard]] const Selected* selected(uint64_t type_id) const;
  [[nodiscard]] bool flushed_since() const;
  void pass(Part& part, const uint8_t* event, const uint8_t* event_end, uint64_t type_id) const;
  // Decodes a constant into slots_; nullptr if it is not there.
  const Layout* constant(const Known& known, ConstantKey key) const;
  [[nodiscard]] int64_t number_at(const Known& known, size_t field) const {
    const int32_t i = known.numbers[field];
    return i < 0 ? 0 : slots_[static_cast<size_t>(i)].number;
  }
  [[nodiscard]] std::string_view text_at(const Known& known, size_t field) const;
  [[nodiscard]] std::string_view text_of(const LayoutField& field, const EventView::Slot& slot, int depth = 0) const;
  [[nodiscard]] FrameType frame_type(int64_t key) const;

  ChunkHeader header_;
  std::span<const uint8_t> bytes_;
  TypeTable types_;
  mutable Layouts layouts_;  // compiled when first asked for
  TextStore& texts_;
  std::vector<ConstantPool> pools_;  // by type
  std::vector<Selected> selected_;
  std::vector<std::string_view> undecodable_;
  std::vector<int32_t> selected_by_id_;
  std::unordered_map<uint64_t, int32_t> selected_by_large_id_;
  Known stack_, frame_, method_, class_, thread_, group_, frame_type_;
  int32_t string_type_ = -1;
  mutable std::vector<EventView::Slot> slots_;
  mutable std::vector<std::pair<int64_t, FrameType>> frame_types_;
};

}  // namespace tarsier::recording
