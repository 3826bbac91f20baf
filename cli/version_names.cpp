#include "cli/version_names.hpp"

#include <fmt/format.h>

#include <charconv>

#include "common/codec/fields.hpp"
#include "common/model/names.hpp"

namespace tafel::cli {

Result<Version> version_from(Connection& connection, const std::string& board, const std::string& text,
                             std::string_view what) {
  Version version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error == std::errc() && end == text.data() + text.size()) return version;
  const auto tagged = tagged_version(connection, board, text);
  if (!tagged) return tl::unexpected(tagged.error());
  if (*tagged) return **tagged;
  return fail(Fault::bad_config,
              fmt::format("{} must be a version or the name of one (tafel tags {}), not '{}'", what, board, text));
}

Result<std::optional<Version>> version_option(Connection& connection, const std::string& board,
                                              const Arguments& arguments, std::string_view name) {
  const auto text = arguments.text(name);
  if (!text) return std::nullopt;
  const auto version = version_from(connection, board, *text, "--" + std::string(name));
  if (!version) return tl::unexpected(version.error());
  return *version;
}

Result<std::optional<Version>> tagged_version(Connection& connection, const std::string& board,
                                              const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto path = Path::from_segments({std::string(tags_path), name});
  if (!path) return std::nullopt;
  const auto answer = connection.ask(Map{{"what", "get"}, {"board", board}, {"path", path->text()}});
  if (!answer) return tl::unexpected(answer.error());
  const Value* value = answer->find("value");
  return value != nullptr ? codec::as_uint64(*value) : std::nullopt;
}

}  // namespace tafel::cli
