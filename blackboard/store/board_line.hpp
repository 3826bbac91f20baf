// A board with the boards that it was forked from, read as one: a fork holds only the fields that were written to
// since; everything else, and everything before the fork, is what its parent had at that version.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blackboard/store/event_log.hpp"
#include "blackboard/store/records.hpp"

namespace tafel::store {

class BoardLine {
 public:
  // `record` is that of `board`; the owner keeps `kv` or `records`, and `log`, alive.
  static Result<BoardLine> open(KvRead& kv, EventLog& log, const std::string& board, const BoardRecord& record);
  static Result<BoardLine> open(std::shared_ptr<Records> records, EventLog& log, const std::string& board,
                                const BoardRecord& record);

  // One board of the line with the versions that come from it: from + 1 … to.
  struct Level {
    std::string board;
    BoardNumber number = BoardNumber::none;
    Version from = 0;
    Version to = 0;     // of the board itself: without end
    Version floor = 0;  // older ones are not in its log any more

    BoardLog log() const { return {number, floor}; }
  };
  const std::vector<Level>& levels() const { return levels_; }  // the board itself first
  const Level& level_of(Version version) const;
  // The line as it was read at `version`: without the boards that began later.
  BoardLine at(Version version) const;
  // The line as a new fork that begins where the youngest board of this one does would see it.
  BoardLine below() const;
  bool is_fork() const { return levels_.size() > 1; }
  std::size_t depth() const { return depth_; }  // boards that it descends from
  Version floor() const { return floor_; }      // history reaches back to it, without a gap
  // True when the line can be read as it was after `version`: its log reaches back to it, or a tag or a fork keeps it.
  Result<bool> keeps(Version version, const Head& head);

  // As board_reader.hpp, but of the whole line. What is inherited has the image that it had at the fork, and a trail of
  // one step at that version.
  Result<FieldPointer> field(const Path& path);
  Result<PartPointer> cell(const CellKey& key);
  Result<void> scan_fields(const std::optional<Path>& path, std::string_view from, const FieldVisitor& visit);
  Result<void> scan_below_in_path_order(const Path& path, const FieldVisitor& visit);
  Result<void> scan_parts(const Path& path, Part part, const PartVisitor& visit);
  Result<void> scan_all_parts(const Path& path, Part from_part, std::string_view from_id, const PartVisitor& visit);

  Result<std::shared_ptr<const Event>> event(Version version) { return log_->event(level_of(version).number, version); }
  // The cell as it was after `version`.
  Result<CellPointer> image_as_of(const CellKey& key, Version version);
  // What was known of the field after `version`; nullopt where it was never written to by then.
  Result<std::optional<FieldInfo>> field_as_of(const Path& path, Version version);
  // The newest change of the cell at or before `version`; nullopt when there is none.
  Result<std::optional<conflict::CellChange>> change_at(const CellKey& key, Version version);
  // The newest event at or before `version` that changed the field; null when there is none.
  Result<std::shared_ptr<const Event>> revision_as_of(const Path& path, Version version);

 private:
  BoardLine(std::shared_ptr<Records> records, EventLog& log) : records_(std::move(records)), log_(&log) {}

  // A field where it comes from: the level that holds it, and its record there.
  struct Found {
    std::size_t level = 0;
    FieldPointer record;
  };
  Result<std::optional<Found>> find(const Path& path);
  static Version floor_of(const std::vector<Level>& levels);
  // The field of `record` as it was when `level` was left; nullopt where it was not written to on that level by then.
  Result<FieldPointer> inherited(std::size_t level, const Path& path, const FieldRecord& record);
  Result<StoredCell> inherited(std::size_t level, const CellKey& key);
  // A cell as one level stores it, the leaf in its field's record or a part.
  Result<PartPointer> stored(std::size_t level, const CellKey& key);
  // A cell as one level stores it, when that was written to by `version`.
  struct StoredHere {
    PartPointer cell;         // null: not there, and no older level is to be asked
    bool is_cut_off = false;  // nothing leads back to older levels
  };
  Result<std::optional<StoredHere>> stored_at(std::size_t level, const CellKey& key, Version version);
  Result<CellPointer> image_from(std::size_t level, const CellKey& key, Version version);
  PartVisitor as_inherited(std::size_t level, const PartVisitor& visit);

  std::shared_ptr<Records> records_;
  EventLog* log_;
  std::vector<Level> levels_;
  Version floor_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace tafel::store
