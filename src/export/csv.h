// Lock contentions as CSV (RFC 4180): one row for each piece of a contention. See docs/locks.md for the columns.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "analysis/lock_pass.h"
#include "base/result.h"

namespace tarsier::exporting {

// Of a model with all its events.
Status export_csv(const analysis::Model& model, std::ostream& out);

// Writes rows while a recording is being read, by a pass that has the question. Must outlive the pass. Of a recording
// that can't be read nothing is written, not even the header.
class CsvExport {
 public:
  explicit CsvExport(std::ostream& out);
  ~CsvExport();
  CsvExport(const CsvExport&) = delete;
  CsvExport& operator=(const CsvExport&) = delete;

  [[nodiscard]] analysis::LockQuestion question();
  void add(const analysis::Model& model, const analysis::LockCode& code, const analysis::Contention& contention,
           std::span<const analysis::Piece> pieces);
  // After the last row.
  Status finish();

 private:
  class Rows;
  std::ostream& out_;
  std::unique_ptr<Rows> rows_;
};

// Quoted if need be. Names are hostile: what is not printable becomes visible, and what a spreadsheet would take for a
// formula gets an apostrophe in front.
std::string csv_cell(std::string_view text);

}  // namespace tarsier::exporting
