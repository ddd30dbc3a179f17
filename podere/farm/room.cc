#include "podere/farm/room.h"

#include <algorithm>
#include <numeric>

namespace podere::farm {

Room::Room(const State& state)
    : state_(state),
      free_(state.nodes.size()),
      ending_(state.nodes.size()),
      kept_(state.nodes.size()),
      nodes_(state.nodes.size()),
      rank_(state.nodes.size()),
      next_now_(state.shapes.size()) {
  std::iota(nodes_.begin(), nodes_.end(), 0);
  const auto by_name = [&](std::int32_t a, std::int32_t b) { return state.nodes[a].name < state.nodes[b].name; };
  if (!std::ranges::is_sorted(nodes_, by_name)) std::ranges::sort(nodes_, by_name);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = state.nodes[nodes_[i]];
    rank_[nodes_[i]] = static_cast<std::int32_t>(i);
    free_[nodes_[i]] = node.allocatable;
    free_[nodes_[i]] -= node.used_by_others;
  }
}

void Room::use(std::int32_t node, const Resources& requests, bool is_ending) {
  free_[node] -= requests;
  if (is_ending) end_pod(node, requests);
}

void Room::end_pod(std::int32_t node, const Resources& requests) {
  ending_[node] += requests;
  ending_nodes_.push_back(node);
}

bool Room::allows(std::int32_t shape, std::int32_t node) const {
  return state_.nodes[node].is_schedulable && state_.node_sets[state_.shapes[shape].node_set].contains(node);
}

std::int32_t Room::find_now(std::int32_t shape) {
  for (std::size_t& i = next_now_[shape]; i < nodes_.size(); ++i) {
    if (fits_now(shape, nodes_[i])) return nodes_[i];
  }
  return -1;
}

std::int32_t Room::find_later(std::int32_t shape, Kept kept) {
  if (!ending_nodes_are_sorted_) {  // once: what ends in this decision comes behind, in the order of the decision
    std::ranges::sort(ending_nodes_, {}, [&](std::int32_t node) { return rank_[node]; });
    ending_nodes_.erase(std::unique(ending_nodes_.begin(), ending_nodes_.end()), ending_nodes_.end());
    ending_nodes_are_sorted_ = true;
  }
  if (later_ != std::pair(shape, kept)) next_later_ = 0;
  later_ = {shape, kept};
  for (; next_later_ < ending_nodes_.size(); ++next_later_) {
    const std::int32_t node = ending_nodes_[next_later_];
    if (kept == Kept::kUsed ? fits_later(shape, node) : fits_beside_kept(shape, node)) return node;
  }
  return -1;
}

}  // namespace podere::farm
