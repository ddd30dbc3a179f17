#include "podere/farm/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace podere::farm {
namespace {

constexpr std::size_t kNamed = 3;  // farms in a sentence

std::string seconds_until(double time, double now) {
  return fmt::format("{:.0f} s", std::ceil(std::max(0.0, time - now)));
}

/// "a", "a and b", "a, b and c".
std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::string farms_in_words(const State& state, const std::vector<Giver>& givers) {
  std::vector<std::string> parts;
  std::int32_t others = 0;
  for (std::size_t i = 0; i < givers.size(); ++i) {
    if (i < kNamed) {
      parts.push_back(
          fmt::format("{} ({})", state.farms[static_cast<std::size_t>(givers[i].farm)].key, givers[i].executors));
    } else {
      others += givers[i].executors;
    }
  }
  if (others > 0) parts.push_back(fmt::format("others ({})", others));
  return join(parts);
}

/// Who has most of the lent room.
std::vector<Giver> holders(const State& state, const Decision& decision) {
  std::vector<Giver> all;
  for (std::size_t f = 0; f < decision.outlooks.size(); ++f) {
    const std::int32_t lent = decision.outlooks[f].held - decision.outlooks[f].guaranteed;
    if (lent > 0) all.push_back({static_cast<std::int32_t>(f), lent});
  }
  std::ranges::sort(all, [&](const Giver& a, const Giver& b) {
    if (a.executors != b.executors) return a.executors > b.executors;
    return state.farms[static_cast<std::size_t>(a.farm)].key < state.farms[static_cast<std::size_t>(b.farm)].key;
  });
  return all;
}

/// Which of the executors of a farm wait for what, as parts of a sentence.
class Parts {
 public:
  Parts(const State& state, const std::vector<Giver>& holders) : state_(state), holders_(holders) {}

  std::vector<std::string> of(const Outlook& outlook) {
    parts_.clear();
    add(outlook, outlook.guarantee, "of those guaranteed ");
    add(outlook, outlook.beyond, "");
    return std::move(parts_);
  }

 private:
  void part(std::int32_t count, const char* which, const std::string& what) {
    if (count > 0) parts_.push_back(fmt::format("{} {}{}", count, which, what));
  }

  void add(const Outlook& outlook, const Waiting& waiting, const char* which) {
    const double now = state_.now;
    const bool is_told_already = &waiting == &outlook.beyond && outlook.guarantee.for_drain > 0;
    part(waiting.for_start, which, "have room and start");
    part(waiting.for_drain, which,
         is_told_already ? "get room that is freed too"
         : outlook.from.empty()
             ? "get the room of executors that are ending"
             : fmt::format("get the room of {}, which end within {}", farms_in_words(state_, outlook.from),
                           seconds_until(outlook.drained_by, now)));
    part(waiting.for_runtime, which,
         fmt::format("get room in {}, when executors that hold it have run their least time",
                     seconds_until(outlook.retry_at, now)));
    part(waiting.for_retry, which,
         fmt::format("were given room that other pods took, and are given more in {}",
                     seconds_until(outlook.retry_at, now)));
    part(waiting.for_room, which,
         *which != '\0' ? std::string("fit in no room that is lent")
         : holders_.empty()
             ? std::string("wait for free room")
             : fmt::format("wait for free room, of which {} have most", farms_in_words(state_, top_holders())));
    part(waiting.too_large, which, "fit on none of the nodes that take pods, though they were empty");
  }

  std::vector<Giver> top_holders() const {
    return {holders_.begin(), holders_.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, holders_.size()))};
  }

  const State& state_;
  const std::vector<Giver>& holders_;
  std::vector<std::string> parts_;
};

/// Where the guarantee does not count in full; else empty.
std::string scaling(const Farm& farm, const Outlook& outlook, double load) {
  const std::int32_t asked = std::min(farm.guaranteed, outlook.demand);
  if (outlook.guaranteed >= asked) return "";
  return fmt::format("its guarantee of {} counts as {}, as all guarantees together are {:.0f} % of the cluster", asked,
                     outlook.guaranteed, 100 * load);
}

}  // namespace

std::vector<std::string> sentences(const State& state, const Decision& decision) {
  const std::vector<Giver> lent = holders(state, decision);
  Parts parts(state, lent);
  std::vector<std::string> sentences;
  sentences.reserve(state.farms.size());
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    const Outlook& outlook = decision.outlooks[f];
    std::string sentence = fmt::format("{} of {} executors", outlook.held, outlook.demand);
    if (const std::string waiting = join(parts.of(outlook)); !waiting.empty()) sentence += ": " + waiting;
    const std::string scaled = scaling(state.farms[f], outlook, decision.guaranteed_load);
    if (!scaled.empty()) sentence += "; " + scaled;
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::vector<std::string> waits(const State& state, const Decision& decision, std::int32_t farm) {
  const auto f = static_cast<std::size_t>(farm);
  const std::vector<Giver> lent = holders(state, decision);
  std::vector<std::string> parts = Parts(state, lent).of(decision.outlooks[f]);
  std::string scaled = scaling(state.farms[f], decision.outlooks[f], decision.guaranteed_load);
  if (!scaled.empty()) parts.push_back(std::move(scaled));
  return parts;
}

std::string reason(const State& state, const Decision& decision, const Reclaim& reclaim) {
  const auto farm = [&](std::int32_t index) -> const Farm& { return state.farms[static_cast<std::size_t>(index)]; };
  const Outlook& from = decision.outlooks[static_cast<std::size_t>(reclaim.from)];
  const Outlook& to = decision.outlooks[static_cast<std::size_t>(reclaim.for_farm)];
  const std::int32_t due = reclaim.for_guarantee ? to.guaranteed : to.share;
  const std::int32_t floor = reclaim.for_guarantee ? from.guaranteed : from.share;
  return fmt::format("{} has {} of {} executors that are its {}; {} keeps {}, of which {} are its own",
                     farm(reclaim.for_farm).key, to.held, due, reclaim.for_guarantee ? "guarantee" : "share",
                     farm(reclaim.from).key, from.held, floor);
}

}  // namespace podere::farm
