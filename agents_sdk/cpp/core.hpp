// What an agent and the boards that it follows share: the link, the ids, and who is to be ended with the agent. Lives
// as long as one of them; after the agent has been closed every call answers Fault::closed.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "agents_sdk/cpp/board_feed.hpp"
#include "agents_sdk/cpp/link.hpp"
#include "common/base/random.hpp"

namespace tafel::sdk {

class Core {
 public:
  Core(AgentOptions options, std::shared_ptr<Link> link) : options_(std::move(options)), link_(std::move(link)) {}

  const AgentOptions& options() const { return options_; }
  Link& link() { return *link_; }
  std::uint64_t new_number() { return ++last_number_; }

  // Gives the delta an id when it has none, and puts it into the outbox. `board`: where it goes.
  Ticket submit(const std::string& board, Delta delta);
  // Submits, waits for the receipt, and where `mirror` is given, until it has the receipt's version.
  Result<Receipt> apply(const std::string& board, const Delta& delta, BoardFeed* mirror);

  Result<std::uint64_t> follow(const std::string& board, Version from, std::vector<std::string> paths, Watcher watcher);
  void unfollow(std::uint64_t number);
  void close();

 private:
  std::string new_delta_id();

  const AgentOptions options_;
  const std::shared_ptr<Link> link_;
  std::atomic<std::uint64_t> last_number_{0};
  std::mutex mutex_;  // guards all below: any thread of the host may come
  SystemRandom random_;
  std::map<std::uint64_t, std::shared_ptr<WatchQueue>> follows_;
};

}  // namespace tafel::sdk
