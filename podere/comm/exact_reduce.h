// Exact sums over executors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/base/exact_sum.h"
#include "podere/comm/communicator.h"

namespace podere::comm {

/// Replaces `sums` [n] by their exact sums over all ranks, on every rank. Collective: one all_reduce of 560 n bytes.
inline void all_reduce(const Communicator& comm, std::span<ExactSum> sums) {
  std::vector<std::int64_t> words;
  words.reserve(sums.size() * ExactSum::kWords);
  for (ExactSum& sum : sums) words.insert(words.end(), sum.words().begin(), sum.words().end());
  comm.all_reduce(std::span(words), Reduction::kSum);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].set_words(std::span(words).subspan(i * ExactSum::kWords).first<ExactSum::kWords>());
  }
}

}  // namespace podere::comm
