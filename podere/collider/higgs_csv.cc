#include <algorithm>
#include <string>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/collider/float_text.h"
#include "podere/collider/higgs.h"

namespace podere::collider {
namespace {

constexpr std::uint64_t kSliceEvents = 1024;
constexpr std::size_t kLineBytes = (1 + kFeatures) * (kFloatTextBytes + 1);

/// Events [begin, end) as lines. `text` keeps its memory from call to call.
void write_lines(std::uint64_t seed, std::uint64_t begin, std::uint64_t end, std::string& text) {
  text.resize((end - begin) * kLineBytes);
  char* at = text.data();
  for (std::uint64_t i = begin; i < end; ++i) {
    const Event event = generate_event(seed, i);
    at = write_float(at, event.label);
    for (const float value : event.features) {
      *at++ = ',';
      at = write_float(at, value);
    }
    *at++ = '\n';
  }
  text.resize(static_cast<std::size_t>(at - text.data()));
}

std::string header_line() {
  const auto schema = higgs_schema();
  std::string line = *schema.label;
  for (const auto& name : schema.features) line += ',' + name;
  return line + '\n';
}

}  // namespace

std::uint64_t write_csv(const std::filesystem::path& path, std::uint64_t seed, std::uint64_t n_events, bool header,
                        int n_threads, Progress& progress) {
  AtomicFile file(path);
  if (header) file.write(header_line());
  // A batch of slices is made by all threads, then written in order: memory does not grow with the number of events.
  std::vector<std::string> slices(static_cast<std::size_t>(std::max(n_threads, 1)) * 8);
  std::uint64_t done = 0;
  while (done < n_events && !file.reader_has_left()) {
    const std::uint64_t end = std::min(n_events, done + slices.size() * kSliceEvents);
    const auto n_slices = static_cast<std::size_t>((end - done + kSliceEvents - 1) / kSliceEvents);
    parallel_for(n_threads, n_slices, [&](std::size_t k, int) {
      const std::uint64_t begin = done + k * kSliceEvents;
      write_lines(seed, begin, std::min(end, begin + kSliceEvents), slices[k]);
    });
    // Asked before it is written: a pipe whose reader is asleep would take no interrupt that came before.
    if (progress.stop_requested()) {
      throw_error("{}: not written: stopped after {} of {} events", path.string(), done, n_events);
    }
    for (std::size_t k = 0; k < n_slices; ++k) file.write(slices[k]);
    done = end;
    progress.report({.phase = "generate", .done = done, .total = n_events, .metrics = {}});
  }
  file.commit();
  return done;
}

}  // namespace podere::collider
