// Rights are data: grants of (board pattern, path pattern, ops, confidence cap) collected in roles that actors hold.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/delta.hpp"
#include "common/model/names.hpp"
#include "common/model/schema.hpp"

namespace tafel {

// What a grant may allow on a path: reading, reading what is personal or secret (besides the right to read), or one
// verb of an op. `write` in a file means every verb that writes fields, `admin` schema to tag.
enum class Right : std::uint8_t {
  read = 0,
  set,
  patch,
  incr,
  max,
  min,
  append,
  unset,
  accept,
  dismiss,
  revert,
  schema,
  fork,
  merge,
  erase,
  tag,
  retain,
  delete_board,
  read_personal,
  read_secret
};
inline constexpr unsigned right_count = 20;
std::string_view name_of(Right right);
std::optional<Right> right_from(std::string_view name);
Right right_of(Verb verb);  // copy, move → set; add_item → patch

struct Grant {
  Pattern boards;
  Pattern paths;
  std::uint32_t rights = 0;  // bit per Right
  Confidence cap = confidence_highest;

  bool allows(Right right) const { return (rights & (1U << static_cast<unsigned>(right))) != 0; }
};

// The rights of one actor on one board. Without any grant nothing is allowed.
class Rights {
 public:
  static Rights everything();

  explicit Rights(std::vector<Grant> grants);

  // The same on a board whose schema makes some fields personal or secret.
  Rights under(std::shared_ptr<const Schema> schema) const;
  // What may be read depends on the schema, as some fields could be personal or secret.
  bool needs_schema() const;

  bool may_read(const Path& path) const;
  bool may_read_path(const Path& path) const;  // whether it is personal or secret or not: not its value, that it is
  bool may_read_everything() const;
  bool may_read_anything() const;
  // The highest confidence at which the actor may do this; nullopt when it may not at all.
  std::optional<Confidence> cap(const Path& path, Right right) const;

 private:
  bool has_everywhere(Right right) const { return (everywhere_ & (1U << static_cast<unsigned>(right))) != 0; }

  std::shared_ptr<const std::vector<Grant>> grants_;
  std::uint32_t everywhere_ = 0;          // bit per Right that is granted on all paths
  std::shared_ptr<const Schema> schema_;  // null: nothing is personal or secret
};

// All roles of a server. The default lets everyone do everything.
class RoleTable {
 public:
  RoleTable() = default;

  void add_role(const std::string& role, std::vector<Grant> grants);
  void add_actor(const std::string& actor, std::vector<std::string> roles);  // actor "*": everybody else
  bool has_role(const std::string& role) const { return roles_.contains(role); }

  Rights rights_of(std::string_view actor, std::string_view board) const;
  // True when an actor without any name of its own may read all of the board (what the open feed may carry).
  bool is_open(std::string_view board) const;

 private:
  bool restricted_ = false;  // false until the first role: everyone may do everything
  std::map<std::string, std::vector<Grant>> roles_;
  std::map<std::string, std::vector<std::string>, std::less<>> actors_;
};

}  // namespace tafel
