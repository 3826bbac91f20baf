#include "broker/peer_sender.hpp"

#include "common/base/limits.hpp"

namespace tafel::broker {

SendResult PeerSender::send(const PeerId& peer, std::string_view bytes) {
  switch (router_.send(peer, bytes)) {
    case net::Sent::sent: return SendResult::sent;
    case net::Sent::full: return SendResult::full;
    case net::Sent::gone: break;
  }
  return SendResult::gone;
}

SendResult PeerSender::offer(const PeerId& peer, std::string_view bytes) {
  return waiting_.contains(peer) ? SendResult::full : send(peer, bytes);
}

bool PeerSender::answer(const Outbound& outbound) {
  if (const SendResult result = offer(outbound.peer, outbound.bytes); result != SendResult::full) {
    return result == SendResult::sent;
  }
  std::deque<std::string>& queue = waiting_[outbound.peer];
  if (queue.size() < limits::backlog_answers_max &&
      waiting_bytes_ + outbound.bytes.size() <= limits::backlog_bytes_max) {
    waiting_bytes_ += outbound.bytes.size();
    queue.push_back(outbound.bytes);
    return true;
  }
  ++dropped_;
  if (queue.empty()) waiting_.erase(outbound.peer);
  return true;
}

void PeerSender::retry() {
  for (auto peer = waiting_.begin(); peer != waiting_.end();) {
    std::deque<std::string>& queue = peer->second;
    SendResult result = SendResult::sent;
    while (!queue.empty() && (result = send(peer->first, queue.front())) == SendResult::sent) {
      waiting_bytes_ -= queue.front().size();
      queue.pop_front();
    }
    if (result == SendResult::gone) {
      for (const std::string& bytes : queue) waiting_bytes_ -= bytes.size();
      queue.clear();
    }
    peer = queue.empty() ? waiting_.erase(peer) : std::next(peer);
  }
}

}  // namespace tafel::broker
