// The op "schema": a document takes the place of another, unless what is on the boards would break it (SEMANTICS 12).
#include <fmt/format.h>

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/model/value_rule.hpp"
#include "conflict/rules.hpp"

namespace tafel::conflict {
namespace {

constexpr std::size_t told_max = 3;  // offenders that the message names; `found` has more

struct Offence {
  std::string rule;
  std::string right;  // what would be right: "must …"
  Value found;
};

// Looks at the fields of boards for what does not fit.
class OffenderSearch {
 public:
  OffenderSearch(TimeMs now, const std::string& own_board) : now_(now), own_board_(own_board) {}

  // False when enough is known.
  bool look_at(const SchemaScope::Subject& subject) {
    const Rights rights = subject.rights.under(subject.schema);
    for (const auto& [path, kind] : fields_of(subject.view)) {
      if (is_exhausted()) return false;
      const auto offence = find_offence(subject.view, *subject.schema, path, kind);
      if (!offence) continue;
      add(subject.board, path, *offence, subject.rights.may_read(path) && rights.may_read(path));
      if (offenders_.size() == limits::schema_defects_max) return false;
    }
    return !is_exhausted();
  }

  bool is_exhausted() const { return looked_at_ > limits::schema_checked_cells_max; }
  const List& offenders() const { return offenders_; }
  std::string message() const {
    return fmt::format("what is on the board{} does not fit this schema: {}{}", is_of_others_ ? "s" : "", told_,
                       offenders_.size() > told_max ? fmt::format("; `found` lists {} in all", offenders_.size()) : "");
  }

 private:
  std::vector<std::pair<Path, Kind>> fields_of(const BoardView& view) {
    std::vector<std::pair<Path, Kind>> fields;
    view.all_fields([&](const Path& path, const FieldInfo& info) {
      if (info.kind && !path.is_reserved()) fields.emplace_back(path, *info.kind);
      return ++looked_at_ <= limits::schema_checked_cells_max;
    });
    return fields;
  }

  std::optional<Offence> find_offence(const BoardView& view, const Schema& schema, const Path& path, Kind kind) {
    const DeclaredRule* declared = schema.find(path);
    if (declared == nullptr && !schema.is_strict()) return std::nullopt;
    const auto values = values_of(view, path, kind);
    if (values.empty()) return std::nullopt;  // it has expired
    if (declared == nullptr) return Offence{"strict", "is not declared", values.front()};
    const FieldRule& rule = declared->rule;
    if (rule.kind && *rule.kind != kind)
      return Offence{"kind", fmt::format("must be a {}, is a {}", name_of(*rule.kind), name_of(kind)), name_of(kind)};
    for (const Value& value : values) {
      if (auto violation = find_violation(rule, value))
        return Offence{violation->rule, "must " + violation->right, value};
      if (auto outside = find_outside(rule, kind, value)) return outside;
    }
    return std::nullopt;
  }

  static std::optional<Offence> find_outside(const FieldRule& rule, Kind kind, const Value& value) {
    if (kind != Kind::counter) return std::nullopt;
    if (rule.floor && compare_numbers(value, *rule.floor) < 0)
      return Offence{"floor", fmt::format("must be {} or more", *rule.floor), value};
    if (rule.ceil && compare_numbers(value, *rule.ceil) > 0)
      return Offence{"ceil", fmt::format("must be {} or less", *rule.ceil), value};
    return std::nullopt;
  }

  // All that the field holds, conflicting values too.
  std::vector<Value> values_of(const BoardView& view, const Path& path, Kind kind) {
    std::vector<Value> values;
    if (kind == Kind::set || kind == Kind::log) {
      view.parts(path, kind == Kind::set ? Part::element : Part::entry,
                 [&](const CellKey&, const CellPointer& cell, Version) {
                   if (cell) gather(*cell, values);
                   return ++looked_at_ <= limits::schema_checked_cells_max;
                 });
    } else if (const auto cell = view.cell(leaf_key(path))) {
      gather(*cell, values);
    }
    return values;
  }

  void gather(const Cell& stored, std::vector<Value>& values) const {
    const auto cell = without_expired(stored, now_);
    if (!cell) return;
    if (const auto* reg = std::get_if<RegisterCell>(&*cell)) {
      for (const Sibling& sibling : reg->siblings) values.push_back(sibling.value);
    } else if (const auto* counter = std::get_if<CounterCell>(&*cell)) {
      values.emplace_back(counter->total);
    } else if (const auto* extremum = std::get_if<ExtremumCell>(&*cell)) {
      values.push_back(extremum->value);
    } else if (const auto* element = std::get_if<ElementCell>(&*cell)) {
      values.push_back(element->value);
    } else if (const auto* entry = std::get_if<EntryCell>(&*cell)) {
      values.push_back(entry->value);
    }
  }

  // Of a field that may not be read no more is told than that it is there.
  void add(const std::string& board, const Path& path, const Offence& offence, bool may_read) {
    const std::string place = may_read ? path.text() : "a field that you may not read";
    const bool is_other = board != own_board_;
    is_of_others_ = is_of_others_ || is_other;
    if (offenders_.size() < told_max) {
      told_ += fmt::format("{}{}{} {} ({}){}", offenders_.empty() ? "" : "; ", is_other ? board + ": " : "", place,
                           offence.right, offence.rule, may_read ? ", found " + brief(offence.found) : "");
    }
    Value offender{Map{}};
    if (is_other) offender.set("board", board);
    offender.set("path", may_read ? Value(path.text()) : Value());
    offender.set("rule", offence.rule);
    offender.set("right", offence.right);
    if (may_read) offender.set("found", brief(offence.found));
    offenders_.push_back(std::move(offender));
  }

  TimeMs now_;
  const std::string& own_board_;
  std::size_t looked_at_ = 0;
  bool is_of_others_ = false;
  List offenders_;
  std::string told_;
};

// This board alone, with the document as all of its schema.
class OwnBoard final : public SchemaScope {
 public:
  explicit OwnBoard(const Writing& writing) : writing_(writing) {}
  bool visit(bool below, const SchemaDocument* document, const Visitor& visit) const override {
    auto schema = std::make_shared<Schema>();
    if (document != nullptr) schema->add(*document);
    if (!below) visit({writing_.delta.board, writing_.draft.board(), std::move(schema), writing_.rights});
    return true;
  }

 private:
  const Writing& writing_;
};

std::optional<ErrorInfo> find_offenders(const Writing& writing, const Task& task) {
  const bool below = task.path.text() == schema_of_below;
  const OwnBoard own(writing);
  const SchemaScope& scope = writing.schema_scope != nullptr ? *writing.schema_scope : own;
  OffenderSearch search(writing.stamp.now, writing.delta.board);
  const bool is_whole = scope.visit(below, writing.op.op->schema.get(),
                                    [&](const SchemaScope::Subject& subject) { return search.look_at(subject); });
  if (!search.offenders().empty()) {
    ErrorInfo error = writing.refused(ErrorCode::schema_violation, task.path, search.message());
    error.found = search.offenders();
    return error;
  }
  if (is_whole && !search.is_exhausted()) return std::nullopt;
  return writing.refused(
      ErrorCode::too_large, task.path,
      fmt::format("a schema is held against at most {} boards and {} fields, elements and entries, and here are more: "
                  "give schemas to smaller parts",
                  limits::schema_checked_boards_max, limits::schema_checked_cells_max));
}

const Value* value_in(const CellPointer& cell) {
  const auto* reg = cell ? std::get_if<RegisterCell>(&*cell) : nullptr;
  return reg == nullptr ? nullptr : &shown_sibling(*reg).value;
}

bool says_the_same(const Value* present, const Value& document) {
  return present == nullptr ? document.is_nil() : *present == document;
}

// Somebody else has changed the schema since the writer read it: schemas are never merged.
std::optional<ErrorInfo> check_unchanged(const Writing& writing, const Path& path) {
  const auto info = writing.draft.board().field(path);
  if (!info || info->changed <= writing.draft.base()) return std::nullopt;
  ErrorInfo error = writing.refused(
      ErrorCode::stale, path,
      fmt::format("{} was changed at version {}, which this delta (base {}) had not seen; read it and decide again",
                  path.text(), info->changed, writing.draft.base()));
  error.retryable = true;
  return error;
}

}  // namespace

LeafVerdict write_schema(const Writing& writing, const Task& task) {
  const CellKey key = leaf_key(task.path);
  if (!writing.is_asserted() && writing.rights.may_read(task.path)) {
    const auto seen = writing.draft.seen(key);
    if (says_the_same(value_in(seen), task.value))
      return outcome_of(task.path, Outcome::unchanged, seen ? Reason::echo : Reason::absent);
  }
  const auto confidence = writing.permitted(task.path, Right::schema);
  if (!confidence) return tl::unexpected(confidence.error());
  const auto present = writing.draft.cell(key);
  if (says_the_same(value_in(present), task.value) && !writing.is_asserted())
    return outcome_of(task.path, Outcome::unchanged, Reason::repeated);
  if (auto error = check_unchanged(writing, task.path)) return tl::unexpected(std::move(*error));
  if (auto error = find_offenders(writing, task)) return tl::unexpected(std::move(*error));
  if (task.value.is_nil()) {
    writing.draft.put(key, std::nullopt);
  } else {
    RegisterCell cell;
    cell.siblings.push_back({task.value, writing.dot(task.path, *confidence)});
    writing.draft.put(key, std::move(cell));
  }
  return outcome_of(task.path, Outcome::applied);
}

}  // namespace tafel::conflict
