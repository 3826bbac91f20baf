// What a command of `tafel` is. Each file of commands fills in one `Command` (or a few); run.cpp lists them all.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace tafel::cli {

class Arguments;
class Output;

// Exit codes: part of the interface of the program.
enum class Exit : int {
  done = 0,
  refused = 1,      // refused by the server, or failed
  usage = 2,        // the command line is wrong
  unreachable = 3,  // no answer from the server in time
};

// An option of the command line. Without a `value_name` it is a flag.
struct OptionSpec {
  std::string_view name;
  std::string_view value_name;
  std::string_view help;
  bool required = false;
};

struct Positional {
  std::string_view name;
  bool required = true;
  bool many = false;  // of the last one: it may stand several times
};

struct Command {
  std::string_view name;
  std::string_view summary;             // one line, for the list of commands
  std::string_view help;                // what it reads and prints
  std::vector<Positional> positionals;  // the required ones first
  std::vector<OptionSpec> options;
  // The failures of a run become a message and an exit code: bad_config is a wrong command line, unreachable is no
  // server, closed means that nobody reads our output any more.
  Result<Exit> (*run)(const Arguments& arguments, Output& output);
};

const Command& apply_command();
const Command& get_command();
const Command& watch_command();
const Command& log_command();
const Command& history_command();
const Command& blame_command();
const Command& diff_command();
const Command& revert_command();
const Command& suggestions_command();
const Command& accept_command();
const Command& dismiss_command();
const Command& fork_command();
const Command& merge_command();
const Command& retain_command();
const Command& tag_command();
const Command& tags_command();
const Command& erase_command();
const Command& erasures_command();
const Command& delete_command();
const Command& boards_command();
const Command& verify_command();
const Command& context_command();
const Command& schema_command();
const Command& stat_command();
const Command& backup_command();
const Command& compact_command();
const Command& export_command();
const Command& import_command();

// The options that every command has.
const std::vector<OptionSpec>& global_options();

}  // namespace tafel::cli
