#include "broker/roles.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "common/codec/json.hpp"

namespace tafel::broker {
namespace {

constexpr std::uint32_t bit(Right right) { return 1U << static_cast<unsigned>(right); }

constexpr std::uint32_t every_right = (1U << right_count) - 1U;
constexpr std::uint32_t write_rights = bit(Right::set) | bit(Right::patch) | bit(Right::incr) | bit(Right::max) |
                                       bit(Right::min) | bit(Right::append) | bit(Right::unset) | bit(Right::accept) |
                                       bit(Right::dismiss) | bit(Right::revert);
constexpr std::uint32_t admin_rights = bit(Right::schema) | bit(Right::fork) | bit(Right::merge) | bit(Right::erase) |
                                       bit(Right::tag) | bit(Right::retain) | bit(Right::delete_board);

// Where in the file something stands, for messages: roles.json: roles.planner[0].ops.
class Place {
 public:
  explicit Place(std::string text) : text_(std::move(text)), is_root_(true) {}

  Place member(std::string_view name) const {
    return Place(text_ + (is_root_ ? ": " : ".") + std::string(name), false);
  }
  Place item(std::size_t index) const { return Place(text_ + "[" + std::to_string(index) + "]", false); }
  tl::unexpected<Failure> wrong(const std::string& what) const {
    return fail(Fault::bad_config, text_ + (is_root_ ? ": " : " ") + what);
  }

 private:
  Place(std::string text, bool is_root) : text_(std::move(text)), is_root_(is_root) {}

  std::string text_;
  bool is_root_;
};

Result<const Map*> map_at(const Value& value, const Place& place, std::string_view example) {
  const Map* members = value.get_if<Map>();
  if (members == nullptr)
    return place.wrong("must be an object like " + std::string(example) + ", not " + brief(value));
  return members;
}

Result<const List*> list_at(const Value& value, const Place& place, std::string_view example) {
  const List* items = value.get_if<List>();
  if (items == nullptr) return place.wrong("must be a list like " + std::string(example) + ", not " + brief(value));
  return items;
}

Result<std::string> text_at(const Value& value, const Place& place) {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return place.wrong("must be text, not " + brief(value));
  return *text;
}

Result<std::uint32_t> rights_named(const std::string& name, const Place& place) {
  if (name == "*") return every_right;
  if (name == "write") return write_rights;
  if (name == "admin") return admin_rights;
  if (const auto right = right_from(name)) return bit(*right);
  return place.wrong(
      "\"" + name +
      "\" is no op: right are read, write, *, set, patch, incr, max, min, append, unset, accept, dismiss, "
      "revert, admin, schema, fork, merge, erase, tag, read_personal, read_secret");
}

Result<std::uint32_t> read_ops(const Value& value, const Place& place) {
  const auto items = list_at(value, place, R"(["read", "write"])");
  if (!items) return tl::unexpected(items.error());
  std::uint32_t rights = 0;
  for (std::size_t i = 0; i < (*items)->size(); ++i) {
    const auto name = text_at((**items)[i], place.item(i));
    const auto named = name ? rights_named(*name, place.item(i)) : Result<std::uint32_t>(tl::unexpected(name.error()));
    if (!named) return named;
    rights |= *named;
  }
  return rights;
}

Result<Pattern> read_pattern(const Value& value, const Place& place, Result<Pattern> (*parse)(std::string_view)) {
  const auto text = text_at(value, place);
  if (!text) return tl::unexpected(text.error());
  auto pattern = parse(*text);
  if (!pattern) return place.wrong(pattern.error().message);
  return pattern;
}

Result<Confidence> read_cap(const Value& value, const Place& place) {
  const auto text = text_at(value, place);
  if (!text) return tl::unexpected(text.error());
  if (const auto cap = confidence_from(*text)) return *cap;
  return place.wrong("\"" + *text + "\" is no confidence: right are guess, inferred, stated, confirmed, verified");
}

// Puts what was read into `target`, or gives the failure back.
template <class T>
Result<void> into(T& target, Result<T> read) {
  if (!read) return tl::unexpected(read.error());
  target = std::move(*read);
  return {};
}

Result<void> read_grant_member(const MapEntry& entry, const Place& place, Grant& grant) {
  const auto& [name, value] = entry;
  const Place at = place.member(name);
  if (name == "boards") return into(grant.boards, read_pattern(value, at, &Pattern::for_boards));
  if (name == "paths") return into(grant.paths, read_pattern(value, at, &Pattern::for_paths));
  if (name == "ops") return into(grant.rights, read_ops(value, at));
  if (name == "cap") return into(grant.cap, read_cap(value, at));
  return at.wrong("is no member of a grant: it has boards, paths, ops and cap");
}

Result<Grant> read_grant(const Value& value, const Place& place) {
  const auto members =
      map_at(value, place, R"({"boards": "acme/**", "paths": "**", "ops": ["read"], "cap": "stated"})");
  if (!members) return tl::unexpected(members.error());
  if (value.find("ops") == nullptr) return place.wrong(R"(needs "ops", as in "ops": ["read", "write"])");
  Grant grant{*Pattern::for_boards("**"), *Pattern::for_paths("**"), 0, confidence_highest};
  for (const MapEntry& entry : **members) {
    if (auto read = read_grant_member(entry, place, grant); !read) return tl::unexpected(read.error());
  }
  return grant;
}

Result<void> read_role(RoleTable& table, const std::string& role, const Value& value, const Place& place) {
  const auto items = list_at(value, place, R"([{"ops": ["read"]}])");
  if (!items) return tl::unexpected(items.error());
  std::vector<Grant> grants;
  for (std::size_t i = 0; i < (*items)->size(); ++i) {
    auto grant = read_grant((**items)[i], place.item(i));
    if (!grant) return tl::unexpected(grant.error());
    grants.push_back(std::move(*grant));
  }
  table.add_role(role, std::move(grants));
  return {};
}

Result<void> read_actor(RoleTable& table, const std::string& actor, const Value& value, const Place& place) {
  if (auto defect = name_defect(actor)) return place.wrong("is no actor name: " + *defect);
  const auto items = list_at(value, place, R"(["planner"])");
  if (!items) return tl::unexpected(items.error());
  std::vector<std::string> roles;
  for (std::size_t i = 0; i < (*items)->size(); ++i) {
    const auto role = text_at((**items)[i], place.item(i));
    if (!role) return tl::unexpected(role.error());
    if (!table.has_role(*role))
      return place.item(i).wrong("names the role \"" + *role + "\", which \"roles\" does not have");
    roles.push_back(*role);
  }
  table.add_actor(actor, std::move(roles));
  return {};
}

using ReadEntry = Result<void> (*)(RoleTable&, const std::string&, const Value&, const Place&);

Result<void> read_each(RoleTable& table, const Value* section, const Place& place, std::string_view example,
                       ReadEntry read) {
  if (section == nullptr) return place.wrong("is missing: the file needs \"roles\" and \"actors\"");
  const auto members = map_at(*section, place, example);
  if (!members) return tl::unexpected(members.error());
  for (const auto& [name, value] : **members) {
    if (auto done = read(table, name, value, place.member(name)); !done) return done;
  }
  return {};
}

Result<RoleTable> read_document(const Value& document, const Place& place) {
  const auto members = map_at(document, place, R"({"roles": {…}, "actors": {…}})");
  if (!members) return tl::unexpected(members.error());
  for (const auto& [name, value] : **members) {
    if (name != "roles" && name != "actors")
      return place.member(name).wrong("is unknown: the file has \"roles\" and \"actors\"");
  }
  RoleTable table;
  auto roles = read_each(table, document.find("roles"), place.member("roles"), R"({"planner": [{"ops": ["read"]}]})",
                         &read_role);
  if (!roles) return tl::unexpected(roles.error());
  auto actors =
      read_each(table, document.find("actors"), place.member("actors"), R"({"analyst": ["planner"]})", &read_actor);
  if (!actors) return tl::unexpected(actors.error());
  return table;
}

}  // namespace

Result<RoleTable> read_roles(std::string_view json, const std::string& place) {
  const auto document = codec::parse_json(json);
  if (!document) return fail(Fault::bad_config, place + ": " + document.error().message);
  return read_document(*document, Place(place));
}

Result<RoleTable> load_roles(const std::filesystem::path& file) {
  if (std::error_code error; std::filesystem::is_directory(file, error)) {
    return fail(Fault::bad_config, "the roles file " + file.string() + " is a directory");
  }
  std::ifstream stream(file, std::ios::binary);
  const std::string json((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream.is_open() || stream.bad()) {
    return fail(Fault::bad_config,
                "the roles file " + file.string() + " can not be read: " + std::generic_category().message(errno));
  }
  return read_roles(json, file.string());
}

}  // namespace tafel::broker
