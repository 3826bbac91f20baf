#include "common/codec/form.hpp"

namespace tafel::codec {

Form Form::users(const std::vector<Value>& values) {
  FormItems items;
  items.reserve(values.size());
  for (const Value& value : values) items.push_back(user(value));
  return items;
}

Value Form::to_value() const {
  struct Visit {
    Value operator()(const Value& plain) const { return plain; }
    Value operator()(const Borrowed& user) const { return *user.value; }
    Value operator()(const Owned& user) const { return user.value; }
    Value operator()(const FormItems& items) const {
      List list;
      list.reserve(items.size());
      for (const Form& item : items) list.push_back(item.to_value());
      return list;
    }
    Value operator()(const FormMembers& members) const {
      Map map;
      map.reserve(members.size());
      for (const auto& [key, member] : members) map.emplace_back(key, member.to_value());
      return map;
    }
  };
  return std::visit(Visit{}, data_);
}

void Form::write(PackWriter& out, ValueSink& values) const {
  struct Visit {
    PackWriter& out;
    ValueSink& values;
    void operator()(const Value& plain) const { write_exact(out, plain); }
    void operator()(const Borrowed& user) const { values.write(out, *user.value); }
    void operator()(const Owned& user) const { values.write(out, user.value); }
    void operator()(const FormItems& items) const {
      out.array(items.size());
      for (const Form& item : items) item.write(out, values);
    }
    void operator()(const FormMembers& members) const {
      out.map(members.size());
      for (const auto& [key, member] : members) {
        out.text(key);
        member.write(out, values);
      }
    }
  };
  std::visit(Visit{out, values}, data_);
}

}  // namespace tafel::codec
