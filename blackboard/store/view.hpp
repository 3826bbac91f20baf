// A board in the store as the judge sees it.
#pragma once

#include <algorithm>

#include "blackboard/store/board_line.hpp"
#include "conflict/board_view.hpp"

namespace tafel::store {

// Reads through `line`; its owner keeps it, `board` and `failure` alive. The judge knows no failures, so
// the first one is put into `failure`, and from then on nothing is there.
class View final : public conflict::BoardView {
 public:
  View(BoardLine& line, const BoardRecord& board, std::optional<Failure>& failure)
      : line_(line), board_(board), failure_(failure) {}

  Version version() const override { return board_.head.version; }
  // A fork is written to from what it shows, not from what its parent showed before.
  Version floor() const override { return std::max(line_.floor(), board_.fork); }
  bool keeps(Version version) const override;
  std::optional<FieldInfo> field(const Path& path) const override;
  void fields_below(const Path& path, const FieldVisitor& visit) const override;
  void all_fields(const FieldVisitor& visit) const override;
  CellPointer cell(const CellKey& key) const override;
  CellPointer cell_as_of(const CellKey& key, Version version) const override;
  std::optional<conflict::CellChange> change_at(const CellKey& key, Version version) const override;
  void parts(const Path& path, Part part, const PartVisitor& visit) const override;

 private:
  // The value, or an empty one after noting the failure.
  template <class T>
  T checked(Result<T> result) const;
  void note(const Result<void>& result) const;

  BoardLine& line_;
  const BoardRecord& board_;
  std::optional<Failure>& failure_;
};

}  // namespace tafel::store
