#include "conflict/last_word.hpp"

namespace tafel::conflict {
namespace {

template <class Map, class Key>
bool is_after(const Map& said, const Key& key, std::size_t op) {
  const auto last = said.find(key);
  return last != said.end() && last->second > op;
}

}  // namespace

LastWord::LastWord(const std::vector<PlannedOp>& ops) {
  if (ops.size() == 1) return;       // it has the last word on everything, and nothing was said before it
  for (const PlannedOp& op : ops) {  // in order, so that what is said later replaces what was said before
    if (op.error) continue;
    for (const Task& task : op.tasks) hear(op, task);
  }
}

void LastWord::hear(const PlannedOp& op, const Task& task) {
  const std::string& path = task.path.key();
  const auto name = [&](const Value& element) { elements_[{path, element_id(element)}] = op.index; };
  switch (task.type) {
    case Task::Type::set:
      written_[path] = op.index;
      if (task.is_list) listed_[path] = op.index;
      break;
    case Task::Type::patch:
      first_patched_.emplace(path, op.index);
      if (task.reset) reset_[path] = op.index;
      for (const Value& element : task.add) name(element);
      for (const Value& element : task.remove) name(element);
      break;
    case Task::Type::add_item:
      first_patched_.emplace(path, op.index);
      name(task.value);
      break;
    case Task::Type::unset:
    case Task::Type::revert: unset_[path] = op.index; break;
    case Task::Type::accept:
      if (op.speaks_of_register) written_[path] = op.index;
      break;
    case Task::Type::incr:
    case Task::Type::max:
    case Task::Type::min:
    case Task::Type::append:
    case Task::Type::unset_entry:
    case Task::Type::dismiss:
    case Task::Type::schema:
    case Task::Type::blank: break;
  }
}

bool LastWord::is_unset_after(const Path& path, std::size_t op) const {
  if (unset_.empty()) return false;
  const std::string_view key = path.key();
  for (std::size_t end = key.find('\0'); end != std::string_view::npos; end = key.find('\0', end + 1)) {
    if (is_after(unset_, key.substr(0, end), op)) return true;
  }
  return is_after(unset_, key, op);
}

bool LastWord::on_register(const Path& path, std::size_t after_op) const {
  return is_after(written_, path.key(), after_op) || is_unset_after(path, after_op);
}

bool LastWord::on_all_elements(const Path& path, bool holds_another_kind, std::size_t after_op) const {
  if (!holds_another_kind && is_after(listed_, path.key(), after_op)) return true;
  return is_after(reset_, path.key(), after_op) || is_unset_after(path, after_op);
}

bool LastWord::on_element(const Path& path, const Value& element, std::size_t after_op) const {
  return !elements_.empty() && is_after(elements_, std::pair(path.key(), element_id(element)), after_op);
}

bool LastWord::is_patched_before(const Path& path, std::size_t before_op) const {
  const auto first = first_patched_.find(path.key());
  return first != first_patched_.end() && first->second < before_op;
}

}  // namespace tafel::conflict
