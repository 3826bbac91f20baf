#include "blackboard/store/board_import.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/expiry.hpp"
#include "blackboard/seal.hpp"
#include "blackboard/store/cell_writer.hpp"
#include "blackboard/store/import.hpp"
#include "blackboard/store/record.hpp"
#include "blackboard/store/verify.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"

namespace tafel::store {
namespace {

tl::unexpected<Failure> wrong(std::string message) { return fail(Fault::bad_bytes, std::move(message)); }

// The digest of all that the line shows.
Result<Sum128> digest_of_all(BoardLine& line) {
  Sum128 digest;
  const auto add = [&](const CellKey& key, const StoredCell& stored) -> Result<bool> {
    const auto cell = stored.cell();
    if (!cell) return tl::unexpected(cell.error());
    if (*cell) digest += digest_of(key, **cell);
    return true;
  };
  const auto scanned =
      line.scan_fields(std::nullopt, {}, [&](std::string_view, const Path& path, const FieldRecord& field) {
        auto added = add(leaf_key(path), field.leaf);
        if (!added) return added;
        const auto parts = line.scan_all_parts(path, Part::element, {}, add);
        if (!parts) return Result<bool>(tl::unexpected(parts.error()));
        return added;
      });
  if (!scanned) return tl::unexpected(scanned.error());
  return digest;
}

// What the id of an element says must be what it is. (An entry, or a suggestion, that a revert brought back stands
// under the id that it had.)
bool fits_its_id(const CellKey& key, const Cell& cell) {
  const auto* element = std::get_if<ElementCell>(&cell);
  return element == nullptr || element_id(element->value) == key.id;
}

bool is_of_the_future(const Cell& cell, Version version) {
  bool is_newer = false;
  for_each_dot(cell, [&](const Dot& dot) { is_newer = is_newer || dot.version() > version; });
  return is_newer;
}

}  // namespace

struct BoardImport::Transaction {
  Transaction(std::unique_ptr<KvWrite> write) : kv(std::move(write)), log(*kv) {}

  std::unique_ptr<KvWrite> kv;
  EventLog log;
  std::optional<BoardLine> line;
  std::size_t bytes = 0;
};

BoardImport::BoardImport(Kv& kv, Random& random, TimeMs now, DeclaredBoard declared)
    : kv_(kv), random_(random), now_(now), declared_(std::move(declared)) {}

BoardImport::~BoardImport() = default;

Result<BoardImport::Transaction*> BoardImport::transaction() {
  if (transaction_) return transaction_.get();
  auto kv = kv_.write();
  if (!kv) return tl::unexpected(kv.error());
  auto begun = std::make_unique<Transaction>(std::move(*kv));
  auto line = BoardLine::open(*begun->kv, begun->log, declared_.id, record_);
  if (!line) return tl::unexpected(line.error());
  begun->line = std::move(*line);
  transaction_ = std::move(begun);
  return transaction_.get();
}

Result<void> BoardImport::commit() {
  const auto done = transaction_->kv->commit();
  transaction_.reset();
  return done;
}

Result<bool> BoardImport::begin() {
  if (declared_.head.floor > 0)
    return wrong(
        fmt::format("the history of {} does not begin at its first version: it can not be imported", declared_.id));
  const auto read = kv_.read();
  if (!read) return tl::unexpected(read.error());
  const auto present = get_board(**read, declared_.id);
  if (!present) return tl::unexpected(present.error());
  if (present->number != BoardNumber::none) {
    EventLog log(**read);
    auto line = BoardLine::open(**read, log, declared_.id, *present);
    if (!line) return tl::unexpected(line.error());
    const Version version = declared_.head.version;
    if (version > present->head.version || version <= line->floor()) return refused_name();
    const auto event = line->event(version);
    if (!event) return tl::unexpected(event.error());
    if ((*event)->hash != declared_.head.hash) return refused_name();
    return true;
  }
  if (auto begun = begin_fork(**read); !begun) return tl::unexpected(begun.error());
  const auto next = get_record(**read, Table::meta, meta_boards);
  if (!next) return tl::unexpected(next.error());
  const auto number = *next ? decode_number(**next) : std::nullopt;
  if (!number || *number == 0) return bad_record(Table::meta, meta_boards, "the number of the next board is missing");
  record_.number = static_cast<BoardNumber>(*number);
  if (auto marked = mark_number(*number); !marked) return tl::unexpected(marked.error());
  if (record_.parent.empty()) return false;
  const auto transaction = this->transaction();
  if (!transaction) return tl::unexpected(transaction.error());
  if (auto found = find_erased_above(**transaction); !found) return tl::unexpected(found.error());
  return false;
}

// Before anything is written under this number, so that all of that can be found and removed.
Result<void> BoardImport::mark_number(std::uint64_t number) {
  const auto write = kv_.write();
  if (!write) return tl::unexpected(write.error());
  for (const auto& [key, value] : {std::pair(meta_boards, number + 1), std::pair(meta_importing, number)}) {
    if (auto put = put_record(**write, Table::meta, key, encode_number(value)); !put) return put;
  }
  return (*write)->commit();
}

tl::unexpected<Failure> BoardImport::refused_name() const {
  return fail(Fault::refused, fmt::format("there is a board {} already, with another history", declared_.id));
}

Result<void> BoardImport::begin_fork(KvRead& kv) {
  if (declared_.parent.empty()) return {};
  const auto parent = get_board(kv, declared_.parent);
  if (!parent) return tl::unexpected(parent.error());
  if (parent->number == BoardNumber::none) return wrong(fmt::format("its parent {} is not there", declared_.parent));
  EventLog log(kv);
  auto line = BoardLine::open(kv, log, declared_.parent, *parent);
  if (!line) return tl::unexpected(line.error());
  const bool is_possible = declared_.fork > 0 && declared_.fork > line->floor() &&
                           declared_.fork <= parent->head.version && line->depth() < limits::forks_depth_max;
  if (!is_possible) return wrong(fmt::format("version {} of {} can not be forked", declared_.fork, declared_.parent));
  const auto event = line->event(declared_.fork);
  if (!event) return tl::unexpected(event.error());
  record_.parent = declared_.parent;
  record_.fork = declared_.fork;
  record_.head = {declared_.fork,
                  (*event)->time,
                  (*event)->hash,
                  (*event)->digest,
                  0,
                  std::min(parent->head.erased, declared_.fork)};
  return {};
}

// What was erased in the boards above after this one was forked is not known here either, until its own erasure.
Result<void> BoardImport::find_erased_above(Transaction& transaction) {
  BoardLine& line = *transaction.line;
  for (std::size_t i = 1; i < line.levels().size(); ++i) {
    const BoardLine::Level& level = line.levels()[i];
    const auto scanned = scan_fields(*transaction.kv, level.number, std::nullopt, {},
                                     [&](std::string_view, const Path& path, const FieldRecord& field) -> Result<bool> {
                                       if (field.erased <= level.to) return true;
                                       const auto below = is_held_below(transaction, i, path);
                                       if (!below) return tl::unexpected(below.error());
                                       if (*below) return true;
                                       const auto shown = line.field(path);
                                       if (!shown) return tl::unexpected(shown.error());
                                       if (*shown && (*shown)->info.changed > 0) unknown_.insert(path);
                                       return true;
                                     });
    if (!scanned) return scanned;
  }
  return {};
}

// Whether a board between this one and the level has the field of its own, so that what lies at the level is not seen.
Result<bool> BoardImport::is_held_below(Transaction& transaction, std::size_t level, const Path& path) {
  for (std::size_t i = 1; i < level; ++i) {
    const BoardLine::Level& below = transaction.line->levels()[i];
    const auto field = get_field(*transaction.kv, below.number, path);
    if (!field) return tl::unexpected(field.error());
    if (!*field) continue;
    if ((*field)->erased > 0) return true;
    const auto revision = transaction.log.revision_as_of(below.number, path, (*field)->trail, below.to);
    if (!revision) return tl::unexpected(revision.error());
    if (*revision != nullptr) return true;
  }
  return false;
}

Result<void> BoardImport::add(std::string_view record) {
  const auto event = codec::decode_event(record);
  if (!event) return tl::unexpected(event.error());
  if (event->board != declared_.id) return wrong(fmt::format("this is an event of the board {}", event->board));
  if (event->version > declared_.head.version)
    return wrong(
        fmt::format("version {} is beyond the version {} of the board", event->version, declared_.head.version));
  if (auto defect = blackboard::chain_defect(record_.head, *event)) return wrong(std::move(*defect));
  if (auto formed = check_form(*event); !formed) return formed;
  const auto open = transaction();
  if (!open) return tl::unexpected(open.error());
  if (auto applied = apply(**open, *event); !applied) return applied;
  if (auto put = put_event(**open, *event); !put) return put;
  (*open)->bytes += record.size();
  return (*open)->bytes < limits::import_batch_bytes ? Result<void>() : commit();
}

Result<void> BoardImport::add(Erasure erasure) {
  if (erasure.board != declared_.id) return wrong(fmt::format("this is an erasure on the board {}", erasure.board));
  if (erasures_.size() == limits::import_erasures_max) return wrong("there are too many erasures");
  erasures_.push_back(std::move(erasure));
  return {};
}

// What the store relies on and the chain does not say: it is a promise of whoever sealed the event.
Result<void> BoardImport::check_form(const Event& event) const {
  const auto told = [&](std::string_view what) { return wrong(fmt::format("version {}: {}", event.version, what)); };
  if (event.changes.empty()) return told("it changes nothing");
  std::size_t field = 0;
  for (std::size_t i = 0; i < event.changes.size(); ++i) {
    const Change& change = event.changes[i].change;
    const bool follows = i > 0 && event.changes[i - 1].change.key.path == change.key.path;
    if (!follows) {
      if (i > 0 && !(event.changes[i - 1].change.key.path < change.key.path))
        return told("its changes are out of order");
      if (field == event.fields.size() || event.fields[field].path != change.key.path)
        return told("it does not tell of the fields that it changes");
      ++field;
    }
    const bool is_erased = codec::is_change_erased(event, i);
    if (is_erased) continue;
    const bool is_ordered =
        !follows || codec::is_change_erased(event, i - 1) || event.changes[i - 1].change.key < change.key;
    if (!is_ordered) return told("its changes are out of order");
    if (change.key.part == Part::field && (follows || change.image))
      return told("it takes a field and changes it as well");
    if (!change.image) continue;
    if (!fits_its_id(change.key, *change.image)) return told("a cell stands under the id of another one");
    if (is_of_the_future(*change.image, event.version)) return told("a cell says that it is newer than the event");
  }
  return field == event.fields.size() ? Result<void>() : told("it tells of fields that it does not change");
}

Result<void> BoardImport::apply(Transaction& transaction, const Event& event) {
  std::vector<std::size_t> known;  // changes
  bool is_summable = true;         // every cell that the event replaces is known
  for (std::size_t i = 0, field = 0; i < event.changes.size(); ++field) {
    const Path& path = event.changes[i].change.key.path;
    const bool takes = event.changes[i].change.key.part == Part::field;
    std::size_t end = i;
    bool is_erased = false;
    for (; end < event.changes.size() && event.changes[end].change.key.path == path; ++end)
      is_erased = is_erased || codec::is_change_erased(event, end);
    const bool was_known = !unknown_.contains(path);
    is_summable = is_summable && was_known && !is_erased;
    if (takes) unknown_.erase(path);
    if (!takes && (is_erased || !was_known)) {
      unknown_.insert(path);
      if (auto applied = apply_blind(transaction, event, event.fields[field]); !applied) return applied;
    } else {
      for (std::size_t at = i; at < end; ++at) known.push_back(at);
    }
    i = end;
  }
  if (known.empty()) return {};
  return apply_known(transaction, event, known, is_summable);
}

Result<void> BoardImport::apply_known(Transaction& transaction, const Event& event,
                                      const std::vector<std::size_t>& known, bool is_summable) {
  std::vector<Change> changes;
  for (const std::size_t at : known) changes.push_back(event.changes[at].change);
  const auto placed = write_changes(*transaction.kv, *transaction.line, changes, event.version);
  if (!placed) return tl::unexpected(placed.error());
  Sum128 digest = record_.head.digest;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const LoggedChange& logged = event.changes[known[i]];
    const blackboard::CellBefore& before = placed->cells[i];
    if (before.previous != logged.previous || before.jump != logged.jump)
      return wrong(
          fmt::format("version {} leads to wrong older versions of {}", event.version, changes[i].key.path.text()));
    digest -= before.digest;
    if (changes[i].image) digest += digest_of(changes[i].key, *changes[i].image);
  }
  for (const TouchedField& field : placed->fields) {
    const auto said = std::find_if(event.fields.begin(), event.fields.end(),
                                   [&](const TouchedField& touched) { return touched.path == field.path; });
    if (said->info != field.info || said->previous != field.previous || said->jump != field.jump)
      return wrong(fmt::format("version {} tells the field {} wrong", event.version, field.path.text()));
  }
  if (is_summable && !(digest == event.digest))
    return wrong(fmt::format("the digest of version {} does not fit the state after it", event.version));
  return {};
}

// A field whose cells are not known: what the event says of it stands, and its way back goes on.
Result<void> BoardImport::apply_blind(Transaction& transaction, const Event& event, const TouchedField& field) {
  auto record = get_field(*transaction.kv, record_.number, field.path);
  if (!record) return tl::unexpected(record.error());
  FieldRecord blind = record->value_or(FieldRecord());
  const auto pointers = blind.trail.push(event.version);
  if (pointers.previous != field.previous || pointers.jump != field.jump)
    return wrong(fmt::format("version {} tells the field {} wrong", event.version, field.path.text()));
  blind.info = field.info;
  return put_record(*transaction.kv, Table::fields, field_key(record_.number, field.path),
                    encode_field(field.path, blind));
}

Result<void> BoardImport::put_event(Transaction& transaction, const Event& event) {
  record_.head = blackboard::head_after(record_.head, event);
  return put_record(*transaction.kv, Table::events, event_key(record_.number, event.version),
                    codec::encode_event(event));
}

Result<std::size_t> BoardImport::finish() {
  const Head& head = record_.head;
  const Head& said = declared_.head;
  if (head.version != said.version)
    return wrong(fmt::format("the events of {} end at version {}, not {}", declared_.id, head.version, said.version));
  if (head.hash != said.hash || head.time != said.time || !(head.digest == said.digest))
    return wrong(fmt::format("the last event of {} is not that which its first line names", declared_.id));
  const std::size_t left_out = unknown_.size();
  const auto open = transaction();
  if (!open) return tl::unexpected(open.error());
  if (auto erased = erase_left_out(**open); !erased) return tl::unexpected(erased.error());
  if (auto shown = show(**open); !shown) return tl::unexpected(shown.error());
  if (auto committed = commit(); !committed) return tl::unexpected(committed.error());
  return left_out;
}

// So that state and digest agree with what is known here.
Result<void> BoardImport::erase_left_out(Transaction& transaction) {
  while (!unknown_.empty()) {
    std::vector<Change> changes;
    while (!unknown_.empty() && changes.size() < limits::delta_leaves_max) {
      changes.push_back({field_key(*unknown_.begin()), std::nullopt});
      unknown_.erase(unknown_.begin());
    }
    auto placed = write_changes(*transaction.kv, *transaction.line, changes, record_.head.version + 1);
    if (!placed) return tl::unexpected(placed.error());
    for (blackboard::CellBefore& cell : placed->cells) cell.digest = {};
    Head before = record_.head;
    const auto digest = digest_of_all(*transaction.line);
    if (!digest) return tl::unexpected(digest.error());
    before.digest = *digest;
    Delta delta;
    delta.board = declared_.id;
    delta.source = {"import", "left out of the export", {}, {}};
    conflict::Judgement judgement;
    judgement.changes = std::move(changes);
    judgement.base = before.version;
    const conflict::Stamp stamp{blackboard::system_actor, {}, now_, random_.bytes(codec::salt_bytes)};
    const Event event = blackboard::seal(declared_.id, before, delta, judgement, stamp, *placed);
    if (auto put = put_event(transaction, event); !put) return put;
    for (const Change& change : judgement.changes) {
      erasures_.push_back(
          {0, declared_.id, change.key.path, event.version, blackboard::system_actor, event.time, false});
    }
  }
  return {};
}

Result<void> BoardImport::show(Transaction& transaction) {
  KvWrite& kv = *transaction.kv;
  if (auto put = put_record(kv, Table::boards, declared_.id, encode_board(record_)); !put) return put;
  if (!record_.parent.empty()) {
    const auto parent = get_board(kv, record_.parent);
    if (!parent) return tl::unexpected(parent.error());
    const auto put = put_record(kv, Table::forks, fork_key(parent->number, record_.number),
                                encode_fork({record_.fork, declared_.id}));
    if (!put) return put;
  }
  for (const Erasure& erasure : erasures_) {
    if (auto noted = note_erasure(kv, erasure); !noted) return noted;
  }
  if (auto erased = kv.erase(Table::meta, meta_importing); !erased) return erased;
  const auto report = verify_board(kv, declared_.id);
  if (!report) return tl::unexpected(report.error());
  if (!report->defects.empty()) return wrong(fmt::format("the board {}: {}", declared_.id, report->defects.front()));
  return {};
}

Result<void> BoardImport::abandon() {
  transaction_.reset();
  return undo_import(kv_);
}

}  // namespace tafel::store
