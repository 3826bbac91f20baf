#include "agents_sdk/cpp/board_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "agents_sdk/cpp/bodies.hpp"
#include "blackboard/read.hpp"
#include "common/base/clock.hpp"
#include "common/codec/completeness_codec.hpp"

namespace tafel::sdk {
namespace {

constexpr std::size_t patient_attempts = 3;  // so many are made without waiting
constexpr std::int64_t contention_wait_ms_max = 64;

TimeMs wall_now() {
  SystemClock clock;
  return clock.wall_ms();
}

// The delta as it is to be sent: what `compute` saw is its base, and its guard unless it brought one.
Delta guarded(const DeltaBuilder& builder, Version seen) {
  Delta delta = builder.delta();
  if (!delta.base) delta.base = seen;
  if (delta.expect.empty()) delta.expect.version = seen;
  return delta;
}

// The version at which the board was when the delta was found stale.
Version found_version(const Receipt& receipt) {
  Version found = receipt.version;
  if (receipt.error && receipt.error->found) {
    if (const auto version = receipt.error->found->as_int64(); version && *version > 0) {
      found = std::max(found, static_cast<Version>(*version));
    }
  }
  return found;
}

// Many racers for one field get out of each other's way: a random pause that grows with the attempts.
void pause_before(std::size_t attempt, Random& random) {
  if (attempt < patient_attempts) return;
  const std::int64_t limit = std::min<std::int64_t>(
      std::int64_t{1} << std::min<std::size_t>(attempt - patient_attempts, 6), contention_wait_ms_max);
  const auto byte = static_cast<std::uint8_t>(random.bytes(1)[0]);
  std::this_thread::sleep_for(milliseconds(byte % (limit + 1)));
}

}  // namespace

JoinedBoard::~JoinedBoard() {
  core_->link().leave(feed_);
  feed_->close();
}

std::optional<Value> JoinedBoard::get(std::string_view path) const {
  const auto parsed = Path::parse(path);
  return parsed ? feed_->get(*parsed, wall_now()) : std::nullopt;
}

Value JoinedBoard::state() const { return blackboard::state(*snapshot(), {wall_now(), nullptr}); }

Result<std::optional<Completeness>> JoinedBoard::completeness() const {
  if (auto told = feed_->completeness()) return told;
  const auto answer = core_->link().query(Map{{"what", "schema"}, {"board", id()}}, core_->options().submit_timeout);
  if (!answer) return tl::unexpected(answer.error());
  const Value* member = answer->find("completeness");
  if (member == nullptr || member->is_nil()) return std::nullopt;
  auto completeness = codec::completeness_from_value(*member);
  if (!completeness) return tl::unexpected(completeness.error());
  return std::optional(std::move(*completeness));
}

Result<Receipt> JoinedBoard::transact(
    const std::function<std::optional<DeltaBuilder>(const blackboard::Board&)>& compute, std::size_t attempts) {
  if (attempts == 0) return fail(Fault::bad_config, "a transaction needs at least one attempt");
  SystemRandom random;
  Result<Receipt> receipt = fail(Fault::busy, "no attempt was made");
  for (std::size_t attempt = 0; attempt < attempts; ++attempt) {
    pause_before(attempt, random);
    std::optional<Delta> delta;
    {
      const auto seen = snapshot();
      const auto computed = compute(*seen);
      if (!computed) return fail(Fault::refused, "the computation stopped the transaction: nothing was submitted");
      delta = guarded(*computed, seen->version());
    }
    receipt = core_->apply(id(), *delta, feed_.get());
    if (!receipt || !receipt->error || receipt->error->code != ErrorCode::stale) return receipt;
    if (auto moved = wait_for(found_version(*receipt), core_->options().submit_timeout); !moved) {
      return tl::unexpected<Failure>(moved.error());
    }
  }
  return receipt;
}

std::uint64_t JoinedBoard::watch(Watcher watcher) {
  auto queue = WatchQueue::start(std::move(watcher), core_->link().waker());
  if (!queue) return 0;
  const std::uint64_t number = core_->new_number();
  feed_->watch(number, std::move(*queue));
  return number;
}

void JoinedBoard::unwatch(std::uint64_t number) {
  feed_->unwatch(number);
  core_->link().unfollow(number);
}

tl::expected<context::Context, context::ContextError> JoinedBoard::context(const context::Request& request) const {
  if (auto ending = feed_->ending()) return tl::unexpected(context::ContextError{"deleted", std::move(*ending)});
  return context::assemble(id(), *snapshot(), wall_now(), Rights::everything(), request);
}

}  // namespace tafel::sdk
