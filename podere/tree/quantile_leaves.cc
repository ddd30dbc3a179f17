#include "podere/tree/quantile_leaves.h"

#include "podere/base/parallel.h"
#include "podere/tree/weighted_quantile.h"

namespace podere::tree {

RefitLeaves quantile_leaves(const Options& options, const LabeledRows& labels, std::uint64_t n_global_rows,
                            const comm::Communicator& comm, int n_threads) {
  return [&options, &labels, &comm, n_threads, units = weights_in_units(labels, n_global_rows)](
             std::span<const LeafRows> leaves, std::span<const std::uint32_t> rows, std::span<const float> margins,
             Tree& tree) {
    constexpr std::size_t kGrain = 8192;
    std::vector<float> residuals(rows.size());
    std::vector<std::int64_t> weights(rows.size());
    parallel_for_slices(n_threads, rows.size(), kGrain, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) {
        residuals[i] = labels.label[rows[i]] - margins[rows[i]];
        weights[i] = units[rows[i]];
      }
    });
    std::vector<Slice> groups;
    for (const LeafRows& leaf : leaves) groups.push_back(leaf.rows);
    const std::vector<float> steps =
        weighted_quantiles({residuals, weights}, groups, options.quantile, comm, n_threads);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      tree.nodes[leaves[i].node].value = static_cast<float>(options.learning_rate * steps[i]);
    }
  };
}

}  // namespace podere::tree
