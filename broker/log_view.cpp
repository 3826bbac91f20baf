#include "broker/log_view.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/event_pieces.hpp"

namespace tafel::broker {
namespace {

bool may_read_text(const Rights& rights, const std::string& text) {
  const auto path = Path::parse(text);
  return path && rights.may_read(*path);
}

// Whether every leaf may be read that `value` would make at `path` when it is spread. A map that was stored whole is
// looked at in the same way: rather too little is shown than too much.
bool may_read_tree(const Rights& rights, const Path& path, const Value& value) {
  const auto* map = value.get_if<Map>();
  if (map == nullptr || map->empty()) return rights.may_read(path);
  return std::all_of(map->begin(), map->end(), [&](const MapEntry& entry) {
    return !segment_defect(entry.first) && may_read_tree(rights, path.child(entry.first), entry.second);
  });
}

bool may_see(const Rights& rights, const Op& op) {
  const auto path = Path::parse(op.path);
  if (!path || !may_read_tree(rights, *path, op.value)) return false;
  return op.from.empty() || may_read_text(rights, op.from);
}

constexpr const char* hidden = "what is said here is for those who may read the whole board";

// An error, and an op that could not be read, may quote a value of any field at, above or below the op's path.
void redact(OpResult& result, Op& op, const Rights& rights) {
  std::erase_if(result.leaves, [&](const LeafResult& leaf) { return !may_read_text(rights, leaf.path); });
  const auto path = Path::parse(op.path);
  if (result.current && !may_read_tree(rights, *path, result.current->value)) result.current.reset();
  if (op.malformed) op.malformed->message = hidden;
  if (!result.error) return;
  if (result.error->path && !may_read_text(rights, *result.error->path)) result.error->path.reset();
  result.error->message = hidden;
  result.error->expected.reset();
  result.error->found.reset();
  result.error->guards.reset();
}

// The parts of an event that stay, with their pieces.
class Filter {
 public:
  Filter(Event& event, const Rights& rights) : event_(event), rights_(rights) {}

  void run() {
    if (has_pieces()) pieces_.push_back(event_.pieces[codec::payload_piece()]);
    filter_changes();  // the places of their pieces depend on the number of ops
    filter_ops();
    pieces_.insert(pieces_.end(), change_pieces_.begin(), change_pieces_.end());
    event_.pieces = std::move(pieces_);
  }

 private:
  bool has_pieces() const { return !event_.pieces.empty(); }

  void filter_ops() {
    std::vector<Op> ops;
    std::vector<OpResult> results;
    for (std::size_t i = 0; i < event_.ops.size() && i < event_.results.size(); ++i) {
      if (!may_see(rights_, event_.ops[i])) continue;
      if (has_pieces()) pieces_.push_back(event_.pieces[codec::op_piece(i)]);
      redact(event_.results[i], event_.ops[i], rights_);
      ops.push_back(std::move(event_.ops[i]));
      results.push_back(std::move(event_.results[i]));
    }
    event_.ops = std::move(ops);
    event_.results = std::move(results);
  }

  void filter_changes() {
    std::vector<LoggedChange> changes;
    for (std::size_t i = 0; i < event_.changes.size(); ++i) {
      if (!rights_.may_read(event_.changes[i].change.key.path)) continue;
      if (has_pieces()) change_pieces_.push_back(event_.pieces[codec::change_piece(event_, i)]);
      changes.push_back(std::move(event_.changes[i]));
    }
    event_.changes = std::move(changes);
  }

  Event& event_;
  const Rights& rights_;
  std::vector<Piece> pieces_;
  std::vector<Piece> change_pieces_;
};

}  // namespace

Event visible_part(Event event, const Rights& rights) {
  if (rights.may_read_everything()) return event;
  Filter(event, rights).run();
  if (event.ops.empty() && event.changes.empty()) {
    event.actor.clear();
    event.delta_id.clear();
    event.base = 0;
    event.source = {};
  }
  return event;
}

}  // namespace tafel::broker
