#include "conflict/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conflict/dots.hpp"

namespace tafel::conflict {
namespace {

std::string in_words(Kind kind) { return kind == Kind::register_ ? "a register" : fmt::format("a {}", name_of(kind)); }

// The nearest leaf above `path`, which can therefore have nothing below it.
std::optional<Path> leaf_above(const Draft& draft, const Path& path) {
  for (auto above = path.parent(); above; above = above->parent()) {
    if (draft.kind(*above)) return above;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Confidence> Writing::explicit_confidence() const {
  return op.op->confidence ? op.op->confidence : delta.confidence;
}

tl::expected<Confidence, ErrorInfo> Writing::permitted(const Path& path, Right right, Confidence unwritten) const {
  const auto cap = rights.cap(path, right);
  if (!cap) {
    return tl::unexpected(
        refused(ErrorCode::forbidden, path, fmt::format("{} may not {} {}", stamp.actor, name_of(right), path.text())));
  }
  const auto written = explicit_confidence();
  if (!written) return std::min(unwritten, *cap);
  if (*written <= *cap) return *written;
  return tl::unexpected(refused(ErrorCode::forbidden, path,
                                fmt::format("{} may write {} at most at confidence {}, not {}", stamp.actor,
                                            path.text(), name_of(*cap), name_of(*written))));
}

Dot Writing::dot(const Path& path, Confidence confidence) const {
  const Mark mark{draft.version(), static_cast<std::uint32_t>(op.index)};
  Dot dot = make_dot(stamp, delta, path, mark, draft.base(), confidence);
  const auto ttl_ms = op.ttl_ms ? op.ttl_ms : schema.rule(path).ttl_ms;
  if (ttl_ms) dot.expires = stamp.now + *ttl_ms;
  return dot;
}

ErrorInfo Writing::refused(ErrorCode code, const Path& path, std::string message) const {
  return refusal(code, op.index, path.text(), std::move(message));
}

LeafOutcome outcome_of(const Path& path, Outcome outcome, std::optional<Reason> reason) {
  return {path, outcome, reason, {}, false};
}

std::optional<ErrorInfo> check_place(const Writing& writing, const Path& path, Kind kind) {
  const auto present = writing.draft.kind(path);
  if (!present) {
    if (const auto above = leaf_above(writing.draft, path)) {
      return writing.refused(
          ErrorCode::structure_conflict, path,
          fmt::format("{0} holds a value, so nothing can lie below it; unset {0} first, or write another path",
                      above->text()));
    }
    if (const auto below = writing.draft.leaves_below(path, 1); !below.empty()) {
      return writing.refused(ErrorCode::structure_conflict, path,
                             fmt::format("{} has fields below it ({}); write those, or unset {} first", path.text(),
                                         below.front().first.text(), path.text()));
    }
  }
  const auto declared = writing.schema.rule(path).kind;
  const auto holds = declared ? declared : present;
  if (!holds || *holds == kind) return std::nullopt;
  return writing.refused(ErrorCode::kind_mismatch, path,
                         fmt::format("{} is {}; {} needs {}", path.text(), in_words(*holds),
                                     name_of(writing.op.op->verb), in_words(kind)));
}

bool holds_another_kind(const Writing& writing, const Path& path) {
  const auto present = writing.draft.kind(path);
  return present && *present != Kind::set && writing.schema.rule(path).kind != Kind::set;
}

}  // namespace tafel::conflict
