#include "demo/options.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <sstream>

#include "common/base/command_line.hpp"

namespace tafel::demo {
namespace {

namespace po = boost::program_options;

constexpr std::size_t boards_at_once_max = 64;
constexpr std::size_t limit_max = 1'000'000;
constexpr std::size_t pace_ms_max = 60'000;

constexpr std::string_view usage = R"(Usage: tafel_demo [OPTION]...

Starts a blackboard server and a team of agents, each a process of its own, that work through recorded dialogues
together, one board a dialogue. Shows what happens, checks that nothing was lost, and compares with three usual ways
to merge. Without options it plays a small set of dialogues in a few seconds.

)";

constexpr std::string_view usage_end = R"(
Exit code: 0 all checks passed, 1 a check or a process failed, 2 wrong use, 130 interrupted.
)";

po::options_description public_options() {
  po::options_description all("Options");
  auto add = all.add_options();
  add("dialogues", po::value<std::string>()->value_name("FILE"), "dialogues in the format of CrossWOZ, one a line");
  add("limit", po::value<std::string>()->value_name("N"), "only the first N dialogues");
  add("agents", po::value<std::string>()->value_name("N"), "agents of the team, 6 to 32 (8)");
  add("boards-at-once", po::value<std::string>()->value_name("N"), "dialogues in flight (2; 8 with --dialogues)");
  add("pace", po::value<std::string>()->value_name("MS"),
      "how long an agent thinks about a turn (250; 10 with --dialogues)");
  add("data", po::value<std::string>()->value_name("DIR"),
      "keep server data and journals in DIR, which must be empty or new");
  add("keep", po::bool_switch(), "leave the server up at the end, and say what to try");
  add("json", po::value<std::string>()->value_name("FILE"), "write the summary as JSON");
  add("quiet", po::bool_switch(), "only the summary");
  add("help,h", po::bool_switch(), "print this and stop");
  return all;
}

// Of the processes that the demo starts: `tafel_demo agent …`.
po::options_description agent_options() {
  po::options_description all;
  auto add = all.add_options();
  for (const char* name : {"server", "member", "agents", "dialogues", "limit", "boards-at-once", "pace", "journal"}) {
    add(name, po::value<std::string>()->required());
  }
  return all;
}

// Reads numbers and keeps the first complaint.
class NumberReader {
 public:
  explicit NumberReader(const po::variables_map& values) : values_(values) {}

  template <class Number>
  void read(const char* name, std::size_t low, std::size_t high, Number& number) {
    if (values_.count(name) == 0) return;
    const auto& text = values_[name].as<std::string>();
    std::size_t parsed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc() || end != text.data() + text.size() || parsed < low || parsed > high) {
      if (complaint.empty())
        complaint = fmt::format("--{} must be a number from {} to {}, not \"{}\"", name, low, high, text);
      return;
    }
    number = static_cast<Number>(parsed);
  }

  std::string complaint;

 private:
  const po::variables_map& values_;
};

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) == 0 ? std::string() : values[name].as<std::string>();
}

po::variables_map parse(const std::vector<std::string>& arguments, const po::options_description& known) {
  po::variables_map values;
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  const auto parsed = po::command_line_parser(arguments).options(known).positional({}).style(style).run();
  for (const po::option& option : parsed.options) {
    if (const auto given = check_value_given(option.original_tokens); !given) throw po::error(given.error().message);
  }
  po::store(parsed, values);
  po::notify(values);
  return values;
}

Result<Options> parse_agent(const std::vector<std::string>& arguments) {
  const auto values = parse(arguments, agent_options());
  AgentSettings agent;
  NumberReader numbers(values);
  numbers.read("agents", agents_min, agents_max, agent.agents);
  numbers.read("member", 0, agents_max - 1, agent.member);
  numbers.read("limit", 0, limit_max, agent.limit);
  numbers.read("boards-at-once", 1, boards_at_once_max, agent.boards_at_once);
  numbers.read("pace", 0, pace_ms_max, agent.pace_ms);
  if (!numbers.complaint.empty()) return fail(Fault::bad_config, numbers.complaint);
  agent.server = text_of(values, "server");
  agent.dialogues = text_of(values, "dialogues");
  agent.journal = text_of(values, "journal");
  Options options;
  options.agent = std::move(agent);
  return options;
}

Result<Options> parse_run(const std::vector<std::string>& arguments) {
  const auto known = public_options();
  const auto values = parse(arguments, known);
  Options options;
  NumberReader numbers(values);
  numbers.read("agents", agents_min, agents_max, options.agents);
  numbers.read("limit", 1, limit_max, options.limit);
  numbers.read("boards-at-once", 1, boards_at_once_max, options.boards_at_once);
  numbers.read("pace", 0, pace_ms_max, options.pace_ms);
  if (!numbers.complaint.empty()) return fail(Fault::bad_config, numbers.complaint);
  options.dialogues = text_of(values, "dialogues");
  options.data = text_of(values, "data");
  options.json = text_of(values, "json");
  options.keep = values["keep"].as<bool>();
  options.quiet = values["quiet"].as<bool>();
  if (values["help"].as<bool>()) {
    std::ostringstream help;
    help << usage << known << usage_end;
    options.text = help.str();
  }
  return options;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  try {
    if (!arguments.empty() && arguments.front() == "agent")
      return parse_agent({arguments.begin() + 1, arguments.end()});
    return parse_run(arguments);
  } catch (const po::error& error) {
    return fail(Fault::bad_config, error.what());
  }
}

}  // namespace tafel::demo
