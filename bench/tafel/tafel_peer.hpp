// Tafel as a peer of the load: agents on the request socket, subscribers on the feed, by the protocol page.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "bench/load/descriptors.hpp"
#include "bench/load/peer.hpp"
#include "bench/tafel/messages.hpp"
#include "bench/tafel/zmtp_connection.hpp"
#include "common/codec/protocol.hpp"

namespace tafel::bench {

class TafelPeer final : public Peer {
 public:
  // `server`: the request endpoint. `run`: names boards and deltas; another one for each run on the same server.
  TafelPeer(std::string server, std::string run);

  std::string name() const override { return "tafel"; }
  Result<void> prepare(const Shape& shape, std::uint64_t elements) override;
  Result<void> start_agents(std::size_t count) override;
  Result<void> start_subscribers(std::size_t count) override;
  void submit(std::size_t agent, const Update& update) override;
  Result<void> flush() override;
  Result<void> poll_acks(std::chrono::milliseconds wait, std::vector<Ack>& acks) override;
  Result<void> poll_deliveries(std::chrono::milliseconds wait, std::vector<Delivery>& deliveries) override;
  Result<std::uint64_t> versions() override;

 private:
  using Connection = std::unique_ptr<ZmtpConnection>;
  struct Agent {
    Connection connection;
    std::optional<std::uint64_t> base;  // the version of its last receipt
    std::string deltas;                 // encoded one after another, to be sent
    std::size_t delta_count = 0;
    std::uint64_t next_message = 2;
  };

  // A connection that was welcomed.
  Result<Connection> greet(const std::string& endpoint, const std::string& actor, codec::Welcome* welcome = nullptr);
  Result<void> preload(ZmtpConnection& connection, std::uint64_t elements);
  Result<std::uint64_t> head(const std::string& board);
  bool send_deltas(Agent& agent);
  Result<void> take_receipts(std::size_t agent, std::string_view message, std::vector<Ack>& acks);
  Result<void> take_events(std::size_t subscriber, std::string_view message, std::vector<Delivery>& deliveries);

  const std::string server_;
  const std::string run_;
  codec::Welcome welcome_;
  Connection query_;
  std::vector<std::string> boards_;
  std::vector<std::uint64_t> heads_;  // after `prepare`
  std::vector<Agent> agents_;
  std::vector<std::size_t> unsent_;  // agents with deltas to be sent
  std::vector<Connection> subscribers_;
  Descriptors agent_descriptors_;
  Descriptors subscriber_descriptors_;
  std::vector<ReadReceipt> receipts_;
  std::vector<ReadEvent> events_;
};

}  // namespace tafel::bench
