#include "common/base/command_line.hpp"

namespace tafel {

Result<void> check_value_given(const std::vector<std::string>& tokens) {
  if (tokens.size() != 2 || !tokens[0].starts_with("--") || !tokens[1].starts_with("--")) return {};
  return fail(Fault::bad_config, tokens[0] + " needs a value, and " + tokens[1] +
                                     " is an option; a value that begins with -- is given as " + tokens[0] + "=" +
                                     tokens[1]);
}

}  // namespace tafel
