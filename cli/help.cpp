#include "cli/help.hpp"

#include <fmt/format.h>

namespace tafel::cli {
namespace {

constexpr std::string_view exit_codes_help =
    "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 server not reachable.\n";

std::string options_help(const std::vector<OptionSpec>& options) {
  std::string text;
  for (const OptionSpec& option : options) {
    const std::string name =
        fmt::format("--{}{}{}", option.name, option.value_name.empty() ? "" : " ", option.value_name);
    text += fmt::format("  {:<18} {}\n", name, option.help);
  }
  return text;
}

}  // namespace

std::string program_help(const std::vector<const Command*>& commands) {
  std::string text =
      "Works on the boards of a Tafel server, for people and scripts.\n\n"
      "usage: tafel COMMAND [ARGUMENTS] [OPTIONS]\n\n"
      "Commands (tafel COMMAND --help tells more):\n";
  for (const Command* command : commands) text += fmt::format("  {:<18} {}\n", command->name, command->summary);
  text += "\nOptions of every command:\n" + options_help(global_options()) + "\n";
  return text + std::string(exit_codes_help);
}

std::string usage_line(const Command& command) {
  std::string line = fmt::format("tafel {}", command.name);
  for (const Positional& positional : command.positionals) {
    const std::string name = fmt::format("{}{}", positional.name, positional.many ? "..." : "");
    line += positional.required ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  for (const OptionSpec& option : command.options) {
    const std::string text =
        fmt::format("--{}{}{}", option.name, option.value_name.empty() ? "" : " ", option.value_name);
    line += option.required ? fmt::format(" {}", text) : fmt::format(" [{}]", text);
  }
  return line;
}

std::string command_help(const Command& command) {
  std::string text = fmt::format("{}\n\nusage: {}\n\n{}\n", command.summary, usage_line(command), command.help);
  if (!command.options.empty()) text += "\nOptions:\n" + options_help(command.options);
  text += "\nOptions of every command:\n" + options_help(global_options()) + "\n";
  return text + std::string(exit_codes_help);
}

}  // namespace tafel::cli
