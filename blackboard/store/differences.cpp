// What differs between two versions of a board.
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
      : line_(std::move(line)),
        older_line_(line_.at(std::min(before, after))),
        before_(before),
        after_(after),
        bytes_max_(bytes_max) {}

  Result<Page> run(const std::optional<Path>& path, const std::optional<CellKey>& start) {
    const bool is_near = older() >= line_.floor() && newer() - older() <= limits::diff_walk_events_max;
    const auto done = is_near ? walk_events(path, start) : scan_fields(path, start);
    if (!done) return tl::unexpected(done.error());
    return std::move(page_);
  }

 private:
  Version older() const { return std::min(before_, after_); }
  Version newer() const { return std::max(before_, after_); }

  // False when the page is full.
  Result<bool> look_at(const CellKey& key) {
    const auto before = line_.image_as_of(key, before_);
    if (!before) return tl::unexpected(before.error());
    const auto after = line_.image_as_of(key, after_);
    if (!after) return tl::unexpected(after.error());
    const std::string image = encode_image(before->get());
    const std::string other = encode_image(after->get());
    if (image == other) return true;
    if (bytes_ > bytes_max_) {
      page_.next = key;
      return false;
    }
    bytes_ += key.path.key().size() + key.id.size() + image.size() + other.size();
    page_.cells.push_back({key, copy_of(*before), copy_of(*after)});
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
      const auto goes_on = look_at(key);
      if (!goes_on) return tl::unexpected(goes_on.error());
      if (!*goes_on) break;
    }
    return {};
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
    // Suggestions do not count as changes of a field, so they are looked at in any case.
    const bool is_changed = record.info.changed > older();
    const CellKey first = is_changed ? start : std::max(start, CellKey{path, Part::suggestion, {}});
    std::set<CellKey> keys;
    if (is_changed) keys.insert(leaf_key(path));
    auto gathered = gather(line_, first, keys);
    // A fork took over only what was there when it was made: what had gone by then is found where it was.
    if (gathered && older_line_.levels().size() < line_.levels().size()) gathered = gather(older_line_, first, keys);
    if (!gathered) return tl::unexpected(gathered.error());
    for (auto key = keys.lower_bound(first); key != keys.end(); ++key) {
      const auto goes_on = look_at(*key);
      if (!goes_on || !*goes_on) return goes_on;
    }
    return true;
  }

  // The cells of a field, but the leaf, that have changed after the older version; of what was taken over by a fork
  // that is not known.
  Result<void> gather(BoardLine& line, const CellKey& first, std::set<CellKey>& keys) {
    return line.scan_all_parts(first.path, first.part, first.id, [&](const CellKey& key, const StoredCell& cell) {
      if (cell.trail.newest() == 0 || cell.trail.newest() > older()) keys.insert(key);
      return Result<bool>(true);
    });
  }

  BoardLine line_;
  BoardLine older_line_;
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
  auto found = find(board);
  if (!found) return tl::unexpected(found.error());
  if (before == after || found->record.number == BoardNumber::none) return DifferencePage();
  return DifferenceFinder(found->line.at(std::max(before, after)), before, after, bytes_max).run(path, start);
}

}  // namespace tafel::store
