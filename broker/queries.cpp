#include "broker/queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "blackboard/completeness.hpp"
#include "blackboard/read.hpp"
#include "broker/log_view.hpp"
#include "broker/schemas.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/completeness_codec.hpp"
#include "common/codec/event_view.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/schema_codec.hpp"
#include "context/context.hpp"

namespace tafel::broker {
namespace {

struct Form {
  std::string_view what;
  std::vector<std::string_view> members;  // besides "what"; the first is needed where it is "board"
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all{
      {"get", {"board", "path", "at"}},
      {"full", {"board", "path", "at", "detail"}},
      {"cells", {"board", "path", "cursor"}},
      {"log", {"board", "from", "to"}},
      {"boards", {"after", "count"}},
      {"verify", {"board"}},
      {"context", {"board", "request"}},
      {"schema", {"board"}},
      {"stat", {}},
  };
  return all;
}

std::string names_of_forms() {
  std::vector<std::string_view> names;
  for (const Form& form : forms()) names.push_back(form.what);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Reads the members of a question one by one and keeps the first defect.
class QuestionReader {
 public:
  explicit QuestionReader(const Value& body) : body_(body) {}

  // Refuses members that the form does not have.
  void check_members(const Form& form) {
    for (const auto& [name, member] : *body_.get_if<Map>()) {
      if (name == "what" || std::find(form.members.begin(), form.members.end(), name) != form.members.end()) continue;
      refuse(form.members.empty() ? fmt::format("`{}` has no members but \"what\"; \"{}\" is unknown", form.what, name)
                                  : fmt::format("`{}` has no member \"{}\"; its members are: what, {}", form.what, name,
                                                fmt::join(form.members, ", ")));
    }
  }
  std::string board() {
    const std::string id = text("board");
    if (const auto defect = board_id_defect(id)) refuse(fmt::format("\"board\": {}", *defect));
    return id;
  }
  std::optional<Path> path() {
    if (!has("path")) return std::nullopt;
    const auto path = Path::parse(text("path"));
    if (path) return *path;
    refuse(fmt::format("\"path\": {}; leave it out for the whole board", path.error().message));
    return std::nullopt;
  }
  std::optional<std::uint64_t> number(std::string_view name) {
    if (!has(name)) return std::nullopt;
    const auto number = codec::as_uint64(member(name));
    if (!number) refuse(fmt::format("\"{}\" must be an integer of 0 or more", name));
    return number;
  }
  std::string text(std::string_view name) {
    if (!has(name)) return {};
    if (const auto* text = member(name).get_if<std::string>()) return *text;
    refuse(fmt::format("\"{}\" must be text", name));
    return {};
  }
  bool flag(std::string_view name) {
    if (!has(name)) return false;
    if (const auto* flag = member(name).get_if<bool>()) return *flag;
    refuse(fmt::format("\"{}\" must be true or false", name));
    return false;
  }
  Value any(std::string_view name) const { return has(name) ? member(name) : Value(); }
  void refuse(std::string message) {
    if (defect_.empty()) defect_ = std::move(message);
  }
  const std::string& defect() const { return defect_; }

 private:
  bool has(std::string_view name) const {
    const Value* found = body_.find(name);
    return found != nullptr && !found->is_nil();
  }
  const Value& member(std::string_view name) const { return *body_.find(name); }

  const Value& body_;
  std::string defect_;
};

bool has_member(const Form& form, std::string_view name) {
  return std::find(form.members.begin(), form.members.end(), name) != form.members.end();
}

std::string hex_of(const Sum128& digest) { return to_hex(to_bytes(digest)); }

// A board at the version that a question asks for.
struct Moment {
  Head head;
  Version version = 0;
  TimeMs now = 0;  // what has expired by then is absent: of an old version, the time when it was new
  Sum128 digest;   // of the whole board
};

tl::unexpected<ErrorInfo> refusal(ErrorCode code, std::string message) {
  return tl::unexpected(error_of(code, std::move(message)));
}

tl::unexpected<ErrorInfo> failed(const Failure& failure) { return tl::unexpected(error_of(failure)); }

// The error for a version that is not there to be read; nullopt when it is.
std::optional<ErrorInfo> version_defect(const Head& head, Version version) {
  if (version > head.version) {
    ErrorInfo error =
        error_of(ErrorCode::future_base,
                 fmt::format("the board is at version {}; version {} does not exist yet", head.version, version));
    error.found = Value(head.version);
    return error;
  }
  if (version < head.floor) {
    ErrorInfo error =
        error_of(ErrorCode::base_too_old,
                 fmt::format("history reaches back to version {}; version {} is gone", head.floor, version));
    error.found = Value(head.floor);
    return error;
  }
  return std::nullopt;
}

// One question under way.
class Query {
 public:
  Query(store::Snapshot& snapshot, const std::string& epoch, const Question& question, const Asker& asker,
        BoardSchema schema)
      : snapshot_(snapshot),
        epoch_(epoch),
        question_(question),
        asker_(asker),
        schema_(std::move(schema)),
        rights_(asker.rights_on(question.board).under(schema_.schema)) {}

  Answer get();
  Answer full();
  Answer cells();
  Answer log();
  Answer context();
  Answer schema();
  Answer boards();

  bool may_read_anything() const { return rights_.may_read_anything(); }

 private:
  tl::expected<Head, ErrorInfo> head();
  tl::expected<Moment, ErrorInfo> moment();
  tl::expected<blackboard::Board, ErrorInfo> load(const Moment& moment);
  Value digest_or_null(const Sum128& digest) const {
    return rights_.may_read_everything() ? Value(hex_of(digest)) : Value();
  }
  blackboard::Reader reader(const Moment& moment) const { return {moment.now, &rights_}; }
  tl::expected<Value, ErrorInfo> completeness(const Moment& moment);
  std::string too_large_message() const;

  store::Snapshot& snapshot_;
  const std::string& epoch_;
  const Question& question_;
  const Asker& asker_;
  const BoardSchema schema_;  // empty where the question does not depend on it
  const Rights rights_;
};

tl::expected<Head, ErrorInfo> Query::head() {
  auto head = snapshot_.head(question_.board);
  if (!head) return failed(head.error());
  return head->value_or(Head{});
}

tl::expected<Moment, ErrorInfo> Query::moment() {
  const auto head = this->head();
  if (!head) return tl::unexpected(head.error());
  const Version version = question_.at.value_or(head->version);
  if (auto error = version_defect(*head, version)) return tl::unexpected(std::move(*error));
  if (version == head->version) return Moment{*head, version, asker_.now, head->digest};
  if (version == 0) return Moment{*head, 0, 0, {}};
  const auto records = snapshot_.event_records(question_.board, version, version, 1);
  if (!records) return failed(records.error());
  if (records->size() != 1) return failed({Fault::bad_bytes, fmt::format("the log lacks version {}", version)});
  const auto event = codec::decode_event(records->front());
  if (!event) return failed(event.error());
  return Moment{*head, version, event->time, event->digest};
}

std::string Query::too_large_message() const {
  return fmt::format(
      "the answer would take more than {} MiB: ask for a path further down, or read the board in pages with `cells`",
      limits::query_load_bytes / (1024 * 1024));
}

tl::expected<blackboard::Board, ErrorInfo> Query::load(const Moment& moment) {
  if (moment.version == 0) return blackboard::Board{};
  const auto version = moment.version == moment.head.version ? std::nullopt : std::optional(moment.version);
  auto board = snapshot_.load(question_.board, question_.path, version, limits::query_load_bytes);
  if (board) return std::move(*board);
  if (board.error().fault == Fault::full) return refusal(ErrorCode::too_large, too_large_message());
  return failed(board.error());
}

Answer Query::get() {
  const auto moment = this->moment();
  if (!moment) return tl::unexpected(moment.error());
  const auto board = load(*moment);
  if (!board) return tl::unexpected(board.error());
  const std::optional<Value> value = question_.path ? blackboard::value_at(*board, *question_.path, reader(*moment))
                                                    : blackboard::state(*board, reader(*moment));
  return codec::encode(Map{{"version", moment->version},
                           {"head", moment->head.version},
                           {"value", value.value_or(Value())},
                           {"found", value.has_value()}});
}

Answer Query::full() {
  const auto moment = this->moment();
  if (!moment) return tl::unexpected(moment.error());
  const auto board = load(*moment);
  if (!board) return tl::unexpected(board.error());
  const blackboard::Reader reader = this->reader(*moment);
  return codec::encode(
      Map{{"version", moment->version},
          {"head", moment->head.version},
          {"state", blackboard::state(*board, reader)},
          {"fields", blackboard::fields_map(*board, question_.path, reader)},
          {"suggestions", blackboard::suggestions_map(*board, question_.path, reader, question_.detail)},
          {"digest", digest_or_null(moment->digest)}});
}

Answer Query::cells() {
  const auto head = this->head();
  if (!head) return tl::unexpected(head.error());
  store::Snapshot::CellPage page;
  if (head->version > 0) {
    auto read = snapshot_.cells(question_.board, question_.path, question_.cursor, limits::page_bytes);
    if (!read && read.error().fault == Fault::bad_bytes && !question_.cursor.empty()) {
      return refusal(ErrorCode::bad_request, "\"cursor\" must be the \"next\" of the answer before, as it came");
    }
    if (!read) return failed(read.error());
    page = std::move(*read);
  }
  std::erase_if(page.cells, [this](const Change& change) { return !rights_.may_read(change.key.path); });

  std::string body;
  PackWriter out(body);
  ExactSink values;
  out.map(5);
  out.text("cells");
  out.array(page.cells.size());
  for (const Change& change : page.cells) {
    out.array(2);
    write_cell_key(out, change.key);
    write_cell(out, *change.image, values);
  }
  out.text("digest");
  write_exact(out, digest_or_null(head->digest));
  out.text("epoch");
  out.text(epoch_);
  out.text("next");
  page.next.empty() ? out.nil() : out.text(page.next);
  out.text("version");
  out.unsigned_integer(head->version);
  return body;
}

Answer Query::log() {
  constexpr std::size_t bytes_per_record_byte = 4;  // the form for people is that much longer than the record
  const auto head = this->head();
  if (!head) return tl::unexpected(head.error());
  const Version from = std::max<Version>(question_.from.value_or(head->floor + 1), 1);
  // From the version after the newest on there is nothing yet, which is no error: so one reads on page by page.
  if (from > head->version + 1) return tl::unexpected(*version_defect(*head, from));
  if (auto error = version_defect(*head, from - 1)) return tl::unexpected(std::move(*error));
  const Version to = std::min(question_.to.value_or(head->version), head->version);
  List events;
  Version last = from - 1;
  if (from <= to) {
    const auto records = snapshot_.event_records(question_.board, from, to, limits::page_bytes / bytes_per_record_byte);
    if (!records) return failed(records.error());
    for (const std::string& record : *records) {
      auto event = codec::decode_event(record);
      if (!event) return failed(event.error());
      last = event->version;
      Value shown = codec::event_to_map(visible_part(std::move(*event), rights_));
      if (!rights_.may_read_everything()) shown.set("digest", Value());
      events.push_back(std::move(shown));
    }
  }
  return codec::encode(
      Map{{"version", head->version}, {"events", std::move(events)}, {"next", last < to ? Value(last + 1) : Value()}});
}

Answer Query::context() {
  auto request = context::request_from_value(question_.request);
  const auto told = [](const context::ContextError& error) {
    ErrorInfo info =
        error_of(error.code == "over_budget" ? ErrorCode::too_large : ErrorCode::bad_request, error.message);
    if (error.needed_tokens > 0) info.expected = Value(error.needed_tokens);
    return tl::unexpected(std::move(info));
  };
  if (!request) return told(request.error());
  context::pin_declared(*request, *schema_.schema);
  const auto moment = this->moment();
  if (!moment) return tl::unexpected(moment.error());
  const auto board = load(*moment);
  if (!board) return tl::unexpected(board.error());
  const auto context = context::assemble(question_.board, *board, asker_.now, rights_, *request);
  if (!context) return told(context.error());
  return codec::encode(context::context_to_value(*context));
}

Answer Query::schema() {
  const auto moment = this->moment();
  if (!moment) return tl::unexpected(moment.error());
  List documents;
  for (const StoredSchema& stored : schema_.documents) {
    documents.push_back(
        Map{{"board", stored.board}, {"path", stored.path}, {"version", stored.version}, {"value", stored.document}});
  }
  const auto completeness = this->completeness(*moment);
  if (!completeness) return tl::unexpected(completeness.error());
  return codec::encode(Map{{"version", moment->version},
                           {"schema", schema_.documents.empty() ? Value() : codec::schema_to_value(*schema_.schema)},
                           {"documents", std::move(documents)},
                           {"completeness", *completeness}});
}

// Nil where nothing is required. That a personal or secret field is missing is told to all who may read its path:
// somebody must ask for it.
tl::expected<Value, ErrorInfo> Query::completeness(const Moment& moment) {
  const auto required = blackboard::required_fields(*schema_.schema);
  if (required.empty()) return Value();
  std::vector<bool> held;
  for (const blackboard::RequiredField& field : required) {
    if (moment.version == 0) {
      held.push_back(false);
      continue;
    }
    const auto board = snapshot_.load(question_.board, field.path, std::nullopt, limits::query_load_bytes);
    if (!board && board.error().fault != Fault::full) return failed(board.error());
    held.push_back(!board || blackboard::completeness(*board, {field}, {moment.now, nullptr}).missing.empty());
  }
  Completeness found = blackboard::completeness(required, held);
  std::erase_if(found.missing,
                [&](const Completeness::Missing& missing) { return !rights_.may_read_path(missing.path); });
  return codec::completeness_to_value(found);
}

Answer Query::boards() {
  const std::size_t count = question_.count.value_or(limits::boards_page_max);
  const auto read = snapshot_.boards(question_.after, count);
  if (!read) return failed(read.error());
  List boards;
  for (const store::BoardSummary& summary : *read) {
    if (!asker_.rights_on(summary.board).may_read_anything()) continue;
    boards.push_back(Map{{"board", summary.board}, {"version", summary.head.version}, {"time", summary.head.time}});
  }
  return codec::encode(
      Map{{"boards", std::move(boards)}, {"next", read->size() < count ? Value() : Value(read->back().board)}});
}

Answer dispatch(Query& query, const Question& question, const Asker& asker) {
  if (question.what == "boards") return query.boards();
  if (!query.may_read_anything()) {
    return refusal(ErrorCode::forbidden,
                   fmt::format("{} may read nothing on the board {}", asker.actor, question.board));
  }
  if (question.what == "get") return query.get();
  if (question.what == "full") return query.full();
  if (question.what == "cells") return query.cells();
  if (question.what == "log") return query.log();
  if (question.what == "schema") return query.schema();
  return query.context();
}

}  // namespace

ErrorInfo error_of(ErrorCode code, std::string message) {
  ErrorInfo error;
  error.code = code;
  error.message = std::move(message);
  error.retryable = code == ErrorCode::busy || code == ErrorCode::unavailable;
  return error;
}

ErrorInfo error_of(const Failure& failure) {
  ErrorInfo error = error_of(ErrorCode::unavailable, fmt::format("the store could not be read: {}", failure.message));
  error.retryable = failure.fault != Fault::bad_bytes;  // damage does not go away
  return error;
}

tl::expected<Question, ErrorInfo> question_from_value(const Value& body) {
  const Value* what = body.find("what");
  const auto* name = what == nullptr ? nullptr : what->get_if<std::string>();
  if (name == nullptr) {
    return refusal(ErrorCode::bad_request,
                   fmt::format("a question is a map with \"what\", one of: {}", names_of_forms()));
  }
  const auto form = std::find_if(forms().begin(), forms().end(), [&](const Form& one) { return one.what == *name; });
  if (form == forms().end()) {
    return refusal(ErrorCode::bad_request,
                   fmt::format("\"what\": {} is unknown; it is one of: {}", brief(*what), names_of_forms()));
  }
  QuestionReader reader(body);
  reader.check_members(*form);
  Question question;
  question.what = *name;
  if (has_member(*form, "board")) question.board = reader.board();
  question.path = reader.path();
  question.at = reader.number("at");
  question.from = reader.number("from");
  question.to = reader.number("to");
  question.count = reader.number("count");
  question.after = reader.text("after");
  question.cursor = reader.text("cursor");
  question.detail = reader.flag("detail");
  question.request = reader.any("request");
  if (question.count && (*question.count == 0 || *question.count > limits::boards_page_max)) {
    reader.refuse(fmt::format("\"count\" must be from 1 to {}", limits::boards_page_max));
  }
  if (!reader.defect().empty()) return refusal(ErrorCode::bad_request, reader.defect());
  return question;
}

Answer answer_from_store(store::Store& store, const Question& question, const Asker& asker) {
  auto snapshot = store.snapshot();
  if (!snapshot) return failed(snapshot.error());
  BoardSchema schema;
  const bool has_board = question.what != "boards";
  const bool is_about_schema = question.what == "schema" || question.what == "context";
  if (has_board && (is_about_schema || asker.rights_on(question.board).needs_schema())) {
    auto read = read_schema(**snapshot, question.board);
    if (!read) return failed(read.error());
    schema = std::move(*read);
  }
  Query query(**snapshot, store.epoch(), question, asker, std::move(schema));
  Answer answer = dispatch(query, question, asker);
  if (answer && answer->size() > limits::answer_bytes_max - limits::page_bytes) {  // the envelope has room to spare
    return refusal(ErrorCode::too_large,
                   fmt::format("the answer takes {} bytes: ask for a path further down, or read the board in pages "
                               "with `cells`",
                               answer->size()));
  }
  return answer;
}

std::string verify_answer(const store::VerifyReport& report) {
  List defects;
  for (const std::string& defect : report.defects) defects.emplace_back(defect);
  return codec::encode(Map{{"board", report.board},
                           {"version", report.version},
                           {"events", report.events},
                           {"cells", report.cells},
                           {"defects", std::move(defects)}});
}

}  // namespace tafel::broker
