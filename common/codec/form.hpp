// A message under construction in which the values that users gave are marked. It is turned into a Value, or written
// through a ValueSink, so that the log record (values as they are) and the hashed form (values as salted hashes) come
// from one description and can not drift apart.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/model/cell.hpp"
#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"
#include "common/model/value.hpp"

namespace tafel::codec {

class Form;
using FormItems = std::vector<Form>;
using FormMembers = std::vector<std::pair<std::string, Form>>;  // sorted by key, keys unique

class Form {
 public:
  Form(Value plain) : data_(std::move(plain)) {}  // names, numbers: nobody's secret
  Form(FormItems items) : data_(std::move(items)) {}
  Form(FormMembers members) : data_(std::move(members)) {}

  static Form user(const Value& value) { return Form(Borrowed{&value}); }  // `value` outlives the form
  static Form user_copy(Value value) { return Form(Owned{std::move(value)}); }
  static Form users(const std::vector<Value>& values);  // a list of them

  Value to_value() const;
  void write(PackWriter& out, ValueSink& values) const;

 private:
  struct Borrowed {
    const Value* value;
  };
  struct Owned {
    Value value;
  };
  explicit Form(Borrowed value) : data_(value) {}
  explicit Form(Owned value) : data_(std::move(value)) {}

  std::variant<Value, Borrowed, Owned, FormItems, FormMembers> data_;
};

Form form_of(const Op& op);            // op_codec.cpp
Form form_of(const OpResult& result);  // receipt_codec.cpp
Form form_of(const ErrorInfo& error);  // receipt_codec.cpp

}  // namespace tafel::codec
