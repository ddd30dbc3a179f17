// Applying a network to pictures.
#pragma once

#include <cstdint>
#include <string>

#include "podere/classify/classify.h"
#include "podere/jobs/job.h"

namespace podere::jobs {

/// Result: as classify::classify has it.
struct ClassifyJob {
  static constexpr const char* kKind = "classify";

  std::string pictures;  ///< a folder, pattern, list, archive or picture
  image::Pages pages = image::Pages::kFirst;
  std::string model;            ///< ONNX file
  std::string preprocess;       ///< a name that classify::preprocessing_of knows; empty: a file says it
  std::string preprocess_file;  ///< empty: the one beside the model
  std::string labels;           ///< file with a name for each class; empty: none
  std::string layer;            ///< the tensor that has the scores; empty: the output
  std::uint32_t top = 0;        ///< how many classes of each picture; 0: 5, or all if there are fewer
  std::uint32_t size = 0;       ///< height and width of inputs, where the network takes any; 0: the file says them
  unsigned bits = 0;            ///< that values above 8 bits use; 0: as the preprocessing has it
  int decode_seconds = 20;      ///< processor time that decoding a picture may take
  bool strict = false;          ///< the first picture that cannot be used ends it
  std::string parts;            ///< folder in which what is done is kept
  bool contact_sheet = false;   ///< whether classify::kContactSheetName is to be made in it
  classify::OutputFormat format = classify::OutputFormat::kText;
  classify::KeptImages keep_images = classify::KeptImages::kNone;  ///< of HDF5
  std::string output;  ///< path of an existing, empty file that all executors can write to

  static void visit_fields(auto& self, auto&& visit) {
    visit("pictures", self.pictures, PathUse::kPictures);
    visit("pages", self.pages);
    visit("model", self.model, PathUse::kInput);
    visit("preprocess", self.preprocess);
    visit("preprocess_file", self.preprocess_file, PathUse::kInput);
    visit("labels", self.labels, PathUse::kInput);
    visit("layer", self.layer);
    visit("top", self.top);
    visit("size", self.size);
    visit("bits", self.bits);
    visit("decode_seconds", self.decode_seconds);
    visit("strict", self.strict);
    visit("parts", self.parts, PathUse::kFolder);
    visit("contact_sheet", self.contact_sheet);
    visit("format", self.format);
    visit("keep_images", self.keep_images);
    visit("output", self.output, PathUse::kOutput);
  }
};
Json run(const ClassifyJob& job, const JobContext& context);

}  // namespace podere::jobs
