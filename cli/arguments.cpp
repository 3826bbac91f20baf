#include "cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <exception>

#include "common/base/command_line.hpp"
#include "common/model/names.hpp"

namespace tafel::cli {
namespace {

namespace options = boost::program_options;

constexpr std::string_view positional_name = "argument";  // what Boost calls the arguments without a name

const OptionSpec* find_option(const std::vector<OptionSpec>& specs, std::string_view name) {
  const auto at =
      std::find_if(specs.begin(), specs.end(), [name](const OptionSpec& spec) { return spec.name == name; });
  return at == specs.end() ? nullptr : &*at;
}

void describe(const std::vector<OptionSpec>& specs, options::options_description& description) {
  for (const OptionSpec& spec : specs) {
    const std::string name(spec.name);
    if (spec.value_name.empty()) {
      description.add_options()(name.c_str(), "");
    } else {
      description.add_options()(name.c_str(), options::value<std::string>(), "");
    }
  }
}

Result<options::parsed_options> parse_with_boost(const options::options_description& description,
                                                 const std::vector<std::string>& arguments) {
  options::positional_options_description positionals;
  positionals.add(std::string(positional_name).c_str(), -1);
  namespace style = options::command_line_style;
  try {
    return options::command_line_parser(arguments)
        .options(description)
        .positional(positionals)
        .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next | style::allow_short |
               style::allow_dash_for_short | style::short_allow_next)
        .run();
  } catch (const std::exception& error) {
    return fail(Fault::bad_config, error.what());
  }
}

Result<void> check_count(const Command& command, std::size_t given) {
  const auto& wanted = command.positionals;
  const bool is_open = !wanted.empty() && wanted.back().many;
  if (given > wanted.size() && !is_open) {
    return fail(Fault::bad_config, fmt::format("{} takes {} argument(s), not {}", command.name, wanted.size(), given));
  }
  if (given < wanted.size() && wanted[given].required) {
    return fail(Fault::bad_config, fmt::format("{} needs {}", command.name, wanted[given].name));
  }
  return {};
}

Result<void> check_required(const Command& command, const Arguments& arguments) {
  for (const OptionSpec& option : command.options) {
    if (!option.required || arguments.has(option.name)) continue;
    return fail(Fault::bad_config, fmt::format("{} needs --{} {}", command.name, option.name, option.value_name));
  }
  return {};
}

}  // namespace

std::optional<std::size_t> command_position(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with('-')) return i;
    const OptionSpec* spec = argument.starts_with("--") ? find_option(global_options(), argument.substr(2)) : nullptr;
    if (spec != nullptr && !spec->value_name.empty()) ++i;
  }
  return std::nullopt;
}

Result<Arguments> Arguments::parse(const Command* command, const std::vector<std::string>& arguments) {
  options::options_description description;
  describe(global_options(), description);
  if (command != nullptr) describe(command->options, description);
  description.add_options()(std::string(positional_name).c_str(), options::value<std::vector<std::string>>(), "");
  const auto parsed = parse_with_boost(description, arguments);
  if (!parsed) return tl::unexpected(parsed.error());

  Arguments result;
  for (const auto& option : parsed->options) {
    if (auto given = check_value_given(option.original_tokens); !given) return tl::unexpected(given.error());
    if (option.string_key == positional_name) {
      if (option.position_key < 0) return fail(Fault::bad_config, "unrecognised option '--argument'");
      result.positionals_.insert(result.positionals_.end(), option.value.begin(), option.value.end());
    } else if (!result.options_.emplace(option.string_key, option.value.empty() ? "" : option.value.front()).second) {
      return fail(Fault::bad_config, fmt::format("--{} stands twice", option.string_key));
    }
  }
  if (command == nullptr || result.has("help") || result.has("version")) return result;
  if (auto counted = check_count(*command, result.positionals_.size()); !counted)
    return tl::unexpected(counted.error());
  if (auto complete = check_required(*command, result); !complete) return tl::unexpected(complete.error());
  return result;
}

std::optional<std::string> Arguments::text(std::string_view name) const {
  const auto at = options_.find(name);
  return at == options_.end() ? std::nullopt : std::optional(at->second);
}

Result<std::optional<std::uint64_t>> Arguments::number(std::string_view name) const {
  const auto given = text(name);
  if (!given) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), number);
  if (error != std::errc() || end != given->data() + given->size()) {
    return fail(Fault::bad_config, fmt::format("--{} must be a whole number, not '{}'", name, *given));
  }
  return number;
}

Result<std::optional<std::chrono::milliseconds>> Arguments::seconds(std::string_view name) const {
  constexpr double seconds_max = 1e6;
  const auto given = text(name);
  if (!given) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), number);
  if (error != std::errc() || end != given->data() + given->size() || !(number > 0 && number <= seconds_max)) {
    return fail(Fault::bad_config,
                fmt::format("--{} must be a number of seconds above 0, as 2.5, not '{}'", name, *given));
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(number * 1000)));
}

std::optional<std::string> Arguments::positional(std::size_t index) const {
  return index < positionals_.size() ? std::optional(positionals_[index]) : std::nullopt;
}

Result<std::string> Arguments::board(std::size_t index) const {
  std::string id = positional(index).value_or("");
  if (const auto defect = board_id_defect(id)) return fail(Fault::bad_config, "BOARD: " + *defect);
  return id;
}

Result<std::optional<std::string>> Arguments::path(std::size_t index) const {
  const auto given = positional(index);
  if (!given) return std::nullopt;
  const auto path = Path::parse(*given);
  if (!path) return fail(Fault::bad_config, "PATH: " + path.error().message);
  return path->text();
}

}  // namespace tafel::cli
