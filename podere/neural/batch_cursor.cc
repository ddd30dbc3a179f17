#include "podere/neural/batch_cursor.h"

#include <utility>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/neural/streams.h"

namespace podere::neural {

BatchCursor::BatchCursor(TrainingRows& rows, Batches batches, std::uint64_t seed, int n_threads)
    : rows_(rows),
      batches_(std::move(batches)),
      seed_(seed),
      n_threads_(n_threads),
      natural_order_(rows.order),
      order_(batches_, seed, 0) {}

Batch BatchCursor::next() {
  if (step_ == 0) begin_epoch();
  Batch batch;
  batch.dropout_key = hash64(hash64(seed_, kDropoutStream, epoch_), 0, step_);
  for (; batch.tiles.size() < batches_.tiles_per_batch() && n_tiles_left_ > 0; --n_tiles_left_) {
    batch.tiles.push_back(order_.next());
    batch.n_rows += batch.tiles.back().n;
  }
  if (++step_ == batches_.n_steps()) {
    step_ = 0;
    ++epoch_;
  }
  return batch;
}

void BatchCursor::go_to(std::uint64_t epoch, std::size_t step) {
  if (step >= batches_.n_steps()) {
    throw_input_error("the checkpoint is of another run: an epoch has {} steps, not {}", batches_.n_steps(), step);
  }
  epoch_ = epoch;
  step_ = step;
  if (step == 0) return;
  begin_epoch();
  const std::size_t n_done = step * batches_.tiles_per_batch();
  order_.skip(n_done);
  n_tiles_left_ -= n_done;
}

void BatchCursor::begin_epoch() {
  order_ = TileOrder(batches_, seed_, epoch_);
  n_tiles_left_ = batches_.n_tiles();
  rows_.order = natural_order_;
  parallel_for(n_threads_, rows_.n_blocks(), [&](std::size_t block, int) {
    shuffle_rows(seed_, epoch_, rows_.first_block() + block, rows_.of_block(block));
  });
}

}  // namespace podere::neural
