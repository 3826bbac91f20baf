// What differs between two versions of a board.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "blackboard/store/snapshot.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {
namespace {

class DifferenceFinder {
 public:
  using Page = Snapshot::DifferencePage;

  DifferenceFinder(BoardLine line, Version before, Version after, std::size_t bytes_max)
      : line_(std::move(line)), before_(before), after_(after), bytes_max_(bytes_max) {}

  Result<Page> run(const std::optional<Path>& path, const std::optional<CellKey>& start) {
    const bool is_near = newer() - older() <= limits::diff_walk_events_max;
    // A fork does not tell what was gone when it was made; its events do.
    if (!is_near && line_.levels().front().from > older()) {
      return fail(Fault::full,
                  fmt::format("the board was forked at version {}: ask for what differs before and after it",
                              line_.levels().front().from));
    }
    const auto done = is_near ? walk_events(path, start) : scan_fields(path, start);
    if (!done) return tl::unexpected(done.error());
    return std::move(page_);
  }

 private:
  Version older() const { return std::min(before_, after_); }
  Version newer() const { return std::max(before_, after_); }

  // False when the page is full.
  Result<bool> look_at(const CellKey& key, const StoredCell& record) {
    if (!line_.is_fork() && record.trail.newest() <= older()) return true;
    auto before = line_.image_as_of(key, before_);
    if (!before) return tl::unexpected(before.error());
    auto after = line_.image_as_of(key, after_);
    if (!after) return tl::unexpected(after.error());
    const std::string image = encode_image(*before);
    const std::string other = encode_image(*after);
    if (image == other) return true;
    if (bytes_ > bytes_max_) {
      page_.next = key;
      return false;
    }
    bytes_ += key.path.key().size() + key.id.size() + image.size() + other.size();
    page_.cells.push_back({key, std::move(*before), std::move(*after)});
    return true;
  }

  Result<void> walk_events(const std::optional<Path>& path, const std::optional<CellKey>& start) {
    std::set<CellKey> touched;
    for (Version version = older() + 1; version <= newer(); ++version) {
      const auto event = line_.event(version);
      if (!event) return tl::unexpected(event.error());
      for (const LoggedChange& logged : (*event)->changes) {
        const CellKey& key = logged.change.key;
        // Erased, or taken by an erasure: it is at none of the versions any more.
        const bool is_known = key.part == Part::leaf || !key.id.empty();
        if (is_known && (!path || key.path.is_at_or_below(*path)) && (!start || key >= *start)) touched.insert(key);
      }
    }
    for (const CellKey& key : touched) {
      const auto goes_on = look_at_touched(key);
      if (!goes_on) return tl::unexpected(goes_on.error());
      if (!*goes_on) break;
    }
    return {};
  }

  Result<bool> look_at_touched(const CellKey& key) {
    const auto cell = line_.cell(key);
    if (!cell) return tl::unexpected(cell.error());
    return look_at(key, cell->value_or(StoredCell()));
  }

  Result<void> scan_fields(const std::optional<Path>& path, const std::optional<CellKey>& start) {
    const std::string first = start ? field_key(line_.levels().front().number, start->path) : std::string();
    std::size_t fields = 0;
    const auto visit = [&](std::string_view, const Path& field, const FieldRecord& record) -> Result<bool> {
      if (++fields > limits::diff_page_fields) {
        page_.next = leaf_key(field);
        return false;
      }
      return look_at_field(field, record, start && start->path == field ? *start : leaf_key(field));
    };
    return line_.scan_fields(path, first, visit);
  }

  Result<bool> look_at_field(const Path& path, const FieldRecord& record, const CellKey& start) {
    if (start.part == Part::leaf) {
      const auto goes_on = look_at(start, record.leaf);
      if (!goes_on || !*goes_on) return goes_on;
    }
    // Suggestions do not count as changes of a field, so they are looked at in any case.
    const bool is_changed = record.info.changed > older();
    const Part part = is_changed ? start.part : std::max(start.part, Part::suggestion);
    const std::string id = part == start.part ? start.id : std::string();
    const auto scanned = line_.scan_all_parts(
        path, part, id, [&](const CellKey& key, const StoredCell& cell) { return look_at(key, cell); });
    if (!scanned) return tl::unexpected(scanned.error());
    return !page_.next.has_value();
  }

  BoardLine line_;
  const Version before_;
  const Version after_;
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Page page_;
};

}  // namespace

Result<Snapshot::DifferencePage> StoreSnapshot::differences(const std::string& board, const std::optional<Path>& path,
                                                            Version before, Version after,
                                                            const std::optional<CellKey>& start,
                                                            std::size_t bytes_max) {
  const auto found = find(board);
  if (!found) return tl::unexpected(found.error());
  if (before == after || found->record.number == BoardNumber::none) return DifferencePage();
  return DifferenceFinder(found->line.at(std::max(before, after)), before, after, bytes_max).run(path, start);
}

}  // namespace tafel::store
