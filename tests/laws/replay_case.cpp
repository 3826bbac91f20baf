#include "tests/laws/replay_case.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "blackboard/read.hpp"
#include "blackboard/store/memory_kv.hpp"
#include "blackboard/store/store.hpp"
#include "broker/pipeline.hpp"
#include "common/base/check.hpp"
#include "common/base/text.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/receipt_codec.hpp"
#include "conflict/judge.hpp"

namespace tafel {
namespace {

const std::string board_id = "case";
const std::string epoch = "E";

// A view whose history begins at a given version.
class TrimmedView final : public conflict::BoardView {
 public:
  TrimmedView(const conflict::BoardView& view, Version floor) : view_(view), floor_(floor) {}
  Version version() const override { return view_.version(); }
  Version floor() const override { return floor_; }
  std::optional<FieldInfo> field(const Path& path) const override { return view_.field(path); }
  void fields_below(const Path& path, const FieldVisitor& visit) const override { view_.fields_below(path, visit); }
  void all_fields(const FieldVisitor& visit) const override { view_.all_fields(visit); }
  CellPointer cell(const CellKey& key) const override { return view_.cell(key); }
  CellPointer cell_as_of(const CellKey& key, Version version) const override { return view_.cell_as_of(key, version); }
  std::optional<conflict::CellChange> change_at(const CellKey& key, Version version) const override {
    return view_.change_at(key, version);
  }
  void parts(const Path& path, Part part, const PartVisitor& visit) const override { view_.parts(path, part, visit); }

 private:
  const conflict::BoardView& view_;
  Version floor_;
};

std::optional<std::int64_t> integer(const Value& map, std::string_view key) {
  const Value* member = map.find(key);
  return member != nullptr ? member->as_int64() : std::nullopt;
}

std::string text(const Value& map, std::string_view key, std::string otherwise) {
  const Value* member = map.find(key);
  const auto* found = member != nullptr ? member->get_if<std::string>() : nullptr;
  return found != nullptr ? *found : otherwise;
}

bool flag(const Value& map, std::string_view key) {
  const Value* member = map.find(key);
  const auto* found = member != nullptr ? member->get_if<bool>() : nullptr;
  return found != nullptr && *found;
}

Schema schema_of(const Value& input) {
  Schema schema;
  const Value* rules = input.find("schema");
  if (rules == nullptr || rules->get_if<Map>() == nullptr) return schema;
  for (const auto& [path, given] : *rules->get_if<Map>()) {
    FieldRule rule;
    rule.kind = kind_from(text(given, "kind", ""));
    rule.whole = flag(given, "whole");
    rule.allow_blank = flag(given, "allow_blank");
    rule.on_conflict = on_conflict_from(text(given, "on_conflict", "")).value_or(OnConflict::keep_both);
    rule.floor = integer(given, "floor");
    rule.ceil = integer(given, "ceil");
    rule.initial = integer(given, "initial").value_or(0);
    if (const auto keep = integer(given, "keep")) rule.keep = static_cast<std::uint64_t>(*keep);
    schema.declare(*Path::parse(path), rule);
  }
  return schema;
}

Grant grant_of(const Value& given) {
  Grant grant{*Pattern::for_boards("**"), *Pattern::for_paths(text(given, "paths", "**")), 0, confidence_highest};
  grant.cap = confidence_from(text(given, "cap", "verified")).value_or(confidence_highest);
  for (const Value& op : *given.find("ops")->get_if<List>()) {
    const std::string& name = *op.get_if<std::string>();
    grant.rights |= name == "*" ? ~0U : 1U << static_cast<unsigned>(right_from(name).value());
  }
  return grant;
}

RoleTable roles_of(const Value& input) {
  RoleTable roles;
  const Value* rights = input.find("rights");
  if (rights == nullptr || rights->get_if<Map>() == nullptr) return roles;
  roles.add_actor("*", {});  // whoever is not named may do nothing
  for (const auto& [actor, given] : *rights->get_if<Map>()) {
    std::vector<Grant> grants;
    for (const Value& grant : *given.get_if<List>()) grants.push_back(grant_of(grant));
    roles.add_role(actor, std::move(grants));
    roles.add_actor(actor, {actor});
  }
  return roles;
}

// One delta of a case: either a submission, or the receipt of one that does not even decode.
struct Incoming {
  std::optional<broker::Submission> submission;
  Receipt refused;
  TimeMs now = 0;
};

Incoming incoming_of(const Value& given, std::size_t index) {
  Incoming incoming;
  const auto* map = given.get_if<Map>();
  incoming.now = integer(given, "now").value_or(1000 * (1 + static_cast<TimeMs>(index)));
  const std::string actor = text(given, "actor", "a");
  Value delta = given;
  if (map != nullptr) {
    Map own;
    std::copy_if(map->begin(), map->end(), std::back_inserter(own),
                 [](const MapEntry& entry) { return entry.first != "actor" && entry.first != "now"; });
    delta = Value(std::move(own));
  }
  auto decoded = codec::delta_from_value(delta);
  if (!decoded) {
    incoming.refused.error = std::move(decoded.error());
    return incoming;
  }
  if (decoded->board.empty()) decoded->board = board_id;
  incoming.submission = broker::Submission{actor, std::move(*decoded)};
  return incoming;
}

Version head_version(store::Store& store) {
  const auto head = (*store.snapshot())->head(board_id);
  TAFEL_CHECK(head, "memory can be read");
  return *head ? (*head)->version : 0;
}

// The refusal of a delta where older history is gone; nullopt when it is judged as if it were there.
std::optional<Receipt> refused_at_floor(store::Store& store, const Schema& schema, const RoleTable& roles,
                                        const Incoming& incoming, Version floor) {
  const auto& [actor, delta] = *incoming.submission;
  auto batch = store.begin();
  const TrimmedView view((*batch)->view(board_id), floor);
  const auto judged =
      conflict::judge(view, schema, roles.rights_of(actor, board_id), delta, {actor, epoch, incoming.now});
  if (judged) return std::nullopt;
  Receipt receipt;
  receipt.version = view.version();
  receipt.error = judged.error();
  return receipt;
}

class Replay {
 public:
  explicit Replay(const Value& input)
      : input_(input),
        schema_(schema_of(input)),
        roles_(roles_of(input)),
        random_(7),
        store_(*store::open_store_with_epoch(store::open_memory(store::make_memory_disk()), random_, epoch)),
        pipeline_(*store_, roles_, [this](const std::string&) -> const Schema& { return schema_; }) {}

  Value run() {
    std::vector<Incoming> incoming;
    const List& deltas = *input_.find("deltas")->get_if<List>();
    for (std::size_t i = 0; i < deltas.size(); ++i) incoming.push_back(incoming_of(deltas[i], i));
    const auto floor = integer(input_, "floor");
    const std::size_t committed = floor && !incoming.empty() ? incoming.size() - 1 : incoming.size();
    commit_in_batches(incoming, committed);
    if (committed < incoming.size()) {
      const auto refused = refused_at_floor(*store_, schema_, roles_, incoming.back(), static_cast<Version>(*floor));
      if (refused) {
        receipts_.push_back(codec::receipt_to_value(*refused));
      } else {
        commit(incoming, committed, incoming.size());
      }
    }
    return result(incoming.empty() ? 0 : incoming.back().now);
  }

 private:
  void commit_in_batches(const std::vector<Incoming>& incoming, std::size_t count) {
    const Value* sizes = input_.find("batches");
    const List* list = sizes != nullptr ? sizes->get_if<List>() : nullptr;
    std::size_t at = 0;
    for (std::size_t batch = 0; at < count; ++batch) {
      const std::int64_t size = list != nullptr && batch < list->size() ? *(*list)[batch].as_int64() : 1;
      const std::size_t end = std::min(count, at + static_cast<std::size_t>(std::max<std::int64_t>(size, 1)));
      while (at < end) {  // one batch has one time: a delta of another time begins the next
        std::size_t last = at + 1;
        while (last < end && incoming[last].now == incoming[at].now) ++last;
        commit(incoming, at, last);
        at = last;
      }
    }
  }

  void commit(const std::vector<Incoming>& incoming, std::size_t begin, std::size_t end) {
    std::vector<broker::Submission> batch;
    std::vector<std::size_t> refused;  // places in the batch
    for (std::size_t i = begin; i < end; ++i) {
      if (incoming[i].submission) batch.push_back(*incoming[i].submission);
    }
    auto committed = pipeline_.commit(batch, incoming[begin].now);
    TAFEL_CHECK(committed, "memory can be written");
    std::size_t next = 0;
    for (std::size_t i = begin; i < end; ++i) {
      Receipt receipt = incoming[i].submission ? committed->receipts[next++] : incoming[i].refused;
      if (!incoming[i].submission) receipt.version = head_version(*store_);
      receipts_.push_back(codec::receipt_to_value(receipt));
    }
  }

  Value result(TimeMs now) const {
    const auto board = (*store_->snapshot())->load(board_id, std::nullopt, std::nullopt, SIZE_MAX);
    TAFEL_CHECK(board, "memory can be read");
    const auto head = (*store_->snapshot())->head(board_id);
    const Sum128 digest = *head ? (*head)->digest : Sum128{};
    TAFEL_CHECK(digest == board->digest(), "the digest of the log is the digest of the cells");
    const blackboard::Reader reader{now, nullptr};
    return Value(Map{{"receipts", Value(receipts_)},
                     {"version", Value(head_version(*store_))},
                     {"state", blackboard::state(*board, reader)},
                     {"fields", blackboard::fields_map(*board, std::nullopt, reader)},
                     {"suggestions", blackboard::suggestions_map(*board, std::nullopt, reader, true)},
                     {"digest", Value(to_hex(to_bytes(digest)))}});
  }

  const Value& input_;
  Schema schema_;
  RoleTable roles_;
  SeededRandom random_;
  std::unique_ptr<store::Store> store_;
  broker::Pipeline pipeline_;
  List receipts_;
};

}  // namespace

Value replay_case(const Value& input) {
  const Value* deltas = input.find("deltas");
  if (deltas == nullptr || deltas->get_if<List>() == nullptr)
    return Value(Map{{"error", Value("a case has a list of deltas")}});
  return Replay(input).run();
}

}  // namespace tafel
