// The server's log: one line per event, with fields, on stderr; as text (event=… key=value) or as JSON. Written at the
// edge only (threads of the server, main). Silent until configured, so an embedding process sees nothing. From any
// thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.hpp"
#include "common/model/value.hpp"

namespace tafel::broker {

enum class LogLevel : std::uint8_t { debug, info, warn, error };

struct LogOptions {
  std::string level = "info";  // debug, info, warn, error, off
  bool json = false;
};

// A failure names the levels that exist.
Result<void> configure_log(const LogOptions& options);

using LogField = std::pair<std::string_view, Value>;
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace tafel::broker
