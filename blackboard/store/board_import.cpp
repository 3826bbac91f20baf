#include "blackboard/store/board_import.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/expiry.hpp"
#include "blackboard/seal.hpp"
#include "blackboard/store/cell_writer.hpp"
#include "blackboard/store/expiry_index.hpp"
#include "blackboard/store/field_count.hpp"
#include "blackboard/store/floors.hpp"
#include "blackboard/store/import.hpp"
#include "blackboard/store/record.hpp"
#include "blackboard/store/verify.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"

namespace tafel::store {
namespace {

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

bool belongs(Part part, const Cell& cell) {
  switch (part) {
    case Part::element: return std::holds_alternative<ElementCell>(cell);
    case Part::entry: return std::holds_alternative<EntryCell>(cell);
    case Part::suggestion: return std::holds_alternative<SuggestionCell>(cell);
    case Part::leaf:
      return std::holds_alternative<RegisterCell>(cell) || std::holds_alternative<CounterCell>(cell) ||
             std::holds_alternative<ExtremumCell>(cell);
    case Part::field:
    case Part::board: return false;
  }
  return false;
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
  const auto read = kv_.read();
  if (!read) return tl::unexpected(read.error());
  const auto present = get_board(**read, declared_.id);
  if (!present) return tl::unexpected(present.error());
  if (present->deleted > 0)
    return fail(Fault::refused, fmt::format("the board {} was deleted; its name is not used again", declared_.id));
  if (present->number != BoardNumber::none) {
    EventLog log(**read);
    auto line = BoardLine::open(**read, log, declared_.id, *present);
    if (!line) return tl::unexpected(line.error());
    const Version version = declared_.head.version;
    const auto is_kept = line->keeps(version, present->head);
    if (!is_kept) return tl::unexpected(is_kept.error());
    if (!*is_kept) return refused_name(*present);
    const auto event = line->event(version);
    if (!event) return tl::unexpected(event.error());
    if ((*event)->hash != declared_.head.hash) return refused_name(*present);
    return true;
  }
  if (auto begun = begin_fork(**read); !begun) return tl::unexpected(begun.error());
  record_.head.floor = declared_.head.floor;
  if (is_trimmed(record_)) {
    if (declared_.head.floor > declared_.head.version) return wrong("its history begins behind its newest version");
    has_begun_ = false;
    record_.head.version = declared_.head.floor - 1;
    record_.head.erased = std::min(declared_.head.erased, declared_.head.version);
  }
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

tl::unexpected<Failure> BoardImport::refused_name(const BoardRecord& present) const {
  const bool may_be_longer = present.head.version < declared_.head.version;
  return fail(Fault::refused,
              fmt::format("there is a board {} already, {}; a board that is there is never written to", declared_.id,
                          may_be_longer ? fmt::format("at version {}, and this one goes on to version {}",
                                                      present.head.version, declared_.head.version)
                                        : "with another history"));
}

Result<void> BoardImport::begin_fork(KvRead& kv) {
  if (declared_.parent.empty()) return {};
  const auto parent = get_board(kv, declared_.parent);
  if (!parent) return tl::unexpected(parent.error());
  if (parent->deleted > 0) return wrong(fmt::format("its parent {} was deleted", declared_.parent));
  if (parent->number == BoardNumber::none) return wrong(fmt::format("its parent {} is not there", declared_.parent));
  EventLog log(kv);
  auto line = BoardLine::open(kv, log, declared_.parent, *parent);
  if (!line) return tl::unexpected(line.error());
  const bool is_possible =
      declared_.fork > 0 && declared_.fork <= parent->head.version && line->depth() < limits::forks_depth_max;
  if (!is_possible) return wrong(fmt::format("version {} of {} can not be forked", declared_.fork, declared_.parent));
  // No fork keeps it yet that would be known here: the event is there as long as nothing trimmed it.
  const auto record = get_record(kv, Table::events, event_key(line->level_of(declared_.fork).number, declared_.fork));
  if (!record) return tl::unexpected(record.error());
  if (!*record) {
    return wrong(
        fmt::format("version {} of {}, where this board was forked, is not kept here any more: import the two before "
                    "a server trims the first",
                    declared_.fork, declared_.parent));
  }
  const auto event = line->event(declared_.fork);
  if (!event) return tl::unexpected(event.error());
  record_.parent = declared_.parent;
  record_.fork = declared_.fork;
  record_.head = {declared_.fork,
                  (*event)->time,
                  (*event)->hash,
                  (*event)->digest,
                  0,
                  std::min({parent->head.erased, declared_.head.erased, declared_.fork})};
  return {};
}

// What was erased in the boards above after this one was forked is not known here either, until its own erasure.
Result<void> BoardImport::find_erased_above(Transaction& transaction) {
  const auto& levels = transaction.line->levels();
  for (auto level = levels.begin() + 1; level != levels.end(); ++level) {
    const auto scanned = scan_fields(*transaction.kv, level->number, std::nullopt, {},
                                     [&](std::string_view, const Path& path, const FieldRecord& field) -> Result<bool> {
                                       if (field.erased <= level->to || unknown_.contains(path)) return true;
                                       const auto is_hidden = is_erased_above(transaction, path);
                                       if (!is_hidden) return is_hidden;
                                       if (*is_hidden) unknown_.insert(path);
                                       return true;
                                     });
    if (!scanned) return scanned;
  }
  return {};
}

// Whether the field, as the boards above held it when this one was forked, was erased since in the one that held it or
// in one between.
Result<bool> BoardImport::is_erased_above(Transaction& transaction, const Path& path) {
  const auto& levels = transaction.line->levels();
  bool is_erased = false;
  for (auto level = levels.begin() + 1; level != levels.end(); ++level) {
    const auto field = get_field(*transaction.kv, level->number, path);
    if (!field) return tl::unexpected(field.error());
    if (!*field) continue;
    is_erased = is_erased || (*field)->erased > level->to;
    const auto info = transaction.log.field_as_of(level->log(), path, **field, level->to);
    if (!info) return tl::unexpected(info.error());
    if (*info) return is_erased && (*info)->changed > 0;
    if ((*field)->erased > 0 && (*field)->erased <= level->to) return false;  // nothing was to be seen past it
  }
  return false;
}

Result<void> BoardImport::took(std::size_t bytes) {
  transaction_->bytes += bytes;
  return transaction_->bytes < limits::import_batch_bytes ? Result<void>() : commit();
}

Result<void> BoardImport::add(const BaseImage& image) {
  if (has_begun_) return wrong("an image stands where events are expected");
  const auto open = transaction();
  if (!open) return tl::unexpected(open.error());
  const auto put = image.is_older                  ? put_older(**open, image)
                   : image.key.part == Part::field ? put_base_field(**open, image)
                                                   : put_base_cell(**open, image);
  return put ? took(image.payload.size()) : put;
}

// Whether all changes of a trail lie on this board and before its floor.
bool BoardImport::is_of_the_base(const blackboard::Trail& trail) const {
  return trail.steps().empty() ||
         (trail.newest() < declared_.head.floor && trail.steps().back().version > record_.fork);
}

Result<void> BoardImport::put_base_field(Transaction& transaction, const BaseImage& image) {
  const Path& path = image.key.path;
  auto record = decode_field(image.payload);
  const bool fits = record && !record->trail.steps().empty() && is_of_the_base(record->trail) &&
                    is_of_the_base(record->leaf.trail) && record->erased < declared_.head.floor;
  if (!fits) return wrong("this is no image of a field from before the floor");
  const auto leaf = record->leaf.cell();
  if (!leaf) return tl::unexpected(leaf.error());
  const auto present = get_field(*transaction.kv, record_.number, path);
  if (!present) return tl::unexpected(present.error());
  if (*present) return wrong(fmt::format("the field {} comes twice", path.text()));
  image.is_known ? static_cast<void>(unknown_.erase(path)) : static_cast<void>(unknown_.insert(path));
  if (!image.is_known) {
    record->leaf = StoredCell();
  } else if (*leaf) {
    if (!belongs(Part::leaf, **leaf)) return wrong("the leaf of a field is another sort of cell");
    auto noted = note_expiry(*transaction.kv, declared_.id, record_.number, leaf_key(path), **leaf);
    if (!noted) return noted;
  }
  return put_record(*transaction.kv, Table::fields, field_key(record_.number, path), encode_field(path, *record));
}

Result<void> BoardImport::put_base_cell(Transaction& transaction, const BaseImage& image) {
  const CellKey& key = image.key;
  if (key.part == Part::leaf) return wrong("the leaf of a field stands in the image of the field");
  const auto stored = decode_part(image.payload);
  if (!stored || !is_of_the_base(stored->trail)) return wrong("this is no image of a cell from before the floor");
  if (auto checked = check_cell(transaction, key, *stored); !checked) return checked;
  const auto cell = stored->cell();
  if (*cell) {
    if (auto noted = note_expiry(*transaction.kv, declared_.id, record_.number, key, **cell); !noted) return noted;
  }
  return put_record(*transaction.kv, Table::parts, part_key(record_.number, key), encode_part(*stored));
}

// An image that is no leaf in a field's own record: its field must be there, and known.
Result<void> BoardImport::check_cell(Transaction& transaction, const CellKey& key, const StoredCell& stored) {
  const auto field = get_field(*transaction.kv, record_.number, key.path);
  if (!field) return tl::unexpected(field.error());
  if (!*field || unknown_.contains(key.path))
    return wrong(fmt::format("an image of the field {}, which does not hold any", key.path.text()));
  const auto cell = stored.cell();
  if (!cell) return tl::unexpected(cell.error());
  if (*cell && (!belongs(key.part, **cell) || !fits_its_id(key, **cell)))
    return wrong("a cell stands under the id of another one");
  return {};
}

Result<void> BoardImport::put_older(Transaction& transaction, const BaseImage& image) {
  const CellKey& key = image.key;
  if (key.part == Part::field) {
    auto record = decode_field(image.payload);
    const bool fits = record && !record->trail.steps().empty() && is_of_the_base(record->trail);
    if (!fits) return wrong("this is no image of a field from before the floor");
    const auto field = get_field(*transaction.kv, record_.number, key.path);
    if (!field) return tl::unexpected(field.error());
    if (!*field) return wrong(fmt::format("an older image of the field {}, which is not there", key.path.text()));
    return keep_field(*transaction.kv, record_.number, key.path, std::move(*record));
  }
  const auto stored = decode_part(image.payload);
  const bool fits = stored && !stored->trail.steps().empty() && is_of_the_base(stored->trail);
  if (!fits) return wrong("this is no image of a cell from before the floor");
  if (auto checked = check_cell(transaction, key, *stored); !checked) return checked;
  return keep_cell(*transaction.kv, record_.number, key, *stored);
}

// One that a tag or a fork keeps: of it only its own hash, and its place, can be looked at.
Result<void> BoardImport::add_kept_event(Transaction& transaction, const Event& event) {
  const bool is_in_order = event.version > record_.fork && (!kept_event_ || event.version > kept_event_->version);
  if (!is_in_order) return wrong(fmt::format("version {} stands in a wrong place", event.version));
  if (codec::chain_hash(event) != event.hash)
    return wrong(fmt::format("the hash of version {} does not fit its content", event.version));
  const std::string bytes = codec::encode_event(event);
  record_.log_bytes += bytes.size();
  kept_event_ = event;
  return put_record(*transaction.kv, Table::events, event_key(record_.number, event.version), bytes);
}

// The first event of the history: all images are there.
Result<void> BoardImport::begin_history(Transaction& transaction, const Event& event) {
  if (event.version != declared_.head.floor)
    return wrong(fmt::format("the history begins with version {}, not {}", event.version, declared_.head.floor));
  if (auto checked = check_base(transaction); !checked) return checked;
  const bool is_next = kept_event_ && kept_event_->version + 1 == event.version;
  if (is_next && kept_event_->hash != event.previous_hash)
    return wrong(fmt::format("version {} does not continue the chain", event.version));
  const auto digest = digest_of_all(*transaction.line);
  if (!digest) return tl::unexpected(digest.error());
  record_.head.hash = event.previous_hash;
  record_.head.digest = *digest;
  record_.head.time = is_next ? kept_event_->time : std::min<TimeMs>(0, event.time);
  is_base_known_ = unknown_.empty();
  has_begun_ = true;
  return {};
}

// What the fields say of their cells is what they have: whoever changes one relies on it.
Result<void> BoardImport::check_base(Transaction& transaction) {
  return scan_fields(*transaction.kv, record_.number, std::nullopt, {},
                     [&](std::string_view, const Path& path, const FieldRecord& field) -> Result<bool> {
                       if (unknown_.contains(path)) return true;
                       FieldCount counted;
                       const auto count = [&](const CellKey& key, const StoredCell& stored) -> Result<bool> {
                         const auto cell = stored.cell();
                         if (!cell) return tl::unexpected(cell.error());
                         if (*cell) counted.add(key, **cell);
                         return true;
                       };
                       if (auto leaf = count(leaf_key(path), field.leaf); !leaf) return leaf;
                       const auto scanned =
                           scan_all_parts(*transaction.kv, record_.number, path, Part::element, {}, count);
                       if (!scanned) return tl::unexpected(scanned.error());
                       if (!counted.fits(field.info))
                         return wrong(fmt::format("the field {} does not have the cells that it says", path.text()));
                       return true;
                     });
}

Result<void> BoardImport::add(std::string_view record) {
  const auto event = codec::decode_event(record);
  if (!event) return tl::unexpected(event.error());
  if (event->board != declared_.id) return wrong(fmt::format("this is an event of the board {}", event->board));
  if (event->version > declared_.head.version)
    return wrong(
        fmt::format("version {} is beyond the version {} of the board", event->version, declared_.head.version));
  if (auto formed = check_form(*event); !formed) return formed;
  const auto open = transaction();
  if (!open) return tl::unexpected(open.error());
  if (!has_begun_ && event->version < declared_.head.floor) {
    const auto added = add_kept_event(**open, *event);
    return added ? took(record.size()) : added;
  }
  if (!has_begun_) {
    if (auto begun = begin_history(**open, *event); !begun) return begun;
  }
  if (auto defect = blackboard::chain_defect(record_.head, *event)) return wrong(std::move(*defect));
  if (auto applied = apply(**open, *event); !applied) return applied;
  if (auto put = put_event(**open, *event); !put) return put;
  return took(record.size());
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
  if (event.time > limits::time_max_ms) return told("its time lies beyond the year 9999");
  std::size_t field = 0;
  for (std::size_t i = 0; i < event.changes.size(); ++i) {
    const Change& change = event.changes[i].change;
    if (change.key.part == Part::board) return told("it deletes the board, and no such board is exported");
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
  std::vector<std::size_t> known;     // changes
  bool is_summable = is_base_known_;  // every cell that the event replaces is known
  is_base_known_ = true;              // from here on the chain vouches for the digest
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
  if (!blind.trail.steps().empty() && blind.trail.newest() < record_.head.floor) {
    if (auto kept = keep_field(*transaction.kv, record_.number, field.path, blind); !kept) return kept;
  }
  const auto pointers = blind.trail.push(event.version);
  if (pointers.previous != field.previous || pointers.jump != field.jump)
    return wrong(fmt::format("version {} tells the field {} wrong", event.version, field.path.text()));
  blind.info = field.info;
  return put_record(*transaction.kv, Table::fields, field_key(record_.number, field.path),
                    encode_field(field.path, blind));
}

Result<void> BoardImport::put_event(Transaction& transaction, const Event& event) {
  const std::string bytes = codec::encode_event(event);
  record_.head = blackboard::head_after(record_.head, event);
  record_.log_bytes += bytes.size();
  return put_record(*transaction.kv, Table::events, event_key(record_.number, event.version), bytes);
}

Result<std::size_t> BoardImport::finish() {
  const Head& head = record_.head;
  const Head& said = declared_.head;
  if (!has_begun_) return wrong(fmt::format("the events of {} are missing", declared_.id));
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
    const Event event = blackboard::seal(declared_.id, before, delta, judgement, stamp, *placed).event;
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
