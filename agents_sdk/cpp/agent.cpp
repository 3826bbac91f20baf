#include "agents_sdk/cpp/agent.hpp"

#include <map>
#include <mutex>

#include "agents_sdk/cpp/board_handle.hpp"
#include "agents_sdk/cpp/core.hpp"
#include "common/model/names.hpp"
#include "common/net/socket.hpp"

namespace tafel::sdk {
namespace {

class ConnectedAgent final : public Agent {
 public:
  explicit ConnectedAgent(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  ~ConnectedAgent() override;

  const std::string& actor() const override { return core_->options().actor; }
  std::string epoch() const override { return core_->link().epoch(); }
  Ticket submit(const std::string& board, const DeltaBuilder& delta) override {
    return core_->submit(board, delta.delta());
  }
  Ticket submit(const Delta& delta) override { return core_->submit(delta.board, delta); }
  Result<Receipt> apply(const std::string& board, const DeltaBuilder& delta) override;
  Result<std::shared_ptr<BoardHandle>> join(const std::string& board) override;
  Result<std::uint64_t> follow(const std::string& board, Version from, std::vector<std::string> paths,
                               Watcher watcher) override;
  void unfollow(std::uint64_t number) override { core_->unfollow(number); }
  Result<Value> query(const Value& body, milliseconds timeout) override { return core_->link().query(body, timeout); }
  std::size_t outbox_size() const override { return core_->link().outbox_size(); }
  bool connected() const override { return core_->link().connected(); }

 private:
  std::shared_ptr<JoinedBoard> joined(const std::string& board);
  std::shared_ptr<JoinedBoard> joined_or_new(const std::string& board);

  const std::shared_ptr<Core> core_;
  std::mutex mutex_;  // guards `boards_`: any thread of the host may join
  std::map<std::string, std::weak_ptr<JoinedBoard>> boards_;
};

ConnectedAgent::~ConnectedAgent() {
  core_->close();
  std::map<std::string, std::weak_ptr<JoinedBoard>> boards;
  {
    const std::lock_guard lock(mutex_);
    boards.swap(boards_);
  }
  for (const auto& [id, weak] : boards) {
    if (const auto board = weak.lock()) board->close();
  }
}

tl::unexpected<Failure> bad_board(const std::string& defect) { return fail(Fault::bad_config, "board: " + defect); }

Result<Receipt> ConnectedAgent::apply(const std::string& board, const DeltaBuilder& delta) {
  const auto mirror = joined(board);
  return core_->apply(board, delta.delta(), mirror ? mirror->feed() : nullptr);
}

Result<std::shared_ptr<BoardHandle>> ConnectedAgent::join(const std::string& board) {
  if (const auto defect = board_id_defect(board)) return bad_board(*defect);
  auto handle = joined_or_new(board);
  if (auto live = handle->wait_live(core_->options().submit_timeout); !live)
    return tl::unexpected<Failure>(live.error());
  return handle;
}

Result<std::uint64_t> ConnectedAgent::follow(const std::string& board, Version from, std::vector<std::string> paths,
                                             Watcher watcher) {
  if (const auto defect = board_id_defect(board)) return bad_board(*defect);
  return core_->follow(board, from, std::move(paths), std::move(watcher));
}

std::shared_ptr<JoinedBoard> ConnectedAgent::joined(const std::string& board) {
  const std::lock_guard lock(mutex_);
  const auto at = boards_.find(board);
  return at == boards_.end() ? nullptr : at->second.lock();
}

std::shared_ptr<JoinedBoard> ConnectedAgent::joined_or_new(const std::string& board) {
  const std::lock_guard lock(mutex_);
  std::erase_if(boards_, [](const auto& entry) { return entry.second.expired(); });
  auto handle = boards_[board].lock();
  if (handle) return handle;
  auto feed = std::make_shared<BoardFeed>(board);
  handle = std::make_shared<JoinedBoard>(core_, feed);
  boards_[board] = handle;
  core_->link().join(std::move(feed));
  return handle;
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::connect(AgentOptions options) try {
  if (const auto defect = name_defect(options.actor)) return fail(Fault::bad_config, "actor: " + *defect);
  if (!options.context) options.context = std::make_shared<net::Context>();
  LinkOptions link;
  link.server = options.server;
  link.actor = options.actor;
  link.connect_timeout = options.connect_timeout;
  link.outbox_deltas_max = options.outbox_deltas_max;
  link.context = options.context;
  auto started = Link::start(std::move(link));
  if (!started) return tl::unexpected<Failure>(started.error());
  return std::make_unique<ConnectedAgent>(std::make_shared<Core>(std::move(options), std::move(*started)));
} catch (const std::exception& error) {
  return fail(Fault::io, std::string("the agent could not be made: ") + error.what());
}

}  // namespace tafel::sdk
