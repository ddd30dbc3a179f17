// A network applied to many pictures, by all executors.
#pragma once

#include <cstdint>
#include <string>

#include "podere/base/json.h"
#include "podere/base/progress.h"
#include "podere/classify/output.h"
#include "podere/classify/picture_network.h"
#include "podere/comm/communicator.h"
#include "podere/image/list.h"

namespace podere::classify {

inline constexpr int kMostDecodeSeconds = 3600;

struct Options {
  std::string pictures;  ///< as image::list_pictures has it
  image::Pages pages = image::Pages::kFirst;
  NetworkOptions network;
  std::string labels;      ///< file with a name on each line, in the order of classes; empty: none
  std::uint32_t top = 0;   ///< how many classes of each picture; 0: 5, or all if there are fewer
  int decode_seconds = 0;  ///< processor time that decoding a picture may take: 1 to kMostDecodeSeconds
  bool is_strict = false;  ///< the first picture that cannot be used ends it
  std::string folder;      ///< where what is done is kept, see RunFolder
  std::string output;      ///< a file that is there, and empty
  OutputFormat format = OutputFormat::kText;
  KeptImages keep_images = KeptImages::kNone;  ///< of HDF5
  bool has_contact_sheet = false;              ///< whether kContactSheetName is to be made in the folder
};

/// Applies the network to each picture, and writes a line for each (append_csv_line), or a row of an HDF5 file, in the
/// order of the list, to `options.output`. What is done is kept in `options.folder`: run again with the same options,
/// it does what is left. Pictures that were at work when a run or an executor ended come first then, and are decoded in
/// processes of their own: one that ends its decoder costs one executor, and fails. Where a decoder takes more than
/// `options.decode_seconds`, its executor ends (SIGXCPU).
///
/// Result, which counts on rank 0: "pictures", "other_files" and "replaced" (image::LeftOut), "earlier" (pictures done
/// by runs before), "classified", "with_other_pages" (pictures whose files have pages that are none), "faults" {kind:
/// number}, "network" (PictureNetwork::facts), "classify_seconds", "seconds_of" {step: seconds of all threads} and
/// "was_stopped": true if progress wanted that; then nothing is written. The output has the same bytes on any number of
/// executors and threads. Collective; throws as Communicator::agree.
Json classify(Options options, const comm::Communicator& comm, int n_threads, Progress& progress);

}  // namespace podere::classify
