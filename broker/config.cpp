#include "broker/config.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "broker/roles.hpp"
#include "common/base/command_line.hpp"
#include "common/base/quantity.hpp"
#include "common/base/spelling.hpp"

namespace tafel::broker {
namespace {

namespace po = boost::program_options;

constexpr std::string_view usage = R"(Usage: tafeld --data DIR [--listen ENDPOINT]... [OPTION]...

The blackboard server. Prints one line on stdout when it is ready: "ready", then the request endpoints that it
really bound, then query=, feed=, open= (where asked for) and epoch=. Logs go to stderr. SIGTERM and SIGINT stop it
cleanly, a second one at once.

)";

constexpr std::string_view usage_end = R"(
Each option can also be given in the environment (TAFEL_DATA, TAFEL_HEARTBEAT_MS, ...; several endpoints separated by
commas) or in the file of --config, one "name = value" a line. The command line wins over the environment, the
environment over the file. Endpoints are tcp://127.0.0.1:PORT, tcp://[::1]:PORT or ipc:///path/of/socket; port 0 lets
the system choose.
)";

po::options_description options() {
  po::options_description all("Options");
  auto add = all.add_options();
  add("data", po::value<std::string>()->value_name("DIR"), "data directory; made when it is not there (required)");
  add("listen", po::value<std::vector<std::string>>()->value_name("ENDPOINT"),
      "request endpoint; may be given several times (tcp://127.0.0.1:7117)");
  add("query-listen", po::value<std::string>()->value_name("ENDPOINT"), "query endpoint (beside the first --listen)");
  add("feed-listen", po::value<std::string>()->value_name("ENDPOINT"), "feed endpoint (beside the first --listen)");
  add("open-feed", po::value<std::string>()->value_name("ENDPOINT"),
      "XPUB endpoint with the events of boards that everybody may read (off)");
  add("roles", po::value<std::string>()->value_name("FILE"),
      "JSON file of roles and actors (everybody may do everything)");
  add("quota", po::value<std::string>()->value_name("BYTES"),
      "room for the data, with k, M, G or T for 1024, ... (32G)");
  add("retain-versions", po::value<std::string>()->value_name("N"),
      "versions of a board that are kept, where it says nothing itself (all)");
  add("retain-age", po::value<std::string>()->value_name("TIME"),
      "how far back its history reaches, with s, m, h, d or w: 30d (without end)");
  add("retain-bytes", po::value<std::string>()->value_name("BYTES"), "room for its history (no limit)");
  add("restored", po::bool_switch(),
      "the data is a copy that was put back: take a new epoch, so that clients read their boards anew");
  add("erasures", po::value<std::string>()->value_name("FILE"),
      "carry out what this ledger of erasures has and the data has not, before anything is served");
  add("compact", po::bool_switch(), "write the data anew before serving, without what was erased or overwritten");
  add("heartbeat-ms", po::value<std::string>()->value_name("N"), "milliseconds between heartbeats (1000)");
  add("log-level", po::value<std::string>()->value_name("LEVEL"), "debug, info, warn, error or off (info)");
  add("log-json", po::bool_switch(), "log lines are JSON");
  add("config", po::value<std::string>()->value_name("FILE"), "file with further options");
  add("version", po::bool_switch(), "print the version and stop");
  add("help,h", po::bool_switch(), "print this and stop");
  return all;
}

// Options that may stand in the environment and in the file.
po::options_description stored_options() {
  po::options_description all;
  auto add = all.add_options();
  for (const char* name : {"data", "query-listen", "feed-listen", "open-feed", "roles", "quota", "erasures",
                           "heartbeat-ms", "log-level", "log-json", "retain-versions", "retain-age", "retain-bytes"}) {
    add(name, po::value<std::string>());
  }
  add("listen", po::value<std::vector<std::string>>());
  return all;
}

using Texts = std::vector<std::string>;

// What one source (command line, environment, file) says: texts by option name.
using Settings = std::map<std::string, Texts>;

// ": did you mean data?", or where the names are found when nothing is near.
std::string hint_for(std::string name, std::string_view prefix) {
  name.erase(0, name.find_first_not_of('-'));
  Texts known;
  const po::options_description all = options();
  for (const auto& option : all.options()) known.push_back(option->long_name());
  const Texts close = close_names(name, known, 1);
  return close.empty() ? ": tafeld --help lists them" : ": did you mean " + std::string(prefix) + close.front() + "?";
}

Texts split_list(const std::string& text) {
  Texts parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    part.erase(0, part.find_first_not_of(" \t"));
    part.erase(part.find_last_not_of(" \t") + 1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

Settings settings_of(const po::parsed_options& parsed) {
  Settings settings;
  for (const po::option& option : parsed.options) {
    Texts& texts = settings[option.string_key];
    texts.insert(texts.end(), option.value.begin(), option.value.end());
  }
  return settings;
}

Result<Settings> from_command_line(const Texts& arguments) try {
  const po::options_description all = options();
  const po::positional_options_description none;
  // Abbreviated names would turn a later, longer option into another meaning of an old command line.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  const po::parsed_options parsed = po::command_line_parser(arguments).options(all).positional(none).style(style).run();
  for (const po::option& option : parsed.options) {
    if (auto given = check_value_given(option.original_tokens); !given) return tl::unexpected(given.error());
  }
  return settings_of(parsed);
} catch (const po::unknown_option& error) {
  return fail(Fault::bad_config, "unknown option " + error.get_option_name() + hint_for(error.get_option_name(), "--"));
} catch (const po::error& error) {
  return fail(Fault::bad_config, std::string(error.what()) + " (tafeld --help lists the options)");
}

Settings from_environment(const Environment& environment) {
  Settings settings;
  const po::options_description all = stored_options();  // named: a temporary would not outlive the head of the loop
  for (const auto& option : all.options()) {
    std::string name = "TAFEL_" + option->long_name();
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    });
    const auto value = environment(name);
    if (!value || value->empty()) continue;
    settings[option->long_name()] = option->long_name() == "listen" ? split_list(*value) : Texts{*value};
  }
  return settings;
}

Result<Settings> from_file(const std::string& file) try {
  if (std::error_code error; std::filesystem::is_directory(file, error)) {
    return fail(Fault::bad_config, "the file " + file + " of --config is a directory");
  }
  std::ifstream stream(file);
  if (!stream)
    return fail(Fault::bad_config,
                "the file " + file + " of --config can not be read: " + std::generic_category().message(errno));
  return settings_of(po::parse_config_file(stream, stored_options()));
} catch (const po::unknown_option& error) {
  return fail(Fault::bad_config,
              file + ": unknown option " + error.get_option_name() + hint_for(error.get_option_name(), ""));
} catch (const po::error& error) {
  return fail(Fault::bad_config, file + ": " + error.what());
}

// `above` wins.
void add_below(Settings& above, const Settings& below) {
  for (const auto& entry : below) above.insert(entry);
}

Result<std::string> single(const Settings& settings, const std::string& name) {
  const Texts& texts = settings.at(name);
  if (texts.size() == 1) return texts.front();
  return fail(Fault::bad_config, name + " is given " + std::to_string(texts.size()) + " times: once is right");
}

Result<std::uint64_t> positive_number(std::string_view text, const std::string& name) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number > 0) return number;
  return fail(Fault::bad_config, name + " must be a number above 0, not \"" + std::string(text) + "\"");
}

Result<std::uint64_t> byte_count(const std::string& text, const std::string& name) {
  if (const auto bytes = parse_bytes(text)) return *bytes;
  return fail(Fault::bad_config, name + " must be a number of bytes like 1073741824 or 1G, not \"" + text + "\"");
}

Result<void> apply_retention(const std::string& name, const std::string& text, Retention& retention) {
  if (name == "retain-versions") {
    const auto number = positive_number(text, name);
    if (!number) return tl::unexpected(number.error());
    retention.versions = *number;
  } else if (name == "retain-bytes") {
    const auto bytes = byte_count(text, name);
    if (!bytes) return tl::unexpected(bytes.error());
    retention.bytes = *bytes;
  } else if (name == "retain-age") {
    retention.age_ms = parse_duration_ms(text);
    if (!retention.age_ms)
      return fail(Fault::bad_config, name + " must be a time like 90s, 12h or 30d, not \"" + text + "\"");
  }
  return {};
}

Result<void> apply_one(const std::string& name, const Settings& settings, Config& config) {
  if (name == "listen") {
    config.server.listen = settings.at(name);
    return {};
  }
  const auto text = single(settings, name);
  if (!text) return tl::unexpected(text.error());
  if (name == "data") config.server.data = *text;
  if (name == "query-listen") config.server.query_listen = *text;
  if (name == "feed-listen") config.server.feed_listen = *text;
  if (name == "open-feed") config.server.open_feed_listen = *text;
  if (name == "log-level") config.log.level = *text;
  if (name == "restored") config.server.renews_epoch = true;
  if (name == "compact") config.server.compacts = true;
  if (name == "erasures") config.server.erasures = *text;
  if (auto applied = apply_retention(name, *text, config.server.retention); !applied) return applied;
  if (name == "roles") {
    auto roles = load_roles(*text);
    if (!roles) return tl::unexpected(roles.error());
    config.server.roles = std::move(*roles);
  } else if (name == "quota") {
    const auto bytes = byte_count(*text, name);
    if (!bytes) return tl::unexpected(bytes.error());
    config.server.quota_bytes = *bytes;
  } else if (name == "heartbeat-ms") {
    const auto number = positive_number(*text, name);
    if (!number || *number > INT32_MAX)
      return fail(Fault::bad_config, name + " must be 1 to 60000, not \"" + *text + "\"");
    config.server.heartbeat_ms = static_cast<std::int64_t>(*number);
  } else if (name == "log-json") {
    const bool off = *text == "false" || *text == "0" || *text == "no";
    if (!off && *text != "true" && *text != "1" && *text != "yes") {
      return fail(Fault::bad_config, "log-json must be true or false, not \"" + *text + "\"");
    }
    config.log.json = !off;
  }
  return {};
}

Result<Config> config_of(const Settings& settings) {
  Config config;
  if (!settings.contains("data"))
    return fail(Fault::bad_config, "--data DIR is required: the directory that holds the boards");
  for (const auto& entry : settings) {
    if (auto applied = apply_one(entry.first, settings, config); !applied) return tl::unexpected(applied.error());
  }
  return config;
}

std::string help_text() {
  std::ostringstream text;
  text << usage << options() << usage_end;
  return text.str();
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Result<Config> read_config(const std::vector<std::string>& arguments, const Environment& environment) {
  auto settings = from_command_line(arguments);
  if (!settings) return tl::unexpected(settings.error());
  Config config;
  if (settings->contains("help")) config.text = help_text();
  if (settings->contains("version")) config.text = std::string("tafeld ") + TAFEL_VERSION + "\n";
  if (config.text) return config;

  for (const char* name : {"log-json", "restored", "compact"}) {
    if (const auto given = settings->find(name); given != settings->end()) given->second = {"true"};
  }
  add_below(*settings, from_environment(environment));
  auto config_file = settings->extract("config");
  if (const auto named = environment("TAFEL_CONFIG"); !config_file && named && !named->empty()) {
    settings->insert({"config", {*named}});
    config_file = settings->extract("config");
  }
  if (config_file) {
    const auto file = from_file(config_file.mapped().back());
    if (!file) return tl::unexpected(file.error());
    add_below(*settings, *file);
  }
  return config_of(*settings);
}

}  // namespace tafel::broker
