// The columns of `tarsier top`: which of them fit, how wide they are, and what stands in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/top_model.h"
#include "cli/top_state.h"

namespace tarsier::cli {

struct PlacedColumn {
  TopColumn column;
  std::string_view title;
  size_t width;
  bool to_the_right;  // numbers
};

// From left to right, with one blank between them. Where it is too narrow the less important ones are left out, but not
// the one that is sorted by.
std::vector<PlacedColumn> place_columns(TopTable table, TopColumn sorted_by, size_t columns);
// Where the names of the rows stand.
TopColumn name_column(TopTable table);

std::string cell_of(const analysis::TopThreadRow& row, TopColumn column);
std::string cell_of(const analysis::TopMethodRow& row, TopColumn column);

// Not wider than that, whatever it is; of a long one the end (cut_front) or the beginning (cut_back) is left.
std::string cut_front(std::string_view text, size_t columns);
std::string cut_back(std::string_view text, size_t columns);
// Exactly that wide.
std::string fitted(std::string_view text, size_t columns, bool to_the_right);

// Nothing but ASCII, and as wide: for terminals that know no other characters.
std::string as_ascii(std::string_view text);

std::string short_bytes(double bytes);  // 950, 12.3K, 4.0G

}  // namespace tarsier::cli
