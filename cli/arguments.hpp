// The arguments of one call, read by the rules of a command. Failures are Fault::bad_config: the command line is wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "common/base/result.hpp"

namespace tafel::cli {

// Where the name of the command stands among `arguments`: the first one that is no global option and no value of one.
// nullopt when there is none.
std::optional<std::size_t> command_position(const std::vector<std::string>& arguments);

class Arguments {
 public:
  // Unknown and doubled options, and too few or too many positional arguments, are refused. `command` null: only the
  // options that every command has.
  static Result<Arguments> parse(const Command* command, const std::vector<std::string>& arguments);

  bool has(std::string_view name) const { return options_.contains(name); }
  std::optional<std::string> text(std::string_view name) const;  // an option
  Result<std::optional<std::uint64_t>> number(std::string_view name) const;
  Result<std::optional<std::chrono::milliseconds>> seconds(std::string_view name) const;
  std::optional<std::string> positional(std::size_t index) const;

  Result<std::string> board(std::size_t index) const;                // a required one, well-formed
  Result<std::optional<std::string>> path(std::size_t index) const;  // an optional one, well-formed

 private:
  std::map<std::string, std::string, std::less<>> options_;
  std::vector<std::string> positionals_;
};

}  // namespace tafel::cli
