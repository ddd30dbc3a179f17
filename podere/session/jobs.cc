#include "podere/session/jobs.h"

#include "podere/base/memory.h"

namespace podere::session {

table::Table load_reported(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm, int n_threads,
                           Progress& progress) {
  progress.report({"read", 0, 1, {}});
  return load(spec, needs_label, comm, n_threads);
}

tree::Model load_shared_model(const std::string& path, const comm::Communicator& comm) {
  std::string text;
  comm.agree([&] {
    if (comm.is_root()) text = tree::read_model_text(path);
  });
  text = comm.broadcast_text(std::move(text));
  tree::Model model;
  comm.agree([&] { model = tree::from_text(text, path); });
  return model;
}

Json resources(const comm::Communicator& comm, int n_threads) {
  return {{"executors", comm.size()},
          {"cores", n_threads},
          {"peak_memory_bytes", comm.all_reduce(peak_memory_bytes(), comm::Reduction::kMax)}};
}

}  // namespace podere::session
