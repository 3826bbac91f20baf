// Questions about a board as it is: values, cells, events, contexts.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "broker/log_view.hpp"
#include "broker/query.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_view.hpp"
#include "common/codec/msgpack.hpp"
#include "context/context.hpp"

namespace tafel::broker {

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
  if (from <= head->floor) {
    ErrorInfo error = error_of(ErrorCode::base_too_old,
                               fmt::format("the log begins with version {}: ask from there on", head->floor + 1));
    error.found = Value(head->floor);
    return tl::unexpected(std::move(error));
  }
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

Answer Query::boards() {
  const std::size_t count = question_.count.value_or(limits::boards_page_max);
  if (question_.deleted) return deleted_boards(count);
  const auto read = snapshot_.boards(question_.after, count);
  if (!read) return failed(read.error());
  List boards;
  for (const store::BoardSummary& summary : *read) {
    if (!asker_.rights_on(summary.board).may_read_anything()) continue;
    boards.push_back(Map{{"board", summary.board},
                         {"version", summary.head.version},
                         {"time", summary.head.time},
                         {"floor", summary.head.floor}});
  }
  return codec::encode(
      Map{{"boards", std::move(boards)}, {"next", read->size() < count ? Value() : Value(read->back().board)}});
}

Answer Query::deleted_boards(std::size_t count) {
  const auto read = snapshot_.deleted_boards(question_.after, count);
  if (!read) return failed(read.error());
  List boards;
  for (const auto& [board, deletion] : *read) {
    if (!asker_.rights_on(board).may_read_anything()) continue;
    boards.push_back(Map{{"board", board},
                         {"version", deletion.version},
                         {"time", deletion.time},
                         {"actor", deletion.actor},
                         {"done", deletion.is_purged}});
  }
  return codec::encode(
      Map{{"boards", std::move(boards)}, {"next", read->size() < count ? Value() : Value(read->back().board)}});
}

Answer Query::suggestions() {
  const auto moment = this->moment();
  if (!moment) return tl::unexpected(moment.error());
  const auto board = load(*moment);
  if (!board) return tl::unexpected(board.error());
  return codec::encode(
      Map{{"version", moment->version},
          {"suggestions", blackboard::suggestions_map(*board, question_.path, reader(*moment), true)}});
}

}  // namespace tafel::broker
