#include "broker/schema_scope.hpp"

#include "common/base/limits.hpp"

namespace tafel::broker {

bool StoredScope::visit(bool below, const SchemaDocument* document, const Visitor& visit) const {
  if (!below) {
    show(writer_.board, schema_of_board, document, visit);
    return true;
  }
  const auto boards = boards_below();
  if (!boards) {
    failure_ = boards.error();
    return true;
  }
  if (boards->size() > limits::schema_checked_boards_max) return false;
  for (const std::string& board : *boards) {
    if (!show(board, schema_of_below, document, visit)) break;
  }
  return true;
}

bool StoredScope::show(const std::string& board, std::string_view path, const SchemaDocument* document,
                       const Visitor& visit) const {
  const auto present = schema_of_(board);
  if (!present) {
    failure_ = present.error();
    return false;
  }
  auto after = schema_with(board, **present, writer_.board, path, document);
  return visit({board, transaction_.view(board), std::move(after),
                roles_.rights_of(writer_.actor, board).under((*present)->schema)});
}

// At most one more than may be looked at.
Result<std::set<std::string>> StoredScope::boards_below() const {
  const auto snapshot = store_.snapshot();
  if (!snapshot) return tl::unexpected(snapshot.error());
  const auto known = (*snapshot)->boards(writer_.board + "/", limits::schema_checked_boards_max + 1);
  if (!known) return tl::unexpected(known.error());
  std::set<std::string> boards;
  for (const store::BoardSummary& summary : *known) {
    if (!lies_below(summary.board, writer_.board)) break;
    boards.insert(summary.board);
  }
  for (const std::string& board : new_boards_) {
    if (lies_below(board, writer_.board)) boards.insert(board);
  }
  return boards;
}

}  // namespace tafel::broker
