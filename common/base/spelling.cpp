#include "common/base/spelling.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tafel {
namespace {

constexpr std::size_t longest = 128;  // longer names are compared by their ends only

// Number of bytes to insert, drop or replace.
std::size_t edits_between(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string_view last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

std::vector<std::string> close_names(std::string_view name, const std::vector<std::string>& known,
                                     std::size_t count_max) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& candidate : known) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t allowed = (longer < 3 ? 1 : 2) + longer / 8;  // two letters that changed places are two edits
    const bool is_short = name.size() <= longest && candidate.size() <= longest;
    const std::size_t edits = is_short ? edits_between(name, candidate) : longest;
    if (edits <= allowed) {
      found.emplace_back(edits, candidate);
    } else if (last_part(name) == last_part(candidate)) {
      found.emplace_back(longest, candidate);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [edits, text] : found) {
    if (names.size() == count_max) break;
    names.push_back(std::move(text));
  }
  return names;
}

}  // namespace tafel
