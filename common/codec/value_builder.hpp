// Builds a Value from the events of a parser (MessagePack or JSON) and knows at any time where it stands. Bounded in
// depth; refuses a key that stands twice. One object builds one value; a false answer is final and error() says why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/model/value.hpp"

namespace tafel::codec {

class ValueBuilder {
 public:
  explicit ValueBuilder(std::size_t depth_max) : depth_max_(depth_max) {}

  bool put(Value value);  // a whole value: the next item, member or the root
  bool begin_list(std::size_t reserve = 0);
  bool begin_map(std::size_t reserve = 0);
  bool key(std::string key);  // of the member that comes next
  bool end();                 // of the innermost list or map

  bool refuse(std::string message);  // always false
  bool has_error() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

  std::vector<std::string> location() const;  // keys and indices of the value that comes next
  Value take_partial();                       // what was read so far; the builder is empty afterwards
  Value take() { return std::move(root_); }

 private:
  struct Frame {
    bool is_map = false;
    List items;
    Map members;
    std::optional<std::string> key;  // of the member being read
  };

  bool begin(bool is_map, std::size_t reserve);

  std::size_t depth_max_;
  std::vector<Frame> open_;
  Value root_;
  std::string error_;
};

}  // namespace tafel::codec
