// Named columns of numbers and texts: the form in which the data of the page travels (docs/page.md says how; read by
// ui/src/data/columns.ts).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tarsier::exporting {

// Numbers go up to 2^53 - 1, which the page holds exactly: larger ones are cut to that, negative ones (but for
// differences) to 0.
class ColumnWriter {
 public:
  void numbers(std::string_view name, const std::vector<int64_t>& rows);
  void differences(std::string_view name, const std::vector<int64_t>& rows);
  void texts(std::string_view name, const std::vector<std::string>& rows);  // bytes that are not UTF-8 are replaced
  void sparse(std::string_view name, const std::vector<int64_t>& rows);     // for columns that are mostly 0

  [[nodiscard]] std::string finish() &&;

 private:
  void add(std::string_view name, int64_t kind, size_t rows, const std::string& content);

  std::string columns_;
  int64_t count_ = 0;
};

constexpr int64_t kMaxColumnNumber = (int64_t{1} << 53) - 1;

}  // namespace tarsier::exporting
