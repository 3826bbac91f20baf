#include "broker/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <memory>

#include "common/codec/json.hpp"

namespace tafel::broker {
namespace {

constexpr std::array<std::string_view, 5> level_names{"debug", "info", "warn", "error", "off"};
constexpr std::array<spdlog::level::level_enum, 5> library_levels{
    spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err, spdlog::level::off};

struct Target {
  std::shared_ptr<spdlog::logger> logger;
  bool json = false;
};

// Set before the threads start, never after.
Target& target() {
  static Target made;
  return made;
}

bool is_plain(std::string_view text) {
  const auto plain = [](char c) { return (c > ' ' && c < 0x7F && c != '"' && c != '='); };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain);
}

// Text without spaces and quotes stands as it is; everything else as JSON, so that no name can forge a line.
std::string field_text(const Value& value) {
  const auto* text = value.get_if<std::string>();
  return text != nullptr && is_plain(*text) ? *text : codec::to_json(value);
}

std::string as_text(std::string_view event, std::initializer_list<LogField> fields) {
  std::string line = "event=" + std::string(event);
  for (const auto& [name, value] : fields) line.append(" ").append(name).append("=").append(field_text(value));
  return line;
}

// The members that follow time and level in the pattern.
std::string as_json(std::string_view event, std::initializer_list<LogField> fields) {
  std::string line = "\"event\":" + codec::to_json(Value(event));
  for (const auto& [name, value] : fields) {
    line.append(",").append(codec::to_json(Value(name))).append(":").append(codec::to_json(value));
  }
  return line;
}

}  // namespace

Result<void> configure_log(const LogOptions& options) try {
  const auto found = std::find(level_names.begin(), level_names.end(), options.level);
  if (found == level_names.end()) {
    return fail(Fault::bad_config,
                "log level \"" + options.level + "\" is unknown: right are debug, info, warn, error and off");
  }
  auto logger = std::make_shared<spdlog::logger>("tafeld", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(library_levels[static_cast<std::size_t>(found - level_names.begin())]);
  logger->set_pattern(
      options.json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ level=%l %v",
      spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::debug);
  target() = {std::move(logger), options.json};
  return {};
} catch (const spdlog::spdlog_ex& error) {
  return fail(Fault::io, std::string("the log can not be opened: ") + error.what());
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  const Target& at = target();
  const auto library_level = library_levels[static_cast<std::size_t>(level)];
  if (!at.logger || !at.logger->should_log(library_level)) return;
  at.logger->log(library_level, at.json ? as_json(event, fields) : as_text(event, fields));
}

}  // namespace tafel::broker
