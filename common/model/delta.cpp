#include "common/model/delta.hpp"

#include "common/model/enum_names.hpp"

namespace tafel {
namespace {

constexpr std::array<std::string_view, 5> confidence_names{"guess", "inferred", "stated", "confirmed", "verified"};
constexpr std::array<std::string_view, 6> kind_names{"register", "set", "counter", "max", "min", "log"};
constexpr std::array<std::string_view, 20> verb_names{
    "set",  "patch",    "incr",   "max",    "min",  "append", "unset", "accept", "dismiss", "copy",
    "move", "add_item", "revert", "schema", "fork", "merge",  "erase", "tag",    "retain",  "delete"};

}  // namespace

std::string_view name_of(Confidence confidence) { return confidence_names[static_cast<std::size_t>(confidence)]; }
std::optional<Confidence> confidence_from(std::string_view name) { return look_up<Confidence>(confidence_names, name); }

std::string_view name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }
std::optional<Kind> kind_from(std::string_view name) { return look_up<Kind>(kind_names, name); }

bool is_of_board(Verb verb) {
  return verb == Verb::fork || verb == Verb::merge || verb == Verb::erase || verb == Verb::tag ||
         verb == Verb::retain || verb == Verb::delete_board;
}

std::string_view name_of(Verb verb) { return verb_names[static_cast<std::size_t>(verb)]; }
std::optional<Verb> verb_from(std::string_view name) { return look_up<Verb>(verb_names, name); }

}  // namespace tafel
