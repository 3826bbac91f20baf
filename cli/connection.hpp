// The connection of one call to the server, made as the options that every command has say.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agents_sdk/cpp/agent.hpp"
#include "cli/arguments.hpp"
#include "common/base/result.hpp"
#include "common/model/value.hpp"

namespace tafel::cli {

class Connection {
 public:
  // Fault::unreachable when the server does not answer in time, Fault::bad_config when an option is wrong.
  static Result<Connection> open(const Arguments& arguments);

  sdk::Agent& agent() { return *agent_; }
  // How long to wait for one answer: as --timeout says, else `otherwise`.
  std::chrono::milliseconds patience(std::chrono::milliseconds otherwise) const { return timeout_.value_or(otherwise); }

  // Asks the query service. A refusal is Fault::refused with the server's words.
  Result<Value> ask(const Value& question, std::chrono::milliseconds otherwise = std::chrono::seconds(10));
  // Asks page after page and gives each item of the member `list` to `take`, until there is no next page or `take`
  // fails. `cursor` is the member of the question that takes what `next` of the answer said.
  Result<void> ask_pages(Value question, std::string_view list, std::string_view cursor,
                         const std::function<Result<void>(const Value&)>& take);

 private:
  std::unique_ptr<sdk::Agent> agent_;
  std::optional<std::chrono::milliseconds> timeout_;
};

// A member that an answer must have; Fault::bad_bytes when it has not.
Result<Value> member_of(const Value& answer, std::string_view name);

}  // namespace tafel::cli
