#include "export/csv.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "analysis/contentions.h"
#include "analysis/labels.h"
#include "analysis/lock_aspects.h"
#include "export/escape.h"

namespace tarsier::exporting {
namespace {

using analysis::Contention;
using analysis::Owner;
using analysis::Piece;
using analysis::StackIndex;

constexpr std::array<std::string_view, static_cast<size_t>(Owner::Kind::kCount)> kOwnerKinds = {"chain", "thread",
                                                                                                "hand-off", "unknown"};
constexpr std::string_view kHeader =
    "group,after_wait,lock_class,lock,contention,blocked_thread,blocked_method,blocked_chain,begin_ns,end_ns,"
    "owner_kind,owner_thread,owner_method,owner_chain\r\n";
constexpr size_t kMostFrames = 1000;
// A chain is written for many pieces, and most of the time goes into its names. What is remembered of them is forgotten
// when it is more than that.
constexpr size_t kMostRemembered = 32 << 20;

}  // namespace

// The model may have grown between two rows; what was in it stays.
class CsvExport::Rows {
 public:
  Rows(const analysis::Model& model, const analysis::LockCode& code, std::ostream& out)
      : model_(model), code_(code), out_(out) {}

  void add(const Contention& contention, std::span<const Piece> pieces) {
    if (labelled_ != model_.methods.size()) {
      labels_ = analysis::label_methods(model_, false);
      labelled_ = model_.methods.size();
    }
    ++number_;
    begin_of_row_ = std::string(analysis::lock_group_name(contention.group)) + "," +
                    (contention.after_wait ? "true" : "false") + "," +
                    csv_cell(analysis::lock_class_name(model_, contention.lock)) + "," +
                    csv_cell(analysis::lock_name(model_, contention.lock)) + "," + std::to_string(number_) + "," +
                    csv_cell(model_.threads[contention.thread.value].name) + "," + method_and_chain(contention.stack);
    for (const Piece& piece : pieces) {
      const bool has_thread = piece.owner.thread != analysis::kNobody;
      out_ << begin_of_row_ << ',' << on_its_clock(piece.begin_ns) << ',' << on_its_clock(piece.end_ns) << ','
           << kOwnerKinds[static_cast<size_t>(piece.owner.kind)] << ','
           << (has_thread ? csv_cell(model_.threads[piece.owner.thread.value].name) : "") << ','
           << method_and_chain(piece.owner.stack) << "\r\n";
    }
  }

 private:
  // In a damaged file it may be anything: it wraps.
  [[nodiscard]] int64_t on_its_clock(int64_t ns) const {
    return static_cast<int64_t>(static_cast<uint64_t>(ns) - static_cast<uint64_t>(model_.clock_offset_ns));
  }
  // Two cells, empty if there is no stack.
  const std::string& method_and_chain(StackIndex stack) {
    if (remembered_ > kMostRemembered) {
      remembered_ = 0;
      cells_.clear();
    }
    const auto [known, is_new] = cells_.try_emplace(stack.value);
    if (is_new) {
      known->second = make_method_and_chain(stack);
      remembered_ += known->second.size();
    }
    return known->second;
  }
  [[nodiscard]] std::string make_method_and_chain(StackIndex stack) const {
    if (stack.value == 0) return ",";
    std::string chain;
    size_t frames = 0;
    for (StackIndex node = stack; node.value != 0; node = model_.stacks[node.value].parent, ++frames) {
      if (frames < kMostFrames) (chain += chain.empty() ? "" : " < ") += name_of(node);
    }
    if (frames > kMostFrames) chain += " [+" + std::to_string(frames - kMostFrames) + "]";
    return csv_cell(name_of(code_.user_frame(stack))) + "," + csv_cell(chain);
  }
  [[nodiscard]] const std::string& name_of(StackIndex node) const {
    return labels_.names[labels_.of(model_.stacks[node.value])];
  }

  const analysis::Model& model_;
  const analysis::LockCode& code_;
  analysis::Labels labels_;
  size_t labelled_ = 0;  // so many methods
  std::ostream& out_;
  std::unordered_map<uint32_t, std::string> cells_;  // by stack
  size_t remembered_ = 0;                            // bytes of them
  uint64_t number_ = 0;
  std::string begin_of_row_;
};

std::string csv_cell(std::string_view text) {
  std::string cell = visible(text);
  if (!cell.empty() && std::string_view("=+-@").find(cell.front()) != std::string_view::npos) cell.insert(0, 1, '\'');
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string(2, c) : std::string(1, c);
  return quoted + "\"";
}

CsvExport::CsvExport(std::ostream& out) : out_(out) {}

CsvExport::~CsvExport() = default;

analysis::LockQuestion CsvExport::question() {
  return {.by = {analysis::LockAspect::kGroup},
          .each = [this](const auto& model, const auto& code, const auto& contention, auto pieces) {
            add(model, code, contention, pieces);
          }};
}

void CsvExport::add(const analysis::Model& model, const analysis::LockCode& code, const Contention& contention,
                    std::span<const Piece> pieces) {
  if (!rows_) {
    out_ << kHeader;
    rows_ = std::make_unique<Rows>(model, code, out_);
  }
  if (out_.good()) rows_->add(contention, pieces);
}

Status CsvExport::finish() {
  if (!rows_) out_ << kHeader;
  out_.flush();
  if (!out_.good()) return Error{Errc::kFailed, "csv: writing failed; is the disk full?"};
  return {};
}

Status export_csv(const analysis::Model& model, std::ostream& out) {
  CsvExport rows(out);
  const analysis::LockCode code(model);
  analysis::for_each_contention(
      model, code, analysis::Selection(),
      [&](const Contention& contention, std::span<const Piece> pieces) { rows.add(model, code, contention, pieces); });
  return rows.finish();
}

}  // namespace tarsier::exporting
