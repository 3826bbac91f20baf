// The boards that a change of schema speaks of, for the judge: read through the transaction that is under way.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "blackboard/store/store.hpp"
#include "broker/schemas.hpp"
#include "common/model/rights.hpp"
#include "conflict/judge.hpp"

namespace tafel::broker {

class StoredScope final : public conflict::SchemaScope {
 public:
  using SchemaOf = std::function<Result<std::shared_ptr<const BoardSchema>>(const std::string& board)>;
  struct Writer {
    std::string actor;
    std::string board;
  };

  // `new_boards` were first written to in this transaction.
  StoredScope(store::Store& store, store::Batch& transaction, const RoleTable& roles, SchemaOf schema_of, Writer writer,
              std::set<std::string> new_boards)
      : store_(store),
        transaction_(transaction),
        roles_(roles),
        schema_of_(std::move(schema_of)),
        writer_(std::move(writer)),
        new_boards_(std::move(new_boards)) {}

  bool visit(bool below, const SchemaDocument* document, const Visitor& visit) const override;
  // Of a read; what the judge made of the visit is then worthless.
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  bool show(const std::string& board, std::string_view path, const SchemaDocument* document,
            const Visitor& visit) const;
  Result<std::set<std::string>> boards_below() const;

  store::Store& store_;
  store::Batch& transaction_;
  const RoleTable& roles_;
  SchemaOf schema_of_;
  Writer writer_;
  std::set<std::string> new_boards_;
  mutable std::optional<Failure> failure_;
};

}  // namespace tafel::broker
