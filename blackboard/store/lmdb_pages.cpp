// Layout of data version 1; integers as the machine writes them (LMDB files do not move between byte orders):
//
//   page      number u64, pad u16, flags u16, then lower u16, upper u16 or pages u32: 16 bytes; then content
//   branch,   page, offset of a node u16 × (lower - 16) / 2, free space, nodes between upper and the end of the page
//    leaf
//   node      low u16, high u16, flags u16, key size u16, key, data
//             in a branch: child page = low | high << 16 | flags << 32, no data; the first key of a page is not used
//             in a leaf: data size = low | high << 16; with flag 1 the data is the number (u64) of an overflow page
//   overflow  page, data; over as many pages as it says
//   tree      pad u32, flags u16, depth u16, then u64 each: branch, leaf and overflow pages, entries, root
//   meta      page, magic u32, version u32, address u64, map size u64, tree of free pages, tree of tables,
//             last page u64, transaction u64; the page size stands in the pad of the first tree
#include "blackboard/store/lmdb_pages.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

namespace tafel::store {
namespace {

constexpr std::size_t page_head = 16;
constexpr std::size_t node_head = 8;
constexpr std::uint32_t magic = 0xBEEFC0DE;
constexpr std::uint32_t data_version = 1;
constexpr std::uint16_t branch_page = 0x01;
constexpr std::uint16_t leaf_page = 0x02;
constexpr std::uint16_t overflow_page = 0x04;
constexpr std::uint16_t meta_page = 0x08;
constexpr std::uint16_t big_data = 0x01;
constexpr std::uint16_t subtree = 0x02;
constexpr PageNumber no_page = std::numeric_limits<PageNumber>::max();
constexpr std::size_t meta_tree_at = page_head + 24;

// `bytes` reaches to at + sizeof(T).
template <class T>
T load(std::string_view bytes, std::size_t at) {
  T number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

enum class TreeUse { free_pages, tables, records };

struct Node {
  std::string_view key;
  std::string_view data;  // in place
  std::uint64_t data_size = 0;
  std::uint16_t flags = 0;
  PageNumber child = 0;  // branch
  bool is_big() const { return (flags & big_data) != 0; }
};

// Bounds of the keys in a subtree; no bound where nullopt.
struct KeyRange {
  std::optional<std::string> from;
  std::optional<std::string> below;
};

class PageWalk {
 public:
  PageWalk(const FileReader& file, const MetaPage& meta)
      : file_(file), meta_(meta), used_(static_cast<std::size_t>(meta.last_page) + 1) {}

  Result<void> run() {
    used_[0] = used_[1] = true;
    if (auto walked = walk_tree(meta_.tables, TreeUse::tables); !walked) return walked;
    return walk_tree(meta_.free_pages, TreeUse::free_pages);
  }

 private:
  struct Counts {
    std::uint64_t branch_pages = 0;
    std::uint64_t leaf_pages = 0;
    std::uint64_t overflow_pages = 0;
    std::uint64_t entries = 0;
  };

  static tl::unexpected<Failure> damaged(PageNumber page, std::string_view what) {
    return fail(Fault::bad_bytes, fmt::format("the data file is damaged at page {}: {}", page, what));
  }

  Result<void> walk_tree(const PageTree& tree, TreeUse use) {
    if ((tree.root == no_page) != (tree.depth == 0)) return damaged(0, "a tree without a root has no depth");
    Counts counts;
    if (tree.root != no_page) {
      if (auto walked = walk_page(tree.root, tree.depth, {}, use, counts); !walked) return walked;
    }
    const bool fits = counts.branch_pages == tree.branch_pages && counts.leaf_pages == tree.leaf_pages &&
                      counts.overflow_pages == tree.overflow_pages && counts.entries == tree.entries;
    if (!fits) return damaged(tree.root, "the tree does not hold what its head says");
    return {};
  }

  Result<void> use_pages(PageNumber first, std::uint64_t count) {
    if (first > meta_.last_page || count > meta_.last_page - first + 1) return damaged(first, "beyond the last page");
    for (PageNumber page = first; page < first + count; ++page) {
      if (used_[static_cast<std::size_t>(page)]) return damaged(page, "used twice");
      used_[static_cast<std::size_t>(page)] = true;
    }
    return {};
  }

  Result<void> walk_page(PageNumber number, unsigned depth, const KeyRange& range, TreeUse use, Counts& counts) {
    if (auto taken = use_pages(number, 1); !taken) return taken;
    const auto page = file_.read(number * meta_.page_bytes, meta_.page_bytes);
    if (!page) return tl::unexpected(page.error());
    const bool is_leaf = depth == 1;
    const auto nodes = read_nodes(number, *page, is_leaf);
    if (!nodes) return tl::unexpected(nodes.error());
    // LMDB merges what gets smaller; in the tree of free pages it may put that off.
    if (nodes->size() < (is_leaf || use == TreeUse::free_pages ? 1U : 2U)) return damaged(number, "too few entries");
    if (auto ordered = check_order(number, *nodes, range, is_leaf, use); !ordered) return ordered;
    if (is_leaf) return walk_leaf(number, *nodes, use, counts);
    ++counts.branch_pages;
    for (std::size_t i = 0; i < nodes->size(); ++i) {
      KeyRange part = range;
      if (i > 0) part.from = (*nodes)[i].key;
      if (i + 1 < nodes->size()) part.below = (*nodes)[i + 1].key;
      if (auto walked = walk_page((*nodes)[i].child, depth - 1, part, use, counts); !walked) return walked;
    }
    return {};
  }

  Result<std::vector<Node>> read_nodes(PageNumber number, std::string_view page, bool is_leaf) const {
    const auto lower = load<std::uint16_t>(page, 12);
    const auto upper = load<std::uint16_t>(page, 14);
    const bool has_head =
        load<PageNumber>(page, 0) == number && load<std::uint16_t>(page, 10) == (is_leaf ? leaf_page : branch_page);
    if (!has_head || lower < page_head || lower > upper || upper > page.size() || lower % 2 != 0) {
      return damaged(number, "this is no page of its tree");
    }
    std::vector<Node> nodes;
    for (std::size_t at = page_head; at < lower; at += 2) {
      const auto node = read_node(page, load<std::uint16_t>(page, at), upper, is_leaf);
      if (!node) return damaged(number, "an entry reaches out of its page");
      nodes.push_back(*node);
    }
    return nodes;
  }

  static std::optional<Node> read_node(std::string_view page, std::size_t offset, std::size_t upper, bool is_leaf) {
    if (offset < upper || offset + node_head > page.size()) return std::nullopt;
    const std::uint64_t low = load<std::uint16_t>(page, offset);
    const std::uint64_t high = load<std::uint16_t>(page, offset + 2);
    const std::uint64_t flags = load<std::uint16_t>(page, offset + 4);
    const std::size_t key_size = load<std::uint16_t>(page, offset + 6);
    Node node;
    const std::size_t room = page.size() - offset - node_head;
    if (key_size > room) return std::nullopt;
    node.key = page.substr(offset + node_head, key_size);
    if (!is_leaf) {
      node.child = low | high << 16U | flags << 32U;
      return node;
    }
    node.flags = static_cast<std::uint16_t>(flags);
    node.data_size = low | high << 16U;
    const std::uint64_t in_place = node.is_big() ? sizeof(PageNumber) : node.data_size;
    if (in_place > room - key_size) return std::nullopt;
    node.data = page.substr(offset + node_head + key_size, static_cast<std::size_t>(in_place));
    return node;
  }

  Result<void> check_order(PageNumber number, const std::vector<Node>& nodes, const KeyRange& range, bool is_leaf,
                           TreeUse use) const {
    const std::size_t first = is_leaf ? 0 : 1;
    for (std::size_t i = first; i < nodes.size(); ++i) {
      const std::string_view key = nodes[i].key;
      if (use == TreeUse::free_pages && key.size() != sizeof(std::uint64_t))
        return damaged(number, "a key has a wrong size");
      if (key.empty()) return damaged(number, "a key is empty");
      const bool is_above =
          i == first ? !range.from || !is_less(key, *range.from, use) : is_less(nodes[i - 1].key, key, use);
      const bool is_below = !range.below || is_less(key, *range.below, use);
      if (!is_above || !is_below) return damaged(number, "keys are out of order");
    }
    return {};
  }

  static bool is_less(std::string_view left, std::string_view right, TreeUse use) {
    if (use != TreeUse::free_pages) return left < right;
    return load<std::uint64_t>(left, 0) < load<std::uint64_t>(right, 0);
  }

  Result<void> walk_leaf(PageNumber number, const std::vector<Node>& nodes, TreeUse use, Counts& counts) {
    ++counts.leaf_pages;
    for (const Node& node : nodes) {
      ++counts.entries;
      const std::uint16_t expected = use == TreeUse::tables ? subtree : node.flags & big_data;
      if (node.flags != expected) return damaged(number, "an entry of a wrong sort");
      if (node.is_big()) {
        if (auto walked = walk_overflow(node, counts); !walked) return walked;
      }
      auto walked = use == TreeUse::tables       ? walk_table(number, node)
                    : use == TreeUse::free_pages ? walk_free(node)
                                                 : Result<void>();
      if (!walked) return walked;
    }
    return {};
  }

  Result<void> walk_overflow(const Node& node, Counts& counts) {
    const auto first = load<PageNumber>(node.data, 0);
    const std::uint64_t needed = (page_head + node.data_size + meta_.page_bytes - 1) / meta_.page_bytes;
    if (first > meta_.last_page) return damaged(first, "beyond the last page");
    const auto head = file_.read(first * meta_.page_bytes, page_head);
    if (!head) return tl::unexpected(head.error());
    // A value that was replaced by a smaller one in the same transaction keeps its pages.
    const auto pages = load<std::uint32_t>(*head, 12);
    const bool is_overflow = load<PageNumber>(*head, 0) == first && load<std::uint16_t>(*head, 10) == overflow_page;
    if (!is_overflow || pages < needed) return damaged(first, "this is no page of a large value");
    if (auto taken = use_pages(first, pages); !taken) return taken;
    const bool is_within = (first + needed) * meta_.page_bytes <= file_.size();
    if (!is_within) return damaged(first, "a large value reaches beyond the end of the file");
    counts.overflow_pages += pages;
    return {};
  }

  Result<void> walk_table(PageNumber number, const Node& node) {
    if (node.data.size() != PageTree::bytes) return damaged(number, "this is no head of a table");
    return walk_tree(PageTree::read(node.data), TreeUse::records);
  }

  // An entry of the free list: transaction → count, page numbers. Free pages may lie beyond the end of the file.
  Result<void> walk_free(const Node& node) {
    const auto value = node.is_big() ? file_.read(load<PageNumber>(node.data, 0) * meta_.page_bytes + page_head,
                                                  static_cast<std::size_t>(node.data_size))
                                     : Result<std::string>(std::string(node.data));
    if (!value) return tl::unexpected(value.error());
    const bool is_of_the_past = load<std::uint64_t>(node.key, 0) <= meta_.transaction;
    const std::uint64_t room = value->size() / sizeof(PageNumber);
    if (!is_of_the_past || room == 0 || load<std::uint64_t>(*value, 0) >= room)
      return damaged(0, "the list of free pages is wrong");
    for (std::uint64_t i = 1; i <= load<std::uint64_t>(*value, 0); ++i) {
      if (auto taken = use_pages(load<PageNumber>(*value, static_cast<std::size_t>(i) * sizeof(PageNumber)), 1); !taken)
        return taken;
    }
    return {};
  }

  const FileReader& file_;
  const MetaPage& meta_;
  std::vector<bool> used_;
};

}  // namespace

PageTree PageTree::read(std::string_view record) {
  PageTree tree;
  tree.depth = load<std::uint16_t>(record, 6);
  tree.branch_pages = load<std::uint64_t>(record, 8);
  tree.leaf_pages = load<std::uint64_t>(record, 16);
  tree.overflow_pages = load<std::uint64_t>(record, 24);
  tree.entries = load<std::uint64_t>(record, 32);
  tree.root = load<PageNumber>(record, 40);
  return tree;
}

std::optional<std::string> MetaPage::defect(std::string_view page) {
  const bool is_meta = load<std::uint16_t>(page, 10) == meta_page && load<std::uint32_t>(page, page_head) == magic;
  if (!is_meta) return "this is no LMDB data file";
  const auto version = load<std::uint32_t>(page, page_head + 4);
  if (version != data_version)
    return fmt::format("the data file has LMDB data version {}, not {}", version, data_version);
  const auto page_size = load<std::uint32_t>(page, meta_tree_at);
  const bool is_power = page_size != 0 && (page_size & (page_size - 1)) == 0;
  if (!is_power || page_size < 512 || page_size > 65536)
    return fmt::format("a page size of {} bytes is impossible", page_size);
  return std::nullopt;
}

MetaPage MetaPage::read(std::string_view page) {
  MetaPage meta;
  meta.page_bytes = load<std::uint32_t>(page, meta_tree_at);
  meta.free_pages = PageTree::read(page.substr(meta_tree_at, PageTree::bytes));
  meta.tables = PageTree::read(page.substr(meta_tree_at + PageTree::bytes, PageTree::bytes));
  meta.last_page = load<PageNumber>(page, meta_tree_at + 2 * PageTree::bytes);
  meta.transaction = load<std::uint64_t>(page, meta_tree_at + 2 * PageTree::bytes + 8);
  return meta;
}

Result<void> walk_pages(const FileReader& file, const MetaPage& meta) { return PageWalk(file, meta).run(); }

}  // namespace tafel::store
