// A joined board as the host sees it: reads go to the mirror, writes to the outbox.
#pragma once

#include <memory>

#include "agents_sdk/cpp/core.hpp"

namespace tafel::sdk {

class JoinedBoard final : public BoardHandle {
 public:
  JoinedBoard(std::shared_ptr<Core> core, std::shared_ptr<BoardFeed> feed)
      : core_(std::move(core)), feed_(std::move(feed)) {}
  ~JoinedBoard() override;

  Result<void> wait_live(milliseconds timeout) { return feed_->wait_live(timeout); }
  BoardFeed* feed() { return feed_.get(); }
  void close() { feed_->close(); }

  const std::string& id() const override { return feed_->id(); }
  Version version() const override { return feed_->version(); }
  Sum128 digest() const override { return feed_->digest(); }
  std::optional<Version> deleted() const override { return feed_->deleted(); }
  std::uint64_t resyncs() const override { return feed_->resyncs(); }
  std::shared_ptr<const blackboard::Board> snapshot() const override { return feed_->snapshot(); }
  std::optional<Value> get(std::string_view path) const override;
  Value state() const override;
  Result<std::optional<Completeness>> completeness() const override;
  Result<void> wait_for(Version version, milliseconds timeout) override { return feed_->wait_for(version, timeout); }

  Ticket submit(const DeltaBuilder& delta) override { return core_->submit(id(), delta.delta()); }
  Result<Receipt> apply(const DeltaBuilder& delta) override { return core_->apply(id(), delta.delta(), feed_.get()); }
  Result<Receipt> transact(const std::function<std::optional<DeltaBuilder>(const blackboard::Board&)>& compute,
                           std::size_t attempts) override;
  std::uint64_t watch(Watcher watcher) override;
  void unwatch(std::uint64_t number) override;
  tl::expected<context::Context, context::ContextError> context(const context::Request& request) const override;

 private:
  const std::shared_ptr<Core> core_;
  const std::shared_ptr<BoardFeed> feed_;
};

}  // namespace tafel::sdk
