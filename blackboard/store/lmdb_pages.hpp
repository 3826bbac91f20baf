// The pages of an LMDB data file, read with plain calls (no memory map), and the walk over all that its trees reach.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blackboard/store/file_reader.hpp"
#include "common/base/result.hpp"

namespace tafel::store {

using PageNumber = std::uint64_t;

// One tree of pages (MDB_db).
struct PageTree {
  std::uint16_t depth = 0;
  std::uint64_t branch_pages = 0;
  std::uint64_t leaf_pages = 0;
  std::uint64_t overflow_pages = 0;
  std::uint64_t entries = 0;
  PageNumber root = 0;

  static constexpr std::size_t bytes = 48;
  static PageTree read(std::string_view record);
};

// A meta page: one state of the file. The newer of the two counts.
struct MetaPage {
  std::size_t page_bytes = 0;
  PageNumber last_page = 0;
  std::uint64_t transaction = 0;
  PageTree free_pages;
  PageTree tables;

  static constexpr std::size_t bytes = 152;
  // What is wrong with the beginning of this page as a meta page, or nullopt.
  static std::optional<std::string> defect(std::string_view page);
  static MetaPage read(std::string_view page);
};

// Checks every page that the trees of `meta` reach: that it lies in the file, is used once, is well-formed, and that
// keys are in order and the counts are right.
Result<void> walk_pages(const FileReader& file, const MetaPage& meta);

}  // namespace tafel::store
