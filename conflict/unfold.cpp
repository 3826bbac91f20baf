#include "conflict/unfold.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/limits.hpp"
#include "conflict/shown.hpp"

namespace tafel::conflict {
namespace {

bool reads(const Op& op) { return op.verb == Verb::copy || op.verb == Verb::move; }

Malformed unreadable(bool is_forbidden, std::string message) {
  return {.is_path = !is_forbidden, .is_forbidden = is_forbidden, .at_its_turn = true, .message = std::move(message)};
}

void fill_in(Op& op, const Rights& rights, const Draft& draft) {
  const auto from = Path::parse(op.from);
  if (!from) {
    op.malformed = Malformed{
        .is_path = true, .is_forbidden = false, .at_its_turn = false, .message = "from: " + from.error().message};
    return;
  }
  const auto path = Path::parse(op.path);
  if (op.verb == Verb::move && path && path->is_below(*from)) return;  // its form is refused
  if (!may_read_all(draft, rights, *from)) {
    op.malformed = unreadable(true, fmt::format("not all of {} may be read", op.from));
    return;
  }
  const auto value = shown_value(draft, *from);
  if (!value) {
    op.malformed = unreadable(false, fmt::format("there is nothing at {} to {}", op.from, name_of(op.verb)));
    return;
  }
  op.value = *value;
  op.has_value = true;
}

}  // namespace

bool needs_unfolding(const Delta& delta) { return std::any_of(delta.ops.begin(), delta.ops.end(), reads); }

std::vector<Op> unfold(const Delta& delta, const Rights& rights, const RunBefore& run_before) {
  std::vector<Op> ops;
  std::size_t reading = 0;
  for (Op op : delta.ops) {
    if (reads(op) && !op.malformed) {
      if (++reading > limits::delta_reads_max) {
        op.malformed =
            Malformed{.message = fmt::format("more than {} copy and move ops in one delta", limits::delta_reads_max)};
      } else {
        fill_in(op, rights, run_before(ops));
      }
    }
    ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace tafel::conflict
