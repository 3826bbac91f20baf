// A board in the store as the judge sees it.
#pragma once

#include "blackboard/store/event_log.hpp"
#include "conflict/board_view.hpp"

namespace tafel::store {

// Reads through `kv` and `log`, whose owner keeps them, `board` and `failure` alive. The judge knows no failures, so
// the first one is put into `failure`, and from then on nothing is there.
class View final : public conflict::BoardView {
 public:
  View(KvRead& kv, EventLog& log, const BoardRecord& board, std::optional<Failure>& failure)
      : kv_(kv), log_(log), board_(board), failure_(failure) {}

  Version version() const override { return board_.head.version; }
  Version floor() const override { return board_.head.floor; }
  std::optional<conflict::FieldInfo> field(const Path& path) const override;
  void fields_below(const Path& path, const FieldVisitor& visit) const override;
  void all_fields(const FieldVisitor& visit) const override;
  std::optional<Cell> cell(const CellKey& key) const override;
  std::optional<Cell> cell_as_of(const CellKey& key, Version version) const override;
  void parts(const Path& path, Part part, const PartVisitor& visit) const override;

 private:
  // The value, or an empty one after noting the failure.
  template <class T>
  T checked(Result<T> result) const;
  void note(const Result<void>& result) const;
  std::optional<StoredCell> stored(const CellKey& key) const;

  KvRead& kv_;
  EventLog& log_;
  const BoardRecord& board_;
  std::optional<Failure>& failure_;
};

}  // namespace tafel::store
