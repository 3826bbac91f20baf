#include "broker/queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "broker/deletion.hpp"
#include "broker/query.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/msgpack.hpp"

namespace tafel::broker {
namespace {

std::string too_large_message() {
  return fmt::format(
      "the answer would take more than {} MiB: ask for a path further down, or read the board in pages with `cells`",
      limits::query_load_bytes / (1024 * 1024));
}

struct Named {
  std::string_view what;
  Answer (Query::*answer)();
};

// The ledger of erasures, page by page: those on boards that the asker may read something of.
Answer erasures(store::Store& store, const Question& question, const Asker& asker) {
  const std::size_t count = question.count.value_or(limits::boards_page_max);
  const auto ledger = store.erasures(question.from.value_or(0), count);
  if (!ledger) return failed(ledger.error());
  List shown;
  for (const store::Erasure& erasure : *ledger) {
    const bool is_asked = question.board.empty() || question.board == erasure.board;
    if (!is_asked || !asker.rights_on(erasure.board).may_read_anything()) continue;
    shown.push_back(Map{{"sequence", erasure.sequence},
                        {"board", erasure.board},
                        {"path", erasure.path.text()},
                        {"version", erasure.version},
                        {"actor", erasure.actor},
                        {"time", erasure.time},
                        {"done", erasure.is_done}});
  }
  const bool is_last = ledger->size() < count;
  return codec::encode(
      Map{{"erasures", std::move(shown)}, {"next", is_last ? Value() : Value(ledger->back().sequence + 1)}});
}

Answer dispatch(Query& query, const Question& question, const Asker& asker) {
  static constexpr std::array<Named, 11> of_a_board{{{"get", &Query::get},
                                                     {"full", &Query::full},
                                                     {"cells", &Query::cells},
                                                     {"log", &Query::log},
                                                     {"context", &Query::context},
                                                     {"history", &Query::history},
                                                     {"blame", &Query::blame},
                                                     {"diff", &Query::diff},
                                                     {"touched", &Query::touched},
                                                     {"suggestions", &Query::suggestions},
                                                     {"schema", &Query::schema}}};
  if (question.what == "boards") return query.boards();
  if (!query.may_read_anything()) {
    return refusal(ErrorCode::forbidden,
                   fmt::format("{} may read nothing on the board {}", asker.actor, question.board));
  }
  if (auto error = query.deletion_error()) return tl::unexpected(std::move(*error));
  const auto named =
      std::find_if(of_a_board.begin(), of_a_board.end(), [&](const Named& one) { return one.what == question.what; });
  if (named == of_a_board.end()) return refusal(ErrorCode::bad_request, question.what + " is not answered here");
  return (query.*named->answer)();
}

}  // namespace

tl::unexpected<ErrorInfo> refusal(ErrorCode code, std::string message) {
  return tl::unexpected(error_of(code, std::move(message)));
}

tl::unexpected<ErrorInfo> failed(const Failure& failure) { return tl::unexpected(error_of(failure)); }

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

std::optional<ErrorInfo> Query::deletion_error() {
  const auto deletion = snapshot_.deletion(question_.board);
  if (!deletion) return error_of(deletion.error());
  if (!*deletion) return std::nullopt;
  return deleted_error(question_.board, **deletion, rights_);
}

tl::expected<Head, ErrorInfo> Query::head() {
  auto head = snapshot_.head(question_.board);
  if (!head) return failed(head.error());
  return head->value_or(Head{});
}

tl::expected<Event, ErrorInfo> Query::event(Version version) {
  const auto records = snapshot_.event_records(question_.board, version, version, 1);
  if (!records) return failed(records.error());
  if (records->size() != 1) return failed({Fault::bad_bytes, fmt::format("the log lacks version {}", version)});
  auto event = codec::decode_event(records->front());
  if (!event) return failed(event.error());
  return std::move(*event);
}

// The newest version at or before `time`; times never fall within a board, so halving finds it.
tl::expected<Version, ErrorInfo> Query::version_at(const Head& head, TimeMs time) {
  if (time >= head.time) return head.version;
  Version low = head.floor;  // its time is at or below `time`, or it is the oldest
  Version high = head.version;
  while (high - low > 1) {
    const Version middle = low + (high - low) / 2;
    const auto event = this->event(middle);
    if (!event) return tl::unexpected(event.error());
    (event->time <= time ? low : high) = middle;
  }
  if (low > head.floor || low == 0) return low;
  const auto oldest = event(low);
  if (!oldest) return tl::unexpected(oldest.error());
  if (oldest->time <= time) return low;
  return refusal(ErrorCode::base_too_old,
                 fmt::format("history reaches back to version {}, which is newer than that time", head.floor));
}

tl::expected<Moment, ErrorInfo> Query::moment(std::optional<Version> at, std::optional<TimeMs> time) {
  const auto head = this->head();
  if (!head) return tl::unexpected(head.error());
  if (time) {
    const auto version = version_at(*head, *time);
    if (!version) return tl::unexpected(version.error());
    at = *version;
  }
  const Version version = at.value_or(head->version);
  if (auto error = version_defect(*head, version)) {
    const auto is_kept = snapshot_.keeps(question_.board, version);
    if (!is_kept) return failed(is_kept.error());
    if (!*is_kept) return tl::unexpected(std::move(*error));
  }
  if (version == head->version) {
    return Moment{*head, version, std::min(time.value_or(asker_.now), asker_.now), head->digest};
  }
  if (version == 0) return Moment{*head, 0, 0, {}};
  const auto event = this->event(version);
  if (!event) return tl::unexpected(event.error());
  return Moment{*head, version, time.value_or(event->time), event->digest};
}

tl::expected<blackboard::Board, ErrorInfo> Query::load(const Moment& moment) {
  if (moment.version == 0) return blackboard::Board{};
  const auto version = moment.version == moment.head.version ? std::nullopt : std::optional(moment.version);
  auto board = snapshot_.load(question_.board, question_.path, version, limits::query_load_bytes);
  if (board) return std::move(*board);
  if (board.error().fault == Fault::full) return refusal(ErrorCode::too_large, too_large_message());
  return failed(board.error());
}

Value Query::digest_or_null(const Sum128& digest) const {
  return rights_.may_read_everything() ? Value(to_hex(to_bytes(digest))) : Value();
}

bool Query::shows(const Path& path) const {
  const bool asked = question_.path && question_.path->is_reserved();
  return (asked || !path.is_reserved()) && rights_.may_read(path);
}

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

Answer answer_from_store(store::Store& store, const Question& question, const Asker& asker) {
  if (question.what == "erasures") return erasures(store, question, asker);
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
