#include "blackboard/store/board_base.hpp"

#include <limits>

#include "blackboard/store/floors.hpp"
#include "blackboard/store/record.hpp"

namespace tafel::store {
namespace {

class BaseVisit {
 public:
  BaseVisit(KvRead& kv, const BoardLine& line, const std::function<bool(const Path&)>& is_left_out,
            const std::function<Result<void>(BaseImage image)>& visit)
      : kv_(kv),
        log_(line.levels().front().log()),
        below_(line.at(log_.floor).below()),
        is_left_out_(is_left_out),
        visit_(visit) {}

  Result<void> run() {
    return scan_fields(kv_, log_.number, std::nullopt, {},
                       [&](std::string_view, const Path& path, const FieldRecord& now) -> Result<bool> {
                         const auto visited = visit_field(path, now);
                         if (!visited) return tl::unexpected(visited.error());
                         return true;
                       });
  }

 private:
  Result<void> visit_field(const Path& path, const FieldRecord& now) {
    std::optional<FieldRecord> base = now;
    if (now.trail.newest() >= log_.floor) {
      auto kept = kept_field(kv_, log_.number, path, log_.floor - 1);
      if (!kept) return tl::unexpected(kept.error());
      base = std::move(*kept);
    }
    if (!base) return {};  // it was first written to later
    const bool is_known = now.erased < log_.floor && !is_left_out_(path);
    auto leaf = is_known ? cell_at_floor(leaf_key(path), now.leaf) : Result<std::optional<StoredCell>>(std::nullopt);
    if (!leaf) return tl::unexpected(leaf.error());
    const Version newest = base->trail.newest();
    base->leaf = leaf->value_or(StoredCell());
    if (auto done = visit_({field_key(path), encode_field(path, *base), false, is_known}); !done) return done;
    if (auto done = visit_older(field_key(path), newest); !done) return done;
    return is_known ? visit_cells(path, *leaf ? (*leaf)->trail.newest() : 0) : Result<void>();
  }

  Result<void> visit_cells(const Path& path, Version newest_leaf) {
    if (auto done = visit_older(leaf_key(path), newest_leaf); !done) return done;
    const auto scanned = scan_all_parts(
        kv_, log_.number, path, Part::element, {}, [&](const CellKey& key, StoredCell now) -> Result<bool> {
          const auto base = cell_at_floor(key, std::move(now));
          if (!base) return tl::unexpected(base.error());
          const Version newest = *base ? (*base)->trail.newest() : 0;
          auto done = *base ? visit_({key, encode_part(**base), false, true}) : Result<void>();
          if (done) done = visit_older(key, newest);
          if (!done) return tl::unexpected(done.error());
          return true;
        });
    return scanned;
  }

  // The cell as it was before the first event. In a fork it may have been taken over before that, and not changed.
  Result<std::optional<StoredCell>> cell_at_floor(const CellKey& key, StoredCell now) {
    if (now.trail.newest() < log_.floor) {
      const bool is_there = now.is_live() || !now.trail.steps().empty();
      return is_there ? std::optional(std::move(now)) : std::nullopt;
    }
    auto kept = kept_cell(kv_, log_.number, key, log_.floor - 1);
    if (!kept || *kept || !below_.is_fork()) return kept;
    const auto inherited = below_.cell(key);
    if (!inherited) return tl::unexpected(inherited.error());
    if (*inherited == nullptr || !(*inherited)->is_live()) return std::nullopt;
    StoredCell taken_over = **inherited;
    taken_over.trail = {};
    return taken_over;
  }

  Result<void> visit_older(const CellKey& key, Version newest) {
    const auto versions = kept_versions(kv_, log_.number, key);
    if (!versions) return tl::unexpected(versions.error());
    for (const Version version : *versions) {
      if (version == newest) continue;
      const std::string place = floor_key(log_.number, key, version);
      auto payload = get_record(kv_, Table::floors, place);
      if (!payload) return tl::unexpected(payload.error());
      if (!*payload) return bad_record(Table::floors, place, "an image is missing");
      if (auto done = visit_({key, std::move(**payload), true, true}); !done) return done;
    }
    return {};
  }

  KvRead& kv_;
  const BoardLog log_;
  BoardLine below_;
  const std::function<bool(const Path&)>& is_left_out_;
  const std::function<Result<void>(BaseImage image)>& visit_;
};

}  // namespace

Result<void> visit_base(KvRead& kv, const BoardLine& line, const std::function<bool(const Path&)>& is_left_out,
                        const std::function<Result<void>(BaseImage image)>& visit) {
  return BaseVisit(kv, line, is_left_out, visit).run();
}

}  // namespace tafel::store
