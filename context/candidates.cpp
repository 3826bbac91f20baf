#include "context/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/limits.hpp"

namespace tafel::context {
namespace {

tl::expected<Path, ContextError> parse_path(std::string_view member, const std::string& text) {
  auto path = Path::parse(text);
  if (path) return std::move(*path);
  return tl::unexpected(ContextError{"bad_path", fmt::format("{}: \"{}\": {}", member, text, path.error().message), 0});
}

struct Paths {
  std::vector<Path> pinned;
  Path dialogue;
};

tl::expected<Paths, ContextError> parse_paths(const Request& request) {
  auto dialogue = parse_path("dialogue", request.dialogue);
  if (!dialogue) return tl::unexpected(dialogue.error());
  Paths paths{{}, std::move(*dialogue)};
  for (const std::string& text : request.pinned) {
    auto path = parse_path("pinned", text);
    if (!path) return tl::unexpected(path.error());
    paths.pinned.push_back(std::move(*path));
  }
  return paths;
}

// Lists what is left out, each item by itself up to a bound (a board may hold millions), and the number of the rest.
class OmissionList {
 public:
  // `tokens` gives the size of the item; asked only where it is listed.
  template <class Tokens>
  void add(std::string what, std::string reason, Tokens tokens) {
    if (listed_.size() < limits::context_omissions_max) {
      listed_.push_back({std::move(what), std::move(reason), tokens()});
    } else {
      ++more_;
    }
  }
  std::vector<Omission> result() {
    if (more_ > 0) listed_.push_back({fmt::format("{} more", more_), "too many to list", 0});
    return std::move(listed_);
  }

 private:
  std::vector<Omission> listed_;
  std::size_t more_ = 0;
};

class Finder {
 public:
  Finder(Paths paths, ShownFields shown, const Request& request)
      : paths_(std::move(paths)), shown_(std::move(shown)), request_(request) {}

  Candidates find() {
    for (const Path& path : paths_.pinned) pin(path);
    find_facts();
    if (request_.turns > 0) find_turns();
    found_.omitted = omitted_.result();
    return std::move(found_);
  }

 private:
  // Everything at and below the path; the dialogue only when it is named itself, since it is shown as turns.
  void pin(const Path& path) {
    bool is_empty = true;
    for (auto at = shown_.lower_bound(path); at != shown_.end() && at->first.is_at_or_below(path); ++at) {
      is_empty = false;
      if (at->first == paths_.dialogue && path != paths_.dialogue) continue;
      add_pinned(at->first, section_line(at->first, at->second));
    }
    if (is_empty) add_pinned(path, absent_line(path));
  }

  void add_pinned(const Path& path, std::string line) {
    if (!taken_.insert(path).second) return;
    const std::size_t tokens = request_.count(line);
    found_.pinned.push_back({path.text(), std::move(line), {}, tokens, true, true});
  }

  void find_facts() {
    std::vector<std::pair<Confidence, Item>> facts;
    for (const auto& [path, shown] : shown_) {
      if (taken_.contains(path) || path == paths_.dialogue) continue;
      if (const std::string reason = why_no_fact(shown); !reason.empty()) {
        omit(path, shown, reason);
        continue;
      }
      std::string line = section_line(path, shown);
      const std::size_t tokens = request_.count(line);
      facts.emplace_back(shown.field->confidence, Item{path.text(), std::move(line), {}, tokens});
    }
    std::stable_sort(facts.begin(), facts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& fact : facts) found_.facts.push_back(std::move(fact.second));
  }

  std::string why_no_fact(const ShownField& shown) const {
    if (!shown.field) return "only suggestions";
    if (shown.field->confidence < request_.facts_from) return fmt::format("below {}", name_of(request_.facts_from));
    return is_blank(shown.field->value) ? "blank" : "";
  }

  void find_turns() {
    const auto at = shown_.find(paths_.dialogue);
    if (at == shown_.end() || !at->second.field) return;
    const blackboard::FieldView& field = *at->second.field;
    if (field.kind != Kind::log) {
      return omit(at->first, at->second, fmt::format("no dialogue: a {}, not a log", name_of(field.kind)));
    }
    Dialogue dialogue = read_dialogue(field);
    const std::size_t shown = std::min(dialogue.turns.size(), request_.turns);
    const std::size_t older = dialogue.turns.size() - shown;
    for (std::size_t i = older; i < dialogue.turns.size(); ++i) add_turn(std::move(dialogue.turns[i]));
    if (!found_.turns.empty()) found_.turns.back().is_mandatory = found_.turns.back().is_chosen = true;
    for (std::size_t i = older; i > 0; --i) omit_turn(dialogue.turns[i - 1]);
    for (const UnfitEntry& entry : dialogue.unfit) {
      omitted_.add(entry.name, entry.reason, [&] { return request_.count(entry.text); });
    }
  }

  void add_turn(Turn turn) {
    const std::size_t tokens = count_tokens(turn.messages, request_.count);
    found_.turns.push_back({turn_name(turn), {}, std::move(turn.messages), tokens});
  }

  void omit_turn(const Turn& turn) {
    omitted_.add(turn_name(turn), fmt::format("older than the last {} turns", request_.turns),
                 [&] { return count_tokens(turn.messages, request_.count); });
  }

  void omit(const Path& path, const ShownField& shown, std::string reason) {
    omitted_.add(path.text(), std::move(reason), [&] { return request_.count(section_line(path, shown)); });
  }

  static std::string turn_name(const Turn& turn) { return fmt::format("turn {}", turn.number); }

  Paths paths_;
  ShownFields shown_;
  const Request& request_;
  OmissionList omitted_;
  std::set<Path> taken_;
  Candidates found_;
};

}  // namespace

tl::expected<Candidates, ContextError> find_candidates(const std::string& board_id, const blackboard::Board& board,
                                                       TimeMs now, const Rights& rights, const Request& request) {
  auto paths = parse_paths(request);
  if (!paths) return tl::unexpected(paths.error());
  Candidates found = Finder(std::move(*paths), read_fields(board, {now, &rights}), request).find();
  found.section_begin = section_begin(board_id, board.version());
  return found;
}

}  // namespace tafel::context
