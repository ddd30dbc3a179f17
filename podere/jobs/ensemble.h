// Which trials of a search make the best model together.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "podere/jobs/trials.h"

namespace podere::jobs {

/// Trials with the share that each has.
struct Ensemble {
  struct Member {
    std::size_t trial;
    double weight;
  };
  std::vector<Member> members;  ///< by trial; weights sum to 1
  double loss = 0;              ///< as that of trials; on the rows that it was chosen by, so it is a little too good
};

/// Adds trials one by one, `n_picks` times, each time that with which the mean of all margins is best on the rows that
/// are held out, some several times; and takes as many of these as are best. The 2 * n_picks best trials are
/// candidates; they are trained again, as their margins were not kept. Nullopt: it was stopped. Collective. The same
/// for any number of ranks and threads. Source: Caruana, Niculescu-Mizil, Crew, Ksikes, ICML 2004.
std::optional<Ensemble> select_ensemble(const tune::Study& study, std::size_t n_picks, const Trials& trials,
                                        const StepContext& context);

}  // namespace podere::jobs
