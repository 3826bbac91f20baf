#include "cli/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"

namespace tafel::cli {
namespace {

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> all{
      &apply_command(),   &get_command(),    &watch_command(),    &log_command(),         &history_command(),
      &blame_command(),   &diff_command(),   &revert_command(),   &suggestions_command(), &accept_command(),
      &dismiss_command(), &boards_command(), &verify_command(),   &context_command(),     &stat_command(),
      &schema_command(),  &fork_command(),   &merge_command(),    &tag_command(),         &tags_command(),
      &retain_command(),  &erase_command(),  &erasures_command(), &backup_command(),      &compact_command(),
      &export_command(),  &import_command(), &delete_command()};
  return all;
}

const Command* find_command(std::string_view name) {
  for (const Command* command : commands()) {
    if (command->name == name) return command;
  }
  return nullptr;
}

// The exit code of a run that failed, and the message where there is something to say.
Exit exit_of(const Failure& failure, const Command* command) {
  switch (failure.fault) {
    case Fault::closed: return Exit::done;  // whoever read our output has seen enough
    case Fault::bad_config:
      tell(failure.message);
      tell(command == nullptr ? "see tafel --help" : "usage: " + usage_line(*command));
      return Exit::usage;
    case Fault::unreachable: tell(failure.message); return Exit::unreachable;
    case Fault::bad_bytes:
    case Fault::not_found:
    case Fault::io:
    case Fault::full:
    case Fault::busy:
    case Fault::locked:
    case Fault::refused:
    case Fault::deleted: tell(failure.message); return Exit::refused;
  }
  return Exit::refused;
}

Result<Exit> print(Output& output, const std::string& text) {
  if (auto printed = output.line(text); !printed) return tl::unexpected(printed.error());
  return Exit::done;
}

Result<Exit> run_without_command(const std::vector<std::string>& arguments, Output& output) {
  const auto parsed = Arguments::parse(nullptr, arguments);
  if (!parsed) return tl::unexpected(parsed.error());
  if (parsed->has("help")) return print(output, program_help(commands()));
  if (parsed->has("version")) return print(output, "tafel " TAFEL_VERSION);
  return fail(Fault::bad_config, "no command given");
}

Result<Exit> run_command(const Command& command, const std::vector<std::string>& arguments, Output& output) {
  const auto parsed = Arguments::parse(&command, arguments);
  if (!parsed) return tl::unexpected(parsed.error());
  if (parsed->has("help")) return print(output, command_help(command));
  if (parsed->has("version")) return print(output, "tafel " TAFEL_VERSION);
  return command.run(*parsed, output);
}

}  // namespace

const std::vector<OptionSpec>& global_options() {
  static const std::vector<OptionSpec> options{
      {"server", "E", "request endpoint (default: TAFEL_SERVER or tcp://127.0.0.1:7117)"},
      {"as", "NAME", "the actor (default: TAFEL_ACTOR or your login name)"},
      {"timeout", "S", "seconds to wait for the server (default: 5 to connect, 10 for an answer, 30 for a receipt)"},
      {"help", "", "this text"},
      {"version", "", "the version of the program"}};
  return options;
}

int run(std::vector<std::string> arguments) {
  std::replace(arguments.begin(), arguments.end(), std::string("-h"), std::string("--help"));
  if (!arguments.empty() && arguments.front() == "help") arguments.front() = "--help";
  std::signal(SIGPIPE, SIG_IGN);  // a closed output is then an error of the write, and ends the program quietly
  Output output(STDOUT_FILENO);
  const auto position = command_position(arguments);
  if (!position) {
    const auto done = run_without_command(arguments, output);
    return static_cast<int>(done ? *done : exit_of(done.error(), nullptr));
  }
  const Command* command = find_command(arguments[*position]);
  if (command == nullptr) {
    const Failure failure{Fault::bad_config, "there is no command '" + arguments[*position] + "'"};
    return static_cast<int>(exit_of(failure, nullptr));
  }
  std::vector<std::string> rest = arguments;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*position));
  const auto done = run_command(*command, rest, output);
  return static_cast<int>(done ? *done : exit_of(done.error(), command));
}

}  // namespace tafel::cli
