#include "broker/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "broker/queries.hpp"
#include "common/base/limits.hpp"
#include "common/codec/fields.hpp"

namespace tafel::broker {
namespace {

struct Form {
  std::string_view what;
  std::vector<std::string_view> members;  // besides "what"; the first is needed where it is "board"
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all{
      {"get", {"board", "path", "at", "at_time"}},
      {"full", {"board", "path", "at", "at_time", "detail"}},
      {"cells", {"board", "path", "cursor"}},
      {"log", {"board", "from", "to"}},
      {"history", {"board", "path", "before", "count"}},
      {"blame", {"board", "path", "at", "at_time"}},
      {"diff", {"board", "path", "from", "to", "from_time", "to_time", "cursor"}},
      {"touched", {"board", "path", "actor", "from"}},
      {"suggestions", {"board", "path"}},
      {"boards", {"after", "count", "deleted"}},
      {"erasures", {"from", "board", "count"}},
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
  std::optional<TimeMs> time(std::string_view name) {
    if (!has(name)) return std::nullopt;
    const auto time = member(name).as_int64();
    if (!time) refuse(fmt::format("\"{}\" must be a time, in milliseconds since 1970", name));
    return time;
  }
  // What a question cannot be asked without.
  void need(bool is_there, std::string_view what) {
    if (!is_there) refuse(fmt::format("the question needs {}", what));
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

// What must be there, and what excludes each other.
void check_together(const Question& question, QuestionReader& reader) {
  const auto one_of = [&](bool version, bool time, std::string_view names) {
    if (version && time) reader.refuse(fmt::format("{}: give one of them", names));
  };
  one_of(question.at.has_value(), question.at_time.has_value(), "\"at\" and \"at_time\"");
  one_of(question.from.has_value(), question.from_time.has_value(), "\"from\" and \"from_time\"");
  one_of(question.to.has_value(), question.to_time.has_value(), "\"to\" and \"to_time\"");
  if (question.what == "history") reader.need(question.path.has_value(), "\"path\"");
  if (question.what == "touched") reader.need(!question.actor.empty(), "\"actor\"");
  if (question.what == "diff") reader.need(question.from || question.from_time, "\"from\", a version");
}

tl::unexpected<ErrorInfo> bad_question(std::string message) {
  return tl::unexpected(error_of(ErrorCode::bad_request, std::move(message)));
}

}  // namespace

tl::expected<Question, ErrorInfo> question_from_value(const Value& body) {
  const Value* what = body.find("what");
  const auto* name = what == nullptr ? nullptr : what->get_if<std::string>();
  if (name == nullptr) {
    return bad_question(fmt::format("a question is a map with \"what\", one of: {}", names_of_forms()));
  }
  const auto form = std::find_if(forms().begin(), forms().end(), [&](const Form& one) { return one.what == *name; });
  if (form == forms().end()) {
    return bad_question(fmt::format("\"what\": {} is unknown; it is one of: {}", brief(*what), names_of_forms()));
  }
  QuestionReader reader(body);
  reader.check_members(*form);
  Question question;
  question.what = *name;
  const bool is_about_a_board = !form->members.empty() && form->members.front() == "board";
  if (is_about_a_board || body.find("board") != nullptr) question.board = reader.board();
  question.path = reader.path();
  question.at = reader.number("at");
  question.before = reader.number("before");
  question.from = reader.number("from");
  question.to = reader.number("to");
  question.at_time = reader.time("at_time");
  question.from_time = reader.time("from_time");
  question.to_time = reader.time("to_time");
  question.actor = reader.text("actor");
  question.count = reader.number("count");
  question.after = reader.text("after");
  question.cursor = reader.text("cursor");
  question.detail = reader.flag("detail");
  question.deleted = reader.flag("deleted");
  question.request = reader.any("request");
  const std::size_t count_max = question.what == "history" ? limits::history_page_max : limits::boards_page_max;
  if (question.count && (*question.count == 0 || *question.count > count_max)) {
    reader.refuse(fmt::format("\"count\" must be from 1 to {}", count_max));
  }
  check_together(question, reader);
  if (!reader.defect().empty()) return bad_question(reader.defect());
  return question;
}

}  // namespace tafel::broker
