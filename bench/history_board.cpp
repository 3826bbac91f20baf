#include "bench/history_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "broker/pipeline.hpp"
#include "common/base/check.hpp"
#include "common/codec/delta_codec.hpp"

namespace tafel::bench {
namespace {

constexpr TimeMs first_time = 1'700'000'000'000;
constexpr TimeMs ms_a_version = 20;

Result<Version> version_in(store::Store& store, const std::string& board) {
  const auto snapshot = store.snapshot();
  if (!snapshot) return tl::unexpected(snapshot.error());
  const auto head = (*snapshot)->head(board);
  if (!head) return tl::unexpected(head.error());
  return head->value_or(Head{}).version;
}

}  // namespace

HistoryBoard::HistoryBoard(std::string id, Version versions, std::size_t fields) : id_(std::move(id)), writes_(fields) {
  TAFEL_CHECK(fields > 0 && versions >= fields, "every field is written once");
  std::mt19937_64 dice(versions);
  for (Version version = 1; version <= versions; ++version) {
    const std::size_t field = version <= fields ? version - 1 : dice() % fields;
    field_at_.push_back(field);
    writes_[field].push_back(version);
  }
}

std::string HistoryBoard::path_of(std::size_t field) {
  return fmt::format("topic{:04}.fact{:02}", field / 100, field % 100);
}

std::string HistoryBoard::value_of(Version version) { return fmt::format("as told in turn {}", version); }

std::size_t HistoryBoard::writes_until(std::size_t field, Version version) const {
  const auto& writes = writes_[field];
  return static_cast<std::size_t>(std::upper_bound(writes.begin(), writes.end(), version) - writes.begin());
}

Result<void> HistoryBoard::build(store::Store& store, std::size_t batch) const {
  const auto begun = version_in(store, id_);
  if (!begun) return tl::unexpected(begun.error());
  const RoleTable everything;
  broker::Pipeline pipeline(store, everything);
  for (Version version = *begun; version < versions();) {
    std::vector<broker::Submission> submissions;
    const Version last = std::min<Version>(versions(), version + batch);
    for (Version next = version + 1; next <= last; ++next) {
      Delta delta;
      delta.board = id_;
      delta.id = fmt::format("turn-{}", next);
      delta.ops.resize(1);
      delta.ops[0].path = path_of(field_at_[next - 1]);
      delta.ops[0].value = Value(value_of(next));
      delta.ops[0].has_value = true;
      delta.payload_hash = codec::payload_hash(delta);
      submissions.push_back({fmt::format("agent-{}", next % 8), std::move(delta)});
    }
    const auto done = pipeline.commit(submissions, first_time + static_cast<TimeMs>(last) * ms_a_version);
    if (!done) return tl::unexpected(done.error());
    for (const Receipt& receipt : done->receipts) {
      if (receipt.error) return fail(Fault::refused, receipt.error->message);
      if (receipt.version != ++version) return fail(Fault::refused, fmt::format("no new version {}", version));
    }
  }
  return {};
}

}  // namespace tafel::bench
