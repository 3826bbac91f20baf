#include "agents_sdk/cpp/mirror.hpp"

#include <utility>

namespace tafel::sdk {
namespace {

bool is_end(const Value& next) {
  const auto* text = next.get_if<std::string>();
  const auto* bytes = next.get_if<Bytes>();
  return next.is_nil() || (text != nullptr && text->empty()) || (bytes != nullptr && bytes->data.empty());
}

bool fits(const blackboard::Board& board, const std::optional<Sum128>& digest) {
  return !digest || *digest == board.digest();
}

}  // namespace

BoardEvent told_of(BoardEvent::Type type, Version version) {
  BoardEvent event;
  event.type = type;
  event.version = version;
  return event;
}

Mirror::Mirror() : copy_(std::make_shared<Copy>()) {}

Mirror::Next Mirror::page(Page page, std::vector<BoardEvent>& told) {
  if (phase_ != Phase::reading) return Next::go_on;
  if (first_page_) {
    epoch_ = page.epoch;
    pages_from_ = page.version;
    first_page_ = false;
  }
  if (page.epoch != epoch_ || page.version < pages_from_) return read_anew();
  for (Change& change : page.cells) building_.put(change.key, std::move(change.image));
  cursor_ = page.next;
  if (!is_end(page.next)) return Next::go_on;
  phase_ = Phase::replaying;
  exact_from_ = page.version;
  expected_digest_ = page.digest;
  building_.set_version(pages_from_);
  return pages_from_ == exact_from_ ? publish(told) : Next::go_on;
}

Mirror::Next Mirror::event(const std::shared_ptr<const codec::FeedEvent>& event, std::vector<BoardEvent>& told) {
  if (phase_ == Phase::reading || phase_ == Phase::ended || event->version <= position()) return Next::go_on;
  if (event->version > position() + 1) return Next::resubscribe;
  if (phase_ == Phase::replaying) return replay(*event, told);
  blackboard::Board& board = writable();
  board.apply(event->version, event->changes);
  if (!fits(board, event->digest)) {
    board.set_version(event->version - 1);  // nobody may take this for the state after the event
    return broken();
  }
  broken_in_a_row_ = 0;
  completeness_ = event->completeness;
  BoardEvent change = told_of(BoardEvent::Type::change, event->version);
  change.event = event;
  told.push_back(std::move(change));
  return takes_board(event->changes) ? end(event->version, told) : Next::go_on;
}

Mirror::Next Mirror::live(Version version, std::vector<BoardEvent>& told) {
  if (phase_ == Phase::reading || phase_ == Phase::ended) return Next::go_on;
  if (version > position()) return Next::resubscribe;
  if (phase_ != Phase::following || live_) return Next::go_on;
  live_ = true;
  told.push_back(told_of(BoardEvent::Type::live, this->version()));
  return Next::go_on;
}

void Mirror::lost(std::vector<BoardEvent>& told) {
  if (!std::exchange(live_, false)) return;
  told.push_back(told_of(BoardEvent::Type::lost, version()));
}

Mirror::Next Mirror::history_gone() { return phase_ == Phase::ended ? Next::end : read_anew(); }

Mirror::Next Mirror::deleted(Version version, std::vector<BoardEvent>& told) {
  return phase_ == Phase::ended ? Next::end : end(version, told);
}

Mirror::Next Mirror::epoch_is(const std::string& epoch) {
  if (epoch_.empty() || epoch == epoch_ || phase_ == Phase::ended) return Next::go_on;
  return read_anew();
}

std::shared_ptr<const blackboard::Board> Mirror::snapshot() const {
  // The count, not the use count of the pointer, tells whether somebody reads: its release orders the last read before
  // our next write.
  copy_->readers.fetch_add(1, std::memory_order_relaxed);
  const auto let_go = [copy = copy_](const blackboard::Board*) {
    copy->readers.fetch_sub(1, std::memory_order_release);
  };
  return {&copy_->board, let_go};
}

Mirror::Next Mirror::read_anew() {
  completeness_.reset();
  phase_ = Phase::reading;
  live_ = false;
  epoch_.clear();
  building_ = {};
  first_page_ = true;
  cursor_ = {};
  return Next::read_anew;
}

Mirror::Next Mirror::replay(const codec::FeedEvent& event, std::vector<BoardEvent>& told) {
  if (takes_board(event.changes)) return end(event.version, told);
  building_.apply(event.version, event.changes);
  completeness_ = event.completeness;
  if (event.version < exact_from_) return Next::go_on;
  return fits(building_, event.digest) ? publish(told) : broken();
}

// An empty copy, at the version of the deletion, takes the place of what readers saw.
Mirror::Next Mirror::end(Version version, std::vector<BoardEvent>& told) {
  copy_ = std::make_shared<Copy>();
  copy_->board.set_version(version);
  building_ = {};
  completeness_.reset();
  phase_ = Phase::ended;
  live_ = false;
  told.push_back(told_of(BoardEvent::Type::deleted, version));
  return Next::end;
}

// What was built is exact: it takes the place of the copy that readers see.
Mirror::Next Mirror::publish(std::vector<BoardEvent>& told) {
  if (!fits(building_, expected_digest_)) return broken();
  copy_ = std::make_shared<Copy>();
  copy_->board = std::exchange(building_, {});
  phase_ = Phase::following;
  if (std::exchange(has_copy_, true)) {
    ++resyncs_;
    told.push_back(told_of(BoardEvent::Type::resync, version()));
  }
  return Next::go_on;
}

blackboard::Board& Mirror::writable() {
  if (copy_->readers.load(std::memory_order_acquire) > 0) {
    auto copy = std::make_shared<Copy>();
    copy->board = copy_->board;
    copy_ = std::move(copy);
  }
  return copy_->board;
}

Mirror::Next Mirror::broken() {
  ++broken_in_a_row_;
  return read_anew();
}

}  // namespace tafel::sdk
