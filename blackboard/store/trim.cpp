#include "blackboard/store/trim.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "blackboard/seal.hpp"
#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/floors.hpp"
#include "blackboard/store/receipts.hpp"
#include "blackboard/store/record.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::store {
namespace {

constexpr Version never = std::numeric_limits<Version>::max();

// The images of one cell, or of what is known of one field, as a trim or a sweep goes through them.
class Images {
 public:
  Images(KvWrite& kv, const Pins& pins, BoardNumber number, CellKey key)
      : kv_(kv), pins_(pins), number_(number), key_(std::move(key)) {}

  // Those that are kept already.
  Result<void> read() {
    auto versions = kept_versions(kv_, number_, key_);
    if (!versions) return tl::unexpected(versions.error());
    for (const Version version : *versions) images_.push_back({version, true});
    return {};
  }
  bool are_none() const { return images_.empty(); }
  Version newest() const { return images_.empty() ? 0 : images_.back().version; }
  void add(Version version) { images_.push_back({version, false}); }

  // Takes away the kept ones that nobody needs, and gives the versions of the new ones that somebody does. `now` is the
  // newest version of the record of the cell; it needs no image.
  Result<std::vector<Version>> settle(Version now, Version floor) {
    std::vector<Version> wanted;
    std::size_t left = 0;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const auto [version, is_kept] = images_[i];
      const Version next = i + 1 < images_.size() ? images_[i + 1].version : version < now ? now : never;
      // It is what a reader at the floor finds, or at a version that is pinned.
      const bool is_needed = version < now && (next >= floor || pins_.hold_any(version, next));
      left += is_needed ? 1 : 0;
      if (is_needed && !is_kept) wanted.push_back(version);
      if (is_needed || !is_kept) continue;
      auto erased = kv_.erase(Table::floors, floor_key(number_, key_, version));
      if (!erased) return tl::unexpected(erased.error());
    }
    is_left_none_ = left == 0;
    return wanted;
  }
  bool is_left_none() const { return is_left_none_; }  // after `settle`

 private:
  struct Image {
    Version version = 0;
    bool is_kept = false;
  };

  KvWrite& kv_;
  const Pins& pins_;
  const BoardNumber number_;
  const CellKey key_;
  std::vector<Image> images_;  // ascending
  bool is_left_none_ = true;
};

// Takes away the record of a cell that is gone, when nothing at or after the floor, or at a pin, leads to it. A fork
// keeps it: what the cell was before lies in the parent, and the record is the way there.
Result<void> drop_tombstone(KvWrite& kv, const BoardRecord& board, const CellKey& key) {
  if (!board.parent.empty()) return {};
  return kv.erase(Table::parts, part_key(board.number, key));
}

// A fork keeps the record: it hides what its parent has. Nothing else needs it.
Result<void> drop_field_if_gone(KvWrite& kv, const BoardRecord& board, const Path& path, Version floor) {
  const auto field = get_field(kv, board.number, path);
  if (!field) return tl::unexpected(field.error());
  if (!board.parent.empty() || !*field || (*field)->info.kind || (*field)->leaf.is_live() ||
      (*field)->trail.newest() >= floor)
    return {};
  const auto images = kept_cells(kv, board.number, path, leaf_key(path), 1);
  if (!images) return tl::unexpected(images.error());
  bool has_parts = false;
  const auto scanned =
      scan_all_parts(kv, board.number, path, Part::element, {},
                     [&](const CellKey&, const StoredCell&) { return Result<bool>(!(has_parts = true)); });
  if (!scanned) return scanned;
  if (!images->empty() || has_parts) return {};
  return kv.erase(Table::fields, field_key(board.number, path));
}

class Trim {
 public:
  Trim(KvWrite& kv, EventLog& log, BoardRecord& board, const std::string& epoch, Pins pins)
      : kv_(kv), log_(log), board_(board), epoch_(epoch), pins_(std::move(pins)) {}

  Result<Trimmed> run(const TrimGoal& goal) {
    if (auto read = read_events(goal); !read) return tl::unexpected(read.error());
    if (!events_.empty()) {
      floor_ = events_.back().version + 1;
      for (auto& [path, field] : fields_) {
        if (auto moved = move_field(path, field); !moved) return tl::unexpected(moved.error());
      }
      for (const Event& event : events_) {
        if (auto gone = take_away(event); !gone) return tl::unexpected(gone.error());
      }
      board_.head.floor = floor_;
    }
    return Trimmed{events_.size(), board_.head.floor, !is_cut_short_};
  }

 private:
  struct MovedField {
    std::vector<std::pair<const Event*, const TouchedField*>> touched;
    std::map<CellKey, std::vector<std::pair<Version, const LoggedChange*>>> cells;
  };

  // The events that are to go, as many as one step may take.
  Result<void> read_events(const TrimGoal& goal) {
    const Version first = std::max({board_.head.floor, board_.fork + 1, Version{1}});
    std::uint64_t gone = 0;
    std::size_t changes = 0;
    const auto is_over = [&] {
      return goal.log_bytes && board_.log_bytes - std::min(board_.log_bytes, gone) > *goal.log_bytes;
    };
    const auto scanned = scan_records(
        kv_, Table::events, board_prefix(board_.number), event_key(board_.number, first),
        [&](std::string_view key, std::string_view payload) -> Result<bool> {
          auto event = codec::decode_event(payload);
          if (!event) return bad_record(Table::events, key, event.error().message);
          // The newest one stays: the chain goes on from it.
          if (event->version >= board_.head.version || (event->version >= goal.floor && !is_over())) return false;
          if (event->version != first + events_.size())
            return bad_record(Table::events, key, "an event before this one is missing");
          is_cut_short_ = events_.size() == goal.events_max || gone > goal.bytes_max || changes > goal.changes_max;
          if (is_cut_short_) return false;
          gone += payload.size();
          changes += event->changes.size();
          sizes_.push_back(payload.size());
          events_.push_back(std::move(*event));
          return true;
        });
    if (!scanned) return scanned;
    for (const Event& event : events_) {
      for (const LoggedChange& logged : event.changes)
        fields_[logged.change.key.path].cells[logged.change.key].emplace_back(event.version, &logged);
      for (const TouchedField& touched : event.fields) fields_[touched.path].touched.emplace_back(&event, &touched);
    }
    return {};
  }

  Result<void> move_field(const Path& path, MovedField& moved) {
    const auto record = get_field(kv_, board_.number, path);
    if (!record) return tl::unexpected(record.error());
    if (!*record) return bad_record(Table::fields, field_key(board_.number, path), "a field of the log is missing");
    for (auto& [key, changes] : moved.cells) {
      // What was erased since left its record and its images then: nothing leads back to it.
      std::erase_if(changes, [&](const auto& change) { return change.first <= (*record)->erased; });
      if (changes.empty() || key.part == Part::field) continue;
      if (auto done = move_cell(key, changes, **record); !done) return done;
    }
    if (auto done = move_info(path, moved, **record); !done) return done;
    return drop_field_if_gone(kv_, board_, path, floor_);
  }

  Result<void> move_cell(const CellKey& key, const std::vector<std::pair<Version, const LoggedChange*>>& changes,
                         const FieldRecord& field) {
    auto now = std::optional(field.leaf);
    if (key.part != Part::leaf) {
      auto part = get_part(kv_, board_.number, key);
      if (!part) return tl::unexpected(part.error());
      if (!*part) return bad_record(Table::parts, part_key(board_.number, key), "a cell of the log is missing");
      now = std::move(*part);
    }
    Images images(kv_, pins_, board_.number, key);
    if (auto read = images.read(); !read) return read;
    StoredCell image;
    if (!images.are_none()) {
      auto kept = kept_cell(kv_, board_.number, key, images.newest());
      if (!kept) return tl::unexpected(kept.error());
      if (*kept) image.trail = std::move((*kept)->trail);
    }
    for (const auto& change : changes) images.add(change.first);
    const auto wanted = images.settle(now->trail.newest(), floor_);
    if (!wanted) return tl::unexpected(wanted.error());
    for (const auto& [version, logged] : changes) {
      const auto pointers = image.trail.push(version);
      if (pointers.previous != logged->previous || pointers.jump != logged->jump)
        return bad_record(Table::events, event_key(board_.number, version), "the way back of a cell is broken");
      if (!std::binary_search(wanted->begin(), wanted->end(), version)) continue;
      image.set_image(encode_image(logged->change.image));
      if (auto kept = keep_cell(kv_, board_.number, key, image); !kept) return kept;
    }
    const bool is_gone = !now->is_live() && now->trail.newest() < floor_ && images.is_left_none();
    return is_gone && key.part != Part::leaf ? drop_tombstone(kv_, board_, key) : Result<void>();
  }

  Result<void> move_info(const Path& path, const MovedField& moved, const FieldRecord& now) {
    Images images(kv_, pins_, board_.number, field_key(path));
    if (auto read = images.read(); !read) return read;
    FieldRecord image;
    if (!images.are_none()) {
      auto kept = kept_field(kv_, board_.number, path, images.newest());
      if (!kept) return tl::unexpected(kept.error());
      if (*kept) image = std::move(**kept);
    }
    for (const auto& [event, touched] : moved.touched) images.add(event->version);
    const auto wanted = images.settle(now.trail.newest(), floor_);
    if (!wanted) return tl::unexpected(wanted.error());
    for (const auto& [event, touched] : moved.touched) {
      const Version version = event->version;
      const auto pointers = image.trail.push(version);
      if (pointers.previous != touched->previous || pointers.jump != touched->jump)
        return bad_record(Table::events, event_key(board_.number, version), "the way back of a field is broken");
      const bool is_erased = std::any_of(event->changes.begin(), event->changes.end(), [&](const LoggedChange& logged) {
        return logged.change.key == field_key(path);
      });
      if (is_erased) image.erased = version;
      image.info = touched->info;
      if (!std::binary_search(wanted->begin(), wanted->end(), version)) continue;
      if (auto kept = keep_field(kv_, board_.number, path, image); !kept) return kept;
    }
    return {};
  }

  Result<void> take_away(const Event& event) {
    if (auto stored = store_receipt(event); !stored) return stored;
    if (pins_.holds(event.version)) return {};
    const std::size_t bytes = sizes_[static_cast<std::size_t>(event.version - events_.front().version)];
    board_.log_bytes -= std::min<std::uint64_t>(board_.log_bytes, bytes);
    log_.forget(board_.number, event.version);
    return kv_.erase(Table::events, event_key(board_.number, event.version));
  }

  // From now on it can not be remade from the event.
  Result<void> store_receipt(const Event& event) {
    if (event.delta_id.empty()) return {};
    auto record = find_receipt(kv_, board_, event.actor, event.delta_id);
    if (!record) return tl::unexpected(record.error());
    if (!*record || (*record)->version != event.version) return {};
    (*record)->version = 0;
    (*record)->receipt = codec::encode_receipt(blackboard::receipt_of(event, epoch_));
    return put_record(kv_, Table::receipts, receipt_key(board_.number, delta_hash(event.actor, event.delta_id)),
                      encode_receipt(**record));
  }

  KvWrite& kv_;
  EventLog& log_;
  BoardRecord& board_;
  const std::string& epoch_;
  const Pins pins_;
  Version floor_ = 0;
  bool is_cut_short_ = false;
  std::vector<Event> events_;
  std::vector<std::size_t> sizes_;  // of their records
  std::map<Path, MovedField> fields_;
};

class Sweep {
 public:
  Sweep(KvWrite& kv, EventLog& log, BoardRecord& board, SweepProgress& progress, Pins pins)
      : kv_(kv), log_(log), board_(board), progress_(progress), pins_(std::move(pins)) {}

  Result<bool> run(std::size_t count) {
    if (progress_.stale.empty()) {
      if (auto found = find_stale(count); !found) return tl::unexpected(found.error());
      if (progress_.stale.empty()) return false;
    }
    const auto is_whole = sweep_fields(count);
    if (!is_whole) return is_whole;
    if (!*is_whole) return true;
    if (auto gone = take_events_away(); !gone) return tl::unexpected(gone.error());
    progress_ = SweepProgress();
    return true;
  }

 private:
  Result<void> find_stale(std::size_t count) {
    const std::string prefix = board_prefix(board_.number);
    return scan_records(kv_, Table::events, prefix, prefix, [&](std::string_view key, std::string_view) {
      if (key >= event_key(board_.number, board_.head.floor) || progress_.stale.size() == count)
        return Result<bool>(false);
      const Version version = version_of_event(key);
      if (!pins_.holds(version)) progress_.stale.push_back(version);
      return Result<bool>(true);
    });
  }

  // False when there is more to do.
  Result<bool> sweep_fields(std::size_t count) {
    std::vector<Path> paths;
    std::string next;
    const std::string from = progress_.field.empty() ? board_prefix(board_.number) : progress_.field;
    const auto scanned = scan_fields(kv_, board_.number, std::nullopt, from,
                                     [&](std::string_view key, const Path& path, const FieldRecord&) {
                                       if (paths.size() == count) next = key;
                                       if (next.empty()) paths.push_back(path);
                                       return Result<bool>(next.empty());
                                     });
    if (!scanned) return tl::unexpected(scanned.error());
    std::size_t left = count;  // cells that this step may still look at
    for (const Path& path : paths) {
      const auto from_cell = progress_.cell && progress_.cell->path == path ? *progress_.cell : leaf_key(path);
      const auto cells = kept_cells(kv_, board_.number, path, from_cell, left + 1);
      if (!cells) return tl::unexpected(cells.error());
      for (std::size_t i = 0; i < std::min(left, cells->size()); ++i) {
        if (auto done = sweep_cell((*cells)[i]); !done) return tl::unexpected(done.error());
      }
      if (cells->size() > left) {
        progress_.field = field_key(board_.number, path);
        progress_.cell = cells->back();
        return false;
      }
      left -= cells->size();
      if (auto dropped = drop_field_if_gone(kv_, board_, path, board_.head.floor); !dropped)
        return tl::unexpected(dropped.error());
    }
    progress_.field = next;
    progress_.cell.reset();
    return next.empty();
  }

  Result<void> sweep_cell(const CellKey& key) {
    const auto field = get_field(kv_, board_.number, key.path);
    if (!field) return tl::unexpected(field.error());
    if (!*field) return {};
    StoredCell now = (*field)->leaf;
    if (key.part == Part::field) {
      now = StoredCell((*field)->trail, CellPointer());
    } else if (key.part != Part::leaf) {
      auto part = get_part(kv_, board_.number, key);
      if (!part) return tl::unexpected(part.error());
      now = part->value_or(StoredCell());
    }
    Images images(kv_, pins_, board_.number, key);
    if (auto read = images.read(); !read) return read;
    const auto settled = images.settle(now.trail.newest(), board_.head.floor);
    if (!settled) return tl::unexpected(settled.error());
    const bool is_part = key.part != Part::leaf && key.part != Part::field;
    const bool is_gone = is_part && !now.is_live() && now.trail.newest() < board_.head.floor && images.is_left_none();
    return is_gone ? drop_tombstone(kv_, board_, key) : Result<void>();
  }

  Result<void> take_events_away() {
    for (const Version version : progress_.stale) {
      const std::string key = event_key(board_.number, version);
      const auto record = get_record(kv_, Table::events, key);
      if (!record) return tl::unexpected(record.error());
      if (!*record || pins_.holds(version)) continue;
      board_.log_bytes -= std::min<std::uint64_t>(board_.log_bytes, (*record)->size());
      log_.forget(board_.number, version);
      if (auto erased = kv_.erase(Table::events, key); !erased) return erased;
    }
    return {};
  }

  KvWrite& kv_;
  EventLog& log_;
  BoardRecord& board_;
  SweepProgress& progress_;
  const Pins pins_;
};

}  // namespace

Result<Trimmed> trim(KvWrite& kv, EventLog& log, BoardRecord& board, const std::string& epoch, const TrimGoal& goal) {
  auto pins = Pins::read(kv, board.number);
  if (!pins) return tl::unexpected(pins.error());
  return Trim(kv, log, board, epoch, std::move(*pins)).run(goal);
}

Result<bool> sweep_pins(KvWrite& kv, EventLog& log, BoardRecord& board, SweepProgress& progress, std::size_t count) {
  auto pins = Pins::read(kv, board.number);
  if (!pins) return tl::unexpected(pins.error());
  return Sweep(kv, log, board, progress, std::move(*pins)).run(count);
}

}  // namespace tafel::store
