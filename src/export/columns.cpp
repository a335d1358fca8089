#include "export/columns.h"

#include <algorithm>

#include "base/varint.h"
#include "export/escape.h"

namespace tarsier::exporting {
namespace {

enum Kind : int64_t { kNumbers = 0, kDifferences = 1, kTexts = 2, kSparse = 3 };

void put(std::string& out, int64_t value) {
  uint8_t buffer[kMaxVarint];
  const auto safe = static_cast<uint64_t>(std::clamp<int64_t>(value, 0, kMaxColumnNumber));
  out.append(reinterpret_cast<const char*>(buffer), put_varint(buffer, safe));
}

}  // namespace

void ColumnWriter::add(std::string_view name, int64_t kind, size_t rows, const std::string& content) {
  put(columns_, static_cast<int64_t>(name.size()));
  columns_.append(name);
  put(columns_, kind);
  put(columns_, static_cast<int64_t>(rows));
  put(columns_, static_cast<int64_t>(content.size()));
  columns_.append(content);
  ++count_;
}

void ColumnWriter::numbers(std::string_view name, const std::vector<int64_t>& rows) {
  std::string content;
  content.reserve(rows.size());
  for (const int64_t value : rows) put(content, value);
  add(name, kNumbers, rows.size(), content);
}

void ColumnWriter::differences(std::string_view name, const std::vector<int64_t>& rows) {
  constexpr int64_t kMaxStep = kMaxColumnNumber / 2;  // zigzag doubles it
  std::string content;
  content.reserve(rows.size() * 2);
  int64_t at = 0;  // what the reader has: a step that had to be cut is made up for by the next
  for (const int64_t value : rows) {
    const int64_t wanted = std::clamp(value, -kMaxColumnNumber, kMaxColumnNumber);
    const int64_t step = std::clamp(wanted - at, -kMaxStep, kMaxStep);
    at += step;
    put(content, step >= 0 ? step * 2 : -step * 2 - 1);
  }
  add(name, kDifferences, rows.size(), content);
}

void ColumnWriter::texts(std::string_view name, const std::vector<std::string>& rows) {
  std::string content, bytes;
  for (const std::string& row : rows) {
    const std::string text = as_utf8(row);
    put(content, static_cast<int64_t>(text.size()));
    bytes += text;
  }
  content += bytes;
  add(name, kTexts, rows.size(), content);
}

void ColumnWriter::sparse(std::string_view name, const std::vector<int64_t>& rows) {
  std::string content;
  int64_t before = -1;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] <= 0) continue;
    const auto at = static_cast<int64_t>(i);
    put(content, at - before);
    put(content, rows[i]);
    before = at;
  }
  add(name, kSparse, rows.size(), content);
}

std::string ColumnWriter::finish() && {
  std::string out = "tarsier-columns-1\n";
  out.reserve(out.size() + kMaxVarint + columns_.size());
  put(out, count_);
  out += columns_;
  return out;
}

}  // namespace tarsier::exporting
