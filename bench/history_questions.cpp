#include "bench/history_questions.hpp"

#include <algorithm>
#include <bit>

#include "common/codec/msgpack.hpp"
#include "common/codec/protocol.hpp"

namespace tafel::bench {
namespace {

constexpr TimeMs now = 1'800'000'000'000;
constexpr std::size_t history_page = 50;  // revisions of an answer where the question does not say

bool is_a_page(About about) { return about == About::history || about == About::history_before; }

// How many revisions the answer has, the newest of them the `newest`-th write of the field.
struct Page {
  std::size_t newest = 0;
  std::size_t count = 0;
};
Page page_of(const HistoryBoard& board, const Asked& asked) {
  const Version until = asked.about == About::history_before ? asked.version - 1 : asked.version;
  const std::size_t newest = board.writes_until(asked.field, until);
  return {newest, std::min(newest, history_page)};
}

bool is_right_page(const HistoryBoard& board, const Asked& asked, const Value& body) {
  const Value* member = body.find("revisions");
  const List* revisions = member == nullptr ? nullptr : member->get_if<List>();
  const Page page = page_of(board, asked);
  if (revisions == nullptr || revisions->size() != page.count) return false;
  for (std::size_t i = 0; i < page.count; ++i) {
    const Version wanted = board.writes(asked.field)[page.newest - 1 - i];
    const Value* version = (*revisions)[i].find("version");
    const Value* value = (*revisions)[i].find("value");
    if (version == nullptr || *version != Value(wanted)) return false;
    if (value == nullptr || *value != Value(HistoryBoard::value_of(wanted))) return false;
  }
  return true;
}

}  // namespace

const char* name_of(About about) {
  switch (about) {
    case About::get_at: return "get --at V";
    case About::blame: return "blame";
    case About::blame_at: return "blame --at V";
    case About::history: return "history";
    case About::history_before: return "history --before V";
  }
  return "";
}

Asked random_question(About about, const HistoryBoard& board, std::mt19937_64& dice) {
  Asked asked;
  asked.about = about;
  asked.field = dice() % board.fields();
  const bool is_about_now = about == About::blame || about == About::history;
  const Version first = board.writes(asked.field).front();
  asked.version = is_about_now ? board.versions() : first + dice() % (board.versions() - first + 1);
  asked.question.board = board.id();
  asked.question.path = *Path::parse(HistoryBoard::path_of(asked.field));
  switch (about) {
    case About::get_at: asked.question.what = "get"; break;
    case About::blame:
    case About::blame_at: asked.question.what = "blame"; break;
    case About::history:
    case About::history_before: asked.question.what = "history"; break;
  }
  if (about == About::get_at || about == About::blame_at) asked.question.at = asked.version;
  if (about == About::history_before) asked.question.before = asked.version;
  return asked;
}

broker::Answer answer_of(store::Store& store, const Asked& asked) {
  static const RoleTable everything;
  return broker::answer_from_store(store, asked.question, {"reader", everything, now});
}

bool is_right(const HistoryBoard& board, const Asked& asked, const broker::Answer& answer) {
  if (!answer) return false;
  const auto body = codec::decode(*answer, codec::answer_limits);
  if (!body) return false;
  if (is_a_page(asked.about)) return is_right_page(board, asked, *body);
  const Version written = board.writes(asked.field)[board.writes_until(asked.field, asked.version) - 1];
  const Value* value = body->find("value");
  if (asked.about != About::get_at) {
    const Value* fields = body->find("fields");
    const Value* field = fields == nullptr ? nullptr : fields->find(HistoryBoard::path_of(asked.field));
    const Value* version = field == nullptr ? nullptr : field->find("version");
    if (version == nullptr || *version != Value(written)) return false;
    value = field->find("value");
  }
  return value != nullptr && *value == Value(HistoryBoard::value_of(written));
}

LookUps look_ups_allowed(const HistoryBoard& board, const Asked& asked) {
  constexpr LookUps fixed = 8;  // the board, its event of that version, the field and its neighbour, its parts
  if (asked.about == About::blame) return fixed;
  const LookUps way_back = 2 * static_cast<LookUps>(std::bit_width(board.writes(asked.field).size()));
  if (!is_a_page(asked.about)) return fixed + way_back;
  // The board twice, the field three times, the event; the one after the last revision is looked for too.
  constexpr LookUps a_revision = 6;
  return fixed + way_back + a_revision * (page_of(board, asked).count + 1);
}

}  // namespace tafel::bench
