// Which of the known names a wrong one may have meant, for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tafel {

// At most `count_max` of `known` that are few edits away from `name`, or end as it ends (at a dot); the closest first.
std::vector<std::string> close_names(std::string_view name, const std::vector<std::string>& known,
                                     std::size_t count_max);

}  // namespace tafel
